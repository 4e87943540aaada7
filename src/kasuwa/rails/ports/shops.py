"""The port of shops of this deployment that were paid with a card that was issued here: disputes of the cardholder."""

from typing import Protocol

import msgspec

from kasuwa.rails.ports.orders import Answer

# The rail of a shop's dispute that the holder of a card issued here has filed.
CARDHOLDER_RAIL = "issuer"


class ShopDispute(msgspec.Struct, frozen=True):
    """A cardholder's dispute of a payment to a merchant of this deployment."""

    key: str  # of the cardholder's dispute, unique over all merchants: it begins with the card's merchant
    payment_key: str  # of the payment, likewise: it begins with the shop's merchant
    amount: int  # in the payment's currency
    reason: str


class ShopRail(Protocol):
    """The shops of this deployment: each decides in its own books. An order may be repeated.

    `open_dispute` answers SUCCESSFUL if there is a dispute of the shop, also one from before, and FAILED if nothing is
    left of the payment. `withdraw_dispute` ends an open one for the shop; it answers SUCCESSFUL also if it has ended,
    or was never opened."""

    async def open_dispute(self, dispute: ShopDispute) -> Answer: ...

    async def withdraw_dispute(self, dispute: ShopDispute) -> Answer: ...
