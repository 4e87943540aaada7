"""What mails about an invoice say. Contract: resources#invoice-mail"""

from datetime import date

from kasuwa.core.mail_text import MailText, format_day
from kasuwa.core.money import format_grouped
from kasuwa.methods.invoices.model import DETAIL_DECODER, Invoice, InvoicePerson, file_path, page_path


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
