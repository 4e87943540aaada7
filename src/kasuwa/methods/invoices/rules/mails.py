"""What mails and text messages about an invoice say. Contract: resources#invoice-mail"""

from datetime import date

from kasuwa.core.mail_text import MailText, format_day
from kasuwa.core.money import format_grouped
from kasuwa.methods.invoices.model import DETAIL_DECODER, Invoice, InvoicePerson, file_path, page_path
from kasuwa.terms.sms import SmsText, write_sms


def format_money(invoice: Invoice, amount: int) -> str:
    return f"{invoice.currency} {format_grouped(amount)}"


def write_invoice_mail(invoice: Invoice, person: InvoicePerson, merchant_name: str, public_url: str) -> MailText:
    note = () if person.note is None else (person.note,)
    return MailText(
        subject=f"Invoice {invoice.label} from {merchant_name}",
        greeting=f"Dear {person.name},",
        paragraphs=(f"{merchant_name} has sent you invoice {invoice.label}.", *note),
        facts=list_facts(invoice),
        links=list_links(invoice, public_url),
    )


def write_reminder(
    invoice: Invoice, person: InvoicePerson, merchant_name: str, public_url: str, today: date
) -> MailText:
    assert invoice.due_on is not None
    is_overdue = today > invoice.due_on
    when = f"was due on {format_day(invoice.due_on)}" if is_overdue else f"is due on {format_day(invoice.due_on)}"
    return MailText(
        subject=f"{'Overdue' if is_overdue else 'Reminder'}: invoice {invoice.label} from {merchant_name}",
        greeting=f"Dear {person.name},",
        paragraphs=(
            f"Invoice {invoice.label} from {merchant_name} {when}. "
            f"{format_money(invoice, invoice.outstanding)} of it is not paid yet.",
            "If you have paid it meanwhile, thank you: you need do nothing.",
        ),
        facts=list_facts(invoice),
        links=list_links(invoice, public_url),
    )


def write_invoice_sms(invoice: Invoice, person: InvoicePerson, merchant_name: str, public_url: str) -> SmsText:
    due = "" if invoice.due_on is None else f", due {format_short_day(invoice.due_on)}"
    words = f"invoice {invoice.label}, {format_money(invoice, invoice.outstanding)}{due}."
    return write_sms(merchant_name, words, write_page_link(invoice, public_url))


def write_reminder_sms(
    invoice: Invoice, person: InvoicePerson, merchant_name: str, public_url: str, today: date
) -> SmsText:
    assert invoice.due_on is not None
    when = f"{'was' if today > invoice.due_on else 'is'} due {format_short_day(invoice.due_on)}"
    words = f"invoice {invoice.label}, {format_money(invoice, invoice.outstanding)}, {when}."
    return write_sms(merchant_name, words, write_page_link(invoice, public_url))


def write_page_link(invoice: Invoice, public_url: str) -> str:
    _, url = list_links(invoice, public_url)[0]
    return f"Pay: {url}"


def format_short_day(day: date) -> str:
    return f"{day.day} {day:%b %Y}"


def list_facts(invoice: Invoice) -> tuple[tuple[str, str], ...]:
    facts = [("Invoice", invoice.label), ("Total", format_money(invoice, invoice.total))]
    if invoice.paid:
        facts += [("Paid", format_money(invoice, invoice.paid)), ("Due", format_money(invoice, invoice.outstanding))]
    if invoice.due_on is not None:
        facts.append(("Due date", format_day(invoice.due_on)))
    return tuple(facts)


def list_links(invoice: Invoice, public_url: str) -> tuple[tuple[str, str], ...]:
    token = DETAIL_DECODER.decode(invoice.detail).page_token
    return (
        ("See and pay the invoice", public_url + page_path(token)),
        ("The invoice as a PDF file", public_url + file_path(token)),
    )
