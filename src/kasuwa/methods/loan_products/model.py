"""Rows of loan products: the terms that new loans have, and the ranges within which a request may choose.

    open ── close_product ──▶ closed

A product decides about money, so its row has a code. Loans have copies of its terms: a change is for new loans alone.

Contract: loans#products
"""

from datetime import datetime
from hashlib import blake2b
from typing import ClassVar, Final

import msgspec
from msgspec import UNSET

from kasuwa.core.calendar import utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Needs, Refusal, Row
from kasuwa.core.money import format_minor
from kasuwa.core.references import first_number, opaque_id, row_key
from kasuwa.methods.loan_products.wire import (
    AmountRangeRecord,
    PenaltyRecord,
    PeriodRangeRecord,
    ProductRecord,
    RangeRecords,
    RateRangeRecord,
)
from kasuwa.methods.loans.rules.agreed_grace import describe_grace
from kasuwa.methods.loans.rules.loan_record import describe_agreed_charge
from kasuwa.terms.loan_charges import DEFAULT_ORDER, AgreedTerms
from kasuwa.terms.loan_schedule import NO_GRACE

PRODUCT_PREFIX: Final = "LP"
OPEN: Final = "open"
CLOSED: Final = "closed"

UNKNOWN_PRODUCT = Refusal(INVALID_REQUEST, "Invalid Product Reference", error_code="product_not_found")
PRODUCT_CLOSED = Refusal(
    INVALID_REQUEST, "The product is closed: no loan of it can be requested", error_code="product_closed"
)


class WholeRange(msgspec.Struct, frozen=True, omit_defaults=True):
    """A range of whole numbers: amounts in minor units, or installments."""

    least: int
    most: int
    default: int = 0  # 0 if there is none


class PercentRange(msgspec.Struct, frozen=True, omit_defaults=True):
    """A range of percentages, as text."""

    least: str
    most: str
    default: str = ""  # "" if there is none


class Penalty(msgspec.Struct, frozen=True):
    """The cost of lateness. Its start is among the agreed terms."""

    rate: str
    tolerance_days: int


class ProductTerms(msgspec.Struct, frozen=True, omit_defaults=True):
    """The terms of a product, as JSON in its row."""

    amount: WholeRange
    period: WholeRange
    rate: PercentRange
    frequency: str
    method: str
    tax_rate: str = "0"
    penalty: Penalty | None = None  # None: the merchant's lending setting
    agreed: AgreedTerms = AgreedTerms()  # charges, grace, order and start of penalties


TERMS_DECODER: "msgspec.json.Decoder[ProductTerms]" = msgspec.json.Decoder(ProductTerms)


class LoanProduct(Row):
    """A loan product."""

    table: ClassVar[str] = "loan_product"
    coded_columns: ClassVar[tuple[str, ...]] = ("product_id", "code", "state", "terms")
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "name",
        "state",
        "terms",
        "changed_at",
        "closed_at",
        "events",
        "row_code",
    )

    product_id: str
    number: int  # the merchant's running number; lists are ordered by it
    code: str  # the merchant's own
    name: str
    state: str
    terms: str  # a ProductTerms
    created_at: datetime
    changed_at: datetime | None = None
    closed_at: datetime | None = None
    events: int = 0  # number of its events so far
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False

    @property
    def its_terms(self) -> ProductTerms:
        return TERMS_DECODER.decode(self.terms)


def make_product_id(merchant_id: int, code: str) -> str:
    """Returns the id of a product. It follows from its merchant and code, so that a code is used once, and copies of
    the books have the same ids.

    The code is hashed, because it may be longer than the 64 bytes that an id is derived from."""
    return opaque_id(PRODUCT_PREFIX, blake2b(f"product {first_number(merchant_id)} {code}".encode()).digest())


def product_key(merchant_id: int, product_id: str) -> bytes:
    return row_key(merchant_id, LoanProduct.table, product_id)


def need_product(merchant_id: int, product_id: str) -> Needs:
    return Needs(((LoanProduct, product_key(merchant_id, product_id)),))


def make_product_record(product: LoanProduct) -> ProductRecord:
    terms = product.its_terms
    agreed = terms.agreed
    return ProductRecord(
        product_id=product.product_id,
        code=product.code,
        name=product.name,
        state=product.state,  # type: ignore[arg-type]
        ranges=RangeRecords(
            amount=AmountRangeRecord(
                least=format_minor(terms.amount.least),
                most=format_minor(terms.amount.most),
                default=format_minor(terms.amount.default) if terms.amount.default else UNSET,
            ),
            period=PeriodRangeRecord(
                least=terms.period.least, most=terms.period.most, default=terms.period.default or UNSET
            ),
            interest_rate=RateRangeRecord(
                least=terms.rate.least, most=terms.rate.most, default=terms.rate.default or UNSET
            ),
        ),
        interest_frequency=terms.frequency,  # type: ignore[arg-type]
        method=terms.method,  # type: ignore[arg-type]
        tax_rate=terms.tax_rate,
        penalty=UNSET if terms.penalty is None else describe_penalty(terms.penalty, agreed),
        grace=UNSET if agreed.grace == NO_GRACE else describe_grace(agreed.grace),
        charges=[describe_agreed_charge(charge) for charge in agreed.charges] or UNSET,
        allocation=list(agreed.order or DEFAULT_ORDER),
        date_created=utc_text(product.created_at),
        date_changed=UNSET if product.changed_at is None else utc_text(product.changed_at),
        date_closed=UNSET if product.closed_at is None else utc_text(product.closed_at),
    )


def describe_penalty(penalty: Penalty, agreed: AgreedTerms) -> PenaltyRecord:
    return PenaltyRecord(rate=penalty.rate, tolerance_days=penalty.tolerance_days, since=agreed.penalty_from)
