"""Requests and replies of `PUT /resources`.

Contract: #replies, resources#banks, resources#personalized-accounts, resources#wallet, resources#events
"""

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.wire.fields import AccountNumber, BankCode, CardPrefix, EventNumber, Limit, Offset, Reference, Timestamp
from kasuwa.wire.paging import Paged
from kasuwa.wire.people import Bvn, Email, PersonName


class BanksRequest(msgspec.Struct):
    """Has no fields."""


class WalletRequest(msgspec.Struct):
    """Has no fields."""


class AccountNameRequest(msgspec.Struct, kw_only=True):
    """Asks for the name on a bank account, before money is sent to it."""

    account_number: AccountNumber = field(name="accountnumber")
    "Number of the account."
    bank_code: BankCode = field(name="bankcode")
    "Code of the account's bank, as `banks` lists it."


class AccountName(msgspec.Struct, kw_only=True):
    """The holder of a bank account."""

    account_name: str
    "Name of the account's holder, as the bank has it."


class AccountNameReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`status` is a text here: `success`, or `error` if there is no such account."""

    status: Literal["success", "error"]
    "`success`, or `error` if there is no such account. Other failures have a numeric status, as everywhere."
    resolved: bool
    "Whether the name was found."
    data: AccountName | UnsetType = UNSET
    "The holder of the account. Absent if there is no such account."
    error: str | UnsetType = UNSET
    "Short form of the error. Absent if the name was found."
    message: str | UnsetType = UNSET
    "The reason in words if the account was not found, or a remark of the bank. Else absent."


class BvnRequest(msgspec.Struct, kw_only=True):
    """Asks for the person with a Bank Verification Number."""

    bvn: Bvn
    "Bank Verification Number of the person."


class BvnPerson(msgspec.Struct, kw_only=True):
    """A person in the BVN register."""

    firstname: str
    "First name in the register."
    lastname: str
    "Last name in the register."
    dob: str
    "Date of birth, as YYYY-MM-DD."
    bvn: str
    "The Bank Verification Number that was asked for."
    phone: str
    "Telephone number in the register."


class BvnReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`status` is a text here: `success`, or `error` if there is no such BVN."""

    status: Literal["success", "error"]
    "`success`, or `error` if there is no such BVN. Other failures have a numeric status, as everywhere."
    data: BvnPerson | UnsetType = UNSET
    "The person. Absent if there is no such BVN."
    resolved: Literal[False] | UnsetType = UNSET
    "False if there is no such BVN. Else absent."
    error: str | UnsetType = UNSET
    "Short form of the error. Absent if the person was found."
    message: str | UnsetType = UNSET
    "The reason in words if the BVN was not found, or that it is watch-listed. Else absent."


class CardRequest(msgspec.Struct, kw_only=True):
    """Asks for the issuer of a card."""

    card_no: CardPrefix
    "The first six digits of the card. More may be sent; they are dropped."


class CardFacts(msgspec.Struct, kw_only=True):
    """The known facts of a card. If its issuer is unknown, only `bin` and perhaps `brand` have a value."""

    bin: str
    "The first six digits, which name the issuer."
    brand: str | None
    "Card network, such as `visa`. Null if unknown."
    type: str | None
    "Kind of card: `debit` or `credit`. Null if the issuer is unknown."
    issuer: str | None
    "Name of the bank that issued the card. Null if unknown."
    country: str | None
    "Country of the issuer. Null if unknown: payments are then priced as by a local card."


class CardReply(msgspec.Struct, kw_only=True):
    """The known facts of a card."""

    status: Literal[200] = 200
    "200, also for a card of an unknown issuer."
    data: CardFacts
    "The facts."


# --- personalized accounts ------------------------------------------------------------------------------------


AccountReference = Annotated[
    str, Meta(min_length=1, max_length=100, pattern=r"\S", description="1 to 100 characters, not only spaces")
]


class PersonalizedRequest(msgspec.Struct, kw_only=True):
    """`bank` is a preference, by name or code. If that bank cannot issue the number, the merchant's inbound bank
    does."""

    name: PersonName
    "Name of the account, which payers see."
    reference: AccountReference
    """Your reference of the account, such as a customer number. The same one again returns the first account, whatever
    else is sent. It is the `customer_txnref` of all payments into the account."""
    email: Email
    "Email address of the account's owner, shown as `email` of payments into it."
    bvn: Bvn | None = None
    "Bank Verification Number of the account's owner. Stored encrypted and not looked up."
    bank: Any = None
    "Preferred bank of the account, by name or code. If that bank cannot issue the number, your inbound bank does."
    dry_run: bool | None = None
    "Not supported: a request with `true` is refused and makes no account."
    client_id: Reference | None = None
    "Client whom the account is for. What comes in is then held if it is above the limits of the client's tier."


class PersonalizedAccount(msgspec.Struct, kw_only=True):
    """An account number of its own for one reference. Every transfer into it is a successful payment."""

    account_number: str = field(name="accountNumber")
    "The number that payers transfer to."
    account_name: str = field(name="accountName")
    "Name of the account, as it was first requested. Empty if the person was erased."
    bank_name: str = field(name="bankName")
    "Bank of the account."
    reference: str
    "Your reference of the account."


class PersonalizedReply(msgspec.Struct, kw_only=True):
    """The account number of a reference, new or made before."""

    status: Literal[200, 202] = 200
    "200: the account can be paid into. 202: it is being opened; ask again with the same reference."
    message: str
    "The outcome in words."
    data: PersonalizedAccount | UnsetType = UNSET
    "The account. Absent while it is being opened."


AccountState = Literal["opening", "open", "failed", "closing", "closed"]


class CloseAccountRequest(msgspec.Struct, kw_only=True):
    """Names the account to close. Closing it again changes nothing."""

    reference: AccountReference
    "Your reference of the account, as it was opened with."
    dry_run: bool | None = None
    "Not supported: a request with `true` is refused and closes nothing."


class AccountLine(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A personalized account and its state."""

    reference: str
    "Your reference of the account."
    state: AccountState
    """`opening`: its bank has not answered yet. `open`: it can be paid into. `failed`: its bank did not open it.
    `closing`: its bank has not confirmed yet that it is closed. `closed`: nobody can pay into it any more."""
    account_number: str | UnsetType = field(name="accountNumber", default=UNSET)
    "The number that payers transfer to. Absent until the account was opened."
    account_name: str = field(name="accountName")
    "Name of the account. Empty if the person was erased."
    bank_name: str | UnsetType = field(name="bankName", default=UNSET)
    "Bank of the account. Absent until the account was opened."
    date_created: str = field(name="dateCreated")
    "Time at which the account was requested, in UTC."
    date_closed: str | UnsetType = field(name="dateClosed", default=UNSET)
    "Time at which the bank confirmed that the account is closed, in UTC. Absent before."


class CloseAccountReply(msgspec.Struct, kw_only=True):
    """The account after the request."""

    status: Literal[200, 202] = 200
    "200: the account is closed. 202: the bank has not confirmed it yet; ask again, or wait for the event."
    message: str
    "The outcome in words."
    data: AccountLine
    "The account."


class AccountsRequest(Paged, kw_only=True):
    """Lists personalized accounts, newest first."""

    state: AccountState | None = None
    "Lists accounts in this state."
    reference: AccountReference | None = None
    "Lists only the account with this reference."


class AccountsReply(msgspec.Struct, kw_only=True):
    """One page of personalized accounts, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[AccountLine]
    "The accounts."
    total: int
    "Number of matching accounts on all pages."
    offset: int
    "Number of accounts that were skipped."
    limit: int
    "Largest number of accounts on this page. The next page begins at `offset` + `limit`."


# --- balances -------------------------------------------------------------------------------------------------


class WalletLine(msgspec.Struct, kw_only=True):
    """The balances of one wallet."""

    currency: str
    "Currency of the wallet."
    balance: str
    "Money in the wallet, held money included."
    available: str
    "Money that can be spent: `balance` less `held`."
    held: str
    "Money reserved for transfers, bills, cashcodes, refunds and fees that are still open."


class WalletReply(msgspec.Struct, kw_only=True):
    """The merchant's wallets, one per currency. NGN is always listed."""

    status: Literal[200] = 200
    "200."
    data: list[WalletLine]
    "The wallets."


# --- the event log --------------------------------------------------------------------------------------------


class EventsRequest(Paged, kw_only=True):
    """Lists all events, newest first, or those of one transaction."""

    txn_ref: Reference | None = field(name="txnRef", default=None)
    "Lists only the events of this transaction, by its `txnRef`, or the `orderRef` of a transfer, bill or cashcode."


class AttemptLine(msgspec.Struct, kw_only=True):
    """One attempt to deliver an event."""

    number: int
    "Number of the attempt for this event, counted from 1."
    at: str
    "Time of the attempt, in UTC."
    http: int | None
    "HTTP status of your endpoint's answer. Null if there was none."
    error: str | None
    "Why the attempt failed. Null if the event was delivered."
    ms: int
    "Duration of the attempt in milliseconds."
    response: str | None
    """The first 1,000 characters of your endpoint's answer, with anything that looks like a secret masked. Null if
    there was none."""


class EventLine(msgspec.Struct, kw_only=True):
    """An event of the log with its delivery."""

    event_id: str
    "Identifier of the event, which `resend` takes. Deliveries carry it in the header `webhook-id`."
    sequence: int
    "Number of the event in your log, rising from 1."
    txn_ref: str = field(name="txnRef")
    "Reference of the transaction that became final."
    kind: str
    "Kind of the transaction, such as `payment`, `transfer`, `bill` or `refund`."
    state: Literal["delivered", "scheduled", "exhausted", "no_endpoint", "endpoint_off"]
    """`delivered`; `scheduled`: an attempt is due; `exhausted`: the last attempt failed; `no_endpoint`: no URL was set;
    `endpoint_off`: it waits, because the endpoint was switched off after failing for days."""
    date_created: str = field(name="dateCreated")
    "Time at which the transaction became final, in UTC."
    object: str
    """What the event belongs to, such as the payment of a refund. Deliveries carry it in the header
    `webhook-object`."""
    object_sequence: int
    "Number of the event among those of its object, from 1. Deliveries carry it in the header `webhook-sequence`."
    payload: dict[str, Any]
    "The body that is sent to your endpoint."
    attempts: list[AttemptLine]
    "The newest 100 attempts to deliver it, oldest first."


class EventsReply(msgspec.Struct, kw_only=True):
    """One page of the event log, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[EventLine]
    "The events."
    total: int
    "Number of events on all pages."
    offset: int
    "Number of events that were skipped."
    limit: int
    "Largest number of events on this page. The next page begins at `offset` + `limit`."


class FeedRequest(msgspec.Struct, kw_only=True):
    """Lists events by sequence, for merchants who cannot receive webhooks. Send a reply's `last` as `after`."""

    after: Offset | None = None
    "Lists the events whose `sequence` is above this number. Default 0: from the first event."
    limit: Limit | None = None
    "Largest number of events to return. Default 50. A page of more than 1 MiB has fewer."


class FeedReply(msgspec.Struct, kw_only=True):
    """Events by sequence, oldest first."""

    placed_by: ClassVar[str] = "sequence"  # field of its records from which the log is read on

    status: Literal[200] = 200
    "200."
    data: list[EventLine]
    "The events."
    last: int
    "The `sequence` of the last event returned, to be sent as `after` next time. If there was none, `after` itself."
    more: bool
    "Whether there are further events now."


class ResendRequest(msgspec.Struct, kw_only=True):
    """One event by its id, a range by sequence, both ends included, or all that failed. At most 1,000 at once."""

    event_id: Reference | None = None
    """The event to send again. This, `from` or `failed_since` is required; if several are sent, the first of these
    counts."""
    first: EventNumber | None = field(name="from", default=None)
    "The `sequence` of the first event to send again."
    last: EventNumber | None = field(name="to", default=None)
    "The `sequence` of the last event to send again. Default: `from`, so that one event is sent."
    failed_since: Timestamp | None = None
    """Sends every event again that was created since this time and that your endpoint did not accept, oldest first,
    also those that would be tried again later."""


class ResendReply(msgspec.Struct, kw_only=True):
    """The events that are sent again."""

    status: Literal[200] = 200
    "200: the deliveries are scheduled."
    message: str
    "The outcome in words."
    sent: int
    "Number of events that are sent again."
    more: bool = False
    "Whether more events failed since `failed_since`: send the same request again for the next 1,000."
