"""A purpose for which no rail is configured, as in a live deployment without a vendor."""

from typing import Any

from kasuwa.rails.routing.orders import KnownBalances, RailSet


def no_rails(purpose: str) -> RailSet[Any]:
    return RailSet(purpose, {}, (), monitors={}, balances=KnownBalances())
