"""Requests and replies of `resources` about invoices. Contract: resources#invoices"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.methods.invoices.fields import ChargeUser, Discount, DiscountType, DueDate, ItemText, Note
from kasuwa.methods.mail.wire import MailStatus
from kasuwa.wire.fields import Amount, AmountOrZero, Currency, NonNegativeInt, PercentRate, Reference
from kasuwa.wire.paging import Paged

InvoiceStatus = Literal["unpaid", "partly_paid", "paid", "overdue", "void"]

MAX_ITEMS = 100


class ItemFields(msgspec.Struct, kw_only=True):
    """One item. Each of its three parts may have another name."""

    description: ItemText | None = None
    "What is sold. Required, under this name or as `name`."
    name: ItemText | None = None
    "Another name of `description`, which counts if both are sent."
    quantity: NonNegativeInt | None = None
    "Number of units, 1 to 1,000,000. Default 1."
    qty: NonNegativeInt | None = None
    "Another name of `quantity`, which counts if both are sent."
    amount: AmountOrZero | None = None
    "Price of one unit. Required, under this name, as `unit_cost` or as `price`."
    unit_cost: AmountOrZero | None = None
    "Another name of `amount`, which counts if both are sent."
    price: AmountOrZero | None = None
    "Another name of `amount`."


Items = Annotated[list[ItemFields], Meta(min_length=1, max_length=MAX_ITEMS, description=f"1 to {MAX_ITEMS} items")]


class InvoiceRequest(msgspec.Struct, kw_only=True):
    """Makes an invoice. With `invoice_id` it replaces the contents of one on which nothing was paid: its number and
    link stay, and every field counts as in a new invoice."""

    customer_id: Reference
    "The customer who is to pay, of the action `customer`."
    items: Items
    "What the invoice is for."
    currency: Currency | None = None
    "Currency of all amounts. Default NGN."
    date_due: DueDate | None = None
    "Last day to pay, in Lagos. From the next day on the invoice is overdue. Without it, it never is."
    discount_type: DiscountType | None = None
    "What `discount` is: `flat`, an amount (the default), or `percentage`, of the sum of the items."
    discount: Discount | None = None
    "Subtracted before VAT. At most the sum of the items. Default 0."
    shipping: AmountOrZero | None = None
    "Added after VAT. Default 0."
    vat: PercentRate | None = None
    "VAT in percent, at most 100, of the items less the discount. Default 0."
    note: Note | None = None
    "Text to the customer, shown on the invoice."
    charge_user: ChargeUser | None = None
    """`parts`: the customer may pay in parts of a chosen amount. `full` (the default): one payment of the whole
    amount."""
    invoice_id: Reference | None = None
    "The invoice to change. Absent: a new one."
    dry_run: bool | None = None
    "Not supported: a request with `true` is refused and makes no invoice."


class InvoiceSummary(msgspec.Struct, kw_only=True):
    """An invoice without its items."""

    invoice_id: str
    "Identifier of the invoice."
    number: str
    "Number of the invoice. Yours are numbered from 1 without holes."
    link: str
    "Address of the page that shows the invoice and takes its payment. Whoever has it can pay."
    customer_id: str
    "The customer."
    currency: str
    "Currency of all amounts."
    subtotal: str
    "Sum of the items."
    discount: str
    "The discount as an amount."
    vat: str
    "The VAT as an amount."
    shipping: str
    "Shipping costs."
    total: str
    "What is to be paid: `subtotal` less `discount`, plus `vat` and `shipping`."
    paid: str
    "What was paid, refunded payments included."
    refunded: str
    "What was refunded of the payments. It does not change the status."
    outstanding: str
    "What is left to pay. 0.00 if the invoice is void."
    status: InvoiceStatus
    "State of the invoice."
    date_due: str | None
    "Last day to pay. Null if there is none."
    reminders: bool
    "Whether the customer is reminded of it by mail."
    created_at: str
    "Time at which the invoice was made, in UTC."
    paid_at: str | None
    "Time at which it was paid in full, in UTC. Else null."


class InvoiceLine(msgspec.Struct, kw_only=True):
    """One item of an invoice."""

    description: str
    "What is sold."
    quantity: int
    "Number of units."
    amount: str
    "Price of one unit."
    total: str
    "`quantity` times `amount`."


class InvoiceCustomer(msgspec.Struct, kw_only=True):
    """The customer as the invoice shows it."""

    name: str
    "Name of the customer."
    email: str | None
    "Email address, or null."
    phone: str | None
    "Telephone number, or null."
    address: str | None
    "Postal address, or null."


class InvoicePayment(msgspec.Struct, kw_only=True):
    """A successful payment of an invoice."""

    txn_ref: str = field(name="txnRef")
    "Reference of the payment."
    amount: str
    "What it paid of the invoice."
    refunded: str
    "What was refunded of it."
    disputed: str
    "What is disputed of it or was lost in disputes. 0.00 if every dispute was won."
    method: str
    "Payment type."
    paid_at: str
    "Time of the payment, in UTC."


ReceivedMethod = Literal["cash", "bank", "other"]


class InvoiceReceipt(msgspec.Struct, kw_only=True):
    """An amount that you received for an invoice yourself. Nothing of it is in your wallet."""

    reference: str | None
    "Your reference. Null if the customer was erased."
    amount: str
    "What was received."
    method: ReceivedMethod
    "How it was received."
    received_on: str
    "The day on which it was received."
    recorded_at: str
    "Time at which it was recorded, in UTC."
    recorded_by: str
    "The key or the person that recorded it."
    undone_at: str | None
    "Time at which the record was taken back, in UTC. Else null."


class InvoiceRecord(InvoiceSummary, kw_only=True):
    """An invoice."""

    items: list[InvoiceLine]
    "What the invoice is for."
    discount_type: Literal["flat", "percentage"]
    "What the requested discount was."
    discount_rate: str | None
    "The discount in percent. Null if it is an amount."
    vat_rate: str
    "The VAT in percent."
    charge_user: Literal["full", "parts"]
    "Whether the customer may pay in parts."
    note: str | None
    "Text to the customer. Null if there is none, or if the customer was erased."
    customer: InvoiceCustomer | None
    "The customer as of the last change of the invoice. Null if the customer was erased."
    voided_at: str | None
    "Time at which it was voided, in UTC. Else null."
    payments: list[InvoicePayment]
    "The newest 100 successful payments, newest first."
    received: list[InvoiceReceipt] | UnsetType = UNSET
    "What you received yourself, outside of your wallet, oldest first. Absent if nothing was recorded."


class InvoiceReply(msgspec.Struct, kw_only=True):
    """One invoice."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: InvoiceRecord
    "The invoice."


class InvoiceReceivedRequest(msgspec.Struct, kw_only=True):
    """Records what you received for an invoice yourself, in cash or at your bank. It moves no money."""

    invoice_id: Reference
    "Identifier of the invoice."
    amount: Amount
    "What you received: at most what is outstanding."
    method: ReceivedMethod
    "How you received it."
    reference: Reference
    "Your reference, such as the number of a receipt or a teller. An amount is counted once under it."
    received_on: DueDate | None = None
    "The day on which you received it, in Lagos, not after today. Default: today."
    dry_run: bool | None = None
    "Not supported: a request with `true` is refused and records nothing."


class InvoiceNotReceivedRequest(msgspec.Struct, kw_only=True):
    """Takes back what was recorded as received by mistake. The invoice is to be paid again."""

    invoice_id: Reference
    "Identifier of the invoice."
    reference: Reference
    "The reference under which it was recorded."
    dry_run: bool | None = None
    "Not supported: a request with `true` is refused and changes nothing."


class InvoiceSendRequest(msgspec.Struct, kw_only=True):
    """Mails an invoice to its customer, with the link to its page and the one to its PDF file."""

    invoice_id: Reference
    "Identifier of the invoice."
    reminders: bool | None = None
    """Whether the customer is reminded by mail as long as it is not paid: three days before the due date, the day after
    it and a week after it, at 9:00 in Lagos. Default: as it was; at first false."""
    dry_run: bool | None = None
    "Not supported: a request with `true` is refused and sends nothing."


class InvoiceSending(msgspec.Struct, kw_only=True):
    """The mail of an invoice, and the next reminder."""

    invoice_id: str
    "Identifier of the invoice."
    number: str
    "Number of the invoice."
    mail_id: str
    "Identifier of the mail. The same invoice is mailed once a day: the second request returns the first mail."
    mail_status: MailStatus
    "State of the mail."
    reminders: bool
    "Whether the customer is reminded."
    next_reminder: str | None
    "Time of the next reminder, in UTC. Null if there is none."


class InvoiceSendReply(msgspec.Struct, kw_only=True):
    """The mail of an invoice."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: InvoiceSending
    "The mail."


class InvoicesRequest(Paged, kw_only=True):
    """Lists invoices, newest first."""

    status: InvoiceStatus | None = None
    "Lists only invoices in this state."
    customer_id: Reference | None = None
    "Lists only invoices of this customer."


class InvoicesReply(msgspec.Struct, kw_only=True):
    """One page of invoices, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[InvoiceSummary]
    "The invoices."
    total: int
    "Number of invoices on all pages."
    offset: int
    "Number of invoices that were skipped."
    limit: int
    "Largest number of invoices on this page. The next page begins at `offset` + `limit`."


class InvoiceShowRequest(msgspec.Struct, kw_only=True):
    """Shows one invoice."""

    invoice_id: Reference
    "Identifier of the invoice."


class InvoiceVoidRequest(msgspec.Struct, kw_only=True):
    """Voids an invoice on which nothing was paid. It can then no longer be paid or changed."""

    invoice_id: Reference
    "Identifier of the invoice."
    dry_run: bool | None = None
    "Not supported: a request with `true` is refused and voids nothing."
