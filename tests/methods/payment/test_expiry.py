"""The expiry of cards: month and year together, at, before and after their bound."""

from datetime import date

import pytest

from kasuwa.methods.payment.rules.check_request import expiry_faults
from tests.rule_context import MERCHANT


@pytest.mark.parametrize(
    ("month", "year", "today", "field"),
    [
        ("01", "26", date(2026, 1, 31), None),
        ("01", "26", date(2026, 2, 1), "card.expiry_month"),
        ("12", "25", date(2026, 1, 1), "card.expiry_year"),
        ("12", "25", date(2025, 12, 31), None),
        ("01", "27", date(2026, 11, 18), None),
        ("12", "24", date(2026, 11, 18), "card.expiry_year"),
    ],
)
def test_a_card_is_valid_until_the_end_of_its_month(month: str, year: str, today: date, field: str | None) -> None:
    faults = expiry_faults(month, year, today, MERCHANT)
    assert [fault.field for fault in faults] == ([] if field is None else [field])
