"""The port of rails that tell of disputes and settlements. It serves reconciliation: no money moves by it."""

from datetime import datetime
from typing import Protocol

from kasuwa.rails.ports.feed_entries import Dispute, Settlement


class FeedRail(Protocol):
    """A rail that tells of disputes and settlements. Look-ups return None for what the rail does not know or have."""

    async def list_disputes(self, since: datetime) -> list[Dispute]: ...

    async def find_dispute(self, dispute_id: str) -> Dispute | None: ...

    async def list_settlements(self, since: datetime) -> list[Settlement]: ...

    async def find_settlement(self, settlement_id: str) -> Settlement | None: ...
