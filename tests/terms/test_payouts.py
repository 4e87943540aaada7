"""The policy for money out: how it is read, and which changes loosen it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.authority.cooling_off import DEFAULT_HOURS
from kasuwa.merchants.merchant_settings import MerchantSettings, apply_policy_change, check_settings
from kasuwa.terms.payouts import NO_POLICY, PayoutPolicy, PolicyChange, is_looser, read_policy
from tests.walk.bounds import LOOSER_POLICY

STRICT: dict[str, Any] = {
    "approve_above": "1000.00",
    "approve_daily_above": "5000.00",
    "approve_new_beneficiary": True,
    "approve_bulk": True,
    "limits": {"hourly_count": 5, "daily_amount": "9000.00"},
    "beneficiary_limits": {"daily_count": 2},
    "tier_limits": {"1": {"daily_amount": "100.00"}},
    "approve_write_off_above": "300.00",
}


def policy(**changes: Any) -> PayoutPolicy:
    return msgspec.convert({**STRICT, **changes}, PayoutPolicy)


def test_a_policy_is_read_in_minor_units() -> None:
    assert read_policy(NO_POLICY) is None
    rules = read_policy(policy())
    assert rules is not None
    assert (rules.approve_above, rules.limits.daily_amount, rules.limits.hourly_amount) == (100_000, 900_000, None)
    assert rules.tier_limits["1"].daily_amount == 10_000
    assert rules.is_limit_approvable is False


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"approve_above": "1e3"}, "approve_above"),
        ({"approve_write_off_above": "much"}, "approve_write_off_above"),
        ({"limits": {"daily_amount": "x"}}, "limits.daily_amount"),
        ({"beneficiary_limits": {"hourly_count": -1}}, "beneficiary_limits.hourly_count"),
        ({"tier_limits": {"2": {"daily_amount": "1,5"}}}, "tier_limits.2.daily_amount"),
    ],
)
def test_a_wrong_field_of_a_policy_is_named(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        check_settings(MerchantSettings(payouts=policy(**change)))


@pytest.mark.parametrize(
    ("change", "looser"),
    [
        ({}, False),
        ({"approve_above": "999.99"}, False),
        ({"approve_above": "1000.01"}, True),
        ({"approve_above": None}, True),
        ({"approve_daily_above": "5000.01"}, True),
        ({"approve_new_beneficiary": False}, True),
        ({"approve_bulk": False}, True),
        ({"limits": {"hourly_count": 5, "daily_amount": "9000.00", "daily_count": 1}}, False),
        ({"limits": {"hourly_count": 6, "daily_amount": "9000.00"}}, True),
        ({"limits": {"hourly_count": 5}}, True),
        ({"beneficiary_limits": {}}, True),
        ({"tier_limits": {}}, True),
        ({"tier_limits": {"1": {"daily_amount": "100.00"}, "2": {"daily_count": 0}}}, False),
        ({"on_limit": "approve"}, True),
        ({"approve_write_off_above": "300.00"}, False),
        ({"approve_write_off_above": "300.01"}, True),
        ({"approve_write_off_above": None}, True),
    ],
)
def test_a_change_is_looser_if_anything_more_would_pass(change: dict[str, Any], looser: bool) -> None:
    assert is_looser(policy(), policy(**change)) is looser
    assert is_looser(NO_POLICY, policy(**change)) is False
    assert is_looser(policy(**change), NO_POLICY) is True


@LOOSER_POLICY.tries
def test_a_looser_policy_is_in_force_from_its_time_on(value: timedelta, is_within: bool) -> None:
    asked_at = datetime(2026, 1, 5, 12, tzinfo=UTC)
    change = PolicyChange(NO_POLICY, asked_at + timedelta(hours=DEFAULT_HOURS["live"]), "owner@example.com")
    kept = MerchantSettings(payouts=policy(), payouts_change=change)
    assert apply_policy_change(kept, asked_at + value) == (kept if is_within else MerchantSettings())
