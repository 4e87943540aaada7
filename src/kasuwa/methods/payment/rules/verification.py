"""Verifications of payments, refunds and wallet movements: the records that are read, and their replies.

Contract: payment#verify
"""

from datetime import datetime
from typing import Any

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.money import MINOR_PER_MAJOR, format_minor
from kasuwa.core.vault import Unsealer
from kasuwa.methods.payment.model import FACTS_DECODER, PENDING_MESSAGE, PaymentDetail
from kasuwa.methods.payment.payer_model import open_detail
from kasuwa.methods.payment.rules.refund import refundable_total
from kasuwa.methods.payment.rules.replies import (
    card_reply,
    completed_message,
    get_meta,
    raw_document,
    reply_step,
    underpaid_message,
)
from kasuwa.methods.payment.wire_reply import STEP_FIELDS, RefundLine, RejectionLine, VerifyReply
from kasuwa.rails.ports.rejections import RecordedRejection
from kasuwa.transactions.purpose import HELD_INBOUND, make_subject_field, read_subject, subject_in
from kasuwa.transactions.transactions import PENDING, SUCCESSFUL

AWAITING = "Awaiting Validation"
# How many refunds a payment's verification lists, newest first; each is found by its own reference.
# Contract: payment#refund
MAX_LISTED_REFUNDS = 200


class Refund(msgspec.Struct, frozen=True, array_like=True):
    """A refund as BY_KEYS lists it."""

    txn_ref: str
    status: str
    amount: int
    message: str
    comment: str
    created_at: datetime


REFUNDS: "msgspec.json.Decoder[list[Refund]]" = msgspec.json.Decoder(list[Refund])


class PaymentProgressRow(msgspec.Struct, frozen=True):
    """The progress columns of a payment, as BY_KEYS reads them (a `replies.PaymentProgress`)."""

    txn_ref: str
    method: str
    charged: int
    received: int
    stage: str
    auth: str
    facts: str


class PaymentRecord(msgspec.Struct, frozen=True):
    """A payment as BY_KEYS reads it."""

    progress: PaymentProgressRow
    merchant_id: int
    status: str
    code: str | None
    order_ref: str
    message: str
    currency: str
    refunded: int
    refunding: int
    token: str | None
    detail: str
    expires_at: datetime
    refunds: str | None  # JSON array of Refund
    disputed: int
    payer_sealed: bytes | None

    def open_detail(self, unseal: Unsealer) -> PaymentDetail:
        return open_detail(self.merchant_id, self.progress.txn_ref, self.detail, self.payer_sealed, unseal)


def reply_wallet_movement(row: Any, merchant_id: int, unseal: Unsealer) -> VerifyReply:
    """Builds the verification of a repayment or deposit paid from the wallet, a row of WALLET_MOVEMENT."""
    status, txn_ref, order_ref, message, currency, amount, detail = row
    meta = read_subject(merchant_id, txn_ref, detail, unseal).meta
    return VerifyReply(
        txn_status=status,
        txn_ref=txn_ref,
        customer_txnref=order_ref if order_ref != txn_ref else None,
        message=message,
        charged_amount=amount / MINOR_PER_MAJOR if status == SUCCESSFUL else 0,
        currency=currency,
        payment_method="wallet",
        fullname="",
        email="",
        bank_message=message,
        fraud_status="ok",
        refunded_amount=format_minor(0),
        meta=raw_document(meta),
        **subject_in(detail),
    )


def decode_refunds(payment: PaymentRecord) -> list[Refund]:
    return REFUNDS.decode(payment.refunds) if payment.refunds else []


def reply_refund(payment: PaymentRecord, refund_ref: str, unseal: Unsealer) -> VerifyReply:
    """Builds the verification of a refund, in the format of a payment's. Contract: payment#verify, payment#refund"""
    refund = next(line for line in decode_refunds(payment) if line.txn_ref == refund_ref)
    progress, detail = payment.progress, payment.open_detail(unseal)
    total = refundable_total(payment.detail, progress.facts, progress.charged)
    refundable = min(total, progress.charged - payment.disputed) - payment.refunded - payment.refunding
    return VerifyReply(
        txn_status=refund.status,  # type: ignore[arg-type]
        txn_ref=progress.txn_ref,
        customer_txnref=payment.order_ref or None,
        message=refund.message,
        charged_amount=refund.amount / MINOR_PER_MAJOR if refund.status == SUCCESSFUL else 0,
        currency=payment.currency,
        payment_method="refund",
        fullname=detail.fullname,
        email=detail.email,
        bank_message=refund.message,
        fraud_status=FACTS_DECODER.decode(progress.facts).fraud,
        refund_ref=refund_ref,
        amount=format_minor(refund.amount),
        refunded_amount=format_minor(payment.refunded),
        refundable_amount=format_minor(max(0, refundable)),
    )


def reply_verify(payment: PaymentRecord, public_url: str, unseal: Unsealer) -> VerifyReply:
    status, progress, detail = payment.status, payment.progress, payment.open_detail(unseal)
    facts = FACTS_DECODER.decode(progress.facts)
    pending_message = underpaid_message(progress.received, progress.charged) if progress.received else AWAITING
    reply = VerifyReply(
        txn_status=status,  # type: ignore[arg-type]
        txn_ref=progress.txn_ref,
        customer_txnref=payment.order_ref or None,
        message=PENDING_MESSAGE
        if status == PENDING
        else completed_message(status, progress.method, payment.code, payment.message),
        charged_amount=progress.charged / MINOR_PER_MAJOR if status == SUCCESSFUL else 0,
        currency=payment.currency,
        payment_method=progress.method,
        fullname=detail.fullname,
        email=detail.email,
        bank_message=pending_message if status == PENDING else payment.message,
        fraud_status=facts.fraud,
        meta=get_meta(detail),
    )
    for name, subject in make_subject_field(detail.purpose).items():
        setattr(reply, name, subject)
    if facts.surplus and (detail.purpose is None or detail.purpose.purpose != HELD_INBOUND):
        reply.unapplied_amount = format_minor(facts.surplus - payment.refunded)
    if status == SUCCESSFUL:
        reply.refunded_amount = format_minor(payment.refunded)
        if payment.disputed:
            reply.disputed_amount = format_minor(payment.disputed)
        card = detail.card or facts.card
        if card is not None:
            reply.card = card_reply(card)
        if payment.token is not None:
            reply.card_token = payment.token
    elif status == PENDING:
        add_next_step(reply, payment, detail, public_url)
    if refunds := decode_refunds(payment):
        reply.refunds = [refund_line(line) for line in refunds[:MAX_LISTED_REFUNDS]]
    if facts.rejections:
        reply.rejections = [rejection_line(rejection) for rejection in reversed(facts.rejections)]
    return reply


def rejection_line(rejection: RecordedRejection) -> RejectionLine:
    amount = None if rejection.amount is None else format_minor(rejection.amount)
    return RejectionLine(amount=amount, reason=rejection.reason, at=utc_text(rejection.at))


def refund_line(line: Refund) -> RefundLine:
    return RefundLine(
        refund_ref=line.txn_ref,
        txn_status=line.status,  # type: ignore[arg-type]
        amount=format_minor(line.amount),
        message=line.message,
        comment=line.comment,
        date_created=utc_text(line.created_at),
    )


def add_next_step(reply: VerifyReply, payment: PaymentRecord, detail: PaymentDetail, public_url: str) -> None:
    """Adds the payer's next step to the verification, as the reply to `charge` has it: that reply may have been lost.

    Contract: payment#verify
    """
    step = reply_step(payment.progress, detail, public_url)
    if step is None:
        return
    for name in STEP_FIELDS:
        setattr(reply, name, getattr(step, name))
    reply.expires_at = utc_text(payment.expires_at)
