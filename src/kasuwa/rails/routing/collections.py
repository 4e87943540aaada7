"""Sends each payment to the vendor, and with the account there, that are written with it, also after the settings have
changed."""

from collections.abc import Mapping

import msgspec

from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, CardSecrets, CollectionOrder, CollectionRail, Unavailable, VendorToken
from kasuwa.rails.ports.tokens import TokenRail
from kasuwa.rails.routing.vendor_accounts import WAITING_NOTICE, AccountRails

VENDOR_GONE = Answer(orders.FAILED, "91", "The processor of this payment is not in use any more")


class RoutedCollection:
    """A collection rail that passes orders on by their vendor and our account there.

    `own` takes the orders of no vendor: the sandbox. `vendors` are those whose keys are set. An order that was sent to
    a vendor whose keys are gone waits, and the operator gets a notice; one that was not sent yet fails.
    """

    def __init__(
        self, own: CollectionRail, vendors: Mapping[str, CollectionRail] | AccountRails[CollectionRail]
    ) -> None:
        self._own = own
        self._vendors = vendors if isinstance(vendors, AccountRails) else AccountRails(vendors)

    async def begin(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        rail = self._find_for_sending(order)
        return VENDOR_GONE if rail is None else self._note_account(order, await rail.begin(order, card))

    async def charge(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        rail = self._find_for_sending(order)
        return VENDOR_GONE if rail is None else self._note_account(order, await rail.charge(order, card))

    async def validate(self, order: CollectionOrder, otp: str | None) -> Answer:
        rail = self._require(order)
        self._require_account(order)
        return self._note_account(order, await rail.validate(order, otp))

    async def query(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        return self._note_account(order, self._confirm(order, await self._require(order).query(order, card)))

    async def refund(self, order: CollectionOrder) -> Answer:
        """Refunds with the account that has the payment. If only the key is another, the payment is found with it."""
        rail = self._require(order)
        if not self._vendors.is_known(order.vendor, order.account):
            payment = msgspec.structs.replace(order, key=order.refund_of, refund_of="")
            self._confirm(order, await rail.query(payment, None))
            self._require_account(order)
        return await rail.refund(order)

    async def query_refund(self, order: CollectionOrder) -> Answer:
        return self._confirm(order, await self._require(order).query_refund(order))

    async def deactivate_token(self, token: VendorToken) -> Answer:
        """Has a vendor deactivate a saved card. A vendor that cannot is answered for with FAILED."""
        vendor = self._vendors.find(token.vendor, token.account)
        if vendor is None:
            notice = f"{token.vendor} keeps a saved card that must be erased, and its keys are not set: set them"
            raise Unavailable(f"{token.vendor} is not configured", notice=notice)
        if isinstance(vendor, TokenRail):
            return await vendor.deactivate_token(token)
        return Answer(orders.FAILED, None, "its API does not deactivate saved cards")

    def _find(self, order: CollectionOrder) -> CollectionRail | None:
        return self._vendors.find(order.vendor, order.account) if order.vendor else self._own

    def _find_for_sending(self, order: CollectionOrder) -> CollectionRail | None:
        rail = self._find(order)
        if rail is not None and order.vendor:
            self._vendors.require_known(order.vendor, order.account)
        return rail

    def _require(self, order: CollectionOrder) -> CollectionRail:
        rail = self._find(order)
        if rail is None:
            notice = (
                f"{order.vendor} has payments that are open, and its keys are not set: set them until these have ended"
            )
            raise Unavailable(f"{order.vendor} is not configured", notice=notice)
        return rail

    def _require_account(self, order: CollectionOrder) -> None:
        if order.vendor and not self._vendors.is_known(order.vendor, order.account):
            notice = WAITING_NOTICE.format(rail=order.vendor, account=order.account)
            raise Unavailable(f"the account of the order with {order.vendor} is not configured", notice=notice)

    def _confirm(self, order: CollectionOrder, answer: Answer) -> Answer:
        return self._vendors.accounts.confirm(order.vendor, order.account, answer)

    def _note_account(self, order: CollectionOrder, answer: Answer) -> Answer:
        """Returns the answer with our account in the saved card that it brings: the card works there only."""
        if answer.card is None or answer.card.token is None:
            return answer
        account = self._vendors.accounts.find(order.vendor, order.account) or ""
        token = msgspec.structs.replace(answer.card.token, account=account)
        return msgspec.structs.replace(answer, card=msgspec.structs.replace(answer.card, token=token))
