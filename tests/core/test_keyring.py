"""Versions of the data keys: a ciphertext names its own, and the newest active one of its merchant encrypts."""

import pytest

from kasuwa.core.keyring import (
    HEADER_BYTES,
    INDEX,
    SEAL,
    DataKey,
    Keyring,
    KeysOutdated,
    UnknownVersion,
    UnsealError,
    derive,
    index_digest,
    make_header,
    named_version,
)
from kasuwa.core.vault import FixedKeys, Vault, derive_fixed_keys, encode_fixed_keys, read_root

ROOT = bytes(range(32))
FIRST = DataKey(SEAL, 1, None, derive(ROOT, "seal"))
SECOND = DataKey(SEAL, 2, None, b"2" * 32)
OF_SEVEN = DataKey(SEAL, 3, 7, b"3" * 32)
INDEX_1 = DataKey(INDEX, 1, None, b"i" * 32)
INDEX_2 = DataKey(INDEX, 2, None, b"j" * 32)
NONCE = b"nonce twelve"
PLACE = "merchant_key.sealed"


def vault(*keys: DataKey) -> Vault:
    made = Vault(ROOT)
    made.keyring.update([*keys, INDEX_1], valid_until=0.0)
    return made


def later(key: DataKey) -> DataKey:
    """The version before it is active."""
    return DataKey(key.purpose, key.version, key.merchant_id, key.secret, is_active=False)


def test_a_ciphertext_names_the_version_of_its_key() -> None:
    sealed = vault(FIRST, SECOND).seal(7, PLACE, b"plain", NONCE)
    assert named_version(sealed) == 2
    assert vault(FIRST, SECOND).unseal(7, PLACE, sealed) == b"plain"


def test_a_ciphertext_without_a_header_does_not_open() -> None:
    sealed = vault(FIRST).seal(7, PLACE, b"plain", NONCE)
    with pytest.raises(UnsealError):
        vault(FIRST).unseal(7, PLACE, sealed[HEADER_BYTES:])


def test_a_version_decrypts_before_it_encrypts() -> None:
    sealed = vault(FIRST, SECOND).seal(7, PLACE, b"plain", NONCE)
    learning = vault(FIRST, later(SECOND))
    assert learning.unseal(7, PLACE, sealed) == b"plain"
    assert named_version(learning.seal(7, PLACE, b"plain", NONCE)) == 1


def test_a_version_of_one_merchant_encrypts_for_it_alone() -> None:
    both = vault(FIRST, SECOND, OF_SEVEN)
    assert [both.keyring.active_version(merchant) for merchant in (7, 8, 0)] == [3, 2, 2]
    sealed = both.seal(7, PLACE, b"plain", NONCE)
    with pytest.raises(UnsealError):
        both.unseal(8, PLACE, sealed)


def test_a_newer_version_of_all_merchants_replaces_that_of_one() -> None:
    assert vault(FIRST, OF_SEVEN, DataKey(SEAL, 4, None, b"4" * 32)).keyring.active_version(7) == 4


def test_a_retired_version_is_refused() -> None:
    sealed = vault(FIRST).seal(7, PLACE, b"plain", NONCE)
    with pytest.raises(UnknownVersion, match="version 1 of the data key is retired"):
        vault(SECOND).unseal(7, PLACE, sealed)


def test_another_version_in_the_header_does_not_open() -> None:
    both = vault(FIRST, SECOND)
    sealed = both.seal(7, PLACE, b"plain", NONCE)
    with pytest.raises(UnsealError):
        both.unseal(7, PLACE, make_header(1) + sealed[HEADER_BYTES:])


def test_a_ciphertext_is_current_if_it_names_the_active_version_of_its_merchant() -> None:
    both = vault(FIRST, SECOND, OF_SEVEN)
    found = [both.keyring.is_current(7, make_header(version)) for version in (1, 2, 3)]
    assert found == [False, False, True]
    assert not both.keyring.is_current(7, b"no header")


def test_versions_that_were_not_read_in_time_encrypt_nothing_and_still_decrypt() -> None:
    now = 100.0
    ring = Keyring([FIRST, INDEX_1], lambda: now)
    ring.update([FIRST, INDEX_1], valid_until=130.0)
    made = Vault(ROOT, keyring=ring)
    sealed = made.seal(7, PLACE, b"plain", NONCE)
    now = 131.0
    with pytest.raises(KeysOutdated):
        made.seal(7, PLACE, b"plain", NONCE)
    assert made.unseal(7, PLACE, sealed) == b"plain"
    ring.update([FIRST, INDEX_1], valid_until=160.0)
    assert made.unseal(7, PLACE, made.seal(7, PLACE, b"plain", NONCE)) == b"plain"


def test_a_vault_for_replays_learns_new_versions_as_well() -> None:
    made = vault(FIRST)
    copied = made.with_replay_secret(b"seed")
    made.keyring.update([FIRST, SECOND, INDEX_1], valid_until=0.0)
    assert named_version(copied.seal(7, PLACE, b"", NONCE)) == 2


def test_the_active_index_key_comes_first_and_the_others_are_tried() -> None:
    one, two = index_digest(INDEX_1.secret, b"x"), index_digest(INDEX_2.secret, b"x")
    ring = Keyring([FIRST, INDEX_1, later(INDEX_2)])
    assert [digest(b"x") for digest in ring.index_digests] == [one, two]
    ring.update([FIRST, INDEX_1, INDEX_2], valid_until=0.0)
    assert [digest(b"x") for digest in ring.index_digests] == [two, one]


def test_fixed_keys_take_the_place_of_a_root_without_its_first_version() -> None:
    fixed = derive_fixed_keys(ROOT)
    assert read_root(ROOT) == (fixed, derive(ROOT, "seal"))
    assert read_root(encode_fixed_keys(fixed)) == (fixed, None)
    without = Vault(encode_fixed_keys(fixed), keyring=Keyring([SECOND, INDEX_1]))
    assert without.hash_api_key("k") == Vault(ROOT).hash_api_key("k")
    assert without.digest(b"k") == Vault(ROOT).digest(b"k")
    assert without.derive_digits("card", 3) == Vault(ROOT).derive_digits("card", 3)
    assert without.reference_key == Vault(ROOT).reference_key


def test_keys_are_not_shown() -> None:
    shown = f"{FIRST!r} {derive_fixed_keys(ROOT)!r}"
    assert shown == "DataKey(seal 1) FixedKeys(…)"
    assert isinstance(derive_fixed_keys(ROOT), FixedKeys)
