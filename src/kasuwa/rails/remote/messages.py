"""Requests and answers of the rail protocol. docs/rail-protocol.openapi.json is written from these types.

Money is a whole number of the currency's minor unit. Fields that are not known are ignored by both sides.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

# The largest whole number that every JSON reader keeps exact.
LARGEST_AMOUNT = 2**53 - 1

Amount = Annotated[int, Meta(ge=1, le=LARGEST_AMOUNT, description="A whole number of the currency's minor unit.")]
Balance = Annotated[int, Meta(ge=-LARGEST_AMOUNT, le=LARGEST_AMOUNT)]
Key = Annotated[
    str, Meta(pattern="^[a-z0-9-]{1,64}$", description="Identifies an order for ever: the same key is done once.")
]
Currency = Annotated[str, Meta(pattern="^[A-Z]{3}$")]
Code = Annotated[str, Meta(pattern="^[0-9A-Z]{2}$")]
Text = Annotated[str, Meta(max_length=200)]

Outcome = Literal["successful", "failed", "processing", "challenge", "wrong_code", "not_found"]
Found = Literal["found"]
FoundOrNot = Literal["found", "not_found"]
Capability = Literal["transfers", "bills", "payments", "accounts", "identity", "cards"]


# --- every rail ------------------------------------------------------------------------------------------------


class Empty(msgspec.Struct, frozen=True, kw_only=True):
    """A request without fields: `{}`."""


class OrderQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Asks for the state of an order."""

    key: Key
    "The key of the order."


class PaidCard(msgspec.Struct, frozen=True, kw_only=True):
    """The card that a payer used on your page. It never has the whole number."""

    identity: Annotated[str, Meta(min_length=1, max_length=200)]
    "Equal for the same card, whoever pays with it. Not the number."
    mask: Annotated[str, Meta(pattern=r"^[0-9]{6}\*{2,9}[0-9]{4}$")]
    "First six and last four digits: `408408******4081`."
    bin: Annotated[str, Meta(pattern="^[0-9]{6,8}$")]
    "First six to eight digits."
    brand: Annotated[str, Meta(max_length=40)] = ""
    type: Annotated[str, Meta(max_length=40)] = ""
    "`debit`, `credit` or `prepaid`, if you know it."
    issuer: Text = ""
    "The bank of the card."
    country: Annotated[str, Meta(pattern="^([A-Z]{2})?$")] = ""
    "Country of the card's bank."
    token: Annotated[str, Meta(max_length=500)] = ""
    "By which the card is charged again without its payer. Empty if it cannot be."
    email: Annotated[str, Meta(max_length=200)] = ""
    "The payer's address that the token is bound to. It comes back with each charge."

    def __repr__(self) -> str:
        return "PaidCard(…)"


class OrderAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The state of an order. It is the same for the order, its repeats and its queries."""

    outcome: Outcome
    "`successful` and `failed` are final. `not_found` is for queries alone: the order never arrived."
    key: Key
    "The key of the order."
    amount: Amount | None = None
    "The amount of the order. Only `not_found` has none."
    currency: Currency | None = None
    "The currency of the order. Only `not_found` has none."
    rail_reference: Annotated[str, Meta(max_length=100)] = ""
    "Your reference of the order: the same in every answer for one key. Required once money moved."
    code: Code | None = None
    "Response code of NIP (transfers, bills) or ISO 8583 (payments). The merchant sees it."
    message: Text = ""
    "One sentence for the merchant."
    facts: dict[str, str] = {}
    "Further results: `token` or `pin` of a bill; `session`, `auth`, `url`, `ussd_code` of a payment."
    notice: Text = ""
    "One sentence for the operator. Merchants never see it."
    card: PaidCard | None = None
    "The card that paid, in the answers to a successful payment on your page."


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """The body of every HTTP status from 400 to 499. Nothing was done."""

    error: Annotated[str, Meta(pattern="^[a-z_]{1,40}$")]
    "One word: `unauthorized`, `invalid_request`, `insufficient_balance`, `no_such_path`, `key_reused`, `declined`."
    message: Text = ""
    "One sentence that says what is wrong. For `declined` the merchant sees it."


class AboutAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Describes the rail."""

    outcome: Found
    name: Text
    "The name of the bank or processor."
    protocol: Literal[1]
    "The version of this protocol."
    environment: Literal["test", "live"]
    "`live` if orders move real money."
    serves: list[Capability]
    "Kinds of orders that are served."
    samples: dict[str, dict[str, str]] = {}
    "What the conformance kit may order, by kind. See the page of the protocol."


class BalanceAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Our balance with the rail, which pays for orders."""

    outcome: Found
    balances: dict[Currency, Balance]
    "By currency, in minor units."


# --- transfers -------------------------------------------------------------------------------------------------


class TransferRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Sends money to a bank account."""

    key: Key
    amount: Amount
    currency: Currency
    bank_code: str
    "Code of the bank by NIP (six digits), or by the CBN if it has no other."
    cbn_code: str | None = None
    "Code of the bank by the CBN, if it has one."
    account_number: Annotated[str, Meta(pattern="^[0-9]{10}$")]
    sender_name: Text
    "The merchant, shown to the receiver."
    narration: Text = ""


class NameRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Asks for the name on a bank account."""

    bank_code: str
    cbn_code: str | None = None
    account_number: Annotated[str, Meta(pattern="^[0-9]{10}$")]


class NameFound(msgspec.Struct, frozen=True, kw_only=True):
    """The name on an account. `not_found` means that there is no such account."""

    outcome: FoundOrNot
    name: Text = ""
    message: Text = ""


# --- bills -----------------------------------------------------------------------------------------------------


class BillCategory(msgspec.Struct, frozen=True, kw_only=True):
    code: str
    name: str


class BillBiller(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    name: str
    reference: str
    "Label of the customer's number, such as `Meter number`."
    category: str
    "Code of its category."
    slug: str
    pattern: str
    "Regular expression of customers' numbers."
    least: Amount | None = None
    "Smallest amount, where the payer chooses it."
    most: Amount | None = None
    "Largest amount, where the payer chooses it."
    amount_step: Annotated[int, Meta(ge=1)] = 1
    "An amount that the payer chooses is a multiple of it."


class BillItem(msgspec.Struct, frozen=True, kw_only=True):
    paycode: str
    name: str
    biller: int
    "Id of its biller."
    amount: Annotated[int, Meta(ge=0, le=LARGEST_AMOUNT)]
    "Price in kobo; 0 if the payer chooses it."
    fee: Annotated[int, Meta(ge=0, le=LARGEST_AMOUNT)] = 0
    "Fee in kobo."
    discount: str = "0"
    "Our commission, in percent."
    require_name_query: bool = False
    fulfillment: Literal["none", "electricity_token", "pin"] = "none"
    "What a payment delivers: the fact `token` or `pin`."


class CatalogueAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be paid."""

    outcome: Found
    categories: list[BillCategory]
    billers: list[BillBiller]
    items: list[BillItem]


class CustomerRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Asks for the name of a biller's customer."""

    paycode: str
    reference: str
    "The customer's number."


class BillRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Pays a bill."""

    key: Key
    amount: Amount
    currency: Currency
    paycode: str
    reference: str
    "The customer's number."
    phone: str = ""
    "The customer's telephone number, such as +2348031234567, if the merchant gave it."


# --- payments --------------------------------------------------------------------------------------------------


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """A card as its holder gave it. Never log or store it."""

    number: str
    expiry_month: str
    expiry_year: str
    cvv: str = ""
    pin: str = ""

    def __repr__(self) -> str:
        return "Card(…)"


class PaymentRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a payment: `begin` or `charge`."""

    key: Key
    amount: Amount
    currency: Currency
    method: str
    "`card`, `token` (a saved card), `account`, `ussd`, `phone`, `bank_transfer`, `mobile_money`."
    attempt: Annotated[int, Meta(ge=1)] = 1
    "A saved card may be tried again on later days, under the same key."
    session: str = ""
    "The fact `session` of `begin`."
    payer: str = ""
    "The payer's telephone or account number."
    payer_account: str = ""
    provider: str = ""
    "Mobile-money provider or bank."
    network: str = ""
    merchant_name: Text = ""
    card: Card | None = None
    "Not sent to a rail of a live deployment: its payers enter their cards on your page."
    token: Annotated[str, Meta(max_length=500)] = ""
    "For `token`: of a card that was used on your page."
    email: Annotated[str, Meta(max_length=200)] = ""
    "The payer's address, or the one that `token` is bound to."
    payer_name: Text = ""
    return_url: Annotated[str, Meta(max_length=2000)] = ""
    "Where your page sends the payer at the end."
    expires_at: str = ""
    "Time after which the payer may not pay any more: 2026-01-05T09:30:00Z."


class ValidateRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Brings the payer's code."""

    key: Key
    session: str = ""
    otp: str | None = None
    "Null if the payer declined."


class PaymentQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Asks what a step of a payment has answered."""

    key: Key
    step: Literal["begin", "charge", "validate"]
    attempt: Annotated[int, Meta(ge=1)] = 1


class RefundRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Gives back a payment, in whole or in part."""

    key: Key
    "The key of the refund."
    payment_key: Key
    "The key of the payment."
    amount: Amount
    currency: Currency
    credit: Annotated[str, Meta(max_length=200)] = ""
    "`rail_reference` of the credit, if the payment is money that came into an account. You do not know its key."


# --- accounts that customers pay into --------------------------------------------------------------------------


class AccountRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Opens an account that a customer pays into."""

    key: Key
    name: Text
    "The name on the account."
    currency: Currency = "NGN"
    email: str = ""
    phone: str = ""
    bvn: str = ""


class AccountAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The state of an account."""

    outcome: Literal["open", "processing", "failed", "closed", "not_found"]
    key: Key
    account_number: str = ""
    bank_code: str = ""
    bank_name: str = ""
    account_name: str = ""
    message: Text = ""


class CreditQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Asks for money that came into an account, by the reference of the event."""

    rail_reference: str


class Credit(msgspec.Struct, frozen=True, kw_only=True):
    """Money that came into an account."""

    rail_reference: str
    "Your reference: unique for ever."
    key: Key
    "The key of the account."
    account_number: str
    amount: Amount
    currency: Currency
    at: str
    "Time of the credit: 2026-01-05T09:30:00Z."
    sender_name: str = ""
    sender_account: str = ""
    sender_bank_code: str = ""
    narration: str = ""


class CreditAnswer(msgspec.Struct, frozen=True, kw_only=True):
    outcome: FoundOrNot
    credit: Credit | None = None


class CreditsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Lists credits, oldest first."""

    since: str
    "Time of the oldest: 2026-01-05T09:30:00Z."
    key: str = ""
    "The key of an account: its credits alone. Empty for those of all accounts."
    after: str = ""
    "`rail_reference` of the last one of the page before."


class CreditsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    outcome: Found
    credits: list[Credit]
    "At most 100. An empty list ends it."


# --- identity --------------------------------------------------------------------------------------------------


class PersonRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Asks for the person of a Bank Verification Number."""

    bvn: Annotated[str, Meta(pattern="^[0-9]{11}$")]
    consent: Annotated[str, Meta(max_length=200)] = ""
    "`reference` of the person's consent, if `/identity/consent` has begun one."


class PersonAnswer(msgspec.Struct, frozen=True, kw_only=True):
    outcome: Literal["found", "not_found", "consent_awaited", "consent_refused"]
    "The last two answer a request with `consent`: the person has not decided yet, or has refused."
    bvn: str = ""
    firstname: str = ""
    lastname: str = ""
    middlename: str = ""
    dob: str = ""
    "YYYY-MM-DD."
    phone: str = ""
    is_watch_listed: bool = False


class ConsentRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Begins a person's consent to the look-up of a BVN."""

    bvn: Annotated[str, Meta(pattern="^[0-9]{11}$")]
    firstname: Text
    lastname: Text


class ConsentAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A consent that the person has not given yet. `not_found` means that there is no such BVN."""

    outcome: FoundOrNot
    reference: Annotated[str, Meta(max_length=200)] = ""
    "Your reference of the consent."
    url: Annotated[str, Meta(max_length=2000)] = ""
    "The page on which the person agrees."


class MatchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Asks how far a person agrees with the register."""

    bvn: Annotated[str, Meta(pattern="^[0-9]{11}$")]
    firstname: Text
    lastname: Text
    middlename: Text = ""
    dob: str = ""
    "YYYY-MM-DD."
    phone: str = ""


class MatchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The agreement of a person with the register. Nothing of the register's own is in it."""

    outcome: FoundOrNot
    fields: dict[Literal["name", "firstname", "lastname", "dob", "phone"], Literal["full", "partial", "no"]] = {}
    "What was compared, with the agreement of each."
    score: Annotated[int, Meta(ge=0, le=100)] | None = None
    "Of the names."


# --- cards that Kasuwa's merchants issue ------------------------------------------------------------------------


CardEvent = Literal["authorize", "purchase", "capture", "reverse", "expire", "refund"]


class CardMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Announces what the card network asks of a card, and asks for the decision. Sent to Kasuwa."""

    event: CardEvent
    """`authorize`: hold the amount. `purchase`: take it at once. `capture`: take what is held. `reverse` and `expire`:
    release it. `refund`: give a purchase or a capture back."""
    key: Key
    "Yours, of this message. The same key is decided once, for ever."
    original_key: Annotated[str, Meta(pattern="^[a-z0-9-]{0,64}$")] = ""
    "The key of the authorization that is captured or released; of the purchase or capture that is refunded."
    amount: Annotated[int, Meta(ge=0, le=LARGEST_AMOUNT)] = 0
    "In the shop's currency. 0 only of `reverse`, `expire`, and of an `authorize` that verifies a card."
    currency: Annotated[str, Meta(pattern="^([A-Z]{3})?$")] = ""
    "Of `authorize` and `purchase`: the shop's currency."
    card_number: Annotated[str, Meta(pattern="^([0-9]{12,19})?$")] = ""
    "Of `authorize` and `purchase`. Never log or store it."
    expiry: Annotated[str, Meta(pattern="^([0-9]{4}-[0-9]{2})?$")] = ""
    "Month of expiry that the payer gave: 2029-01. Empty: not checked."
    cvv: Annotated[str, Meta(pattern="^([0-9]{3})?$")] = ""
    "Security code that the payer gave. Empty: not checked."
    merchant_name: Text = ""
    merchant_id: Annotated[str, Meta(max_length=100)] = ""
    "Identifier of the shop in the card network."
    category: Annotated[str, Meta(pattern="^([0-9]{4})?$")] = ""
    "Merchant category code."
    country: Annotated[str, Meta(pattern="^([A-Z]{2})?$")] = ""
    "Country of the shop."
    channel: Literal["online", "contactless", "atm"] = "online"

    def __repr__(self) -> str:
        return "CardMessage(…)"


class CardDecision(msgspec.Struct, frozen=True, kw_only=True):
    """Kasuwa's answer to a CardMessage. It is the same for the message and its repeats."""

    outcome: Literal["approved", "declined"]
    "`declined`: nothing was done, and never will be under this key."
    key: Key
    "The key of the message."
    code: Code
    "Response code of ISO 8583, for the network."
    message: Text = ""
    reference: Annotated[str, Meta(max_length=100)] = ""
    "Kasuwa's reference of what was done."


class CardSimulation(msgspec.Struct, frozen=True, kw_only=True):
    """Has the card network of a test rail make a purchase: an authorization, and if it is approved its end."""

    card_number: Annotated[str, Meta(pattern="^[0-9]{12,19}$")]
    amount: Amount
    "Of the authorization."
    currency: Currency
    capture: Annotated[int, Meta(ge=0, le=LARGEST_AMOUNT)] = 0
    "What is captured; 0 if the authorization is reversed."


class SimulationAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The purchase has begun: its messages follow."""

    outcome: Found


# --- call-backs ------------------------------------------------------------------------------------------------


class Callback(msgspec.Struct, frozen=True, kw_only=True):
    """Tells us to ask. Nothing is booked from it."""

    event: Literal["order", "credit"]
    "`order`: the state of an order changed. `credit`: money came into an account."
    key: str = ""
    "The key of the order or the account."
    rail_reference: str = ""
    "For `credit`: the reference to ask by."
