"""Requests and replies of `resources` about customers. Contract: resources#customers"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from kasuwa.wire.fields import FREE_TEXT, Reference
from kasuwa.wire.paging import Paged
from kasuwa.wire.people import Email, PersonName, Phone

Address = Annotated[str, Meta(max_length=300, description="at most 300 characters", extra=FREE_TEXT)]
SearchText = Annotated[str, Meta(min_length=1, max_length=254, description="1 to 254 characters", extra=FREE_TEXT)]


class CustomerRequest(msgspec.Struct, kw_only=True):
    """Registers a person who pays you. The same email address again is the same customer, and so is the same telephone
    number without an email address: the fields that are sent replace the earlier ones."""

    name: PersonName
    "Name of the customer."
    email: Email | None = None
    """Email address, in any case. Payments with this `user.email` belong to the customer, earlier ones too. Without it
    the customer is known by the telephone number."""
    phone: Phone | None = None
    "Telephone number. Required without an email address, then with its country's code, or Nigerian."
    address: Address | None = None
    "Postal address."
    dry_run: bool | None = None
    "Not supported: a request with `true` is refused and registers nobody."


class CustomerRecord(msgspec.Struct, kw_only=True):
    """A customer. Personal data of an erased customer are null."""

    customer_id: str
    "Identifier of the customer."
    name: str | None
    "Name of the customer."
    email: str | None
    "Email address as it was sent last. Null if the customer is known by the telephone number."
    phone: str | None
    "Telephone number. Null if it was never sent."
    address: str | None
    "Postal address. Null if it was never sent."
    created_at: str
    "Time of the first registration, in UTC."


class CustomerReply(msgspec.Struct, kw_only=True):
    """The customer, new or brought up to date."""

    status: Literal[200] = 200
    "200: the customer is registered."
    message: str
    "The outcome in words."
    data: CustomerRecord
    "The customer."


class CustomersRequest(Paged, kw_only=True):
    """Lists customers, newest first."""

    search: SearchText | None = None
    """Lists only customers with this whole email address or telephone number, or whose name has words that begin with
    each of these words (at least three letters of each)."""


class CustomersReply(msgspec.Struct, kw_only=True):
    """One page of customers, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[CustomerRecord]
    "The customers."
    total: int
    "Number of customers on all pages."
    offset: int
    "Number of customers that were skipped."
    limit: int
    "Largest number of customers on this page. The next page begins at `offset` + `limit`."


# --- one customer -----------------------------------------------------------------------------------------------


class CustomerDetailRequest(msgspec.Struct, kw_only=True):
    """Shows one customer with payments."""

    customer_id: Reference
    "Identifier of the customer."


class CustomerTotal(msgspec.Struct, kw_only=True):
    """The payments of a customer in one currency."""

    currency: str
    "Currency of the amounts."
    payments: int
    "Number of successful payments."
    paid: str
    "Sum of the successful payments, refunded ones included."
    refunded: str
    "Sum of the successful refunds of these payments."
    failed: int
    "Number of failed payments."
    open: int
    "Number of payments that have not ended."


class CustomerInvoices(msgspec.Struct, kw_only=True):
    """The invoices of a customer in one currency, without void ones."""

    currency: str
    "Currency of the amounts."
    invoices: int
    "Number of invoices."
    overdue: int
    "Number of those that are overdue."
    total: str
    "Sum of their totals."
    paid: str
    "What was paid of them, refunded payments included."
    refunded: str
    "What was refunded of these payments."
    outstanding: str
    "What is left to pay."


class CustomerCard(msgspec.Struct, kw_only=True):
    """A saved card of a customer."""

    card: str
    "The masked number of the card."
    brand: str | None
    "Card network, such as `visa`. Null if unknown."
    issuer: str | None
    "Name of the bank that issued the card. Null if unknown."
    token: str
    "The first characters of the card's token."
    created_at: str
    "Time at which the card was saved, in UTC."


class CustomerPayment(msgspec.Struct, kw_only=True):
    """A payment of a customer."""

    txn_ref: str = field(name="txnRef")
    "Reference of the payment."
    customer_txnref: str
    "Your own reference. Empty if you gave none."
    txn_status: Literal["pending", "processing", "successful", "failed"] = field(name="txnStatus")
    "State of the payment."
    currency: str
    "Currency of the payment."
    amount: str
    "Amount of the payment."
    method: str
    "Payment type."
    date_created: str = field(name="dateCreated")
    "Time at which the payment began, in UTC."


class CustomerDetail(CustomerRecord, kw_only=True):
    """A customer with what belongs to it."""

    totals: list[CustomerTotal]
    "Totals of the customer's payments, one line a currency."
    invoices: list[CustomerInvoices]
    "Totals of the customer's invoices, one line a currency."
    cards: list[CustomerCard]
    "Saved cards of the customer's newest 1,000 payments, newest first, at most 20."
    transactions: list[CustomerPayment]
    "The newest 20 payments."


class CustomerDetailReply(msgspec.Struct, kw_only=True):
    """One customer."""

    status: Literal[200] = 200
    "200: there is such a customer."
    message: str
    "The outcome in words."
    data: CustomerDetail
    "The customer."
