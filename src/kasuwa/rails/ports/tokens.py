"""The port of rails that keep saved cards, and can be asked to forget one."""

from typing import Protocol, runtime_checkable

from kasuwa.rails.ports.orders import Answer, VendorToken


@runtime_checkable
class TokenRail(Protocol):
    """A collection rail whose vendor deactivates the token of a saved card.

    `deactivate_token` answers SUCCESSFUL also for a token that the vendor does not know any more, and FAILED if the
    vendor refuses for good. It may be repeated."""

    async def deactivate_token(self, token: VendorToken) -> Answer: ...
