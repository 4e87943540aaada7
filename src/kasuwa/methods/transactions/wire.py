"""The request and reply of `resources` that list all transactions. Contract: resources#transactions"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from kasuwa.transactions.transactions import TransactionKind
from kasuwa.wire.fields import FREE_TEXT, AmountOrZero, Currency, LagosDate

MAX_LIMIT = 100
PageLimit = Annotated[int, Meta(ge=1, le=MAX_LIMIT, description=f"1 to {MAX_LIMIT}")]
CursorText = Annotated[str, Meta(min_length=1, max_length=200, description="the `next_cursor` of a reply")]
ReferencePart = Annotated[str, Meta(min_length=3, max_length=100, description="3 to 100 characters", extra=FREE_TEXT)]
CustomerText = Annotated[
    str, Meta(min_length=1, max_length=254, description="a `customer_id` or an email address", extra=FREE_TEXT)
]
Status = Literal["pending", "processing", "successful", "failed"]
Method = Literal["card", "token", "account", "ussd", "phone", "qrpay", "bank_transfer", "mobile_money"]


class TransactionsRequest(msgspec.Struct, kw_only=True):
    """Lists transactions of every kind, newest first. Filters that are sent must all match."""

    kind: TransactionKind | None = None
    "Lists only transactions of this kind."
    status: Status | None = None
    "Lists only transactions with this status."
    first_day: LagosDate | None = field(name="from", default=None)
    "First day of creation, in Lagos."
    last_day: LagosDate | None = field(name="to", default=None)
    "Last day of creation, in Lagos."
    currency: Currency | None = None
    "Lists only transactions in this currency."
    min_amount: AmountOrZero | None = None
    "Lists only transactions of at least this amount, fees not included."
    max_amount: AmountOrZero | None = None
    "Lists only transactions of at most this amount, fees not included."
    customer: CustomerText | None = None
    "Lists only payments of this customer, by `customer_id` or by the `user.email` of the payments."
    reference: ReferencePart | None = None
    """Any part of your reference or of ours, in any case. A whole reference finds its transactions at once and no
    others."""
    method: Method | None = None
    "Lists only payments by this payment type."
    limit: PageLimit | None = None
    "Largest number of transactions to return. Default 50."
    cursor: CursorText | None = None
    "Continues after the page that had this `next_cursor`. Send the same filters with it."


class TransactionSummary(msgspec.Struct, kw_only=True):
    """A transaction of the list."""

    txn_ref: str = field(name="txnRef")
    "Reference of the transaction, given by the service."
    order_ref: str = field(name="orderRef")
    "Your own reference, such as `orderRef` or `customer_txnref`. Empty if you gave none."
    kind: TransactionKind
    "Kind of the transaction."
    txn_status: Status = field(name="txnStatus")
    "State of the transaction. `successful` and `failed` are final."
    currency: str
    "Currency of the amounts."
    amount: str
    "Amount of the transaction, without fees."
    fee: str
    "Fee of the transaction. Zero if it failed."
    vat: str
    "VAT on the fee. Zero if the transaction failed."
    duty: str
    "Stamp duty. Zero if the transaction failed."
    method: str | None
    "Payment type of a payment. Null for other kinds."
    message: str
    "Last message about the transaction, at most 200 characters."
    date_created: str = field(name="dateCreated")
    "Time at which the transaction began, in UTC."
    date_ended: str | None = field(name="dateEnded")
    "Time at which the transaction became final, in UTC. Null while it is open."


class TransactionsReply(msgspec.Struct, kw_only=True):
    """One page of transactions, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[TransactionSummary]
    """The transactions. If few of many match, a page can have fewer than `limit`, or none, although others follow:
    `next_cursor` says so."""
    next_cursor: str | None
    "Send it as `cursor` for the next page. Null if there is none."
