"""Requests and replies of loan products. Docstrings are the descriptions in the OpenAPI document.

Contract: loans#products
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType, field

from kasuwa.methods.loans.wire_charges import AgreedChargeRecord, Charges
from kasuwa.methods.loans.wire_grace import GraceRecord, GraceTerms
from kasuwa.terms.loan_charges import AllocationPart, PenaltyStart
from kasuwa.terms.loan_schedule import RepaymentMethod
from kasuwa.wire.fields import FREE_TEXT, Amount, NonNegativeInt, PercentRate, Reference
from kasuwa.wire.interest_wire import DryRunFigure, Frequency, InterestSettings
from kasuwa.wire.paging import Paged

ProductName = Annotated[
    str, msgspec.Meta(min_length=1, max_length=100, description="1 to 100 characters", extra=FREE_TEXT)
]
Allocation = Annotated[
    list[AllocationPart], msgspec.Meta(min_length=4, max_length=4, description="each of the four parts once")
]


class AmountRange(msgspec.Struct, kw_only=True):
    """The amounts that loans of a product may have."""

    least: Amount = field(name="min")
    "The smallest amount, in naira."
    most: Amount = field(name="max")
    "The largest amount, in naira."
    default: Amount | None = None
    "The amount of a request that names none. Without it a request must name one."


class PeriodRange(msgspec.Struct, kw_only=True):
    """The numbers of installments that loans of a product may have."""

    least: NonNegativeInt = field(name="min")
    "The smallest number of installments."
    most: NonNegativeInt = field(name="max")
    "The largest number of installments, at most 366."
    default: NonNegativeInt | None = None
    "The number of a request that names none. Without it a request must name one."


class RateRange(msgspec.Struct, kw_only=True):
    """The interest rates that loans of a product may have."""

    least: PercentRate = field(name="min")
    "The lowest rate, in percent per interval of `interestFrequency`."
    most: PercentRate = field(name="max")
    "The highest rate."
    default: PercentRate | None = None
    "The rate of a request that names none. Without it a request must name one."


class ProductRanges(msgspec.Struct, kw_only=True):
    """The ranges within which a request may choose."""

    amount: AmountRange
    "The amounts."
    period: PeriodRange
    "The numbers of installments."
    interest_rate: RateRange = field(name="interestRate")
    "The interest rates."


class PenaltyTerms(msgspec.Struct, kw_only=True):
    """The cost of lateness."""

    rate: PercentRate
    "Penalty in percent of the overdue principal for each day, from 0 to 100."
    tolerance_days: NonNegativeInt | None = None
    "Days after the due date before an installment is late, at most 365. Default 0."
    since: PenaltyStart | None = field(name="from", default=None)
    """`tolerance`: the days of tolerance are free, also of an installment that becomes late. `due`: once it is late,
    they are charged too. Default `tolerance`."""


class CreateProductRequest(msgspec.Struct, kw_only=True):
    """Creates a product: the terms that loans of it have, and the ranges within which a request may choose."""

    name: ProductName
    "What the product is called."
    code: Reference
    "Your code of the product. No other product has it, also not a closed one."
    ranges: ProductRanges
    "What a request may choose."
    interest_frequency: Frequency = field(name="interestFrequency")
    "The interval that the rates are for, and with it the interval between installments."
    method: RepaymentMethod | None = None
    "How installments are calculated. Default: your lending setting when the product is created."
    tax_rate: PercentRate | None = None
    "Tax in percent of the interest, from 0 to 100. Default: no tax."
    penalty: PenaltyTerms | None = None
    "What lateness costs. Default: your lending setting when a loan is requested."
    grace: GraceTerms | None = None
    "A grace period that every loan of the product has. Without `first_due`, which a request may have."
    charges: Charges | None = None
    "Charges that every loan of the product has. None on a named day."
    allocation: Allocation | None = None
    """The order in which a repayment covers an installment that is due: `penalty`, `charge` with its VAT, `interest`
    with its tax, `principal`. Default: in this order, and the penalties of all installments first."""
    dry_run: bool | None = None
    "If true, the reply shows the product and a loan of its defaults, and nothing is stored."


class UpdateProductRequest(msgspec.Struct, kw_only=True):
    """Changes a product for new loans. Loans that were requested before keep their terms. What is left out stays, and
    one term is named at least."""

    product_id: Reference
    "The product."
    name: ProductName | None = None
    "What the product is called."
    ranges: ProductRanges | None = None
    "What a request may choose."
    interest_frequency: Frequency | None = field(name="interestFrequency", default=None)
    "The interval that the rates are for, and with it the interval between installments."
    method: RepaymentMethod | None = None
    "How installments are calculated."
    tax_rate: PercentRate | None = None
    "Tax in percent of the interest, from 0 to 100."
    penalty: PenaltyTerms | None = None
    "What lateness costs."
    grace: GraceTerms | None = None
    "The grace period. An empty object ends it."
    charges: Charges | None = None
    "The charges. An empty array ends them."
    allocation: Allocation | None = None
    "The order in which a repayment covers an installment that is due."
    dry_run: bool | None = None
    "If true, the reply shows the product as it would be, and nothing is changed."


class CloseProductRequest(msgspec.Struct, kw_only=True):
    """Closes a product: no loan of it can be requested any more. Those that were requested go on."""

    product_id: Reference
    "The product."
    dry_run: bool | None = None
    "If true, the reply says what would happen, and nothing is changed."


class ListProductsRequest(Paged, kw_only=True):
    """Lists products, newest first."""

    state: Literal["open", "closed"] | None = None
    "Lists those in this state alone."


class ViewProductRequest(msgspec.Struct, kw_only=True):
    """Names the product to view."""

    product_id: Reference
    "The product."


class ProductLoanRequest(msgspec.Struct, kw_only=True):
    """Requests a loan of a product for an active client. What the request leaves out comes from the product, and what
    is outside its ranges is refused. The terms are copied into the loan."""

    client_id: Reference
    "The client who borrows. The client must be active."
    product_id: Reference
    "The product. It must be open."
    officer: Reference | None = None
    "Who of your people answers for the loan, in a code of yours. `portfolio` counts by it."
    branch: Reference | None = None
    "Your branch that makes the loan, in a code of yours. `portfolio` counts by it."
    amount: Amount | None = None
    "Principal of the loan, in naira, within the range of the product. Default: as the product says."
    period: NonNegativeInt | None = None
    "Number of installments, within the range of the product. Default: as the product says."
    interest_settings: InterestSettings | None = field(name="interestSettings", default=None)
    "The interest rate, within the range of the product, for its `interestFrequency`. Default: as the product says."
    grace: GraceTerms | None = None
    "A grace period with at most as many installments as that of the product, or a first due date."
    dry_run: bool | None = None
    "If true, the reply shows the loan and explains its figures, and nothing is stored."


# --- replies ----------------------------------------------------------------------------------------------------------


class AmountRangeRecord(msgspec.Struct, kw_only=True):
    """The amounts of a product, in naira."""

    least: str = field(name="min")
    "The smallest amount."
    most: str = field(name="max")
    "The largest amount."
    default: str | UnsetType = UNSET
    "The amount of a request that names none. Absent if a request must name one."


class PeriodRangeRecord(msgspec.Struct, kw_only=True):
    """The numbers of installments of a product."""

    least: int = field(name="min")
    "The smallest number."
    most: int = field(name="max")
    "The largest number."
    default: int | UnsetType = UNSET
    "The number of a request that names none. Absent if a request must name one."


class RateRangeRecord(msgspec.Struct, kw_only=True):
    """The interest rates of a product, in percent."""

    least: str = field(name="min")
    "The lowest rate."
    most: str = field(name="max")
    "The highest rate."
    default: str | UnsetType = UNSET
    "The rate of a request that names none. Absent if a request must name one."


class RangeRecords(msgspec.Struct, kw_only=True):
    """The ranges of a product."""

    amount: AmountRangeRecord
    "Amounts, in naira."
    period: PeriodRangeRecord
    "Numbers of installments."
    interest_rate: RateRangeRecord = field(name="interestRate")
    "Interest rates, in percent."


class PenaltyRecord(msgspec.Struct, kw_only=True):
    """The cost of lateness with a product."""

    rate: str
    "Penalty in percent of the overdue principal for each day."
    tolerance_days: int
    "Days after the due date before an installment is late."
    since: PenaltyStart = field(name="from")
    "Whether the days of tolerance are charged once an installment is late (`due`), or never (`tolerance`)."


class ProductLoans(msgspec.Struct, kw_only=True):
    """The numbers of a product's loans."""

    requested: int
    "Loans that are not paid out yet."
    active: int
    "Loans that owe something, with those that are late."
    in_arrears: int
    "Of these, loans that are late, by the state of last night."
    closed: int
    "Loans that are closed."
    lent: str
    "Sum of the amounts that were paid out, in naira."


class ProductRecord(msgspec.Struct, kw_only=True):
    """A loan product."""

    product_id: str | None
    "Identifier of the product, made by the service. Null in the dry run of `create_product`."
    code: str
    "Your code of the product."
    name: str
    "What the product is called."
    state: Literal["open", "closed"]
    "Whether loans of it can be requested."
    ranges: RangeRecords
    "What a request may choose."
    interest_frequency: Frequency = field(name="interestFrequency")
    "The interval that the rates are for."
    method: RepaymentMethod
    "How installments are calculated."
    tax_rate: str
    "Tax in percent of the interest."
    penalty: PenaltyRecord | UnsetType = UNSET
    "What lateness costs. Absent if your lending setting says it."
    grace: GraceRecord | UnsetType = UNSET
    "The grace period of its loans. Absent if they have none."
    charges: list[AgreedChargeRecord] | UnsetType = UNSET
    "The charges of its loans. Absent if they have none."
    allocation: list[AllocationPart]
    "The order in which a repayment covers an installment that is due."
    loans: ProductLoans | UnsetType = UNSET
    "The numbers of its loans, in `list_products` and `view_product`."
    date_created: str = field(name="dateCreated")
    "Time at which it was created, in UTC."
    date_changed: str | UnsetType = field(name="dateChanged", default=UNSET)
    "Time of the newest change, in UTC. Absent if there was none."
    date_closed: str | UnsetType = field(name="dateClosed", default=UNSET)
    "Time at which it was closed, in UTC. Absent while it is open."


class ProductReply(msgspec.Struct, kw_only=True):
    """A product, after a change if the request had one."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: ProductRecord
    "The product."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a loan of its defaults, in a dry run. Absent if a range has no default."


class ProductListReply(msgspec.Struct, kw_only=True):
    """One page of products, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[ProductRecord]
    "The products."
    total: int
    "Number of matching products on all pages."
    offset: int
    "Number of products that were skipped."
    limit: int
    "Largest number of products on this page. The next page begins at `offset` + `limit`."
