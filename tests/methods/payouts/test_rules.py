"""The rules of payouts by schedule: when they are due, how much is paid out, and what ends them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.tariff import calculate_transfer_fees
from kasuwa.methods.payouts.model import next_payout
from kasuwa.methods.payouts.rules import largest_transfer
from tests.hypothesis_settings import without_deadline
from tests.rule_context import MERCHANT


@pytest.mark.parametrize(
    ("frequency", "now", "due"),
    [
        ("daily", datetime(2026, 1, 5, 9, 30, tzinfo=UTC), datetime(2026, 1, 6, 8, tzinfo=UTC)),
        ("above", datetime(2026, 1, 5, 23, 30, tzinfo=UTC), datetime(2026, 1, 7, 8, tzinfo=UTC)),
        ("weekly", datetime(2026, 1, 5, 6, tzinfo=UTC), datetime(2026, 1, 12, 8, tzinfo=UTC)),
        ("weekly", datetime(2026, 1, 11, 6, tzinfo=UTC), datetime(2026, 1, 12, 8, tzinfo=UTC)),
        ("monthly", datetime(2026, 1, 31, 6, tzinfo=UTC), datetime(2026, 2, 1, 8, tzinfo=UTC)),
        ("monthly", datetime(2026, 12, 1, 6, tzinfo=UTC), datetime(2027, 1, 1, 8, tzinfo=UTC)),
    ],
)
def test_a_payout_is_due_at_nine_in_lagos(frequency: str, now: datetime, due: datetime) -> None:
    assert next_payout(frequency, now) == due


@without_deadline(200)
@given(st.integers(0, 20_000_000))
def test_a_payout_leaves_the_fee_and_no_more_than_a_step_of_the_tariff(there: int) -> None:
    amount = largest_transfer(MERCHANT.tariff, there)
    fees = calculate_transfer_fees(MERCHANT.tariff, max(0, amount)).total
    assert amount + fees <= there
    assert amount < 1 or there - amount - fees <= 2_688
