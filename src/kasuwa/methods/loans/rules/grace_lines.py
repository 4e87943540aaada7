"""Installments with grace: interest that grows and is asked for later, or becomes principal on the due date.

A spread installment asks for no interest: its `grown` is part of the `deferred` interest of later ones. Of a loan that
is paid off before, as much of it is asked for as has grown: that is the ripe interest, which covers the deferred parts
in order. What is paid of an installment with a deferred part covers that part first.

The interest of a capitalizing installment is `pending`, with the tax on it, until its due date. The principal of later
installments includes it from the beginning, so that the schedule says what will be due.

Contract: loans#grace
"""

from collections.abc import Iterable, Sequence
from datetime import date
from fractions import Fraction

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.methods.loans.model import Loan, LoanInstallment
from kasuwa.terms.loan_schedule import (
    CAPITALIZE,
    SPREAD,
    LoanAmounts,
    PlannedLine,
    ScheduledInstallment,
    accrued_interest,
    due_date,
    share_half_up,
)


def with_grace(line: LoanInstallment, plan: ScheduledInstallment) -> LoanInstallment:
    """Returns the installment of a new loan with its grace and interval."""
    return msgspec.structs.replace(
        line,
        starts=plan.starts,
        span=plan.span,
        grace=plan.grace,
        grown=plan.grown,
        deferred=plan.deferred,
        pending=plan.pending,
        pending_tax=plan.pending_tax,
    )


# --- the interest of an interval --------------------------------------------------------------------------------------


def interval_start(loan: Loan, line: LoanInstallment) -> date:
    """Returns the first day of the interval that ends with an installment."""
    if line.starts is not None:
        return line.starts
    assert loan.disbursed_at is not None
    return due_date(lagos_day(loan.disbursed_at), loan.frequency, line.n - 1)


def interval_days(loan: Loan, line: LoanInstallment) -> int:
    """Returns the number of days that the rate of one interval is for."""
    return line.span or (line.due - interval_start(loan, line)).days


def own_interest(line: LoanInstallment) -> int:
    """Returns the interest of an installment's interval, whoever asks for it."""
    return line.interest - line.deferred + line.grown + line.pending


def own_paid(line: LoanInstallment) -> int:
    """Returns what is paid of the interest of an installment's interval. A payment covers deferred interest first."""
    return line.paid_interest - min(line.paid_interest, line.deferred)


def interest_earned(line: LoanInstallment, loan: Loan, day: date) -> int:
    """Returns the interest of an installment's interval earned up to a day. On the due date it is what it asks for.

    If principal was prepaid within the interval, the row holds what was earned by then, and the remaining days earn
    the rest.
    """
    if day >= line.due:
        return line.interest
    since = line.accrued_on or interval_start(loan, line)
    return line.accrued + accrued_interest(own_interest(line) - line.accrued, since, line.due, day)


def earned_by(loan: Loan, lines: Iterable[LoanInstallment], day: date) -> tuple[LoanInstallment, ...]:
    """Returns installments of which no more is recorded as earned than by a day. The interest that was earned up to a
    payment after that day is divided in proportion to the days."""
    return tuple(
        line if line.accrued_on is None or line.accrued_on <= day else accrue_until(loan, line, day) for line in lines
    )


def accrue_until(loan: Loan, line: LoanInstallment, day: date) -> LoanInstallment:
    starts = interval_start(loan, line)
    assert line.accrued_on is not None
    accrued = accrued_interest(line.accrued, starts, line.accrued_on, day) if day > starts else 0
    return msgspec.structs.replace(line, accrued=accrued, accrued_on=day)


# --- spread -----------------------------------------------------------------------------------------------------------


def count_ripe_interest(loan: Loan, lines: Sequence[LoanInstallment], day: date) -> int:
    """Returns the interest that has grown by a day, is asked for by installments that are not due, and is not paid."""
    ripe = 0
    for line in lines:
        if line.grace == SPREAD:
            own = line.interest - line.deferred
            ripe += line.grown if line.due <= day else max(0, interest_earned(line, loan, day) - own)
        if line.deferred:
            ripe -= line.deferred if line.due <= day else min(line.paid_interest, line.deferred)
    return max(0, ripe)


def count_carried(past: Iterable[LoanInstallment], coming: Iterable[LoanInstallment]) -> int:
    """Returns the interest that grew with installments that stay as they are, and for which those that are made anew
    are to ask."""
    grown = sum(line.grown - line.deferred for line in past)
    return grown - sum(min(line.paid_interest, line.deferred) for line in coming)


# --- capitalized ------------------------------------------------------------------------------------------------------


def count_pending(lines: Iterable[LoanInstallment]) -> int:
    return sum(line.pending + line.pending_tax for line in lines)


def has_pending(line: LoanInstallment) -> bool:
    return bool(line.pending or line.pending_tax)


def next_capitalization(lines: Iterable[LoanInstallment]) -> date | None:
    return next((line.due for line in lines if has_pending(line)), None)


def capitalize_due(lines: tuple[LoanInstallment, ...], day: date) -> tuple[LoanInstallment, ...]:
    """Returns the installments after the pending interest of those that are due by a day has become principal."""
    if not any(has_pending(line) and line.due <= day for line in lines):
        return lines
    return tuple(
        msgspec.structs.replace(
            line,
            pending=0,
            pending_tax=0,
            capital_interest=line.capital_interest + line.pending,
            capital_tax=line.capital_tax + line.pending_tax,
        )
        if line.due <= day
        else line
        for line in lines
    )


def pending_on(lines: tuple[LoanInstallment, ...], day: date) -> tuple[LoanInstallment, ...]:
    """Returns the installments with the interest pending that was pending on a day and has become principal since."""
    return tuple(
        msgspec.structs.replace(
            line, pending=line.capital_interest, pending_tax=line.capital_tax, capital_interest=0, capital_tax=0
        )
        if line.grace == CAPITALIZE and day < line.due and not has_pending(line)
        else line
        for line in lines
    )


def ask_capitalized(lines: tuple[LoanInstallment, ...], amount: int) -> tuple[LoanInstallment, ...]:
    """Returns the installments that ask again for an amount of the interest that a grace has made principal: the
    principal of the last ones is less by it."""
    left, moved, changed = amount, 0, []
    for line in reversed(lines):
        interest = min(left, line.capital_interest) if line.grace == CAPITALIZE else 0
        tax = min(left - interest, line.capital_tax) if line.grace == CAPITALIZE else 0
        left, moved = left - interest - tax, moved + interest + tax
        changed.append(
            msgspec.structs.replace(
                line,
                interest=line.interest + interest,
                tax=line.tax + tax,
                capital_interest=line.capital_interest - interest,
                capital_tax=line.capital_tax - tax,
            )
        )
    for place, line in enumerate(changed):
        part = min(moved, line.principal - line.paid_principal - line.lost_principal)
        moved -= part
        changed[place] = msgspec.structs.replace(line, principal=line.principal - part)
    return tuple(reversed(changed))


def without_pending(lines: Sequence[LoanInstallment], payoff: list[LoanAmounts]) -> tuple[LoanAmounts, ...]:
    """Returns a payoff without the principal that pending interest has not become: less of the last installments."""
    left, amounts = count_pending(lines), payoff
    for place in range(len(amounts) - 1, -1, -1):
        if not left:
            break
        part = min(left, amounts[place].principal)
        amounts[place] = msgspec.structs.replace(amounts[place], principal=amounts[place].principal - part)
        left -= part
    return tuple(amounts)


def pay_pending(line: LoanInstallment, parts: LoanAmounts) -> LoanInstallment:
    """Returns a capitalizing installment that asks for what is paid of its interest. The rest stays pending."""
    return msgspec.structs.replace(
        line,
        interest=line.interest + parts.interest,
        tax=line.tax + parts.tax,
        pending=max(0, line.pending - parts.interest),
        pending_tax=max(0, line.pending_tax - parts.tax),
    )


def ask_pending(lines: tuple[LoanInstallment, ...]) -> tuple[LoanInstallment, ...]:
    """Returns installments that ask for their pending interest, of a loan that will not capitalize it: the principal
    of the last ones is less by it."""
    left, changed = count_pending(lines), []
    for line in reversed(lines):
        part = min(left, line.principal - line.paid_principal - line.lost_principal)
        left -= part
        changed.append(
            msgspec.structs.replace(
                line,
                principal=line.principal - part,
                interest=line.interest + line.pending,
                tax=line.tax + line.pending_tax,
                pending=0,
                pending_tax=0,
            )
        )
    return tuple(reversed(changed))


# --- planned anew -----------------------------------------------------------------------------------------------------


def is_plan_changed_by(line: LoanInstallment, parts: LoanAmounts) -> bool:
    """Whether paying parts of an installment that is not due makes another plan of the rest: principal was prepaid, or
    interest that would have become principal."""
    return bool(parts.principal or (line.grace == CAPITALIZE and parts.interest))


def replan(line: LoanInstallment, plan: PlannedLine, tax_rate: Fraction) -> LoanInstallment:
    """Returns an installment by a new plan. What was paid of it stays."""
    interest, tax, grown, pending, pending_tax = line.paid_interest, line.paid_tax, 0, 0, 0
    deferred = min(line.paid_interest, line.deferred)
    if plan.grace == SPREAD:
        grown = max(0, plan.own - own_paid(line))
    elif plan.grace == CAPITALIZE:
        pending = max(0, plan.own - own_paid(line))
        pending_tax = max(0, share_half_up(plan.own, tax_rate) - line.paid_tax)
    else:
        deferred += plan.share
        interest = max(plan.own + deferred, line.paid_interest)
        tax = max(share_half_up(interest, tax_rate), line.paid_tax)
    return msgspec.structs.replace(
        line,
        principal=line.paid_principal + plan.principal,
        interest=interest,
        tax=tax,
        accrued=0,
        accrued_on=None,
        grace=plan.grace,
        grown=grown,
        deferred=deferred,
        pending=pending,
        pending_tax=pending_tax,
    )
