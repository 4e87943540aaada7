"""The charges on the installments of a loan: as agreed, when one becomes late, made later, waived.

Each takes an installment and returns it with its sums as its charges have them. Contract: loans#charges
"""

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

import msgspec

from kasuwa.methods.loans.model import Loan, LoanInstallment
from kasuwa.terms.loan_charges import (
    WHEN_LATE,
    AgreedCharge,
    LineCharge,
    charges_of_schedule,
    make_line_charge,
    write_line_charges,
)
from kasuwa.terms.loan_schedule import LoanAmounts, ScheduledInstallment, late_on, split_with_tax


def with_charges(line: LoanInstallment, charges: Iterable[LineCharge]) -> LoanInstallment:
    """Returns the installment with these charges in place of its own."""
    charges = tuple(charges)
    return msgspec.structs.replace(
        line,
        charges=write_line_charges(charges),
        charge=sum(charge.asked for charge in charges),
        vat=sum(charge.asked_vat for charge in charges),
    )


def made_charge_id(n: int) -> str:
    """Returns the id of the charge that an act made. Those of agreed charges begin with C."""
    return f"A{n}"


def add_agreed_charges(
    loan: Loan, lines: tuple[LoanInstallment, ...], schedule: list[ScheduledInstallment], begins: date
) -> tuple[LoanInstallment, ...]:
    """Returns the installments of a loan that is paid out on day `begins`, with the charges that are agreed for it.
    What is deducted from the payout is paid."""
    terms = loan.agreed_terms
    charges = charges_of_schedule(terms, loan.amount, schedule, begins)
    lines = tuple(with_charges(line, own) if own else line for line, own in zip(lines, charges, strict=True))
    deducted = deducted_parts(loan)
    first = msgspec.structs.replace(lines[0], paid_charge=deducted.charge, paid_vat=deducted.vat)
    return (first, *lines[1:])


def deducted_parts(loan: Loan) -> LoanAmounts:
    """Returns the charges that are deducted from what a loan pays out, and their VAT."""
    deducted = (charge for charge in loan.agreed_terms.charges if charge.deduct)
    charges = [make_line_charge("", charge, loan.amount, date.min) for charge in deducted]
    return LoanAmounts(charge=sum(charge.amount for charge in charges), vat=sum(charge.vat for charge in charges))


def add_late_charges(line: LoanInstallment, loan: Loan, aged_to: date, day: date) -> LoanInstallment:
    """Returns the installment with the charges of the day on which it became late, if that is after `aged_to`."""
    if day <= line.due or not loan.agreed:
        return line
    since = late_on(line.due, loan.tolerance_days)
    if not aged_to < since <= day or not line.owed.total:
        return line
    late = [
        make_line_charge(f"C{place}.{line.n}", charge, late_base(charge, line, loan), since)
        for place, charge in enumerate(loan.agreed_terms.charges, 1)
        if charge.when == WHEN_LATE
    ]
    return with_charges(line, (*line.its_charges, *(charge for charge in late if charge.amount))) if late else line


def late_base(charge: AgreedCharge, line: LoanInstallment, loan: Loan) -> int:
    """Returns the amount that a late charge is a percentage of."""
    if charge.of == "principal":
        return loan.amount
    if charge.of == "installment":
        return line.principal + line.interest
    return line.owed.principal + line.owed.interest


def asked_charges(line: LoanInstallment, day: date) -> tuple[int, int]:
    """Returns what is owed on a day of an installment's charges and of their VAT. Later ones are not asked for yet."""
    if not line.charges:
        return 0, 0
    charges = [charge for charge in line.its_charges if charge.day <= day]
    charge = sum(one.asked for one in charges) - line.paid_charge - line.lost_charge
    return max(0, charge), max(0, sum(one.asked_vat for one in charges) - line.paid_vat - line.lost_vat)


class CoveredCharge(NamedTuple):
    """A charge, and what was paid and is owed of it: neither was paid nor written off."""

    charge: LineCharge
    paid: int
    paid_vat: int
    owed: int
    owed_vat: int


def cover_charges(line: LoanInstallment) -> list[CoveredCharge]:
    """Returns the charges of an installment with what was paid of each, the oldest first. What was written off is taken
    from what is not paid, the oldest first."""
    charges = line.its_charges
    paid = cover_in_order(line.paid_charge, [charge.asked for charge in charges])
    paid_vat = cover_in_order(line.paid_vat, [charge.asked_vat for charge in charges])
    left = [charge.asked - own for charge, own in zip(charges, paid, strict=True)]
    left_vat = [charge.asked_vat - own for charge, own in zip(charges, paid_vat, strict=True)]
    lost, lost_vat = cover_in_order(line.lost_charge, left), cover_in_order(line.lost_vat, left_vat)
    return [
        CoveredCharge(
            charge, paid[place], paid_vat[place], left[place] - lost[place], left_vat[place] - lost_vat[place]
        )
        for place, charge in enumerate(charges)
    ]


def cover_in_order(amount: int, wanted: list[int]) -> list[int]:
    covered = []
    for one in wanted:
        covered.append(min(amount, one))
        amount -= covered[-1]
    return covered


def drop_unpaid_charges(line: LoanInstallment) -> LoanInstallment:
    """Returns the installment of a loan that is paid off, without the charges that it asks for no more."""
    if not line.charges:
        return line
    return with_charges(line, (waive_of_charge(one, one.owed, one.owed_vat) for one in cover_charges(line)))


def waive_of_charge(one: CoveredCharge, amount: int, vat: int) -> LineCharge:
    charge = one.charge
    return msgspec.structs.replace(charge, waived=charge.waived + amount, waived_vat=charge.waived_vat + vat)


def waive_charge(line: LoanInstallment, charge_id: str, amount: int) -> LoanInstallment:
    """Returns the installment with at most an amount of a charge waived, its VAT in proportion."""
    charges = []
    for one in cover_charges(line):
        waived = split_with_tax(amount, one.owed, one.owed_vat) if one.charge.charge_id == charge_id else (0, 0)
        charges.append(waive_of_charge(one, *waived))
    return with_charges(line, charges)


def capitalize_charges(line: LoanInstallment) -> LoanInstallment:
    """Returns the installment without what it asks for of its charges, which becomes principal."""
    if not line.charges:
        return line
    return with_charges(
        line,
        (
            msgspec.structs.replace(
                one.charge,
                capitalized=one.charge.capitalized + one.owed,
                capitalized_vat=one.charge.capitalized_vat + one.owed_vat,
            )
            for one in cover_charges(line)
        ),
    )
