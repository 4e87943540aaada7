"""Card rail for the cards that this deployment issued. It passes all other cards on to the external card rail.

A card number in our issuing ranges is authorized by our own issuer and is never sent outside. The paying merchant and
the merchant that issued the card have separate books: the payment waits in the first, the issuer decides in the second.

These cards have a CVV, but neither a PIN nor a telephone number, so a payment is complete with its charge. It is
announced as PIN, the only authentication that continues to completion, and any PIN is accepted. A saved card is
charged without a CVV: its holder has paid this merchant with the CVV before. Contract: payment#charge

The rail keeps no state. The session only says that the card was issued here. The outcome of an order is asked of the
issuer by the order's key, also if no session is known, because a lost answer may have been a purchase. The order says
whether its card was issued here, so that a query without the card's number does not go to the external rail.
"""

import msgspec

from kasuwa.core.scenario import Scenario
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.issuer import ISSUED_SESSION, IssuerRail, PurchaseOrder, RefundOrder
from kasuwa.rails.ports.orders import (
    Answer,
    CardSecrets,
    CollectionOrder,
    CollectionRail,
    NoAnswer,
    Unavailable,
    VendorToken,
)
from kasuwa.rails.ports.tokens import TokenRail
from kasuwa.terms.issuing import CardIssuingSettings

AUTH = "PIN"
FACTS = {"session": ISSUED_SESSION}

APPROVED = "00"
SESSION_NOT_FOUND = Answer(orders.NOT_FOUND, "25", "Unable to locate record")
NOT_ISSUED = Answer(orders.FAILED, "14", "Invalid card number", FACTS)
SESSION_OPENED = Answer(orders.SUCCESSFUL, APPROVED, "", {**FACTS, "auth": AUTH})
IN_PROGRESS = Answer(orders.UNKNOWN, "09", "Request in progress", FACTS)

# In the test environment, an issuer that the scenario makes unavailable accepts calls again after this time.
OUTAGE_SECONDS = 5.0


class IssuedCardRail:
    def __init__(self, card_rail: CollectionRail, issuer: IssuerRail, issuing: CardIssuingSettings) -> None:
        self._card_rail = card_rail
        self._issuer = issuer
        self._issuing = issuing

    async def begin(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        if not self._is_issued_here(order, card):
            return await self._card_rail.begin(order, card)
        http = choose_scenario(order).http
        if http is not None:
            raise (Unavailable if http == "unavailable" else NoAnswer)(f"the issuer: {http}")
        return SESSION_OPENED

    async def charge(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        if not self._is_issued_here(order, card):
            return await self._card_rail.charge(order, card)
        assert card is not None, "a card is charged by its number"
        answer = await self._issuer.authorize(make_purchase(order, card))
        if answer.status == orders.NOT_FOUND:
            return NOT_ISSUED
        return IN_PROGRESS if order.scenario.delay > 0 else with_issued_session(answer)

    async def validate(self, order: CollectionOrder, otp: str | None) -> Answer:
        assert order.session != ISSUED_SESSION, "a card that was issued here asks for no code"
        return await self._card_rail.validate(order, otp)

    async def query(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        answer = await self._query_issuer(order, card)
        return answer or await self._card_rail.query(order, card)

    async def refund(self, order: CollectionOrder) -> Answer:
        if may_be_issued_here(order):
            wanted = RefundOrder(order.key, order.refund_of, order.amount)
            answer = await self._issuer.refund(msgspec.structs.replace(wanted, scenario=choose_scenario(order)))
            if answer.status == orders.SUCCESSFUL and order.scenario.delay > 0:
                return IN_PROGRESS
            if answer.status != orders.NOT_FOUND or order.session == ISSUED_SESSION:
                return answer
        return await self._card_rail.refund(order)

    async def query_refund(self, order: CollectionOrder) -> Answer:
        answer = await self._query_issuer(order, None)
        return answer or await self._card_rail.query_refund(order)

    async def deactivate_token(self, token: VendorToken) -> Answer:
        if isinstance(self._card_rail, TokenRail):
            return await self._card_rail.deactivate_token(token)
        return Answer(orders.FAILED, None, "this rail keeps no cards")

    def _is_issued_here(self, order: CollectionOrder, card: CardSecrets | None) -> bool:
        return (
            order.session == ISSUED_SESSION
            or order.is_issued_here
            or (card is not None and self._issuing.is_own_number(card.number))
        )

    async def _query_issuer(self, order: CollectionOrder, card: CardSecrets | None) -> Answer | None:
        """Returns the issuer's answer about an order, or None if the order belongs to the external rail."""
        if not may_be_issued_here(order):
            return None
        if order.is_issued_here and order.step == orders.BEGIN:
            # Our sessions have no state, so a session that was begun is still open.
            return SESSION_OPENED if order.scenario.http != "reset" else SESSION_NOT_FOUND
        answer = await self._issuer.query(order.key)
        if answer.status == orders.NOT_FOUND:
            return answer if self._is_issued_here(order, card) else None
        return with_issued_session(answer) if order.age_seconds >= order.scenario.delay else IN_PROGRESS


def may_be_issued_here(order: CollectionOrder) -> bool:
    return not order.vendor and order.session in (ISSUED_SESSION, "")


def with_issued_session(answer: Answer) -> Answer:
    return msgspec.structs.replace(answer, facts=FACTS)


def make_purchase(order: CollectionOrder, card: CardSecrets) -> PurchaseOrder:
    return PurchaseOrder(
        key=order.key,
        pan=card.number,
        expiry=f"20{card.expiry_year}-{card.expiry_month}",
        cvv=None if order.method == "token" else card.cvv,
        amount=order.amount,
        currency=order.currency,
        merchant_name=order.merchant_name,
        scenario=choose_scenario(order),
    )


def choose_scenario(order: CollectionOrder) -> Scenario:
    """Returns the scenario of this call. An issuer that was unavailable for the first call is available later."""
    if order.scenario.http == "unavailable" and order.age_seconds >= OUTAGE_SECONDS:
        return msgspec.structs.replace(order.scenario, http=None)
    return order.scenario
