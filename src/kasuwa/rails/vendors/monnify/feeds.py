"""Monnify: settlements, which a call-back announces.

settlement by its reference   served: the payments that it consists of
list of settlements           not served: the vendor lists none
disputes                      not served: the vendor's API and call-backs have none. It tells them on its dashboard
"""

from datetime import datetime
from typing import Any

from kasuwa.rails.ports.feed_entries import Dispute, Settlement
from kasuwa.rails.ports.orders import UnreadableAnswer
from kasuwa.rails.vendors.amounts import read_major
from kasuwa.rails.vendors.monnify.session import MonnifySession, UnknownList
from kasuwa.rails.vendors.monnify.transfers import CURRENCY

BY_SETTLEMENT = "/api/v1/transactions/find-by-settlement-reference"


class MonnifyFeeds(MonnifySession):
    async def list_disputes(self, since: datetime) -> list[Dispute]:
        return []

    async def find_dispute(self, dispute_id: str) -> Dispute | None:
        return None

    async def list_settlements(self, since: datetime) -> list[Settlement]:
        return []

    async def find_settlement(self, settlement_id: str) -> Settlement | None:
        """Returns the sum of the payments that a settlement consists of."""
        try:
            rows = [row async for row in self._list(BY_SETTLEMENT, {"reference": settlement_id})]
        except UnknownList:
            return None
        return sum_settlement(settlement_id, rows) if rows else None


def sum_settlement(settlement_id: str, rows: list[Any]) -> Settlement:
    gross = [read_major(row.get("amountPaid", row.get("amount"))) if isinstance(row, dict) else None for row in rows]
    net = [read_major(row.get("settlementAmount")) if isinstance(row, dict) else None for row in rows]
    whole, arrived = (
        [amount for amount in gross if amount is not None],
        [amount for amount in net if amount is not None],
    )
    if len(whole) != len(rows) or len(arrived) != len(rows):
        raise UnreadableAnswer("a payment of a settlement has another form than documented")
    total, amount = sum(whole), sum(arrived)
    return Settlement(
        settlement_id=settlement_id,
        status="settled",
        currency=CURRENCY,
        amount=amount,
        gross=total,
        fees=total - amount,
        payments=len(rows),
    )
