"""What a biller sells: the paycodes and prices of its catalogue, as this process has read it last.

Items are offered from the catalogue of the first biller. Another one takes an order only if it sells the same paycode
at the same price, or within its bounds if the payer chooses the amount.
"""

import time
from collections.abc import Callable

import msgspec

from kasuwa.core.money import parse_minor
from kasuwa.rails.catalogue.catalogue import CatalogueEdition
from kasuwa.rails.ports.orders import BillerRail

# How long a list is used before it is read again.
LIST_SECONDS = 24 * 3600.0


class SoldItem(msgspec.Struct, frozen=True):
    """The terms of an item. Amounts are in minor units."""

    price: int  # 0 if the payer chooses the amount
    least: int
    most: int | None
    amount_step: int


class ItemList:
    """The items of one biller. It knows nothing until `read` was called."""

    def __init__(self, rail: BillerRail, clock: Callable[[], float] = time.monotonic) -> None:
        self._rail = rail
        self._clock = clock
        self._items: dict[str, SoldItem] | None = None
        self._read_at = float("-inf")

    def is_due(self) -> bool:
        """Whether the list was never read, or a day ago."""
        return self._clock() - self._read_at >= LIST_SECONDS

    async def read(self) -> None:
        """Reads the biller's catalogue. Raises Unavailable or NoAnswer: what was read before then stays."""
        self._items = list_items(await self._rail.fetch_catalogue(0))
        self._read_at = self._clock()

    def sells(self, paycode: str, amount: int = 0) -> bool | None:
        """Tells whether the biller sells an item at an amount, or at any if it is 0. None before the first list."""
        if self._items is None:
            return None
        item = self._items.get(paycode)
        if item is None or not amount:
            return item is not None
        if item.price:
            return amount == item.price
        return item.least <= amount and (item.most is None or amount <= item.most) and not amount % item.amount_step


def list_items(edition: CatalogueEdition) -> dict[str, SoldItem]:
    billers = {biller.id: biller for biller in edition.billers}
    return {
        item.paycode: SoldItem(parse_minor(item.amount) or 0, biller.least or 0, biller.most, biller.amount_step)
        for item in edition.items
        if (biller := billers.get(item.bills_id)) is not None
    }
