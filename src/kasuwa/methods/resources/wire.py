"""Requests and replies of `PUT /resources`.

Contract: #replies, resources#banks, resources#personalized-accounts, resources#wallet, resources#events
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.core.fields import AccountNumber, BankCode, CardPrefix, EventNumber, Limit, Offset, Reference
from kasuwa.core.paging import Paged
from kasuwa.core.people import Bvn, Email, PersonName


class BanksRequest(msgspec.Struct):
    """Has no fields."""


class WalletRequest(msgspec.Struct):
    """Has no fields."""


class AccountNameRequest(msgspec.Struct, kw_only=True):
    account_number: AccountNumber = field(name="accountnumber")
    bank_code: BankCode = field(name="bankcode")


class AccountName(msgspec.Struct, kw_only=True):
    account_name: str


class AccountNameReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`status` is a text here: `success`, or `error` if there is no such account."""

    status: Literal["success", "error"]
    resolved: bool
    data: AccountName | UnsetType = UNSET
    error: str | UnsetType = UNSET
    message: str | UnsetType = UNSET


class BvnRequest(msgspec.Struct, kw_only=True):
    bvn: Bvn


class BvnPerson(msgspec.Struct, kw_only=True):
    firstname: str
    lastname: str
    dob: str
    bvn: str
    phone: str


class BvnReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`status` is a text here: `success`, or `error` if there is no such BVN."""

    status: Literal["success", "error"]
    data: BvnPerson | UnsetType = UNSET
    resolved: Literal[False] | UnsetType = UNSET
    error: str | UnsetType = UNSET
    message: str | UnsetType = UNSET


class CardRequest(msgspec.Struct, kw_only=True):
    card_no: CardPrefix


class CardFacts(msgspec.Struct, kw_only=True):
    """The known facts of a card. If its issuer is unknown, only `bin` and perhaps `brand` have a value."""

    bin: str
    brand: str | None
    type: str | None
    issuer: str | None
    country: str | None


class CardReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: CardFacts


# --- personalized accounts ------------------------------------------------------------------------------------


AccountReference = Annotated[
    str, Meta(min_length=1, max_length=100, pattern=r"\S", description="1 to 100 characters, not only spaces")
]


class PersonalizedRequest(msgspec.Struct, kw_only=True):
    """`bank` is a preference, by name or code. If that bank cannot issue the number, the merchant's inbound bank
    does."""

    name: PersonName
    reference: AccountReference
    email: Email
    bvn: Bvn | None = None
    bank: Any = None
    dry_run: bool | None = None


class PersonalizedAccount(msgspec.Struct, kw_only=True):
    account_number: str = field(name="accountNumber")
    account_name: str = field(name="accountName")
    bank_name: str = field(name="bankName")
    reference: str


class PersonalizedReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    message: str
    data: PersonalizedAccount


# --- balances -------------------------------------------------------------------------------------------------


class WalletLine(msgspec.Struct, kw_only=True):
    currency: str
    balance: str
    available: str
    held: str


class WalletReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[WalletLine]


# --- the event log --------------------------------------------------------------------------------------------


class EventsRequest(Paged, kw_only=True):
    """Lists all events, newest first, or those of one transaction."""

    txn_ref: Reference | None = field(name="txnRef", default=None)


class AttemptLine(msgspec.Struct, kw_only=True):
    number: int
    at: str
    http: int | None
    error: str | None
    ms: int


class EventLine(msgspec.Struct, kw_only=True):
    event_id: str
    sequence: int
    txn_ref: str = field(name="txnRef")
    kind: str
    state: Literal["delivered", "scheduled", "exhausted", "no_endpoint", "endpoint_off"]
    date_created: str = field(name="dateCreated")
    payload: dict[str, Any]
    attempts: list[AttemptLine]


class EventsReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[EventLine]
    total: int
    offset: int
    limit: int


class FeedRequest(msgspec.Struct, kw_only=True):
    """Lists events by sequence, for merchants who cannot receive webhooks. Send a reply's `last` as `after`."""

    after: Offset | None = None
    limit: Limit | None = None


class FeedReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[EventLine]
    last: int
    more: bool


class ResendRequest(msgspec.Struct, kw_only=True):
    """One event by its id, or a range by sequence, both ends included. At most 1,000 events at once."""

    event_id: Reference | None = None
    first: EventNumber | None = field(name="from", default=None)
    last: EventNumber | None = field(name="to", default=None)


class ResendReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    message: str
    sent: int
