"""Decides what the card network asks of cards that were issued here, as the rail announces it.

Each message becomes an order of the issuer's port, under a key that begins with the rail's name. The decision is
signed. Without a decision the reply is HTTP 503 and unsigned: the rail sends the message again, under the same key.
"""

from collections.abc import Callable

import msgspec
import structlog

from kasuwa.core.money import format_minor
from kasuwa.postgres.connection_pool import Pool
from kasuwa.rails.inbox import inbox_table
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.callback import CallbackReply
from kasuwa.rails.ports.callbacks import CallbackRefused
from kasuwa.rails.ports.issuer import CaptureOrder, IssuerRail, PurchaseOrder, RefundOrder, ReleaseOrder
from kasuwa.rails.ports.orders import Answer, NoAnswer, Unavailable
from kasuwa.rails.remote.cards import RemoteCards, UnreadableMessage
from kasuwa.rails.remote.client import NAME
from kasuwa.rails.remote.messages import CardDecision, CardMessage, Refusal

log = structlog.get_logger("kasuwa.rails")

REFUSED = CallbackReply(401, b'{"error":"unauthorized"}')
NO_DECISION = CallbackReply(503, b'{"error":"no_decision"}')

# The code of an answer that has none: the issuer does not say it, or does not know the card.
DECLINED_CODE = "05"

# Events of an order that is not known here, of which the network may have moved the money all the same.
MOVES_UNKNOWN = frozenset({"capture", "refund"})


class CardMessages:
    def __init__(self, operators: Pool, issuer: IssuerRail, cards: RemoteCards) -> None:
        self._operators = operators
        self._issuer = issuer
        self._cards = cards

    async def receive(self, find_header: Callable[[str], str | None], body: bytes) -> CallbackReply:
        try:
            signature = self._cards.check(find_header, body)
        except CallbackRefused:
            log.warning("a card message was refused", rail=NAME)
            return REFUSED
        try:
            message = self._cards.read(body)
        except UnreadableMessage as fault:
            refusal = msgspec.json.encode(Refusal(error="invalid_request", message=str(fault)[:200]))
            return CallbackReply(400, refusal, (self._cards.sign(signature, 400, refusal),))
        try:
            answer = await order_of_issuer(self._issuer, message)
        except (Unavailable, NoAnswer) as trouble:
            log.warning("a card message has no decision", rail=NAME, trouble=type(trouble).__name__)
            return NO_DECISION
        if answer.status == orders.NOT_FOUND and message.event in MOVES_UNKNOWN:
            what = f"a {message.event} of {format_minor(message.amount)} of the unknown order {message.original_key}"
            await inbox_table.add_notice(self._operators, rail_order_key(message.key), f"{what} is not booked")
        decision = msgspec.json.encode(make_decision(message, answer))
        return CallbackReply(200, decision, (self._cards.sign(signature, 200, decision),))


def rail_order_key(key: str) -> str:
    """Returns the key of an order that the rail announced. No merchant's identifier is a word."""
    return f"{NAME} {key}"


async def order_of_issuer(issuer: IssuerRail, message: CardMessage) -> Answer:
    """Has the issuer carry out what a message says."""
    key, original = rail_order_key(message.key), rail_order_key(message.original_key)
    if message.event in ("authorize", "purchase"):
        return await issuer.authorize(
            PurchaseOrder(
                key=key,
                pan=message.card_number,
                expiry=message.expiry or None,
                cvv=message.cvv or None,
                amount=message.amount,
                currency=message.currency,
                merchant_name=message.merchant_name,
                category=message.category or None,
                merchant_id=message.merchant_id or None,
                country=message.country or None,
                channel=message.channel,
                is_hold=message.event == "authorize" and message.amount > 0,  # one of zero verifies the card
            )
        )
    if message.event == "capture":
        return await issuer.capture(CaptureOrder(key, original, message.amount))
    if message.event == "refund":
        return await issuer.refund(RefundOrder(key, original, message.amount))
    return await issuer.release(ReleaseOrder(original, has_expired=message.event == "expire"))


def make_decision(message: CardMessage, answer: Answer) -> CardDecision:
    is_approved = answer.status == orders.SUCCESSFUL
    return CardDecision(
        outcome="approved" if is_approved else "declined",
        key=message.key,
        code=answer.code or ("00" if is_approved else DECLINED_CODE),
        message=answer.message[:200],
        reference=answer.facts.get("txnRef", ""),
    )
