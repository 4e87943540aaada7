"""Money is read from text, kept in minor units, and rounded half up."""

from decimal import ROUND_HALF_UP, Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.money import compute_percent, convert_to_minor, format_minor, parse_minor

LARGEST = 10**15 - 1

GOOD = [
    ("0", 0),
    ("5", 500),
    ("5.5", 550),
    ("5.05", 505),
    ("5.50", 550),
    ("0.01", 1),
    ("007", 700),
    ("1500.00", 150_000),
    ("999999999999999", 99_999_999_999_999_900),
    ("9999999999999.99", 999_999_999_999_999),
]

HOSTILE = [
    "",
    " ",
    " 5",
    "5 ",
    "5\n",
    "\t5",
    "+1",
    "-1",
    "-0",
    "--1",
    "1e5",
    "1E5",
    "1e-2",
    "1E+1000000",
    "1,000",
    "1 000",
    "1_000",
    "1'000",
    ".5",
    "5.",
    ".",
    "5.555",
    "5.5.5",
    "5,50",
    "0x10",
    "0b1",
    "NaN",
    "nan",
    "Infinity",
    "inf",
    "-Infinity",
    "true",
    "null",
    "₦5",
    "5₦",
    "\u0663",  # an Arabic three
    "\u0665.\u0660\u0660",
    "\uff15",  # a full-width five
    "\u00b2",  # a superscript two
    "\u2460",  # a circled one
    "5\u0000",
    "5\u200b",
    "\ufeff5",
    "5\u06f0",
    "1000000000000000",  # sixteen digits
    "99999999999999.99",  # sixteen with its decimals
    "0000000000000001",
    "9" * 5000,
]


@pytest.mark.parametrize(("text", "minor"), GOOD)
def test_a_numeric_text_is_read_into_minor_units(text: str, minor: int) -> None:
    assert parse_minor(text) == minor


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_a_malformed_text_is_not_an_amount(text: str) -> None:
    assert parse_minor(text) is None


@pytest.mark.parametrize("text", ["", "1e5", "-1", "ten"])
def test_minor_of_raises_for_an_invalid_figure(text: str) -> None:
    with pytest.raises(ValueError, match="not a figure"):
        convert_to_minor(text)


@pytest.mark.parametrize(
    ("minor", "text"),
    [
        (0, "0.00"),
        (1, "0.01"),
        (10, "0.10"),
        (100, "1.00"),
        (123_456, "1234.56"),
        (-5, "-0.05"),
        (-12_345, "-123.45"),
    ],
)
def test_money_is_written_with_two_decimals_and_no_separators(minor: int, text: str) -> None:
    assert format_minor(minor) == text


@given(st.integers(min_value=0, max_value=LARGEST))
def test_what_is_written_reads_back_as_the_same_amount(minor: int) -> None:
    assert parse_minor(format_minor(minor)) == minor


@given(st.one_of(st.text(max_size=20), st.text(alphabet="0123456789.٣٤+-eE, _\n", max_size=18)))
def test_only_plain_ascii_figures_are_ever_read(text: str) -> None:
    minor = parse_minor(text)
    plain = bool(text) and text.isascii() and all(part.isdigit() for part in text.split("."))
    if minor is not None:
        assert plain
        assert Decimal(text) * 100 == minor


def half_up(minor: int, percent: str) -> int:
    with localcontext(prec=60):
        return int((Decimal(minor) * Decimal(percent) / 100).quantize(Decimal(1), rounding=ROUND_HALF_UP))


@given(
    st.integers(min_value=0, max_value=LARGEST),
    st.decimals(min_value=0, max_value=100, places=4, allow_nan=False, allow_infinity=False),
)
def test_a_percentage_is_rounded_half_up(minor: int, percent: Decimal) -> None:
    assert compute_percent(minor, str(percent)) == half_up(minor, str(percent))


@pytest.mark.parametrize(
    ("minor", "percent", "expected"),
    [
        (1000, "7.5", 75),
        (2500, "7.5", 188),  # 187.5 goes up
        (100, "0.5", 1),  # 0.5 goes up
        (99, "0.5", 0),
        (300, "0.5", 2),  # 1.5 goes up: half even would too
        (500, "0.5", 3),  # 2.5 goes up: half even would not
        (0, "7.5", 0),
        (12_345, "0", 0),
        (12_345, "100", 12_345),
        (99_999_999_999_999_937, "7.5", 7_499_999_999_999_995),  # a float has 53 bits and says …996
    ],
)
def test_a_half_always_goes_up(minor: int, percent: str, expected: int) -> None:
    assert compute_percent(minor, percent) == expected
