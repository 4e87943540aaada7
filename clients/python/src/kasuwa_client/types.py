"""Objects of requests and replies.

Written by `python -m clients.generate` from the action tables of the service. Do not edit.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar, Literal, TypedDict, Union

from kasuwa_client._result import Result

# An exact number in major units. An int is whole units: 1500 is 1,500.00. A float is refused.
Amount = Union[Decimal, str, int]


class CardBilling(TypedDict):
    address: str
    """1 to 200 characters."""
    name: str
    """1 to 200 characters."""
    city: str
    """1 to 200 characters."""
    state: str
    """1 to 200 characters."""
    postal_code: str | int
    """1 to 20 characters, or a whole number."""


class _CardDetailsRequired(TypedDict):
    card_no: str
    """A card number: its digits, with a right length and check digit."""
    expiry_month: str
    """Two digits, 01 to 12."""
    expiry_year: str
    """Two digits."""
    ccv: str
    """Three or four digits."""


class CardDetails(_CardDetailsRequired, total=False):
    """A card as its holder enters it. CVV and PIN are never stored."""

    pin: str
    """Four digits."""


class ClientAddress(TypedDict, total=False):
    """The fields of an address that are checked. Other fields are stored unchecked."""

    line1: str
    """At most 200 characters."""
    line2: str
    """At most 200 characters."""
    city: str
    """At most 200 characters."""
    region: str
    """At most 200 characters."""
    postcode: str | int
    """At most 200 characters."""
    country: str
    """At most 200 characters."""


class _ClientBankAccountRequired(TypedDict):
    account_number: str
    """Ten digits."""
    bank_code: str
    """A bank code of 3, 5 or 6 digits."""


class ClientBankAccount(_ClientBankAccountRequired, total=False):
    account_name: str
    """At most 200 characters."""


class ClientBankAccountChanges(TypedDict, total=False):
    """Changes to a bank account. A field that is left out keeps its stored value."""

    account_number: str
    """Ten digits."""
    bank_code: str
    """A bank code of 3, 5 or 6 digits."""
    account_name: str
    """At most 200 characters."""


class ClientChanges(TypedDict, total=False):
    """The changed fields of a client. Objects are merged with the stored ones, arrays replace them."""

    firstname: str
    """1 to 100 characters."""
    lastname: str
    """1 to 100 characters."""
    middlename: str
    """1 to 100 characters."""
    email: str
    """An e-mail address."""
    gender: Literal["female", "male", "other"]
    dob: dt.date | str
    """A day as YYYY-MM-DD."""
    phone: str
    """A telephone number of its country, or one with + and its country's code."""
    bvn: str
    """Eleven digits that begin with 22."""
    addresses: Sequence[ClientAddress | Mapping[str, Any]]
    """An array of at most 20 addresses."""
    bank_account: ClientBankAccountChanges | Mapping[str, Any]
    meta: Mapping[str, Any]


class _ClientFieldsRequired(TypedDict):
    firstname: str
    """1 to 100 characters."""
    lastname: str
    """1 to 100 characters."""


class ClientFields(_ClientFieldsRequired, total=False):
    """A new client. A phone or an email is required."""

    middlename: str
    """1 to 100 characters."""
    email: str
    """An e-mail address."""
    gender: Literal["female", "male", "other"]
    dob: dt.date | str
    """A day as YYYY-MM-DD."""
    phone: str
    """A telephone number of its country, or one with + and its country's code."""
    bvn: str
    """Eleven digits that begin with 22."""
    addresses: Sequence[ClientAddress | Mapping[str, Any]]
    """An array of at most 20 addresses."""
    bank_account: ClientBankAccount | Mapping[str, Any]
    meta: Mapping[str, Any]


class InstallmentSchedule(TypedDict):
    """An installment schedule: dates as DD-MM-YYYY with amounts that add up to `total`, or percentages of it."""

    payment_schedule: Mapping[str, Amount]
    """At most 366 dates."""
    total: Amount
    """Digits with at most two decimals, above zero, at most 15 digits."""


class InterestSettings(TypedDict):
    """An interest rate: `interestRate` percent per interval of `interestFrequency`."""

    interest_rate: Amount
    """A percentage from 0 to 1000 with at most six decimals."""
    interest_frequency: Literal["annualized", "every_day", "every_four_weeks", "every_month", "every_week"]


class Payer(TypedDict, total=False):
    """The payer, as far as the merchant knows."""

    firstname: str
    """At most 200 characters."""
    lastname: str
    """At most 200 characters."""
    email: str
    """An e-mail address of at most 254 characters."""
    ip: str
    """At most 200 characters."""
    fingerprint: str
    """At most 200 characters."""


class PayerAccount(TypedDict):
    accountnumber: str
    """Ten digits."""
    bankcode: str
    """A bank code of 3, 5 or 6 digits."""


class Recurrence(TypedDict, total=False):
    """The recurrence of a payment. `value` is an hour (daily), an ISO weekday (weekly) or a day of the month
    (monthly). By default the frequency is monthly and the value that of the first charge.
    """

    frequency: Literal["daily", "monthly", "weekly"]
    value: str
    """One or two digits."""


class SpendingLimits(TypedDict, total=False):
    """Limits of what may be spent with a card per transaction, per Lagos day and per month, and the allowed
    categories of shops. A missing amount means no limit, missing categories mean all.
    """

    per_transaction: Amount
    """Digits with at most two decimals, above zero, at most 15 digits."""
    per_day: Amount
    """Digits with at most two decimals, above zero, at most 15 digits."""
    per_month: Amount
    """Digits with at most two decimals, above zero, at most 15 digits."""
    categories: Sequence[str]
    """At most 50 category codes of four digits."""


class _SplitPartRequired(TypedDict):
    ref_code: str
    """1 to 100 characters."""


class SplitPart(_SplitPartRequired, total=False):
    """One beneficiary's part: a percentage of the settled amount, or an amount (`share`, or its synonym `fixed`)."""

    percentage: Amount
    """A number, not negative, with at most four decimals."""
    share: Amount
    """Digits with at most two decimals, above zero, at most 15 digits."""


class _TransferOrderRequired(TypedDict):
    amount: Amount
    """Digits with at most two decimals, above zero, at most 15 digits."""
    bankcode: str
    """A bank code of 3, 5 or 6 digits."""
    accountnumber: str
    """Ten digits."""


class TransferOrder(_TransferOrderRequired, total=False):
    """One transfer from the merchant's wallet to a bank account. `currency` may be left out: it is always NGN."""

    currency: Literal["NGN"]
    sender_name: str
    """At most 200 characters."""
    narration: str
    """At most 200 characters."""
    order_ref: str
    """1 to 100 characters."""


@dataclass(frozen=True)
class AccountNameFacts(Result):
    account_name: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"account_name": "account_name"}


@dataclass(frozen=True)
class AccountNameReply(Result):
    """`status` is a text here: `success`, or `error` if there is no such account."""

    status: Literal["error", "success"]
    resolved: bool
    data: AccountNameFacts | None = None
    error: str | None = None
    message: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "resolved": "resolved",
        "data": "data",
        "error": "error",
        "message": "message",
    }


@dataclass(frozen=True)
class AdvanceReply(Result):
    """`ran` counts the jobs that ran, by kind. `more` is present if the request timed out before all of them ran:
    business time is then `now`, and an advance to `until` continues.
    """

    status: int
    now: dt.datetime
    ran: Mapping[str, int]
    more: bool | None = None
    until: dt.datetime | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "now": "now",
        "ran": "ran",
        "more": "more",
        "until": "until",
    }


@dataclass(frozen=True)
class AuditReply(Result):
    status: int
    """Always 200."""
    data: tuple[Violation, ...]
    """Every violation that was found, at most 20 of each invariant. Empty if the books are right."""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class BeneficiaryReply(Result):
    status: int
    ref_code: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "ref_code": "ref_code"}


@dataclass(frozen=True)
class BillCatalogue(Result):
    categories: tuple[BillCategory, ...]
    bills: tuple[BillLine, ...]
    items: tuple[BillItem, ...]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"categories": "categories", "bills": "bills", "items": "items"}


@dataclass(frozen=True)
class BillCatalogueReply(Result):
    status: int
    data: BillCatalogue
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class BillCategory(Result):
    name: str
    code: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"name": "name", "code": "code"}


@dataclass(frozen=True)
class BillCustomer(Result):
    """`custName` is empty if the biller has no name query. `mismatch` is present, and true, if the biller knows the
    customer under another name.
    """

    status: int
    message: str
    cust_name: str
    reference: str
    paycode: str
    mismatch: bool | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "cust_name": "custName",
        "reference": "reference",
        "paycode": "paycode",
        "mismatch": "mismatch",
    }


@dataclass(frozen=True)
class BillItem(Result):
    """`amount` "0" is an open amount; `discount` is percent of the amount, `fee` in naira."""

    name: str
    bills_id: int
    amount: Decimal
    discount: Decimal
    fee: Decimal
    paycode: str
    require_name_query: int
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "name": "name",
        "bills_id": "bills_id",
        "amount": "amount",
        "discount": "discount",
        "fee": "fee",
        "paycode": "paycode",
        "require_name_query": "require_name_query",
    }


@dataclass(frozen=True)
class BillLine(Result):
    """`reference` is the label of the customer reference that the biller needs."""

    id: int
    name: str
    reference: str
    category: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "id": "id",
        "name": "name",
        "reference": "reference",
        "category": "category",
    }


@dataclass(frozen=True)
class BillReply(Result):
    """`commission` is the item's discount, credited to the wallet. The reply to a dry run has no txnStatus and no
    txnRef, but amount, fee and VAT.
    """

    status: int
    order_ref: str
    message: str
    commission: Decimal
    txn_status: Literal["failed", "pending", "successful"] | None = None
    txn_ref: str | None = None
    dry_run: bool | None = None
    amount: Decimal | None = None
    fee: Decimal | None = None
    vat: Decimal | None = None
    token: str | None = field(default=None, repr=False)
    units: str | None = None
    pin: str | None = field(default=None, repr=False)
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "order_ref": "orderRef",
        "message": "message",
        "dry_run": "dry_run",
        "amount": "amount",
        "fee": "fee",
        "vat": "vat",
        "commission": "commission",
        "token": "token",
        "units": "units",
        "pin": "pin",
    }


@dataclass(frozen=True)
class BillState(Result):
    status: int
    txn_status: Literal["failed", "pending", "successful"]
    txn_ref: str
    order_ref: str
    amount: Decimal
    fee: Decimal
    vat: Decimal
    commission: Decimal
    message: str
    token: str | None = field(default=None, repr=False)
    units: str | None = None
    pin: str | None = field(default=None, repr=False)
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "order_ref": "orderRef",
        "amount": "amount",
        "fee": "fee",
        "vat": "vat",
        "commission": "commission",
        "message": "message",
        "token": "token",
        "units": "units",
        "pin": "pin",
    }


@dataclass(frozen=True)
class BulkOrderReply(Result):
    """The outcome of one order of a bulk. An order in conflict has no txnRef: its orderRef belongs to another order."""

    order_ref: str
    txn_status: Literal["conflict", "failed", "pending", "processing", "successful"]
    message: str
    txn_ref: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "order_ref": "orderRef",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "message": "message",
    }


@dataclass(frozen=True)
class BulkOrderState(Result):
    """The current state of one order of a bulk, with amount, fee and VAT unless it is in conflict."""

    order_ref: str
    txn_status: Literal["conflict", "failed", "pending", "processing", "successful"]
    message: str
    txn_ref: str | None = None
    amount: Decimal | None = None
    fee: Decimal | None = None
    vat: Decimal | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "order_ref": "orderRef",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "message": "message",
        "amount": "amount",
        "fee": "fee",
        "vat": "vat",
    }


@dataclass(frozen=True)
class BulkTransferReply(Result):
    status: int
    batch_ref: str
    message: str
    data: tuple[BulkOrderReply, ...]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "batch_ref": "batchRef",
        "message": "message",
        "data": "data",
    }


@dataclass(frozen=True)
class BvnPerson(Result):
    firstname: str
    lastname: str
    dob: dt.date
    bvn: str = field(repr=False)
    phone: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "firstname": "firstname",
        "lastname": "lastname",
        "dob": "dob",
        "bvn": "bvn",
        "phone": "phone",
    }


@dataclass(frozen=True)
class BvnReply(Result):
    """`status` is a text here: `success`, or `error` if there is no such BVN."""

    status: Literal["error", "success"]
    data: BvnPerson | None = None
    resolved: bool | None = None
    error: str | None = None
    message: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "data": "data",
        "resolved": "resolved",
        "error": "error",
        "message": "message",
    }


@dataclass(frozen=True)
class CardFacts(Result):
    """The known facts of a card. If its issuer is unknown, only `bin` and perhaps `brand` have a value."""

    bin: str
    brand: str | None = None
    type: str | None = None
    issuer: str | None = None
    country: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "bin": "bin",
        "brand": "brand",
        "type": "type",
        "issuer": "issuer",
        "country": "country",
    }


@dataclass(frozen=True)
class CardFactsReply(Result):
    status: int
    data: CardFacts
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class CardTransaction(Result):
    """A transaction of a card. Amount and fee are in `currency`: the card's, or that of the shop for a purchase that
    was declined in another currency. `effect` is the change of the card's balance, negative if money was spent.
    All effects add up to the balance. Purchases and refunds have a txnRef. `refundOf` is the txnRef of the
    purchase.
    """

    id: int
    amount: Decimal
    fee: Decimal
    narration: str
    description: str
    date_created: dt.datetime
    status: Literal["Failed", "Successful"]
    currency: str
    reference: str
    effect: Decimal
    txn_ref: str | None = None
    refund_of: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "id": "id",
        "amount": "amount",
        "fee": "fee",
        "narration": "narration",
        "description": "description",
        "date_created": "dateCreated",
        "status": "status",
        "currency": "currency",
        "reference": "reference",
        "effect": "effect",
        "txn_ref": "txnRef",
        "refund_of": "refundOf",
    }


@dataclass(frozen=True)
class CashcodeCancelReply(Result):
    status: int
    order_ref: str
    txn_status: Literal["failed", "pending", "successful"]
    state: Literal["active", "cancelled", "expired", "locked", "redeemed"]
    message: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "order_ref": "orderRef",
        "txn_status": "txnStatus",
        "state": "state",
        "message": "message",
    }


@dataclass(frozen=True)
class CashcodeRedeemReply(Result):
    """`returned` is the part of the amount that was held but not drawn."""

    status: int
    order_ref: str
    txn_status: Literal["failed", "pending", "successful"]
    amount: Decimal
    returned: Decimal
    channel: Literal["ATM", "POS", "WEB"]
    message: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "order_ref": "orderRef",
        "txn_status": "txnStatus",
        "amount": "amount",
        "returned": "returned",
        "channel": "channel",
        "message": "message",
    }


@dataclass(frozen=True)
class CashcodeReply(Result):
    """`cashcode` is shown once: the reply to a repeated request has none. `amount` is text or number, as it was
    requested.
    """

    status: int
    order_ref: str
    amount: Decimal
    channel: Literal["ATM", "POS", "WEB"]
    expires_at: dt.datetime
    txn_status: Literal["failed", "pending", "successful"]
    message: str
    cashcode: str | None = field(default=None, repr=False)
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "order_ref": "orderRef",
        "cashcode": "cashcode",
        "amount": "amount",
        "channel": "channel",
        "expires_at": "expires_at",
        "txn_status": "txnStatus",
        "message": "message",
    }


@dataclass(frozen=True)
class CashcodeState(Result):
    """`paid` is the cash drawn. It may be less than the amount if the code was redeemed by POS or WEB."""

    status: int
    order_ref: str
    txn_status: Literal["failed", "pending", "successful"]
    state: Literal["active", "cancelled", "expired", "locked", "redeemed"]
    amount: Decimal
    paid: Decimal
    fee: Decimal
    vat: Decimal
    channel: Literal["ATM", "POS", "WEB"]
    expires_at: dt.datetime
    message: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "order_ref": "orderRef",
        "txn_status": "txnStatus",
        "state": "state",
        "amount": "amount",
        "paid": "paid",
        "fee": "fee",
        "vat": "vat",
        "channel": "channel",
        "expires_at": "expires_at",
        "message": "message",
    }


@dataclass(frozen=True)
class CashoutReply(Result):
    """The result of a cash-out. A dry run explains each figure and has no txnRef."""

    status: int
    message: str
    balance: Decimal
    txn_ref: str | None = None
    txn_status: str | None = None
    savings_id: str | None = None
    dry_run: bool | None = None
    explained: tuple[DryRunFigure, ...] | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "savings_id": "savings_id",
        "balance": "balance",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class ChargeableBank(Result):
    bankname: str
    bankcode: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"bankname": "bankname", "bankcode": "bankcode"}


@dataclass(frozen=True)
class ChargeableBanksReply(Result):
    status: int
    data: tuple[ChargeableBank, ...]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class Charges(Result):
    """The cost of a payment. `fee` excludes VAT. The payer pays `total_charge`, the merchant gets `settled`."""

    amount: Decimal
    fee: Decimal
    vat: Decimal
    total_charge: Decimal
    settled: Decimal
    currency: str
    bearer: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "amount": "amount",
        "fee": "fee",
        "vat": "vat",
        "total_charge": "total_charge",
        "settled": "settled",
        "currency": "currency",
        "bearer": "bearer",
    }


@dataclass(frozen=True)
class ChargesReply(Result):
    status: int
    data: Charges
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class ClientRecord(Result):
    """A client with a masked BVN. An erased one has only its id, status and dates."""

    client_id: str
    status: Literal["active", "blacklisted", "exited", "inactive", "pending_approval", "rejected"]
    bvn_verified: bool
    date_created: dt.datetime
    firstname: str | None = None
    lastname: str | None = None
    middlename: str | None = None
    email: str | None = None
    gender: str | None = None
    dob: dt.date | None = None
    phone: str | None = None
    bvn: str | None = field(default=None, repr=False)
    addresses: tuple[Mapping[str, Any], ...] | None = None
    bank_account: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    date_erased: dt.datetime | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "client_id": "client_id",
        "status": "status",
        "bvn_verified": "bvn_verified",
        "firstname": "firstname",
        "lastname": "lastname",
        "middlename": "middlename",
        "email": "email",
        "gender": "gender",
        "dob": "dob",
        "phone": "phone",
        "bvn": "bvn",
        "addresses": "addresses",
        "bank_account": "bankAccount",
        "meta": "meta",
        "date_created": "dateCreated",
        "date_erased": "dateErased",
    }


@dataclass(frozen=True)
class ClientReply(Result):
    status: int
    message: str
    data: ClientRecord
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class ClockReply(Result):
    status: int
    now: dt.datetime
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "now": "now"}


@dataclass(frozen=True)
class DeliveryAttempt(Result):
    number: int
    at: dt.datetime
    ms: int
    http: int | None = None
    error: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "number": "number",
        "at": "at",
        "http": "http",
        "error": "error",
        "ms": "ms",
    }


@dataclass(frozen=True)
class DepositReply(Result):
    """The reply of the payment. A deposit from the wallet also has the new balance. A dry run explains each figure
    and has no txnRef.
    """

    status: int
    message: str
    txn_ref: str | None = None
    txn_status: Literal["failed", "pending", "successful"] | None = None
    loan_id: str | None = None
    savings_id: str | None = None
    apply_auth: str | None = None
    auth_type: str | None = None
    validate: str | None = None
    auth_url: str | None = None
    state: str | None = None
    ussd_code: str | None = None
    enrolment: bool | None = None
    qr_code: str | None = None
    qr_image: str | None = None
    account_number: str | None = None
    account_name: str | None = None
    bank_name: str | None = None
    account_expires: int | None = None
    amount: Decimal | None = None
    expires: int | None = None
    card_token: str | None = field(default=None, repr=False)
    bank_message: str | None = None
    fullname: str | None = None
    email: str | None = None
    charged_amount: Decimal | None = None
    fraud_status: str | None = None
    card: PayerCard | None = None
    currency: str | None = None
    payment_method: str | None = None
    meta: Mapping[str, Any] | None = None
    balance: Decimal | None = None
    dry_run: bool | None = None
    explained: tuple[DryRunFigure, ...] | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "message": "message",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "apply_auth": "apply_auth",
        "auth_type": "auth_type",
        "validate": "validate",
        "auth_url": "authURL",
        "state": "state",
        "ussd_code": "ussd_code",
        "enrolment": "enrolment",
        "qr_code": "qr_code",
        "qr_image": "qr_image",
        "account_number": "accountNumber",
        "account_name": "accountName",
        "bank_name": "bankName",
        "account_expires": "accountExpires",
        "amount": "amount",
        "expires": "expires",
        "card_token": "cardToken",
        "bank_message": "bank_message",
        "fullname": "fullname",
        "email": "email",
        "charged_amount": "chargedAmount",
        "fraud_status": "fraudStatus",
        "card": "card",
        "currency": "currency",
        "payment_method": "payment_method",
        "meta": "meta",
        "balance": "balance",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class DepositValidateReply(Result):
    status: int
    txn_ref: str
    message: str
    txn_status: Literal["failed", "pending", "successful"] | None = None
    loan_id: str | None = None
    savings_id: str | None = None
    apply_auth: str | None = None
    auth_type: str | None = None
    validate: str | None = None
    auth_url: str | None = None
    state: str | None = None
    ussd_code: str | None = None
    enrolment: bool | None = None
    qr_code: str | None = None
    qr_image: str | None = None
    account_number: str | None = None
    account_name: str | None = None
    bank_name: str | None = None
    account_expires: int | None = None
    amount: Decimal | None = None
    expires: int | None = None
    card_token: str | None = field(default=None, repr=False)
    bank_message: str | None = None
    fullname: str | None = None
    email: str | None = None
    charged_amount: Decimal | None = None
    fraud_status: str | None = None
    card: PayerCard | None = None
    currency: str | None = None
    payment_method: str | None = None
    meta: Mapping[str, Any] | None = None
    dry_run: bool | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "message": "message",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "apply_auth": "apply_auth",
        "auth_type": "auth_type",
        "validate": "validate",
        "auth_url": "authURL",
        "state": "state",
        "ussd_code": "ussd_code",
        "enrolment": "enrolment",
        "qr_code": "qr_code",
        "qr_image": "qr_image",
        "account_number": "accountNumber",
        "account_name": "accountName",
        "bank_name": "bankName",
        "account_expires": "accountExpires",
        "amount": "amount",
        "expires": "expires",
        "card_token": "cardToken",
        "bank_message": "bank_message",
        "fullname": "fullname",
        "email": "email",
        "charged_amount": "chargedAmount",
        "fraud_status": "fraudStatus",
        "card": "card",
        "currency": "currency",
        "payment_method": "payment_method",
        "meta": "meta",
        "dry_run": "dry_run",
    }


@dataclass(frozen=True)
class DryRunFigure(Result):
    """One figure of a dry run, and how it was calculated."""

    what: str
    amount: Decimal
    how: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"what": "what", "amount": "amount", "how": "how"}


@dataclass(frozen=True)
class EventLine(Result):
    event_id: str
    sequence: int
    txn_ref: str
    kind: str
    state: Literal["delivered", "endpoint_off", "exhausted", "no_endpoint", "scheduled"]
    date_created: dt.datetime
    payload: Mapping[str, Any]
    attempts: tuple[DeliveryAttempt, ...]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "event_id": "event_id",
        "sequence": "sequence",
        "txn_ref": "txnRef",
        "kind": "kind",
        "state": "state",
        "date_created": "dateCreated",
        "payload": "payload",
        "attempts": "attempts",
    }


@dataclass(frozen=True)
class ExplainReply(Result):
    """The timeline, oldest entry first."""

    status: int
    data: tuple[Mapping[str, Any], ...]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class InboundPaymentReply(Result):
    status: int
    txn_status: Literal["failed", "pending", "successful"]
    txn_ref: str
    message: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "message": "message",
    }


@dataclass(frozen=True)
class InstallmentChangedReply(Result):
    status: int
    message: str
    data: InstallmentPlan
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class InstallmentLine(Result):
    date: str
    amount: Decimal
    paid: bool
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"date": "date", "amount": "amount", "paid": "paid"}


@dataclass(frozen=True)
class InstallmentPlan(Result):
    id: str
    state: str
    total: Decimal
    paid: Decimal
    currency: str
    payment_schedule: tuple[InstallmentLine, ...]
    card_token: str = field(repr=False)
    txn_ref: str
    email: str
    date_created: dt.datetime
    next_charge: dt.datetime | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "id": "id",
        "state": "state",
        "total": "total",
        "paid": "paid",
        "currency": "currency",
        "next_charge": "next_charge",
        "payment_schedule": "payment_schedule",
        "card_token": "cardToken",
        "txn_ref": "txnRef",
        "email": "email",
        "date_created": "dateCreated",
    }


@dataclass(frozen=True)
class InterestReply(Result):
    interest_rate: Decimal
    interest_frequency: Literal["annualized", "every_day", "every_four_weeks", "every_month", "every_week"]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "interest_rate": "interestRate",
        "interest_frequency": "interestFrequency",
    }


@dataclass(frozen=True)
class LoanInstallments(Result):
    """The numbers of a loan's installments: all, paid and late."""

    total: int
    paid: int
    late: int
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"total": "total", "paid": "paid", "late": "late"}


@dataclass(frozen=True)
class LoanNextDue(Result):
    """The oldest installment that is not fully paid. `amount` is what is owed of it."""

    n: int
    due: dt.date
    amount: Decimal
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"n": "n", "due": "due", "amount": "amount"}


@dataclass(frozen=True)
class LoanOutstanding(Result):
    """The amounts owed by the schedule, and `payoff`, the amount that closes the loan today."""

    principal: Decimal
    interest: Decimal
    tax: Decimal
    penalty: Decimal
    total: Decimal
    payoff: Decimal
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "principal": "principal",
        "interest": "interest",
        "tax": "tax",
        "penalty": "penalty",
        "total": "total",
        "payoff": "payoff",
    }


@dataclass(frozen=True)
class LoanRecord(Result):
    """One loan with its schedule. Until it is paid out, the schedule is the one it would have from today."""

    client_id: str
    state: Literal[
        "active",
        "active_in_arrears",
        "approved",
        "closed_rejected",
        "closed_repaid",
        "closed_withdrawn",
        "closed_written_off",
        "disbursing",
        "pending_approval",
    ]
    amount: Decimal
    currency: Literal["NGN"]
    interest_settings: InterestReply
    method: Literal["declining_equal_instalments", "equal_principal", "flat"]
    period: int
    tax_applied: bool
    tax_rate: Decimal
    penalty_rate: Decimal
    tolerance_days: int
    outstanding: LoanOutstanding
    credit: Decimal
    created_at: dt.datetime
    schedule: tuple[LoanScheduleLine, ...]
    loan_id: str | None = None
    txn_ref: str | None = None
    disbursed_at: dt.datetime | None = None
    closed_at: dt.datetime | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "loan_id": "loan_id",
        "client_id": "client_id",
        "state": "state",
        "amount": "amount",
        "currency": "currency",
        "interest_settings": "interestSettings",
        "method": "method",
        "period": "period",
        "tax_applied": "tax_applied",
        "tax_rate": "tax_rate",
        "penalty_rate": "penalty_rate",
        "tolerance_days": "tolerance_days",
        "outstanding": "outstanding",
        "credit": "credit",
        "txn_ref": "txnRef",
        "created_at": "created_at",
        "disbursed_at": "disbursed_at",
        "closed_at": "closed_at",
        "schedule": "schedule",
    }


@dataclass(frozen=True)
class LoanReply(Result):
    """A loan after a request. `txnRef` and `txnStatus` are present if the loan was approved, and are those of its
    disbursement. A failed disbursement leaves the loan approved.
    """

    status: int
    message: str
    data: LoanRecord
    txn_ref: str | None = None
    txn_status: str | None = None
    loan_id: str | None = None
    dry_run: bool | None = None
    explained: tuple[DryRunFigure, ...] | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "loan_id": "loan_id",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class LoanScheduleLine(Result):
    """One installment of a schedule. `total` and `paid` do not include penalties."""

    n: int
    due: dt.date
    principal: Decimal
    interest: Decimal
    tax: Decimal
    total: Decimal
    paid: Decimal
    state: Literal["late", "paid", "partially_paid", "pending", "written_off"]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "n": "n",
        "due": "due",
        "principal": "principal",
        "interest": "interest",
        "tax": "tax",
        "total": "total",
        "paid": "paid",
        "state": "state",
    }


@dataclass(frozen=True)
class LoanStatementLine(Result):
    """One posting on one of the loan's accounts. A positive amount raises what is owed, a negative one lowers it.
    `balance` is what is owed of that part afterwards. `origin` is the txnRef of the transaction, or the loan_id.
    """

    date_created: dt.datetime
    origin: str
    part: Literal["credit", "interest", "penalty", "principal", "tax"]
    narration: str
    amount: Decimal
    balance: Decimal
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "date_created": "dateCreated",
        "origin": "origin",
        "part": "part",
        "narration": "narration",
        "amount": "amount",
        "balance": "balance",
    }


@dataclass(frozen=True)
class LoanSummary(Result):
    """A loan in a list, with figures in place of its schedule. `view` shows the schedule."""

    client_id: str
    state: Literal[
        "active",
        "active_in_arrears",
        "approved",
        "closed_rejected",
        "closed_repaid",
        "closed_withdrawn",
        "closed_written_off",
        "disbursing",
        "pending_approval",
    ]
    amount: Decimal
    currency: Literal["NGN"]
    interest_settings: InterestReply
    method: Literal["declining_equal_instalments", "equal_principal", "flat"]
    period: int
    tax_applied: bool
    tax_rate: Decimal
    penalty_rate: Decimal
    tolerance_days: int
    outstanding: LoanOutstanding
    credit: Decimal
    created_at: dt.datetime
    installments: LoanInstallments
    loan_id: str | None = None
    txn_ref: str | None = None
    disbursed_at: dt.datetime | None = None
    closed_at: dt.datetime | None = None
    next_due: LoanNextDue | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "loan_id": "loan_id",
        "client_id": "client_id",
        "state": "state",
        "amount": "amount",
        "currency": "currency",
        "interest_settings": "interestSettings",
        "method": "method",
        "period": "period",
        "tax_applied": "tax_applied",
        "tax_rate": "tax_rate",
        "penalty_rate": "penalty_rate",
        "tolerance_days": "tolerance_days",
        "outstanding": "outstanding",
        "credit": "credit",
        "txn_ref": "txnRef",
        "created_at": "created_at",
        "disbursed_at": "disbursed_at",
        "closed_at": "closed_at",
        "installments": "installments",
        "next_due": "next_due",
    }


@dataclass(frozen=True)
class NewMerchantReply(Result):
    status: int
    mid: str
    key: str = field(repr=False)
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "mid": "mid", "key": "key"}


@dataclass(frozen=True)
class PayerCard(Result):
    """The card data that may be shown. `hash` is keyed: equal for the same card of the same merchant."""

    hash: str
    mask: str
    bin: str
    brand: str | None = None
    type: str | None = None
    issuer: str | None = None
    country: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "hash": "hash",
        "mask": "mask",
        "bin": "bin",
        "brand": "brand",
        "type": "type",
        "issuer": "issuer",
        "country": "country",
    }


@dataclass(frozen=True)
class PaymentReply(Result):
    """Reply of every payment step. Status 200 has `txnStatus`. Status 201 is pending too: the rail's answer could
    not be read. Status 202 says what the payer must do.
    """

    status: int
    txn_ref: str
    message: str
    txn_status: Literal["failed", "pending", "successful"] | None = None
    loan_id: str | None = None
    savings_id: str | None = None
    apply_auth: str | None = None
    auth_type: str | None = None
    validate: str | None = None
    auth_url: str | None = None
    state: str | None = None
    ussd_code: str | None = None
    enrolment: bool | None = None
    qr_code: str | None = None
    qr_image: str | None = None
    account_number: str | None = None
    account_name: str | None = None
    bank_name: str | None = None
    account_expires: int | None = None
    amount: Decimal | None = None
    expires: int | None = None
    card_token: str | None = field(default=None, repr=False)
    bank_message: str | None = None
    fullname: str | None = None
    email: str | None = None
    charged_amount: Decimal | None = None
    fraud_status: str | None = None
    card: PayerCard | None = None
    currency: str | None = None
    payment_method: str | None = None
    meta: Mapping[str, Any] | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "message": "message",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "apply_auth": "apply_auth",
        "auth_type": "auth_type",
        "validate": "validate",
        "auth_url": "authURL",
        "state": "state",
        "ussd_code": "ussd_code",
        "enrolment": "enrolment",
        "qr_code": "qr_code",
        "qr_image": "qr_image",
        "account_number": "accountNumber",
        "account_name": "accountName",
        "bank_name": "bankName",
        "account_expires": "accountExpires",
        "amount": "amount",
        "expires": "expires",
        "card_token": "cardToken",
        "bank_message": "bank_message",
        "fullname": "fullname",
        "email": "email",
        "charged_amount": "chargedAmount",
        "fraud_status": "fraudStatus",
        "card": "card",
        "currency": "currency",
        "payment_method": "payment_method",
        "meta": "meta",
    }


@dataclass(frozen=True)
class PaymentState(Result):
    """A payment as `verify` shows it. `chargedAmount` is a number here. A pending payment has the payer's next step,
    as `charge` returns it. `refunds` lists all refunds, newest first, failed ones too. If a refund was asked for,
    `refundRef`, status, message and amount are the refund's, and `txnRef` and the rest are its payment's.
    """

    status: int
    txn_status: Literal["failed", "pending", "successful"]
    txn_ref: str
    message: str
    charged_amount: Decimal
    currency: str
    payment_method: str
    fullname: str
    email: str
    bank_message: str
    fraud_status: str
    customer_txnref: str | None = None
    card: PayerCard | None = None
    card_token: str | None = field(default=None, repr=False)
    refunded_amount: Decimal | None = None
    loan_id: str | None = None
    savings_id: str | None = None
    meta: Mapping[str, Any] | None = None
    unapplied_amount: Decimal | None = None
    refund_ref: str | None = None
    refundable_amount: Decimal | None = None
    refunds: tuple[RefundLine, ...] | None = None
    apply_auth: str | None = None
    auth_type: str | None = None
    validate: str | None = None
    auth_url: str | None = None
    ussd_code: str | None = None
    qr_code: str | None = None
    qr_image: str | None = None
    account_number: str | None = None
    account_name: str | None = None
    bank_name: str | None = None
    amount: Decimal | None = None
    expires_at: dt.datetime | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "customer_txnref": "customer_txnref",
        "message": "message",
        "charged_amount": "chargedAmount",
        "currency": "currency",
        "payment_method": "payment_method",
        "fullname": "fullname",
        "email": "email",
        "bank_message": "bank_message",
        "fraud_status": "fraudStatus",
        "card": "card",
        "card_token": "cardToken",
        "refunded_amount": "refundedAmount",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "meta": "meta",
        "unapplied_amount": "unappliedAmount",
        "refund_ref": "refundRef",
        "refundable_amount": "refundableAmount",
        "refunds": "refunds",
        "apply_auth": "apply_auth",
        "auth_type": "auth_type",
        "validate": "validate",
        "auth_url": "authURL",
        "ussd_code": "ussd_code",
        "qr_code": "qr_code",
        "qr_image": "qr_image",
        "account_number": "accountNumber",
        "account_name": "accountName",
        "bank_name": "bankName",
        "amount": "amount",
        "expires_at": "expires_at",
    }


@dataclass(frozen=True)
class PersonalizedAccount(Result):
    account_number: str
    account_name: str
    bank_name: str
    reference: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "account_number": "accountNumber",
        "account_name": "accountName",
        "bank_name": "bankName",
        "reference": "reference",
    }


@dataclass(frozen=True)
class PersonalizedReply(Result):
    status: int
    message: str
    data: PersonalizedAccount
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class PlanRecord(Result):
    """A thrift plan. `thrift_id` is null in the dry run of a new plan. `cycle` is the number of cycles done."""

    name: str
    amount: Decimal
    frequency: str
    start_date: dt.date
    member_required: int
    members: int
    state: Literal["cancelled", "completed", "open", "running"]
    cycle: int
    thrift_id: str | None = None
    next_date: dt.date | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "thrift_id": "thrift_id",
        "name": "name",
        "amount": "amount",
        "frequency": "frequency",
        "start_date": "start_date",
        "member_required": "member_required",
        "members": "members",
        "state": "state",
        "cycle": "cycle",
        "next_date": "next_date",
    }


@dataclass(frozen=True)
class PlanReply(Result):
    status: int
    message: str
    data: PlanRecord
    dry_run: bool | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
    }


@dataclass(frozen=True)
class PurchaseReply(Result):
    """The result of a purchase or refund. `message` of a declined purchase says who declined it and why."""

    status: int
    txn_status: Literal["failed", "successful"]
    txn_ref: str
    bank_message: str
    message: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "bank_message": "bank_message",
        "message": "message",
    }


@dataclass(frozen=True)
class RecurrentChangedReply(Result):
    status: int
    message: str
    data: RecurrentPlan
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class RecurrentPlan(Result):
    """A recurrent payment. `txnRef` is its newest charge, `paid` the sum of all successful ones."""

    id: str
    state: str
    amount: Decimal
    currency: str
    frequency: str
    value: str
    paid: Decimal
    card_token: str = field(repr=False)
    txn_ref: str
    email: str
    date_created: dt.datetime
    next_charge: dt.datetime | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "id": "id",
        "state": "state",
        "amount": "amount",
        "currency": "currency",
        "frequency": "frequency",
        "value": "value",
        "next_charge": "next_charge",
        "paid": "paid",
        "card_token": "cardToken",
        "txn_ref": "txnRef",
        "email": "email",
        "date_created": "dateCreated",
    }


@dataclass(frozen=True)
class RefundLine(Result):
    """One refund of a payment, in any status."""

    refund_ref: str
    txn_status: Literal["failed", "pending", "successful"]
    amount: Decimal
    message: str
    comment: str
    date_created: dt.datetime
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "refund_ref": "refundRef",
        "txn_status": "txnStatus",
        "amount": "amount",
        "message": "message",
        "comment": "comment",
        "date_created": "dateCreated",
    }


@dataclass(frozen=True)
class RefundReply(Result):
    """One refund. `refundedAmount` and `refundableAmount` are of its payment: refunded so far, and still refundable."""

    status: int
    txn_ref: str
    refund_ref: str
    txn_status: Literal["failed", "pending", "successful"]
    amount: Decimal
    currency: str
    refunded_amount: Decimal
    refundable_amount: Decimal
    message: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_ref": "txnRef",
        "refund_ref": "refundRef",
        "txn_status": "txnStatus",
        "amount": "amount",
        "currency": "currency",
        "refunded_amount": "refundedAmount",
        "refundable_amount": "refundableAmount",
        "message": "message",
    }


@dataclass(frozen=True)
class RepayReply(Result):
    """The reply of the payment at every step of its flow. A repayment by `wallet` and a dry run also have the
    allocation and the loan after it. A dry run has no txnRef.
    """

    status: int
    message: str
    txn_ref: str | None = None
    txn_status: Literal["failed", "pending", "successful"] | None = None
    loan_id: str | None = None
    savings_id: str | None = None
    apply_auth: str | None = None
    auth_type: str | None = None
    validate: str | None = None
    auth_url: str | None = None
    state: str | None = None
    ussd_code: str | None = None
    enrolment: bool | None = None
    qr_code: str | None = None
    qr_image: str | None = None
    account_number: str | None = None
    account_name: str | None = None
    bank_name: str | None = None
    account_expires: int | None = None
    amount: Decimal | None = None
    expires: int | None = None
    card_token: str | None = field(default=None, repr=False)
    bank_message: str | None = None
    fullname: str | None = None
    email: str | None = None
    charged_amount: Decimal | None = None
    fraud_status: str | None = None
    card: PayerCard | None = None
    currency: str | None = None
    payment_method: str | None = None
    meta: Mapping[str, Any] | None = None
    allocation: RepaymentAllocation | None = None
    data: LoanRecord | None = None
    dry_run: bool | None = None
    explained: tuple[DryRunFigure, ...] | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "message": "message",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "apply_auth": "apply_auth",
        "auth_type": "auth_type",
        "validate": "validate",
        "auth_url": "authURL",
        "state": "state",
        "ussd_code": "ussd_code",
        "enrolment": "enrolment",
        "qr_code": "qr_code",
        "qr_image": "qr_image",
        "account_number": "accountNumber",
        "account_name": "accountName",
        "bank_name": "bankName",
        "account_expires": "accountExpires",
        "amount": "amount",
        "expires": "expires",
        "card_token": "cardToken",
        "bank_message": "bank_message",
        "fullname": "fullname",
        "email": "email",
        "charged_amount": "chargedAmount",
        "fraud_status": "fraudStatus",
        "card": "card",
        "currency": "currency",
        "payment_method": "payment_method",
        "meta": "meta",
        "allocation": "allocation",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class RepaymentAllocation(Result):
    """The parts of a loan that a repayment covered."""

    penalty: Decimal
    interest: Decimal
    tax: Decimal
    principal: Decimal
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "penalty": "penalty",
        "interest": "interest",
        "tax": "tax",
        "principal": "principal",
    }


@dataclass(frozen=True)
class RepaymentValidateReply(Result):
    status: int
    txn_ref: str
    message: str
    txn_status: Literal["failed", "pending", "successful"] | None = None
    loan_id: str | None = None
    savings_id: str | None = None
    apply_auth: str | None = None
    auth_type: str | None = None
    validate: str | None = None
    auth_url: str | None = None
    state: str | None = None
    ussd_code: str | None = None
    enrolment: bool | None = None
    qr_code: str | None = None
    qr_image: str | None = None
    account_number: str | None = None
    account_name: str | None = None
    bank_name: str | None = None
    account_expires: int | None = None
    amount: Decimal | None = None
    expires: int | None = None
    card_token: str | None = field(default=None, repr=False)
    bank_message: str | None = None
    fullname: str | None = None
    email: str | None = None
    charged_amount: Decimal | None = None
    fraud_status: str | None = None
    card: PayerCard | None = None
    currency: str | None = None
    payment_method: str | None = None
    meta: Mapping[str, Any] | None = None
    dry_run: bool | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "message": "message",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "apply_auth": "apply_auth",
        "auth_type": "auth_type",
        "validate": "validate",
        "auth_url": "authURL",
        "state": "state",
        "ussd_code": "ussd_code",
        "enrolment": "enrolment",
        "qr_code": "qr_code",
        "qr_image": "qr_image",
        "account_number": "accountNumber",
        "account_name": "accountName",
        "bank_name": "bankName",
        "account_expires": "accountExpires",
        "amount": "amount",
        "expires": "expires",
        "card_token": "cardToken",
        "bank_message": "bank_message",
        "fullname": "fullname",
        "email": "email",
        "charged_amount": "chargedAmount",
        "fraud_status": "fraudStatus",
        "card": "card",
        "currency": "currency",
        "payment_method": "payment_method",
        "meta": "meta",
        "dry_run": "dry_run",
    }


@dataclass(frozen=True)
class ResendReply(Result):
    status: int
    message: str
    sent: int
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "sent": "sent"}


@dataclass(frozen=True)
class SandboxReply(Result):
    status: int
    message: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message"}


@dataclass(frozen=True)
class SavingsCashcodeReply(Result):
    """The result of a cash-out by cashcode. `cashcode` and a generated `pin` are shown once. A replayed reply has
    neither.
    """

    status: int
    message: str
    balance: Decimal
    txn_ref: str | None = None
    txn_status: str | None = None
    savings_id: str | None = None
    dry_run: bool | None = None
    explained: tuple[DryRunFigure, ...] | None = None
    cashcode: str | None = field(default=None, repr=False)
    pin: str | None = field(default=None, repr=False)
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "savings_id": "savings_id",
        "balance": "balance",
        "dry_run": "dry_run",
        "explained": "explained",
        "cashcode": "cashcode",
        "pin": "pin",
    }


@dataclass(frozen=True)
class SavingsRecord(Result):
    """A savings account. `savings_id` is null in a dry run. `plans` has the newest thrift plans that the savings are
    subscribed to, at most 100, and `plans_total` is the number of all of them.
    """

    client_id: str
    name: str
    state: Literal["active", "closed", "matured", "pending"]
    balance: Decimal
    accrued_interest: Decimal
    interest_settings: InterestReply
    tax_applied: bool
    tax_rate: Decimal
    period: int
    opened_at: dt.datetime
    matures_at: dt.datetime
    plans: tuple[str, ...]
    plans_total: int
    savings_id: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "savings_id": "savings_id",
        "client_id": "client_id",
        "name": "name",
        "state": "state",
        "balance": "balance",
        "accrued_interest": "accrued_interest",
        "interest_settings": "interestSettings",
        "tax_applied": "tax_applied",
        "tax_rate": "tax_rate",
        "period": "period",
        "opened_at": "opened_at",
        "matures_at": "matures_at",
        "plans": "plans",
        "plans_total": "plans_total",
    }


@dataclass(frozen=True)
class SavingsReply(Result):
    status: int
    message: str
    data: SavingsRecord
    dry_run: bool | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
    }


@dataclass(frozen=True)
class SavingsStatementLine(Result):
    """One posting on the savings. A positive amount came in, a negative one went out. `balance` is the balance after
    it. `origin` is the txnRef of the transaction, the savings_id for interest and tax, or the thrift_id.
    """

    date_created: dt.datetime
    origin: str
    narration: str
    amount: Decimal
    balance: Decimal
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "date_created": "dateCreated",
        "origin": "origin",
        "narration": "narration",
        "amount": "amount",
        "balance": "balance",
    }


@dataclass(frozen=True)
class SavingsTotals(Result):
    """Totals of all postings on savings other than deposits and cash-outs."""

    interest: Decimal
    withheld_tax: Decimal
    thrift_paid: Decimal
    thrift_received: Decimal
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "interest": "interest",
        "withheld_tax": "withheld_tax",
        "thrift_paid": "thrift_paid",
        "thrift_received": "thrift_received",
    }


@dataclass(frozen=True)
class SavingsViewReply(Result):
    """A savings account with the totals of interest, tax and thrift in `moved`. `statement` shows each posting."""

    status: int
    message: str
    data: SavingsRecord
    moved: SavingsTotals
    dry_run: bool | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "moved": "moved",
    }


@dataclass(frozen=True)
class SettleReply(Result):
    status: int
    txn_status: str
    txn_ref: str
    message: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "message": "message",
    }


@dataclass(frozen=True)
class SpendingLimitsReply(Result):
    status: int
    message: str
    data: SpendingLimitsShown
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class SpendingLimitsShown(Result):
    categories: tuple[str, ...]
    per_transaction: Decimal | None = None
    per_day: Decimal | None = None
    per_month: Decimal | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "per_transaction": "per_transaction",
        "per_day": "per_day",
        "per_month": "per_month",
        "categories": "categories",
    }


@dataclass(frozen=True)
class SubscriptionRecord(Result):
    """A member of a thrift plan. `position` is the number of the cycle whose pot it receives, on `payout_date`."""

    savings_id: str
    client_id: str
    position: int
    payout_date: dt.date
    contributed: Decimal
    received: Decimal
    owed: Decimal
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "savings_id": "savings_id",
        "client_id": "client_id",
        "position": "position",
        "payout_date": "payout_date",
        "contributed": "contributed",
        "received": "received",
        "owed": "owed",
    }


@dataclass(frozen=True)
class SubscriptionReply(Result):
    status: int
    message: str
    data: SubscriptionRecord
    dry_run: bool | None = None
    explained: tuple[DryRunFigure, ...] | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class TransferReply(Result):
    status: int
    txn_status: Literal["failed", "pending", "processing", "successful"]
    txn_ref: str
    order_ref: str
    message: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "order_ref": "orderRef",
        "message": "message",
    }


@dataclass(frozen=True)
class TransferState(Result):
    """The current state of a transfer, or of a bulk with its batchRef and one line of `data` per order, as sent."""

    status: int
    txn_status: Literal["conflict", "failed", "partial", "pending", "processing", "successful"]
    message: str
    txn_ref: str | None = None
    order_ref: str | None = None
    batch_ref: str | None = None
    amount: Decimal | None = None
    fee: Decimal | None = None
    vat: Decimal | None = None
    loan_id: str | None = None
    savings_id: str | None = None
    data: tuple[BulkOrderState, ...] | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "order_ref": "orderRef",
        "batch_ref": "batchRef",
        "amount": "amount",
        "fee": "fee",
        "vat": "vat",
        "message": "message",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "data": "data",
    }


@dataclass(frozen=True)
class Violation(Result):
    """A place where the books violate an invariant."""

    invariant: str
    """The statement that must hold."""
    place: str
    """The account, posting or reference where it does not."""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"invariant": "invariant", "place": "place"}


@dataclass(frozen=True)
class VirtualCard(Result):
    """A card. Number and CVV are absent from the replayed reply of a creation."""

    reference: str
    balance: Decimal
    currency: Literal["NGN", "USD"]
    maskedpan: str
    city: str
    state: str
    address: str
    postal_code: str
    expiration: str
    card_type: str
    name_on_card: str
    card_owner: Literal["customer"]
    status: Literal["active", "blocked", "terminated"]
    cardpan: str | None = field(default=None, repr=False)
    cvv: str | None = field(default=None, repr=False)
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "reference": "reference",
        "balance": "balance",
        "currency": "currency",
        "cardpan": "cardpan",
        "maskedpan": "maskedpan",
        "city": "city",
        "state": "state",
        "address": "address",
        "postal_code": "postal_code",
        "cvv": "cvv",
        "expiration": "expiration",
        "card_type": "card_type",
        "name_on_card": "name_on_card",
        "card_owner": "card_owner",
        "status": "status",
    }


@dataclass(frozen=True)
class VirtualCardChangedReply(Result):
    status: int
    message: str
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message"}


@dataclass(frozen=True)
class VirtualCardReply(Result):
    status: int
    message: str
    card_data: VirtualCard
    limits: SpendingLimitsShown | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "card_data": "card_data",
        "limits": "limits",
    }


@dataclass(frozen=True)
class WalletLine(Result):
    currency: str
    balance: Decimal
    available: Decimal
    held: Decimal
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "currency": "currency",
        "balance": "balance",
        "available": "available",
        "held": "held",
    }


@dataclass(frozen=True)
class WalletReply(Result):
    status: int
    data: tuple[WalletLine, ...]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}
