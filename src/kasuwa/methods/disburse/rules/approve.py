"""Approves, rejects and expires transfers that wait for approval, one by one or all of a bulk.

Postings:

    approved    none: the hold stays, and the transfer is sent as any other (on_bank_answer.py)
    rejected    the hold is voided
    expired     the hold is voided

Contract: keys#approvals
"""

from collections.abc import Iterator
from functools import partial

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
    Refusal,
    Row,
    replace_faults,
)
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key
from kasuwa.core.scenario import NO_SCENARIO, take_call_scenario
from kasuwa.methods.disburse.model import (
    BATCH_ORDERS_DECODER,
    BATCH_PREFIX,
    KIND,
    LANE,
    MAX_ORDERS,
    SEND,
    WALLET,
    TransferBatch,
    batch_key,
    decode_job_data,
)
from kasuwa.methods.disburse.payout_model import (
    APPROVAL_DETAIL_DECODER,
    APPROVED,
    EXPIRED,
    REJECTED,
    WAITING,
    TransferApproval,
    approval_key,
)
from kasuwa.methods.disburse.receipts import find_receipt_url
from kasuwa.methods.disburse.rules.bulk_transfer import reply_order
from kasuwa.methods.disburse.rules.on_bank_answer import end_holds
from kasuwa.methods.disburse.rules.payout_checks import need_counted, settle_counters
from kasuwa.methods.disburse.rules.transfer import MESSAGES, demand_rail, reply_transfer
from kasuwa.methods.disburse.rules.waiting import place_final_event, tell_approval
from kasuwa.methods.disburse.wire import ApprovalReply, OrderReply, VerdictRequest
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.second_party import SecondParty, record_verdict
from kasuwa.transactions.transactions import (
    FAILED,
    PROCESSING,
    Transaction,
    TransactionOutcome,
    encode_text,
    end_transaction,
    extend_trail,
    make_transaction_job,
    transaction_key,
)

# Refusals, in order of precedence.
UNKNOWN_REFERENCE = Refusal(
    INVALID_REQUEST,
    "Invalid Transaction Reference: no transfer waited for approval under it",
    error_code="waiting_transfer_not_found",
)
OWN_TRANSFER = Refusal(
    INVALID_REQUEST,
    "Whoever made a transfer cannot approve it; use another key of scope approve, or ask a colleague",
    error_code="own_transfer",
)
SENDER_ENDED = Refusal(
    INVALID_REQUEST,
    "The key or account that made this transfer was revoked, disabled or has expired; reject it, and send it again",
    error_code="sender_ended",
)
SECOND_PARTY = SecondParty(OWN_TRANSFER, SENDER_ENDED)
DECIDED = {
    APPROVED: Refusal(
        INVALID_REQUEST, "This transfer was approved already; nothing was changed", error_code="already_approved"
    ),
    REJECTED: Refusal(
        INVALID_REQUEST, "This transfer was rejected already; nothing was changed", error_code="already_rejected"
    ),
    EXPIRED: Refusal(
        INVALID_REQUEST,
        "This transfer was not approved in time and has failed; nothing was changed",
        error_code="approval_expired",
    ),
}
NOTHING_WAITS = Refusal(INVALID_REQUEST, "No order of this bulk waits for approval", error_code="nothing_waits")

EXPIRED_MESSAGE = "Not approved within 72 hours"


class WaitingTransfer(msgspec.Struct):
    """The rows of a transfer that waits: its approval, its transaction and the job that ends the wait."""

    approval: TransferApproval
    row: Transaction
    expiry: Job | None  # None once it is decided


# --- rows -----------------------------------------------------------------------------------------------------------


def weigh_verdict(request: VerdictRequest) -> int:
    """Returns as how many orders a verdict counts: that of a bulk as many as it may have."""
    return MAX_ORDERS if request.txn_ref.startswith(BATCH_PREFIX) else 1


def need_verdict(request: VerdictRequest, merchant: Merchant) -> Needs:
    rows: list[tuple[type[Row], bytes]] = [(TransferApproval, approval_key(merchant.merchant_id, request.txn_ref))]
    if request.txn_ref.startswith(BATCH_PREFIX):
        rows.append((TransferBatch, batch_key(merchant.merchant_id, request.txn_ref)))
    return Needs(tuple(rows), (WALLET,))


def need_approved_transfer(approval: TransferApproval) -> tuple[tuple[type[Row], bytes], ...]:
    transaction = transaction_key(approval.merchant_id, KIND, approval.order_ref)
    return (Transaction, transaction), (Job, job_key(approval.key))


def load_transfers(approvals: list[TransferApproval], rows: LoadedRows) -> list[WaitingTransfer] | NeedsMore:
    """Returns the rows of transfers, or NeedsMore: first their own, then the counters that their jobs name."""
    own = [need for approval in approvals for need in need_approved_transfer(approval)]
    if not all(rows.is_loaded(key) for _, key in own):
        return NeedsMore(Needs(tuple(own)))
    transfers, counters = [], dict[tuple[type[Row], bytes], None]()
    for approval in approvals:
        row = rows.get(Transaction, transaction_key(approval.merchant_id, KIND, approval.order_ref))
        assert row is not None, "an approval is written with its transfer"
        expiry = rows.get(Job, job_key(approval.key))
        transfers.append(WaitingTransfer(approval, row, expiry))
        if expiry is not None:
            counters |= dict.fromkeys(need_counted(approval.merchant_id, decode_job_data(expiry.work)))
    if not all(rows.is_loaded(key) for _, key in counters):
        return NeedsMore(Needs(tuple(counters)))
    return transfers


# --- deciding -------------------------------------------------------------------------------------------------------


def decide_verdict(
    verdict: str,
    request: VerdictRequest,
    context: Context,
    rows: LoadedRows,
    ended: frozenset[Caller] | None = None,
) -> Decision[ApprovalReply] | Refusal | NeedsMore:
    """Decides one transfer, or those of a bulk that still wait. `verdict` is APPROVED or REJECTED.

    `ended` are those of the senders who may not send any more. None if that is not known yet: before it approves, the
    rule asks for them by the `question` of its decision."""
    merchant_id = context.merchant.merchant_id
    approval = rows.get(TransferApproval, approval_key(merchant_id, request.txn_ref))
    if approval is None:
        return decide_batch(verdict, request, context, rows, ended)
    loaded = load_transfers([approval], rows)
    if isinstance(loaded, NeedsMore):
        return loaded
    [waiting] = loaded
    refusal = refuse_verdict(verdict, approval, context)
    if refusal is not None:
        return refusal
    if approval.state == verdict:
        return Decision(reply=reply_verdict(waiting.row, context), in_progress=is_being_sent(waiting.row))
    barred = bar_approver(verdict, [approval], context, ended)
    if barred is not None:
        return barred
    decision = apply_verdict(verdict, waiting, context, rows)
    if verdict == APPROVED:
        decision.follow_up = decision.jobs[0]
    decision.audit_facts = sum_transfers(loaded)
    decision.reply = reply_verdict(first_row(decision), context)
    return decision


def is_being_sent(row: Transaction) -> bool:
    return row.status == PROCESSING and row.code is None


def refuse_verdict(verdict: str, approval: TransferApproval, context: Context) -> Refusal | None:
    """Returns why the caller may not decide this, or None. The same verdict again is answered with the state."""
    if approval.state != WAITING:
        return None if approval.state == verdict else DECIDED[approval.state]
    if context.now >= approval.expires_at:
        return DECIDED[EXPIRED]
    return None


def bar_approver(
    verdict: str, approvals: list[TransferApproval], context: Context, ended: frozenset[Caller] | None
) -> Decision[ApprovalReply] | Refusal | None:
    """Returns why the caller may not approve transfers, or None. Anybody may reject them."""
    if verdict != APPROVED:
        return None
    senders = (APPROVAL_DETAIL_DECODER.decode(approval.detail).maker for approval in approvals)
    return SECOND_PARTY.bar(senders, context, ended)


def decide_batch(
    verdict: str, request: VerdictRequest, context: Context, rows: LoadedRows, ended: frozenset[Caller] | None
) -> Decision[ApprovalReply] | Refusal | NeedsMore:
    merchant_id = context.merchant.merchant_id
    is_batch = request.txn_ref.startswith(BATCH_PREFIX)
    batch = rows.get(TransferBatch, batch_key(merchant_id, request.txn_ref)) if is_batch else None
    if batch is None:
        return UNKNOWN_REFERENCE
    txn_refs = [order.txn_ref for order in BATCH_ORDERS_DECODER.decode(batch.detail) if order.txn_ref is not None]
    keys = [approval_key(merchant_id, txn_ref) for txn_ref in txn_refs]
    if not all(rows.is_loaded(key) for key in keys):
        return NeedsMore(Needs(tuple((TransferApproval, key) for key in keys)))
    approvals = [rows.get(TransferApproval, key) for key in keys]
    # An order that repeats one of an earlier bulk belongs to that bulk.
    own = [approval for approval in approvals if approval is not None and approval.batch_ref == request.txn_ref]
    waiting = [approval for approval in own if approval.state == WAITING]
    if not waiting:
        return repeat_batch(verdict, request.txn_ref, own, context, rows)
    for approval in waiting:
        refusal = refuse_verdict(verdict, approval, context)
        if refusal is not None:
            return refusal
    barred = bar_approver(verdict, waiting, context, ended)
    if barred is not None:
        return barred
    loaded = load_transfers(waiting, rows)
    if isinstance(loaded, NeedsMore):
        return loaded
    return Decision(
        sub_decisions=decide_each(verdict, loaded, context, rows),
        combine=partial(combine_verdicts, verdict, request.txn_ref),
        audit_facts=sum_transfers(loaded),
    )


def sum_transfers(loaded: list[WaitingTransfer]) -> dict[str, str | int]:
    """Returns what an audit entry says of the transfers that are decided: their number and sum."""
    total = sum(waiting.row.amount for waiting in loaded)
    return {"transfers": len(loaded), "amount": format_minor(total), "currency": "NGN"}


def repeat_batch(
    verdict: str, batch_ref: str, approvals: list[TransferApproval], context: Context, rows: LoadedRows
) -> Decision[ApprovalReply] | Refusal | NeedsMore:
    """Answers a verdict on a bulk of which nothing waits: with the state of the orders that were decided alike."""
    alike = [approval for approval in approvals if approval.state == verdict]
    if not alike:
        return NOTHING_WAITS
    loaded = load_transfers(alike, rows)
    if isinstance(loaded, NeedsMore):
        return loaded
    lines = [reply_order(reply_transfer(transfer.row, context)) for transfer in loaded]
    return Decision(reply=reply_verdicts(verdict, batch_ref, lines))


def decide_each(verdict: str, loaded: list[WaitingTransfer], context: Context, rows: LoadedRows) -> Iterator[Decision]:
    for waiting in loaded:
        decision = apply_verdict(verdict, waiting, context, rows)
        decision.reply = reply_order(reply_transfer(first_row(decision), context))
        if decision.sandbox is not None and decision.sandbox.injected_faults is not None:
            context = msgspec.structs.replace(context, injected_faults=decision.sandbox.injected_faults)
        yield decision


def combine_verdicts(verdict: str, batch_ref: str, results: list[Decision | Refusal]) -> Decision:
    lines: list[OrderReply] = [result.reply for result in results if isinstance(result, Decision)]
    return Decision(reply=reply_verdicts(verdict, batch_ref, lines))


def reply_verdicts(verdict: str, batch_ref: str, lines: list[OrderReply]) -> ApprovalReply:
    """Returns the reply of a bulk. Its status is that of its orders, or processing if these differ."""
    statuses = {line.txn_status for line in lines}
    return ApprovalReply(
        status=200,
        txn_status=statuses.pop() if len(statuses) == 1 else PROCESSING,  # type: ignore[arg-type]
        batch_ref=batch_ref,
        message=f"{verdict.capitalize()} {len(lines)} orders",
        data=lines,
    )


def apply_verdict(verdict: str, waiting: WaitingTransfer, context: Context, rows: LoadedRows) -> Decision:
    decided = record_verdict(waiting.approval, verdict, context)
    if verdict == APPROVED:
        return send_approved(decided, waiting, context)
    return end_waiting(decided, waiting, f"Rejected by {decided.decided_by}", context, rows)


def send_approved(decided: TransferApproval, waiting: WaitingTransfer, context: Context) -> Decision:
    """Returns the decision that sends an approved transfer. Its first job is the one that calls the bank."""
    expiry = waiting.expiry
    assert expiry is not None, "a transfer that waits has a job"
    data = decode_job_data(expiry.work)
    scenario = context.scenario if data.scenario == NO_SCENARIO else data.scenario
    random_number = int.from_bytes(context.entropy[:8], "big")
    scenario, faults = take_call_scenario(scenario, context.injected_faults, LANE, "transfer", random_number)
    rail = context.choose_rail(demand_rail(data.order, waiting.row.amount))
    row = msgspec.structs.replace(
        waiting.row,
        status=PROCESSING,
        message=MESSAGES[PROCESSING],
        rail=rail,
        rail_account=context.find_rail_account(rail),
        trail=extend_trail(waiting.row.trail, context.now, APPROVED, f"by {decided.decided_by}"),
    )
    job_data = msgspec.structs.replace(data, sent_at=context.now.timestamp(), scenario=scenario, is_approved=True)
    event, deliveries = tell_approval(row, decided, scenario, context)
    return Decision(
        rows=(row, decided),
        jobs=(make_transaction_job(context, SEND, LANE, row, encode_text(job_data)), *deliveries),
        jobs_done=(expiry,),
        events=(event,),
        sandbox=replace_faults(faults),
    )


def end_waiting(
    decided: TransferApproval, waiting: WaitingTransfer, message: str, context: Context, rows: LoadedRows
) -> Decision:
    """Returns the decision that fails a transfer which was not approved, and voids its hold."""
    expiry = waiting.expiry
    assert expiry is not None, "a transfer that waits has a job"
    data = decode_job_data(expiry.work)
    outcome = TransactionOutcome(status=FAILED, message=message, method=KIND, scenario=data.scenario)
    end = end_transaction(context, waiting.row, outcome)
    event, deliveries = tell_approval(end.row, decided, data.scenario, context)
    return Decision(
        groups=end_holds(end.row, data.order, ()),
        rows=(end.row, decided, *settle_counters(end.row, data, context, rows)),
        jobs=(*end.jobs, *deliveries),
        jobs_done=(expiry,),
        events=(event, place_final_event(end.event)),
    )


def first_row(decision: Decision) -> Transaction:
    row = decision.rows[0]
    assert isinstance(row, Transaction)
    return row


def reply_verdict(row: Transaction, context: Context) -> ApprovalReply:
    return ApprovalReply(
        status=200,
        txn_status=row.status,  # type: ignore[arg-type]
        txn_ref=row.txn_ref,
        order_ref=row.order_ref,
        message=row.message,
        receipt_url=find_receipt_url(row, context),
    )


# --- the end of the wait --------------------------------------------------------------------------------------------


def need_expiry(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    approval = (TransferApproval, approval_key(merchant.merchant_id, job.reference))
    counters = need_counted(merchant.merchant_id, decode_job_data(job.work))
    return Needs((approval, (Job, job.key), *counters), (WALLET,))


def decide_expiry(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Fails a transfer that nobody decided in time. Does nothing if it was decided after the job was claimed."""
    approval = rows.get(TransferApproval, approval_key(context.merchant.merchant_id, job.reference))
    assert approval is not None, "an approval is written with its job"
    current = rows.get(Job, job.key)
    if approval.state != WAITING or current is None:
        return Decision()
    if context.now < approval.expires_at:
        return Decision(jobs=(current,))  # not due yet: put the job back
    loaded = load_transfers([approval], rows)
    if isinstance(loaded, NeedsMore):
        return loaded
    expired = msgspec.structs.replace(approval, state=EXPIRED, decided_at=context.now)
    return end_waiting(expired, loaded[0], EXPIRED_MESSAGE, context, rows)
