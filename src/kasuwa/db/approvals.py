"""What one operator proposes and another decides. The table itself refuses who would decide their own proposal."""

from datetime import datetime

import msgspec

from kasuwa.db.pool import Connection

COLUMNS = """
    a.approval_id, a.mid, a.kind, a.proposal, a.reason, a.proposed_by, p.email, a.proposed_at, a.state, d.email,
    a.decided_at
"""
JOINED = """
    from approval a join console_user p on p.user_id = a.proposed_by
    left join console_user d on d.user_id = a.decided_by
"""
MOST_SHOWN = 100
# Whoever decides holds the approval, and it alone, while the writer makes the movement: as long as that may take.
LONGER_IDLE = "set local idle_in_transaction_session_timeout = '15s'"


class Approval(msgspec.Struct):
    """`mid` is the merchant it is about; a rate is no merchant's."""

    approval_id: int
    mid: str | None
    kind: str
    proposal: str
    reason: str
    proposed_by: int
    proposer: str
    proposed_at: datetime
    state: str
    decider: str | None
    decided_at: datetime | None


async def propose(connection: Connection, mid: str | None, kind: str, proposal: str, reason: str, user_id: int) -> int:
    number = await connection.fetchval(
        "insert into approval (mid, kind, proposal, reason, proposed_by) values ($1, $2, $3, $4, $5)"
        " returning approval_id",
        mid,
        kind,
        proposal,
        reason,
        user_id,
    )
    assert isinstance(number, int)
    return number


async def newest(connection: Connection) -> list[Approval]:
    """Those still open first, then the latest decided."""
    order = "order by a.state <> 'open', a.approval_id desc"
    records = await connection.fetch(f"select {COLUMNS} {JOINED} {order} limit {MOST_SHOWN}")
    return [Approval(*record) for record in records]


async def lock_open(connection: Connection, approval_id: int) -> Approval | None:
    """Held until the end of the transaction: nobody decides the same one beside."""
    where = "where a.approval_id = $1 and a.state = 'open' for update of a"
    record = await connection.fetchrow(f"select {COLUMNS} {JOINED} {where}", approval_id)
    return None if record is None else Approval(*record)


async def decide(connection: Connection, approval_id: int, user_id: int, state: str) -> None:
    await connection.execute(
        "update approval set state = $3, decided_by = $2, decided_at = now() where approval_id = $1",
        approval_id,
        user_id,
        state,
    )
