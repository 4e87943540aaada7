"""The vault: sealed bytes decrypt with their own key in their own place only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.keyring import HEADER_BYTES, KEY_BYTES, UnsealError, derive, make_header
from kasuwa.core.vault import NONCE_BYTES, Vault, is_equal_constant_time, unwrap_root, wrap_root

ROOT = bytes(range(32))
OTHER_ROOT = bytes(range(1, 33))
NONCE = b"nonce twelve and more"
VAULT = Vault(ROOT)
PLACE = "merchant_key.sealed"

nonces = st.binary(min_size=NONCE_BYTES, max_size=32)


@given(st.integers(min_value=1), st.text(max_size=30), st.binary(max_size=200), nonces)
def test_what_was_sealed_opens_in_its_own_place(merchant_id: int, place: str, plain: bytes, nonce: bytes) -> None:
    sealed = VAULT.seal(merchant_id, place, plain, nonce)
    assert Vault(ROOT).unseal(merchant_id, place, sealed) == plain
    assert sealed.startswith(make_header(1) + nonce[:NONCE_BYTES])
    assert len(sealed) == HEADER_BYTES + NONCE_BYTES + len(plain) + 16


def test_sealed_bytes_do_not_show_what_they_hold() -> None:
    assert b"a secret key" not in VAULT.seal(7, PLACE, b"a secret key", NONCE)


@pytest.mark.parametrize(
    ("vault", "merchant_id", "place"),
    [
        (VAULT, 8, PLACE),
        (VAULT, 77, PLACE),
        (VAULT, 7, "repeat 00"),
        (VAULT, 7, ""),
        (VAULT, 7, PLACE + " "),
        (Vault(OTHER_ROOT), 7, PLACE),
    ],
)
def test_sealed_bytes_do_not_open_elsewhere(vault: Vault, merchant_id: int, place: str) -> None:
    sealed = VAULT.seal(7, PLACE, b"a secret key", NONCE)
    with pytest.raises(UnsealError):
        vault.unseal(merchant_id, place, sealed)


@given(st.integers(min_value=0, max_value=39), st.integers(min_value=1, max_value=255))
def test_one_changed_byte_anywhere_does_not_open(place: int, change: int) -> None:
    sealed = bytearray(VAULT.seal(7, PLACE, b"a secret key", NONCE))
    sealed[place] ^= change
    with pytest.raises(UnsealError):
        VAULT.unseal(7, PLACE, bytes(sealed))


@pytest.mark.parametrize("length", [0, 1, 7, 11, 12, 20, 27])
def test_bytes_that_were_cut_short_do_not_open(length: int) -> None:
    sealed = VAULT.seal(7, PLACE, b"a secret key", NONCE)
    with pytest.raises(UnsealError):
        VAULT.unseal(7, PLACE, sealed[:length])


# --- the root -----------------------------------------------------------------------------------------------


def test_the_root_is_wrapped_and_opened_by_the_same_key() -> None:
    wrapped = wrap_root(OTHER_ROOT, ROOT, NONCE)
    assert ROOT not in wrapped
    assert unwrap_root(OTHER_ROOT, wrapped) == ROOT


def test_the_root_is_not_opened_by_another_key() -> None:
    with pytest.raises(UnsealError):
        unwrap_root(bytes(32), wrap_root(OTHER_ROOT, ROOT, NONCE))


@pytest.mark.parametrize("length", [0, 5, 12, 30, 59])
def test_a_damaged_root_does_not_open(length: int) -> None:
    with pytest.raises(UnsealError):
        unwrap_root(OTHER_ROOT, wrap_root(OTHER_ROOT, ROOT, NONCE)[:length])


def test_a_wrapped_root_is_no_sealed_field_and_the_other_way_round() -> None:
    key = derive(derive(ROOT, "seal"), "merchant 7")  # the very key that seals merchant 7's fields
    with pytest.raises(UnsealError):
        VAULT.unseal(7, PLACE, wrap_root(key, b"x" * 32, NONCE))
    with pytest.raises(UnsealError):
        unwrap_root(key, VAULT.seal(7, PLACE, b"x" * 32, NONCE))


def test_every_purpose_has_a_key_of_its_own() -> None:
    keys = [derive(ROOT, purpose) for purpose in ("seal", "verify", "digest", "reference", "", "merchant 1")]
    assert len({*keys, ROOT}) == 7
    assert {len(key) for key in keys} == {KEY_BYTES}
    assert derive(ROOT, "seal") != derive(OTHER_ROOT, "seal")


# --- keyed hashes ---------------------------------------------------------------------------------------------


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_verifier_is_the_same_for_the_same_key_alone(left: str, right: str) -> None:
    assert is_equal_constant_time(VAULT.hash_api_key(left), VAULT.hash_api_key(right)) == (left == right)


def test_verifiers_and_digests_need_the_root() -> None:
    other = Vault(OTHER_ROOT)
    assert VAULT.hash_api_key("123456789") != other.hash_api_key("123456789")
    assert VAULT.digest(b"request") != other.digest(b"request")
    assert VAULT.reference_key != other.reference_key
    assert VAULT.digest(b"request") == Vault(ROOT).digest(b"request")


def test_a_verifier_does_not_contain_its_digest() -> None:
    assert not VAULT.hash_api_key("request").startswith(VAULT.digest(b"request"))
    assert (len(VAULT.hash_api_key("k")), len(VAULT.digest(b"k"))) == (KEY_BYTES, 16)
