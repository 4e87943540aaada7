"""The model of payments by telephone and mobile money: the payer confirms at the operator, at once, later or never."""

from datetime import timedelta

from tests.simulate.model_books import FAILED, FIRST_REQUERY_AGE, PENDING, Outcome, Reply, percentage_of
from tests.simulate.model_disputes import Disputes
from tests.simulate.model_rails import (
    AT_ONCE,
    DECLINED,
    FAILS_LATER,
    PAYMENT_EXPIRY_SECONDS,
    SUCCEEDS_LATER,
    Payment,
)

EXPIRES = Outcome(PENDING, FAILED, PAYMENT_EXPIRY_SECONDS)
# Outcome of a payment by the last two digits of the magic number.
BY_DIGITS = {
    "00": AT_ONCE,
    "09": SUCCEEDS_LATER,
    "06": FAILS_LATER,
    "51": DECLINED,
    "17": DECLINED,
    "91": DECLINED,
    "68": EXPIRES,
    "99": EXPIRES,
}
MAGIC_PHONES = {"phone": "080000000", "ghana": "02400000", "mpesa": "07000000"}
CURRENCIES = {"phone": "NGN", "paga": "NGN", "ghana": "GHS", "mpesa": "KES"}
# Percentage in hundredths, and the limits of one payment.
PERCENTAGES = {"paga": 150, "ghana": 195, "mpesa": 150}
CAP_NGN = 200_000
LIMITS = {"NGN": (100, 1_000_000_000), "GHS": (100, 10_000_000), "KES": (1_000, 100_000_000)}


class Phones(Disputes):
    def phone_fee(self, provider: str, amount: int) -> int:
        if provider == "phone":
            return self.mobile_fee("phone", amount)
        fee = percentage_of(amount, PERCENTAGES[provider])
        return min(fee, CAP_NGN) if provider == "paga" else fee

    def pay_by_phone(self, key: str, provider: str, digits: str, amount: int) -> Reply:
        """Begins a payment that the payer confirms on the telephone, or on the page of `paga`. A payer who confirms at
        once is answered like one who is awaited. Contract: payment#confirmed-at-once"""
        outcome = EXPIRES if provider == "paga" else BY_DIGITS[digits]
        kind = self.take_fault("mobile")
        method = "phone" if provider == "phone" else "mobile_money"
        expires_at = self.now + timedelta(seconds=PAYMENT_EXPIRY_SECONDS)
        payment = Payment(key, "", CURRENCIES[provider], amount, expires_at, method)
        self.begin(self.new_payment(payment, amount, self.phone_fee(provider, amount), after_fault(kind, outcome)))
        txn = self.txns[key]
        self.reached[f"{method} {txn.outcome.end} in {payment.currency}"] += 1
        if txn.status == FAILED:
            return {"status": 200, "txnStatus": FAILED}
        if kind:
            return {"status": 200, "txnStatus": PENDING, "message": "PENDING"}
        return {"status": 202} if provider == "paga" else {"status": 202, "auth_type": "device"}


def after_fault(kind: str, outcome: Outcome) -> Outcome:
    """Returns the outcome of a charge at the mobile operator with a planned fault. What never arrived expires; what was
    refused is sent again at the first retry."""
    if kind == "decline":
        return DECLINED
    if kind == "reset":
        return EXPIRES
    if not kind or outcome == EXPIRES:
        return outcome
    again = FIRST_REQUERY_AGE if kind == "unavailable" and outcome.final_after_seconds else 0
    return Outcome(PENDING, outcome.end, FIRST_REQUERY_AGE + again)
