"""Mails the payer of a successful payment a receipt, if the merchant has chosen so. Contract: resources#receipt-mail"""

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, Effects, LoadedRows, NeedsMore
from kasuwa.core.mail import is_address
from kasuwa.core.mail_text import MailText, format_day
from kasuwa.core.money import format_grouped
from kasuwa.methods.mail.model import RECEIPT_MAIL
from kasuwa.methods.mail.rules.queue_mail import NewMail, queue_mail
from kasuwa.methods.payment.model import Payment, PaymentDetail
from kasuwa.terms.mail import MailService, MailTerms
from kasuwa.transactions.transactions import Transaction

# What payers call the ways to pay.
METHOD_WORDS = {
    "account": "bank account",
    "bank_transfer": "bank transfer",
    "card": "card",
    "mobile_money": "mobile money",
    "phone": "telephone",
    "qrpay": "QR code",
    "token": "saved card",
    "ussd": "USSD",
}


def mail_receipt(
    row: Transaction, payment: Payment, detail: PaymentDetail, context: Context, rows: LoadedRows
) -> Effects | NeedsMore:
    """Queues the receipt of a payment. There is one of each payment."""
    if not (context.merchant.terms(MailTerms).receipts and context.terms(MailService).is_configured):
        return Effects()
    if not (payment.charged and is_address(detail.email)):
        return Effects()
    queued = queue_mail(
        NewMail(
            occasion=f"receipt {row.txn_ref}",
            purpose=RECEIPT_MAIL,
            reference=row.txn_ref,
            customer_id="",
            to=detail.email,
            to_name=detail.fullname,
            content=write_receipt(row, payment, detail, context),
        ),
        context,
        rows,
    )
    return queued if isinstance(queued, NeedsMore) else queued.effects


def write_receipt(row: Transaction, payment: Payment, detail: PaymentDetail, context: Context) -> MailText:
    """Returns the words of a receipt. They name no card, no account and no order."""
    name, paid = context.merchant.name, f"{row.currency} {format_grouped(payment.charged)}"
    facts = [("Paid", paid)]
    if payment.charged != row.amount:
        facts.append(("Of this, fees", f"{row.currency} {format_grouped(payment.charged - row.amount)}"))
    method = METHOD_WORDS.get(payment.method, payment.method)
    facts += [("Paid by", method), ("Date", format_day(lagos_day(context.now))), ("Reference", row.txn_ref)]
    test = ("This is a test: no money has moved.",) if context.merchant.environment == "test" else ()
    return MailText(
        subject=f"Receipt from {name}",
        greeting=f"Dear {detail.fullname}," if detail.fullname else "Hello,",
        paragraphs=(f"{name} has received your payment of {paid}. Keep this mail as your receipt.", *test),
        facts=tuple(facts),
    )
