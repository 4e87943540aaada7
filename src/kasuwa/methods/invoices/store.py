"""Reads invoices. Never writes; every WHERE has the merchant_id."""

from typing import Any

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.methods.invoices.model import SOURCE, UNKNOWN_INVOICE, Invoice, invoice_key
from kasuwa.methods.invoices.rules.states import read_person, show_invoice, show_summary
from kasuwa.methods.invoices.wire import (
    InvoicePayment,
    InvoiceReply,
    InvoiceShowRequest,
    InvoicesReply,
    InvoicesRequest,
    InvoiceSummary,
)
from kasuwa.methods.payment.model import payment_key

COLUMNS = ", ".join(Invoice.__struct_fields__)
BY_KEY = f"select {COLUMNS} from invoice where key = $1 and merchant_id = $2"
# A filter that the request does not have is null.
MATCHING = "merchant_id = $1 and ($2::text is null or status = $2) and ($3::text is null or customer_id = $3)"
NEWEST_FIRST = f"select {COLUMNS} from invoice where {MATCHING} order by number desc offset $4 limit $5"
COUNT = f"select count(*) from invoice where {MATCHING}"

OF_CUSTOMER = f"select {COLUMNS} from invoice where merchant_id = $1 and customer_id = $2 order by number"

# Payments that a reply has, the newest. Contract: resources#invoices
MAX_PAYMENTS = 100
PAID_CHECKOUTS = f"""
    select payment_ref, amount, ended_at from checkout
    where merchant_id = $1 and source = '{SOURCE}' and source_id = $2 and source_id <> '' and state = 'paid'
    order by created_at desc, seq desc limit {MAX_PAYMENTS}
"""
PAYMENTS = "select txn_ref, method, refunded, disputed from payment where merchant_id = $1 and key = any($2)"


async def list_invoices(request: InvoicesRequest, merchant: Merchant, reader: ActionReader) -> InvoicesReply:
    offset, limit = request.offset_and_limit
    filters = (merchant.merchant_id, request.status, request.customer_id)
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(NEWEST_FIRST, *filters, offset, limit)
        [[total]] = await snapshot.fetch(COUNT, *filters)

    def show(row: Any) -> InvoiceSummary:
        return show_summary(Invoice(*row), reader.public_url)

    lines = await reader.make_lines(show, rows)
    return InvoicesReply(data=lines, total=total, offset=offset, limit=limit)


async def find_invoice(merchant_id: int, invoice_id: str, reader: Reader) -> Invoice | None:
    row = await reader.fetchrow(BY_KEY, invoice_key(merchant_id, invoice_id), merchant_id)
    return None if row is None else Invoice(*row)


async def list_customer_invoices(merchant_id: int, customer_id: str, reader: Reader) -> list[Invoice]:
    """Returns all invoices of a customer, oldest first, for exports and erasure."""
    return [Invoice(*row) for row in await reader.fetch(OF_CUSTOMER, merchant_id, customer_id)]


async def show_one(request: InvoiceShowRequest, merchant: Merchant, reader: ActionReader) -> InvoiceReply | Refusal:
    async with reader.snapshot() as snapshot:
        invoice = await find_invoice(merchant.merchant_id, request.invoice_id, snapshot)
        if invoice is None:
            return UNKNOWN_INVOICE
        payments = await list_payments(invoice, snapshot)
    person = read_person(invoice, reader.unseal)
    return InvoiceReply(message="Invoice", data=show_invoice(invoice, person, reader.public_url, payments))


async def list_payments(invoice: Invoice, reader: Reader) -> list[InvoicePayment]:
    checkouts = await reader.fetch(PAID_CHECKOUTS, invoice.merchant_id, invoice.invoice_id)
    keys = [payment_key(invoice.merchant_id, payment_ref) for payment_ref, _, _ in checkouts]
    payments = {
        txn_ref: (method, refunded, disputed)
        for txn_ref, method, refunded, disputed in await reader.fetch(PAYMENTS, invoice.merchant_id, keys)
    }
    return [
        InvoicePayment(
            txn_ref=payment_ref,
            amount=format_minor(amount),
            refunded=format_minor(min(payments[payment_ref][1], amount)),
            disputed=format_minor(min(payments[payment_ref][2], amount)),
            method=payments[payment_ref][0],
            paid_at=utc_text(at),
        )
        for payment_ref, amount, at in checkouts
    ]
