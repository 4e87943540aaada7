"""How an invoice changes: its state after a payment, its event at each change, and how it is shown.

Contract: resources#invoices, events#payload
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.decision import Context, Refusal
from kasuwa.core.money import format_minor
from kasuwa.methods.invoices.fields import IN_FULL, IN_PARTS
from kasuwa.methods.invoices.model import (
    DETAIL_DECODER,
    EVENT_KIND,
    OVERDUE,
    PAID,
    PARTLY_PAID,
    PERSON_DECODER,
    RECEIPTS_DECODER,
    UNPAID,
    VOID,
    Invoice,
    InvoiceDetail,
    InvoicePerson,
    page_path,
    personal_aad,
)
from kasuwa.methods.invoices.rules.amounts import PERCENTAGE
from kasuwa.methods.invoices.wire import (
    InvoiceCustomer,
    InvoiceLine,
    InvoicePayment,
    InvoiceReceipt,
    InvoiceRecord,
    InvoiceSummary,
)
from kasuwa.privacy.erasure import TRANSACTION_IN_PROGRESS
from kasuwa.transactions.object_events import ObjectEvent, make_object_event
from kasuwa.transactions.transactions import encode_text

Unsealer = Callable[[int, str, bytes], bytes]

# `txnStatus` of the event of each state.
EVENT_STATUS = {PAID: "successful", VOID: "failed"}


def choose_state(invoice: Invoice, context: Context) -> str:
    """Returns the state of an invoice that is not void, by what was paid and the merchant's date."""
    if invoice.paid >= invoice.total:
        return PAID
    if invoice.due_on is not None and lagos_day(context.now) > invoice.due_on:
        return OVERDUE
    return PARTLY_PAID if invoice.paid else UNPAID


def record_change(invoice: Invoice, context: Context, payment_ref: str | None = None) -> tuple[Invoice, ObjectEvent]:
    """Returns the invoice as changed now, and its event."""
    changed = msgspec.structs.replace(invoice, event_count=invoice.event_count + 1, changed_at=context.now)
    event = make_object_event(
        context,
        EVENT_KIND,
        changed,
        changed.invoice_id,
        changed.event_count,
        {
            "txn_status": EVENT_STATUS.get(changed.status, "pending"),
            "charged_amount": format_minor(changed.paid),
            "payment_method": EVENT_KIND,
            "currency": changed.currency,
            "invoice_id": changed.invoice_id,
            "number": changed.label,
            "customer_id": changed.customer_id,
            "invoice_status": changed.status,
            "total": format_minor(changed.total),
            "outstanding": format_minor(changed.outstanding),
            "payment_ref": payment_ref,
        },
    )
    return changed, event


def erase_person(invoice: Invoice) -> Invoice | Refusal:
    """Returns the invoice without the name and address of its customer, the note and the references of what was
    received, which may name somebody. Refused while it is being paid."""
    if invoice.reserved:
        return TRANSACTION_IN_PROGRESS
    receipts = [msgspec.structs.replace(one, reference="") for one in RECEIPTS_DECODER.decode(invoice.receipts)]
    return msgspec.structs.replace(invoice, personal_sealed=None, receipts=encode_text(receipts))


# --- records ----------------------------------------------------------------------------------------------------------


def read_person(invoice: Invoice, unseal: Unsealer) -> InvoicePerson | None:
    """Returns the customer as the invoice shows it, or None if the customer was erased."""
    if invoice.personal_sealed is None:
        return None
    plain = unseal(invoice.merchant_id, personal_aad(invoice.invoice_id), bytes(invoice.personal_sealed))
    return PERSON_DECODER.decode(plain)


def summary_fields(invoice: Invoice, detail: InvoiceDetail, public_url: str) -> dict[str, Any]:
    return {
        "invoice_id": invoice.invoice_id,
        "number": invoice.label,
        "link": public_url + page_path(detail.page_token),
        "customer_id": invoice.customer_id,
        "currency": invoice.currency,
        "subtotal": format_minor(invoice.subtotal),
        "discount": format_minor(invoice.discount),
        "vat": format_minor(invoice.vat),
        "shipping": format_minor(invoice.shipping),
        "total": format_minor(invoice.total),
        "paid": format_minor(invoice.paid),
        "refunded": format_minor(invoice.refunded),
        "outstanding": format_minor(invoice.outstanding),
        "status": invoice.status,
        "date_due": None if invoice.due_on is None else invoice.due_on.isoformat(),
        "reminders": invoice.reminders,
        "created_at": utc_text(invoice.created_at),
        "paid_at": None if invoice.paid_at is None else utc_text(invoice.paid_at),
    }


def show_summary(invoice: Invoice, public_url: str) -> InvoiceSummary:
    return InvoiceSummary(**summary_fields(invoice, DETAIL_DECODER.decode(invoice.detail), public_url))


def show_invoice(
    invoice: Invoice, person: InvoicePerson | None, public_url: str, payments: Sequence[InvoicePayment] = ()
) -> InvoiceRecord:
    detail = DETAIL_DECODER.decode(invoice.detail)
    return InvoiceRecord(
        **summary_fields(invoice, detail, public_url),
        items=[
            InvoiceLine(
                description=item.description,
                quantity=item.quantity,
                amount=format_minor(item.amount),
                total=format_minor(item.total),
            )
            for item in detail.items
        ],
        discount_type=detail.discount_type,  # type: ignore[arg-type]
        discount_rate=detail.discount if detail.discount_type == PERCENTAGE else None,
        vat_rate=detail.vat_rate,
        charge_user=IN_PARTS if invoice.allows_parts else IN_FULL,  # type: ignore[arg-type]
        note=None if person is None else person.note,
        customer=None
        if person is None
        else InvoiceCustomer(name=person.name, email=person.email or None, phone=person.phone, address=person.address),
        voided_at=None if invoice.voided_at is None else utc_text(invoice.voided_at),
        payments=list(payments),
        received=show_receipts(invoice) or msgspec.UNSET,
    )


def show_receipts(invoice: Invoice) -> list[InvoiceReceipt]:
    return [
        InvoiceReceipt(
            reference=one.reference or None,
            amount=format_minor(one.amount),
            method=one.method,  # type: ignore[arg-type]
            received_on=one.received_on.isoformat(),
            recorded_at=utc_text(one.recorded_at),
            recorded_by=one.recorded_by,
            undone_at=None if one.undone_at is None else utc_text(one.undone_at),
        )
        for one in RECEIPTS_DECODER.decode(invoice.receipts)
    ]
