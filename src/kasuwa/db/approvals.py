"""What one operator proposes and another decides. The table itself refuses who would decide their own proposal."""

from datetime import datetime

import msgspec

from kasuwa.db.connections import Connection

COLUMNS = """
    a.approval_id, a.mid, a.kind, a.proposal, a.reason, a.proposed_by, p.email, a.proposed_at, a.state, d.email,
    a.decided_at
"""
JOINED = """
    from approval a join console_user p on p.user_id = a.proposed_by
    left join console_user d on d.user_id = a.decided_by
"""
MAX_LISTED = 100
# Whoever decides holds the approval, and it alone, while the writer makes the movement: as long as that may take. The
# lock only saves work. What keeps a posting from being made twice, or made and rejected, is its row in manual_posting.
EXTEND_IDLE_TIMEOUT = "set local idle_in_transaction_session_timeout = '15s'"


class Approval(msgspec.Struct):
    """`mid` is the merchant it is about; a rate is no merchant's."""

    approval_id: int
    mid: str | None
    kind: str
    proposal: str
    reason: str
    proposed_by: int
    proposer_email: str
    proposed_at: datetime
    state: str
    decider_email: str | None
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


async def list_newest(connection: Connection) -> list[Approval]:
    """Those still open first, then the latest decided."""
    order = "order by a.state <> 'open', a.approval_id desc"
    records = await connection.fetch(f"select {COLUMNS} {JOINED} {order} limit {MAX_LISTED}")
    return [Approval(*record) for record in records]


async def lock_open_approval(connection: Connection, approval_id: int) -> Approval | None:
    """Held until the end of the transaction: nobody decides the same one beside."""
    where = "where a.approval_id = $1 and a.state = 'open' for update of a"
    record = await connection.fetchrow(f"select {COLUMNS} {JOINED} {where}", approval_id)
    return None if record is None else Approval(*record)


async def close_approval(connection: Connection, approval_id: int, user_id: int, state: str) -> None:
    await connection.execute(
        "update approval set state = $3, decided_by = $2, decided_at = now() where approval_id = $1",
        approval_id,
        user_id,
        state,
    )


VERDICT = "select state, decided_by from manual_posting where approval_id = $1 order by merchant_id limit 1"
# Whoever decides one just now holds it, and records it.
FINISH = """
    with left_open as (
        select a.approval_id, m.state, m.decided_by
        from approval a join manual_posting m on m.approval_id = a.approval_id and m.decided_by is not null
        where a.state = 'open' for update of a skip locked)
    update approval a set state = l.state, decided_by = l.decided_by, decided_at = now()
    from left_open l where a.approval_id = l.approval_id
"""


async def find_posting_verdict(connection: Connection, approval_id: int) -> tuple[str, int | None] | None:
    """The verdict on a posting that is in a merchant's books already, and who gave it. Found in any books: those that
    a merchant had before it began anew count too."""
    record = await connection.fetchrow(VERDICT, approval_id)
    return None if record is None else (record[0], record[1])


async def close_decided_approvals(connection: Connection) -> None:
    """Closes approvals that are open although the verdict is in the books: whoever decided them broke off between."""
    await connection.execute(FINISH)
