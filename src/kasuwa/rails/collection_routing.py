"""Sends each payment to the vendor that is written with it, also after the settings have changed."""

from collections.abc import Mapping

from kasuwa.rails import ports
from kasuwa.rails.ports import Answer, CardSecrets, CollectionOrder, CollectionRail, Unavailable, VendorToken
from kasuwa.rails.token_port import TokenRail
from kasuwa.rails.vendor_accounts import KnownAccounts

VENDOR_GONE = Answer(ports.FAILED, "91", "The processor of this payment is not in use any more")


class RoutedCollection:
    """A collection rail that passes orders on by their vendor.

    `own` takes the orders of no vendor: the sandbox. `vendors` are those whose keys are set, `accounts` our accounts
    with them. An order that was sent to
    a vendor whose keys are gone waits, and the operator gets a notice; one that was not sent yet fails.
    """

    def __init__(
        self, own: CollectionRail, vendors: Mapping[str, CollectionRail], accounts: KnownAccounts | None = None
    ) -> None:
        self._own = own
        self._vendors = vendors
        self._accounts = accounts or KnownAccounts()

    async def begin(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        rail = self._find(order)
        return VENDOR_GONE if rail is None else await rail.begin(order, card)

    async def charge(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        rail = self._find(order)
        return VENDOR_GONE if rail is None else await rail.charge(order, card)

    async def validate(self, order: CollectionOrder, otp: str | None) -> Answer:
        return await self._require(order).validate(order, otp)

    async def query(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        return self._accounts.confirm(order.vendor, order.sent_at, await self._require(order).query(order, card))

    async def refund(self, order: CollectionOrder) -> Answer:
        return await self._require(order).refund(order)

    async def query_refund(self, order: CollectionOrder) -> Answer:
        return self._accounts.confirm(order.vendor, order.sent_at, await self._require(order).query_refund(order))

    async def deactivate_token(self, token: VendorToken) -> Answer:
        """Has a vendor deactivate a saved card. A vendor that cannot is answered for with FAILED."""
        vendor = self._vendors.get(token.vendor)
        if vendor is None:
            notice = f"{token.vendor} keeps a saved card that must be erased, and its keys are not set: set them"
            raise Unavailable(f"{token.vendor} is not configured", notice=notice)
        if isinstance(vendor, TokenRail):
            return await vendor.deactivate_token(token)
        return Answer(ports.FAILED, None, "its API does not deactivate saved cards")

    def _find(self, order: CollectionOrder) -> CollectionRail | None:
        return self._vendors.get(order.vendor) if order.vendor else self._own

    def _require(self, order: CollectionOrder) -> CollectionRail:
        rail = self._find(order)
        if rail is None:
            notice = (
                f"{order.vendor} has payments that are open, and its keys are not set: set them until these have ended"
            )
            raise Unavailable(f"{order.vendor} is not configured", notice=notice)
        return rail
