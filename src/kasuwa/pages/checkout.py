"""The Checkout of real payments: finds a payment by its page token and submits the payer's answer.

The answer is decided by the payment slice's rules, through the writer, as an API request is.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import msgspec

from kasuwa.core.action import Write
from kasuwa.core.codes import NOT_VALIDATED
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.reading import Reader
from kasuwa.core.vault import Vault
from kasuwa.engine import token_index
from kasuwa.engine.progress import RequestProgress
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.methods.payment import store
from kasuwa.methods.payment.actions import ANSWER_CHALLENGE
from kasuwa.methods.payment.model import (
    AWAITING_3DS,
    AWAITING_PAYER,
    DETAIL_DECODER,
    FACTS_DECODER,
    INITIATED,
    PAGE,
    Payment,
    PaymentDetail,
)
from kasuwa.methods.payment.rules.charge_card import MAX_OTP_ATTEMPTS, ChallengeAnswer
from kasuwa.methods.payment.rules.replies import ReplyContext, reply_payment
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.pages.checkout_view import CheckoutView
from kasuwa.terms.checkout_origins import CheckoutOrigins
from kasuwa.transactions.transactions import Transaction

# Page kind by payment method. Other methods have no page.
PAGE_BY_METHOD = {"card": "challenge", "mobile_money": "handoff", "qrpay": "qr", "bank_transfer": "transfer"}
# Stages in which the payer can answer. A 3-D Secure challenge can be answered right after initiate, as an OTP can.
# Contract: payment#3ds-page
AWAITING_STAGES = {"challenge": (INITIATED, AWAITING_3DS), "handoff": (AWAITING_PAYER,)}
THREE_D_SECURE = "3DSecure"

WRONG_CODE = "The code is not right. Please try again. Attempts left: {}"
BANK_UNREACHABLE = "Your bank cannot be reached at the moment. Nothing was charged. Please try again"
ANSWER_NOT_RECEIVED = "Your answer has not arrived yet. Please try again in a moment"
PAYMENT_NOT_FOUND = "This payment no longer exists. Please ask the merchant"


class PageReads(NamedTuple):
    """The readers of payers' pages. The token of a page tells its merchant, whose rows are then read."""

    tokens: Reader
    rows_of: Callable[[int], Reader]


class WriteRunner(Protocol):
    """Runs write actions. Implemented by api.dispatch."""

    async def run_write(self, action: Write, request: Any, merchant: Merchant, progress: RequestProgress) -> Any:
        """Runs a write and its follow-up job. Returns the reply, or a Refusal.

        If it raises, `progress` tells whether anything was committed.
        """
        ...


class CheckoutPayments:
    """Implements router.Checkout on the database and the payment slice's rules."""

    def __init__(
        self, reads: PageReads, vault: Vault, merchants: MerchantDirectory, writes: WriteRunner, public_url: str
    ) -> None:
        self._reads = reads
        self.vault = vault
        self._merchants = merchants
        self._writes = writes
        self.public_url = public_url

    async def find(self, token: str) -> CheckoutView | None:
        owner = await token_index.find_owner(self._reads.tokens, self.vault, PAGE, token)
        return None if owner is None else await self._load_view(*owner)

    async def _load_view(self, merchant_id: int, reference: str) -> CheckoutView | None:
        merchant = await self._merchants.get_by_id(merchant_id)
        rows = await store.read_payment(reference, merchant, self._reads.rows_of(merchant_id))
        return None if rows is None else build_view(*rows, merchant, self)

    async def submit_answer(self, token: str, otp: str | None, progress: RequestProgress) -> CheckoutView | str:
        owner = await token_index.find_owner(self._reads.tokens, self.vault, PAGE, token)
        if owner is None:
            return PAYMENT_NOT_FOUND
        merchant_id, reference = owner
        merchant = await self._merchants.get_by_id(merchant_id)
        reply = await self._writes.run_write(ANSWER_CHALLENGE, ChallengeAnswer(reference, otp), merchant, progress)
        view = await self._load_view(merchant_id, reference)
        if view is None:
            return PAYMENT_NOT_FOUND
        if not view.is_awaiting_payer:
            return view
        return explain_rejection(reply, view)


def explain_rejection(reply: Any, view: CheckoutView) -> str:
    """Returns the message for a payer whose answer did not end the payment."""
    if not isinstance(reply, Refusal):
        return ANSWER_NOT_RECEIVED
    return WRONG_CODE.format(view.attempts_left) if reply.code == NOT_VALIDATED else BANK_UNREACHABLE


def build_view(row: Transaction, payment: Payment, merchant: Merchant, context: ReplyContext) -> CheckoutView | None:
    """Builds the CheckoutView of a payment, or returns None if it has no page."""
    kind, detail = PAGE_BY_METHOD.get(payment.method), DETAIL_DECODER.decode(payment.detail)
    if kind in ("challenge", "qr") and detail.vendor:
        kind = "hosted"
    if kind is None or (kind == "challenge" and payment.auth != THREE_D_SECURE):
        return None
    stages = AWAITING_STAGES.get(kind)
    return CheckoutView(
        reference=payment.txn_ref,
        page_kind=kind,
        status=row.status,
        is_awaiting_payer=not row.is_final and (stages is None or payment.stage in stages),
        merchant_name=detail.business_name or merchant.name,
        amount=payment.charged,
        currency=row.currency,
        expires_at=payment.expires_at,
        is_test=merchant.environment == "test",
        redirect_url=detail.redirect_url or None,
        result_json=msgspec.json.encode(payer_reply(row, payment, context)),
        attempts_left=MAX_OTP_ATTEMPTS - payment.tries,
        received_amount=payment.received,
        origins=merchant.terms(CheckoutOrigins).origins,
        **page_fields(kind, detail, FACTS_DECODER.decode(payment.facts).rail),
    )


def payer_reply(row: Transaction, payment: Payment, context: ReplyContext) -> PaymentReply:
    """Returns the payment's API reply without `meta`, which only the merchant may see."""
    return msgspec.structs.replace(reply_payment(row, payment, context), meta=msgspec.UNSET)


def page_fields(kind: str, detail: PaymentDetail, facts: Mapping[str, str]) -> dict[str, str]:
    """Returns the CheckoutView fields that only this kind of page uses. `facts` are those of a vendor's answers."""
    if kind == "hosted":
        return {"vendor_url": facts.get("url", "")}
    if kind == "challenge":
        return {"card_mask": "" if detail.card is None else detail.card.mask}
    if kind == "handoff":
        return {"provider": detail.provider.partition("_")[0].title()}
    if kind == "qr":
        return {"qr_payload": detail.qr}
    return {
        "account_number": facts.get("account_number", detail.inbound_account_number),
        "account_name": facts.get("account_name", detail.business_name),
        "bank_name": facts.get("bank_name", detail.provider),
    }
