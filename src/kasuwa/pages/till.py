"""Payments as payers' pages find and answer them: by a token, through the directory, under the same rules as every
request."""

from typing import Any, Protocol

import msgspec

from kasuwa.core.action import Write
from kasuwa.core.codes import NOT_VALIDATED
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.reading import Reader
from kasuwa.core.secrets import Vault
from kasuwa.core.transactions import Transaction
from kasuwa.db import directory
from kasuwa.db.merchants import Directory
from kasuwa.db.progress import Progress
from kasuwa.methods.payment import store
from kasuwa.methods.payment.actions import ANSWER_CHALLENGE
from kasuwa.methods.payment.decide import AWAITING_3DS, AWAITING_PAYER, DETAIL, INITIATED, PAGE, Detail, Payment
from kasuwa.methods.payment.decide_card import MOST_TRIES, AnswerChallenge
from kasuwa.methods.payment.decide_reply import reply_payment
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.pages.bill import Bill

# Which page shows a payment. The others have nothing that a payer could do or see in a browser.
PAGES = {"card": "challenge", "mobile_money": "handoff", "qrpay": "qr", "bank_transfer": "transfer"}
# A challenge may be answered straight after initiate, as an OTP may. Spec silent: D15
ASKED = {"challenge": (INITIATED, AWAITING_3DS), "handoff": (AWAITING_PAYER,)}
THREE_D_SECURE = "3DSecure"

WRONG_CODE = "The code is not right. Please try again; tries left: {}"
NOT_REACHED = "Your bank cannot be reached for a moment. Nothing was charged: please try again"
AGAIN = "Your answer has not arrived yet. Please try again in a moment"
GONE = "This payment is not here any more. Please ask the shop"


class Writes(Protocol):
    async def perform(self, action: Write, request: Any, merchant: Merchant, progress: Progress) -> Any:
        """What a rule answers, after its job has been run where it has one. What is durable when it raises is in
        `progress`."""
        ...


class PaymentTill:
    def __init__(self, reader: Reader, vault: Vault, merchants: Directory, writes: Writes, public_url: str) -> None:
        self._reader = reader
        self._vault = vault
        self._merchants = merchants
        self._writes = writes
        self._public_url = public_url

    async def find(self, token: str) -> Bill | None:
        found = await directory.find(self._reader, self._vault, PAGE, token)
        return None if found is None else await self._read(*found)

    async def _read(self, merchant_id: int, reference: str) -> Bill | None:
        merchant = await self._merchants.by_id(merchant_id)
        rows = await store.read_payment(reference, merchant, self._reader)
        return None if rows is None else bill_of(*rows, merchant, self._public_url)

    async def answer(self, token: str, otp: str | None, progress: Progress) -> Bill | str:
        found = await directory.find(self._reader, self._vault, PAGE, token)
        if found is None:
            return GONE
        merchant_id, reference = found
        merchant = await self._merchants.by_id(merchant_id)
        reply = await self._writes.perform(ANSWER_CHALLENGE, AnswerChallenge(reference, otp), merchant, progress)
        bill = await self._read(merchant_id, reference)
        if bill is None:
            return GONE
        if not bill.awaits_payer:
            return bill
        return problem_of(reply, bill)


def problem_of(reply: Any, bill: Bill) -> str:
    """Why a payer is still asked, in a payer's words."""
    if not isinstance(reply, Refusal):
        return AGAIN
    return WRONG_CODE.format(bill.tries_left) if reply.code == NOT_VALIDATED else NOT_REACHED


def bill_of(row: Transaction, payment: Payment, merchant: Merchant, public_url: str) -> Bill | None:
    """What the payer may see, or None where the payment has no page."""
    kind = PAGES.get(payment.method)
    if kind is None or (kind == "challenge" and payment.auth != THREE_D_SECURE):
        return None
    detail = DETAIL.decode(payment.detail)
    stages = ASKED.get(kind)
    return Bill(
        reference=payment.txn_ref,
        kind=kind,
        status=row.status,
        awaits_payer=not row.is_final and (stages is None or payment.stage in stages),
        merchant=detail.business_name or merchant.name,
        amount=payment.charged,
        currency=row.currency,
        expires_at=payment.expires_at,
        is_test=merchant.environment == "test",
        redirect_url=detail.redirect_url or None,
        result=msgspec.json.encode(result_of(row, payment, public_url)),
        tries_left=MOST_TRIES - payment.tries,
        received=payment.received,
        **shown_by(kind, detail),
    )


def result_of(row: Transaction, payment: Payment, public_url: str) -> PaymentReply:
    """The reply of the API without `meta`, which is the merchant's and not the payer's."""
    return msgspec.structs.replace(reply_payment(row, payment, public_url), meta=msgspec.UNSET)


def shown_by(kind: str, detail: Detail) -> dict[str, str]:
    """What one kind of page shows and the others do not."""
    if kind == "challenge":
        return {"card": "" if detail.card is None else detail.card.mask}
    if kind == "handoff":
        return {"provider": detail.provider.partition("_")[0].title()}
    if kind == "qr":
        return {"payload": detail.qr}
    return {"account_number": detail.shown, "account_name": detail.business_name, "bank_name": detail.provider}
