"""Rules of arrears: the daily penalties of late installments, and the write-off by an operator.

The arrears check is one job per loan, due at midnight of the next day on which the loan changes by time alone: an
installment becomes late, or one more day of penalty is charged. It computes the loan up to today, so a late run charges
the missed days too.

Contract: loans#repay
"""

import msgspec

from kasuwa.core.calendar import lagos_day, lagos_moment
from kasuwa.core.decision import (
    Context,
    Decision,
    Effects,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    PostingGroup,
    Refusal,
)
from kasuwa.methods.clients.model import Client, adjust_open_accounts, client_key
from kasuwa.methods.loans.model import (
    IN_ARREARS,
    MORE_THAN_OWED,
    OWING_STATES,
    UNKNOWN_LOAN,
    WRITE_OFF_ACT,
    WRITTEN_OFF,
    Loan,
    count_act,
    loan_key,
    need_installments,
    need_loan,
    record_act,
    refuse_in_state,
    waiver_posts,
)
from kasuwa.methods.loans.rules.loan_event import tell_of_loan
from kasuwa.methods.loans.rules.loan_position import LoanPosition, compute_position, is_late
from kasuwa.methods.loans.rules.loan_record import make_loan_record
from kasuwa.methods.loans.rules.origination import arrears_check_jobs, change_state
from kasuwa.methods.loans.rules.repay import changed_installments, find_installments, penalty_posts
from kasuwa.methods.loans.wire import LoanReply
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.loan_schedule import sum_amounts


def need_arrears_check(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return need_loan(merchant, job.reference)


def decide_arrears_check(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Charges penalties up to today and sets or clears arrears. The job is rescheduled, or ends if nothing changes."""
    loan, current_job = rows.get(Loan, job.subject), rows.get(Job, job.key)
    assert loan is not None
    if current_job is None:
        return Decision()  # the loan was closed meanwhile
    stored = find_installments(loan, rows)
    if stored is None:
        return NeedsMore(need_installments(loan))
    position = compute_position(loan, stored, lagos_day(context.now))
    after, day = position.loan, position.next_change_on
    effects = Effects()
    # A repayment ends arrears by itself: the check only begins them.
    if after.state == IN_ARREARS != loan.state:
        due = sum_amounts(line.owed for line in position.lines if is_late(line, after, position.day))
        notified = tell_of_loan(change_state(after, context, after.state), "late", position, context, amount=due.total)
        after, effects = notified.loan, notified.effects
    posts = penalty_posts(stored, position)
    again = None if day is None else msgspec.structs.replace(current_job, due=lagos_moment(day, 0))
    decision = Decision(
        groups=(PostingGroup(loan.loan_id, MORE_THAN_OWED, postings=posts),) if posts else (),
        rows=(after, *changed_installments(stored, position.lines)),
        jobs=(again,) if again is not None else (),
        jobs_done=(current_job,) if again is None else (),
    )
    decision.add(effects)
    return decision


# --- write-off --------------------------------------------------------------------------------------------------------


def need_write_off(loan_id: str, merchant: Merchant) -> Needs:
    return need_loan(merchant, loan_id)


def decide_write_off(loan_id: str, context: Context, rows: LoadedRows) -> Decision | Refusal | NeedsMore:
    """Writes off all that the ledger says is owed and closes the loan. Penalties not charged yet are not charged."""
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, loan_id))
    if loan is None:
        return UNKNOWN_LOAN
    if loan.state not in OWING_STATES:
        return refuse_in_state(loan.state, "written off")
    lines = find_installments(loan, rows)
    if lines is None:
        return NeedsMore(need_installments(loan))
    client = rows.get(Client, client_key(loan.merchant_id, loan.client_id))
    assert client is not None
    assert loan.aged_to is not None
    act = record_act(loan, WRITE_OFF_ACT, loan.aged_to, context.now)
    closed = msgspec.structs.replace(count_act(change_state(loan, context, WRITTEN_OFF)), closed_at=context.now)
    owed = sum_amounts(line.owed for line in lines)
    notified = tell_of_loan(closed, "written_off", LoanPosition(closed, lines, act.day), context, amount=owed.total)
    decision = Decision(
        reply=LoanReply(message="Loan Written Off", data=make_loan_record(closed, lines, context.now)),
        groups=(PostingGroup(loan_id, MORE_THAN_OWED, postings=waiver_posts(loan_id, owed, "written off")),),
        rows=(notified.loan, adjust_open_accounts(client, -1), act),
        jobs_done=arrears_check_jobs(loan, rows),
    )
    decision.add(notified.effects)
    return decision
