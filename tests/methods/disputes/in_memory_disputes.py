"""Payments and disputes of one merchant in memory, for the pure tests of disputes."""

from datetime import timedelta
from typing import Any

from kasuwa.core.action import Write
from kasuwa.core.decision import Decision, Job, Merchant, Needs, Refusal
from kasuwa.core.references import job_key
from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.ledger.chart import open_account
from kasuwa.methods.disputes import actions
from kasuwa.methods.disputes.model import Dispute, dispute_key
from kasuwa.methods.disputes.rules.rail_dispute import decide_announced, need_announced
from kasuwa.rails.ports.feed_entries import AnnouncedDispute
from kasuwa.rails.ports.orders import NO_CALL_MADE, Answer
from tests.methods.payment.in_memory_payments import InMemoryPayments, decode_fields
from tests.rule_context import MERCHANT

STEPS = {step.kind: step for step in actions.STEPS}
RESPOND = next(action for action in actions.PAYMENT if isinstance(action, Write))
OPEN, OUTCOME = actions.SANDBOX
FUNDS = 10_000_000


class InMemoryDisputes(InMemoryPayments):
    def __init__(self, of: Merchant = MERCHANT, *, funds: int = FUNDS) -> None:
        super().__init__(of=of, funds=funds)

    def decide(self, needs: Needs, rule: Any, scenario: Scenario = NO_SCENARIO) -> Decision | Refusal:
        """Rules of disputes also read accounts, as rows."""
        self.rows |= {account.key: account for account in self.accounts.values()}
        return super().decide(needs, rule, scenario)

    def send(self, action: Any, **fields: Any) -> Any:
        request = decode_fields(action, fields, self.merchant)
        if isinstance(request, tuple):
            return request
        return self.decide(
            action.needs(request, self.merchant), lambda given, seen: action.decide(request, given, seen)
        )

    def open(self, txn_ref: str, **fields: Any) -> Dispute:
        opened = self.send(OPEN, txnRef=txn_ref, **{"reason": "fraudulent", **fields})
        assert isinstance(opened, Decision), opened
        return self.dispute(opened.reply.data.dispute_id)

    def respond(self, dispute: Dispute, **fields: Any) -> Any:
        return self.send(RESPOND, dispute_id=dispute.dispute_id, **fields)

    def end(self, dispute: Dispute, outcome: str) -> Any:
        return self.send(OUTCOME, dispute_id=dispute.dispute_id, outcome=outcome)

    def dispute(self, dispute_id: str) -> Dispute:
        row = self.rows[dispute_key(self.merchant.merchant_id, dispute_id)]
        assert isinstance(row, Dispute)
        return row

    def job_of(self, dispute: Dispute) -> Job | None:
        row = self.rows.get(job_key(dispute.key))
        assert row is None or isinstance(row, Job)
        return row

    def run_job(self, job: Job, answer: Answer = NO_CALL_MADE) -> Any:
        """Moves the clock to the time of a job and runs it, with the answer of its rail."""
        self.now = max(self.now, job.due)
        step = STEPS[job.kind]
        needs = step.needs(job, answer, self.merchant)
        return self.decide(needs, lambda given, seen: step.decide(job, answer, given, seen))

    def announce(self, txn_ref: str, **changes: Any) -> Any:
        """Has a rail tell of a dispute."""
        known: dict[str, Any] = {"rail_dispute_id": "77", "amount": 50_000, "outcome": None}
        known["due_at"] = self.now + timedelta(hours=30)
        announced = AnnouncedDispute(rail="paystack", txn_ref=txn_ref, reason="fraudulent", **{**known, **changes})
        needs = need_announced(announced, self.merchant)
        return self.decide(needs, lambda given, seen: decide_announced(announced, given, seen))

    def collect_debt(self) -> Any:
        [job] = [job for job in self.jobs() if job.kind == "dispute.collect"]
        return self.run_job(job)

    def fund(self, amount: int, currency: str = "NGN") -> None:
        self.account(f"wallet:main:{currency}").posted += amount
        self.account(f"outside:funding:{currency}").posted -= amount

    @property
    def wallet(self) -> tuple[int, int]:
        """Returns balance and held amount of the wallet."""
        account = self.accounts.get("wallet:main:NGN") or open_account(self.merchant.merchant_id, "wallet:main:NGN")
        return account.posted, account.held

    def later(self, **stretch: float) -> None:
        self.now += timedelta(**stretch)
