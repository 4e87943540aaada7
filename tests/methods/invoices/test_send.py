"""Mails of invoices and reminders, as pure decisions. (Contract: resources#invoice-mail)"""

from datetime import date, timedelta
from typing import Any

import msgspec

from kasuwa.core.decision import Context, Decision, LoadedRows, Refusal
from kasuwa.core.mail_text import format_day
from kasuwa.methods.customers.model import Customer
from kasuwa.methods.invoices.model import PAID, REMINDER_DAYS
from kasuwa.methods.invoices.rules import send
from kasuwa.methods.invoices.rules.mails import write_invoice_mail, write_reminder
from kasuwa.methods.invoices.rules.states import erase_person, read_person
from kasuwa.methods.invoices.wire import InvoiceSendRequest
from kasuwa.methods.mail.model import FAILED, NOT_CONFIGURED, MailRow, read_content
from kasuwa.methods.payment.model import Payment
from kasuwa.methods.payment.payer_model import read_detail
from kasuwa.terms.mail import MailService, MailTerms
from kasuwa.terms.sms import is_one_sms
from kasuwa.transactions.payers import PAYMENT_MARK_DECODER
from kasuwa.transactions.transactions import Transaction
from tests.methods.invoices.in_memory_invoices import InMemoryInvoices
from tests.rule_context import VAULT, merchant

DUE = "2026-02-01"  # the clock stands at 5 January 2026
AT_NINE = [f"2026-{day}T08:00:00+00:00" for day in ("01-29", "02-02", "02-08")]  # 9:00 in Lagos


def replace_row(invoices: InMemoryInvoices, invoice_id: str, **values: object) -> None:
    row = invoices.row(invoice_id)
    invoices.payments.rows[row.key] = msgspec.structs.replace(row, **values)


def test_an_invoice_is_mailed_to_its_customer_with_both_links() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make(date_due=DUE, note="Thank you.")
    decision = invoices.put("send", invoice_id=invoice_id)
    assert isinstance(decision, Decision)
    data = decision.reply.data
    assert (decision.reply.message, data.mail_status, data.reminders, data.next_reminder) == (
        "Invoice Sent",
        "queued",
        False,
        None,
    )
    assert invoices.mails == [("invoice", "Invoice INV-000001 from Ada Stores")]
    invoice = invoices.row(invoice_id)
    person = read_person(invoice, VAULT.unseal)
    assert person is not None
    text = write_invoice_mail(invoice, person, "Ada Stores", "https://pay.example")
    [(_, page), (_, file)] = text.links
    assert page.startswith("https://pay.example/pay/invoice/")
    assert file == f"{page}/invoice.pdf"
    assert text.paragraphs[-1] == "Thank you."
    assert dict(text.facts) == {"Invoice": "INV-000001", "Total": "NGN 1,000.00", "Due date": "1 February 2026"}


def test_an_invoice_is_mailed_once_a_day_as_it_is() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make()
    first = invoices.put("send", invoice_id=invoice_id)
    again = invoices.put("send", invoice_id=invoice_id)
    assert (again.reply.message, again.reply.data.mail_id) == ("Invoice Sent Already", first.reply.data.mail_id)
    assert len(invoices.mails) == 1
    invoices.put("invoice", customer_id=invoices.customer_id, invoice_id=invoice_id, items=[{"name": "x", "amount": 5}])
    invoices.put("send", invoice_id=invoice_id)
    invoices.payments.now += timedelta(days=1)
    invoices.put("send", invoice_id=invoice_id)
    assert len(invoices.mails) == 3


def test_every_refusal_to_send() -> None:
    invoices = InMemoryInvoices()
    assert invoices.put("send", invoice_id="INnothing").error_code == "invoice_not_found"
    void = invoices.make()
    invoices.put("void", invoice_id=void, status="void")
    assert invoices.put("send", invoice_id=void) is send.VOID_INVOICE
    open_one = invoices.make()
    assert invoices.put("send", invoice_id=open_one, reminders=True) is send.NO_DUE_DATE
    erased = erase_person(invoices.row(open_one))
    assert not isinstance(erased, Refusal)
    invoices.payments.rows[erased.key] = erased
    assert invoices.put("send", invoice_id=open_one) is send.CUSTOMER_ERASED
    paid = invoices.make()
    replace_row(invoices, paid, status=PAID, paid=100_000)
    assert invoices.put("send", invoice_id=paid) is send.PAID_INVOICE
    assert invoices.mails == []


def test_without_a_mail_server_nothing_is_sent() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make()
    request = InvoiceSendRequest(invoice_id=invoice_id)

    def decide(context: Context, rows: LoadedRows) -> Any:
        without = {**context.deployment_terms, MailService: MailService(False)}
        return send.decide_sending(request, msgspec.structs.replace(context, deployment_terms=without), rows)

    needs = send.need_sending(request, invoices.payments.merchant)
    assert invoices.payments.decide(needs, decide) is NOT_CONFIGURED


def test_a_customer_is_reminded_before_and_after_the_due_date_until_it_is_paid() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make(date_due=DUE)
    sent = invoices.put("send", invoice_id=invoice_id, reminders=True)
    assert (sent.reply.data.reminders, sent.reply.data.next_reminder) == (True, "2026-01-29T08:00:00.000Z")
    times = []
    while (job := invoices.reminder(invoice_id)) is not None:
        times.append(job.due.isoformat())
        assert invoices.run_reminder(job) == Decision()  # too early
        invoices.payments.now = job.due
        invoices.run_reminder(job)
    assert (times, len(times)) == (AT_NINE, len(REMINDER_DAYS))
    assert invoices.mails[1:] == [
        ("invoice_reminder", "Reminder: invoice INV-000001 from Ada Stores"),
        ("invoice_reminder", "Overdue: invoice INV-000001 from Ada Stores"),
        ("invoice_reminder", "Overdue: invoice INV-000001 from Ada Stores"),
    ]


def test_a_paid_invoice_is_not_reminded_of_and_its_job_ends() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make(date_due=DUE)
    invoices.put("send", invoice_id=invoice_id, reminders=True)
    replace_row(invoices, invoice_id, status=PAID, paid=100_000)
    job = invoices.reminder(invoice_id)
    assert job is not None
    invoices.payments.now = job.due
    invoices.run_reminder(job)
    assert (len(invoices.mails), invoices.reminder(invoice_id)) == (1, None)


def test_a_reminder_follows_the_due_date_and_can_be_switched_off() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make(date_due=DUE)
    invoices.put("send", invoice_id=invoice_id, reminders=True)
    fields = {"customer_id": invoices.customer_id, "invoice_id": invoice_id, "items": [{"name": "x", "amount": 5}]}
    invoices.put("invoice", **fields, date_due="2026-03-01")
    moved = invoices.reminder(invoice_id)
    assert moved is not None
    assert moved.due.isoformat() == "2026-02-26T08:00:00+00:00"
    invoices.put("invoice", **fields)  # without a due date
    assert (invoices.reminder(invoice_id), invoices.row(invoice_id).reminders) == (None, True)
    invoices.put("invoice", **fields, date_due="2026-03-01")
    assert invoices.reminder(invoice_id) is not None
    invoices.payments.now += timedelta(days=1)
    off = invoices.put("send", invoice_id=invoice_id, reminders=False)
    assert (off.reply.data.reminders, invoices.reminder(invoice_id)) == (False, None)
    assert invoices.put("send", invoice_id=invoice_id).reply.data.reminders is False


def test_an_invoice_that_is_due_tomorrow_is_reminded_of_only_afterwards() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make(date_due="2026-01-06")
    sent = invoices.put("send", invoice_id=invoice_id, reminders=True)
    assert sent.reply.data.next_reminder == "2026-01-07T08:00:00.000Z"


def test_the_customer_reads_what_is_left_to_pay() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make(date_due=DUE)
    replace_row(invoices, invoice_id, paid=25_000)
    invoice = invoices.row(invoice_id)
    person = read_person(invoice, VAULT.unseal)
    assert person is not None
    text = write_reminder(invoice, person, "Ada Stores", "", date(2026, 2, 2))
    assert "was due on 1 February 2026. NGN 750.00 of it is not paid yet." in text.paragraphs[0]
    assert dict(text.facts)["Paid"] == "NGN 250.00"
    assert format_day(date(2026, 3, 5)) == "5 March 2026"


# --- by text message --------------------------------------------------------------------------------------------------

# No mail can be sent to it: its host is not written in ASCII.
NOT_MAILED = "ada@b\u00fccher.example"


def open_invoices(*, sms: bool = True, email: str | None = NOT_MAILED, **fields: Any) -> InMemoryInvoices:
    """The invoices of a merchant, whose customer has a telephone number."""
    invoices = InMemoryInvoices(merchant(mail=MailTerms(sms=sms)))
    made = invoices.put("customer", name="Ada Obi", email=email, **{"phone": "0803 123 4567", **fields})
    invoices.customer_id = made.reply.data.customer_id
    return invoices


def read_contents(invoices: InMemoryInvoices) -> list[Any]:
    rows = [row for row in invoices.payments.rows.values() if isinstance(row, MailRow)]
    return [read_content(row, VAULT.unseal) for row in sorted(rows, key=lambda row: row.created_at)]


def test_a_customer_whose_address_takes_no_mail_gets_text_messages() -> None:
    invoices = open_invoices()
    invoice_id = invoices.make(date_due=DUE)
    sent = invoices.put("send", invoice_id=invoice_id, reminders=True)
    assert sent.reply.data.mail_status == "queued"
    while (job := invoices.reminder(invoice_id)) is not None:
        invoices.payments.now = job.due
        invoices.run_reminder(job)
    texts = [content.text for content in read_contents(invoices)]
    assert {(content.channel, content.to) for content in read_contents(invoices)} == {("sms", "+2348031234567")}
    starts = ["invoice INV-000001, NGN 1,000.00, " + when for when in ("due", "is due", "was due", "was due")]
    for text, start in zip(texts, starts, strict=True):
        assert text.startswith(f"Ada Stores: {start} 1 Feb 2026. Pay: ")
    for text in texts:
        assert is_one_sms(text)
        assert "/pay/invoice/" in text
        assert "invoice.pdf" not in text


def test_an_address_comes_before_a_telephone_number() -> None:
    invoices = open_invoices(email="other@example.com")
    invoices.put("send", invoice_id=invoices.make())
    assert [(content.channel, content.to) for content in read_contents(invoices)] == [("mail", "other@example.com")]


def test_without_a_number_or_the_merchants_choice_the_mail_fails_as_before() -> None:
    for invoices in (open_invoices(sms=False), open_invoices(phone=None), open_invoices(phone="0241234567")):
        invoices.put("send", invoice_id=invoices.make())
        assert [(content.channel, content.to) for content in read_contents(invoices)] == [("mail", NOT_MAILED)]


def test_a_mail_that_failed_is_followed_by_a_text_message_once_they_are_turned_on() -> None:
    invoices = open_invoices(sms=False)
    invoice_id = invoices.make()
    failed = invoices.put("send", invoice_id=invoice_id).reply.data.mail_id
    for key, row in invoices.payments.rows.items():
        if isinstance(row, MailRow):
            invoices.payments.rows[key] = msgspec.structs.replace(row, status=FAILED)
    invoices.payments.merchant = merchant(mail=MailTerms(sms=True))
    sent = invoices.put("send", invoice_id=invoice_id)
    assert (sent.reply.message, sent.reply.data.mail_status) == ("Invoice Sent", "queued")
    again = invoices.put("send", invoice_id=invoice_id)
    assert (again.reply.message, again.reply.data.mail_id) == ("Invoice Sent Already", sent.reply.data.mail_id)
    states = {row.mail_id: row.status for row in invoices.payments.rows.values() if isinstance(row, MailRow)}
    assert states == {failed: FAILED, sent.reply.data.mail_id: "queued"}
    assert sorted(content.channel for content in read_contents(invoices)) == ["mail", "sms"]


def test_without_an_address_the_invoice_and_its_reminders_are_text_messages() -> None:
    invoices = open_invoices(email=None)
    invoice_id = invoices.make(date_due=DUE)
    assert invoices.put("send", invoice_id=invoice_id, reminders=True).reply.data.mail_status == "queued"
    while (job := invoices.reminder(invoice_id)) is not None:
        invoices.payments.now = job.due
        invoices.run_reminder(job)
    contents = read_contents(invoices)
    assert [(content.channel, content.to) for content in contents] == [("sms", "+2348031234567")] * (
        1 + len(REMINDER_DAYS)
    )


def test_who_has_no_address_and_gets_no_text_messages_is_sent_nothing() -> None:
    invoices = open_invoices(email=None)
    invoice_id = invoices.make(date_due=DUE)
    invoices.put("send", invoice_id=invoice_id, reminders=True)
    invoices.payments.merchant = merchant(mail=MailTerms())
    assert invoices.put("send", invoice_id=invoice_id) is send.NOT_REACHED
    while (job := invoices.reminder(invoice_id)) is not None:
        invoices.payments.now = job.due
        invoices.run_reminder(job)
    assert len(read_contents(invoices)) == 1  # that of the first sending


def test_a_payment_of_who_has_no_address_is_theirs_with_a_receipt_by_text() -> None:
    invoices = open_invoices(email=None)
    invoices.payments.merchant = merchant(mail=MailTerms(receipts=True, sms=True))
    invoice_id = invoices.make()
    checkout = invoices.open(invoice_id)
    checkout.pay()
    [payment] = [row for row in invoices.payments.rows.values() if isinstance(row, Payment)]
    [row] = [row for row in invoices.payments.rows.values() if isinstance(row, Transaction)]
    [customer] = [
        row
        for row in invoices.payments.rows.values()
        if isinstance(row, Customer) and row.customer_id == invoices.customer_id
    ]
    assert customer.email_hash is not None
    assert PAYMENT_MARK_DECODER.decode(row.detail).customer == customer.email_hash.hex()
    assert "0803" not in payment.detail
    assert read_detail(payment, VAULT.unseal).phone == "0803 123 4567"
    [receipt] = read_contents(invoices)
    assert (receipt.channel, receipt.to) == ("sms", "+2348031234567")
    assert row.txn_ref in receipt.text
