"""Sends an invoice to its customer, by mail or text message, and reminds of it. Contract: resources#invoice-mail

An invoice is mailed once a day as it is: a mail of it that failed is sent again, one that was sent is not. So is a text
message. While its customer is to be reminded there is one job, for the next reminder. It is made anew when the invoice
is sent or changed.
"""

from datetime import datetime, timedelta

import msgspec

from kasuwa.core.calendar import lagos_day, lagos_moment, utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    Effects,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    make_job,
    refuse_fields,
)
from kasuwa.core.mail_text import MailText
from kasuwa.methods.invoices.model import (
    INVOICE_MAIL,
    LANE,
    PAYABLE,
    REMIND,
    REMINDER_DAYS,
    REMINDER_HOUR,
    REMINDER_MAIL,
    UNKNOWN_INVOICE,
    VOID,
    Invoice,
    InvoicePerson,
    invoice_key,
    reminder_key,
    reminder_subject,
)
from kasuwa.methods.invoices.rules.mails import (
    write_invoice_mail,
    write_invoice_sms,
    write_reminder,
    write_reminder_sms,
)
from kasuwa.methods.invoices.rules.states import read_person
from kasuwa.methods.invoices.wire import InvoiceSending, InvoiceSendReply, InvoiceSendRequest
from kasuwa.methods.mail.model import MAIL, SMS, MailRow, refuse_channel
from kasuwa.methods.mail.rules.queue_mail import NewMail, Recipient, choose_recipient, queue_mail
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.mail import MailService
from kasuwa.terms.sms import SmsText
from kasuwa.wire.people import canonical_phone

VOID_INVOICE = Refusal(INVALID_REQUEST, "The invoice is void. Nothing was sent", error_code="invoice_void")
PAID_INVOICE = Refusal(INVALID_REQUEST, "The invoice is paid. Nothing was sent", error_code="invoice_paid")
CUSTOMER_ERASED = Refusal(
    INVALID_REQUEST, "The invoice cannot be sent: its customer was erased", error_code="customer_erased"
)
NOT_REACHED = Refusal(
    INVALID_REQUEST,
    "The customer has no email address, and text messages are turned off. Nothing was sent",
    error_code="customer_unreachable",
)
NO_DUE_DATE = refuse_fields(FieldError("reminders", "needs a due date: change the invoice first", "due_date_missing"))


def need_sending(request: InvoiceSendRequest, merchant: Merchant) -> Needs:
    return Needs(((Invoice, invoice_key(merchant.merchant_id, request.invoice_id)),))


def decide_sending(
    request: InvoiceSendRequest, context: Context, rows: LoadedRows
) -> Decision[InvoiceSendReply] | Refusal | NeedsMore:
    invoice = rows.get(Invoice, invoice_key(context.merchant.merchant_id, request.invoice_id))
    if invoice is None:
        return UNKNOWN_INVOICE
    person = read_person(invoice, context.vault.unseal)
    recipient = Recipient(MAIL, "") if person is None else find_recipient(person, context)
    refused = refuse_sending(invoice, request, recipient, context)
    if refused is not None:
        return refused
    if person is None:
        return CUSTOMER_ERASED
    if not recipient.to:
        return NOT_REACHED
    if not rows.is_loaded(reminder_key(invoice)):
        return NeedsMore(Needs(((Job, reminder_key(invoice)),)))
    is_sms = recipient.channel == SMS
    write = write_invoice_sms if is_sms else write_invoice_mail
    text = write(invoice, person, context.merchant.name, context.public_url)
    # A text message is not taken for a mail of that day that failed: that one would be queued again as it was.
    occasion = f"invoice {invoice.invoice_id} {invoice.event_count} {lagos_day(context.now)}{' sms' if is_sms else ''}"
    mail = queue_mail(make_new_mail(invoice, person, recipient, INVOICE_MAIL, occasion, text), context, rows)
    if isinstance(mail, NeedsMore):
        return mail
    reminders = invoice.reminders if request.reminders is None else request.reminders
    sent = msgspec.structs.replace(invoice, reminders=reminders)
    scheduled = schedule_reminder(sent, context, rows)
    decision = Decision(
        reply=InvoiceSendReply(
            message="Invoice Sent" if mail.effects.rows else "Invoice Sent Already",
            data=show_sending(sent, mail.row, next(iter(scheduled.jobs), None)),
        ),
        rows=() if sent == invoice else (sent,),
    )
    decision.add(mail.effects)
    decision.add(scheduled)
    return decision


def find_recipient(person: InvoicePerson, context: Context) -> Recipient:
    return choose_recipient(person.email, canonical_phone(person.phone or ""), context)


def refuse_sending(
    invoice: Invoice, request: InvoiceSendRequest, recipient: Recipient, context: Context
) -> Refusal | None:
    refused = refuse_channel(recipient.channel, context.terms(MailService))
    if refused is not None:
        return refused
    if invoice.status == VOID:
        return VOID_INVOICE
    if invoice.status not in PAYABLE:
        return PAID_INVOICE
    return NO_DUE_DATE if request.reminders and invoice.due_on is None else None


def make_new_mail(
    invoice: Invoice,
    person: InvoicePerson,
    recipient: Recipient,
    purpose: str,
    occasion: str,
    text: MailText | SmsText,
) -> NewMail:
    return NewMail(
        occasion=occasion,
        purpose=purpose,
        reference=invoice.invoice_id,
        customer_id=invoice.customer_id,
        to=recipient.to,
        to_name=person.name,
        content=text,
    )


def show_sending(invoice: Invoice, mail: MailRow, reminder: Job | None) -> InvoiceSending:
    return InvoiceSending(
        invoice_id=invoice.invoice_id,
        number=invoice.label,
        mail_id=mail.mail_id,
        mail_status=mail.status,  # type: ignore[arg-type]
        reminders=invoice.reminders,
        next_reminder=None if reminder is None else utc_text(reminder.due),
    )


# --- reminders ----------------------------------------------------------------------------------------------------


def find_next_reminder(invoice: Invoice, after: datetime) -> datetime | None:
    """Returns the time of the first reminder after a time, or None if there is none."""
    if not invoice.reminders or invoice.due_on is None or invoice.status not in PAYABLE:
        return None
    times = (lagos_moment(invoice.due_on + timedelta(days=days), REMINDER_HOUR) for days in REMINDER_DAYS)
    return next((time for time in times if time > after), None)


def schedule_reminder(invoice: Invoice, context: Context, rows: LoadedRows) -> Effects:
    """Makes the job of the next reminder anew, or ends it. It must be loaded."""
    pending = rows.get(Job, reminder_key(invoice))
    due = find_next_reminder(invoice, context.now)
    if due is not None:
        return Effects(jobs=(reminder_job(invoice, due),))
    return Effects(jobs_done=() if pending is None else (pending,))


def reminder_job(invoice: Invoice, due: datetime) -> Job:
    return make_job(
        key=reminder_key(invoice),
        merchant_id=invoice.merchant_id,
        kind=REMIND,
        lane=LANE,
        reference=invoice.invoice_id,
        subject=reminder_subject(invoice),
        due=due,
    )


def need_reminder(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((Invoice, invoice_key(job.merchant_id, job.reference)), (Job, job.key)))


def decide_reminder(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Reminds of an invoice that is not paid, and schedules the next reminder."""
    invoice = rows.get(Invoice, invoice_key(job.merchant_id, job.reference))
    current_job = rows.get(Job, job.key)
    assert invoice is not None
    if current_job is None or context.now < current_job.due:
        return Decision()  # the invoice was sent or changed meanwhile
    decision = Decision()
    person = read_person(invoice, context.vault.unseal)
    recipient = None if person is None else find_recipient(person, context)
    if person is not None and recipient is not None and recipient.to and is_reminded(invoice):
        write = write_reminder_sms if recipient.channel == SMS else write_reminder
        text = write(invoice, person, context.merchant.name, context.public_url, lagos_day(context.now))
        occasion = f"reminder {invoice.invoice_id} {utc_text(current_job.due)}"
        mail = queue_mail(make_new_mail(invoice, person, recipient, REMINDER_MAIL, occasion, text), context, rows)
        if isinstance(mail, NeedsMore):
            return mail
        decision.add(mail.effects)
    decision.add(schedule_reminder(invoice, context, rows))
    return decision


def is_reminded(invoice: Invoice) -> bool:
    """Returns whether the customer of an invoice is to be reminded now that a reminder is due."""
    return invoice.reminders and invoice.due_on is not None and invoice.status in PAYABLE
