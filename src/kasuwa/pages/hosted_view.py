"""The data of a hosted checkout's page: everything that its payer may see, and the step that comes next."""

from datetime import datetime
from hashlib import blake2b

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Merchant
from kasuwa.methods.checkout.rules.attempt import MAX_ATTEMPTS, due_today
from kasuwa.methods.payment.model import (
    ABANDONED,
    AWAITING_3DS,
    AWAITING_OTP,
    AWAITING_PAYER,
    FACTS_DECODER,
    INITIATED,
    InstallmentTerms,
    Payment,
    PaymentDetail,
)
from kasuwa.methods.payment.payer_model import read_detail
from kasuwa.methods.payment.rules.charge_card import MAX_OTP_ATTEMPTS
from kasuwa.methods.payment.rules.check_request import CARD_CURRENCIES
from kasuwa.methods.payment.rules.replies import ReplyContext
from kasuwa.terms.checkout_origins import CheckoutOrigins
from kasuwa.terms.tariff import Bearer, FeeClass, Tariff
from kasuwa.transactions.checkouts import EXPIRED, PAID, Checkout, CheckoutDetail, read_checkout_detail
from kasuwa.transactions.pricing import MOBILE_MONEY_CLASSES, card_class, choose_bearer, price_collection
from kasuwa.transactions.transactions import Transaction

COUNTRY_BY_CURRENCY = {"NGN": "NG", "GHS": "GH", "KES": "KE", "USD": "NG"}
assert all(currency in CARD_CURRENCIES[country] for currency, country in COUNTRY_BY_CURRENCY.items())

# Steps of a page.
CHOOSE, PIN, OTP, BANK_PAGE, INSTRUCTIONS, WAITING, RECEIPT, CLOSED = (
    "choose",
    "pin",
    "otp",
    "bank_page",
    "instructions",
    "waiting",
    "receipt",
    "closed",
)


class Attempt(msgspec.Struct, frozen=True):
    """The newest attempt to pay a checkout."""

    row: Transaction
    payment: Payment
    detail: PaymentDetail  # with the payer's data


class ShownTicket(msgspec.Struct, frozen=True):
    """A ticket on the receipt of its purchase."""

    kind: str
    code: str  # as people read it
    state: str


class HostedView(msgspec.Struct, frozen=True):
    """A checkout as its payer may see it."""

    checkout: Checkout
    detail: CheckoutDetail
    merchant: Merchant
    attempt: Attempt | None
    channels: tuple[str, ...]  # that can be used now
    now: datetime  # the merchant's business time
    public_url: str
    tickets: tuple[ShownTicket, ...] = ()  # that were bought

    @property
    def merchant_name(self) -> str:
        return self.merchant.name

    @property
    def is_test(self) -> bool:
        return self.merchant.environment == "test"

    @property
    def origins(self) -> tuple[str, ...]:
        """Returns the merchant's sites that may show the page in a frame."""
        return self.merchant.terms(CheckoutOrigins).origins

    @property
    def address(self) -> str:
        return f"/pay/checkout/{self.detail.page_token}"

    @property
    def is_attempt_open(self) -> bool:
        return self.attempt is not None and not self.attempt.row.is_final

    @property
    def step(self) -> str:
        """Returns what the page shows: a form, instructions, or the end."""
        if self.checkout.state == PAID:
            return RECEIPT
        if self.attempt is not None and self.is_attempt_open:
            return step_of_attempt(self.attempt.payment)
        is_over = self.checkout.state == EXPIRED or self.now >= self.checkout.expires_at
        return CLOSED if is_over or self.checkout.attempts >= MAX_ATTEMPTS or not self.channels else CHOOSE

    @property
    def status(self) -> str:
        """Returns the checkout's txnStatus."""
        return {PAID: "successful", EXPIRED: "failed"}.get(self.checkout.state, "pending")

    @property
    def fingerprint(self) -> str:
        """Returns a text that changes with what the page shows, for pages that poll."""
        paying = None if self.attempt is None else self.attempt.payment
        parts = [self.step, self.checkout.attempt_ref]
        parts += [] if paying is None else [paying.stage, str(paying.tries), str(paying.received)]
        return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()

    @property
    def seconds_left(self) -> int:
        """Returns how long the payer has for the open attempt, or for the checkout."""
        until = self.checkout.expires_at
        if self.attempt is not None and self.is_attempt_open:
            until = self.attempt.payment.expires_at
        return max(0, int((until - self.now).total_seconds()))

    @property
    def tries_left(self) -> int:
        return 0 if self.attempt is None else MAX_OTP_ATTEMPTS - self.attempt.payment.tries

    @property
    def failure(self) -> str:
        """Returns why the attempt before has failed, or "". An attempt that its payer gave up has not failed."""
        if self.attempt is None or self.attempt.row.status != "failed" or self.attempt.row.code == ABANDONED:
            return ""
        return self.attempt.row.message

    @property
    def amount_due(self) -> int:
        """Returns what an attempt of today charges, without a fee that the payer bears."""
        return due_today(self.checkout, self.detail, lagos_day(self.now))[0]

    @property
    def installments(self) -> InstallmentTerms | None:
        """Returns the plan that an attempt of today starts, or that the payment has started. None if there is none."""
        if self.checkout.state != PAID:
            return due_today(self.checkout, self.detail, lagos_day(self.now))[1]
        assert self.attempt is not None, "a checkout is paid by an attempt"
        return self.attempt.detail.installments if self.is_card_saved else None

    @property
    def is_card_saved(self) -> bool:
        """True if the newest attempt has a card that can be charged again. Without one no plan is started."""
        return self.attempt is not None and self.attempt.payment.token is not None

    @property
    def bearer(self) -> Bearer:
        return choose_bearer(self.merchant.terms(Tariff), self.detail.bearer or None)

    def total_by(self, channel: str) -> int:
        """Returns what the payer pays by a channel, with the fee if the payer bears it."""
        tariff, currency = self.merchant.terms(Tariff), self.checkout.currency
        fee_class = choose_fee_class(channel, currency)
        return price_collection(tariff, fee_class, currency, self.amount_due, self.bearer).charged


def choose_fee_class(channel: str, currency: str) -> FeeClass:
    """Returns the fee class of a channel. A card's is that of a local one until its number is known."""
    if channel in ("card", "token"):
        return card_class(None)
    if channel == "mobile_money":
        return MOBILE_MONEY_CLASSES[COUNTRY_BY_CURRENCY[currency]]
    return channel  # type: ignore[return-value]


def step_of_attempt(payment: Payment) -> str:
    if payment.stage == INITIATED and payment.auth == "PIN":
        return PIN
    if payment.stage == AWAITING_OTP or (payment.stage == INITIATED and payment.auth == "OTP"):
        return OTP
    if payment.stage == AWAITING_3DS or (payment.stage == INITIATED and payment.auth == "3DSecure"):
        return BANK_PAGE
    if payment.stage == AWAITING_PAYER:
        return BANK_PAGE if payment.auth == "redirect" else INSTRUCTIONS
    return WAITING


def find_bank_page(view: HostedView) -> str:
    """Returns the address of the page on which the payer confirms: ours for 3-D Secure, or a vendor's."""
    assert view.attempt is not None
    payment = view.attempt.payment
    vendor_url = FACTS_DECODER.decode(payment.facts).rail.get("url")
    return vendor_url or f"/pay/{view.attempt.detail.page_token}"


def make_view(
    checkout: Checkout,
    attempt: tuple[Transaction, Payment] | None,
    merchant: Merchant,
    channels: tuple[str, ...],
    now: datetime,
    services: ReplyContext,
) -> HostedView:
    unseal = services.vault.unseal
    newest = None if attempt is None else Attempt(*attempt, read_detail(attempt[1], unseal))
    detail = read_checkout_detail(checkout, unseal)
    return HostedView(checkout, detail, merchant, newest, channels, now, services.public_url)
