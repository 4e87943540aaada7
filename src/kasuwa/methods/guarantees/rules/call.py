"""Rules of calling guarantees: a loan in arrears is paid out of the savings that guarantee it, and its borrower owes
the guarantors what was called. The postings are listed in methods/loans/guarantee_model.py.

A call is a repayment of the loan with money that was there: it cannot be reversed. What is held for the guarantee pays
before thrift debts of the savings, and interest is forfeited as at any cash-out.

Contract: loans#call
"""

from collections import Counter
from collections.abc import Iterable

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    HeldAmount,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
    refuse_fields,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.core.references import movement_reference
from kasuwa.ledger import chart
from kasuwa.methods.clients.model import adjust_open_accounts, refuse_inactive
from kasuwa.methods.guarantees.wire import CallGuaranteeReply, CallGuaranteeRequest
from kasuwa.methods.investments.model import WALLET, SavingsChanges, has_unseen_rows, need_savings
from kasuwa.methods.investments.rules.cash_out import withdraw_savings
from kasuwa.methods.loans.guarantee_model import (
    LENDING_GUARANTORS,
    UNKNOWN_GUARANTEE,
    LoanGuarantee,
    find_guarantees,
    make_guarantee_record,
    need_guarantees,
)
from kasuwa.methods.loans.model import (
    GUARANTEE_ACT,
    IN_ARREARS,
    MORE_THAN_OWED,
    REPAYABLE_STATES,
    UNKNOWN_LOAN,
    WRITTEN_OFF,
    Loan,
    find_installments,
    loan_key,
    need_loan,
    record_act,
    refuse_in_state,
)
from kasuwa.methods.loans.rules.guarantor_holds import PLEDGE_INSUFFICIENT, need_secured_loan
from kasuwa.methods.loans.rules.loan_event import tell_of_loan
from kasuwa.methods.loans.rules.loan_position import LoanPosition, compute_position
from kasuwa.methods.loans.rules.loan_record import explain_parts, make_allocation, make_loan_record
from kasuwa.methods.loans.rules.repay import KIND, AppliedRepayment, apply_repayment
from kasuwa.terms.loan_schedule import sum_amounts
from kasuwa.transactions.transactions import (
    SUCCESSFUL,
    FinalTransaction,
    NewTransaction,
    TransactionOutcome,
    begin_transaction,
    end_transaction,
)
from kasuwa.wire.interest_wire import DryRunFigure

METHOD = "guarantee"

# Refusals, in order of precedence: unknown loan, its state, and these.
NOT_IN_ARREARS = Refusal(
    INVALID_REQUEST,
    "The loan is not in arrears: its guarantors pay what its borrower is late with",
    error_code="not_in_arrears",
)
NOTHING_HELD = Refusal(
    INVALID_REQUEST, "No savings are held for this loan, or nothing of it is due", error_code="nothing_guaranteed"
)
# A loan that was written off does not keep its borrower, but what is called of it would.
BORROWER_INACTIVE = Refusal(
    INVALID_REQUEST,
    "The borrower would owe the guarantors what they pay, but is {status}",
    error_code="guarantee_borrower_inactive",
)


class Call(msgspec.Struct, frozen=True):
    """A call as it will be booked: the parts by guarantee, and what they do to the loan."""

    loan: Loan
    before: LoanPosition
    parts: tuple[tuple[LoanGuarantee, int], ...]  # guarantees as they were, of which something is taken
    guarantees: tuple[LoanGuarantee, ...]  # all of the loan, after the call
    credited: AppliedRepayment

    @property
    def amount(self) -> int:
        return sum(part for _, part in self.parts)


def need_call(request: CallGuaranteeRequest, merchant: Merchant) -> Needs:
    loan = need_loan(merchant, request.loan_id)
    return Needs(loan.rows, (*loan.accounts, WALLET, LENDING_GUARANTORS))


def decide_call(
    request: CallGuaranteeRequest, context: Context, rows: LoadedRows
) -> Decision[CallGuaranteeReply] | Refusal | NeedsMore:
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, request.loan_id))
    if loan is None:
        return UNKNOWN_LOAN
    if loan.state not in REPAYABLE_STATES:
        return refuse_in_state(loan.state, "paid by guarantors")
    installments, guarantees = find_installments(loan, rows), find_guarantees(loan, rows)
    if installments is None or guarantees is None:
        return NeedsMore(need_secured_loan(loan) if installments is None else need_guarantees(loan))
    before = compute_position(loan, installments, lagos_day(context.now))
    parts = plan_parts(request, before, guarantees)
    if isinstance(parts, Refusal):
        return parts
    needs = need_called_savings(loan.merchant_id, parts)
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    called = {one.key: take_part(one, part) for one, part in parts}
    after = tuple(called.get(one.key, one) for one in guarantees)
    amount = sum(part for _, part in parts)
    credited = apply_repayment(loan, installments, before, amount, context, rows, after)
    if isinstance(credited, NeedsMore):
        return credited
    if refuse_inactive(credited.client) is not None:
        return BORROWER_INACTIVE.fill(status=credited.client.status)
    released = {row.key: row for row in credited.effects.rows if isinstance(row, LoanGuarantee)}
    call = Call(loan, before, parts, tuple(released.get(one.key, one) for one in after), credited)
    return reply_dry_run(call, context) if request.dry_run else book_call(call, context, rows)


def plan_parts(
    request: CallGuaranteeRequest, before: LoanPosition, guarantees: tuple[LoanGuarantee, ...]
) -> tuple[tuple[LoanGuarantee, int], ...] | Refusal:
    """Returns what is taken of each guarantee: never more than is due, or than it holds."""
    if before.loan.state not in (IN_ARREARS, WRITTEN_OFF):
        return NOT_IN_ARREARS
    if request.guarantee_id is not None:
        guarantees = tuple(one for one in guarantees if one.guarantee_id == request.guarantee_id)
        if not guarantees:
            return UNKNOWN_GUARANTEE
    payoff = sum_amounts(before.payoff).total
    due = payoff if before.loan.state == WRITTEN_OFF else min(before.due.total, payoff)
    most = min(due, sum(one.held for one in guarantees))
    if not most:
        return NOTHING_HELD
    amount = most if request.amount is None else int(request.amount)
    if amount > most:
        return refuse_fields(FieldError("amount", f"at most {format_minor(most)}, which is due and held"))
    shares = share_out(amount, [one.held for one in guarantees])
    return tuple((one, part) for one, part in zip(guarantees, shares, strict=True) if part)


def share_out(amount: int, holds: Iterable[int]) -> list[int]:
    """Returns the parts of an amount in proportion to what is held. They add up to the amount, and none is more than
    what is held, because the amount is at most the sum of that."""
    holds = list(holds)
    total, before, parts = sum(holds), 0, []
    for held in holds:
        parts.append(amount * (before + held) // total - amount * before // total)
        before += held
    return parts


def need_called_savings(merchant_id: int, parts: Iterable[tuple[LoanGuarantee, int]]) -> Needs:
    called = [one for one, _ in parts]
    needs = need_savings(merchant_id, dict.fromkeys(one.savings_id for one in called))
    return Needs(needs.rows, (*needs.accounts, *(chart.guarantor(one.guarantee_id) for one in called)))


def take_part(guarantee: LoanGuarantee, part: int) -> LoanGuarantee:
    return msgspec.structs.replace(
        guarantee, held=guarantee.held - part, called=guarantee.called + part, owed=guarantee.owed + part
    )


# --- booking ------------------------------------------------------------------------------------------------


def book_call(call: Call, context: Context, rows: LoadedRows) -> Decision[CallGuaranteeReply] | NeedsMore:
    loan, credited, changes = call.loan, call.credited, SavingsChanges(context, rows)
    new_claims = [one for one, _ in call.parts if not one.owed]
    for one in new_claims:
        changes.count_claim(one.savings_id, 1)
    taken = Counter[str]()
    for one, part in call.parts:
        taken[one.savings_id] += part
    for savings_id, amount in taken.items():
        withdraw_savings(changes, savings_id, amount)
    more = changes.missing_clients()
    if more is not None:
        return more
    end = end_call(call, context)
    txn_ref = end.row.txn_ref
    client = adjust_open_accounts(credited.client, len(new_claims))
    position = credited.result.after
    notified = tell_of_loan(
        credited.loan, "guarantee_called", position, context, amount=call.amount, repayment_ref=txn_ref
    )
    owed = tuple(
        Posting(LENDING_GUARANTORS, chart.guarantor(one.guarantee_id), part, "owed to a guarantor")
        for one, part in call.parts
    )
    credited.effects.rows = tuple(notified.loan if isinstance(row, Loan) else row for row in credited.effects.rows)
    act = record_act(loan, GUARANTEE_ACT, call.before.day, context.now, txn_ref, call.amount)
    decision = Decision(
        reply=reply_call(call, context, end),
        groups=(
            *(take_group(one, part, txn_ref) for one, part in call.parts),
            PostingGroup(txn_ref, MORE_THAN_OWED, postings=(*credited.effects.posts, *owed)),
        ),
        rows=(end.row, client, act, *changes.rows),
        jobs=end.jobs,
        events=(end.event,),
        numbers_used=1,
        audit_facts={"amount": format_minor(call.amount), "currency": "NGN"},
    )
    decision.add(credited.effects)
    decision.add(notified.effects)
    return decision


def take_group(guarantee: LoanGuarantee, part: int, txn_ref: str) -> PostingGroup:
    account = chart.savings(guarantee.savings_id)
    take = Posting(account, WALLET, part, "guarantee called")
    return PostingGroup(txn_ref, PLEDGE_INSUFFICIENT, postings=(take,), releases=HeldAmount(account, part))


def end_call(call: Call, context: Context) -> FinalTransaction:
    """Returns the repayment of a call; it is final with its commit."""
    txn_ref = movement_reference("LG", context.permutation(context.number), lagos_day(context.now))
    loan_id = call.loan.loan_id
    new = NewTransaction(kind=KIND, txn_ref=txn_ref, amount=call.amount, detail={"loan_id": loan_id})
    outcome = TransactionOutcome(
        status=SUCCESSFUL,
        message="Guarantee Called",
        method=METHOD,
        scenario=context.scenario,
        event_fields={"loan_id": loan_id, "order_ref": txn_ref},
    )
    return end_transaction(context, begin_transaction(context, new), outcome)


# --- replies ------------------------------------------------------------------------------------------------


def reply_call(call: Call, context: Context, end: FinalTransaction | None = None) -> CallGuaranteeReply:
    after = call.credited.result.after
    guarantees = [make_guarantee_record(one) for one in call.guarantees]
    data = make_loan_record(after.loan, after.lines, context.now)
    data.guarantees = guarantees
    reply = CallGuaranteeReply(
        message="Guarantee Called",
        loan_id=call.loan.loan_id,
        amount=format_minor(call.amount),
        allocation=make_allocation(call.credited.result.paid),
        guarantees=guarantees,
        data=data,
    )
    if end is not None:
        reply.txn_ref = end.row.txn_ref
    return reply


def reply_dry_run(call: Call, context: Context) -> Decision[CallGuaranteeReply]:
    reply = reply_call(call, context)
    reply.message, reply.dry_run = DRY_RUN_MESSAGE, True
    paid = sum_amounts(call.credited.result.paid)
    held = sum(one.held for one, _ in call.parts)
    reply.explained = [
        DryRunFigure("amount", format_minor(call.amount), f"paid on the loan: {explain_parts(paid)}"),
        *(
            DryRunFigure(
                f"from {one.savings_id}",
                format_minor(part),
                f"{format_minor(one.held)} of the {format_minor(held)} that are held; the borrower owes it then",
            )
            for one, part in call.parts
        ),
    ]
    return Decision(reply=reply)
