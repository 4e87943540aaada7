"""Rules of reactivating dormant savings without a deposit: one party asks, and another approves.

Contract: investments#dormancy
"""

from kasuwa.core.callers import Caller
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Context, Decision, Effects, LoadedRows, Merchant, Needs, NeedsMore, Refusal
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.methods.investments.model import (
    UNKNOWN_SAVINGS,
    Savings,
    SavingsChanges,
    is_dormant,
    make_savings_record,
    need_savings,
    savings_key,
)
from kasuwa.methods.investments.reactivation_model import (
    APPROVED,
    DETAIL_DECODER,
    REJECTED,
    WAITING,
    ReactivationDetail,
    SavingsReactivation,
    can_be_decided,
    describe_waiting,
    reactivation_key,
)
from kasuwa.methods.investments.wire import DecideReactivationRequest, ReactivateSavingsRequest, SavingsReply
from kasuwa.terms.payouts import WAITING_TIME
from kasuwa.terms.savings import SavingsSettings
from kasuwa.transactions.object_events import make_object_event
from kasuwa.transactions.second_party import SecondParty, find_maker, record_verdict
from kasuwa.transactions.transactions import encode_text

EVENT_KIND = "reactivation"
WAITS_MESSAGE = "The reactivation waits for the approval of another key or person"

# Refusals, in order of precedence.
NOT_DORMANT = Refusal(INVALID_REQUEST, "The savings are not dormant", error_code="savings_not_dormant")
REACTIVATION_WAITS = Refusal(
    INVALID_REQUEST,
    "A reactivation of these savings waits already; approve or reject it with decide_reactivation",
    error_code="reactivation_waits",
)
NO_REACTIVATION_WAITS = Refusal(
    INVALID_REQUEST, "No reactivation of these savings waits for approval", error_code="no_reactivation_waits"
)
OWN_REACTIVATION = Refusal(
    INVALID_REQUEST,
    "Whoever asked for a reactivation cannot approve it; use another key of scope approve, or ask a colleague",
    error_code="own_reactivation",
)
ASKER_ENDED = Refusal(
    INVALID_REQUEST,
    "The key or account that asked for this reactivation was revoked or disabled, or has expired; reject it",
    error_code="reactivation_asker_ended",
)
SECOND_PARTY = SecondParty(OWN_REACTIVATION, ASKER_ENDED)


def need_reactivation(request: ReactivateSavingsRequest | DecideReactivationRequest, merchant: Merchant) -> Needs:
    return need_savings(merchant.merchant_id, (request.savings_id,))


def find_dormant(
    savings_id: str, context: Context, rows: LoadedRows
) -> tuple[Savings, SavingsReactivation | None] | Refusal | NeedsMore:
    """Returns dormant savings and the newest reactivation that was asked for, if there is one."""
    savings = rows.get(Savings, savings_key(context.merchant.merchant_id, savings_id))
    if savings is None:
        return UNKNOWN_SAVINGS
    today = SavingsChanges(context, rows).today
    if not is_dormant(savings, today, context.merchant):
        return NOT_DORMANT
    if not savings.reactivations:
        return savings, None
    key = reactivation_key(savings.merchant_id, savings.savings_id, savings.reactivations)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((SavingsReactivation, key),)))
    return savings, rows.get(SavingsReactivation, key)


# --- asking -------------------------------------------------------------------------------------------------


def decide_reactivate(
    request: ReactivateSavingsRequest, context: Context, rows: LoadedRows
) -> Decision[SavingsReply] | Refusal | NeedsMore:
    """Stores a reactivation until somebody else decides it."""
    dormant = find_dormant(request.savings_id, context, rows)
    if not isinstance(dormant, tuple):
        return dormant
    savings, newest = dormant
    if newest is not None and can_be_decided(newest, context.now):
        return REACTIVATION_WAITS
    number = savings.reactivations + 1
    maker = find_maker(context)
    proposed = SavingsReactivation(
        key=reactivation_key(savings.merchant_id, savings.savings_id, number),
        merchant_id=savings.merchant_id,
        savings_id=savings.savings_id,
        n=number,
        state=WAITING,
        detail=encode_text(ReactivationDetail(maker, request.reason)),
        created_at=context.now,
        expires_at=context.now + WAITING_TIME,
    )
    changes = SavingsChanges(context, rows)
    changes.load_savings(savings.savings_id).reactivations = number
    reply = reply_reactivation(changes, savings.savings_id, WAITS_MESSAGE, context)
    reply.data.waiting_reactivation = describe_waiting(proposed, context.now)
    return finish(reply, proposed, changes, context, is_dry_run=bool(request.dry_run))


def reply_reactivation(changes: SavingsChanges, savings_id: str, message: str, context: Context) -> SavingsReply:
    account, months = changes.account(savings_id), context.merchant.terms(SavingsSettings).dormancy_months
    record = make_savings_record(
        changes.load_savings(savings_id),
        account.posted,
        account.held,
        [],
        changes.today,
        dormancy_months=months,
    )
    return SavingsReply(message=message, data=record)


def finish(
    reply: SavingsReply,
    proposed: SavingsReactivation,
    changes: SavingsChanges,
    context: Context,
    *,
    is_dry_run: bool,
) -> Decision[SavingsReply]:
    """Returns the decision with the reply, the event and all rows, or the reply alone of a dry run."""
    if is_dry_run:
        reply.message, reply.dry_run = DRY_RUN_MESSAGE, True
        return Decision(reply=reply)
    decision = Decision(reply=reply)
    decision.add(report_reactivation(proposed, changes, context))
    decision.rows = (*changes.rows, proposed)
    return decision


def report_reactivation(proposed: SavingsReactivation, changes: SavingsChanges, context: Context) -> Effects:
    """Returns the event of a reactivation, which is counted on the savings."""
    savings = changes.load_savings(proposed.savings_id)
    savings.event_count += 1
    detail = DETAIL_DECODER.decode(proposed.detail)
    fields = {
        "txn_status": {WAITING: "pending", APPROVED: "successful"}.get(proposed.state, "failed"),
        "charged_amount": format_minor(0),
        "payment_method": "wallet",
        "currency": "NGN",
        "savings_id": savings.savings_id,
        "client_id": savings.client_id,
        "approval": proposed.state,
        "reason": detail.reason,
        "requested_by": detail.maker.label,
    }
    if proposed.decided_by:
        fields["decided_by"] = proposed.decided_by
    report = make_object_event(context, EVENT_KIND, savings, savings.savings_id, savings.event_count, fields)
    return Effects(events=(report.event,), jobs=report.jobs)


# --- deciding -----------------------------------------------------------------------------------------------


def decide_waiting(
    request: DecideReactivationRequest,
    context: Context,
    rows: LoadedRows,
    ended: frozenset[Caller] | None = None,
) -> Decision[SavingsReply] | Refusal | NeedsMore:
    """Approves or rejects the reactivation that waits. `ended` has its maker if that key or account was ended; it is
    None if that is not known yet, and the rule asks for it by the `question` of its decision."""
    dormant = find_dormant(request.savings_id, context, rows)
    if not isinstance(dormant, tuple):
        return dormant
    savings, proposed = dormant
    if proposed is None or not can_be_decided(proposed, context.now):
        return NO_REACTIVATION_WAITS
    changes = SavingsChanges(context, rows)
    verdict, message = REJECTED, "Reactivation Rejected"
    if request.status == "approve":
        barred = SECOND_PARTY.bar((DETAIL_DECODER.decode(proposed.detail).maker,), context, ended)
        if barred is not None:
            return barred
        verdict, message = APPROVED, "Savings Reactivated"
        changes.record_own_movement(savings.savings_id)
    decided = record_verdict(proposed, verdict, context)
    changes.load_savings(savings.savings_id)
    reply = reply_reactivation(changes, savings.savings_id, message, context)
    return finish(reply, decided, changes, context, is_dry_run=bool(request.dry_run))
