"""Checks and reads the charges that a request agrees on with a loan. Contract: loans#charges"""

from collections.abc import Iterable, Iterator, Sequence

from kasuwa.core.decision import Merchant
from kasuwa.methods.loans.wire_charges import ChargeTerms
from kasuwa.terms.loan_charges import AT_DISBURSEMENT, BASES, ON_NAMED_DAY, AgreedCharge
from kasuwa.terms.loan_schedule import parse_rate


def check_charges(merchant: Merchant, charges: Sequence[ChargeTerms] | None) -> str | None:
    """Returns what is wrong with the charges of a request, each fault with its place, or None."""
    faults = [f"[{place}].{fault}" for place, charge in enumerate(charges or ()) for fault in find_faults(charge)]
    return "; ".join(faults) or None


def find_faults(charge: ChargeTerms) -> Iterator[str]:
    if (charge.amount is None) == (charge.percent is None):
        yield "amount: either it or percent"
    yield from find_percent_faults(charge)
    if charge.deduct and charge.when != AT_DISBURSEMENT:
        yield f"deduct: only of a charge of {AT_DISBURSEMENT}"
    if (charge.due is None) == (charge.when == ON_NAMED_DAY):
        yield f"due: required of a charge of {ON_NAMED_DAY}, and of no other"


def find_percent_faults(charge: ChargeTerms) -> Iterator[str]:
    if charge.percent is not None and parse_rate(charge.percent) > 1:
        yield "percent: from 0 to 100"
    if charge.vat is not None and parse_rate(charge.vat) > 1:
        yield "vat: from 0 to 100"
    if charge.of is not None and charge.percent is None:
        yield "of: only with percent"
    elif charge.of is not None and charge.of not in BASES[charge.when]:
        yield f"of: one of {', '.join(BASES[charge.when])} for a charge of {charge.when}"


def read_charges(charges: Iterable[ChargeTerms]) -> tuple[AgreedCharge, ...]:
    return tuple(
        AgreedCharge(
            name=charge.name,
            when=charge.when,
            amount=int(charge.amount or 0),
            percent=str(charge.percent or ""),
            of=charge.of or BASES[charge.when][0],
            vat=str(charge.vat or "0"),
            deduct=bool(charge.deduct),
            due=None if charge.due is None else charge.due.plain(),
        )
        for charge in charges
    )
