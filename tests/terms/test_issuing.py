"""Card issuing: ranges and label from the settings, card numbers, and codes derived from the root."""

import re

import hypothesis.strategies as st
import pytest
from hypothesis import given

from kasuwa.core.money import format_grouped
from kasuwa.core.vault import Vault
from kasuwa.settings.settings import parse_card_issuing, read_settings
from kasuwa.settings.values import SettingsError
from kasuwa.terms.issuing import DEFAULT_ISSUING, MAGIC_RANGES, make_pan, mask_pan, read_ranges

entropy = st.binary(min_size=32, max_size=32)


def is_luhn(pan: str) -> bool:
    digits = [int(sign) for sign in reversed(pan)]
    return sum(d if n % 2 == 0 else sum(divmod(2 * d, 10)) for n, d in enumerate(digits)) % 10 == 0


@given(st.sampled_from(["400000", "520000", "40000012", "5200001234"]), entropy)
def test_a_number_is_of_its_range_with_sixteen_digits_and_their_check_digit(first_digits: str, drawn: bytes) -> None:
    pan = make_pan(first_digits, drawn)
    assert re.fullmatch(f"{first_digits}[0-9]{{{16 - len(first_digits)}}}", pan)
    assert is_luhn(pan)
    assert mask_pan(pan) == pan[:6] + "*" * 7 + pan[-4:]


def test_by_default_no_magic_and_no_real_issuers_range_is_used() -> None:
    assert dict(DEFAULT_ISSUING.ranges) == {"visa": "400000", "mastercard": "520000"}
    assert not set(MAGIC_RANGES) & set(DEFAULT_ISSUING.ranges.values())


@pytest.mark.parametrize(
    ("text", "ranges"),
    [("verve:650002", {"verve": "650002"}), ("visa:40000012,verve:6500", None), ("b:400000", None), ("", None)],
)
def test_ranges_are_read_in_order_or_refused(text: str, ranges: dict[str, str] | None) -> None:
    if ranges is not None:
        assert read_ranges(text) == ranges
        return
    with pytest.raises(ValueError, match="each network once"):
        read_ranges(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("LABEL", value) for value in ("a|b", "x" * 17, "é", " ")),
        *(
            ("RANGES", value)
            for value in ("visa", "visa:400000,visa:400001", "visa:411111", "visa:4111112", "visa: 400000")
        ),
    ],
)
def test_an_invalid_setting_is_named_in_one_line(name: str, text: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_settings({f"KASUWA_CARD_{name}": text})
    assert str(error.value).startswith(f"KASUWA_CARD_{name} must ")
    assert "\n" not in str(error.value)


def test_settings_make_the_issuing() -> None:
    found = parse_card_issuing(
        read_settings({"KASUWA_CARD_LABEL": "ADA", "KASUWA_CARD_RANGES": "verve:650002,visa:400009"})
    )
    assert (found.label, list(found.ranges.items())) == ("ADA", [("verve", "650002"), ("visa", "400009")])


# --- codes and balances ----------------------------------------------------------------------------------------------


def test_a_code_depends_on_its_text_and_on_the_root() -> None:
    one, other = Vault(bytes(32)), Vault(b"x" * 32)
    result = [f"cvv 400000000000000{n} 2029-01" for n in range(10)]
    codes = [one.derive_digits(text, 3) for text in result]
    assert all(re.fullmatch("[0-9]{3}", code) for code in codes)
    assert codes == [Vault(bytes(32)).derive_digits(text, 3) for text in result]
    assert codes != [other.derive_digits(text, 3) for text in result]
    assert len(set(codes)) > 5


def test_a_replay_vault_shows_the_same_values_but_seals_with_its_own_root() -> None:
    one, other = Vault(bytes(32)), Vault(b"x" * 32)
    assert (
        one.with_replay_secret(b"seed").derive_digits("x", 9)
        == other.with_replay_secret(b"seed").derive_digits("x", 9)
        != one.derive_digits("x", 9)
    )
    assert one.with_replay_secret(b"seed").digest(b"x") == one.digest(b"x")
    assert one.with_replay_secret(b"seed").fingerprint(b"x") == other.with_replay_secret(b"seed").fingerprint(b"x")
    assert one.fingerprint(b"x") == one.digest(b"x").hex() != one.with_replay_secret(b"seed").fingerprint(b"x")
    sealed = one.with_replay_secret(b"seed").seal(7, "here", b"plain", bytes(12))
    assert one.unseal(7, "here", sealed) == b"plain"


@pytest.mark.parametrize(
    ("minor", "text"),
    [(0, "0.00"), (5, "0.05"), (99_999, "999.99"), (100_000, "1,000.00"), (123_456_789_01, "123,456,789.01")],
)
def test_thousands_are_separated_by_commas(minor: int, text: str) -> None:
    assert format_grouped(minor) == text
