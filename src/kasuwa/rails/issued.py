"""Cards that were issued here, in front of the card rail: payments with them are asked of our own issuer.

A number of our issuing ranges is nobody else's, so it never leaves the house; any other goes on to the rail behind.
The two merchants have their own books: here the payment's waits for an answer, there the card's gives it.

These cards have a CVV and neither a PIN nor a telephone. So a payment with one is complete with its charge: it is
announced as PIN, the one authentication that goes on to completion, and whichever PIN comes is right. A saved card has
no CVV either, and is charged without: its holder has paid this merchant with the CVV before. Spec silent: D15

Nothing is kept here. The session only says whose card it was; what became of an order is asked of the issuer by its
key, also where nobody heard of a session: an answer that was lost may have been a purchase. The order says whether
its card was issued here, so that a query without the card's number does not go to the rail behind.
"""

import msgspec

from kasuwa.core.issuing import Issuing
from kasuwa.core.scenario import Scenario
from kasuwa.rails import ports
from kasuwa.rails.ports import (
    Answer,
    CardSecrets,
    CollectionRail,
    CollectOrder,
    Issuer,
    NoAnswer,
    PurchaseOrder,
    RefundOrder,
    Unavailable,
)

SESSION = "issued"
AUTH = "PIN"
FACTS = {"session": SESSION}

APPROVED = "00"
NEVER_OPENED = Answer(ports.NOT_FOUND, "25", "Unable to locate record")
NOT_ISSUED = Answer(ports.FAILED, "14", "Invalid card number", FACTS)
OPENED = Answer(ports.SUCCESSFUL, APPROVED, "", {**FACTS, "auth": AUTH})
IN_PROGRESS = Answer(ports.UNKNOWN, "09", "Request in progress", FACTS)

# In the test environment a line that refuses calls is back by then (sandbox.md).
BACK_AFTER_SECONDS = 5.0


class IssuedCards:
    def __init__(self, others: CollectionRail, issuer: Issuer, issuing: Issuing) -> None:
        self._others = others
        self._issuer = issuer
        self._issuing = issuing

    async def begin(self, order: CollectOrder, card: CardSecrets | None) -> Answer:
        if not self._is_ours(order, card):
            return await self._others.begin(order, card)
        http = scenario_of(order).http
        if http is not None:
            raise (Unavailable if http == "unavailable" else NoAnswer)(f"the issuer: {http}")
        return OPENED

    async def charge(self, order: CollectOrder, card: CardSecrets | None) -> Answer:
        if not self._is_ours(order, card):
            return await self._others.charge(order, card)
        assert card is not None, "a card is charged by its number"
        answer = await self._issuer.authorise(purchase_of(order, card))
        if answer.status == ports.NOT_FOUND:
            return NOT_ISSUED
        return IN_PROGRESS if order.scenario.delay > 0 else ours(answer)

    async def validate(self, order: CollectOrder, otp: str | None) -> Answer:
        assert order.session != SESSION, "a card that was issued here asks for no code"
        return await self._others.validate(order, otp)

    async def query(self, order: CollectOrder, card: CardSecrets | None) -> Answer:
        found = await self._ask_after(order, card)
        return found or await self._others.query(order, card)

    async def refund(self, order: CollectOrder) -> Answer:
        if may_be_ours(order):
            wanted = RefundOrder(order.key, order.refund_of, order.amount)
            answer = await self._issuer.refund(msgspec.structs.replace(wanted, scenario=scenario_of(order)))
            if answer.status == ports.SUCCESSFUL and order.scenario.delay > 0:
                return IN_PROGRESS
            if answer.status != ports.NOT_FOUND or order.session == SESSION:
                return answer
        return await self._others.refund(order)

    async def query_refund(self, order: CollectOrder) -> Answer:
        found = await self._ask_after(order, None)
        return found or await self._others.query_refund(order)

    def _is_ours(self, order: CollectOrder, card: CardSecrets | None) -> bool:
        return order.session == SESSION or order.issued or (card is not None and self._issuing.covers(card.number))

    async def _ask_after(self, order: CollectOrder, card: CardSecrets | None) -> Answer | None:
        """What our issuer knows of an order; None where it is somebody else's."""
        if not may_be_ours(order):
            return None
        if order.issued and order.step == ports.BEGIN:
            # A session of ours keeps nothing: it is as open as when it was begun.
            return OPENED if order.scenario.http != "reset" else NEVER_OPENED
        answer = await self._issuer.query(order.key)
        if answer.status == ports.NOT_FOUND:
            return answer if self._is_ours(order, card) else None
        return ours(answer) if order.age_seconds >= order.scenario.delay else IN_PROGRESS


def may_be_ours(order: CollectOrder) -> bool:
    return order.session in (SESSION, "")


def ours(answer: Answer) -> Answer:
    return msgspec.structs.replace(answer, facts=FACTS)


def purchase_of(order: CollectOrder, card: CardSecrets) -> PurchaseOrder:
    return PurchaseOrder(
        key=order.key,
        pan=card.number,
        expiry=f"20{card.expiry_year}-{card.expiry_month}",
        cvv=None if order.method == "token" else card.cvv,
        amount=order.amount,
        currency=order.currency,
        merchant_name=order.shop,
        scenario=scenario_of(order),
    )


def scenario_of(order: CollectOrder) -> Scenario:
    """How this call was told to go: a line that refused the first is there for the next."""
    if order.scenario.http == "unavailable" and order.age_seconds >= BACK_AFTER_SECONDS:
        return msgspec.structs.replace(order.scenario, http=None)
    return order.scenario
