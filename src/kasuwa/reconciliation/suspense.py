"""Reads money in suspense: unidentified receipts that were neither assigned nor returned."""

from datetime import datetime
from typing import NamedTuple

from kasuwa.core.reading import Reader
from kasuwa.postgres.connection_pool import Connection

# Money in suspense of current books. A failed return leaves it there. A reference may be given with its rail before it.
# Decisions are read first: not every layout can plan an outer join of all receipts with a table of merchants.
SUSPENSE = """
    with decided as materialized (select merchant_id, rail, rail_reference, state from suspense_decision)
    select r.merchant_id, m.mid, r.rail, r.rail_reference, r.amount, r.currency, r.account_number, r.booked_at,
        coalesce(d.state, '')
    from inbound_receipt r join merchant m on m.merchant_id = r.merchant_id and m.current
    left join decided d on d.merchant_id = r.merchant_id and d.rail = r.rail
        and d.rail_reference = r.rail_reference
    where r.txn_ref = '' and coalesce(d.state, 'failed') in ('failed', 'returning')
        and ($1 = '' or $1 in (r.rail_reference, r.rail || ' ' || r.rail_reference))
    order by r.booked_at, r.key limit $2
"""
# A query of its own: approvals may be on another server (postgres/distribution/placement.py).
PROPOSED = """
    select proposal -> 'suspense' ->> 'rail', proposal -> 'suspense' ->> 'rail_reference' from approval
    where state = 'open' and proposal -> 'suspense' ->> 'rail_reference' = any($1)
"""
HOLDER = """
    select m.mid from inbound_receipt r join merchant m on m.merchant_id = r.merchant_id and m.current
    where r.rail = $1 and r.rail_reference = $2
"""


class MoneyInSuspense(NamedTuple):
    """Unidentified money, in the books of a merchant."""

    merchant_id: int
    mid: str
    rail: str
    rail_reference: str
    amount: int
    currency: str
    account_number: str
    booked_at: datetime
    state: str  # "", failed, or returning while its rail is asked to return it
    is_proposed: bool


async def list_suspense(reader: Reader, most: int, reference: str = "") -> list[MoneyInSuspense]:
    """Returns the money in suspense, oldest first: all of it, or the receipt of a rail's reference."""
    rows = await reader.fetch(SUSPENSE, reference, most)
    proposed = {tuple(row) for row in await reader.fetch(PROPOSED, [row["rail_reference"] for row in rows])}
    return [MoneyInSuspense._make((*row, (row["rail"], row["rail_reference"]) in proposed)) for row in rows]


async def find_holder(connection: Connection, rail: str, rail_reference: str) -> str:
    """Returns the merchant in whose books a receipt is."""
    mid = await connection.fetchval(HOLDER, rail, rail_reference)
    assert isinstance(mid, str)
    return mid
