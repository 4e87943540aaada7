"""Runs an adapter against the twin of its vendor, over HTTP on loopback."""

import contextlib
from collections.abc import AsyncIterator

from kasuwa.outbound.egress import EgressClient
from kasuwa.rails.ports.orders import NoAnswer, Unavailable
from kasuwa.rails.ports.transport import HttpTransport
from kasuwa.rails.twins.server import FaultKind, Twin, VendorPart, VendorRules
from kasuwa.rails.watch.transport import RAIL_LIMITS, EgressTransport

# Faults of a call that moves money: what the sender learns, and whether the vendor carried out the order.
FAULTS_OF_ORDERS: dict[FaultKind, tuple[type[Exception], bool]] = {
    "drop": (NoAnswer, False),
    "lose": (NoAnswer, True),
    "half": (NoAnswer, True),
    "page": (NoAnswer, True),
    "empty": (NoAnswer, True),
    "bad_gateway": (NoAnswer, True),
    "too_many": (Unavailable, False),
}


class Observed:
    """Keeps what an adapter reports of its calls."""

    def __init__(self) -> None:
        self.outcomes: list[str] = []

    def __call__(self, rail: str, outcome: str, seconds: float) -> None:
        assert rail
        assert seconds >= 0
        self.outcomes.append(outcome)


@contextlib.asynccontextmanager
async def twin_of(rules: VendorRules, *parts: VendorPart) -> AsyncIterator[tuple[Twin, HttpTransport]]:
    twin = Twin(rules, *parts)
    await twin.start()
    egress = EgressClient(environment="test", loopback_allowed=True, limits=RAIL_LIMITS)
    try:
        yield twin, EgressTransport(egress)
        assert twin.problems == [], "the adapter sent what the vendor does not take"
    finally:
        await egress.close()
        await twin.stop()
