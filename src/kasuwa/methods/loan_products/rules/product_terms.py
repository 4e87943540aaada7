"""Reads the terms of a product out of a request, and checks them: all faults at once. Contract: loans#products"""

from collections.abc import Iterator
from decimal import Decimal

import msgspec

from kasuwa.core.decision import FieldError, Merchant, refuse_fields
from kasuwa.core.error_codes import CHARGE_NOT_OF_PRODUCT
from kasuwa.core.money import format_minor
from kasuwa.methods.loan_products.model import Penalty, PercentRange, ProductTerms, WholeRange
from kasuwa.methods.loan_products.wire import CreateProductRequest, PenaltyTerms, ProductRanges, UpdateProductRequest
from kasuwa.methods.loans.rules.agreed_charges import read_charges
from kasuwa.methods.loans.rules.agreed_grace import find_period_faults, read_grace
from kasuwa.methods.loans.wire_grace import GraceTerms
from kasuwa.terms.loan_charges import DEFAULT_ORDER, ON_NAMED_DAY, AgreedTerms
from kasuwa.terms.loan_schedule import MAX_TOLERANCE_DAYS, LendingSettings, parse_rate

# As of a loan without a product (loans/rules/origination.py).
MAX_INSTALLMENTS = 366
FIRST_DUE_OF_LOAN = refuse_fields(FieldError("grace.first_due", "only in a request of a loan", "grace_not_of_product"))
IN_ORDER = "no larger than max"
WITHIN = "from min to max"


# --- field rules --------------------------------------------------------------------------------------------


def check_tax(merchant: Merchant, tax_rate: str | None) -> str | None:
    return None if tax_rate is None or parse_rate(tax_rate) <= 1 else "a percentage from 0 to 100"


def check_penalty(merchant: Merchant, penalty: PenaltyTerms | None) -> str | None:
    if penalty is None:
        return None
    faults = []
    if parse_rate(penalty.rate) > 1:
        faults.append(".rate: a percentage from 0 to 100")
    if int(penalty.tolerance_days or 0) > MAX_TOLERANCE_DAYS:
        faults.append(f".tolerance_days: at most {MAX_TOLERANCE_DAYS}")
    return "; ".join(faults) or None


def check_allocation(merchant: Merchant, allocation: list[str] | None) -> str | None:
    if allocation is None or sorted(allocation) == sorted(DEFAULT_ORDER):
        return None
    return f"each of {', '.join(DEFAULT_ORDER)} once"


def check_ranges(merchant: Merchant, ranges: ProductRanges | None) -> str | None:
    return None if ranges is None else "; ".join(find_range_faults(merchant, ranges)) or None


def find_range_faults(merchant: Merchant, ranges: ProductRanges) -> Iterator[str]:
    least = merchant.limits["NGN"].min_amount
    if ranges.amount.least < least:
        yield f".amount.min: at least {format_minor(least)}"
    if not ranges.period.least:
        yield ".period.min: at least 1"
    if ranges.period.most > MAX_INSTALLMENTS:
        yield f".period.max: at most {MAX_INSTALLMENTS}"
    for name, own in (("amount", ranges.amount), ("period", ranges.period)):
        if own.least > own.most:
            yield f".{name}.min: {IN_ORDER}"
        elif own.default is not None and not own.least <= own.default <= own.most:
            yield f".{name}.default: {WITHIN}"
    rate = ranges.interest_rate
    if Decimal(rate.least) > Decimal(rate.most):
        yield f".interestRate.min: {IN_ORDER}"
    elif rate.default is not None and not Decimal(rate.least) <= Decimal(rate.default) <= Decimal(rate.most):
        yield f".interestRate.default: {WITHIN}"


# --- terms --------------------------------------------------------------------------------------------------


def read_ranges(ranges: ProductRanges) -> tuple[WholeRange, WholeRange, PercentRange]:
    amount, period, rate = ranges.amount, ranges.period, ranges.interest_rate
    return (
        WholeRange(int(amount.least), int(amount.most), int(amount.default or 0)),
        WholeRange(int(period.least), int(period.most), int(period.default or 0)),
        PercentRange(str(rate.least), str(rate.most), str(rate.default or "")),
    )


def make_terms(request: CreateProductRequest, merchant: Merchant) -> ProductTerms:
    amount, period, rate = read_ranges(request.ranges)
    terms = ProductTerms(
        amount, period, rate, request.interest_frequency, request.method or merchant.terms(LendingSettings).method
    )
    return change_terms(terms, request)


def change_terms(terms: ProductTerms, request: CreateProductRequest | UpdateProductRequest) -> ProductTerms:
    """Returns the terms with what a request names."""
    changes: dict[str, object] = {}
    if request.ranges is not None:
        changes |= dict(zip(("amount", "period", "rate"), read_ranges(request.ranges), strict=True))
    if request.interest_frequency is not None:
        changes["frequency"] = request.interest_frequency
    if request.method is not None:
        changes["method"] = request.method
    if request.tax_rate is not None:
        changes["tax_rate"] = str(request.tax_rate)
    if request.penalty is not None:
        changes["penalty"] = Penalty(str(request.penalty.rate), int(request.penalty.tolerance_days or 0))
    return msgspec.structs.replace(terms, **changes, agreed=change_agreed(terms.agreed, request))


def change_agreed(agreed: AgreedTerms, request: CreateProductRequest | UpdateProductRequest) -> AgreedTerms:
    changes: dict[str, object] = {}
    if request.charges is not None:
        changes["charges"] = read_charges(request.charges)
    if request.grace is not None:
        changes["grace"] = read_grace(request.grace)
    if request.allocation is not None:
        order = tuple(request.allocation)
        changes["order"] = () if order == DEFAULT_ORDER else order
    if request.penalty is not None:
        changes["penalty_from"] = request.penalty.since or "tolerance"
    return msgspec.structs.replace(agreed, **changes)


def find_term_faults(terms: ProductTerms, grace: GraceTerms | None) -> list[FieldError]:
    """Returns what does not go together in the terms of a product."""
    faults = [
        FieldError(f"charges[{place}].when", "not on a named day: a product has no days", CHARGE_NOT_OF_PRODUCT)
        for place, charge in enumerate(terms.agreed.charges)
        if charge.when == ON_NAMED_DAY
    ]
    if grace is not None and grace.first_due is not None:
        faults += FIRST_DUE_OF_LOAN.field_errors
    faults += [
        FieldError(fault.field, f"less than ranges.period.min, {terms.period.least}")
        for fault in find_period_faults(terms.agreed.grace, terms.period.least)
    ]
    return faults
