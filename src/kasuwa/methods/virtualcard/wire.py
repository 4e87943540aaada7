"""Requests and replies of `PUT /virtualcard`, and of the sandbox actions that charge a card.

Docstrings are the descriptions in the OpenAPI document. Contract: virtualcard#create
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.rails.ports.decider import DeciderFault, OnTimeout
from kasuwa.transactions.event_fields import DeclineReason
from kasuwa.wire.fields import END, FREE_TEXT, Amount, ChosenCurrency, Currency, LagosDate, Reference
from kasuwa.wire.interest_wire import DryRunFigure
from kasuwa.wire.paging import Paged

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
ShopCountry = Annotated[
    str, Meta(pattern="^[A-Za-z]{2}" + END, max_length=2, description="a country code of two letters such as NG")
]
ShopCountries = Annotated[list[ShopCountry], Meta(max_length=50, description="at most 50 country codes of two letters")]
Shop = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        pattern="^[^;]*" + END,
        description="1 to 100 characters without a semicolon",
        extra=FREE_TEXT,
    ),
]
Shops = Annotated[list[Shop], Meta(max_length=50, description="at most 50 shops")]
DecisionUrl = Annotated[
    str, Meta(max_length=2048, description="a URL of at most 2,048 characters, with https in live, or empty")
]
Channel = Literal["online", "contactless", "atm"]
Channels = Annotated[list[Channel], Meta(max_length=10, description="some of online, contactless, atm")]
# Every purchase in the longest window is stored in one row (rules/controls.py), so both are bounded.
MAX_VELOCITY_HOURS = 744
MAX_VELOCITY_COUNT = 500
MAX_VELOCITY_RULES = 5
VelocityCount = Annotated[int, Meta(ge=1, le=MAX_VELOCITY_COUNT, description=f"1 to {MAX_VELOCITY_COUNT}")]
VelocityHours = Annotated[int, Meta(ge=1, le=MAX_VELOCITY_HOURS, description=f"1 to {MAX_VELOCITY_HOURS}")]


class CardCurrency(ChosenCurrency):
    """A currency that cards can be held in."""

    __slots__ = ()
    allowed = ("USD", "NGN")
    reason = "one of USD, NGN"


class Billing(msgspec.Struct, kw_only=True):
    """The cardholder and the billing address of a card."""

    address: Line
    "Street address of the cardholder."
    name: Line
    "Name of the cardholder, returned as `name_on_card`."
    city: Line
    "City of the cardholder."
    state: Line
    "State or province of the cardholder."
    postal_code: PostalText | PostalNumber
    "Postal code of the cardholder."


class Velocity(msgspec.Struct, kw_only=True):
    """The most that a card may pay in some hours, counted back from each purchase. `count` or `amount` is
    required."""

    count: VelocityCount | None = None
    "Most purchases in these hours. Left out: no limit of their number."
    amount: Amount | None = None
    "Most that all purchases in these hours may cost, in the card's currency. Left out: no limit of the amount."
    hours: VelocityHours
    "Length of the window, which ends with the purchase."


Velocities = Annotated[
    list[Velocity], Meta(max_length=MAX_VELOCITY_RULES, description=f"at most {MAX_VELOCITY_RULES} rules")
]


class SpendingLimits(msgspec.Struct, kw_only=True):
    """Limits of what may be spent with a card. An empty object means no limits.

    Fields that were added after the release 1.0.0 are unset if they were not sent: the digest of a request under an
    Idempotency-Key has the others as null, and must stay the same."""

    per_transaction: Amount | None = None
    "Most that one purchase may cost, in the card's currency. Left out: no limit."
    per_day: Amount | None = None
    """Most that may be spent on one day in Lagos, in the card's currency. Refunds do not lower what was spent. Left
    out: no limit."""
    per_month: Amount | None = None
    "Most that may be spent in one calendar month in Lagos, in the card's currency. Left out: no limit."
    categories: Categories | None = None
    "Merchant category codes (MCC) of the shops that the card may pay. Left out or empty: all shops."
    blocked_categories: Categories | UnsetType | None = UNSET
    "Merchant category codes of the shops that the card may not pay, also if `categories` has them."
    merchants: Shops | UnsetType | None = UNSET
    """Shops that the card may pay, each by its identifier or its name; upper and lower case are the same. Left out or
    empty: all shops."""
    blocked_merchants: Shops | UnsetType | None = UNSET
    "Shops that the card may not pay, by identifier or name, also if `merchants` has them."
    countries: ShopCountries | UnsetType | None = UNSET
    "Countries of the shops that the card may pay. Left out or empty: all countries."
    velocity: Velocities | UnsetType | None = UNSET
    """How many purchases, and how much, in how many hours. All rules apply. Purchases count from when the card
    first has such a rule. Refunds do not lower what was spent."""
    single_use: bool | UnsetType | None = UNSET
    """If true, the card pays one purchase from when this is set, and declines all further ones. Default false. To allow
    another one, set the limits without it, then with it."""
    from_date: LagosDate | UnsetType | None = UNSET
    "First day in Lagos on which the card pays. Left out: from its creation."
    to_date: LagosDate | UnsetType | None = UNSET
    "Last day in Lagos on which the card pays. Left out: until it expires."
    channels: Channels | UnsetType | None = UNSET
    "Ways in which the card may be used. Left out or empty: all."


class CreateRequest(msgspec.Struct, kw_only=True):
    """A new card for a customer, with an initial balance from the wallet. With `dry_run` the reply explains what it
    would cost, and no card is made."""

    billing: Billing
    "The cardholder and the billing address."
    amount: Amount
    "Initial balance, in the card's currency. The wallet also pays the issuance fee and VAT."
    client_id: Reference | None = None
    "Client whose card it is: the limits of the client's tier then apply to it. Only for cards in NGN."
    currency: CardCurrency
    "Currency of the card. A USD card is paid for from the USD wallet if there is one, else from NGN at the sell rate."
    country: Country | None = None
    "Country of the cardholder. Default `NG`."
    card_type: CardType | None = None
    "Card network, such as `visa`. Default: the first network that the service issues."
    limits: SpendingLimits | None = None
    "Limits of what may be spent with the card. Left out or empty: no limits."
    dry_run: bool | None = None
    "If true, the reply says what the card would be and cost, and no card is made."


class CardRequest(msgspec.Struct, kw_only=True):
    """Names a card by the reference that its creation returned."""

    reference: Reference
    "The card, by the `reference` that `create` returned."
    dry_run: bool | None = None
    "If true, the reply says what would happen, and nothing is changed."


class AmountRequest(msgspec.Struct, kw_only=True):
    """Names a card and an amount in its currency. If `currency` is given, it must be that of the card."""

    reference: Reference
    "The card, by the `reference` that `create` returned."
    amount: Amount
    "Amount to move, in the card's currency. The wallet pays a fee with VAT on top, where the tariff has one."
    currency: CardCurrency | None = None
    "The card's currency. May be left out; another one is refused."
    dry_run: bool | None = None
    "If true, the reply explains what would be moved and what it costs, and no money moves."


class LimitsRequest(msgspec.Struct, kw_only=True):
    """Replaces all limits of a card. An empty object removes them."""

    reference: Reference
    "The card, by the `reference` that `create` returned."
    limits: SpendingLimits
    "The new limits. Those that are left out no longer apply: `{}` removes all."
    dry_run: bool | None = None
    "If true, the reply says what would happen, and nothing is changed."


class DeciderRequest(msgspec.Struct, kw_only=True):
    """Has a service of yours decide on purchases, of one card or of all. It is asked after the card's own limits."""

    reference: Reference | None = None
    "The card, by the `reference` that `create` returned. Left out: all cards that have no decider of their own."
    decision_url: DecisionUrl
    """Address that each purchase is sent to, signed as events are. Empty: nobody is asked any more. A card without one
    of its own then has that of all cards."""
    on_timeout: OnTimeout | None = None
    "What counts if there is no answer within 2 seconds: `approve` or `decline`. Default `decline`."
    dry_run: bool | None = None
    "If true, the reply says what would happen, and nothing is changed."


class GetRequest(msgspec.Struct, kw_only=True):
    """Shows a card. Number and CVV are masked unless `reveal` is true, which is recorded in the audit trail."""

    reference: Reference
    "The card, by the `reference` that `create` returned."
    reveal: bool | None = None
    "If true, the reply has the full number and the CVV, and the audit trail records it. Default false."
    dry_run: bool | None = None
    "If true, number and CVV stay masked, also with `reveal`, and nothing is recorded."


class TransactionsRequest(Paged, kw_only=True):
    """Lists the transactions of a card. Both dates are included. Without dates, those of the last 30 days.
    `end_date` is an alias of `to_date`."""

    reference: Reference
    "The card, by the `reference` that `create` returned."
    from_date: LagosDate | None = None
    "First day to list, in Lagos. Default: 30 days before the last day."
    to_date: LagosDate | None = None
    "Last day to list, in Lagos. Default: today."
    end_date: LagosDate | None = None
    "Another name of `to_date`, which counts if both are sent."


# --- replies ------------------------------------------------------------------------------------------------


class CardData(msgspec.Struct, kw_only=True):
    """A card. Number and CVV are absent from the replayed reply of a creation.

    Contract: #repeats
    """

    reference: str
    "Identifier of the card, made by the service. All other card actions take it. Empty in the dry run of `create`."
    balance: str
    "Money on the card, in its currency, with thousands separators, without what open authorizations hold."
    currency: Literal["USD", "NGN"]
    "Currency of the card."
    cardpan: str | UnsetType = UNSET
    """Card number: in full when the card is created or revealed, else masked. Absent if `create` is repeated with the
    same Idempotency-Key, and in its dry run."""
    maskedpan: str
    "Card number with all but its first six and last four digits masked. Empty in the dry run of `create`."
    city: str
    "City of the cardholder."
    state: str
    "State or province of the cardholder."
    address: str
    "Street address of the cardholder."
    postal_code: str
    "Postal code of the cardholder."
    cvv: str | UnsetType = UNSET
    """Security code: shown when the card is created or revealed, else `***`. Absent if `create` is repeated with the
    same Idempotency-Key, and in its dry run."""
    expiration: str
    "Month until whose end the card is valid, as YYYY-MM."
    card_type: str
    "Card network in lower case, such as `visa`."
    name_on_card: str
    "Name of the cardholder: `billing.name`."
    card_owner: Literal["customer"] = "customer"
    "Kind of owner: always `customer`."
    status: Literal["active", "blocked", "terminated"]
    """`active`: can pay. `blocked`: by you, or after three unpaid monthly fees; purchases are declined until `unblock`.
    `terminated`: for good."""
    held: str | UnsetType = UNSET
    "Money that open authorizations of shops hold, in the card's currency. Absent if there are none."


class VelocityShown(msgspec.Struct, kw_only=True):
    """The most that a card may pay in some hours."""

    count: int | UnsetType = UNSET
    "Most purchases in these hours. Absent: no limit of their number."
    amount: str | UnsetType = UNSET
    "Most that all purchases in these hours may cost, in the card's currency. Absent: no limit of the amount."
    hours: int
    "Length of the window, which ends with the purchase."


class LimitsShown(msgspec.Struct, kw_only=True):
    """The limits of what may be spent with a card."""

    per_transaction: str | None = None
    "Most that one purchase may cost, in the card's currency. Null: no limit."
    per_day: str | None = None
    "Most that may be spent on one day in Lagos. Null: no limit."
    per_month: str | None = None
    "Most that may be spent in one calendar month in Lagos. Null: no limit."
    categories: list[str] = []
    "Merchant category codes (MCC) of the shops that the card may pay. Empty: all shops."
    blocked_categories: list[str] | UnsetType = UNSET
    "Merchant category codes of the shops that the card may not pay. Absent: none."
    merchants: list[str] | UnsetType = UNSET
    "Shops that the card may pay. Absent: all shops."
    blocked_merchants: list[str] | UnsetType = UNSET
    "Shops that the card may not pay. Absent: none."
    countries: list[str] | UnsetType = UNSET
    "Countries of the shops that the card may pay. Absent: all countries."
    velocity: list[VelocityShown] | UnsetType = UNSET
    "How many purchases, and how much, in how many hours. Absent: no such limit."
    single_use: Literal[True] | UnsetType = UNSET
    "True if the card pays one purchase. Else absent."
    from_date: str | UnsetType = UNSET
    "First day in Lagos on which the card pays. Absent: from its creation."
    to_date: str | UnsetType = UNSET
    "Last day in Lagos on which the card pays. Absent: until it expires."
    channels: list[Channel] | UnsetType = UNSET
    "Ways in which the card may be used. Absent: all."


class DeciderShown(msgspec.Struct, kw_only=True):
    """The decider of purchases, besides the card's own limits."""

    reference: str | UnsetType = UNSET
    "The card that it is set for. Absent: all cards that have none of their own."
    decision_url: str | None
    "Address that is asked. Null: nobody is asked."
    on_timeout: OnTimeout
    "What counts if there is no answer in time."


class CardReply(msgspec.Struct, kw_only=True):
    """A card, new or as it is now."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    card_data: CardData
    "The card."
    limits: LimitsShown | UnsetType = UNSET
    "The limits of the card. Absent if it has none."
    decider: DeciderShown | UnsetType = UNSET
    "Who decides on the card's purchases besides its limits. Absent if nobody does, and in the reply of a creation."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with how it comes about. Else absent."


class DeciderReply(msgspec.Struct, kw_only=True):
    """The decider of purchases after a change."""

    status: Literal[200] = 200
    "200: it decides from now on, or would."
    message: str
    "The outcome in words."
    data: DeciderShown
    "Who decides."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with how it comes about. Else absent."


class LimitsReply(msgspec.Struct, kw_only=True):
    """The limits of a card after a change."""

    status: Literal[200] = 200
    "200: the limits apply from now on, or would."
    message: str
    "The outcome in words."
    data: LimitsShown
    "The limits."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with how it comes about. Else absent."


class DoneReply(msgspec.Struct, kw_only=True):
    """The confirmation of a change of a card."""

    status: Literal[200] = 200
    "200: the change was made, or would be."
    message: str
    "The outcome in words."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with how it comes about. Else absent."


class DecisionShown(msgspec.Struct, kw_only=True):
    """The answer of your decider to a purchase."""

    id: str
    "Identifier of the request that it was asked with."
    answer: Literal["approved", "declined", "none"]
    "Its answer. `none`: there was no answer that counts, and what `on_timeout` says was done."
    fault: DeciderFault | UnsetType = UNSET
    """Why no answer counts. `timeout`: none within 2 seconds. `unreachable`: no connection, or it broke. `unreadable`:
    not HTTP 2xx with the JSON that is asked for. `refused`: the address is not allowed. `paused`: it failed several
    times in a row, and is left alone for 15 seconds. `busy`: too many purchases of yours wait.
    `unsigned`: no secret of yours can be read. Absent if there was an answer."""
    reason: str | UnsetType = UNSET
    "The `reason` of its answer, at most 200 characters. Absent if it gave none."
    latency_ms: int
    "Milliseconds until the answer, or until the wait ended."


class TransactionLine(msgspec.Struct, kw_only=True):
    """A transaction of a card: a purchase or refund, a movement between wallet and card, or a fee."""

    id: int
    "Number of the record, made by the service."
    amount: float
    "Amount, always positive, in `currency`."
    fee: float
    "Fee without VAT that the wallet paid for this movement, in `currency`. Its VAT is a record of its own."
    narration: str
    "Kind of the record, such as `Card Purchase`, `Card Funding` or `Monthly Fee`."
    description: str
    "Same as `narration`."
    date_created: str = field(name="dateCreated")
    "Time of the record, in UTC."
    status: Literal["Successful", "Failed"]
    "`Successful`, or `Failed` for a declined purchase or refund, or a monthly fee that the card could not pay."
    currency: str
    "The card's currency; of a declined purchase or refund, that of the shop."
    reference: str
    "The card."
    effect: float
    """Change of the card's balance: negative if money left the card, 0 for failed records and those about the wallet.
    All effects add up to the balance."""
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    "Reference of the purchase or refund. Absent for other records."
    refund_of: str | UnsetType = field(name="refundOf", default=UNSET)
    "The `txnRef` of the purchase that was refunded. Absent for other records."
    authorization_ref: str | UnsetType = field(name="authorizationRef", default=UNSET)
    "The `txnRef` of the authorization that the purchase captured, or was declined to. Absent for other records."
    decline_reason: DeclineReason | UnsetType = field(name="declineReason", default=UNSET)
    "Why the purchase was declined. Absent for other records."
    decision: DecisionShown | UnsetType = UNSET
    "What your decider said of the purchase or authorization. Absent if none was asked."
    dispute_id: str | UnsetType = UNSET
    "The last dispute of the purchase. Absent if there was none."


class TransactionsReply(msgspec.Struct, kw_only=True):
    """One page of a card's transactions, newest first."""

    status: Literal[200] = 200
    "200."
    reference: str
    "The card."
    data: list[TransactionLine]
    "The transactions."
    total: int
    "Number of transactions on all pages."
    offset: int
    "Number of transactions that were skipped."
    limit: int
    "Largest number of transactions on this page. The next page begins at `offset` + `limit`."


# --- sandbox: purchases and refunds by a simulated shop -----------------------------------------------------


class PurchaseRequest(msgspec.Struct, kw_only=True):
    """Simulates a shop that charges a card, in the test environment."""

    reference: Reference | None = None
    "The card, by its `reference`. Either this or `cardpan` is required; this one counts if both are sent."
    cardpan: CardNumber | None = None
    "The card, by its number."
    amount: Amount
    "Amount of the purchase, in `currency`."
    currency: Currency | None = None
    "Currency of the shop. Default: the card's. Another one is converted at the operator's rate, if there is one."
    merchant_name: Line | None = None
    "Name of the shop."
    category: Category | None = None
    "Merchant category code (MCC) of the shop, compared with the card's limits."
    mcc: Category | None = None
    "Another name of `category`, which counts if both are sent."
    merchant_id: Shop | None = None
    "Identifier of the shop in the card network, compared with the card's limits as the name is."
    country: ShopCountry | None = None
    "Country of the shop, compared with the card's limits. Left out: not known."
    channel: Channel | None = None
    "How the card is used. Default `online`."
    cvv: Cvv | None = None
    "Security code that the payer entered. A wrong one is declined. Left out: not checked."
    expiry: Expiry | None = None
    "Month of expiry that the payer entered, as YYYY-MM. Another one is declined. Left out: not checked."


class PurchaseReply(msgspec.Struct, kw_only=True):
    """The result of a purchase or refund, in the test environment."""

    status: Literal[200] = 200
    "200, also for a declined purchase."
    txn_status: Literal["successful", "failed"] = field(name="txnStatus")
    "`successful`, or `failed` if the purchase was declined. Both are final."
    txn_ref: str = field(name="txnRef")
    "Reference of the purchase or refund, made by the service."
    bank_message: str
    "Answer of the card's issuer in its own words."
    message: str | UnsetType = UNSET
    "Of a declined purchase, who declined it and why. Else absent."


class AuthorizeRequest(PurchaseRequest, kw_only=True):
    """Simulates a shop that has a virtual card hold an amount, in the test environment."""


class AuthorizeReply(msgspec.Struct, kw_only=True):
    """The result of an authorization, or of its reversal, in the test environment."""

    status: Literal[200] = 200
    "200, also for a declined authorization."
    txn_status: Literal["pending", "failed"] = field(name="txnStatus")
    "`pending`: the card holds the amount. `failed`: it was declined, or has been reversed."
    txn_ref: str = field(name="txnRef")
    "Reference of the authorization, made by the service."
    bank_message: str
    "Answer of the card's issuer in its own words."
    message: str | UnsetType = UNSET
    "Of a declined authorization, who declined it and why. Else absent."


class CaptureRequest(msgspec.Struct, kw_only=True):
    """Simulates a shop that captures an authorization, in the test environment. What is not captured is released."""

    txn_ref: Reference = field(name="txnRef")
    "The authorization to capture."
    amount: Amount | None = None
    """Amount to capture, in the shop's currency, at most 20 percent above what was authorized. Default: what was
    authorized."""


class ReverseRequest(msgspec.Struct, kw_only=True):
    """Simulates a shop that gives an authorization up, in the test environment."""

    txn_ref: Reference = field(name="txnRef")
    "The authorization to reverse."


class RefundRequest(msgspec.Struct, kw_only=True):
    """Simulates a shop that refunds a purchase, in the test environment."""

    txn_ref: Reference = field(name="txnRef")
    "The purchase to refund."
    amount: Amount | None = None
    "Amount to refund, in the shop's currency. Default: all that is left of the purchase."
