"""The model of lost steps of card and account payments, and of the event that every final transaction has."""

from datetime import datetime, timedelta
from typing import Any

from tests.simulate.model_books import (
    FAILED,
    FIRST_REQUERY_AGE,
    PENDING,
    SUCCESSFUL,
    Id,
    Outcome,
    Reply,
    Txn,
    money,
    percentage_of,
    refuse,
)
from tests.simulate.model_rails import (
    ACCOUNT,
    DECLINED,
    ITEMS,
    PAYER_CARDS,
    PAYMENT_EXPIRY_SECONDS,
    PENDING_UNTIL_CALLBACK,
    Payment,
)
from tests.simulate.model_thrift import Thrift

UNAVAILABLE = refuse(204, "nothing was charged")
STILL_PENDING: Reply = {"status": 200, "txnStatus": PENDING, "message": "PENDING"}
EXPIRES = Outcome(PENDING, FAILED, PAYMENT_EXPIRY_SECONDS)


class Events(Thrift):
    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.declined: set[str] = set()  # payments that a planned fault declines when they are validated

    # --- lost steps ----------------------------------------------------------------------------------------------

    def lose_initiate(self, key: str, number: str, amount: int) -> Reply:
        """Initiates a card payment whose first step has a planned fault. Nothing is charged; it expires."""
        kind = self.take_fault("card")
        outcome = DECLINED if kind == "unavailable" else EXPIRES
        self.begin(self.open_payment(key, number, "NGN", amount, "merchant", outcome))
        if kind == "decline":
            return {"status": 202, "apply_auth": "PIN"}
        payment = self.payments[key]
        payment.by_otp = payment.is_opening = kind != "unavailable"
        if kind == "timeout":
            payment.asked_at = self.now + timedelta(seconds=FIRST_REQUERY_AGE)
        return UNAVAILABLE if kind == "unavailable" else STILL_PENDING

    def lose_charge(self, key: str, number: str, amount: int) -> Reply:
        """Charges a card by PIN with a planned fault of that step. One that the rail refused can be sent again."""
        kind = self.take_fault("card")
        charge = PAYER_CARDS[number].charge
        outcomes = {"timeout": Outcome(PENDING, charge.end, FIRST_REQUERY_AGE), "decline": DECLINED}
        txn = self.open_payment(key, number, "NGN", amount, "merchant", outcomes.get(kind, EXPIRES))
        self.begin(txn)
        return UNAVAILABLE if kind == "unavailable" else self.expected_payment(txn)

    def charge_declined(self, key: str) -> Reply:
        """Charges a card that a planned fault of `initiate` has declined."""
        self.end(self.txns[key], FAILED)
        return self.expected_payment(self.txns[key])

    def charge_again(self, key: str) -> Reply:
        """Sends a charge again that the rail had refused."""
        txn = self.txns[key]
        txn.sent_at, txn.outcome = self.now, PAYER_CARDS[self.payments[key].number].charge
        txn.status = txn.outcome.first_status
        if txn.is_final:
            self.end(txn, txn.status)
        return self.expected_payment(txn)

    def lose_account(self, key: str, amount: int) -> Reply:
        """Charges a bank account with a planned fault. A lost question for the OTP becomes known at the first
        re-query."""
        kind = self.take_fault("bank")
        expected = self.charge_elsewhere(key, ACCOUNT, amount)
        txn, payment = self.txns[key], self.payments[key]
        if kind == "decline":
            self.declined.add(key)
            return expected
        payment.is_awaiting_otp = False
        if kind == "unavailable":
            self.end(txn, FAILED)
            return UNAVAILABLE
        if kind == "timeout":
            payment.asked_at = self.now + timedelta(seconds=FIRST_REQUERY_AGE)
        else:
            txn.outcome = EXPIRES
        return STILL_PENDING

    def learn_question(self, key: str) -> None:
        """Applies what the first re-query tells of a lost first step: the account's bank asks for an OTP, the card's
        for a PIN."""
        payment = self.payments[key]
        payment.asked_at, payment.is_opening = None, False
        payment.is_awaiting_otp = payment.by_otp = payment.method == ACCOUNT

    def lose_validate(self, key: str) -> Reply:
        """Sends the right OTP with a planned fault of that step."""
        txn, payment = self.txns[key], self.payments[key]
        kind = self.take_fault(payment.fault_rail)
        if kind == "unavailable":
            return UNAVAILABLE
        payment.is_awaiting_otp = False
        usual = self.outcome_of_charge(payment)
        txn.sent_at, txn.outcome = self.now, usual
        if kind == "decline":
            self.end(txn, FAILED)
            return {"status": 200, "txnStatus": FAILED}
        if kind == "reset":
            left = payment.expires_at - self.now
            txn.outcome = Outcome(PENDING, FAILED, int(left.total_seconds()))
        elif usual != PENDING_UNTIL_CALLBACK:
            txn.outcome = Outcome(PENDING, usual.end, FIRST_REQUERY_AGE)
        return STILL_PENDING

    def outcome_of_charge(self, payment: Payment) -> Outcome:
        return DECLINED if payment.key in self.declined else super().outcome_of_charge(payment)

    # --- events --------------------------------------------------------------------------------------------------

    def add_end_event(self, txn: Txn) -> None:
        fields: dict[str, Any] = {}
        if txn.purpose in self.savings:
            fields["savings_id"] = Id(txn.purpose)
        if txn.purpose in self.loans:
            fields["loan_id"] = Id(txn.purpose)
        if txn.kind == "payment":
            payment = self.payments[txn.key]
            fields["customer_txnref"] = self.plans[payment.plan].first if payment.plan else txn.key
            self.add_event("payment", txn.key, txn.status, payment.charged, payment.currency, payment.method, **fields)
        elif txn.kind == "deposit":
            self.add_event("payment", txn.key, txn.status, txn.amount, method="card", **fields)
        elif txn.kind == "refund":
            payment = self.payments[txn.purpose]
            self.add_event("refund", txn.key, txn.status, txn.amount, payment.currency, refundOf=Id(txn.purpose))
        elif txn.kind == "bill":
            discount = percentage_of(txn.amount, ITEMS[txn.request[0]][2]) if txn.status == SUCCESSFUL else 0
            self.add_event("bill", txn.key, txn.status, txn.amount, orderRef=txn.key, commission=money(discount))
        elif txn.kind == "cashcode":
            fields |= {"orderRef": txn.key} if txn.request else {}
            self.add_event("cashcode", txn.key, txn.status, self.codes[txn.key].paid, **fields)
        else:
            order = txn.key if txn.request else Id(txn.key)
            self.add_event("transfer", txn.key, txn.status, txn.amount, orderRef=order, **fields)
