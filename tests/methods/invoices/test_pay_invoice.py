"""Payments of invoices, as pure decisions: they never exceed the total. (Contract: resources#invoice-payments)"""

from datetime import timedelta

import msgspec
import pytest

from kasuwa.core.decision import Decision, Refusal
from kasuwa.methods.invoices.rules import issue, pay_invoice
from kasuwa.terms.vendors import CollectionVendor, CollectionVendors
from tests.methods.invoices.in_memory_invoices import InMemoryInvoices
from tests.methods.payment.in_memory_payments import APPROVED, BEGUN, DECLINED, SILENT


def test_a_payment_in_full_makes_the_invoice_paid_in_the_same_decision() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make(date_due="2026-02-01")
    assert invoices.due_job(invoice_id) is not None
    checkout = invoices.open(invoice_id)
    assert (checkout.detail.fullname, checkout.detail.email) == ("Ada Obi", "ada@example.com")
    paying = checkout.begin("ussd")
    assert invoices.figures(invoice_id) == ("unpaid", 0, 100_000)
    paying.receive_answer(BEGUN["ussd"])
    decision = paying.receive_answer(APPROVED)
    assert {type(row).__name__ for row in decision.rows} >= {"Payment", "Checkout", "Invoice"}
    assert invoices.figures(invoice_id) == ("paid", 100_000, 0)
    assert invoices.row(invoice_id).paid_at == invoices.payments.now
    assert invoices.due_job(invoice_id) is None
    assert invoices.event_statuses(invoice_id) == ["unpaid", "paid"]
    paid = msgspec.json.decode([event for event in invoices.payments.events if event.kind == "invoice"][-1].payload)
    assert (paid["txnStatus"], paid["paymentRef"], paid["outstanding"]) == ("successful", paying.txn_ref, "0.00")


def test_a_failed_attempt_gives_back_what_it_reserved() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make()
    checkout = invoices.open(invoice_id)
    paying = checkout.begin_card()
    checkout.confirm(paying)
    paying.receive_answer(DECLINED)
    assert invoices.figures(invoice_id) == ("unpaid", 0, 0)
    checkout.pay()
    assert invoices.figures(invoice_id) == ("paid", 100_000, 0)


def test_an_abandoned_attempt_gives_back_what_it_reserved() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make()
    checkout = invoices.open(invoice_id)
    checkout.abandon(checkout.begin_card().txn_ref)
    assert invoices.figures(invoice_id) == ("unpaid", 0, 0)


def test_two_payers_of_the_whole_cannot_both_pay() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make()
    first, second = invoices.open(invoice_id), invoices.open(invoice_id)
    paying = first.begin("ussd")
    assert second.try_attempt("ussd") == pay_invoice.OTHER_PAYMENT
    assert invoices.try_open(invoice_id) == pay_invoice.OTHER_PAYMENT
    paying.receive_answer(BEGUN["ussd"])
    paying.receive_answer(APPROVED)
    assert second.try_attempt("ussd") == pay_invoice.INVOICE_PAID
    assert invoices.try_open(invoice_id) == pay_invoice.INVOICE_PAID
    assert invoices.figures(invoice_id) == ("paid", 100_000, 0)


def test_parts_are_paid_until_nothing_is_left() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make(charge_user=True)
    first, second, third = (invoices.open(invoice_id, amount) for amount in (40_000, 60_000, 40_000))
    first.begin("ussd")
    assert isinstance(second.try_attempt("qrpay"), Decision)
    assert third.try_attempt("ussd") == pay_invoice.OTHER_PAYMENT
    assert invoices.figures(invoice_id) == ("unpaid", 0, 100_000)
    invoices.payments.now += timedelta(minutes=1)
    other = InMemoryInvoices()
    other_id = other.make(charge_user=True)
    other.open(other_id, 40_000).pay()
    assert other.figures(other_id) == ("partly_paid", 40_000, 0)
    assert isinstance(other.try_open(other_id, 60_001), Refusal)
    other.open(other_id, 60_000).pay()
    assert other.figures(other_id) == ("paid", 100_000, 0)
    assert other.event_statuses(other_id) == ["unpaid", "partly_paid", "paid"]


@pytest.mark.parametrize(
    ("charge_user", "amount", "reason"),
    [
        ("full", 99_999, "1000.00: this invoice is paid in full"),
        ("parts", 100_001, "at most 1000.00"),
        ("parts", 99, "at least 1.00"),
        ("parts", 99_901, "1000.00, or at most 999.00: less than 1.00 would be left"),
    ],
)
def test_a_part_that_cannot_be_paid_is_refused(charge_user: str, amount: int, reason: str) -> None:
    invoices = InMemoryInvoices()
    refused = invoices.try_open(invoices.make(charge_user=charge_user), amount)
    assert isinstance(refused, Refusal)
    assert [(fault.field, fault.reason) for fault in refused.field_errors] == [("amount", reason)]


def test_a_checkout_of_an_invoice_that_has_changed_is_refused() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make()
    stale = invoices.open(invoice_id)
    invoices.make(invoice_id=invoice_id, items=[{"name": "Lace", "amount": 2000}])
    assert stale.try_attempt("ussd") == pay_invoice.INVOICE_CHANGED
    invoices.make(invoice_id=invoice_id, currency="USD")
    assert stale.try_attempt("ussd") == pay_invoice.INVOICE_CHANGED
    invoices.put("void", invoice_id=invoice_id)
    assert stale.try_attempt("ussd") == pay_invoice.INVOICE_VOID
    assert invoices.try_open(invoice_id) == pay_invoice.INVOICE_VOID


def test_an_invoice_that_no_channel_serves_opens_no_payment() -> None:
    invoices = InMemoryInvoices()
    nobody = CollectionVendor("nobody", frozenset(), frozenset())
    invoices.payments.vendors = CollectionVendors((nobody,), (nobody,))
    assert invoices.try_open(invoices.make()) == pay_invoice.NOT_SERVED


def test_an_invoice_is_not_changed_while_it_is_being_paid_or_after() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make(charge_user="parts")
    paying = invoices.open(invoice_id, 50_000).begin("ussd")
    change = {"customer_id": invoices.customer_id, "items": [{"name": "x", "amount": 5}], "invoice_id": invoice_id}
    assert invoices.put("invoice", **change) == invoices.put("void", invoice_id=invoice_id) == issue.BEING_PAID
    paying.receive_answer(BEGUN["ussd"])
    paying.receive_answer(APPROVED)
    assert invoices.put("invoice", **change) == invoices.put("void", invoice_id=invoice_id) == issue.ALREADY_PAID


def test_an_attempt_without_an_answer_keeps_its_reservation() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make()
    paying = invoices.open(invoice_id).begin("ussd")
    paying.receive_answer(SILENT)
    assert invoices.figures(invoice_id) == ("unpaid", 0, 100_000)


def test_an_overdue_invoice_is_paid_and_a_partly_paid_one_becomes_overdue() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make(charge_user="parts", date_due="2026-01-05")
    invoices.open(invoice_id, 40_000).pay()
    job = invoices.due_job(invoice_id)
    assert job is not None
    assert not invoices.run_due_job(job).changes_anything
    invoices.payments.now = job.due
    invoices.run_due_job(job)
    assert invoices.figures(invoice_id) == ("overdue", 40_000, 0)
    assert invoices.due_job(invoice_id) is None
    invoices.open(invoice_id, 10_000).pay()
    assert invoices.figures(invoice_id) == ("overdue", 50_000, 0)
    invoices.open(invoice_id, 50_000).pay()
    assert invoices.event_statuses(invoice_id) == ["unpaid", "partly_paid", "overdue", "overdue", "paid"]
    assert not invoices.run_due_job(job).changes_anything


def test_a_refund_is_shown_and_the_invoice_stays_paid() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make()
    paying = invoices.open(invoice_id).pay()
    begun = invoices.payments.put("refund", txnRef=paying.txn_ref, amount="300.00")
    assert isinstance(begun, Decision), begun
    [job] = begun.jobs
    invoices.payments.receive_answer(job, APPROVED)
    row = invoices.row(invoice_id)
    assert (row.status, row.paid, row.refunded) == ("paid", 100_000, 30_000)
    assert invoices.try_open(invoice_id) == pay_invoice.INVOICE_PAID
    assert invoices.event_statuses(invoice_id) == ["unpaid", "paid"]


def test_a_failed_refund_changes_nothing_of_the_invoice() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make()
    paying = invoices.open(invoice_id).pay()
    [job] = invoices.payments.put("refund", txnRef=paying.txn_ref, amount="300.00").jobs
    invoices.payments.receive_answer(job, DECLINED)
    assert invoices.row(invoice_id).refunded == 0
