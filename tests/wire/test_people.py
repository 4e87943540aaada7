"""Personal data: dates, telephone numbers and BVNs."""

from datetime import date
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.wire import fields, people
from kasuwa.wire.people import (
    NATIONAL_NUMBERS,
    TRUNKS,
    DateText,
    Phone,
    calling_code,
    canonical_phone,
    check_bvn,
    is_magic_bvn,
    is_telephone,
    magic_bvns,
    mask_bvn,
)
from tests.rule_context import MERCHANT, merchant


@given(st.dates(min_value=date(1900, 1, 1)), st.sampled_from(["", "T00:00:00Z", " 10:30"]))
def test_every_day_is_read_whatever_time_follows(day: Any, time: str) -> None:
    assert DateText.read(f"{day.isoformat()}{time}") == day.isoformat()


@pytest.mark.parametrize(
    "value",
    [
        "",
        "2026-1-5",
        "2026-13-01",
        "2025-02-29",
        "20260105",
        "2026-01-05x",
        "1899-12-31",
        5,
        None,
        [],
        "2026-01-05 junk",
        "2026-01-05 ",
        "2026-01-05T",
        "2026-01-05 25:00",
        "2026-01-05T10:30:00Z x",
    ],
)
def test_an_invalid_date_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="YYYY-MM-DD"):
        DateText.read(value)


@given(st.sampled_from(sorted(NATIONAL_NUMBERS)), st.data())
def test_a_number_is_the_same_number_in_each_of_its_spellings(code: str, data: st.DataObject) -> None:
    national = data.draw(st.from_regex(NATIONAL_NUMBERS[code], fullmatch=True))
    spaced = f"+{code} {national[:3]}-{national[3:]}"
    at_home = f"{TRUNKS[code]}{national}"
    for value in (f"+{code}{national}", f"00{code}{national}", spaced, at_home, f"{code}{national}"):
        assert is_telephone(value, [code]), value
        assert Phone.read(value) == value


@pytest.mark.parametrize("text", ["2125551234", "(212) 555-1234", "1-212-555-1234", "+1 212 555 1234"])
def test_american_numbers_have_no_trunk_prefix(text: str) -> None:
    assert is_telephone(text, ["1"])
    assert not is_telephone("02125551234", ["1"])
    assert is_telephone(text) == text.startswith("+"), "of nobody's in Nigeria unless it names its country"


@given(st.text(max_size=20))
def test_a_telephone_has_at_least_seven_ascii_digits(text: str) -> None:
    if is_telephone(text, NATIONAL_NUMBERS):
        assert sum(sign in "0123456789" for sign in text) >= 7


@pytest.mark.parametrize(
    ("country", "code"),
    [("NG", "234"), ("gha", "233"), (" Kenya ", "254"), ("US", "1"), ("", "234"), ("Atlantis", "234")],
)
def test_a_country_is_known_by_each_of_its_names(country: str, code: str) -> None:
    assert calling_code(country) == code


@pytest.mark.parametrize("kind", [people.Email, fields.Email])
def test_an_email_address_contains_no_newline(kind: Any) -> None:
    assert msgspec.convert("ada@example.com", kind) == "ada@example.com"
    for value in ("ada@example.com\n", "ada@example.com\n\n", "\nada@example.com", "ada@example.com\nx"):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(value, kind)


def test_bvns_are_magic_in_the_test_environment_only() -> None:
    assert {"22222222222", "22222222201", "12345678901"} <= magic_bvns()
    for bvn in magic_bvns():
        assert is_magic_bvn(MERCHANT, bvn)
        assert not is_magic_bvn(merchant("live"), bvn)
        assert check_bvn(MERCHANT, bvn) is None
    assert check_bvn(merchant("live"), "12345678901") is not None
    assert check_bvn(merchant("live"), "22212345678") is None


@given(st.from_regex("22[0-9]{9}", fullmatch=True))
def test_a_mask_keeps_the_first_three_and_the_last_two(bvn: str) -> None:
    masked = mask_bvn(bvn)
    assert (len(masked), masked[:3], masked[3:-2], masked[-2:]) == (11, bvn[:3], "******", bvn[-2:])


@pytest.mark.parametrize(
    "text", ["08031234567", "0803 123 4567", "(0803) 123-4567", "+2348031234567", "002348031234567"]
)
def test_every_spelling_of_a_number_has_one_canonical_form(text: str) -> None:
    assert canonical_phone(text) == "+2348031234567"


def test_a_national_number_is_read_in_its_home() -> None:
    assert canonical_phone("0712345678", ["254"]) == "+254712345678"
    assert canonical_phone("2125551234", ["1"]) == "+12125551234"
    assert canonical_phone("0712345678") == "0712345678", "no number of Nigeria"
