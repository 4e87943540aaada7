"""Commands of the test environment that make API keys and set the policy for money out. In live, both are done in the
console. Contract: keys#making
"""

from datetime import datetime

from kasuwa.core.action import AdminOperations
from kasuwa.core.callers import check_key_name, read_ranges, read_scopes
from kasuwa.core.decision import FieldError, Merchant, Refusal, refuse_fields
from kasuwa.core.money import format_minor
from kasuwa.methods.keys.wire import LimitFields, NewKeyReply, NewKeyRequest, PolicyReply, PolicyRequest
from kasuwa.terms.payouts import NO_POLICY, PayoutPolicy, VelocityLimits


async def new_key(request: NewKeyRequest, merchant: Merchant, engine: AdminOperations) -> NewKeyReply | Refusal:
    faults: list[FieldError] = []
    name = request.name or "sandbox"
    fault = check_key_name(name)
    if fault is not None:
        faults.append(FieldError("name", fault))
    try:
        scopes = read_scopes(list(request.scopes or ("all",)))
    except ValueError as error:
        faults.append(FieldError("scopes", str(error)))
    try:
        addresses = read_ranges(list(request.addresses or ()))
    except ValueError as error:
        faults.append(FieldError("addresses", str(error)))
    if faults:
        return refuse_fields(*faults)
    expires_at: datetime | None = None if request.expires_at is None else request.expires_at.plain()
    number_and_key = await engine.new_key(merchant, name, scopes, addresses, expires_at)
    if isinstance(number_and_key, Refusal):
        return number_and_key
    key_id, key = number_and_key
    return NewKeyReply(key_id=key_id, key=key, scopes=list(scopes))


async def set_policy(request: PolicyRequest, merchant: Merchant, engine: AdminOperations) -> PolicyReply:
    tiers = {} if request.tier_limits is None else {"1": request.tier_limits.tier_1, "2": request.tier_limits.tier_2}
    policy = PayoutPolicy(
        approve_above=amount_text(request.approve_above),
        approve_daily_above=amount_text(request.approve_daily_above),
        approve_new_beneficiary=bool(request.approve_new_beneficiary),
        approve_bulk=bool(request.approve_bulk),
        limits=read_limits(request.limits),
        beneficiary_limits=read_limits(request.beneficiary_limits),
        tier_limits={tier: read_limits(limits) for tier, limits in tiers.items() if limits is not None},  # type: ignore[misc]
        on_limit=request.on_limit or "refuse",
        approve_write_off_above=amount_text(request.approve_write_off_above),
    )
    await engine.set_payout_policy(merchant, policy)
    return PolicyReply(message="There is no policy any more" if policy == NO_POLICY else "The policy is in force")


def amount_text(amount: int | None) -> str | None:
    return None if amount is None else format_minor(amount)


def read_limits(fields: LimitFields | None) -> VelocityLimits:
    if fields is None:
        return VelocityLimits()
    return VelocityLimits(
        fields.hourly_count, amount_text(fields.hourly_amount), fields.daily_count, amount_text(fields.daily_amount)
    )
