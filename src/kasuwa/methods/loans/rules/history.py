"""What a loan is by its terms and its acts: they are replayed, with any part of any repayment left out.

A loan follows from its terms, the day on which it was paid out, and its acts in their order. The replay of the acts as
they are stored gives the stored installments. The replay without a repayment gives the loan that it would be, and the
difference of the two is what a reversal posts (rules/reverse.py).

Contract: loans#reverse
"""

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import LoadedRows, NeedsMore
from kasuwa.methods.loans.model import (
    ACTIVE,
    REPAID,
    WRITE_OFF_ACT,
    WRITTEN_OFF,
    Loan,
    LoanAct,
    LoanInstallment,
    act_key,
    need_acts,
)
from kasuwa.methods.loans.rules.loan_position import (
    LoanPosition,
    allocate_repayment,
    compute_position,
    make_installments,
)
from kasuwa.terms.loan_schedule import NOTHING, LoanAmounts, sum_amounts


class GivenAct(msgspec.Struct, frozen=True):
    """An act as a replay takes it."""

    act: LoanAct
    applied: int  # the part of a repayment that the loan is given
    refunded: int = 0  # the part of it that was refunded
    kept: int = 0  # the part of it that the loan was not given, because it is being refunded


class ReplayedAct(msgspec.Struct, frozen=True):
    """The result of one act of a replay."""

    given: GivenAct
    paid: LoanAmounts  # the parts that a repayment covered
    used: int  # their sum
    credit: int  # the part of a repayment that the client has as a credit


class LoanTotals(msgspec.Struct, frozen=True):
    """All that was posted of a loan since it was paid out, in sums. Charges are those that stand."""

    charged: LoanAmounts
    earned: LoanAmounts  # paid before a write-off
    written_off: LoanAmounts
    recovered: LoanAmounts  # paid after a write-off
    credit: int


class LoanHistory(msgspec.Struct, frozen=True):
    """A loan after the replay of its acts."""

    position: LoanPosition
    acts: tuple[ReplayedAct, ...]
    totals: LoanTotals
    closed_by: LoanAct | None  # the act that closed the loan


def find_acts(loan: Loan, rows: LoadedRows) -> tuple[LoanAct, ...] | NeedsMore:
    """Returns the acts of a loan, or what must be loaded first."""
    keys = [act_key(loan.merchant_id, loan.loan_id, n) for n in range(1, loan.acts + 1)]
    if not all(rows.is_loaded(key) for key in keys):
        return NeedsMore(need_acts(loan))
    acts = (rows.get(LoanAct, key) for key in keys)
    return tuple(act for act in acts if act is not None)


def open_loan(loan: Loan) -> LoanPosition:
    """Returns the position of a loan on the day on which it was paid out."""
    assert loan.disbursed_at is not None
    begins = lagos_day(loan.disbursed_at)
    return LoanPosition(
        msgspec.structs.replace(loan, state=ACTIVE, aged_to=begins), make_installments(loan, begins), begins
    )


def replay(loan: Loan, acts: tuple[GivenAct, ...], now: LoanPosition) -> LoanHistory:
    """Replays the acts of a loan up to the day of the position `now`."""
    position, done = open_loan(loan), []
    written_off = recovered = NOTHING
    closed_by: LoanAct | None = None
    for item in acts:
        position = compute_position(position.loan, position.lines, item.act.day)
        was_open = position.loan.state not in (REPAID, WRITTEN_OFF)
        paid = NOTHING
        if item.act.kind == WRITE_OFF_ACT:
            if was_open:
                written_off = position.owed
                position = msgspec.structs.replace(
                    position, loan=msgspec.structs.replace(position.loan, state=WRITTEN_OFF)
                )
        elif item.applied and position.loan.state != REPAID:
            result = allocate_repayment(position, item.applied)
            paid = sum_amounts(result.paid)
            recovered += paid if position.loan.state == WRITTEN_OFF else NOTHING
            position = result.after
        if was_open and position.loan.state in (REPAID, WRITTEN_OFF):
            closed_by = item.act
        used = paid.total
        done.append(ReplayedAct(item, paid, used, item.applied + item.kept - used))
    position = compute_position(position.loan, position.lines, now.day)
    charged = sum_amounts(charged_parts(line) for line in position.lines)
    all_paid = sum_amounts(paid_parts(line) for line in position.lines)
    totals = LoanTotals(charged, all_paid - recovered, written_off, recovered, sum(act.credit for act in done))
    return LoanHistory(position, tuple(done), totals, closed_by)


def charged_parts(line: LoanInstallment) -> LoanAmounts:
    return LoanAmounts(penalty=line.penalty, interest=line.interest, tax=line.tax, principal=line.principal)


def paid_parts(line: LoanInstallment) -> LoanAmounts:
    return LoanAmounts(
        penalty=line.paid_penalty, interest=line.paid_interest, tax=line.paid_tax, principal=line.paid_principal
    )
