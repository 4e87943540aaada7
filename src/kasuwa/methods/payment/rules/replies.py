"""Replies about a payment, by its stage: the payer's next step, pending, or completed.

Contract: payment#charge, payment#pending
"""

from typing import Any, Protocol

import msgspec
from msgspec import UNSET

from kasuwa.core.calendar import utc_text
from kasuwa.core.codes import UNREADABLE_ANSWER
from kasuwa.core.money import format_minor
from kasuwa.core.vault import Unsealer, Vault
from kasuwa.methods.payment.model import (
    AWAITING_3DS,
    AWAITING_OTP,
    AWAITING_PAYER,
    DETAIL_DECODER,
    ENDED_HERE,
    FACTS_DECODER,
    INITIATED,
    PAYER_TIMEOUT,
    PENDING_MESSAGE,
    CardSummary,
    Payment,
    PaymentDetail,
)
from kasuwa.methods.payment.payer_model import read_detail
from kasuwa.methods.payment.wire_reply import CardReply, CheckoutReport, PaymentReply, VerifyReply
from kasuwa.transactions.checkouts import DETAIL_DECODER as CHECKOUT_DETAIL_DECODER
from kasuwa.transactions.checkouts import OPEN as OPEN_CHECKOUT
from kasuwa.transactions.checkouts import Checkout, checkout_url, read_checkout_detail
from kasuwa.transactions.purpose import CHECKOUT, make_subject_field
from kasuwa.transactions.transactions import FAILED, SUCCESSFUL, Transaction

OTP_PROMPT = "Enter the OTP that the bank sent to the customer"
MESSAGES = {
    "OTP": "Validate with the OTP",
    "PIN": "Charge with the card's PIN",
    "3DSecure": "Let the customer verify with the bank at authURL",
    "ussd": "The customer dials the code",
    "phone": "The customer approves on the telephone",
    "qrpay": "The customer scans the code",
    "bank_transfer": "The customer pays into the account",
    "mobile_money": "The customer approves with the provider",
    "redirect": "The customer pays at authURL",
    "account": "The customer approves with the bank",
}
COMPLETED = {SUCCESSFUL: "Charge Successful", FAILED: "Charge Failed"}
# Who declined, named in the message so that "No sufficient funds" is not read as the merchant's wallet.
# Contract: payment#declined
DECLINED_BY = {
    "card": "the card's bank",
    "token": "the card's bank",
    "account": "the account's bank",
    "bank_transfer": "the bank",
    "ussd": "the bank",
    "qrpay": "the payer's bank",
    "phone": "the operator",
    "mobile_money": "the provider",
}
CHECKOUT_NOT_PAID = "The checkout was not paid in time"
EXPIRES_SECONDS = int(PAYER_TIMEOUT.total_seconds())


class PaymentProgress(Protocol):
    """The fields that the payer's next step depends on. `Payment` and `store.PaymentProgressRow` have them."""

    @property
    def txn_ref(self) -> str: ...

    @property
    def method(self) -> str: ...

    @property
    def charged(self) -> int: ...

    @property
    def received(self) -> int: ...

    @property
    def stage(self) -> str: ...

    @property
    def auth(self) -> str: ...

    @property
    def facts(self) -> str: ...


class ReplyContext(Protocol):
    """The values that a reply is made with besides the rows. A rule's `Context` has them."""

    @property
    def vault(self) -> Vault: ...

    @property
    def public_url(self) -> str: ...


def reply_payment(row: Transaction, payment: Payment, context: ReplyContext, code: int = 200) -> PaymentReply:
    if row.is_final:
        return reply_completed(row, payment, read_detail(payment, context.vault.unseal))
    detail = DETAIL_DECODER.decode(payment.detail)
    reply = reply_step(payment, detail, context.public_url) or reply_pending(payment, code)
    return msgspec.structs.replace(reply, **make_subject_field(detail.purpose))


def reply_pending(payment: Payment, code: int) -> PaymentReply:
    """Builds the reply while the outcome is unknown."""
    status = 201 if code == UNREADABLE_ANSWER else 200
    return PaymentReply(
        status=status,  # type: ignore[arg-type]
        txn_ref=payment.txn_ref,
        txn_status="pending",
        message=PENDING_MESSAGE,
    )


def reply_step(payment: PaymentProgress, detail: PaymentDetail, public_url: str) -> PaymentReply | None:
    """Builds the reply with the step that payer or merchant must take next. None while the rail must be queried."""
    if payment.stage == INITIATED:
        return reply_initiated(payment, detail, public_url)
    if payment.stage in (AWAITING_OTP, AWAITING_3DS):
        return reply_challenge(payment, detail, public_url)
    if payment.stage == AWAITING_PAYER:
        return reply_payer_step(payment, detail, public_url)
    return None


def page_url(public_url: str, detail: PaymentDetail) -> str:
    return f"{public_url}/pay/{detail.page_token}"


def reply_initiated(payment: PaymentProgress, detail: PaymentDetail, public_url: str) -> PaymentReply:
    reply = PaymentReply(status=202, txn_ref=payment.txn_ref, apply_auth=payment.auth, message=MESSAGES[payment.auth])
    if payment.auth == "OTP":
        reply.validate = OTP_PROMPT
    if payment.auth == "3DSecure":
        reply.auth_url = page_url(public_url, detail)
    return reply


def reply_challenge(payment: PaymentProgress, detail: PaymentDetail, public_url: str) -> PaymentReply:
    reply = PaymentReply(status=202, txn_ref=payment.txn_ref, message=MESSAGES[payment.auth])
    if payment.method == "card":
        reply.fraud_status = FACTS_DECODER.decode(payment.facts).fraud
    if payment.stage == AWAITING_3DS:
        reply.auth_url = page_url(public_url, detail)
        return reply
    reply.auth_type = "OTP"
    reply.validate = OTP_PROMPT
    reply.state = detail.otp_reply_state or UNSET
    return reply


def reply_payer_step(payment: PaymentProgress, detail: PaymentDetail, public_url: str) -> PaymentReply:
    """Builds the reply with what the payer must be shown, by payment method."""
    if payment.auth == "redirect" and (url := FACTS_DECODER.decode(payment.facts).rail.get("url")):
        reply = PaymentReply(status=202, txn_ref=payment.txn_ref, auth_url=url, message=MESSAGES["redirect"])
        reply.apply_auth = "redirect" if payment.method == "card" else UNSET
        return reply
    reply = PaymentReply(status=202, txn_ref=payment.txn_ref, auth_type="device", message=MESSAGES[payment.method])
    if payment.method == "ussd":
        reply.auth_type = "ussd"
        reply.ussd_code = FACTS_DECODER.decode(payment.facts).ussd_code
        reply.expires = EXPIRES_SECONDS
    elif payment.method == "phone" and detail.enrolment:
        reply.enrolment = True
    elif payment.method == "qrpay":
        reply.qr_code = detail.qr
        reply.qr_image = f"{page_url(public_url, detail)}/qr.svg"
        reply.expires = EXPIRES_SECONDS
    elif payment.method == "bank_transfer":
        add_account_fields(reply, payment, detail)
    elif payment.method == "mobile_money" and detail.page_token:
        reply.auth_type = UNSET
        reply.auth_url = page_url(public_url, detail)
    return reply


def add_account_fields(reply: PaymentReply, payment: PaymentProgress, detail: PaymentDetail) -> None:
    opened = FACTS_DECODER.decode(payment.facts).rail
    reply.account_number = opened.get("account_number", detail.inbound_account_number)
    reply.account_name = opened.get("account_name", detail.business_name)
    reply.bank_name = opened.get("bank_name", detail.provider)
    reply.account_expires = EXPIRES_SECONDS
    reply.amount = format_minor(payment.charged)
    if payment.received:
        reply.message = underpaid_message(payment.received, payment.charged)


def underpaid_message(received: int, charged: int) -> str:
    return f"{format_minor(received)} of {format_minor(charged)} has arrived; the rest is awaited"


def completed_message(status: str, method: str, code: str | None, reason: str) -> str:
    """Builds the message of a final payment. A failure names who declined, unless the payment was ended here."""
    if status == SUCCESSFUL or not reason:
        return COMPLETED[status]
    ended_here = code is None or code in ENDED_HERE
    return (
        f"{COMPLETED[status]}: {reason}" if ended_here else f"{COMPLETED[status]}: {DECLINED_BY[method]} says: {reason}"
    )


def reply_completed(row: Transaction, payment: Payment, detail: PaymentDetail) -> PaymentReply:
    reply = PaymentReply(
        txn_ref=payment.txn_ref,
        txn_status=row.status,  # type: ignore[arg-type]
        message=completed_message(row.status, payment.method, row.code, row.message),
        bank_message=row.message,
        fullname=detail.fullname,
        email=detail.email,
        charged_amount=format_minor(payment.charged if row.status == SUCCESSFUL else 0),
        fraud_status=FACTS_DECODER.decode(payment.facts).fraud,
        currency=row.currency,
        payment_method=payment.method,
        meta=get_meta(detail),
        **make_subject_field(detail.purpose),
    )
    card = detail.card or FACTS_DECODER.decode(payment.facts).card
    if card is not None:
        reply.card = card_reply(card)
    if row.status != FAILED and payment.token is not None:
        reply.card_token = payment.token
    return reply


def get_meta(detail: PaymentDetail) -> Any:
    """Returns the request's `meta` as raw JSON for a reply, or UNSET if there was none. Contract: payment#meta"""
    return raw_document(detail.meta or ("" if detail.purpose is None else detail.purpose.meta))


def raw_document(text: str) -> Any:
    return msgspec.Raw(text.encode()) if text else UNSET


def reply_validated(completed: PaymentReply) -> PaymentReply:
    """Builds the reply of a successful validate from that of the completed payment."""
    return PaymentReply(
        txn_ref=completed.txn_ref,
        txn_status=completed.txn_status,
        message="Validation Successful",
        card_token=completed.card_token,
        loan_id=completed.loan_id,
        savings_id=completed.savings_id,
    )


def card_reply(card: CardSummary) -> CardReply:
    return msgspec.convert(card, CardReply, from_attributes=True)


# --- checkouts ------------------------------------------------------------------------------------------------------


def report_checkout(checkout: Checkout, public_url: str) -> CheckoutReport:
    return CheckoutReport(
        state=checkout.state,  # type: ignore[arg-type]
        amount=format_minor(checkout.amount),
        url=checkout_url(public_url, CHECKOUT_DETAIL_DECODER.decode(checkout.detail).page_token),
        expires=utc_text(checkout.expires_at),
        attempts=checkout.attempts,
        payment_ref=checkout.payment_ref or None,
        attempt_ref=checkout.attempt_ref or None,
        source=checkout.source,
        source_id=checkout.source_id or None,
    )


def reply_unpaid(checkout: Checkout, bank_message: str, unseal: Unsealer) -> VerifyReply:
    """Builds the verification of a checkout that is open or has expired. The message is that of its last attempt."""
    detail = read_checkout_detail(checkout, unseal)
    is_open = checkout.state == OPEN_CHECKOUT
    return VerifyReply(
        txn_status="pending" if is_open else "failed",
        txn_ref=checkout.txn_ref,
        customer_txnref=None,
        message=PENDING_MESSAGE if is_open else CHECKOUT_NOT_PAID,
        charged_amount=0,
        currency=checkout.currency,
        payment_method=CHECKOUT,
        fullname=detail.fullname,
        email=detail.email,
        bank_message=bank_message,
        fraud_status="ok",
        meta=raw_document(detail.meta),
    )
