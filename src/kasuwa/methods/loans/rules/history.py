"""What a loan is by its terms and its acts: they are replayed, with any part of any repayment left out.

A loan follows from its terms, the day on which it was paid out, and its acts in their order. The replay of the acts as
they are stored gives the stored installments. The replay without a repayment gives the loan that it would be, and the
difference of the two is what a reversal posts (rules/reverse.py).

Contract: loans#reverse
"""

from collections.abc import Iterable

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import LoadedRows, NeedsMore
from kasuwa.methods.loans.model import (
    ACTIVE,
    CHARGE_ACT,
    REPAID,
    RESCHEDULE_ACT,
    TOP_UP_ACT,
    WAIVER_ACT,
    WRITE_OFF_ACT,
    WRITTEN_OFF,
    Loan,
    LoanAct,
    LoanInstallment,
    act_key,
    need_acts,
    read_parts,
)
from kasuwa.methods.loans.rules.loan_position import (
    LoanPosition,
    allocate_repayment,
    allocate_top_up,
    charge_loan,
    compute_position,
    make_installments,
    waive_debt,
    write_off_loan,
)
from kasuwa.methods.loans.rules.reschedule_lines import RESCHEDULE_DECODER, extend_closed, reschedule_loan
from kasuwa.terms.loan_charges import LINE_CHARGE_DECODER
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
    earned: LoanAmounts  # paid, without what had been written off
    written_off: LoanAmounts
    recovered: LoanAmounts  # paid of what had been written off
    credit: int
    capitalized: LoanAmounts  # became principal, by what it was


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


def open_loan(loan: Loan, stored: tuple[LoanInstallment, ...]) -> LoanPosition:
    """Returns the position of a loan on the day on which it was paid out. Its installments count the versions that
    the stored ones have."""
    assert loan.disbursed_at is not None
    begins = lagos_day(loan.disbursed_at)
    opened = msgspec.structs.replace(loan, state=ACTIVE, aged_to=begins, renewed="", extra=0)
    return LoanPosition(opened, with_versions(make_installments(opened, begins), stored), begins)


def with_versions(
    lines: tuple[LoanInstallment, ...], stored: tuple[LoanInstallment, ...]
) -> tuple[LoanInstallment, ...]:
    """Returns installments of a replay that count the versions of the stored ones."""
    return tuple(msgspec.structs.replace(line, versions=stored[line.n - 1].versions) for line in lines)


def replay(loan: Loan, acts: tuple[GivenAct, ...], now: LoanPosition) -> LoanHistory:
    """Replays the acts of a loan up to the day of the position `now`."""
    position, done = open_loan(loan, now.lines), []
    written_off = recovered = NOTHING
    closed_by: LoanAct | None = None
    for item in acts:
        position = compute_position(position.loan, position.lines, item.act.day)
        was_open = position.loan.state not in (REPAID, WRITTEN_OFF)
        paid = NOTHING
        if item.act.kind == WRITE_OFF_ACT:
            if was_open:
                given_up = write_off_loan(position, read_parts(item.act))
                written_off += given_up.written_off
                position = given_up.after
        elif item.act.kind in (CHARGE_ACT, WAIVER_ACT):
            position = replay_on_debt(position, item.act) if was_open else position
        elif item.act.kind == RESCHEDULE_ACT:
            terms = RESCHEDULE_DECODER.decode(item.act.content)
            position = reschedule_loan(position, terms) if was_open else extend_closed(position, terms)
            position = LoanPosition(position.loan, with_versions(position.lines, now.lines), position.day)
        elif item.applied and position.loan.state != REPAID:
            result = (
                allocate_top_up(position, item.applied, int(item.act.content or 0))
                if item.act.kind == TOP_UP_ACT
                else allocate_repayment(position, item.applied)
            )
            paid = sum_amounts(result.paid)
            recovered += result.recovered
            position = result.after
        if was_open and position.loan.state in (REPAID, WRITTEN_OFF):
            closed_by = item.act
        used = paid.total
        done.append(ReplayedAct(item, paid, used, item.applied + item.kept - used))
    position = compute_position(position.loan, position.lines, now.day)
    charged, capitalized = sum_charged(position.lines)
    all_paid = sum_amounts(paid_parts(line) for line in position.lines)
    credit = sum(act.credit for act in done)
    totals = LoanTotals(charged, all_paid - recovered, written_off, recovered, credit, capitalized)
    return LoanHistory(position, tuple(done), totals, closed_by)


def replay_on_debt(position: LoanPosition, act: LoanAct) -> LoanPosition:
    """Returns the position after a charge or a waiver. A waiver leaves out what is not owed."""
    if act.kind == CHARGE_ACT:
        return charge_loan(position, LINE_CHARGE_DECODER.decode(act.content))
    return waive_debt(position, act.content, act.amount).after


def sum_charged(lines: Iterable[LoanInstallment]) -> tuple[LoanAmounts, LoanAmounts]:
    """Returns what a loan was charged with, and what of it became principal, by what it was."""
    lines = tuple(lines)
    capitalized = sum_amounts(line.capitalized for line in lines)
    charged = sum_amounts(charged_parts(line) for line in lines)
    return charged + capitalized - LoanAmounts(principal=capitalized.total), capitalized


def charged_parts(line: LoanInstallment) -> LoanAmounts:
    return LoanAmounts(
        penalty=line.penalty,
        charge=line.charge,
        vat=line.vat,
        interest=line.interest + line.pending,
        tax=line.tax + line.pending_tax,
        principal=line.principal - line.pending - line.pending_tax,
    )


def paid_parts(line: LoanInstallment) -> LoanAmounts:
    return LoanAmounts(
        penalty=line.paid_penalty,
        charge=line.paid_charge,
        vat=line.paid_vat,
        interest=line.paid_interest,
        tax=line.paid_tax,
        principal=line.paid_principal,
    )
