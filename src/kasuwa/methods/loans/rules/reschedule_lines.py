"""The installments of a loan after a reschedule: those that are not due are made anew.

What was paid stays where it was paid, and installments that are due stay as they are. With capitalized arrears what
they still ask for of interest and charges becomes principal, and their principal moves to the new installments;
penalties stay. The interval that runs keeps the interest that it has earned, at the rate that it had.

Contract: loans#reschedule
"""

from datetime import date
from fractions import Fraction
from typing import NamedTuple

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.methods.loans.model import Loan, LoanInstallment, installment_key
from kasuwa.methods.loans.rules.charge_lines import capitalize_charges, with_charges
from kasuwa.methods.loans.rules.grace_lines import (
    count_carried,
    interest_earned,
    interval_days,
    interval_start,
    own_paid,
    replan,
)
from kasuwa.methods.loans.rules.loan_position import LoanPosition, arrears_state
from kasuwa.terms.loan_charges import (
    PER_INSTALLMENT,
    RenewedTerms,
    make_line_charge,
    read_renewed,
    write_renewed,
)
from kasuwa.terms.loan_schedule import (
    WHOLE_INTERVAL,
    FirstInterval,
    Grace,
    due_date,
    parse_rate,
    plan_lines,
)


class RescheduleTerms(msgspec.Struct, frozen=True, omit_defaults=True):
    """The changes by a reschedule, as JSON in its act."""

    begins: date  # installments that are due on this day or later are made anew, if they are not due yet
    extra: int = 0  # installments that are added
    rate: str = ""  # "" if it stays
    grace: Grace = Grace()  # of the installments that are made anew, with their first due date
    capitalize: bool = False  # the arrears of interest and charges


RESCHEDULE_DECODER: "msgspec.json.Decoder[RescheduleTerms]" = msgspec.json.Decoder(RescheduleTerms)


class RescheduleDates(NamedTuple):
    """The installments that stay, and the due dates of the others."""

    staying: tuple[LoanInstallment, ...]
    remade: tuple[LoanInstallment, ...]
    dues: tuple[date, ...]  # of those that are made anew and of those that are added
    anchor: tuple[date, int] | None  # from which the dates are counted, if not as before


def plan_dates(position: LoanPosition, terms: RescheduleTerms) -> RescheduleDates:
    """Returns the due dates after a reschedule. Without a first due date of its own they stay, and those of added
    installments follow them; of a loan that is due already they begin one interval from its day."""
    loan, day = position.loan, position.day
    remade = tuple(line for line in position.lines if line.due > day and line.due >= terms.begins)
    staying = position.lines[: len(position.lines) - len(remade)]
    first_n, count = len(staying) + 1, len(remade) + terms.extra
    first_due = terms.grace.first_due
    anchor = None if first_due is None else (first_due, first_n)
    if anchor is None and not remade and find_due(loan, first_n) <= day:
        anchor = (day, first_n - 1)
    if anchor is None:
        added = range(len(position.lines) + 1, len(position.lines) + 1 + terms.extra)
        dues = (*(line.due for line in remade), *(find_due(loan, n) for n in added))
    else:
        dues = tuple(due_date(anchor[0], loan.frequency, n - anchor[1]) for n in range(first_n, first_n + count))
    return RescheduleDates(staying, remade, dues, anchor)


def find_due(loan: Loan, n: int) -> date:
    """Returns the due date of an installment by the terms that are in force."""
    assert loan.disbursed_at is not None
    renewed, begins, first_due = read_renewed(loan.renewed), lagos_day(loan.disbursed_at), loan.terms.grace.first_due
    if renewed.anchor is not None:
        return due_date(renewed.anchor, loan.frequency, n - renewed.anchor_n)
    if first_due is not None and first_due > begins:
        return due_date(first_due, loan.frequency, n - 1)
    return due_date(begins, loan.frequency, n)


def renew_terms(loan: Loan, terms: RescheduleTerms, anchor: tuple[date, int] | None) -> Loan:
    before = read_renewed(loan.renewed)
    rate = terms.rate or before.rate
    start, n = anchor or (before.anchor, before.anchor_n)
    return msgspec.structs.replace(
        loan, renewed=write_renewed(RenewedTerms(rate, start, n)), extra=loan.extra + terms.extra
    )


def reschedule_loan(position: LoanPosition, terms: RescheduleTerms) -> LoanPosition:
    """Returns the position after a reschedule."""
    staying, remade, dues, anchor = plan_dates(position, terms)
    loan = renew_terms(position.loan, terms, anchor)
    principal = sum(line.owed.principal for line in remade)
    if terms.capitalize:
        settled = tuple(capitalize_arrears(line) if line.due <= position.day else line for line in staying)
        principal += sum(was.principal - line.principal for was, line in zip(staying, settled, strict=True))
        principal += sum(line.capitalized.total for line in settled) - sum(line.capitalized.total for line in staying)
        staying = settled
    graces = [terms.grace.find_kind(place) for place in range(1, len(dues) + 1)]
    new_terms = msgspec.structs.replace(loan.terms, principal=principal, period=len(dues))
    first = plan_first_interval(position, remade, dues[0], anchor is not None)
    whole_loan = loan.amount + sum(line.capitalized.total + line.pending + line.pending_tax for line in staying)
    planned = plan_lines(
        new_terms, graces, first.interval, carried=count_carried(staying, remade), whole_loan=whole_loan
    )
    stored = (*remade, *(new_installment(loan, len(staying) + place + 1) for place in range(len(remade), len(dues))))
    lines = []
    for place, (line, plan, due) in enumerate(zip(stored, planned, dues, strict=True)):
        renewed_line = replan(line, plan, parse_rate(new_terms.tax))
        if not place:
            renewed_line = msgspec.structs.replace(
                renewed_line,
                starts=first.starts,
                span=first.span,
                accrued=first.interval.accrued,
                accrued_on=first.accrued_on,
            )
        elif anchor is not None or place >= len(remade):
            renewed_line = msgspec.structs.replace(renewed_line, starts=dues[place - 1], span=0)
        lines.append(move_due(renewed_line, due))
    lines[len(remade) :] = [charge_added(line, loan) for line in lines[len(remade) :]]
    after = (*staying, *lines)
    state = arrears_state(loan, after, position.day)
    return LoanPosition(msgspec.structs.replace(loan, state=state), after, position.day)


def extend_closed(position: LoanPosition, terms: RescheduleTerms) -> LoanPosition:
    """Returns the position of a loan that was closed before a reschedule: what that added asks for nothing."""
    loan, lines = position.loan, position.lines
    last = max(lines[-1].due, position.day)
    added = (
        move_due(new_installment(loan, len(lines) + place), due_date(last, loan.frequency, place))
        for place in range(1, terms.extra + 1)
    )
    extended = msgspec.structs.replace(loan, extra=loan.extra + terms.extra)
    return LoanPosition(extended, (*lines, *added), position.day)


# --- parts ------------------------------------------------------------------------------------------------------------


def capitalize_arrears(line: LoanInstallment) -> LoanInstallment:
    """Returns an installment that is due, without what it asks for besides penalties."""
    owed = line.owed
    settled = capitalize_charges(line)
    return msgspec.structs.replace(
        settled,
        principal=line.principal - owed.principal,
        interest=line.interest - owed.interest,
        tax=line.tax - owed.tax,
        capital_interest=line.capital_interest + owed.interest,
        capital_tax=line.capital_tax + owed.tax,
        capital_charge=line.capital_charge + owed.charge,
        capital_vat=line.capital_vat + owed.vat,
    )


class FirstPlan(NamedTuple):
    """The interval of the first installment that is made anew."""

    interval: FirstInterval
    starts: date | None
    span: int
    accrued_on: date | None


def plan_first_interval(
    position: LoanPosition, remade: tuple[LoanInstallment, ...], due: date, is_moved: bool
) -> FirstPlan:
    """Returns what is known of the first interval: what it has earned, and its part of a whole one that is left."""
    loan, day = position.loan, position.day
    if not remade:
        before = due_date(due, loan.frequency, -1) if is_moved else position.lines[-1].due
        span = (due - before).days
        return FirstPlan(FirstInterval(Fraction((due - day).days, span)), day, span, None)
    line = remade[0]
    starts = interval_start(loan, line)
    span = (due - due_date(due, loan.frequency, -1)).days if is_moved else interval_days(loan, line)
    kept_starts, kept_span = (starts, span) if is_moved else (line.starts, line.span)
    paid, paid_tax = own_paid(line), line.paid_tax
    if starts < day:
        accrued = interest_earned(line, loan, day)
        interval = FirstInterval(Fraction((due - day).days, span), accrued, paid, paid_tax)
        return FirstPlan(interval, kept_starts, kept_span, day)
    share = Fraction((due - starts).days, span)
    interval = FirstInterval(share, 0, paid, paid_tax) if share != 1 or paid or paid_tax else WHOLE_INTERVAL
    return FirstPlan(interval, kept_starts, kept_span, None)


def new_installment(loan: Loan, n: int) -> LoanInstallment:
    key = installment_key(loan.merchant_id, loan.loan_id, n)
    return LoanInstallment(key, loan.merchant_id, loan.loan_id, n, date.min, 0, 0, 0)


def move_due(line: LoanInstallment, due: date) -> LoanInstallment:
    """Returns the installment with another due date, and its charges of the day with it."""
    moved = msgspec.structs.replace(line, due=due)
    if not line.charges or due == line.due:
        return moved
    charges = (
        msgspec.structs.replace(charge, day=due) if charge.day == line.due else charge for charge in line.its_charges
    )
    return with_charges(moved, charges)


def charge_added(line: LoanInstallment, loan: Loan) -> LoanInstallment:
    """Returns an installment that was added, with the charges that are agreed for every one."""
    charges = [
        make_line_charge(
            f"C{place}.{line.n}",
            charge,
            loan.amount if charge.of == "principal" else line.principal + line.interest,
            line.due,
        )
        for place, charge in enumerate(loan.agreed_terms.charges, 1)
        if charge.when == PER_INSTALLMENT
    ]
    return with_charges(line, charges) if charges else line
