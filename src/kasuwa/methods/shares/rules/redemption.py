"""Rules of redemptions: a member gives shares back, and another party consents before anything is paid.

    waiting     the shares are reserved, and nothing is posted
    approved    shares → savings, and the member's thrift debts out of it
    rejected    the shares are free again
    expired     the shares are free again

Contract: investments#redemptions
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from kasuwa.core.callers import Caller
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
    make_job,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE, preview_decision
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key, job_key, opaque_id
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.investments.model import SAVINGS_INSUFFICIENT, SavingsChanges, has_unseen_rows, need_savings
from kasuwa.methods.investments.rules.savings import receive_deposit
from kasuwa.methods.shares.model import (
    APPROVED,
    EXPIRED,
    MAKER_DECODER,
    REJECTED,
    UNKNOWN_CLASS,
    WAITING,
    WAITING_TIME,
    ShareClass,
    Shareholding,
    ShareRedemption,
    change_shares,
    class_key,
    holding_key,
    make_redemption_record,
    redemption_key,
)
from kasuwa.methods.shares.rules.membership import count_holder, find_giver, find_holding_account, need_member
from kasuwa.methods.shares.wire import (
    RedeemSharesRequest,
    RedemptionReply,
    RedemptionVerdictReply,
    RedemptionVerdictRequest,
)
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.object_events import ObjectEvent, make_object_event
from kasuwa.transactions.second_party import SecondParty, find_maker, record_verdict
from kasuwa.transactions.transactions import encode_text
from kasuwa.wire.interest_wire import DryRunFigure

EXPIRE = "shares.expire"
EXPIRY_LANE = "schedule"
EVENT_KIND = "share_redemption"

# Refusals, in order of precedence.
UNKNOWN_REDEMPTION = Refusal(INVALID_REQUEST, "Invalid Redemption Reference", error_code="redemption_not_found")
DECIDED = Refusal(
    INVALID_REQUEST, "This redemption is {state} already; nothing was changed", error_code="redemption_decided"
)
OWN_REDEMPTION = Refusal(
    INVALID_REQUEST,
    "Whoever asked for a redemption cannot approve it; use another key of scope approve, or ask a colleague",
    error_code="own_redemption",
)
MAKER_ENDED = Refusal(
    INVALID_REQUEST,
    "The key or account that asked for this redemption was revoked, disabled or has expired; reject it, and ask again",
    error_code="sender_ended",
)
SECOND_PARTY = SecondParty(OWN_REDEMPTION, MAKER_ENDED)


# --- asking -------------------------------------------------------------------------------------------------


def need_redemption(request: RedeemSharesRequest, merchant: Merchant) -> Needs:
    return need_member(merchant.merchant_id, request.class_id, request.client_id)


def decide_redemption(
    request: RedeemSharesRequest, context: Context, rows: LoadedRows
) -> Decision[RedemptionReply] | Refusal:
    """Reserves shares until somebody else decides. Nothing is posted."""
    merchant_id, number = context.merchant.merchant_id, int(request.shares)
    share_class = rows.get(ShareClass, class_key(merchant_id, request.class_id))
    if share_class is None:
        return UNKNOWN_CLASS
    holding = find_giver(request.client_id, number, share_class, rows)
    if isinstance(holding, Refusal):
        return holding
    redemption_id = opaque_id("SR", context.entropy)
    redemption = ShareRedemption(
        key=redemption_key(merchant_id, redemption_id),
        merchant_id=merchant_id,
        redemption_id=redemption_id,
        number=context.number,
        class_id=share_class.class_id,
        client_id=holding.client_id,
        shares=number,
        amount=number * share_class.price,
        state=WAITING,
        maker=encode_text(find_maker(context)),
        created_at=context.now,
        expires_at=context.now + WAITING_TIME,
    )
    record = make_redemption_record(redemption)
    if request.dry_run:
        record.redemption_id = None
        figures = [DryRunFigure("amount", record.amount, "paid into the member's savings if somebody else approves it")]
        return Decision(reply=RedemptionReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True, explained=figures))
    expiry = make_job(
        key=job_key(redemption.key),
        merchant_id=merchant_id,
        kind=EXPIRE,
        lane=EXPIRY_LANE,
        reference=redemption_id,
        subject=redemption.key,
        due=redemption.expires_at,
    )
    report = report_redemption(redemption, context)
    return Decision(
        reply=RedemptionReply(message="Waiting for Approval", data=record),
        rows=(redemption, msgspec.structs.replace(holding, reserved=holding.reserved + number)),
        jobs=(expiry, *report.jobs),
        events=(report.event,),
        numbers_used=1,
    )


def report_redemption(redemption: ShareRedemption, context: Context) -> ObjectEvent:
    """Returns the event of a redemption: the first when it waits, the second when it was decided."""
    is_paid = redemption.state == APPROVED
    fields: dict[str, Any] = {
        "txn_status": {WAITING: "pending", APPROVED: "successful"}.get(redemption.state, "failed"),
        "charged_amount": format_minor(redemption.amount if is_paid else 0),
        "payment_method": "wallet",
        "currency": "NGN",
        "class_id": redemption.class_id,
        "client_id": redemption.client_id,
        "shares": redemption.shares,
        "amount": format_minor(redemption.amount),
        "approval": redemption.state,
        "requested_by": MAKER_DECODER.decode(redemption.maker).label,
    }
    if redemption.decided_by:
        fields["decided_by"] = redemption.decided_by
    number = 1 if redemption.state == WAITING else 2
    return make_object_event(context, EVENT_KIND, redemption, redemption.redemption_id, number, fields)


# --- deciding -----------------------------------------------------------------------------------------------


def need_verdict(request: RedemptionVerdictRequest, merchant: Merchant) -> Needs:
    key = redemption_key(merchant.merchant_id, request.redemption_id)
    return Needs(((ShareRedemption, key), (Job, job_key(key))))


def need_held_shares(redemption: ShareRedemption) -> Needs:
    merchant_id, class_id, client_id = redemption.merchant_id, redemption.class_id, redemption.client_id
    account = find_holding_account(class_id, client_id)
    return Needs(
        (
            (ShareClass, class_key(merchant_id, class_id)),
            (Shareholding, holding_key(merchant_id, class_id, client_id)),
            (Account, account_key(merchant_id, account)),
        ),
        (account,),
    )


def decide_verdict(
    verdict: str,
    request: RedemptionVerdictRequest,
    context: Context,
    rows: LoadedRows,
    ended: frozenset[Caller] | None = None,
) -> Decision[RedemptionVerdictReply] | Refusal | NeedsMore:
    """Approves or rejects a redemption that waits. The same verdict again is answered with the state.

    `ended` has the maker if they may not ask any more. None if that is not known yet: before it approves, the rule asks
    for it by the `question` of its decision."""
    redemption = rows.get(ShareRedemption, redemption_key(context.merchant.merchant_id, request.redemption_id))
    if redemption is None:
        return UNKNOWN_REDEMPTION
    if redemption.state == verdict:
        repeated = reply_verdict(redemption)
        return preview_decision(repeated, ()) if request.dry_run else repeated
    refusal = refuse_verdict(redemption, context)
    if refusal is not None:
        return refusal
    if verdict == APPROVED:
        barred = SECOND_PARTY.bar((MAKER_DECODER.decode(redemption.maker),), context, ended)
        if barred is not None:
            return barred
    decision = end_waiting(record_verdict(redemption, verdict, context), context, rows)
    if isinstance(decision, NeedsMore) or not request.dry_run:
        return decision
    return preview_decision(decision, explain_verdict(decision))


def explain_verdict(decision: Decision[RedemptionVerdictReply]) -> Iterator[DryRunFigure]:
    """Yields the new state, and what is paid into the savings and at once out of them again."""
    yield DryRunFigure("state after", decision.reply.data.state, f"{WAITING} now")
    for group in decision.groups:
        for posting in group.postings:
            what = "amount" if posting.debit.startswith("shares:") else "thrift debt"
            yield DryRunFigure(what, format_minor(posting.amount), f"from {posting.debit} to {posting.credit}")


def refuse_verdict(redemption: ShareRedemption, context: Context) -> Refusal | None:
    """Returns why nobody may decide this, or None."""
    if redemption.state != WAITING:
        return DECIDED.fill(state=redemption.state)
    if context.now >= redemption.expires_at:
        return DECIDED.fill(state=EXPIRED)
    return None


def reply_verdict(redemption: ShareRedemption) -> Decision[RedemptionVerdictReply]:
    message = f"Redemption {redemption.state.capitalize()}"
    return Decision(reply=RedemptionVerdictReply(message=message, data=make_redemption_record(redemption)))


def end_waiting(decided: ShareRedemption, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Returns the decision that ends the wait. An approved redemption is paid into the savings of the holding."""
    needs = need_held_shares(decided)
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    holding = rows.get(Shareholding, holding_key(decided.merchant_id, decided.class_id, decided.client_id))
    assert holding is not None, "a redemption is of shares that somebody holds"
    freed = msgspec.structs.replace(holding, reserved=holding.reserved - decided.shares)
    expiry = rows.get(Job, job_key(decided.key))
    decision = reply_verdict(decided)
    decision.rows, decision.jobs_done = (decided,), () if expiry is None else (expiry,)
    report = report_redemption(decided, context)
    decision.events, decision.jobs = (report.event,), report.jobs
    if decided.state != APPROVED:
        decision.rows += (freed,)
        return decision
    more = pay_redemption(decision, decided, freed, context, rows)
    return more or decision


def pay_redemption(
    decision: Decision, decided: ShareRedemption, freed: Shareholding, context: Context, rows: LoadedRows
) -> NeedsMore | None:
    """Adds to a decision that the shares are paid out. Returns NeedsMore if rows are missing, else None."""
    share_class = rows.get(ShareClass, class_key(decided.merchant_id, decided.class_id))
    assert share_class is not None, "a redemption is of a class"
    savings_id = freed.savings_id
    needs = need_savings(decided.merchant_id, (savings_id,))
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    changes = SavingsChanges(context, rows)
    redeemed = change_shares(freed, -decided.shares, changes.today)
    count_holder(changes, freed, redeemed)
    more = receive_deposit(changes, savings_id, decided.amount)
    if more is not None:
        return more
    pay = Posting(chart.shares(freed.holding_id), chart.savings(savings_id), decided.amount, "shares redeemed")
    group = PostingGroup(decided.redemption_id, SAVINGS_INSUFFICIENT, postings=(pay, *changes.posts))
    fewer = msgspec.structs.replace(share_class, shares=share_class.shares - decided.shares)
    decision.groups, decision.rows = (group,), (*decision.rows, fewer, redeemed, *changes.rows)
    decision.audit_facts = {"shares": decided.shares, "amount": format_minor(decided.amount), "currency": "NGN"}
    return None


decide_approval = partial(decide_verdict, APPROVED)
decide_rejection = partial(decide_verdict, REJECTED)


# --- the end of the wait ------------------------------------------------------------------------------------


def need_expiry(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((ShareRedemption, job.subject), (Job, job.key)))


def decide_expiry(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Ends a redemption that nobody decided in time. Does nothing if it was decided after the job was claimed."""
    redemption = rows.get(ShareRedemption, job.subject)
    assert redemption is not None, "a redemption is written with its job"
    current = rows.get(Job, job.key)
    if redemption.state != WAITING or current is None:
        return Decision()
    if context.now < redemption.expires_at:
        return Decision(jobs=(current,))  # not due yet: put the job back
    expired = msgspec.structs.replace(redemption, state=EXPIRED, decided_at=context.now)
    return end_waiting(expired, context, rows)
