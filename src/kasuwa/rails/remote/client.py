"""Calls a rail that speaks the rail protocol (docs/rail-protocol.md), and reads its answers.

`rails/vendors/client.py` judges everything below the protocol's envelope. Inside it:

    HTTP        an order                                            a look-up
    ----------------------------------------------------------------------------------------
    200         the state in `outcome`                              the result
    400, 404    Unavailable, notice: the rail does not take it      Unavailable, notice
    402         FloatShort, notice: our balance there is short      Unavailable, notice
    409         the key was used for another order: it is queried   Unavailable, notice
    422         NoAnswer                                            LookupDeclined
    other 4xx   NoAnswer                                            Unavailable

An answer for another key, amount or currency than was ordered is unreadable and becomes a notice.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from kasuwa.core.references import wire_reference
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import (
    Answer,
    FloatShort,
    LookupDeclined,
    NoAnswer,
    Unavailable,
    UnreadableAnswer,
    VendorCard,
    VendorToken,
)
from kasuwa.rails.ports.transport import HttpTransport
from kasuwa.rails.remote.messages import AboutAnswer, BalanceAnswer, Empty, OrderAnswer, OrderQuery, PaidCard, Refusal
from kasuwa.rails.remote.signing import RemoteSecret, SignedTransport
from kasuwa.rails.vendors.client import CallObserver, VendorClient, VendorReply

NAME = "remote"
VERSION = "/v1"

OK, BAD_REQUEST, BALANCE_SHORT, NO_SUCH_PATH, KEY_REUSED, DECLINED = 200, 400, 402, 404, 409, 422

STATUSES = {
    "successful": orders.SUCCESSFUL,
    "failed": orders.FAILED,
    "processing": orders.PROCESSING,
    "challenge": orders.CHALLENGE,
    "wrong_code": orders.WRONG_CODE,
    "not_found": orders.NOT_FOUND,
}
# The code and the words of an answer that has none.
CODES = {orders.SUCCESSFUL: "00", orders.FAILED: "05", orders.PROCESSING: "09"}
MESSAGES = {
    orders.SUCCESSFUL: "Approved",
    orders.FAILED: "Declined",
    orders.PROCESSING: "The rail is working on it",
    orders.NOT_FOUND: "The rail does not know the order",
}

T = TypeVar("T")


class OrderKey(msgspec.Struct, frozen=True):
    """The content of an order that every answer for it must repeat."""

    key: str
    amount: int
    currency: str

    @property
    def wire_key(self) -> str:
        return wire_reference(self.key)


def is_envelope(body: dict[str, Any]) -> bool:
    return isinstance(body.get("outcome"), str) or isinstance(body.get("error"), str)


class RemoteClient:
    """The client of one rail. `secrets` are the current one and, while it is being rolled, the one before."""

    def __init__(
        self,
        transport: HttpTransport,
        base_url: str,
        secrets: tuple[RemoteSecret, ...],
        observe: CallObserver,
        clock: Callable[[], float] = time.time,
    ) -> None:
        signed = SignedTransport(transport, base_url, secrets, clock)
        self._client = VendorClient(NAME, base_url, signed, is_envelope, observe)

    async def look_up(self, path: str, request: msgspec.Struct, answer: type[T], *, is_throttled: bool = True) -> T:
        """Returns the result of a look-up. Raises as look-ups of rails do."""
        reply = await self._call(path, request, moves_money=False, is_throttled=is_throttled)
        if reply.status == OK:
            try:
                return msgspec.convert(reply.body, answer)
            except msgspec.ValidationError as error:
                raise UnreadableAnswer(f"the answer to {path} has another form than documented: {error}") from None
        if reply.status == DECLINED:
            raise LookupDeclined(read_message(reply))
        raise unavailable(reply, path)

    async def send(
        self, path: str, request: msgspec.Struct, order: OrderKey, query: tuple[str, msgspec.Struct]
    ) -> Answer:
        """Sends an order. `query` is the path and the request that asks for it, if its key was used before."""
        reply = await self._call(path, request, moves_money=True)
        if reply.status == OK:
            return read_order(reply, order, is_query=False)
        if reply.status == KEY_REUSED:
            answer = await self.ask(*query, order)
            notice = f"the rail has another order under the key {order.wire_key}"
            return msgspec.structs.replace(answer, notice=answer.notice or notice)
        if reply.status in (BAD_REQUEST, BALANCE_SHORT, NO_SUCH_PATH):
            raise unavailable(reply, path)
        raise NoAnswer(f"HTTP {reply.status}")

    async def place(self, path: str, request: msgspec.Struct, answer: type[T]) -> T | None:
        """Sends an order whose answer has a form of its own. Returns None if its key belongs to another order."""
        reply = await self._call(path, request, moves_money=True)
        if reply.status == OK:
            try:
                return msgspec.convert(reply.body, answer)
            except msgspec.ValidationError as error:
                raise NoAnswer(f"the answer to {path} has another form than documented: {error}") from None
        if reply.status == KEY_REUSED:
            return None
        if reply.status in (BAD_REQUEST, BALANCE_SHORT, NO_SUCH_PATH):
            raise unavailable(reply, path)
        raise NoAnswer(f"HTTP {reply.status}")

    async def ask(self, path: str, request: msgspec.Struct, order: OrderKey) -> Answer:
        """Asks for the state of an order."""
        reply = await self._call(path, request, moves_money=False, is_throttled=False)
        if reply.status == OK:
            return read_order(reply, order, is_query=True)
        raise unavailable(reply, path)

    async def balance(self) -> Mapping[str, int]:
        return (await self.look_up("/balance", Empty(), BalanceAnswer)).balances

    async def check_environment(self, environment: str) -> None:
        """Raises Unavailable if the rail is for another environment."""
        about = await self.look_up("/about", Empty(), AboutAnswer)
        if about.environment != environment:
            reason = f"it is a rail for {about.environment}"
            raise Unavailable(reason, notice=f"KASUWA_REMOTE_BASE_URL must name a rail for {environment}")

    async def list_services(self) -> list[str]:
        """Returns the kinds of orders that the rail says it serves."""
        return list((await self.look_up("/about", Empty(), AboutAnswer)).serves)

    async def _call(
        self, path: str, request: msgspec.Struct, *, moves_money: bool, is_throttled: bool = True
    ) -> VendorReply:
        body = msgspec.to_builtins(request)
        return await self._client.call(
            "POST", VERSION + path, moves_money=moves_money, headers={}, body=body, is_throttled=is_throttled
        )


def make_query(path: str, order: OrderKey) -> tuple[str, OrderQuery]:
    return path, OrderQuery(key=order.wire_key)


def read_message(reply: VendorReply) -> str:
    try:
        return msgspec.convert(reply.body, Refusal).message
    except msgspec.ValidationError:
        return ""


def unavailable(reply: VendorReply, path: str) -> Unavailable:
    """Returns the error for a signed refusal that is not about the order. Nothing was done."""
    words = read_message(reply) or f"HTTP {reply.status}"
    match reply.status:
        case 402:
            return FloatShort(words, notice="our balance with the remote rail does not cover an order: fund it")
        case 404:
            return Unavailable(words, notice=f"the remote rail does not serve {VERSION}{path}")
        case _:
            return Unavailable(words, notice=f"the remote rail refuses the form of {VERSION}{path}: {words}")


def read_order(reply: VendorReply, order: OrderKey, *, is_query: bool) -> Answer:
    """Returns the state of an order. An answer of another form, or for another order, is unreadable."""
    try:
        answer = msgspec.convert(reply.body, OrderAnswer)
    except msgspec.ValidationError as error:
        notice = f"the remote rail answered in another form than documented: {error}"
        return Answer(orders.UNREADABLE, None, "The rail's answer could not be read", notice=notice)
    status = STATUSES[answer.outcome]
    is_same = (answer.key, answer.amount, answer.currency) == (order.wire_key, order.amount, order.currency)
    if status == orders.NOT_FOUND:
        is_same = is_query and answer.key == order.wire_key
    if not is_same:
        notice = f"the remote rail answered for another order than {order.wire_key}, or with another amount"
        return Answer(orders.UNREADABLE, None, "The rail answered for another order", notice=notice)
    facts = {**answer.facts, "rail_reference": answer.rail_reference} if answer.rail_reference else dict(answer.facts)
    message = answer.message or MESSAGES.get(status, "")
    code = answer.code or CODES.get(status)
    return Answer(status, code, message, facts, notice=answer.notice, card=read_card(answer.card))


def read_card(card: PaidCard | None) -> VendorCard | None:
    """Returns the card that a payer used on the rail's page."""
    if card is None:
        return None
    token = VendorToken(NAME, card.token, card.email) if card.token else None
    return VendorCard(
        card.identity,
        card.mask,
        card.bin,
        brand=card.brand or None,
        type=card.type or None,
        issuer=card.issuer or None,
        country=card.country or None,
        token=token,
    )
