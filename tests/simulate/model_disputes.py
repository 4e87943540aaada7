"""The model of disputes: what they hold and take, their deadline, and an event for each step."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from tests.simulate.model_books import SUCCESSFUL, WALLETS, Id, Reply, money, refuse
from tests.simulate.model_clients import Clients
from tests.simulate.model_rails import Payment

DISPUTE_FEES = {"NGN": 150_000, "USD": 1_500}
DISPUTE_LIFE = timedelta(hours=168)
REMINDERS = (timedelta(hours=48), timedelta(hours=12))  # before the deadline
REASON = "fraudulent"


def utc_text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


@dataclass
class Dispute:
    key: str
    payment: Payment
    amount: int
    fee: int
    vat: int
    due_at: datetime
    state: str = "needs_response"
    reminders: int = 0  # sent so far

    @property
    def total(self) -> int:
        return self.amount + self.fee + self.vat

    @property
    def is_open(self) -> bool:
        return self.state == "needs_response"


class Disputes(Clients):
    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.disputes: dict[str, Dispute] = {}

    def new_dispute(self, key: str, of: str, amount: int) -> Dispute:
        payment = self.payments[of]
        fee = DISPUTE_FEES[payment.currency]
        return Dispute(key, payment, amount, fee, self.vat(fee), self.now + DISPUTE_LIFE)

    def can_dispute(self, payment: Payment) -> bool:
        """Returns whether a dispute of all that is left would be covered by the wallet. Debts are not modeled."""
        is_paid = self.txns[payment.key].status == SUCCESSFUL and self.refundable(payment) > 0
        is_paid = is_paid and payment.currency in DISPUTE_FEES
        total = self.new_dispute("", payment.key, self.refundable(payment)).total if is_paid else 0
        return is_paid and self.available(WALLETS[payment.currency]) >= total

    def open_dispute(self, key: str, of: str, amount: int) -> Reply:
        """Holds what is disputed, and the fee. Contract: payment#disputes"""
        payment = self.payments[of]
        if amount > self.refundable(payment):
            return refuse(104, "amount")
        dispute = self.disputes[key] = self.new_dispute(key, of, amount)
        payment.disputed += amount
        self.held[WALLETS[payment.currency]] += dispute.total
        self.add_step_event(dispute, "opened")
        return {"status": 200}

    def add_step_event(self, dispute: Dispute, step: str) -> None:
        payment = dispute.payment
        fields = {"disputeOf": Id(payment.key), "state": dispute.state, "step": step, "reason": REASON}
        fields |= {"fee": money(dispute.fee), "vat": money(dispute.vat), "respond_by": utc_text(dispute.due_at)}
        if plan := self.plan_of(payment):
            fields["plan_id"] = Id(plan)
        self.add_event("dispute", dispute.key, SUCCESSFUL, dispute.amount, payment.currency, payment.method, **fields)

    def plan_of(self, payment: Payment) -> str:
        """Returns the plan that a payment is a charge of, or ""."""
        return payment.plan

    def remind(self, dispute: Dispute) -> None:
        dispute.reminders += 1
        self.add_step_event(dispute, "reminder")

    def end_dispute(self, key: str, state: str) -> Reply:
        """Ends a dispute: what was won is the merchant's again, anything else takes amount and fee."""
        dispute = self.disputes[key]
        if not dispute.is_open:
            return refuse(104)
        currency = dispute.payment.currency
        wallet = WALLETS[currency]
        dispute.state = state
        self.held[wallet] -= dispute.total
        if state == "won":
            dispute.payment.disputed -= dispute.amount
        else:
            self.move((wallet, dispute.payment.rail, dispute.amount))
            self.move(*self.fee_moves(wallet, "dispute", currency, dispute.fee))
        self.add_step_event(dispute, state)
        return {"status": 200}

    def expected_dispute(self, key: str) -> Reply:
        dispute = self.disputes[key]
        held = money(dispute.total if dispute.is_open else 0)
        return {"state": dispute.state, "amount": money(dispute.amount), "fee": money(dispute.fee), "held": held}

    def dispute_changes(self) -> Iterator[tuple[datetime, int, Callable[[], object]]]:
        for dispute in self.disputes.values():
            if dispute.is_open and dispute.reminders < len(REMINDERS):
                yield dispute.due_at - REMINDERS[dispute.reminders], 0, partial(self.remind, dispute)
            if dispute.is_open:
                yield dispute.due_at, 0, partial(self.end_dispute, dispute.key, "expired")
