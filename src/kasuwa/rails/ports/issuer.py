"""The port of the issuer of cards that were issued here."""

from typing import Protocol

import msgspec

from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.rails.ports.orders import Answer

# The session of a payment whose card was issued here.
ISSUED_SESSION = "issued"


# Of the merchants of this service, who are paid by orders of this port.
HOME_COUNTRY = "NG"


class PurchaseOrder(msgspec.Struct, frozen=True):
    """Asks the issuer to authorize a purchase with a virtual card that was issued here."""

    # Idempotency key, unique over all orders: it begins with the paid merchant's identifier, or with the name of the
    # rail that announced it.
    key: str
    pan: str
    expiry: str | None  # YYYY-MM; None if the shop did not say it
    cvv: str | None  # None for a saved card: a CVV must not be stored
    amount: int
    currency: str
    merchant_name: str
    category: str | None = None  # four-digit merchant category code, if known
    scenario: Scenario = NO_SCENARIO
    merchant_id: str | None = None  # of the shop in the card network
    country: str | None = HOME_COUNTRY
    channel: str = "online"
    is_hold: bool = False  # the amount is held, and captured later


class CaptureOrder(msgspec.Struct, frozen=True):
    """Captures the hold `hold_key`, in whole, in part or above, once under its own `key`. What is left is released."""

    key: str
    hold_key: str
    amount: int  # in the shop's currency


class ReleaseOrder(msgspec.Struct, frozen=True):
    """Releases the hold `hold_key`: the shop gave it up, or it has expired at the network."""

    hold_key: str
    has_expired: bool = False


class RefundOrder(msgspec.Struct, frozen=True):
    """Refunds an amount of the purchase `purchase_key`, in its currency, once under its own `key`."""

    key: str
    purchase_key: str
    amount: int
    scenario: Scenario = NO_SCENARIO
    dispute_key: str = ""  # the cardholder's dispute that it is paid for, which is won with it


class TakeBackOrder(msgspec.Struct, frozen=True):
    """Takes the refund `refund_key` of the purchase `purchase_key` back, once under its own `key`: the dispute that it
    was paid for was won in the end."""

    key: str
    refund_key: str
    purchase_key: str
    dispute_key: str = ""  # the cardholder's dispute, which is lost with it


class LostDispute(msgspec.Struct, frozen=True):
    """Ends the cardholder's dispute `key`, if it is open: the shop has won its own."""

    key: str


class IssuerRail(Protocol):
    """The issuer of cards that were issued here: decides in the books of the card's merchant. Answers NOT_FOUND for a
    card that was not issued here and for an unknown key. The fact `txnRef` is the reference in those books.

    An order is decided once under its key: a repeat has the first answer."""

    async def authorize(self, order: PurchaseOrder) -> Answer: ...

    async def capture(self, order: CaptureOrder) -> Answer: ...

    async def release(self, order: ReleaseOrder) -> Answer: ...

    async def refund(self, order: RefundOrder) -> Answer: ...

    async def take_back(self, order: TakeBackOrder) -> Answer: ...

    async def lose_dispute(self, lost: LostDispute) -> Answer: ...

    async def query(self, key: str) -> Answer: ...
