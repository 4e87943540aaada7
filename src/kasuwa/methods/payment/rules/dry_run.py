"""Replies to dry runs of payments: what a payment would cost, without asking its rail. Nothing here changes any state.

Contract: payment#dry-run
"""

import msgspec
from msgspec import UNSET

from kasuwa.core.decision import Decision
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.methods.payment.model import DETAIL_DECODER, Payment, PaymentDetail
from kasuwa.methods.payment.rules.begin import PaymentOrder
from kasuwa.methods.payment.rules.replies import card_reply
from kasuwa.methods.payment.wire_reply import Charges, PaymentReply
from kasuwa.transactions.pricing import Price
from kasuwa.transactions.transactions import Transaction

CODE_MESSAGE = "Nothing was changed: the code would be taken to the payer's bank"


def show_price(price: Price, currency: str, bearer: str) -> Charges:
    return Charges(
        amount=format_minor(price.amount),
        fee=format_minor(price.fee),
        vat=format_minor(price.vat),
        total_charge=format_minor(price.charged),
        settled=format_minor(price.settled),
        currency=currency,
        bearer=bearer,
    )


def preview_order(order: PaymentOrder) -> Decision[PaymentReply]:
    """Returns the dry run of a payment that would begin."""
    return Decision(reply=reply_price(order.method, order.price, order.currency, order.detail))


def preview_charge(row: Transaction, payment: Payment) -> Decision[PaymentReply]:
    """Returns the dry run of the charge of a payment that was initiated."""
    price = Price(row.amount, row.fee, row.vat, payment.charged, payment.settled)
    reply = reply_price(payment.method, price, row.currency, DETAIL_DECODER.decode(payment.detail))
    return Decision(reply=msgspec.structs.replace(reply, txn_ref=row.txn_ref))


def reply_price(method: str, price: Price, currency: str, detail: PaymentDetail) -> PaymentReply:
    return PaymentReply(
        message=DRY_RUN_MESSAGE,
        currency=currency,
        payment_method=method,
        card=UNSET if detail.card is None else card_reply(detail.card),
        dry_run=True,
        charges=show_price(price, currency, detail.bearer),
    )


def preview_unchanged(decision: Decision[PaymentReply]) -> Decision[PaymentReply]:
    """Returns the dry run of a step that would only be answered, because it was taken before."""
    return Decision(reply=msgspec.structs.replace(decision.reply, dry_run=True))


def preview_code(txn_ref: str) -> Decision[PaymentReply]:
    """Returns the dry run of a payer's code that would be taken to the rail."""
    return Decision(reply=PaymentReply(txn_ref=txn_ref, message=CODE_MESSAGE, dry_run=True))
