"""Invoices: the row, its states and its personal data. Contract: resources#invoices

    unpaid ──> partly_paid ──> paid
       │            │
       └─> overdue <┘          from the day after the due date; a payment in full makes it paid
    unpaid, overdue ──> void   while nothing was paid

A refund of a payment does not change the state: the invoice shows what was refunded.
"""

import re
from datetime import date, datetime
from typing import ClassVar

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Refusal, Row
from kasuwa.core.references import job_key, row_key
from kasuwa.methods.invoices.rules.amounts import InvoiceItem

UNPAID = "unpaid"
PARTLY_PAID = "partly_paid"
PAID = "paid"
OVERDUE = "overdue"
VOID = "void"
# States in which an invoice can be paid.
PAYABLE = frozenset({UNPAID, PARTLY_PAID, OVERDUE})

ID_PREFIX = "IN"
EVENT_KIND = "invoice"
# The kind of token by which the page of an invoice is found (core/token_index.py).
INVOICE_PAGE = "invoice"
# The source of its checkouts (transactions/checkouts.py).
SOURCE = "invoice"
LANE = "invoices"
BECOME_OVERDUE = "invoices.overdue"
REMIND = "invoices.remind"
# Days from the due date to each reminder, and the hour in Lagos at which it is sent.
REMINDER_DAYS = (-3, 1, 7)
REMINDER_HOUR = 9
# Purposes of mails about invoices.
INVOICE_MAIL, REMINDER_MAIL = "invoice", "invoice_reminder"

UNKNOWN_INVOICE = Refusal(INVALID_REQUEST, "Invalid Invoice Reference", error_code="invoice_not_found")


class InvoiceCounter(Row):
    """The last number that a merchant gave to an invoice."""

    table: ClassVar[str] = "invoice_counter"
    mutable_columns: ClassVar[tuple[str, ...]] = ("last_number",)

    last_number: int


class Invoice(Row):
    """One invoice. Amounts are in minor units."""

    table: ClassVar[str] = "invoice"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "customer_id",
        "currency",
        "subtotal",
        "discount",
        "vat",
        "shipping",
        "total",
        "paid",
        "reserved",
        "refunded",
        "status",
        "allows_parts",
        "reminders",
        "received_outside",
        "receipts",
        "due_on",
        "detail",
        "personal_sealed",
        "event_count",
        "changed_at",
        "paid_at",
        "voided_at",
    )

    invoice_id: str
    number: int  # of the merchant's invoices, from 1 without holes
    customer_id: str
    currency: str
    subtotal: int
    discount: int
    vat: int
    shipping: int
    total: int
    paid: int
    reserved: int  # by attempts to pay that have not ended
    refunded: int  # of what was paid; does not make it payable again
    status: str
    allows_parts: bool
    due_on: date | None  # a date in Lagos; None if it never becomes overdue
    detail: str  # an InvoiceDetail
    personal_sealed: bytes | None  # an encrypted InvoicePerson; None once the customer was erased
    event_count: int
    created_at: datetime
    changed_at: datetime
    paid_at: datetime | None
    voided_at: datetime | None
    reminders: bool = False  # whether its customer is reminded of it by mail
    received_outside: int = 0  # of what was paid: received by the merchant itself, outside of the books
    receipts: str = "[]"  # a tuple of OutsideReceipt

    @property
    def is_open(self) -> bool:
        return False

    @property
    def outstanding(self) -> int:
        return 0 if self.status == VOID else self.total - self.paid

    @property
    def label(self) -> str:
        """The number as people read it."""
        return f"INV-{self.number:06d}"


class InvoiceDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """The items and rates of an invoice, and the token of its page."""

    items: tuple[InvoiceItem, ...]
    discount_type: str
    discount: str  # as requested: an amount or a percentage
    vat_rate: str  # in percent
    page_token: str


class InvoicePerson(msgspec.Struct, frozen=True, omit_defaults=True):
    """The customer as the invoice shows it, and the note to the customer."""

    name: str
    email: str  # empty if there is none
    phone: str | None = None
    address: str | None = None
    note: str | None = None

    def __repr__(self) -> str:
        return "InvoicePerson(…)"


class OutsideReceipt(msgspec.Struct, frozen=True, omit_defaults=True):
    """An amount that a merchant received for an invoice itself, as it was recorded."""

    reference: str  # the merchant's, such as the number of a teller; empty once the customer was erased
    amount: int
    method: str
    received_on: date
    recorded_at: datetime
    recorded_by: str  # the key or the person
    undone_at: datetime | None = None  # when the record was taken back


RECEIPTS_DECODER: "msgspec.json.Decoder[tuple[OutsideReceipt, ...]]" = msgspec.json.Decoder(tuple[OutsideReceipt, ...])

# Six digits, or more without a leading zero.
LABEL = re.compile(r"INV-([0-9]{6}|[1-9][0-9]{6,14})", re.ASCII)

DETAIL_DECODER: "msgspec.json.Decoder[InvoiceDetail]" = msgspec.json.Decoder(InvoiceDetail)
PERSON_DECODER: "msgspec.json.Decoder[InvoicePerson]" = msgspec.json.Decoder(InvoicePerson)


def invoice_key(merchant_id: int, invoice_id: str) -> bytes:
    return row_key(merchant_id, "invoice", invoice_id)


def parse_invoice_number(text: str) -> int | None:
    """Returns the number of an invoice as people read it (`Invoice.label`), or None if the text is none."""
    match = LABEL.fullmatch(text)
    return None if match is None else int(match[1])


def counter_key(merchant_id: int) -> bytes:
    return row_key(merchant_id, "invoice counter", "")


def reminder_subject(invoice: Invoice) -> bytes:
    """Returns the subject of the job of an invoice's next reminder: the invoice has another job, for its due date."""
    return row_key(invoice.merchant_id, "invoice reminder", invoice.invoice_id)


def reminder_key(invoice: Invoice) -> bytes:
    """Returns the key of the job of an invoice's next reminder."""
    return job_key(reminder_subject(invoice))


def personal_aad(invoice_id: str) -> str:
    return f"invoice.personal_sealed {invoice_id}"


def file_path(token: str) -> str:
    """Returns the path of an invoice as a PDF file."""
    return f"{page_path(token)}/invoice.pdf"


def page_path(token: str) -> str:
    """Returns the path of the page on which an invoice is shown and paid."""
    return f"/pay/invoice/{token}"
