"""The model of disputes, and of the events that every final transaction and every step of a dispute has."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from tests.simulate.model_books import FAILED, SUCCESSFUL, WALLETS, Reply, Txn, money, refuse
from tests.simulate.model_clients import Clients
from tests.simulate.model_rails import Payment

DISPUTE_FEES = {"NGN": 150_000, "USD": 1_500}
DISPUTE_LIFE = timedelta(hours=168)
# The kinds of transactions whose events are compared. Each has one, when it is final.
EVENT_KINDS = ("transfer", "bill", "payment", "refund")


@dataclass
class Dispute:
    key: str
    payment: Payment
    amount: int
    fee: int
    vat: int
    due_at: datetime
    state: str = "needs_response"

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
        return {"status": 200}

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
        return {"status": 200}

    def expected_dispute(self, key: str) -> Reply:
        dispute = self.disputes[key]
        held = money(dispute.total if dispute.is_open else 0)
        return {"state": dispute.state, "amount": money(dispute.amount), "fee": money(dispute.fee), "held": held}

    def dispute_changes(self) -> Iterator[tuple[datetime, int, partial[Reply]]]:
        for dispute in self.disputes.values():
            if dispute.is_open:
                yield dispute.due_at, 0, partial(self.end_dispute, dispute.key, "expired")

    # --- events ------------------------------------------------------------------------------------------------------

    def expected_event(self, txn: Txn) -> Reply | None:
        """Returns what the event of a transaction must contain, or None if it has none yet."""
        if txn.kind not in EVENT_KINDS or not txn.is_final:
            return None
        charged = self.payments[txn.key].charged if txn.key in self.payments else txn.amount
        return {
            "kind": txn.kind,
            "txnStatus": txn.status,
            "chargedAmount": money(0 if txn.status == FAILED else charged),
        }
