"""The port of rails that report disputes and settlements. It serves reconciliation and moves no money."""

from datetime import datetime
from typing import Protocol

from kasuwa.rails.ports.feed_entries import Dispute, Settlement


class FeedRail(Protocol):
    """A rail that reports disputes and settlements. Look-ups return None for what the rail does not know or have."""

    async def list_disputes(self, since: datetime) -> list[Dispute]: ...

    async def find_dispute(self, dispute_id: str) -> Dispute | None: ...

    async def list_settlements(self, since: datetime) -> list[Settlement]: ...

    async def find_settlement(self, settlement_id: str) -> Settlement | None: ...
