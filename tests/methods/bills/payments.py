"""Bills for the pure tests: an item of the catalogue, a payment as a merchant sends it, a biller's answer."""

from datetime import timedelta
from typing import Any

import msgspec

from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, NeedsMore, Refusal, Row
from kasuwa.core.money import convert_to_minor
from kasuwa.methods.bills.model import KIND, DuplicateGuard, Paycode, duplicate_guard_key, voucher_key
from kasuwa.methods.bills.rules.on_biller_answer import decide_answer, need_answer
from kasuwa.methods.bills.rules.pay_bill import decide_pay, need_pay
from kasuwa.methods.bills.wire import PayRequest
from kasuwa.rails.catalogue.catalogue import Item, paycode_key
from kasuwa.rails.ports.orders import Answer
from kasuwa.rails.sandbox.biller import first_edition
from kasuwa.transactions.transactions import Transaction, transaction_key
from kasuwa.wire.decoding import decode
from tests.rule_context import MERCHANT, context

# By name, since what a test is about is the kind of item.
PREPAID = "IKEDC Prepaid"
POSTPAID = "IKEDC Postpaid"
AIRTIME = "MTN VTU (any amount)"
AIRTIME_100 = "MTN Airtime 100"
TELEVISION = "DStv Padi (1 month)"
EXAM = "WAEC Result Checker PIN"

METER, PHONE, SMARTCARD = "45012345678", "08031234567", "1212121212"
CUSTOMERS = {
    PREPAID: METER,
    POSTPAID: METER,
    AIRTIME: PHONE,
    AIRTIME_100: PHONE,
    TELEVISION: SMARTCARD,
    EXAM: PHONE,
}


def item_of(name: str) -> Item:
    (item,) = [item for item in first_edition().items if item.name == name]
    return item


def listed(name: str, **changes: Any) -> Paycode:
    """An item as the catalogue's view shows it to a rule."""
    item = item_of(name)
    (biller,) = [biller for biller in first_edition().billers if biller.id == item.bills_id]
    row = Paycode(
        key=paycode_key(item.paycode),
        merchant_id=0,
        paycode=item.paycode,
        name=item.name,
        bills_id=item.bills_id,
        biller=biller.name,
        slug=biller.slug,
        pattern=biller.pattern,
        least=biller.least,
        amount_step=biller.amount_step,
        most=biller.most,
        price=convert_to_minor(item.amount),
        fee=item.fee,
        discount=item.discount,
        fulfilment=item.fulfilment,
        accepted=True,
    )
    return msgspec.structs.replace(row, **changes)


def payment(name: str = PREPAID, **changes: Any) -> PayRequest:
    ordinary = {
        "paycode": item_of(name).paycode,
        "reference": CUSTOMERS[name],
        "amount": "5000.00" if not convert_to_minor(item_of(name).amount) else None,
        "orderRef": "bill-1042",
    }
    fields = {field: value for field, value in (ordinary | changes).items() if value is not None}
    request = decode(PayRequest, msgspec.json.encode(fields), (), MERCHANT)
    assert isinstance(request, PayRequest), request
    return request


def decide(
    request: PayRequest, item: Paycode | None, given: Context | None = None, *rows: Row
) -> Decision | Refusal | NeedsMore:
    """Runs the rule as the writer does: on NeedsMore it loads those rows and runs the rule again."""
    given = given or context()
    found: dict[bytes, Row | None] = {key: None for _, key in need_pay(request, given.merchant).rows}
    found |= {row.key: row for row in (*rows, *(() if item is None else (item,)))}
    outcome = decide_pay(request, given, LoadedRows(found))
    while isinstance(outcome, NeedsMore):
        asked = {key for _, key in outcome.needs.rows}
        assert not asked <= set(found), "it asks for what it has"
        found = dict.fromkeys(asked) | found
        outcome = decide_pay(request, given, LoadedRows(found))
    return outcome


def decided(request: PayRequest, item: Paycode, given: Context | None = None, *rows: Row) -> Decision:
    decision = decide(request, item, given, *rows)
    assert isinstance(decision, Decision), decision
    return decision


def key_of(order_ref: str = "bill-1042", of: Merchant = MERCHANT) -> bytes:
    return transaction_key(of.merchant_id, KIND, order_ref)


def guard_of(
    name: str, amount: int, at: Any, order_ref: str = "another", reference: str | None = None
) -> DuplicateGuard:
    customer = reference or CUSTOMERS[name]
    key = duplicate_guard_key(MERCHANT.merchant_id, item_of(name).bills_id, customer, amount)
    return DuplicateGuard(key, MERCHANT.merchant_id, order_ref, at)


class SentBill(msgspec.Struct):
    """A bill that is on its way: its row and its job."""

    row: Transaction
    job: Job
    merchant: Merchant
    has_webhook: bool

    @classmethod
    def new(
        cls, name: str = PREPAID, given: Context | None = None, of: Paycode | None = None, **changes: Any
    ) -> "SentBill":
        given = given or context()
        decision = decided(payment(name, **changes), of or listed(name), given)
        row, job = decision.rows[0], decision.jobs[0]
        assert isinstance(row, Transaction)
        return cls(row, job, given.merchant, bool(given.endpoints))

    def receive_answer(self, answer: Answer, age: float = 1.0, *besides: Row, job_is_gone: bool = False) -> Decision:
        """Returns the decision on an answer that comes so many seconds after the bill was first sent."""
        rows: dict[bytes, Row | None] = {self.row.key: self.row}
        rows[self.job.key] = None if job_is_gone else self.job
        rows[voucher_key(self.row.merchant_id, self.row.key)] = None
        assert {key for _, key in need_answer(self.job, answer, self.merchant).rows} == set(rows)
        rows |= {row.key: row for row in besides}
        now = self.row.created_at + timedelta(seconds=age)
        return decide_answer(
            self.job, answer, context(now, merchant=self.merchant, has_webhook=self.has_webhook), LoadedRows(rows)
        )

    def after(self, decision: Decision) -> "SentBill":
        """Returns the bill as the decision left it."""
        row, job = decision.rows[0], decision.jobs[0]
        assert isinstance(row, Transaction)
        return SentBill(row, job, self.merchant, self.has_webhook)
