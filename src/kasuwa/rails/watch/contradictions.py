"""Reads which rails contradict the end of a transaction, and wait for operators to decide what is booked.

The notice of a contradiction is open until its reversal is proposed. If another operator rejects the proposal it is
closed for good; if the proposal is withdrawn, it is open again.
"""

from datetime import datetime
from typing import Any, NamedTuple

# A rail repeats itself: the first notice stands for all. Tables of merchants are in `contradicted`: not every layout
# joins them with those of the operator.
OPEN_CONTRADICTIONS = """
    with contradicted as materialized (
        select m.mid, m.name, n.reference, n.message, n.at, n.notice_id
        from operator_notice n join merchant m using (merchant_id)
        where n.is_contradiction and m.current
          and not exists (select 1 from operator_notice o where o.merchant_id = n.merchant_id and o.is_contradiction
            and o.reference = n.reference and o.notice_id < n.notice_id)
          and not exists (
            select 1 from rail_reversal r where r.merchant_id = n.merchant_id and r.txn_ref = n.reference))
    select c.mid, c.name, c.reference, c.message, c.at from contradicted c
    where not exists (select 1 from approval a
        where a.mid = c.mid and a.kind = 'reversal' and a.proposal ->> 'reverses' = c.reference
          and (a.state = 'open'
            or a.state = 'rejected' and a.decided_by is distinct from a.proposed_by and a.decided_at > c.at))
    order by c.notice_id limit $1
"""


class Contradiction(NamedTuple):
    """A rail that contradicts the end of a transaction. No operator has proposed what to do about it."""

    mid: str
    name: str
    reference: str
    message: str
    at: datetime


async def list_open(connection: Any, most: int) -> list[Contradiction]:
    """Returns the open contradictions, oldest first."""
    return [Contradiction(*row) for row in await connection.fetch(OPEN_CONTRADICTIONS, most)]
