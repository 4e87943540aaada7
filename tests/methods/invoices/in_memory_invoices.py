"""Invoices of one merchant in memory, for the pure tests: their checkouts and payments run as in the writer."""

from typing import Any

import msgspec

from kasuwa.core.action import Write
from kasuwa.core.decision import Decision, Job, Merchant
from kasuwa.core.references import job_key
from kasuwa.methods.checkout.actions import PURPOSES
from kasuwa.methods.customers.actions import RESOURCES as CUSTOMERS
from kasuwa.methods.invoices.actions import OPEN_INVOICE_PAYMENT, RESOURCES, STEPS
from kasuwa.methods.invoices.model import Invoice, invoice_key, reminder_key
from kasuwa.methods.invoices.payer_model import OpenInvoicePayment
from kasuwa.methods.invoices.rules.pay_invoice import INVOICE_SOURCE
from kasuwa.methods.mail.model import MailRow, read_content
from kasuwa.rails.ports.orders import NO_CALL_MADE
from kasuwa.transactions.checkouts import Checkout
from kasuwa.wire.decoding import decode
from tests.methods.checkout.in_memory_checkouts import InMemoryCheckout
from tests.methods.payment.in_memory_payments import InMemoryPayments
from tests.rule_context import MERCHANT, VAULT

ACTIONS: dict[str, Any] = {
    "customer": CUSTOMERS[0],
    "invoice": RESOURCES[0],
    "send": RESOURCES[3],
    "received": RESOURCES[4],
    "not_received": RESOURCES[5],
    "void": RESOURCES[6],
}
ITEMS = [{"name": "Fabric", "quantity": 2, "amount": "500.00"}]


class OpenedCheckout(InMemoryCheckout):
    """A checkout that a page has opened."""

    def __init__(self, payments: InMemoryPayments, txn_ref: str) -> None:
        self.payments = payments
        self.txn_ref = txn_ref


class InMemoryInvoices:
    def __init__(self, of: Merchant = MERCHANT) -> None:
        self.payments = InMemoryPayments(of=of, purposes=PURPOSES, has_webhook=True)
        self.payments.sources[INVOICE_SOURCE.name] = INVOICE_SOURCE
        made = self.put("customer", name="Ada Obi", email="ada@example.com")
        self.customer_id = made.reply.data.customer_id

    def put(self, name: str, /, **fields: Any) -> Any:
        """Requests an action. Returns the decision, the refusal, or the tuple of field errors."""
        action: Write = ACTIONS[name]
        request = decode(action.request, msgspec.json.encode(fields), action.rules, self.payments.merchant)
        return request if isinstance(request, tuple) else self.run(action, request)

    def run(self, action: Write, request: Any) -> Any:
        needs = action.needs(request, self.payments.merchant)
        return self.payments.decide(needs, lambda given, seen: action.decide(request, given, seen))

    def make(self, **fields: Any) -> str:
        """Makes an invoice of 1,000.00 and returns its id."""
        made = self.put("invoice", **{"customer_id": self.customer_id, "items": ITEMS, **fields})
        assert isinstance(made, Decision), made
        return str(made.reply.data.invoice_id)

    def row(self, invoice_id: str) -> Invoice:
        row = self.payments.rows[invoice_key(self.payments.merchant.merchant_id, invoice_id)]
        assert isinstance(row, Invoice)
        return row

    def figures(self, invoice_id: str) -> tuple[str, int, int]:
        row = self.row(invoice_id)
        return row.status, row.paid, row.reserved

    def try_open(self, invoice_id: str, amount: int = 100_000) -> Any:
        token = f"{self.payments.decisions:048x}"
        return self.run(OPEN_INVOICE_PAYMENT, OpenInvoicePayment(reference=invoice_id, amount=amount, page_token=token))

    def open(self, invoice_id: str, amount: int = 100_000) -> OpenedCheckout:
        """Opens a checkout as the page does."""
        decision = self.try_open(invoice_id, amount)
        assert isinstance(decision, Decision), decision
        [checkout] = [row for row in decision.rows if isinstance(row, Checkout)]
        return OpenedCheckout(self.payments, checkout.txn_ref)

    def due_job(self, invoice_id: str) -> Job | None:
        job = self.payments.rows.get(job_key(self.row(invoice_id).key))
        assert job is None or isinstance(job, Job)
        return job

    def run_due_job(self, job: Job) -> Any:
        step = STEPS[0]
        needs = step.needs(job, NO_CALL_MADE, self.payments.merchant)
        return self.payments.decide(needs, lambda given, seen: step.decide(job, NO_CALL_MADE, given, seen))

    def reminder(self, invoice_id: str) -> Job | None:
        job = self.payments.rows.get(reminder_key(self.row(invoice_id)))
        assert job is None or isinstance(job, Job)
        return job

    def run_reminder(self, job: Job) -> Any:
        step = STEPS[1]
        needs = step.needs(job, NO_CALL_MADE, self.payments.merchant)
        return self.payments.decide(needs, lambda given, seen: step.decide(job, NO_CALL_MADE, given, seen))

    @property
    def mails(self) -> list[tuple[str, str]]:
        """Purpose and subject of each mail, oldest first."""
        rows = [row for row in self.payments.rows.values() if isinstance(row, MailRow)]
        contents = [
            (row.purpose, read_content(row, VAULT.unseal)) for row in sorted(rows, key=lambda row: row.created_at)
        ]
        return [(purpose, "" if content is None else content.subject) for purpose, content in contents]

    def event_statuses(self, invoice_id: str) -> list[str]:
        payloads = [msgspec.json.decode(event.payload) for event in self.payments.events if event.object == invoice_id]
        return [payload["invoiceStatus"] for payload in payloads]
