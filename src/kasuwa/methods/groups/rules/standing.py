"""The standing of a group, its arrears, and the sums of a meeting, computed from the positions of its members' loans.

Contract: loans#groups, loans#collect
"""

from collections.abc import Sequence
from datetime import date

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, Job, LoadedRows, Needs, NeedsMore, Refusal
from kasuwa.core.references import job_key
from kasuwa.methods.groups.model import GROUP_IN_ARREARS
from kasuwa.methods.loans.model import IN_ARREARS as LOAN_IN_ARREARS
from kasuwa.methods.loans.model import OWING_STATES, WRITTEN_OFF, Loan, find_installments, need_installments
from kasuwa.methods.loans.rules.loan_position import LoanPosition, compute_position, is_late
from kasuwa.terms.loan_schedule import sum_amounts

GOOD = "good"
IN_ARREARS = "in_arrears"
LOST = "written_off"


class GroupStanding(msgspec.Struct, frozen=True):
    """The standing of some loans of a group, in minor units."""

    loans: int
    outstanding: int
    overdue: int
    days_late: int
    written_off: int

    @property
    def state(self) -> str:
        if self.overdue:
            return IN_ARREARS
        return LOST if self.written_off else GOOD


def compute_group_standing(positions: Sequence[LoanPosition]) -> GroupStanding:
    """Returns the standing of loans of a group on the day of their positions."""
    owing = [position for position in positions if position.loan.state in OWING_STATES]
    late = [
        (line, position) for position in owing for line in position.lines if is_late(line, position.loan, position.day)
    ]
    return GroupStanding(
        loans=len(owing),
        outstanding=sum(position.owed.total for position in owing),
        overdue=sum(line.owed.total for line, _ in late),
        days_late=max(((position.day - line.due).days for line, position in late), default=0),
        written_off=sum(count_lost(position) for position in positions),
    )


def is_in_arrears(loans: Sequence[Loan], context: Context, rows: LoadedRows) -> bool | NeedsMore:
    """Returns whether one of the open loans of a group is in arrears now. A loan whose arrears check is due and has not
    run yet is computed."""
    if any(loan.state == LOAN_IN_ARREARS for loan in loans):
        return True
    unchecked = [loan for loan in loans if is_check_due(loan, context, rows)]
    missing = [need_installments(loan) for loan in unchecked if find_installments(loan, rows) is None]
    if missing:
        return NeedsMore(Needs(tuple(dict.fromkeys(row for needs in missing for row in needs.rows))))
    day = lagos_day(context.now)
    positions = [compute_position(loan, find_installments(loan, rows) or (), day) for loan in unchecked]
    return any(position.loan.state == LOAN_IN_ARREARS for position in positions)


def refuse_late(open_loans: Sequence[Loan], context: Context, rows: LoadedRows) -> Refusal | NeedsMore | None:
    """Returns the refusal of a loan to a group that is in arrears, or None."""
    is_group_late = is_in_arrears(open_loans, context, rows)
    if isinstance(is_group_late, NeedsMore):
        return is_group_late
    return GROUP_IN_ARREARS.fill(what="it gets no other loan meanwhile") if is_group_late else None


def is_check_due(loan: Loan, context: Context, rows: LoadedRows) -> bool:
    job = rows.get(Job, job_key(loan.key))
    return job is not None and job.due <= context.now


def count_lost(position: LoanPosition) -> int:
    """Returns what was written off of a loan and not recovered."""
    return sum_amounts(position.payoff).total if position.loan.state == WRITTEN_OFF else position.lost.total


class MeetingSums(msgspec.Struct, frozen=True):
    """The sums of one loan, or of several, at a meeting, in minor units."""

    arrears: int = 0
    installment: int = 0
    collected: int = 0
    outstanding: int = 0

    def __add__(self, other: "MeetingSums") -> "MeetingSums":
        return MeetingSums(
            self.arrears + other.arrears,
            self.installment + other.installment,
            self.collected + other.collected,
            self.outstanding + other.outstanding,
        )

    @property
    def is_shown(self) -> bool:
        return bool(self.outstanding or self.collected)


def sum_meeting(position: LoanPosition, day: date, collected: int) -> MeetingSums:
    """Returns the sums of a loan at a meeting on a day. `position` is that of the day, or today's for a day that is
    over: what fell due by then and is not paid yet."""
    if position.loan.state not in OWING_STATES:
        return MeetingSums(collected=collected)
    return MeetingSums(
        arrears=sum(line.owed.total for line in position.lines if line.due < day),
        installment=sum(line.owed.total for line in position.lines if line.due == day),
        collected=collected,
        outstanding=position.owed.total,
    )
