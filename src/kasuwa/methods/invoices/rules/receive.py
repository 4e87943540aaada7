"""Records what a merchant received for an invoice itself, in cash or at its bank. Contract: resources#invoice-received

Nothing is posted: the money was never here, so the wallet does not have it, and no fee is taken. The invoice counts it
as paid and says which part of `paid` it is. A record that was wrong is taken back under its reference, and stays.
"""

from datetime import date

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    refuse_fields,
)
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key
from kasuwa.methods.invoices.model import (
    PAID,
    PAYABLE,
    RECEIPTS_DECODER,
    UNKNOWN_INVOICE,
    VOID,
    Invoice,
    OutsideReceipt,
    invoice_key,
    reminder_key,
)
from kasuwa.methods.invoices.rules.issue import due_date_job
from kasuwa.methods.invoices.rules.send import schedule_reminder
from kasuwa.methods.invoices.rules.states import choose_state, read_person, record_change, show_invoice
from kasuwa.methods.invoices.wire import InvoiceNotReceivedRequest, InvoiceReceivedRequest, InvoiceReply
from kasuwa.transactions.transactions import encode_text

# An invoice is not a ledger: one that is paid in more parts is paid through a link or an account.
MAX_RECEIPTS = 50

VOID_INVOICE = Refusal(INVALID_REQUEST, "The invoice is void. Nothing was recorded", error_code="invoice_void")
PAID_INVOICE = Refusal(INVALID_REQUEST, "The invoice is paid. Nothing was recorded", error_code="invoice_paid")
BEING_PAID = Refusal(
    INVALID_REQUEST,
    "The invoice is being paid online: more than its total would be paid. Try again when that payment has ended",
    error_code="invoice_being_paid",
)
REFERENCE_USED = Refusal(
    INVALID_REQUEST,
    "Something else was recorded for this invoice under this reference. Nothing was recorded",
    error_code="received_reference_used",
)
TOO_MANY = Refusal(
    INVALID_REQUEST,
    f"An invoice takes at most {MAX_RECEIPTS} records of money received. Nothing was recorded",
    error_code="received_limit",
)
NOT_RECEIVED = Refusal(
    INVALID_REQUEST, "Nothing was recorded for this invoice under this reference", error_code="received_not_found"
)


def need_receipt(request: InvoiceReceivedRequest | InvoiceNotReceivedRequest, merchant: Merchant) -> Needs:
    key = invoice_key(merchant.merchant_id, request.invoice_id)
    return Needs(((Invoice, key), (Job, job_key(key))))


def decide_receipt(
    request: InvoiceReceivedRequest, context: Context, rows: LoadedRows
) -> Decision[InvoiceReply] | Refusal | NeedsMore:
    """Records an amount as received. The same request again returns the invoice as it is."""
    invoice = rows.get(Invoice, invoice_key(context.merchant.merchant_id, request.invoice_id))
    if invoice is None:
        return UNKNOWN_INVOICE
    receipts = RECEIPTS_DECODER.decode(invoice.receipts)
    today, amount = lagos_day(context.now), int(request.amount)
    received_on = today if request.received_on is None else date.fromisoformat(request.received_on)
    new = OutsideReceipt(
        reference=request.reference,
        amount=amount,
        method=request.method,
        received_on=received_on,
        recorded_at=context.now,
        recorded_by=context.merchant.caller.label,
    )
    earlier = next((one for one in receipts if one.reference == new.reference and one.undone_at is None), None)
    if earlier is not None:
        is_repeat = (earlier.amount, earlier.method) == (new.amount, new.method)
        return Decision(reply=make_reply(invoice, "Payment Recorded Already", context)) if is_repeat else REFERENCE_USED
    refused = refuse_receipt(invoice, new, len(receipts), today)
    if refused is not None:
        return refused
    if not rows.is_loaded(reminder_key(invoice)):
        return NeedsMore(Needs(((Job, reminder_key(invoice)),)))
    counted = msgspec.structs.replace(
        invoice,
        paid=invoice.paid + amount,
        received_outside=invoice.received_outside + amount,
        receipts=encode_text((*receipts, new)),
    )
    return write_counted(counted, "Payment Recorded", context, rows)


def refuse_receipt(invoice: Invoice, new: OutsideReceipt, known: int, today: date) -> Refusal | None:
    if invoice.status == VOID:
        return VOID_INVOICE
    if invoice.status not in PAYABLE:
        return PAID_INVOICE
    faults = []
    if not 0 < new.amount <= invoice.outstanding:
        faults.append(FieldError("amount", f"above zero and at most {format_minor(invoice.outstanding)}"))
    if new.received_on > today:
        faults.append(FieldError("received_on", f"not after today, {today}"))
    if faults:
        return refuse_fields(*faults)
    if new.amount > invoice.outstanding - invoice.reserved:
        return BEING_PAID
    return TOO_MANY if known >= MAX_RECEIPTS else None


def decide_no_receipt(
    request: InvoiceNotReceivedRequest, context: Context, rows: LoadedRows
) -> Decision[InvoiceReply] | Refusal | NeedsMore:
    """Takes a record back: the invoice is to be paid again. One that was taken back already is returned as it is."""
    invoice = rows.get(Invoice, invoice_key(context.merchant.merchant_id, request.invoice_id))
    if invoice is None:
        return UNKNOWN_INVOICE
    receipts = RECEIPTS_DECODER.decode(invoice.receipts)
    recorded = [one for one in receipts if one.reference == request.reference]
    if not recorded:
        return NOT_RECEIVED
    wrong = next((one for one in recorded if one.undone_at is None), None)
    if wrong is None:
        return Decision(reply=make_reply(invoice, "Record Taken Back Already", context))
    if not rows.is_loaded(reminder_key(invoice)):
        return NeedsMore(Needs(((Job, reminder_key(invoice)),)))
    undone = msgspec.structs.replace(wrong, undone_at=context.now)
    counted = msgspec.structs.replace(
        invoice,
        paid=invoice.paid - wrong.amount,
        received_outside=invoice.received_outside - wrong.amount,
        receipts=encode_text(tuple(undone if one is wrong else one for one in receipts)),
    )
    return write_counted(counted, "Record Taken Back", context, rows)


def write_counted(counted: Invoice, message: str, context: Context, rows: LoadedRows) -> Decision[InvoiceReply]:
    """Returns the decision that writes an invoice with another amount paid: its state, its event and its jobs."""
    status = choose_state(counted, context)
    paid_at = (counted.paid_at or context.now) if status == PAID else None
    changed, event = record_change(msgspec.structs.replace(counted, status=status, paid_at=paid_at), context)
    pending = rows.get(Job, job_key(changed.key))
    is_watched = status != PAID and changed.due_on is not None and lagos_day(context.now) <= changed.due_on
    decision = Decision(
        reply=make_reply(changed, message, context),
        rows=(changed,),
        jobs=event.jobs,
        jobs_done=(pending,) if pending is not None and not is_watched else (),
        events=(event.event,),
    )
    if is_watched and pending is None and changed.due_on is not None:
        decision.jobs += (due_date_job(changed, changed.due_on),)
    decision.add(schedule_reminder(changed, context, rows))
    return decision


def make_reply(invoice: Invoice, message: str, context: Context) -> InvoiceReply:
    person = read_person(invoice, context.vault.unseal)
    return InvoiceReply(message=message, data=show_invoice(invoice, person, context.public_url))
