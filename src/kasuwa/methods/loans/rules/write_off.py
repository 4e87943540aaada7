"""Writes off what a client will not pay: all of a loan, or parts of what is due; and decides write-offs that wait.

A write-off that brings what is written off of a loan above the limit of the merchant's policy waits until another party
approves it. It then writes off what is owed by that day. Operators write off whole loans too (authority/acts.py).

Contract: loans#write-off
"""

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.callers import Caller
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, NeedsMore, PostingGroup, Refusal, Row
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.methods.clients.model import adjust_open_accounts
from kasuwa.methods.loans.model import (
    MORE_THAN_OWED,
    OWING_STATES,
    PROPOSAL_APPROVED,
    PROPOSAL_REJECTED,
    UNKNOWN_LOAN,
    WAITING,
    WRITE_OFF_ACT,
    WRITE_OFF_DETAIL_DECODER,
    Loan,
    LoanAct,
    LoanInstallment,
    LoanWriteOff,
    WriteOffDetail,
    changed_installments,
    count_act,
    find_installments,
    loan_key,
    need_installments,
    need_loan,
    record_act,
    refuse_in_state,
    waiver_posts,
    write_off_key,
)
from kasuwa.methods.loans.rules.charges import find_write_off_limit, sum_given_up
from kasuwa.methods.loans.rules.history import find_acts
from kasuwa.methods.loans.rules.loan_event import tell_of_loan
from kasuwa.methods.loans.rules.loan_position import LoanPosition, WriteOffResult, compute_position, write_off_loan
from kasuwa.methods.loans.rules.loan_record import (
    can_be_decided,
    describe_waiting,
    explain_write_off,
    make_loan_record,
)
from kasuwa.methods.loans.rules.origination import (
    arrears_check_jobs,
    change_state,
    reschedule_arrears_check,
)
from kasuwa.methods.loans.rules.provision import release_provision
from kasuwa.methods.loans.rules.repay import find_client, penalty_posts
from kasuwa.methods.loans.wire import DecideWriteOffRequest, LoanReply, WriteOffRequest
from kasuwa.terms.payouts import WAITING_TIME
from kasuwa.transactions.second_party import SecondParty, find_maker, record_verdict
from kasuwa.transactions.transactions import encode_text
from kasuwa.wire.interest_wire import DryRunFigure

# Refusals, in order of precedence.
NOTHING_DUE = Refusal(
    INVALID_REQUEST,
    "Nothing of these parts is due; leave out parts to write off all that is owed",
    error_code="nothing_to_write_off",
)
WRITE_OFF_WAITS = Refusal(
    INVALID_REQUEST,
    "A write-off of this loan waits already; approve or reject it with decide_write_off",
    error_code="write_off_waits",
)
NO_WRITE_OFF_WAITS = Refusal(
    INVALID_REQUEST, "No write-off of this loan waits for approval", error_code="no_write_off_waits"
)
OWN_WRITE_OFF = Refusal(
    INVALID_REQUEST,
    "Whoever proposed a write-off cannot approve it; use another key of scope approve, or ask a colleague",
    error_code="own_write_off",
)
PROPOSER_ENDED = Refusal(
    INVALID_REQUEST,
    "The key or account that proposed this write-off was revoked or disabled, or has expired; reject it",
    error_code="proposer_ended",
)
SECOND_PARTY = SecondParty(OWN_WRITE_OFF, PROPOSER_ENDED)
WRITE_OFF_CHANGED = Refusal(
    INVALID_REQUEST,
    "The loan has changed since this write-off was proposed, and more than its amount would be written off; reject it "
    "and propose it again",
    error_code="write_off_changed",
)

WAITS_MESSAGE = "The write-off waits for the approval of another key or person"


class PlannedWriteOff(msgspec.Struct, frozen=True):
    """A loan as stored, its position on the day of a write-off, and what that does to it."""

    loan: Loan
    stored: tuple[LoanInstallment, ...]
    before: LoanPosition
    parts: tuple[str, ...]
    result: WriteOffResult


def plan_write_off(
    loan: Loan, parts: tuple[str, ...], context: Context, rows: LoadedRows
) -> PlannedWriteOff | Refusal | NeedsMore:
    """Returns what a write-off does today."""
    if loan.state not in OWING_STATES:
        return refuse_in_state(loan.state, "written off")
    stored = find_installments(loan, rows)
    if stored is None:
        return NeedsMore(need_installments(loan))
    position = compute_position(loan, stored, lagos_day(context.now))
    result = write_off_loan(position, parts)
    if not result.written_off.total:
        return NOTHING_DUE
    return PlannedWriteOff(loan, stored, position, parts, result)


def record_write_off(planned: PlannedWriteOff, context: Context, rows: LoadedRows, reason: str = "") -> Decision:
    """Returns the decision of a write-off, without a reply. Its first row is the loan."""
    loan, after = planned.loan, planned.result.after
    act = record_act(loan, WRITE_OFF_ACT, planned.before.day, context.now, parts=",".join(planned.parts))
    row = count_act(
        after.loan if after.loan.state == loan.state else change_state(after.loan, context, after.loan.state)
    )
    client: tuple[Row, ...] = ()
    if is_closing := row.state not in OWING_STATES:
        row = msgspec.structs.replace(row, closed_at=context.now)
        client = (adjust_open_accounts(find_client(loan, rows), -1),)
    provided = release_provision(row)
    row, written_off = provided.loan, planned.result.written_off
    step = "written_off" if is_closing else "partly_written_off"
    position = msgspec.structs.replace(after, loan=row)
    notified = tell_of_loan(row, step, position, context, amount=written_off.total, reason=reason)
    posts = (
        *penalty_posts(planned.stored, planned.before),
        *waiver_posts(loan.loan_id, written_off, "written off"),
        *provided.posts,
    )
    decision = Decision(
        groups=(PostingGroup(loan.loan_id, MORE_THAN_OWED, postings=posts),),
        rows=(notified.loan, *client, act, *changed_installments(planned.stored, after.lines, context.now)),
        jobs=() if is_closing else reschedule_arrears_check(position, context, rows),
        jobs_done=arrears_check_jobs(loan, rows) if is_closing else (),
    )
    decision.add(notified.effects)
    return decision


def reply_write_off(planned: PlannedWriteOff, context: Context) -> LoanReply:
    after = planned.result.after
    is_closing = after.loan.state not in OWING_STATES
    loan = msgspec.structs.replace(after.loan, closed_at=context.now) if is_closing else after.loan
    message = "Parts of the Loan Written Off" if planned.parts else "Loan Written Off"
    return LoanReply(message=message, data=make_loan_record(loan, after.lines, context.now))


def explain_limit(planned: PlannedWriteOff, acts: tuple[LoanAct, ...], merchant: Merchant) -> DryRunFigure | None:
    """Returns why a write-off needs another party's approval, or None if it does not. Waivers count with it."""
    limit = find_write_off_limit(merchant)
    given_up = sum_given_up(planned.before, acts) + planned.result.written_off.total
    if limit is None or given_up <= limit:
        return None
    how = f"written off and waived of this loan in all: above {format_minor(limit)} another key or person approves it"
    return DryRunFigure(what="approval", amount=format_minor(given_up), how=how)


# --- by the merchant --------------------------------------------------------------------------------------------------


def need_write_off(request: WriteOffRequest, merchant: Merchant) -> Needs:
    return need_loan(merchant, request.loan_id)


def decide_write_off(
    request: WriteOffRequest, context: Context, rows: LoadedRows
) -> Decision[LoanReply] | Refusal | NeedsMore:
    """Writes off a loan or parts of it, or proposes it if that needs another party."""
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, request.loan_id))
    if loan is None:
        return UNKNOWN_LOAN
    planned = plan_write_off(loan, tuple(dict.fromkeys(request.parts or ())), context, rows)
    if not isinstance(planned, PlannedWriteOff):
        return planned
    proposed = find_proposed(loan, rows)
    if isinstance(proposed, NeedsMore):
        return proposed
    if proposed is not None and can_be_decided(loan, proposed, context.now):
        return WRITE_OFF_WAITS
    acts = find_acts(loan, rows)
    if isinstance(acts, NeedsMore):
        return acts
    needs_approval = explain_limit(planned, acts, context.merchant)
    if request.dry_run:
        return dry_run_write_off(planned, needs_approval, context)
    if needs_approval is not None:
        return propose_write_off(planned, acts, request.reason, context)
    decision = record_write_off(planned, context, rows, request.reason)
    decision.reply = reply_write_off(planned, context)
    return decision


def find_proposed(loan: Loan, rows: LoadedRows) -> LoanWriteOff | NeedsMore | None:
    """Returns the newest write-off of a loan that had to wait, or None if there is none."""
    if not loan.write_offs:
        return None
    key = write_off_key(loan.merchant_id, loan.loan_id, loan.write_offs)
    return rows.get(LoanWriteOff, key) if rows.is_loaded(key) else NeedsMore(Needs(((LoanWriteOff, key),)))


def dry_run_write_off(
    planned: PlannedWriteOff, needs_approval: DryRunFigure | None, context: Context
) -> Decision[LoanReply]:
    reply = reply_write_off(planned, context)
    reply.message, reply.dry_run = DRY_RUN_MESSAGE, True
    reply.explained = explain_write_off(planned.before, planned.result, planned.parts, needs_approval)
    return Decision(reply=reply)


def propose_write_off(
    planned: PlannedWriteOff, acts: tuple[LoanAct, ...], reason: str, context: Context
) -> Decision[LoanReply]:
    loan = msgspec.structs.replace(planned.loan, write_offs=planned.loan.write_offs + 1)
    maker = find_maker(context)
    amount = planned.result.written_off.total
    proposed = LoanWriteOff(
        key=write_off_key(loan.merchant_id, loan.loan_id, loan.write_offs),
        merchant_id=loan.merchant_id,
        loan_id=loan.loan_id,
        n=loan.write_offs,
        state=WAITING,
        amount=amount,
        detail=encode_text(WriteOffDetail(maker, planned.parts, reason, len(acts), sum_applied(acts))),
        created_at=context.now,
        expires_at=context.now + WAITING_TIME,
    )
    notified = tell_of_loan(loan, "write_off_waiting", planned.before, context, amount=amount, reason=reason)
    data = make_loan_record(loan, planned.stored, context.now)
    data.waiting_write_off = describe_waiting(loan, proposed, context.now)
    decision = Decision(reply=LoanReply(message=WAITS_MESSAGE, data=data), rows=(notified.loan, proposed))
    decision.add(notified.effects)
    return decision


def sum_applied(acts: tuple[LoanAct, ...]) -> int:
    """Returns what a loan was given by its acts. It falls when a repayment is reversed, which is no act of its own."""
    return sum(act.applied for act in acts)


# --- by another party -------------------------------------------------------------------------------------------------


def need_decide_write_off(request: DecideWriteOffRequest, merchant: Merchant) -> Needs:
    return need_loan(merchant, request.loan_id)


def decide_waiting(
    request: DecideWriteOffRequest,
    context: Context,
    rows: LoadedRows,
    ended: frozenset[Caller] | None = None,
) -> Decision[LoanReply] | Refusal | NeedsMore:
    """Approves or rejects the write-off that waits. `ended` has its maker if that key or account was ended; it is None
    if that is not known yet, and the rule asks for it by the `question` of its decision."""
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, request.loan_id))
    if loan is None:
        return UNKNOWN_LOAN
    proposed = find_proposed(loan, rows)
    if isinstance(proposed, NeedsMore):
        return proposed
    if proposed is None or not can_be_decided(loan, proposed, context.now):
        return NO_WRITE_OFF_WAITS
    if request.status == "reject":
        return reject_write_off(loan, proposed, request, context, rows)
    maker = WRITE_OFF_DETAIL_DECODER.decode(proposed.detail).maker
    barred = SECOND_PARTY.bar((maker,), context, ended)
    return barred if barred is not None else approve_write_off(loan, proposed, request, context, rows)


def approve_write_off(
    loan: Loan, proposed: LoanWriteOff, request: DecideWriteOffRequest, context: Context, rows: LoadedRows
) -> Decision[LoanReply] | Refusal | NeedsMore:
    detail = WRITE_OFF_DETAIL_DECODER.decode(proposed.detail)
    planned = plan_write_off(loan, detail.parts, context, rows)
    if not isinstance(planned, PlannedWriteOff):
        return planned
    acts = find_acts(loan, rows)
    if isinstance(acts, NeedsMore):
        return acts
    if is_changed(detail, acts) and planned.result.written_off.total > proposed.amount:
        return WRITE_OFF_CHANGED
    if request.dry_run:
        return dry_run_write_off(planned, None, context)
    decision = record_write_off(planned, context, rows, detail.reason)
    decision.rows = (*decision.rows, record_verdict(proposed, PROPOSAL_APPROVED, context))
    decision.reply = reply_write_off(planned, context)
    amount = format_minor(planned.result.written_off.total)
    decision.audit_facts = {"loan_id": loan.loan_id, "amount": amount, "currency": "NGN"}
    return decision


def is_changed(detail: WriteOffDetail, acts: tuple[LoanAct, ...]) -> bool:
    """Returns whether anybody has changed the loan since the write-off was proposed. Then its amount is not exceeded:
    that is what two parties are asked for. What time alone adds, such as a penalty, is written off with it."""
    return (detail.acts, detail.applied) != (len(acts), sum_applied(acts))


def reject_write_off(
    loan: Loan, proposed: LoanWriteOff, request: DecideWriteOffRequest, context: Context, rows: LoadedRows
) -> Decision[LoanReply] | NeedsMore:
    stored = find_installments(loan, rows)
    if stored is None:
        return NeedsMore(need_installments(loan))
    data = make_loan_record(loan, stored, context.now)
    if request.dry_run:
        return Decision(reply=LoanReply(message=DRY_RUN_MESSAGE, data=data, dry_run=True))
    position = compute_position(loan, stored, lagos_day(context.now))
    notified = tell_of_loan(loan, "write_off_rejected", position, context, amount=proposed.amount)
    decision = Decision(
        reply=LoanReply(message="Write-off Rejected", data=data),
        rows=(notified.loan, record_verdict(proposed, PROPOSAL_REJECTED, context)),
    )
    decision.add(notified.effects)
    return decision


# --- by operators -----------------------------------------------------------------------------------------------------


def need_operator_write_off(loan_id: str, merchant: Merchant) -> Needs:
    return need_loan(merchant, loan_id)


def decide_operator_write_off(
    loan_id: str, context: Context, rows: LoadedRows
) -> Decision[LoanReply] | Refusal | NeedsMore:
    """Writes off all that the ledger says is owed and closes the loan."""
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, loan_id))
    if loan is None:
        return UNKNOWN_LOAN
    planned = plan_write_off(loan, (), context, rows)
    if not isinstance(planned, PlannedWriteOff):
        return planned
    decision = record_write_off(planned, context, rows)
    decision.reply = reply_write_off(planned, context)
    return decision
