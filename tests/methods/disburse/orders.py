"""Transfers for the pure tests: a merchant, a context, an order as a merchant sends it, a bank's answer."""

from datetime import timedelta
from typing import Any

import msgspec

from kasuwa.core.decision import Context, Decision, HeldAmount, Job, LoadedRows, Merchant, Row
from kasuwa.methods.disburse.actions import TRANSFER_RULES
from kasuwa.methods.disburse.model import KIND
from kasuwa.methods.disburse.rules.on_bank_answer import decide_answer, need_answer
from kasuwa.methods.disburse.rules.transfer import decide_transfer, need_transfer
from kasuwa.methods.disburse.wire import TransferRequest
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.transactions import Transaction, transaction_key
from kasuwa.wire.decoding import decode
from tests.rule_context import MERCHANT, context

ORDER: dict[str, Any] = {
    "amount": "5000.00",
    "bankcode": "058",
    "accountnumber": "0000000000",
    "sender_name": "Ada Stores",
    "narration": "Invoice 1042",
    "orderRef": "order-1042",
}
DUTY_ON = {"transfer": {"stamp_duty": {"default_on": True}}}
FREE = {"transfer": {"bands": [{"up_to": None, "fee": "0"}]}}


def read(fields: dict[str, Any], of: Merchant = MERCHANT) -> Any:
    return decode(TransferRequest, msgspec.json.encode(fields), TRANSFER_RULES, of)


def order(**changes: Any) -> TransferRequest:
    request = read({name: value for name, value in (ORDER | changes).items() if value is not None})
    assert isinstance(request, TransferRequest), request
    return request


def seen(request: TransferRequest, *rows: Row, of: Merchant = MERCHANT) -> LoadedRows:
    """Returns the rows that the writer would load: a row or None for every key that the rule needs."""
    found: dict[bytes, Row | None] = {key: None for _, key in need_transfer(request, of).rows}
    return LoadedRows(found | {row.key: row for row in rows})


def decided(request: TransferRequest, given: Context | None = None, *rows: Row) -> Decision:
    given = given or context()
    decision = decide_transfer(request, given, seen(request, *rows, of=given.merchant))
    assert isinstance(decision, Decision), decision
    return decision


class SentTransfer(msgspec.Struct):
    """A transfer that is on its way: its row and its job."""

    row: Transaction
    job: Job
    merchant: Merchant
    has_webhook: bool

    @classmethod
    def new(cls, given: Context | None = None, **changes: Any) -> "SentTransfer":
        given = given or context()
        decision = decided(order(**changes), given)
        row, job = decision.rows[0], decision.jobs[0]
        assert isinstance(row, Transaction)
        return cls(row, job, given.merchant, bool(given.endpoints))

    @property
    def held(self) -> HeldAmount:
        return HeldAmount(self.row.held_on, self.row.held)

    def receive_answer(self, answer: Answer, age: float = 1.0, *, job_is_gone: bool = False) -> Decision:
        """Returns the decision on an answer that comes so many seconds after the transfer was first sent."""
        rows: dict[bytes, Row | None] = {self.row.key: self.row, self.job.key: self.job}
        if job_is_gone:
            rows[self.job.key] = None
        assert {key for _, key in need_answer(self.job, answer, self.merchant).rows} == set(rows)
        now = self.row.created_at + timedelta(seconds=age)
        given = context(now, merchant=self.merchant, has_webhook=self.has_webhook)
        decision = decide_answer(self.job, answer, given, LoadedRows(rows))
        assert isinstance(decision, Decision), decision
        return decision

    def after(self, decision: Decision) -> "SentTransfer":
        """Returns the transfer as the decision left it."""
        row, job = decision.rows[0], decision.jobs[0]
        assert isinstance(row, Transaction)
        return SentTransfer(row, job, self.merchant, self.has_webhook)


def key_of(order_ref: str, of: Merchant = MERCHANT) -> bytes:
    return transaction_key(of.merchant_id, KIND, order_ref)
