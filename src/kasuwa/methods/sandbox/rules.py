"""Rules of `PUT /sandbox`: funds wallets, plans faults of rails, and resolves the target of an advance."""

from datetime import datetime, timedelta

from kasuwa.core.calendar import LAST_YEAR
from kasuwa.core.codes import INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    PostingGroup,
    Refusal,
    SandboxEffects,
    refuse_fields,
)
from kasuwa.core.money import MAX_DIGITS, MINOR_PER_MAJOR, format_minor
from kasuwa.core.references import account_key
from kasuwa.core.scenario import OPERATIONS, InjectedFault
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.sandbox.response_codes import check_code
from kasuwa.methods.sandbox.wire import AdvanceRequest, DoneReply, FaultRequest, FundRequest

# Required by PostingGroup, but never returned: the funding account has no floor.
FUNDING_INSUFFICIENT = Refusal(INSUFFICIENT_FUNDS, "The wallet cannot take so much", error_code="funding_insufficient")
NO_DURATION = Refusal(INVALID_REQUEST, "Say seconds, minutes, hours or days, or until", error_code="duration_missing")
BACKWARDS = Refusal(INVALID_REQUEST, "Business time only moves forward", error_code="clock_backwards")
TOO_FAR = Refusal(INVALID_REQUEST, "Business time ends with the year 8999", error_code="clock_too_far")


# Far below the largest number that the books can store, so that no later credit reaches that.
MAX_WALLET_BALANCE = 10**MAX_DIGITS * MINOR_PER_MAJOR
WALLET_FULL = refuse_fields(FieldError("amount", f"the wallet would hold more than {MAX_DIGITS} digits", "wallet_full"))

# Injected faults are stored in the merchant's state row, which every request reads.
MAX_PLANNED_FAULTS = 100
TOO_MANY_FAULTS = Refusal(
    INVALID_REQUEST, "So many faults are planned already; clear them with kind none", error_code="too_many_faults"
)


def check_advance(merchant: Merchant, *values: object) -> str | None:
    """Returns an error if a request has both a duration and `until`, the last of the values."""
    *durations, until = values
    both = until is not None and any(part is not None for part in durations)
    return "until, or seconds, minutes, hours and days; not both" if both else None


def check_fault_rail(merchant: Merchant, kind: str, rail: str | None) -> str | None:
    """Returns the error of the field `rail`, which only the kind `none` may leave out."""
    return "required" if rail is None and kind != "none" else None


def check_fault_operation(merchant: Merchant, rail: str | None, on: str | None) -> str | None:
    """Returns the error of the field `on`, which must be an operation of the rail."""
    if on is None:
        return None
    if rail is None:
        return "needs a rail, whose operation it is"
    known = OPERATIONS[rail]
    return None if on in known else f"the {rail} rail has no {on}: must be one of {', '.join(known)}"


def check_fault_code(merchant: Merchant, rail: str | None, kind: str, code: str | None) -> str | None:
    """Returns the error of the field `code`, which only a decline has."""
    if code is not None and kind != "decline":
        return "only for the kind decline"
    return None if code is None or rail is None else check_code(rail, code, is_approval=False)


def need_fund(request: FundRequest, merchant: Merchant) -> Needs:
    currency = request.currency or "NGN"
    wallet = (Account, account_key(merchant.merchant_id, chart.wallet(currency)))
    return Needs((wallet,), (chart.wallet(currency), chart.outside("funding", currency)))


def decide_fund(request: FundRequest, context: Context, rows: LoadedRows) -> Decision[DoneReply] | Refusal:
    currency = str(request.currency or "NGN")
    wallet = rows.get(Account, account_key(context.merchant.merchant_id, chart.wallet(currency)))
    if request.amount + (0 if wallet is None else wallet.posted) >= MAX_WALLET_BALANCE:
        return WALLET_FULL
    post = chart.make_funding_posting(currency, int(request.amount))
    return Decision(
        reply=DoneReply(message=f"{currency} {format_minor(request.amount)} added to the wallet"),
        groups=(PostingGroup("funding", FUNDING_INSUFFICIENT, postings=(post,)),),
    )


def need_fault(request: FaultRequest, merchant: Merchant) -> Needs:
    return Needs()


def decide_fault(request: FaultRequest, context: Context, rows: LoadedRows) -> Decision[DoneReply] | Refusal:
    if request.kind == "none":
        faults = tuple(fault for fault in context.injected_faults if not is_cleared(fault, request))
        return Decision(
            reply=DoneReply(message=describe_cleared(request, faults)), sandbox=SandboxEffects(injected_faults=faults)
        )
    assert request.rail is not None, "check_fault_rail requires it"
    if len(context.injected_faults) >= MAX_PLANNED_FAULTS:
        return TOO_MANY_FAULTS
    percent = 100 if request.probability is None else request.probability
    planned = InjectedFault(
        request.rail, request.kind, request.times, int(percent), on=request.on or "", code=request.code or ""
    )
    calls = "calls" if request.on is None else f"{request.on} calls"
    reply = DoneReply(message=f"The next {request.times} {calls} of the {request.rail} rail: {request.kind}")
    return Decision(reply=reply, sandbox=SandboxEffects(injected_faults=(*context.injected_faults, planned)))


def is_cleared(fault: InjectedFault, request: FaultRequest) -> bool:
    """Returns whether a request that clears faults is about this one."""
    return request.rail in (None, fault.rail) and request.on in (None, fault.on)


def describe_cleared(request: FaultRequest, left: tuple[InjectedFault, ...]) -> str:
    """Returns what holds after faults were cleared. `left` are those that still apply."""
    if request.rail is None:
        return "All rails answer as usual again"
    if request.on is None:
        return f"The {request.rail} rail answers as usual again"
    if any(fault.rail == request.rail for fault in left if not fault.on):
        return f"Faults of {request.on} alone are cleared; those of all calls of the {request.rail} rail remain"
    return f"The {request.rail} rail answers each {request.on} as usual again"


def resolve_advance(request: AdvanceRequest, now: datetime) -> datetime | Refusal:
    """Returns the business time that an advance goes to. Refused if that is in the past."""
    durations = [request.seconds, request.minutes, request.hours, request.days]
    if request.until is None and all(part is None for part in durations):
        return NO_DURATION
    if request.until is not None:
        return request.until.plain() if request.until >= now else BACKWARDS
    seconds, minutes, hours, days = (part or 0 for part in durations)
    total = seconds + minutes * 60 + hours * 3600 + days * 86400
    if total >= (datetime(LAST_YEAR + 1, 1, 1, tzinfo=now.tzinfo) - now).total_seconds():
        return TOO_FAR
    return now + timedelta(seconds=total)
