"""A checkout of one merchant in memory, for the pure tests: its attempts run as payments do."""

from typing import Any

import msgspec

from kasuwa.core.action import Write
from kasuwa.core.decision import Decision, Job, Refusal
from kasuwa.core.references import job_key
from kasuwa.methods.checkout.actions import (
    ABANDON_ATTEMPT,
    BEGIN_ATTEMPT,
    CHARGE_ATTEMPT,
    CONFIRM_ATTEMPT,
    PAYMENT,
    PURPOSES,
    STEPS,
)
from kasuwa.methods.checkout.payer_model import (
    AbandonAttempt,
    BeginAttempt,
    ChargeAttempt,
    ConfirmAttempt,
    EnteredCard,
)
from kasuwa.rails.ports.orders import NO_CALL_MADE
from kasuwa.terms.vendors import NO_VENDORS, CollectionVendors
from kasuwa.transactions.checkouts import (
    Checkout,
    CheckoutDetail,
    CheckoutSource,
    checkout_key,
    read_checkout_detail,
)
from kasuwa.wire.decoding import decode
from tests.methods.payment.in_memory_payments import APPROVED, InMemoryPayments, PaymentInProgress, opened
from tests.rule_context import VAULT

CARD = EnteredCard("4111110000000013", "12", "30", "000")
USER = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
# What a payer enters for each channel besides the card.
ENTERED: dict[str, dict[str, Any]] = {
    "card": {"card": CARD},
    "account": {"account_number": "0000000000", "bank_code": "058"},
    "ussd": {"ussd_bank": "gtb"},
    "phone": {"phone": "08031234567"},
    "mobile_money": {"provider": "paga"},
    "qrpay": {},
    "bank_transfer": {},
}


class InMemoryCheckout:
    def __init__(
        self, *, source: CheckoutSource | None = None, vendors: CollectionVendors = NO_VENDORS, **fields: Any
    ) -> None:
        self.payments = InMemoryPayments(purposes=PURPOSES, has_webhook=True, vendors=vendors)
        if source is not None:
            self.payments.sources[source.name] = source
        self.opened = self.put({"amount": "1500.00", "user": USER, "customer_txnref": "basket-1", **fields})
        self.txn_ref = self.opened.reply.txn_ref if isinstance(self.opened, Decision) else ""

    def put(self, fields: dict[str, Any]) -> Any:
        """Requests a checkout. Returns the decision, the refusal, or the tuple of field errors."""
        request = decode(PAYMENT[0].request, msgspec.json.encode(fields), PAYMENT[0].rules, self.payments.merchant)
        return request if isinstance(request, tuple) else self.run(PAYMENT[0], request)

    def run(self, action: Write, request: Any) -> Any:
        needs = action.needs(request, self.payments.merchant)
        return self.payments.decide(needs, lambda given, seen: action.decide(request, given, seen))

    @property
    def row(self) -> Checkout:
        row = self.payments.rows[checkout_key(self.payments.merchant.merchant_id, self.txn_ref)]
        assert isinstance(row, Checkout)
        return row

    @property
    def detail(self) -> CheckoutDetail:
        return read_checkout_detail(self.row, VAULT.unseal)

    @property
    def expiry_job(self) -> Job | None:
        job = self.payments.rows.get(job_key(self.row.key))
        assert job is None or isinstance(job, Job)
        return job

    def try_attempt(self, channel: str = "card", number: int | None = None, **fields: Any) -> Any:
        """Begins an attempt. Returns the decision or refusal. Without `shown_total`, the payer confirms any total."""
        count = self.row.attempts + 1 if number is None else number
        entered = {"shown_total": 0, **ENTERED[channel], **fields}
        request = BeginAttempt(reference=self.txn_ref, number=count, channel=channel, **entered)
        begun = self.run(BEGIN_ATTEMPT, request)
        total = begun.total if isinstance(begun, Refusal) else None
        if total is None or "shown_total" in fields:
            return begun
        return self.run(BEGIN_ATTEMPT, msgspec.structs.replace(request, shown_total=total))

    def begin(self, channel: str = "card", **fields: Any) -> PaymentInProgress:
        return PaymentInProgress(self.payments, self.try_attempt(channel, **fields))

    def begin_card(self, auth: str = "OTP") -> PaymentInProgress:
        """Begins an attempt by card, whose bank asks for an authentication."""
        paying = self.begin()
        paying.receive_answer(opened(auth))
        return paying

    def charge(self, paying: PaymentInProgress, card: EnteredCard = CARD) -> Any:
        request = ChargeAttempt(reference=self.txn_ref, attempt_ref=paying.txn_ref, card=card)
        return self.run(CHARGE_ATTEMPT, request)

    def confirm(self, paying: PaymentInProgress, otp: str = "123456") -> Any:
        return self.run(CONFIRM_ATTEMPT, ConfirmAttempt(reference=self.txn_ref, attempt_ref=paying.txn_ref, otp=otp))

    def abandon(self, attempt_ref: str) -> Any:
        return self.run(ABANDON_ATTEMPT, AbandonAttempt(reference=self.txn_ref, attempt_ref=attempt_ref))

    def pay(self) -> PaymentInProgress:
        """Pays by a card with a code."""
        paying = self.begin_card()
        self.confirm(paying)
        paying.receive_answer(APPROVED)
        return paying

    def expire(self) -> Any:
        """Runs the job that ends the checkout."""
        job, step = self.expiry_job, STEPS[0]
        assert job is not None
        needs = step.needs(job, NO_CALL_MADE, self.payments.merchant)
        return self.payments.decide(needs, lambda given, seen: step.decide(job, NO_CALL_MADE, given, seen))
