"""The position of a loan on a day: what is late, owed and due, its payoff, and the allocation of a repayment.

A position is computed from the loan's rows alone, for any day, and computing it twice changes nothing. The arrears job,
repayments and reads all compute it here, so none of them depends on another one having run before.

Contract: loans#repay
"""

from collections.abc import Container
from datetime import date, timedelta
from fractions import Fraction
from functools import cached_property
from typing import Final

import msgspec

from kasuwa.core.money import LARGEST_AMOUNT
from kasuwa.methods.loans.model import (
    ACTIVE,
    IN_ARREARS,
    OWING_STATES,
    REPAID,
    WRITTEN_OFF,
    Loan,
    LoanInstallment,
    installment_key,
)
from kasuwa.methods.loans.rules.charge_lines import (
    add_agreed_charges,
    add_late_charges,
    asked_charges,
    cover_charges,
    drop_unpaid_charges,
    waive_charge,
    with_charges,
)
from kasuwa.methods.loans.rules.grace_lines import (
    ask_capitalized,
    ask_pending,
    capitalize_due,
    count_carried,
    count_pending,
    count_ripe_interest,
    earned_by,
    has_pending,
    interest_earned,
    interval_days,
    is_plan_changed_by,
    next_capitalization,
    own_interest,
    own_paid,
    pay_pending,
    pending_on,
    replan,
    with_grace,
    without_pending,
)
from kasuwa.terms.loan_charges import LineCharge, find_interval
from kasuwa.terms.loan_schedule import (
    FLAT,
    NO_GRACE,
    NOTHING,
    SPREAD,
    FirstInterval,
    LoanAmounts,
    allocate,
    charge_penalty,
    late_on,
    make_schedule,
    parse_rate,
    plan_lines,
    share_half_up,
    split_with_tax,
    sum_amounts,
)


class LoanPosition(msgspec.Struct, frozen=True, dict=True):
    """A loan with its installments in order, with late charges and penalties up to `day`. A loan has up to 366 of them,
    so sums over them are computed once."""

    loan: Loan
    lines: tuple[LoanInstallment, ...]
    day: date

    @cached_property
    def owed(self) -> LoanAmounts:
        return sum_amounts(line.owed for line in self.lines)

    @cached_property
    def due(self) -> LoanAmounts:
        """The amounts owed of all installments due up to and including today."""
        return sum_amounts(line.owed for line in self.lines if line.due <= self.day)

    @cached_property
    def payoff(self) -> tuple[LoanAmounts, ...]:
        """The amounts that close the loan today, by installment: all that is due, the remaining principal, charges
        whose day has come, and the interest earned so far in the current interval. Interest that was prepaid is not
        refunded.
        Of a loan that was written off, all that was written off and not recovered. Contract: loans#payoff"""
        if self.loan.state == WRITTEN_OFF:
            return tuple(line.owed + line.lost for line in self.lines)
        tax_rate, amounts, previous_due = parse_rate(self.loan.terms.tax), [], date.min
        ripe = count_ripe_interest(self.loan, self.lines, self.day)
        for line in self.lines:
            has_begun = previous_due < self.day or line.accrued_on is not None
            earned = interest_earned(line, self.loan, self.day) if has_begun else 0
            if line.grace == SPREAD and line.due > self.day:
                earned = 0
            elif line.deferred and line.due > self.day:
                prepaid = min(line.paid_interest, line.deferred)
                ripened = min(ripe, line.deferred - prepaid)
                ripe, earned = ripe - ripened, earned + prepaid + ripened
            tax = line.tax if earned == line.interest else share_half_up(earned, tax_rate)
            interest = max(0, earned - line.paid_interest - line.lost_interest)
            tax = max(0, tax - line.paid_tax - line.lost_tax)
            owed, previous_due = line.owed, line.due
            charge, vat = asked_charges(line, self.day)
            principal = owed.principal + line.pending + line.pending_tax
            amounts.append(LoanAmounts(owed.penalty, charge, vat, interest, tax, principal))
        return without_pending(self.lines, amounts)

    @cached_property
    def lost(self) -> LoanAmounts:
        """The parts that were written off while the loan went on, and were not recovered."""
        return sum_amounts(line.lost for line in self.lines)

    @property
    def default_repayment(self) -> int:
        """The amount of a repayment without an amount: all that is due, else the next installment."""
        coming = next((line.owed.total for line in self.lines if line.owed.total), 0)
        return min(self.due.total or coming, sum_amounts(self.payoff).total)

    @property
    def next_change_on(self) -> date | None:
        """The next day on which the loan changes by time alone, or None."""
        late = [line for line in self.lines if is_late(line, self.loan, self.day)]
        if parse_rate(self.loan.penalty_rate) and any(line.owed.principal for line in late):
            return self.day + timedelta(days=1)
        coming = (late_on(line.due, self.loan.tolerance_days) for line in self.lines if line.owed.total)
        days = [next((day for day in coming if day > self.day), None), next_capitalization(self.lines)]
        return min((day for day in days if day is not None), default=None)


def make_installments(loan: Loan, begins: date) -> tuple[LoanInstallment, ...]:
    """Returns the installments of a loan that is paid out on day `begins`."""
    merchant_id, loan_id, schedule = loan.merchant_id, loan.loan_id, make_schedule(loan.terms, begins)
    lines = tuple(
        LoanInstallment(
            installment_key(merchant_id, loan_id, i.n), merchant_id, loan_id, i.n, i.due, i.principal, i.interest, i.tax
        )
        for i in schedule
    )
    if loan.agreed_terms.grace != NO_GRACE:
        lines = tuple(with_grace(line, plan) for line, plan in zip(lines, schedule, strict=True))
    return add_agreed_charges(loan, lines, schedule, begins) if loan.agreed else lines


def is_late(line: LoanInstallment, loan: Loan, day: date) -> bool:
    # The first comparison is the cheapest, and decides for most installments.
    return day > line.due and day >= late_on(line.due, loan.tolerance_days) and line.owed.total > 0


def compute_position(loan: Loan, lines: tuple[LoanInstallment, ...], day: date) -> LoanPosition:
    """Returns the position of the loan on a day, with late charges and penalties, and the arrears state set.

    A loan that owes nothing is returned unchanged. A day before the last computed one counts as that day.
    """
    if loan.state not in OWING_STATES or loan.aged_to is None:
        return LoanPosition(loan, lines, day)
    day = max(day, loan.aged_to)
    aged = age_lines(loan, capitalize_due(lines, day), loan.aged_to, day)
    return LoanPosition(msgspec.structs.replace(loan, state=arrears_state(loan, aged, day), aged_to=day), aged, day)


def arrears_state(loan: Loan, lines: tuple[LoanInstallment, ...], day: date) -> str:
    return IN_ARREARS if any(is_late(line, loan, day) for line in lines) else ACTIVE


def age_lines(loan: Loan, lines: tuple[LoanInstallment, ...], aged_to: date, day: date) -> tuple[LoanInstallment, ...]:
    """Returns the installments with the charges and penalties of the late days after `aged_to`. All penalties of a loan
    together stop at the largest amount that an account can hold."""
    room = max(0, LARGEST_AMOUNT - sum(line.penalty for line in lines))
    aged = []
    for line in lines:
        charged = charge_late_days(add_late_charges(line, loan, aged_to, day), loan, aged_to, day)
        if charged.penalty - line.penalty > room:
            charged = msgspec.structs.replace(charged, penalty=line.penalty + room, carry=0)
        room -= charged.penalty - line.penalty
        aged.append(charged)
    return tuple(aged)


def charge_late_days(line: LoanInstallment, loan: Loan, computed_to: date, day: date) -> LoanInstallment:
    """Charges the late days after `computed_to`. The overdue principal has not changed since that day."""
    if day <= line.due or not parse_rate(loan.penalty_rate):
        return line
    late, first = late_on(line.due, loan.tolerance_days), computed_to + timedelta(days=1)
    if first <= late:
        # The day on which it becomes late may bring the penalties of the days of tolerance too.
        first = late if day < late or loan.agreed_terms.penalty_from == "tolerance" else line.due + timedelta(days=1)
    days = (day - first).days + 1
    if days <= 0:
        return line
    overdue = line.owed.principal
    if not overdue:
        return line
    charged, carry = charge_penalty(line.carry, overdue, loan.penalty_rate, days)
    return msgspec.structs.replace(line, penalty=line.penalty + charged, carry=carry)


# --- a repayment ----------------------------------------------------------------------------------------------


class RepaymentResult(msgspec.Struct, frozen=True):
    """The result of allocating a repayment to a loan."""

    after: LoanPosition
    paid: tuple[LoanAmounts, ...]  # by installment
    recovered: LoanAmounts  # the part of it that had been written off
    waived: LoanAmounts  # interest and tax that are no longer due
    added: LoanAmounts  # interest and tax that rounding adds to a recomputed schedule
    excess: int  # the amount above the payoff
    kind: str = "repaid"  # how it is posted


def allocate_repayment(position: LoanPosition, amount: int) -> RepaymentResult:
    """Allocates a repayment. The payoff or more closes the loan. Less is spread over what is owed, and prepaid
    principal lowers the principal of the remaining schedule. Contract: loans#allocation"""
    if position.loan.state == WRITTEN_OFF:
        return recover_repayment(position, amount)
    if amount >= sum_amounts(position.payoff).total:
        return close_loan(position, amount)
    paid = spread_repayment(position, amount)
    lines = tuple(pay_installment(line, parts) for line, parts in zip(position.lines, paid, strict=True))
    if any(is_plan_changed_by(line, parts) for line, parts in zip(lines, paid, strict=True) if line.due > position.day):
        lines = recompute_schedule(position, lines)
    loan = msgspec.structs.replace(position.loan, state=arrears_state(position.loan, lines, position.day))
    forgiven, added = schedule_changes(position.lines, lines)
    return RepaymentResult(LoanPosition(loan, lines, position.day), paid, NOTHING, forgiven, added, 0)


def count_growth(position: LoanPosition, since: date, made_since: Container[str]) -> int:
    """Returns the interest and the charges with their tax, and the penalties, by which time alone has raised a payoff
    since a day. Interest counts too that has become principal since. `made_since` has the charges that were made."""
    loan, lines, day = position.loan, position.lines, position.day
    earlier = sum_amounts(LoanPosition(loan, earned_by(loan, pending_on(lines, since), since), since).payoff)
    more = sum_amounts(position.payoff) - earlier
    # The remainders of rounding are those of today: what led to them is counted back.
    back = tuple(msgspec.structs.replace(line, carry=-line.carry) for line in lines)
    penalties = sum(line.penalty for line in age_lines(loan, back, since, day)) - sum(line.penalty for line in lines)
    charges = sum(
        one.owed + one.owed_vat
        for line in lines
        for one in cover_charges(line)
        if since < one.charge.day <= day and one.charge.charge_id not in made_since
    )
    return max(0, more.interest + more.tax + more.principal) + penalties + charges


def allocate_top_up(position: LoanPosition, amount: int, grown: int) -> RepaymentResult:
    """Allocates what a new loan pays. The payoff of the day on which that was approved closes the loan later too:
    what has `grown` since is not asked for. Contract: loans#top-up"""
    short = sum_amounts(position.payoff).total - amount
    if position.loan.state == WRITTEN_OFF or not 0 < short <= grown:
        return allocate_repayment(position, amount)
    more = short - sum(parts.total - parts.principal for parts in position.payoff)
    restated = LoanPosition(position.loan, ask_capitalized(position.lines, max(0, more)), position.day)
    payoff = []
    for parts in reversed(restated.payoff):
        left = {}
        for part in ("interest", "tax", "penalty", "charge", "vat"):
            less = min(short, getattr(parts, part))
            left[part], short = getattr(parts, part) - less, short - less
        payoff.append(msgspec.structs.replace(parts, **left))
    return allocate_repayment(position, amount) if short else close_loan(restated, amount, tuple(reversed(payoff)))


def close_loan(position: LoanPosition, amount: int, payoff: tuple[LoanAmounts, ...] | None = None) -> RepaymentResult:
    """Allocates a repayment of the payoff or more. What was written off before is recovered from what is above it.
    `payoff` is what closes it instead, by installment."""
    payoff = position.payoff if payoff is None else payoff
    lines = tuple(pay_installment(line, parts) for line, parts in zip(position.lines, payoff, strict=True))
    forgiven = position.owed - sum_amounts(payoff)
    closed = tuple(
        msgspec.structs.replace(
            drop_unpaid_charges(line),
            principal=line.paid_principal + line.lost_principal,
            pending=0,
            pending_tax=0,
            penalty=line.paid_penalty + line.lost_penalty,
            interest=line.paid_interest + line.lost_interest,
            tax=line.paid_tax + line.lost_tax,
        )
        for line in lines
    )
    state = WRITTEN_OFF if position.lost.total else REPAID
    after = LoanPosition(msgspec.structs.replace(position.loan, state=state), closed, position.day)
    rest = recover_repayment(after, amount - sum_amounts(payoff).total)
    paid = tuple(first + second for first, second in zip(payoff, rest.paid, strict=True))
    return msgspec.structs.replace(rest, paid=paid, waived=forgiven)


def recover_repayment(position: LoanPosition, amount: int) -> RepaymentResult:
    """Allocates what is paid of a loan that was written off, oldest installment first. It stays written off.

    Contract: loans#recovered
    """
    paid = tuple(allocate(amount, (line.owed + line.lost for line in position.lines)))
    lines = tuple(recover_installment(line, parts) for line, parts in zip(position.lines, paid, strict=True))
    recovered = sum_amounts(paid)
    after = msgspec.structs.replace(position, lines=lines)
    return RepaymentResult(after, paid, recovered, NOTHING, NOTHING, amount - recovered.total)


def recover_installment(line: LoanInstallment, parts: LoanAmounts) -> LoanInstallment:
    """Returns the installment with parts recorded that had been written off."""
    paid = pay_installment(line, parts)
    return msgspec.structs.replace(
        paid,
        lost_penalty=min(paid.lost_penalty, paid.penalty - paid.paid_penalty),
        lost_charge=min(paid.lost_charge, paid.charge - paid.paid_charge),
        lost_vat=min(paid.lost_vat, paid.vat - paid.paid_vat),
        lost_interest=min(paid.lost_interest, paid.interest - paid.paid_interest),
        lost_tax=min(paid.lost_tax, paid.tax - paid.paid_tax),
        lost_principal=min(paid.lost_principal, paid.principal - paid.paid_principal),
    )


def spread_repayment(position: LoanPosition, amount: int) -> tuple[LoanAmounts, ...]:
    """Returns what each installment gets of a repayment that is less than the payoff. The order is:

    1. all penalties,
    2. what is due, oldest first: charges with their VAT, interest with its tax, principal,
    3. charges of the current interval whose day has come, interest and tax earned in it,
    4. principal, recorded on the current installment.

    A product may have another order of the parts of an installment, with its penalties among them. Interest that is not
    earned yet is never taken. Contract: loans#allocation
    """
    payoff, day = position.payoff, position.day
    is_due = [line.due <= day for line in position.lines]
    order = position.loan.agreed_terms.order
    steps = (
        (NOTHING if order else LoanAmounts(penalty=parts.penalty) for parts in payoff),
        (
            (parts if order else msgspec.structs.replace(parts, penalty=0)) if due else NOTHING
            for parts, due in zip(payoff, is_due, strict=True)
        ),
        (NOTHING if due else earned_parts(parts) for parts, due in zip(payoff, is_due, strict=True)),
    )
    paid = [NOTHING] * len(payoff)
    for step in steps:
        allocation = allocate(amount, step, order)
        amount -= sum_amounts(allocation).total
        paid = [before + parts for before, parts in zip(paid, allocation, strict=True)]
    if amount:
        running = is_due.index(False)
        paid[running] += LoanAmounts(principal=amount)
    return tuple(paid)


def earned_parts(parts: LoanAmounts) -> LoanAmounts:
    return msgspec.structs.replace(parts, penalty=0, principal=0)


def recompute_schedule(position: LoanPosition, lines: tuple[LoanInstallment, ...]) -> tuple[LoanInstallment, ...]:
    """Returns the installments after principal was prepaid, given `lines` with the payment recorded.

    Installments that are not due yet are recomputed on the remaining principal, over the same due dates. The current
    one keeps the interest earned so far and adds that of its remaining days. At a flat rate interest is charged on the
    whole loan and does not change. Contract: loans#allocation
    """
    loan, day = position.loan, position.day
    past = [line for line in lines if line.due <= day]
    coming = [line for line in lines if line.due > day]
    future_principal = sum(line.principal for line in position.lines if line.due > day) - count_pending(position.lines)
    principal = future_principal - sum(line.paid_principal for line in coming)
    terms, current = msgspec.structs.replace(loan.terms, principal=principal, period=len(coming)), coming[0]
    accrued = interest_earned(current, loan, day)
    first = FirstInterval(
        Fraction((current.due - day).days, interval_days(loan, current)),
        accrued,
        own_paid(current),
        current.paid_tax,
    )
    is_flat = terms.method == FLAT
    own = [own_interest(line) for line in coming] if is_flat else None
    planned = plan_lines(terms, [line.grace for line in coming], first, carried=count_carried(past, coming), own=own)
    changed = [replan(line, plan, parse_rate(terms.tax)) for line, plan in zip(coming, planned, strict=True)]
    if not is_flat:
        changed[0] = msgspec.structs.replace(changed[0], accrued=accrued, accrued_on=day)
    return (*past, *changed)


def schedule_changes(
    before: tuple[LoanInstallment, ...], after: tuple[LoanInstallment, ...]
) -> tuple[LoanAmounts, LoanAmounts]:
    """Returns the decrease and the increase of a schedule's interest and tax."""
    interest = sum(line.interest + line.pending for line in after) - sum(
        line.interest + line.pending for line in before
    )
    tax = sum(line.tax + line.pending_tax for line in after) - sum(line.tax + line.pending_tax for line in before)
    return LoanAmounts(interest=max(0, -interest), tax=max(0, -tax)), LoanAmounts(
        interest=max(0, interest), tax=max(0, tax)
    )


def pay_installment(line: LoanInstallment, parts: LoanAmounts) -> LoanInstallment:
    """Returns the installment with a payment recorded. Prepaid principal may exceed the principal due; it raises it."""
    if not parts.total:
        return line
    paid_principal = line.paid_principal + parts.principal
    line = pay_pending(line, parts) if has_pending(line) else line
    return msgspec.structs.replace(
        line,
        principal=max(line.principal, paid_principal),
        paid_penalty=line.paid_penalty + parts.penalty,
        paid_charge=line.paid_charge + parts.charge,
        paid_vat=line.paid_vat + parts.vat,
        paid_interest=line.paid_interest + parts.interest,
        paid_tax=line.paid_tax + parts.tax,
        paid_principal=paid_principal,
    )


# --- a charge, a waiver -----------------------------------------------------------------------------------------------

PENALTY: Final = "penalty"
INTEREST: Final = "interest"


def charged_line(position: LoanPosition, day: date) -> LoanInstallment:
    """Returns the installment with which a charge of a day is asked for."""
    return position.lines[find_interval([line.due for line in position.lines], day)]


def charge_loan(position: LoanPosition, charge: LineCharge) -> LoanPosition:
    """Returns the position with a charge made. Contract: loans#charge"""
    n = charged_line(position, charge.day).n
    lines = tuple(with_charges(line, (*line.its_charges, charge)) if line.n == n else line for line in position.lines)
    loan = msgspec.structs.replace(position.loan, state=arrears_state(position.loan, lines, position.day))
    return LoanPosition(loan, lines, position.day)


class WaiverResult(msgspec.Struct, frozen=True):
    """The result of a waiver."""

    after: LoanPosition
    waived: LoanAmounts  # what is not asked for any more: also what a loan that this closes would have asked for later


def waive_debt(position: LoanPosition, target: str, amount: int) -> WaiverResult:
    """Waives at most an amount of a charge, of all penalties or of the interest that is due, the oldest first. Interest
    and charges are waived with their tax. A loan of which nothing else is owed is closed. Contract: loans#waive"""
    lines = []
    for line in position.lines:
        waived = waive_of_line(line, target, amount, position.day)
        amount -= line.owed.total - waived.owed.total
        lines.append(waived)
    loan = msgspec.structs.replace(position.loan, state=arrears_state(position.loan, tuple(lines), position.day))
    after = LoanPosition(loan, tuple(lines), position.day)
    if not sum_amounts(after.payoff).total:
        after = close_loan(after, 0).after
    return WaiverResult(after, position.owed - after.owed)


def waive_of_line(line: LoanInstallment, target: str, amount: int, day: date) -> LoanInstallment:
    if target == PENALTY:
        return msgspec.structs.replace(line, penalty=line.penalty - min(amount, line.owed.penalty))
    if target == INTEREST:
        due = line.owed if line.due <= day else NOTHING
        interest, tax = split_with_tax(amount, due.interest, due.tax)
        return msgspec.structs.replace(line, interest=line.interest - interest, tax=line.tax - tax)
    return waive_charge(line, target, amount) if line.charges else line


# --- a write-off ------------------------------------------------------------------------------------------------------


class WriteOffResult(msgspec.Struct, frozen=True):
    """The result of writing a loan off, or parts of it."""

    after: LoanPosition
    written_off: LoanAmounts


def write_off_loan(position: LoanPosition, parts: tuple[str, ...]) -> WriteOffResult:
    """Writes off all that a loan owes, and closes it; or only what is due by the day of the position of some parts, and
    the loan goes on with the rest. Contract: loans#write-off"""
    loan = msgspec.structs.replace(position.loan, state=WRITTEN_OFF)
    if not parts:
        return WriteOffResult(LoanPosition(loan, ask_pending(position.lines), position.day), position.owed)
    lines = tuple(write_off_due(line, parts) if line.due <= position.day else line for line in position.lines)
    after = LoanPosition(position.loan, lines, position.day)
    if after.owed.total:
        loan = msgspec.structs.replace(loan, state=arrears_state(loan, lines, position.day))
    return WriteOffResult(msgspec.structs.replace(after, loan=loan), position.owed - after.owed)


def write_off_due(line: LoanInstallment, parts: tuple[str, ...]) -> LoanInstallment:
    """Returns the installment without what it owes of some parts."""
    # The VAT on charges goes with them.
    parts = (*parts, "vat") if "charge" in parts else parts
    lost = {f"lost_{part}": getattr(line.lost, part) + getattr(line.owed, part) for part in parts}
    return msgspec.structs.replace(line, **lost)
