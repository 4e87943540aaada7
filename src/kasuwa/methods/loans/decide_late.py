"""What time does to a loan, and what an operator does when time did not help: arrears, penalties, write-off. (D33)

The watch is a job at the midnight of the next day on which something changes: an instalment that becomes late, or
a penalty of one day more. It reckons the loan up to today, so it may come late itself without harm.
"""

import msgspec

from kasuwa.core.calendar import lagos_day, moment_of
from kasuwa.core.decision import Context, Decision, Group, Job, Merchant, More, Needs, Refusal, Seen
from kasuwa.core.interest import add_parts
from kasuwa.methods.clients.decide import Client, client_key, count_account
from kasuwa.methods.loans.decide import (
    NEVER_SHORT,
    OWING,
    UNKNOWN_LOAN,
    WRITTEN_OFF,
    Loan,
    forgive,
    loan_key,
    need_lines,
    need_loan,
    out_of_place,
)
from kasuwa.methods.loans.decide_record import record_of
from kasuwa.methods.loans.decide_repay import changed_lines, lines_of, post_penalties
from kasuwa.methods.loans.decide_request import end_watch, tell
from kasuwa.methods.loans.decide_standing import stand
from kasuwa.methods.loans.wire import LoanReply
from kasuwa.rails.ports import Answer


def need_watch(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return need_loan(merchant, job.reference)


def decide_watch(job: Job, answer: Answer, context: Context, seen: Seen) -> Decision | More:
    loan, here = seen.get(Loan, job.subject), seen.get(Job, job.key)
    assert loan is not None
    if here is None:
        return Decision()  # it ended with its loan
    kept = lines_of(loan, seen)
    if kept is None:
        return More(need_lines(loan))
    standing = stand(loan, kept, lagos_day(context.now))
    after, day = standing.loan, standing.next_change
    if after.state != loan.state:
        after = tell(after, context, after.state)
    posts = post_penalties(kept, standing)
    again = None if day is None else msgspec.structs.replace(here, due=moment_of(day, 0))
    return Decision(
        groups=(Group(loan.loan_id, NEVER_SHORT, posts=posts),) if posts else (),
        rows=(after, *changed_lines(kept, standing.lines)),
        jobs=(again,) if again is not None else (),
        jobs_done=(here,) if again is None else (),
    )


# --- write-off --------------------------------------------------------------------------------------------------------


def need_write_off(loan_id: str, merchant: Merchant) -> Needs:
    return need_loan(merchant, loan_id)


def decide_write_off(loan_id: str, context: Context, seen: Seen) -> Decision | Refusal | More:
    """Nothing is asked of the client any more: what the books still say is owed goes, as it stands."""
    loan = seen.get(Loan, loan_key(context.merchant.merchant_id, loan_id))
    if loan is None:
        return UNKNOWN_LOAN
    if loan.state not in OWING:
        return out_of_place(loan.state, "written off")
    lines = lines_of(loan, seen)
    if lines is None:
        return More(need_lines(loan))
    client = seen.get(Client, client_key(loan.merchant_id, loan.client_id))
    assert client is not None
    closed = msgspec.structs.replace(tell(loan, context, WRITTEN_OFF), closed_at=context.now)
    owed = add_parts(line.owed for line in lines)
    return Decision(
        reply=LoanReply(message="Loan Written Off", data=record_of(closed, lines, context.now)),
        groups=(Group(loan_id, NEVER_SHORT, posts=forgive(loan_id, owed, "written off")),),
        rows=(closed, count_account(client, -1)),
        jobs_done=end_watch(loan, seen),
    )
