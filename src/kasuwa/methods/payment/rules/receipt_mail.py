"""Sends the payer of a successful payment a receipt, if the merchant has chosen so: by mail, or by a text message (SMS)
if only a telephone number is known. Contract: resources#receipt-mail"""

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, Effects, LoadedRows, NeedsMore
from kasuwa.core.mail import is_address
from kasuwa.core.mail_text import MailText, format_day
from kasuwa.core.money import format_grouped
from kasuwa.methods.mail.model import RECEIPT_MAIL, SMS
from kasuwa.methods.mail.rules.queue_mail import NewMail, Recipient, choose_recipient, queue_mail
from kasuwa.methods.payment.model import Payment, PaymentDetail
from kasuwa.terms.mail import MailService, MailTerms
from kasuwa.terms.sms import SmsText, write_sms
from kasuwa.transactions.transactions import Transaction
from kasuwa.wire.people import NATIONAL_NUMBERS, calling_code, canonical_phone

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


# Methods whose payer is known by a telephone number.
PAID_BY_TELEPHONE = frozenset({"mobile_money", "phone", "ussd"})


def mail_receipt(
    row: Transaction, payment: Payment, detail: PaymentDetail, context: Context, rows: LoadedRows
) -> Effects | NeedsMore:
    """Queues the receipt of a payment. There is one of each payment."""
    if not (payment.charged and context.merchant.terms(MailTerms).receipts):
        return Effects()
    recipient = find_recipient(payment, detail, context)
    if recipient is None:
        return Effects()
    write = write_sms_receipt if recipient.channel == SMS else write_receipt
    queued = queue_mail(
        NewMail(
            occasion=f"receipt {row.txn_ref}",
            purpose=RECEIPT_MAIL,
            reference=row.txn_ref,
            customer_id="",
            to=recipient.to,
            to_name=detail.fullname,
            content=write(row, payment, detail, context),
        ),
        context,
        rows,
    )
    return queued if isinstance(queued, NeedsMore) else queued.effects


def find_recipient(payment: Payment, detail: PaymentDetail, context: Context) -> Recipient | None:
    """Returns the address of a payer. If there is none, returns the number that was paid with, or the one that the
    page has. None for no receipt."""
    homes = {calling_code(detail.country)} & NATIONAL_NUMBERS.keys()
    paid_with = canonical_phone(detail.payer, homes) if payment.method in PAID_BY_TELEPHONE else ""
    recipient = choose_recipient(detail.email, paid_with or canonical_phone(detail.phone), context)
    is_mailed = context.terms(MailService).is_configured and is_address(detail.email)
    return recipient if recipient.channel == SMS or is_mailed else None


def write_sms_receipt(row: Transaction, payment: Payment, detail: PaymentDetail, context: Context) -> SmsText:
    """Returns the words of a receipt that is a text message. They name no account, no order and no payer."""
    paid, day = f"{row.currency} {format_grouped(payment.charged)}", format_day(lagos_day(context.now))
    test = " A test: no money has moved." if context.merchant.environment == "test" else ""
    words = f"we have received your payment of {paid} on {day}. Reference {row.txn_ref}.{test}"
    return write_sms(context.merchant.name, words)


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
