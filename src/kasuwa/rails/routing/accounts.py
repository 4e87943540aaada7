"""Rails that open accounts and report disputes and settlements, over all of our accounts with one vendor.

What belongs to an order goes to the account that is written with it. What a vendor announces has no order of ours: it
is asked for with every account whose keys are set.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

import msgspec
import structlog

from kasuwa.rails.ports.accounts import AccountOrder, AccountRail, Receipt
from kasuwa.rails.ports.disputes import DisputeAnswer, DisputeRail
from kasuwa.rails.ports.feed_entries import Dispute, Settlement
from kasuwa.rails.ports.feeds import FeedRail
from kasuwa.rails.ports.orders import Answer, NoAnswer, Unavailable
from kasuwa.rails.routing.vendor_accounts import AccountRails

log = structlog.get_logger("kasuwa.rails")

RailT = TypeVar("RailT")
FoundT = TypeVar("FoundT")


async def find_with_any(rails: list[RailT], ask: Callable[[RailT], Awaitable[FoundT | None]]) -> FoundT | None:
    """Asks with one account after the other until one knows it. Raises the first error if none does and one failed."""
    trouble: Unavailable | NoAnswer | None = None
    for rail in rails:
        try:
            result = await ask(rail)
        except (Unavailable, NoAnswer) as error:
            trouble = trouble or error
            continue
        if result is not None:
            return result
    if trouble is not None:
        raise trouble
    return None


async def list_with_all(name: str, rails: list[RailT], ask: Callable[[RailT], Awaitable[list[FoundT]]]) -> list[FoundT]:
    """Lists with every account. A former account that does not answer is left out: its keys may have been revoked."""
    results = list(await ask(rails[0]))
    for rail in rails[1:]:
        try:
            results += await ask(rail)
        except (Unavailable, NoAnswer) as error:
            log.warning("a former account was not listed", rail=name, trouble=type(error).__name__)
    return results


class RoutedAccounts:
    """The account rail of one vendor (AccountRail)."""

    def __init__(self, name: str, rails: AccountRails[AccountRail]) -> None:
        self._name = name
        self._rails = rails

    async def open(self, order: AccountOrder) -> Answer:
        self._rails.require_known(self._name, order.account)
        return await self._find(order).open(order)

    async def query(self, order: AccountOrder) -> Answer:
        answer = await self._find(order).query(order)
        return self._rails.accounts.confirm(self._name, order.account, answer)

    async def close(self, order: AccountOrder) -> Answer:
        await self._require_known(order)
        return await self._find(order).close(order)

    async def find_receipt(self, reference: str) -> Receipt | None:
        """Returns money that came in, with the account that it came into."""
        own = self._rails.accounts.own.get(self._name, "")
        places = [(own, self._rails.current[self._name])] if self._name in self._rails.current else []
        places += [(account, rail) for (name, account), rail in self._rails.former.items() if name == self._name]

        async def ask(place: tuple[str, AccountRail]) -> Receipt | None:
            receipt = await place[1].find_receipt(reference)
            return None if receipt is None else msgspec.structs.replace(receipt, rail_account=place[0])

        return await find_with_any(places, ask)

    async def list_receipts(self, order: AccountOrder, since: datetime) -> list[str]:
        await self._require_known(order)
        return await self._find(order).list_receipts(order, since)

    async def _require_known(self, order: AccountOrder) -> None:
        """Raises Unavailable if the keys of an account are not set, and it is not found with those of the settings."""
        if not self._rails.is_known(self._name, order.account):
            await self.query(order)
            if not self._rails.is_known(self._name, order.account):
                raise Unavailable(f"the account of an order with {self._name} is not configured")

    def _find(self, order: AccountOrder) -> AccountRail:
        rail = self._rails.find(self._name, order.account)
        assert rail is not None, "it is made for a vendor that has an account"
        return rail


class RoutedFeeds:
    """The disputes and settlements of one vendor (FeedRail)."""

    def __init__(self, name: str, rails: AccountRails[FeedRail]) -> None:
        self._name = name
        self._rails = rails.list_all(name)

    async def list_disputes(self, since: datetime) -> list[Dispute]:
        return await list_with_all(self._name, self._rails, lambda rail: rail.list_disputes(since))

    async def find_dispute(self, dispute_id: str) -> Dispute | None:
        return await find_with_any(self._rails, lambda rail: rail.find_dispute(dispute_id))

    async def list_settlements(self, since: datetime) -> list[Settlement]:
        return await list_with_all(self._name, self._rails, lambda rail: rail.list_settlements(since))

    async def find_settlement(self, settlement_id: str) -> Settlement | None:
        return await find_with_any(self._rails, lambda rail: rail.find_settlement(settlement_id))


class RoutedDisputes:
    """Hands answers to disputes in with the account that has the payment (DisputeRail)."""

    def __init__(self, name: str, rails: AccountRails[DisputeRail]) -> None:
        self._name = name
        self._rails = rails

    async def answer_dispute(self, answer: DisputeAnswer) -> Answer:
        rail = self._rails.find(self._name, answer.account)
        if rail is None or not self._rails.is_known(self._name, answer.account):
            raise Unavailable(f"the account of a dispute with {self._name} is not configured")
        return await rail.answer_dispute(answer)
