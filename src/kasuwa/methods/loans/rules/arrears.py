"""Rules of arrears: the daily penalties of late installments.

The arrears check is one job per loan, due at midnight of the next day on which the loan changes by time alone: an
installment becomes late, one more day of penalty is charged, or what is set aside for it changes (provision.py). It
computes the loan up to today, so a late run charges the missed days too.

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
)
from kasuwa.methods.loans.model import (
    IN_ARREARS,
    MORE_THAN_OWED,
    Loan,
    changed_installments,
    find_installments,
    need_installments,
    need_loan,
)
from kasuwa.methods.loans.rules.loan_event import tell_of_loan
from kasuwa.methods.loans.rules.loan_position import compute_position, is_late
from kasuwa.methods.loans.rules.origination import change_state
from kasuwa.methods.loans.rules.provision import compute_provision, next_check_on, set_provision
from kasuwa.methods.loans.rules.repay import penalty_posts
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.loan_schedule import LendingSettings, sum_amounts


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
    provision = compute_provision(position, context.merchant.terms(LendingSettings))
    provided = set_provision(position.loan, provision)
    position = msgspec.structs.replace(position, loan=provided.loan)
    after, day = provided.loan, next_check_on(position, context)
    effects = Effects()
    # A repayment ends arrears by itself: the check only begins them.
    if after.state == IN_ARREARS != loan.state:
        due = sum_amounts(line.owed for line in position.lines if is_late(line, after, position.day))
        notified = tell_of_loan(change_state(after, context, after.state), "late", position, context, amount=due.total)
        after, effects = notified.loan, notified.effects
    posts = (*penalty_posts(stored, position), *provided.posts)
    again = None if day is None else msgspec.structs.replace(current_job, due=lagos_moment(day, 0))
    decision = Decision(
        groups=(PostingGroup(loan.loan_id, MORE_THAN_OWED, postings=posts),) if posts else (),
        rows=(after, *changed_installments(stored, position.lines, context.now)),
        jobs=(again,) if again is not None else (),
        jobs_done=(current_job,) if again is None else (),
    )
    decision.add(effects)
    return decision
