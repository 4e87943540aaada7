"""Makes, changes and voids invoices, and makes them overdue. Contract: resources#invoices"""

from datetime import date, timedelta

import msgspec

from kasuwa.core.calendar import lagos_day, lagos_moment
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
    Row,
    make_job,
    refuse_fields,
)
from kasuwa.core.references import job_key, opaque_id
from kasuwa.core.token_index import make_page_entry
from kasuwa.methods.customers.rules import find_customer_row, read_data
from kasuwa.methods.invoices.fields import IN_PARTS, NO_DISCOUNT
from kasuwa.methods.invoices.model import (
    BECOME_OVERDUE,
    DETAIL_DECODER,
    ID_PREFIX,
    INVOICE_PAGE,
    LANE,
    PAYABLE,
    UNKNOWN_INVOICE,
    UNPAID,
    VOID,
    Invoice,
    InvoiceCounter,
    InvoiceDetail,
    InvoicePerson,
    counter_key,
    invoice_key,
    personal_aad,
    reminder_key,
)
from kasuwa.methods.invoices.rules.amounts import FLAT, NO_VAT
from kasuwa.methods.invoices.rules.check_invoice import compute_request_amounts, find_faults, make_items
from kasuwa.methods.invoices.rules.send import schedule_reminder
from kasuwa.methods.invoices.rules.states import choose_state, read_person, record_change, show_invoice
from kasuwa.methods.invoices.wire import InvoiceReply, InvoiceRequest, InvoiceVoidRequest
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.transactions import encode_text

# Hexadecimal digits of a page token: 192 bits.
PAGE_TOKEN_DIGITS = 48

ALREADY_VOID = Refusal(INVALID_REQUEST, "The invoice is void", error_code="invoice_void")
ALREADY_PAID = Refusal(
    INVALID_REQUEST,
    "The invoice was paid, in part or in full: it can no longer be changed or voided",
    error_code="invoice_paid",
)
BEING_PAID = Refusal(
    INVALID_REQUEST, "The invoice is being paid; try again when that payment has ended", error_code="invoice_being_paid"
)


def need_invoice(request: InvoiceRequest | InvoiceVoidRequest, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    if request.invoice_id is None:
        return Needs(((InvoiceCounter, counter_key(merchant_id)),))
    key = invoice_key(merchant_id, request.invoice_id)
    return Needs(((Invoice, key), (Job, job_key(key))))


def decide_invoice(
    request: InvoiceRequest, context: Context, rows: LoadedRows
) -> Decision[InvoiceReply] | Refusal | NeedsMore:
    earlier: Invoice | None = None
    if request.invoice_id is not None:
        invoice_or_refusal = find_changeable(request.invoice_id, context, rows)
        if isinstance(invoice_or_refusal, Refusal):
            return invoice_or_refusal
        earlier = invoice_or_refusal
        if not rows.is_loaded(reminder_key(earlier)):
            return NeedsMore(Needs(((Job, reminder_key(earlier)),)))
    person = find_person(request, context, rows)
    if isinstance(person, NeedsMore):
        return person
    due_on = None if request.date_due is None else date.fromisoformat(request.date_due)
    faults = find_faults(request, context.merchant)
    if person is None:
        faults = [FieldError("customer_id", "no customer has this id"), *faults]
    if due_on is not None and due_on < lagos_day(context.now):
        faults = [*faults, FieldError("date_due", f"not before today, {lagos_day(context.now)}")]
    if faults or person is None:
        return refuse_fields(*faults)
    base = earlier or begin_invoice(context, rows)
    filled = fill_invoice(base, request, person, due_on, context)
    message = "Invoice Created" if earlier is None else "Invoice Updated"
    return write_invoice(filled, person, is_new=earlier is None, message=message, context=context, loaded_rows=rows)


def find_changeable(invoice_id: str, context: Context, rows: LoadedRows) -> Invoice | Refusal:
    """Returns an invoice that may be changed or voided, or why it may not."""
    invoice = rows.get(Invoice, invoice_key(context.merchant.merchant_id, invoice_id))
    if invoice is None:
        return UNKNOWN_INVOICE
    if invoice.status == VOID:
        return ALREADY_VOID
    if invoice.paid:
        return ALREADY_PAID
    return BEING_PAID if invoice.reserved else invoice


def find_person(request: InvoiceRequest, context: Context, rows: LoadedRows) -> InvoicePerson | NeedsMore | None:
    """Returns the customer as the invoice will show it, None if there is no such customer or it was erased."""
    customer = find_customer_row(request.customer_id, context, rows)
    if customer is None or isinstance(customer, NeedsMore):
        return customer
    data = read_data(customer, context.vault.unseal)
    return None if data is None else InvoicePerson(data.name, data.email, data.phone, data.address, request.note)


def begin_invoice(context: Context, rows: LoadedRows) -> Invoice:
    """Returns a new invoice without contents. Its number is the next of the merchant's."""
    merchant_id = context.merchant.merchant_id
    counter = rows.get(InvoiceCounter, counter_key(merchant_id))
    invoice_id = opaque_id(ID_PREFIX, context.entropy)
    token = context.draw_page_token("invoice page")[:PAGE_TOKEN_DIGITS]
    return Invoice(
        key=invoice_key(merchant_id, invoice_id),
        merchant_id=merchant_id,
        invoice_id=invoice_id,
        number=1 if counter is None else counter.last_number + 1,
        customer_id="",
        currency="NGN",
        subtotal=0,
        discount=0,
        vat=0,
        shipping=0,
        total=0,
        paid=0,
        reserved=0,
        refunded=0,
        status=UNPAID,
        allows_parts=False,
        due_on=None,
        detail=encode_text(InvoiceDetail((), FLAT, NO_DISCOUNT, NO_VAT, token)),
        personal_sealed=None,
        event_count=0,
        created_at=context.now,
        changed_at=context.now,
        paid_at=None,
        voided_at=None,
    )


def fill_invoice(
    base: Invoice, request: InvoiceRequest, person: InvoicePerson, due_on: date | None, context: Context
) -> Invoice:
    """Returns an invoice with the contents of a request that has no faults."""
    amounts = compute_request_amounts(request)
    detail = InvoiceDetail(
        items=make_items(request),
        discount_type=str(request.discount_type or FLAT),
        discount=str(request.discount or NO_DISCOUNT),
        vat_rate=str(request.vat or NO_VAT),
        page_token=DETAIL_DECODER.decode(base.detail).page_token,
    )
    filled = msgspec.structs.replace(
        base,
        customer_id=request.customer_id,
        currency=str(request.currency or "NGN"),
        subtotal=amounts.subtotal,
        discount=amounts.discount,
        vat=amounts.vat,
        shipping=amounts.shipping,
        total=amounts.total,
        allows_parts=request.charge_user == IN_PARTS,
        due_on=due_on,
        detail=encode_text(detail),
        personal_sealed=context.seal(personal_aad(base.invoice_id), msgspec.json.encode(person)),
    )
    return msgspec.structs.replace(filled, status=choose_state(filled, context))


def write_invoice(
    filled: Invoice, person: InvoicePerson, *, is_new: bool, message: str, context: Context, loaded_rows: LoadedRows
) -> Decision[InvoiceReply]:
    """Returns the decision that writes a new or changed invoice with its event and its due date's job."""
    invoice, event = record_change(filled, context)
    rows: tuple[Row, ...] = (invoice,)
    pending = None if is_new else loaded_rows.get(Job, job_key(invoice.key))
    if is_new:
        token = DETAIL_DECODER.decode(invoice.detail).page_token
        counter = InvoiceCounter(counter_key(invoice.merchant_id), invoice.merchant_id, invoice.number)
        rows = (invoice, counter, make_page_entry(context, INVOICE_PAGE, token, invoice.invoice_id))
    decision = Decision(
        reply=InvoiceReply(message=message, data=show_invoice(invoice, person, context.public_url)),
        rows=rows,
        jobs=(*event.jobs, *(() if invoice.due_on is None else (due_date_job(invoice, invoice.due_on),))),
        jobs_done=() if pending is None or invoice.due_on is not None else (pending,),
        events=(event.event,),
    )
    if not is_new:
        decision.add(schedule_reminder(invoice, context, loaded_rows))
    return decision


# --- void -------------------------------------------------------------------------------------------------------------


def decide_void(request: InvoiceVoidRequest, context: Context, rows: LoadedRows) -> Decision[InvoiceReply] | Refusal:
    """Voids an invoice on which nothing was paid. One that is void already is returned as it is."""
    invoice_or_refusal = find_changeable(request.invoice_id, context, rows)
    if invoice_or_refusal is ALREADY_VOID:
        invoice = rows.get(Invoice, invoice_key(context.merchant.merchant_id, request.invoice_id))
        assert invoice is not None
        return Decision(reply=reply_void(invoice, context))
    if isinstance(invoice_or_refusal, Refusal):
        return invoice_or_refusal
    invoice, event = record_change(
        msgspec.structs.replace(invoice_or_refusal, status=VOID, voided_at=context.now), context
    )
    pending = rows.get(Job, job_key(invoice.key))
    return Decision(
        reply=reply_void(invoice, context),
        rows=(invoice,),
        jobs=event.jobs,
        jobs_done=() if pending is None else (pending,),
        events=(event.event,),
    )


def reply_void(invoice: Invoice, context: Context) -> InvoiceReply:
    person = read_person(invoice, context.vault.unseal)
    return InvoiceReply(message="Invoice Voided", data=show_invoice(invoice, person, context.public_url))


# --- the due date -----------------------------------------------------------------------------------------------------


def due_date_job(invoice: Invoice, due_on: date) -> Job:
    """Returns the job that makes an invoice overdue at the end of its due date, in Lagos."""
    return make_job(
        key=job_key(invoice.key),
        merchant_id=invoice.merchant_id,
        kind=BECOME_OVERDUE,
        lane=LANE,
        reference=invoice.invoice_id,
        subject=invoice.key,
        due=lagos_moment(due_on + timedelta(days=1), 0),
    )


def need_due_invoice(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((Invoice, job.subject), (Job, job.key)))


def decide_overdue(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision:
    """Makes an invoice overdue that was not paid in full by its due date."""
    invoice, current_job = rows.get(Invoice, job.subject), rows.get(Job, job.key)
    assert invoice is not None
    if current_job is None or context.now < current_job.due:
        return Decision()  # it was paid, voided or given another due date meanwhile
    status = choose_state(invoice, context)
    if invoice.status not in PAYABLE or status == invoice.status:
        return Decision(jobs_done=(current_job,))
    changed, event = record_change(msgspec.structs.replace(invoice, status=status), context)
    return Decision(rows=(changed,), jobs=event.jobs, jobs_done=(current_job,), events=(event.event,))
