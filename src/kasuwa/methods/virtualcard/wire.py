"""What `PUT /virtualcard` takes and answers, and what the test environment can do to a card.

Contract: virtualcard#create
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.core.fields import END, FREE_TEXT, Amount, ChosenCurrency, Currency, LagosDate, Reference
from kasuwa.core.paging import Paged

Line = Annotated[str, Meta(min_length=1, max_length=200, description="1 to 200 characters", extra=FREE_TEXT)]
PostalText = Annotated[str, Meta(min_length=1, max_length=20, description="1 to 20 characters, or a whole number")]
PostalNumber = Annotated[int, Meta(ge=0, le=10**12)]
Country = Annotated[str, Meta(pattern="^[A-Za-z]{2,3}" + END, max_length=3, description="a country code such as NG")]
CardType = Annotated[str, Meta(pattern="^[a-z]{2,16}" + END, max_length=16, description="a card network such as visa")]
Category = Annotated[str, Meta(pattern="^[0-9]{4}" + END, max_length=4, description="a category code of four digits")]
Categories = Annotated[list[Category], Meta(max_length=50, description="at most 50 category codes of four digits")]
CardNumber = Annotated[str, Meta(pattern="^[0-9]{12,19}" + END, max_length=19, description="12 to 19 digits")]
Cvv = Annotated[str, Meta(pattern="^[0-9]{3}" + END, max_length=3, description="three digits")]
Expiry = Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}" + END, max_length=7, description="a month such as 2029-01")]


class CardCurrency(ChosenCurrency):
    """A currency that cards can be held in."""

    __slots__ = ()
    allowed = ("USD", "NGN")
    reason = "one of USD, NGN"


class Billing(msgspec.Struct, kw_only=True):
    address: Line
    name: Line
    city: Line
    state: Line
    postal_code: PostalText | PostalNumber


class SpendingLimits(msgspec.Struct, kw_only=True):
    """What may be spent with a card at once, in a Lagos day and in a month, and in which categories of shops; what is
    left out is not bounded, and no categories means all."""

    per_transaction: Amount | None = None
    per_day: Amount | None = None
    per_month: Amount | None = None
    categories: Categories | None = None


class CreateRequest(msgspec.Struct, kw_only=True):
    billing: Billing
    amount: Amount
    currency: CardCurrency
    country: Country | None = None
    card_type: CardType | None = None
    limits: SpendingLimits | None = None
    dry_run: bool | None = None


class CardRequest(msgspec.Struct, kw_only=True):
    """A card, by the reference it was given when it was created."""

    reference: Reference
    dry_run: bool | None = None


class AmountRequest(msgspec.Struct, kw_only=True):
    """So much of a card's currency, which `currency` may name."""

    reference: Reference
    amount: Amount
    currency: CardCurrency | None = None
    dry_run: bool | None = None


class LimitsRequest(msgspec.Struct, kw_only=True):
    """A card's limits from now on: they take the place of those it had."""

    reference: Reference
    limits: SpendingLimits
    dry_run: bool | None = None


class GetRequest(msgspec.Struct, kw_only=True):
    """Number and CVV are masked unless `reveal` is true; that is written to the audit trail."""

    reference: Reference
    reveal: bool | None = None


class TransactionsRequest(Paged, kw_only=True):
    """Both days are included; without any, the last 30 days."""

    reference: Reference
    from_date: LagosDate | None = None
    to_date: LagosDate | None = None
    end_date: LagosDate | None = None


# --- replies ------------------------------------------------------------------------------------------------


class CardData(msgspec.Struct, kw_only=True):
    """The card record of api.md. Number and CVV are absent from the reply of a repeated creation

    Contract: #repeats
    """

    reference: str
    balance: str
    currency: Literal["USD", "NGN"]
    cardpan: str | UnsetType = UNSET
    maskedpan: str
    city: str
    state: str
    address: str
    postal_code: str
    cvv: str | UnsetType = UNSET
    expiration: str
    card_type: str
    name_on_card: str
    card_owner: Literal["customer"] = "customer"
    status: Literal["active", "blocked", "terminated"]


class LimitsShown(msgspec.Struct, kw_only=True):
    per_transaction: str | None = None
    per_day: str | None = None
    per_month: str | None = None
    categories: list[str] = []


class CardReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    message: str
    card_data: CardData
    limits: LimitsShown | UnsetType = UNSET


class LimitsReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    message: str
    data: LimitsShown


class DoneReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    message: str


class TransactionLine(msgspec.Struct, kw_only=True):
    """The card transaction record of api.md. Amount and fee are in `currency`: the card's, but for a purchase that was
    declined in another. `effect` is what the line changed of the card's balance, below zero where it was spent: the
    effects of all lines add up to the balance. Purchases and refunds have a txnRef; a refund names its purchase."""

    id: int
    amount: float
    fee: float
    narration: str
    description: str
    date_created: str = field(name="dateCreated")
    status: Literal["Successful", "Failed"]
    currency: str
    reference: str
    effect: float
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    refund_of: str | UnsetType = field(name="refundOf", default=UNSET)


class TransactionsReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    reference: str
    data: list[TransactionLine]
    total: int
    offset: int
    limit: int


# --- what a shop does, in the test environment (sandbox.md) --------------------------------------------------


class PurchaseRequest(msgspec.Struct, kw_only=True):
    """A shop charges a card, by its reference or its number. The currency is the card's unless it is said; CVV and
    expiry are checked where they are sent; `mcc` is another word for category."""

    reference: Reference | None = None
    cardpan: CardNumber | None = None
    amount: Amount
    currency: Currency | None = None
    merchant_name: Line | None = None
    category: Category | None = None
    mcc: Category | None = None
    cvv: Cvv | None = None
    expiry: Expiry | None = None


class PurchaseReply(msgspec.Struct, kw_only=True):
    """`message` says of a declined purchase who declined it, and why."""

    status: Literal[200] = 200
    txn_status: Literal["successful", "failed"] = field(name="txnStatus")
    txn_ref: str = field(name="txnRef")
    bank_message: str
    message: str | UnsetType = UNSET


class RefundRequest(msgspec.Struct, kw_only=True):
    """The shop gives back a purchase, or so much of it."""

    txn_ref: Reference = field(name="txnRef")
    amount: Amount | None = None
