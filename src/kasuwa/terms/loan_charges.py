"""Charges of a loan: as they are agreed, and as they stand on an installment with what was waived of them.

A charge is an amount or a percentage. It is asked for with an installment: with the first one if it is made when the
loan is paid out, with every one, with the one in whose interval its day lies, or with one that is late. Pure and exact,
as terms/loan_schedule.py. Contract: loans#charges
"""

from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from typing import Final, Literal

import msgspec

from kasuwa.terms.loan_schedule import NO_GRACE, Grace, ScheduledInstallment, parse_rate, share_half_up

ChargeBase = Literal["principal", "installment", "overdue"]
ChargeTime = Literal["disbursement", "installment", "late", "named_day"]
AT_DISBURSEMENT: Final = "disbursement"
PER_INSTALLMENT: Final = "installment"
WHEN_LATE: Final = "late"
ON_NAMED_DAY: Final = "named_day"

# The bases that a percentage may be of, by the time of the charge. The first is the one if none is named.
BASES: dict[str, tuple[ChargeBase, ...]] = {
    AT_DISBURSEMENT: ("principal",),
    PER_INSTALLMENT: ("installment", "principal"),
    WHEN_LATE: ("overdue", "installment", "principal"),
    ON_NAMED_DAY: ("principal",),
}
MAX_CHARGES = 5  # agreed for a loan: a reply has each of them for every installment
MAX_CHARGES_OF_LINE = 50  # that stand on one installment, with those made later


class AgreedCharge(msgspec.Struct, frozen=True, omit_defaults=True):
    """A charge as it is agreed for a loan."""

    name: str
    when: ChargeTime
    amount: int = 0  # in minor units; 0 if it is a percentage
    percent: str = ""  # of `of`; "" if it is an amount
    of: ChargeBase = "principal"
    vat: str = "0"  # percent of the charge, on top of it
    deduct: bool = False  # from what is paid out
    due: date | None = None  # of a named day

    def compute(self, base: int) -> int:
        """Returns the charge without its VAT."""
        return share_half_up(base, parse_rate(self.percent)) if self.percent else self.amount


AllocationPart = Literal["penalty", "charge", "interest", "principal"]
# The VAT on charges and the tax on interest are covered with them.
DEFAULT_ORDER: Final[tuple[AllocationPart, ...]] = ("penalty", "charge", "interest", "principal")
# Whether an installment that is late is charged for the days of its tolerance too.
PenaltyStart = Literal["due", "tolerance"]


class AgreedTerms(msgspec.Struct, frozen=True, omit_defaults=True):
    """The terms of a loan besides its principal, rate and installments, as JSON in the loan's row."""

    charges: tuple[AgreedCharge, ...] = ()
    grace: Grace = NO_GRACE
    order: tuple[AllocationPart, ...] = ()  # in which a repayment covers an installment; empty for DEFAULT_ORDER
    penalty_from: PenaltyStart = "tolerance"
    tops_up: str = ""  # the loan that it pays off when it is paid out; "" if there is none


NO_TERMS = AgreedTerms()
TERMS_DECODER: "msgspec.json.Decoder[AgreedTerms]" = msgspec.json.Decoder(AgreedTerms)


@lru_cache(maxsize=1024)
def read_terms(agreed: str) -> AgreedTerms:
    """Returns the terms of a loan's row, in which "" stands for none."""
    return TERMS_DECODER.decode(agreed) if agreed else NO_TERMS


def write_terms(terms: AgreedTerms) -> str:
    return "" if terms == NO_TERMS else msgspec.json.encode(terms).decode()


class RenewedTerms(msgspec.Struct, frozen=True, omit_defaults=True):
    """The changes by reschedules of the terms of a loan, as JSON in its row."""

    rate: str = ""  # in percent, per interval of its frequency; "" if it is as agreed
    # The due date of one installment and its number, from which later ones are counted; None if they are as agreed.
    anchor: date | None = None
    anchor_n: int = 0


NOT_RENEWED = RenewedTerms()
RENEWED_DECODER: "msgspec.json.Decoder[RenewedTerms]" = msgspec.json.Decoder(RenewedTerms)


@lru_cache(maxsize=1024)
def read_renewed(renewed: str) -> RenewedTerms:
    return RENEWED_DECODER.decode(renewed) if renewed else NOT_RENEWED


def write_renewed(terms: RenewedTerms) -> str:
    return "" if terms == NOT_RENEWED else msgspec.json.encode(terms).decode()


class LineCharge(msgspec.Struct, frozen=True, omit_defaults=True):
    """A charge that stands on an installment. Amounts are in minor units."""

    charge_id: str  # unique in its loan
    name: str
    day: date  # from which it is asked for
    amount: int
    vat: int = 0
    waived: int = 0  # of the amount: waived, or not used because the loan was paid off before
    waived_vat: int = 0
    capitalized: int = 0  # of the amount: became principal of its loan
    capitalized_vat: int = 0

    @property
    def asked(self) -> int:
        return self.amount - self.waived - self.capitalized

    @property
    def asked_vat(self) -> int:
        return self.vat - self.waived_vat - self.capitalized_vat


LINE_CHARGE_DECODER: "msgspec.json.Decoder[LineCharge]" = msgspec.json.Decoder(LineCharge)
LINE_CHARGES_DECODER: "msgspec.json.Decoder[tuple[LineCharge, ...]]" = msgspec.json.Decoder(tuple[LineCharge, ...])


@lru_cache(maxsize=4096)
def read_line_charges(charges: str) -> tuple[LineCharge, ...]:
    """Returns the charges of an installment's row, the oldest first. "" stands for none."""
    return LINE_CHARGES_DECODER.decode(charges) if charges else ()


def write_line_charges(charges: Iterable[LineCharge]) -> str:
    """Returns charges as an installment's row has them, by their days."""
    ordered = sorted(charges, key=lambda charge: charge.day)
    return msgspec.json.encode(ordered).decode() if ordered else ""


def make_line_charge(charge_id: str, charge: AgreedCharge, base: int, day: date) -> LineCharge:
    amount = charge.compute(base)
    return LineCharge(charge_id, charge.name, day, amount, share_half_up(amount, parse_rate(charge.vat)))


def charges_of_schedule(
    terms: AgreedTerms, principal: int, lines: list[ScheduledInstallment], begins: date
) -> list[tuple[LineCharge, ...]]:
    """Returns the charges of each installment of a loan that is paid out on day `begins`, without late ones."""
    charges: list[list[LineCharge]] = [[] for _ in lines]
    for place, charge in enumerate(terms.charges, 1):
        if charge.when == AT_DISBURSEMENT:
            day = begins if charge.deduct else lines[0].due
            charges[0].append(make_line_charge(f"C{place}", charge, principal, day))
        elif charge.when == ON_NAMED_DAY and charge.due is not None:
            n = find_interval([line.due for line in lines], charge.due)
            day = min(max(charge.due, begins), lines[n].due)
            charges[n].append(make_line_charge(f"C{place}", charge, principal, day))
        elif charge.when == PER_INSTALLMENT:
            for line, own in zip(lines, charges, strict=True):
                base = principal if charge.of == "principal" else line.principal + line.interest
                own.append(make_line_charge(f"C{place}.{line.n}", charge, base, line.due))
    return [tuple(own) for own in charges]


def find_interval(due_dates: list[date], day: date) -> int:
    """Returns the place of the first installment that is due on a day or after it, or of the last one."""
    return next((place for place, due in enumerate(due_dates) if due >= day), len(due_dates) - 1)


def most_late_charges(terms: AgreedTerms, principal: int, lines: list[ScheduledInstallment]) -> int:
    """Returns an upper bound of all late charges that a loan may come to."""
    late = [charge for charge in terms.charges if charge.when == WHEN_LATE]
    charges = (make_line_charge("", charge, principal + line.interest, line.due) for charge in late for line in lines)
    return sum(charge.amount + charge.vat for charge in charges)
