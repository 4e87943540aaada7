"""The port of the issuer of cards that were issued here."""

from typing import Protocol

import msgspec

from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.rails.ports.orders import Answer

# The session of a payment whose card was issued here.
ISSUED_SESSION = "issued"


class PurchaseOrder(msgspec.Struct, frozen=True):
    """Asks the issuer to authorize a purchase with a virtual card that was issued here."""

    key: str  # idempotency key, unique over all merchants: it begins with the paid merchant's identifier
    pan: str
    expiry: str  # YYYY-MM
    cvv: str | None  # None for a saved card: a CVV must not be stored
    amount: int
    currency: str
    merchant_name: str
    category: str | None = None  # four-digit merchant category code, if known
    scenario: Scenario = NO_SCENARIO


class RefundOrder(msgspec.Struct, frozen=True):
    """Refunds an amount of the purchase `purchase_key`, in its currency, once under its own `key`."""

    key: str
    purchase_key: str
    amount: int
    scenario: Scenario = NO_SCENARIO


class TakeBackOrder(msgspec.Struct, frozen=True):
    """Takes the refund `refund_key` of the purchase `purchase_key` back, once under its own `key`: the dispute that it
    was paid for was won in the end."""

    key: str
    refund_key: str
    purchase_key: str


class IssuerRail(Protocol):
    """The issuer of cards that were issued here: decides in the books of the card's merchant. Answers NOT_FOUND for a
    card that was not issued here and for an unknown key. The fact `txnRef` is the reference in those books.

    An order is decided once under its key: a repeat has the first answer."""

    async def authorize(self, order: PurchaseOrder) -> Answer: ...

    async def refund(self, order: RefundOrder) -> Answer: ...

    async def take_back(self, order: TakeBackOrder) -> Answer: ...

    async def query(self, key: str) -> Answer: ...
