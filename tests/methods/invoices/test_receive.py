"""Money that a merchant received itself: counted on the invoice, posted nowhere, and taken back if it was wrong."""

from typing import Any

import pytest

from kasuwa.core.decision import Decision
from kasuwa.methods.invoices.model import UNKNOWN_INVOICE
from kasuwa.methods.invoices.rules import receive
from kasuwa.methods.invoices.rules.states import erase_person
from tests.methods.invoices.in_memory_invoices import InMemoryInvoices
from tests.walk.bounds import RECEIVED_OUTSIDE

DUE = "2026-02-01"  # the clock stands at 5 January 2026


def record(invoices: InMemoryInvoices, invoice_id: str, **fields: Any) -> Any:
    given = {"amount": "1000.00", "method": "cash", "reference": "R1", **fields}
    return invoices.put("received", invoice_id=invoice_id, **given)


def take_back(invoices: InMemoryInvoices, invoice_id: str, reference: str = "R1") -> Any:
    return invoices.put("not_received", invoice_id=invoice_id, reference=reference)


def faults_of(refused: Any) -> dict[str, str]:
    return {fault.field: fault.reason for fault in refused.field_errors}


def test_an_amount_received_outside_pays_an_invoice_and_moves_nothing() -> None:
    invoices = InMemoryInvoices()
    invoice_id, before = invoices.make(date_due=DUE), invoices.payments.balances()
    decision = record(invoices, invoice_id)
    assert isinstance(decision, Decision)
    assert (decision.reply.message, decision.groups, invoices.payments.balances()) == ("Payment Recorded", (), before)
    assert (invoices.figures(invoice_id), invoices.row(invoice_id).received_outside) == (("paid", 100_000, 0), 100_000)
    assert (invoices.row(invoice_id).paid_at, invoices.due_job(invoice_id)) == (invoices.payments.now, None)
    [shown] = decision.reply.data.received
    assert (shown.reference, shown.amount, shown.method, shown.received_on) == ("R1", "1000.00", "cash", "2026-01-05")
    assert invoices.event_statuses(invoice_id) == ["unpaid", "paid"]


def test_a_part_leaves_the_rest_to_be_paid_online_or_again() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make(date_due=DUE)
    record(invoices, invoice_id, amount="400.00")
    assert invoices.figures(invoice_id) == ("partly_paid", 40_000, 0)
    assert invoices.due_job(invoice_id) is not None
    assert invoices.open(invoice_id, 60_000).txn_ref
    record(invoices, invoice_id, amount="600.00", method="bank", reference="R2")
    assert invoices.figures(invoice_id)[0] == "paid"


def test_a_repeated_record_counts_once_and_another_amount_under_it_is_refused() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make()
    record(invoices, invoice_id, amount="400.00")
    again = record(invoices, invoice_id, amount="400.00")
    assert (again.reply.message, again.rows) == ("Payment Recorded Already", ())
    assert record(invoices, invoice_id, amount="500.00") is receive.REFERENCE_USED
    assert record(invoices, invoice_id, amount="400.00", method="bank") is receive.REFERENCE_USED
    assert invoices.figures(invoice_id)[1] == 40_000


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"amount": "1000.01"}, "amount"), ({"received_on": "2026-01-06"}, "received_on")],
)
def test_more_than_is_due_or_a_day_to_come_is_refused(fields: dict[str, str], field: str) -> None:
    invoices = InMemoryInvoices()
    assert list(faults_of(record(invoices, invoices.make(), **fields))) == [field]


@RECEIVED_OUTSIDE.tries
def test_what_is_outstanding_is_received_and_no_more(value: str, is_within: bool) -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make()
    record(invoices, invoice_id, amount="600.00")
    assert isinstance(record(invoices, invoice_id, amount=value, reference="R2"), Decision) == is_within
    assert (invoices.figures(invoice_id)[0] == "paid") == (value == "400.00")


@pytest.mark.parametrize(
    "fields", [{"amount": "0.00"}, {"method": "barter"}, {"reference": ""}, {"received_on": "tomorrow"}]
)
def test_fields_that_mean_nothing_are_refused(fields: dict[str, str]) -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make()
    assert isinstance(record(invoices, invoice_id, **fields), tuple)
    assert invoices.figures(invoice_id) == ("unpaid", 0, 0)


def test_what_an_attempt_to_pay_reserves_cannot_be_received_as_well() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make(charge_user="parts")
    invoices.open(invoice_id, 60_000).begin_card()
    assert invoices.figures(invoice_id) == ("unpaid", 0, 60_000)
    assert record(invoices, invoice_id) is receive.BEING_PAID
    assert isinstance(record(invoices, invoice_id, amount="400.00"), Decision)


def test_an_invoice_that_is_void_paid_or_unknown_takes_no_record() -> None:
    invoices = InMemoryInvoices()
    void, paid = invoices.make(), invoices.make()
    invoices.put("void", invoice_id=void, status="void")
    record(invoices, paid)
    assert record(invoices, void) is receive.VOID_INVOICE
    assert record(invoices, paid, reference="R2") is receive.PAID_INVOICE
    assert record(invoices, "IN0") is UNKNOWN_INVOICE
    assert take_back(invoices, "IN0") is UNKNOWN_INVOICE


def test_an_invoice_with_a_record_is_neither_changed_nor_voided() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make()
    record(invoices, invoice_id, amount="1.00")
    assert invoices.put("void", invoice_id=invoice_id, status="void").error_code == "invoice_paid"
    take_back(invoices, invoice_id)
    assert isinstance(invoices.put("void", invoice_id=invoice_id, status="void"), Decision)


def test_a_record_that_was_taken_back_stays_and_its_invoice_is_to_be_paid_again() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make(date_due=DUE)
    record(invoices, invoice_id)
    undone = take_back(invoices, invoice_id)
    assert undone.reply.message == "Record Taken Back"
    assert (invoices.figures(invoice_id), invoices.row(invoice_id).paid_at) == (("unpaid", 0, 0), None)
    assert invoices.due_job(invoice_id) is not None
    [shown] = undone.reply.data.received
    assert shown.undone_at is not None
    again = take_back(invoices, invoice_id)
    assert (again.reply.message, again.rows) == ("Record Taken Back Already", ())
    assert take_back(invoices, invoice_id, "R2") is receive.NOT_RECEIVED
    record(invoices, invoice_id, amount="250.00")
    assert invoices.figures(invoice_id) == ("partly_paid", 25_000, 0)


def test_a_record_taken_back_after_the_due_date_leaves_the_invoice_overdue() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make(date_due=DUE)
    record(invoices, invoice_id)
    invoices.payments.advance(days=40)
    take_back(invoices, invoice_id)
    assert (invoices.figures(invoice_id)[0], invoices.due_job(invoice_id)) == ("overdue", None)


def test_a_payment_in_full_ends_the_reminders_and_taking_it_back_begins_them_again() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make(date_due=DUE)
    invoices.put("send", invoice_id=invoice_id, reminders=True)
    record(invoices, invoice_id)
    assert invoices.reminder(invoice_id) is None
    take_back(invoices, invoice_id)
    assert invoices.reminder(invoice_id) is not None


def test_an_invoice_takes_fifty_records() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make()
    for n in range(50):
        assert isinstance(record(invoices, invoice_id, amount="1.00", reference=f"R{n}"), Decision)
    assert record(invoices, invoice_id, amount="1.00", reference="one more") is receive.TOO_MANY


def test_the_references_are_erased_with_the_customer() -> None:
    invoices = InMemoryInvoices()
    invoice_id = invoices.make()
    record(invoices, invoice_id, reference="Ada Obi, teller 7")
    erased = erase_person(invoices.row(invoice_id))
    assert "Ada" not in getattr(erased, "receipts", "Ada")
