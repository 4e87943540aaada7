"""A merchant's policy for money out: which transfers and write-offs wait for approval, and its velocity limits.

`PayoutPolicy` is stored in the merchant's settings, with amounts as text. Rules decide by `PayoutRules`, in minor
units; a merchant without a policy has none. Contract: keys#approvals, keys#velocity
"""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal

import msgspec

from kasuwa.core.calendar import LAGOS
from kasuwa.core.money import format_minor, parse_minor
from kasuwa.core.references import row_key
from kasuwa.core.row_codes import CodedTable

# How long a transfer or a write-off waits for approval. Contract: keys#approvals
WAITING_TIME = timedelta(hours=72)

Window = Literal["hourly", "daily"]
# KYC tiers of clients: 1 without a verified BVN, 2 with one.
TIERS = ("1", "2")
MAX_COUNT = 1_000_000_000


class VelocityLimits(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The most that may be sent in one hour and in one day of Lagos. None for no limit."""

    hourly_count: int | None = None
    "Number of transfers in an hour."
    hourly_amount: str | None = None
    "Sum of the transfers in an hour, in naira."
    daily_count: int | None = None
    "Number of transfers in a day."
    daily_amount: str | None = None
    "Sum of the transfers in a day, in naira."


class PayoutPolicy(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A policy for money out: what waits for approval, and velocity limits. The default has neither."""

    approve_above: str | None = None
    "Transfers of more than this amount wait, in naira."
    approve_daily_above: str | None = None
    "Transfers wait that bring the day's total above this amount, in naira."
    approve_new_beneficiary: bool = False
    "Transfers wait whose beneficiary was never paid before."
    approve_bulk: bool = False
    "All orders of a bulk wait."
    limits: VelocityLimits = VelocityLimits()
    "Limits of all transfers together."
    beneficiary_limits: VelocityLimits = VelocityLimits()
    "Limits of the transfers to each beneficiary."
    tier_limits: dict[Literal["1", "2"], VelocityLimits] = {}
    "Limits of what each client is sent, by the client's KYC tier."
    on_limit: Literal["refuse", "approve"] = "refuse"
    "What becomes of a transfer beyond a limit: it is refused, or waits for approval."
    approve_write_off_above: str | None = None
    "Write-offs wait that bring what is written off of a loan above this amount, in naira."


NO_POLICY = PayoutPolicy()


class PolicyChange(msgspec.Struct, frozen=True):
    """A looser policy that takes effect at a later time. Stored in the merchant's settings."""

    policy: PayoutPolicy
    effective_at: datetime
    by: str  # who asked for it


class WindowLimits(msgspec.Struct, frozen=True):
    """VelocityLimits with amounts in minor units."""

    hourly_count: int | None = None
    hourly_amount: int | None = None
    daily_count: int | None = None
    daily_amount: int | None = None


class PayoutRules(msgspec.Struct, frozen=True):
    """A PayoutPolicy as rules read it, with amounts in minor units."""

    approve_above: int | None
    approve_daily_above: int | None
    approve_new_beneficiary: bool
    approve_bulk: bool
    limits: WindowLimits
    beneficiary_limits: WindowLimits
    tier_limits: dict[str, WindowLimits]
    is_limit_approvable: bool
    approve_write_off_above: int | None


class PayoutTerms(msgspec.Struct, frozen=True):
    """The policy for money out as terms of a merchant. `rules` is None if it has none."""

    rules: PayoutRules | None = None


def read_amount(name: str, text: str | None) -> int | None:
    amount = None if text is None else parse_minor(text)
    if text is not None and amount is None:
        raise ValueError(f"{name} must be an amount in naira such as 500000.00")
    return amount


def read_limits(name: str, limits: VelocityLimits) -> WindowLimits:
    for field in ("hourly_count", "daily_count"):
        count = getattr(limits, field)
        if count is not None and not 0 <= count <= MAX_COUNT:
            raise ValueError(f"{name}.{field} must be a whole number, not negative")
    return WindowLimits(
        limits.hourly_count,
        read_amount(f"{name}.hourly_amount", limits.hourly_amount),
        limits.daily_count,
        read_amount(f"{name}.daily_amount", limits.daily_amount),
    )


def read_policy(policy: PayoutPolicy) -> PayoutRules | None:
    """Returns the rules of a policy, or None if it restricts nothing. Raises ValueError that names a wrong field."""
    if policy == NO_POLICY:
        return None
    return PayoutRules(
        read_amount("approve_above", policy.approve_above),
        read_amount("approve_daily_above", policy.approve_daily_above),
        policy.approve_new_beneficiary,
        policy.approve_bulk,
        read_limits("limits", policy.limits),
        read_limits("beneficiary_limits", policy.beneficiary_limits),
        {tier: read_limits(f"tier_limits.{tier}", limits) for tier, limits in policy.tier_limits.items()},
        policy.on_limit == "approve",
        read_amount("approve_write_off_above", policy.approve_write_off_above),
    )


@lru_cache(maxsize=1024)
def rules_of_policy(encoded: bytes) -> PayoutRules | None:
    return read_policy(msgspec.json.decode(encoded, type=PayoutPolicy))


# --- changing a policy ----------------------------------------------------------------------------------------------


def is_looser(old: PayoutPolicy, new: PayoutPolicy) -> bool:
    """Returns whether any transfer that the old policy holds or refuses would be let through by the new one."""
    before, after = read_policy(old), read_policy(new)
    if before is None:
        return False
    if after is None:
        return True
    bounds = [
        (before.approve_above, after.approve_above),
        (before.approve_daily_above, after.approve_daily_above),
        (before.approve_write_off_above, after.approve_write_off_above),
    ]
    pairs = [(before.limits, after.limits), (before.beneficiary_limits, after.beneficiary_limits)]
    pairs += [(limits, after.tier_limits.get(tier, WindowLimits())) for tier, limits in before.tier_limits.items()]
    for first, second in pairs:
        bounds += zip(msgspec.structs.astuple(first), msgspec.structs.astuple(second), strict=True)
    flags = [
        (before.approve_new_beneficiary, after.approve_new_beneficiary),
        (before.approve_bulk, after.approve_bulk),
        (not before.is_limit_approvable, not after.is_limit_approvable),
    ]
    is_raised = any(low is not None and (high is None or high > low) for low, high in bounds)
    return is_raised or any(was_set and not is_set for was_set, is_set in flags)


# --- counting -------------------------------------------------------------------------------------------------------


def describe_limit(name: str, limit: int) -> str:
    """Returns a limit as refusals and reasons name it."""
    window = "an hour" if name.startswith("hourly") else "a day"
    return f"{name}: at most {limit if name.endswith('count') else format_minor(limit)} {window}"


# The counters of what was sent (methods/disburse/payout_model.py).
COUNTERS = CodedTable(
    table="payout_counter",
    key={"key": "bytea"},
    covered=("hour_at", "hour_count", "hour_amount", "day_at", "day_count", "day_amount", "paid_at"),
    uncovered={},
    is_cached=True,
)


def counter_key(merchant_id: int, subject: str) -> bytes:
    return row_key(merchant_id, COUNTERS.table, subject)


def beneficiary_subject(bank_code: str, account_number: str) -> str:
    return f"to {bank_code} {account_number}"


def client_subject(client_id: str) -> str:
    return f"client {client_id}"


# The counter of all transfers of the merchant.
EVERYTHING = ""


def hour_and_day(now: datetime) -> tuple[datetime, datetime]:
    """Returns when the hour and the day of a moment began, in Lagos."""
    hour = now.astimezone(LAGOS).replace(minute=0, second=0, microsecond=0)
    return hour, hour.replace(hour=0)
