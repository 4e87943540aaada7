"""The policy of a merchant for money out that needs two persons. Contract: keys#approvals"""

from datetime import datetime
from typing import Any

from starlette.responses import Response

from kasuwa.authority.cooling_off import read_cooling_off
from kasuwa.console.kit.visit import Visit
from kasuwa.console.merchant.settings import read_merchant_settings
from kasuwa.core.calendar import utc_text
from kasuwa.merchants.merchant_settings import apply_policy_change
from kasuwa.merchants.payout_policy import change_policy
from kasuwa.terms.payouts import PayoutPolicy, VelocityLimits, read_policy

LIMIT_FIELDS = (
    ("hourly_count", "Transfers an hour"),
    ("hourly_amount", "Amount an hour"),
    ("daily_count", "Transfers a day"),
    ("daily_amount", "Amount a day"),
)
LIMIT_GROUPS = (
    ("all", "All transfers"),
    ("beneficiary", "To each beneficiary"),
    ("tier-1", "To each client without a verified BVN"),
    ("tier-2", "To each client with a verified BVN"),
)


async def show_policy(visit: Visit, status: int = 200, **values: Any) -> Response:
    async with visit.snapshot() as connection:
        settings = await read_merchant_settings(connection, visit)
        now: datetime = await connection.fetchval("select now()")
        cooling_off = await read_cooling_off(connection, visit.services.vault)
    settings = apply_policy_change(settings, now)
    shared: dict[str, Any] = {
        "policy": settings.payouts,
        "change": settings.payouts_change,
        "submitted": fill_form(settings.payouts),
        "limit_fields": LIMIT_FIELDS,
        "limit_groups": LIMIT_GROUPS,
        "cooling_off": cooling_off,
    }
    return visit.render("payout_policy.html", status, **{**shared, **values})


def fill_form(policy: PayoutPolicy) -> dict[str, str]:
    """Returns the fields of the form for a policy. Those that are not set are empty."""
    groups = {"all": policy.limits, "beneficiary": policy.beneficiary_limits}
    groups |= {f"tier-{tier}": limits for tier, limits in policy.tier_limits.items()}
    fields = {
        "approve_above": policy.approve_above or "",
        "approve_daily_above": policy.approve_daily_above or "",
        "approve_new_beneficiary": "1" if policy.approve_new_beneficiary else "",
        "approve_bulk": "1" if policy.approve_bulk else "",
        "on_limit": policy.on_limit,
        "approve_write_off_above": policy.approve_write_off_above or "",
    }
    for group, limits in groups.items():
        for name, _ in LIMIT_FIELDS:
            value = getattr(limits, name)
            fields[f"{group}-{name}"] = "" if value is None else str(value)
    return fields


def read_limits(visit: Visit, group: str) -> VelocityLimits:
    """Reads the limits of one group. Raises ValueError, also from int()."""
    values: dict[str, Any] = {}
    for name, label in LIMIT_FIELDS:
        text = visit.form_amount(f"{group}-{name}")
        if not text:
            continue
        if name.endswith("count") and not (text.isascii() and text.isdecimal()):
            raise ValueError(f"{label}: must be a whole number")
        values[name] = int(text) if name.endswith("count") else text
    return VelocityLimits(**values)


def read_form(visit: Visit) -> PayoutPolicy:
    """Reads the form of a policy. Raises ValueError that says what is wrong."""
    tiers: dict[Any, VelocityLimits] = {tier: read_limits(visit, f"tier-{tier}") for tier in ("1", "2")}
    if visit.form_text("on_limit") not in ("refuse", "approve"):
        raise ValueError("choose what becomes of a transfer beyond a limit")
    policy = PayoutPolicy(
        approve_above=visit.form_amount("approve_above") or None,
        approve_daily_above=visit.form_amount("approve_daily_above") or None,
        approve_new_beneficiary=bool(visit.form_text("approve_new_beneficiary")),
        approve_bulk=bool(visit.form_text("approve_bulk")),
        limits=read_limits(visit, "all"),
        beneficiary_limits=read_limits(visit, "beneficiary"),
        tier_limits={tier: limits for tier, limits in tiers.items() if limits != VelocityLimits()},
        on_limit=visit.form_text("on_limit"),  # type: ignore[arg-type]
        approve_write_off_above=visit.form_amount("approve_write_off_above") or None,
    )
    read_policy(policy)
    return policy


async def set_policy(visit: Visit) -> Response:
    """Changes the policy: at once if it is stricter, after the cooling-off period if it is looser."""
    try:
        policy = read_form(visit)
    except ValueError as error:
        submitted = {name: value for name, value in visit.form.items() if isinstance(value, str)}
        return await show_policy(visit, 422, faults={"": str(error)}, submitted=submitted)
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        cooling_off = await read_cooling_off(connection, visit.services.vault)
        before, effective_at = await change_policy(
            connection, visit.services.vault, visit.merchant.mid, policy, cooling_off, visit.user.email
        )
        action = "changed the payout policy" if effective_at is None else "asked for a looser payout policy"
        await visit.record_audit_on(connection, visit.audit_chain, action, visit.merchant.mid, before, policy)
    visit.services.merchant_directory.evict(visit.merchant.mid)
    if effective_at is None:
        return visit.redirect("/settings/payouts", "The policy is in force.")
    return visit.redirect("/settings/payouts", f"The looser policy takes effect at {utc_text(effective_at)} UTC.")
