"""Requests and replies of `PUT /virtualcard`, and of the sandbox actions that charge a card.

Docstrings are the descriptions in the OpenAPI document. Contract: virtualcard#create
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
    """Limits of what may be spent with a card per transaction, per Lagos day and per month, and the allowed categories
    of shops. A missing amount means no limit, missing categories mean all."""

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
    """Names a card by the reference that its creation returned."""

    reference: Reference
    dry_run: bool | None = None


class AmountRequest(msgspec.Struct, kw_only=True):
    """Names a card and an amount in its currency. If `currency` is given, it must be that of the card."""

    reference: Reference
    amount: Amount
    currency: CardCurrency | None = None
    dry_run: bool | None = None


class LimitsRequest(msgspec.Struct, kw_only=True):
    """Replaces all limits of a card."""

    reference: Reference
    limits: SpendingLimits
    dry_run: bool | None = None


class GetRequest(msgspec.Struct, kw_only=True):
    """Shows a card. Number and CVV are masked unless `reveal` is true, which is recorded in the audit trail."""

    reference: Reference
    reveal: bool | None = None


class TransactionsRequest(Paged, kw_only=True):
    """Lists the transactions of a card. Both dates are included. Without dates, those of the last 30 days.
    `end_date` is an alias of `to_date`."""

    reference: Reference
    from_date: LagosDate | None = None
    to_date: LagosDate | None = None
    end_date: LagosDate | None = None


# --- replies ------------------------------------------------------------------------------------------------


class CardData(msgspec.Struct, kw_only=True):
    """A card. Number and CVV are absent from the replayed reply of a creation.

    Contract: #repeats
    """

    reference: str
    balance: str
    currency: Literal["USD", "NGN"]
    cardpan: str | UnsetType = UNSET  # full number when created or revealed, else masked
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
    """A transaction of a card. Amount and fee are in `currency`: the card's, or that of the shop for a purchase that
    was declined in another currency. `effect` is the change of the card's balance, negative if money was spent. All
    effects add up to the balance. Purchases and refunds have a txnRef. `refundOf` is the txnRef of the purchase."""

    id: int
    amount: float
    fee: float
    narration: str
    description: str  # same as narration
    date_created: str = field(name="dateCreated")
    status: Literal["Successful", "Failed"]
    currency: str
    reference: str  # of the card
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


# --- sandbox: purchases and refunds by a simulated shop -----------------------------------------------------


class PurchaseRequest(msgspec.Struct, kw_only=True):
    """A shop charges a card, named by its reference or its number. The default currency is the card's. CVV and expiry
    are checked if they are sent. `mcc` is an alias of `category`."""

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
    """The result of a purchase or refund. `message` of a declined purchase says who declined it and why."""

    status: Literal[200] = 200
    txn_status: Literal["successful", "failed"] = field(name="txnStatus")
    txn_ref: str = field(name="txnRef")
    bank_message: str
    message: str | UnsetType = UNSET


class RefundRequest(msgspec.Struct, kw_only=True):
    """A shop refunds a purchase, or `amount` of it in the shop's currency."""

    txn_ref: Reference = field(name="txnRef")
    amount: Amount | None = None
