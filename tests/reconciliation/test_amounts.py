"""Amounts as banks print them."""

import pytest

from kasuwa.reconciliation.amounts import parse_amount

POINT, COMMA, SPACE = (".", ","), (",", "."), (",", " ")


@pytest.mark.parametrize(
    ("text", "signs", "minor"),
    [
        ("1234.56", POINT, 123_456),
        ("-1234.56", POINT, -123_456),
        ("1,234.56", POINT, 123_456),
        ("12,34,567.80", POINT, 123_456_780),
        ("1.234.567,89", COMMA, 123_456_789),
        ("1 234,5", SPACE, 123_450),
        ("(1,234.56)", POINT, -123_456),
        ("1,234.56-", POINT, -123_456),
        ("1,234.56 DR", POINT, -123_456),
        ("1,234.56CR", POINT, 123_456),
        ("+5", POINT, 500),
        (" 5.00 ", POINT, 500),
        ("5.000", POINT, 500),
        ("0.00", POINT, 0),
    ],
)
def test_an_amount_is_read_in_minor_units(text: str, signs: tuple[str, str], minor: int) -> None:
    assert parse_amount(text, *signs) == minor


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        "x",
        "1.234,56",
        "1.005",
        "1,23.00",
        "1e5",
        "(5.00",
        "-5.00-",
        "(-5.00)",
        "5.00 DR-",
        "٥.00",
        "1 2",
        "9" * 19,
    ],
)
def test_anything_else_is_no_amount(text: str) -> None:
    assert parse_amount(text, *POINT) is None
