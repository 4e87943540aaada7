"""Rule of a request for a loan of a product: what it leaves out comes from the product, and what is outside a range is
refused, all faults at once. Contract: loans#products
"""

from decimal import Decimal
from typing import Protocol

import msgspec

from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    Refusal,
    refuse_fields,
)
from kasuwa.core.error_codes import FIELD_REQUIRED
from kasuwa.core.money import format_minor
from kasuwa.methods.loan_products.model import (
    CLOSED,
    PRODUCT_CLOSED,
    UNKNOWN_PRODUCT,
    LoanProduct,
    ProductTerms,
    need_product,
    product_key,
)
from kasuwa.methods.loan_products.wire import ProductLoanRequest
from kasuwa.methods.loans.model import Loan
from kasuwa.methods.loans.rules.agreed_grace import find_grace_faults, find_period_faults, read_grace
from kasuwa.methods.loans.rules.origination import find_borrower, make_loan, need_borrower, offer_loan
from kasuwa.methods.loans.wire import LoanReply, LoanRequest
from kasuwa.methods.loans.wire_grace import GraceTerms
from kasuwa.terms.loan_charges import write_terms
from kasuwa.terms.loan_schedule import Grace, parse_rate
from kasuwa.wire.fields import Amount, NonNegativeInt, PercentRate
from kasuwa.wire.interest_wire import InterestSettings

OUTSIDE_RANGE = "outside_product_range"


class ChosenTerms(Protocol):
    """Terms of a product that a request chooses, for one loan or for those of a group."""

    period: NonNegativeInt | None
    interest_settings: InterestSettings | None
    grace: GraceTerms | None


def need_product_loan(request: ProductLoanRequest, merchant: Merchant) -> Needs:
    product = need_product(merchant.merchant_id, request.product_id)
    return Needs((*need_borrower(request.client_id, merchant).rows, *product.rows))


def decide_product_loan(
    request: ProductLoanRequest, context: Context, rows: LoadedRows
) -> Decision[LoanReply] | Refusal:
    client = find_borrower(request.client_id, context, rows)
    if isinstance(client, Refusal):
        return client
    product = find_product(request.product_id, context, rows)
    if isinstance(product, Refusal):
        return product
    terms = product.its_terms
    faults = find_faults(request, terms)
    if faults:
        return refuse_fields(*faults)
    return offer_loan(make_product_loan(request, product, terms, context), client, bool(request.dry_run), context)


def find_product(product_id: str, context: Context, rows: LoadedRows) -> LoanProduct | Refusal:
    """Returns the product of a request for a loan. It must be open."""
    product = rows.get(LoanProduct, product_key(context.merchant.merchant_id, product_id))
    if product is None:
        return UNKNOWN_PRODUCT
    return PRODUCT_CLOSED if product.state == CLOSED else product


def make_product_loan(request: ProductLoanRequest, product: LoanProduct, terms: ProductTerms, context: Context) -> Loan:
    """Returns the new loan, with a copy of the terms of its product."""
    settings = request.interest_settings
    loan = make_loan(
        LoanRequest(
            client_id=request.client_id,
            officer=request.officer,
            branch=request.branch,
            interest_settings=InterestSettings(
                interest_rate=PercentRate(terms.rate.default) if settings is None else settings.interest_rate,
                interest_frequency=terms.frequency,  # type: ignore[arg-type]
            ),
            amount=Amount(terms.amount.default) if request.amount is None else request.amount,
            period=NonNegativeInt(terms.period.default) if request.period is None else request.period,
            tax_applied=bool(parse_rate(terms.tax_rate)),
            tax_rate=PercentRate(terms.tax_rate),
            method=terms.method,  # type: ignore[arg-type]
        ),
        context,
    )
    agreed = msgspec.structs.replace(terms.agreed, grace=find_grace(request, terms))
    loan = msgspec.structs.replace(loan, agreed=write_terms(agreed), product=product.product_id)
    if terms.penalty is None:
        return loan
    penalty = terms.penalty
    return msgspec.structs.replace(loan, penalty_rate=penalty.rate, tolerance_days=penalty.tolerance_days)


def find_grace(request: ChosenTerms, terms: ProductTerms) -> Grace:
    """Returns the grace of a loan. A request that has only a first due date has the grace of its product besides."""
    if request.grace is None:
        return terms.agreed.grace
    chosen_grace, own = read_grace(request.grace), terms.agreed.grace
    if request.grace.principal is None and request.grace.interest is None:
        return msgspec.structs.replace(own, first_due=chosen_grace.first_due)
    if request.grace.capitalize is not None:
        return chosen_grace
    return msgspec.structs.replace(chosen_grace, capitalize=own.capitalize)


# --- faults -------------------------------------------------------------------------------------------------


def find_faults(request: ProductLoanRequest, terms: ProductTerms) -> list[FieldError]:
    """Returns all that is outside the ranges of a product, or missing and without a default."""
    return [*find_amount_faults(request.amount, terms, "amount"), *find_faults_of_terms(request, terms)]


def find_amount_faults(amount: int | None, terms: ProductTerms, field: str) -> list[FieldError]:
    return check_range(field, amount, terms.amount.least, terms.amount.most, terms.amount.default, format_minor)


def find_faults_of_terms(request: ChosenTerms, terms: ProductTerms) -> list[FieldError]:
    """Returns the faults of all terms but the amount."""
    period = terms.period
    faults = [
        *check_range("period", request.period, period.least, period.most, period.default, str),
        *find_rate_faults(request.interest_settings, terms),
    ]
    chosen = choose_period(request, terms)
    return [*faults, *find_product_grace_faults(find_grace(request, terms), terms.agreed.grace, chosen)]


def choose_period(request: ChosenTerms, terms: ProductTerms) -> int:
    """Returns the number of installments; 0 if it is missing and has no default."""
    return terms.period.default if request.period is None else int(request.period)


def check_range(field: str, value: int | None, least: int, most: int, default: int, show: object) -> list[FieldError]:
    assert callable(show)
    if value is None:
        return [] if default else [FieldError(field, "required: the product has no default", FIELD_REQUIRED)]
    if least <= value <= most:
        return []
    return [FieldError(field, f"from {show(least)} to {show(most)}, the range of the product", OUTSIDE_RANGE)]


def find_rate_faults(settings: InterestSettings | None, terms: ProductTerms) -> list[FieldError]:
    field, rate = "interestSettings.interestRate", terms.rate
    if settings is None:
        return [] if rate.default else [FieldError(field, "required: the product has no default", FIELD_REQUIRED)]
    faults = []
    if not Decimal(rate.least) <= Decimal(settings.interest_rate) <= Decimal(rate.most):
        reason = f"from {rate.least} to {rate.most}, the range of the product"
        faults.append(FieldError(field, reason, OUTSIDE_RANGE))
    if settings.interest_frequency != terms.frequency:
        reason = f"{terms.frequency}, that of the product"
        faults.append(FieldError("interestSettings.interestFrequency", reason, OUTSIDE_RANGE))
    return faults


def find_product_grace_faults(grace: Grace, own: Grace, period: int) -> list[FieldError]:
    faults = []
    for name in ("principal", "interest"):
        if getattr(grace, name) > getattr(own, name):
            reason = f"from 0 to {getattr(own, name)}, the range of the product"
            faults.append(FieldError(f"grace.{name}", reason, OUTSIDE_RANGE))
    if grace.interest and grace.capitalize != own.capitalize:
        faults.append(FieldError("grace.capitalize", "that of the product", OUTSIDE_RANGE))
    return faults or [*find_grace_faults(grace), *(find_period_faults(grace, period) if period else ())]
