"""Notices to operators, and their handling: who looks into a notice, and how it ended.

    open ──> closed      with a comment; it can be opened again

Notices are append-only, so that this is kept beside them.
"""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Literal

import msgspec

from kasuwa.core.reading import Reader
from kasuwa.postgres.connection_pool import Connection

NoticeState = Literal["open", "closed", "all"]
COLUMNS = """
    n.notice_id, n.merchant_id, m.mid, m.name, n.reference, n.message, n.at, coalesce(h.assigned_to, ''), h.closed_at,
    coalesce(h.closed_by, ''), coalesce(h.comment, '')
    from operator_notice n left join merchant m on m.merchant_id = n.merchant_id
    left join notice_handling h on h.merchant_id = n.merchant_id and h.notice_id = n.notice_id
"""
LIST = f"""
    select {COLUMNS} where n.notice_id < $1
        and ($2 = 'all' or ($2 = 'closed' and h.closed_at is not null) or ($2 = 'open' and h.closed_at is null))
        and ($3 = '' or h.assigned_to = $3)
    order by n.notice_id desc limit $4
"""
FIND = f"select {COLUMNS} where n.merchant_id = $1 and n.notice_id = $2"
OPEN_DAYS = """
    select (n.at at time zone 'Africa/Lagos')::date, count(*) from (
        select * from operator_notice order by notice_id desc limit $1) n
    where not exists (select 1 from notice_handling h where h.merchant_id = n.merchant_id
        and h.notice_id = n.notice_id and h.closed_at is not null)
    group by 1
"""
EXISTS = "select exists (select 1 from operator_notice where merchant_id = $1 and notice_id = $2)"
ASSIGN = """
    insert into notice_handling (merchant_id, notice_id, assigned_to, closed_by, comment, changed_at)
    values ($1, $2, $3, '', '', now())
    on conflict (merchant_id, notice_id) do update set assigned_to = excluded.assigned_to, changed_at = now()
        where notice_handling.closed_at is null
    returning 1
"""
CLOSE = """
    insert into notice_handling (merchant_id, notice_id, assigned_to, closed_at, closed_by, comment, changed_at)
    values ($1, $2, $3, now(), $3, $4, now())
    on conflict (merchant_id, notice_id) do update set closed_at = now(), closed_by = excluded.closed_by,
        comment = excluded.comment, changed_at = now() where notice_handling.closed_at is null
    returning 1
"""
REOPEN = """
    update notice_handling set closed_at = null, closed_by = '', changed_at = now()
    where merchant_id = $1 and notice_id = $2 and closed_at is not null returning 1
"""
# Newest notices among which open ones are counted.
MAX_COUNTED = 1_000


class Notice(msgspec.Struct, frozen=True):
    """A notice with what operators do about it."""

    notice_id: int
    merchant_id: int
    mid: str | None  # None if it is about no merchant
    merchant_name: str | None
    reference: str
    message: str
    at: datetime
    assigned_to: str  # email address; empty for nobody
    closed_at: datetime | None
    closed_by: str
    comment: str

    @property
    def state(self) -> str:
        if self.closed_at is not None:
            return "closed"
        return "under_review" if self.assigned_to else "open"


async def list_notices(
    reader: Reader, before: int, state: NoticeState, assigned_to: str, limit: int
) -> Sequence[Notice]:
    """Returns notices, newest first: those of a state, and of one operator if an address is given."""
    return [Notice(*row) for row in await reader.fetch(LIST, before, state, assigned_to, limit)]


async def find_notice(reader: Reader, merchant_id: int, notice_id: int) -> Notice | None:
    row = await reader.fetchrow(FIND, merchant_id, notice_id)
    return None if row is None else Notice(*row)


async def count_open_by_day(reader: Reader) -> dict[date, int]:
    """Returns the open ones among the newest notices by their day in Lagos."""
    return dict(await reader.fetch(OPEN_DAYS, MAX_COUNTED))


# --- handling ---------------------------------------------------------------------------------------------------------


async def assign_notice(connection: Connection, merchant_id: int, notice_id: int, email: str) -> bool:
    """Gives an open notice to an operator, or to nobody. Returns False if it is closed or unknown."""
    if not await connection.fetchval(EXISTS, merchant_id, notice_id):
        return False
    return await connection.fetchval(ASSIGN, merchant_id, notice_id, email) is not None


async def close_notice(connection: Connection, merchant_id: int, notice_id: int, email: str, comment: str) -> bool:
    """Closes an open notice. Returns False if it is closed or unknown."""
    if not await connection.fetchval(EXISTS, merchant_id, notice_id):
        return False
    return await connection.fetchval(CLOSE, merchant_id, notice_id, email, comment) is not None


async def reopen_notice(connection: Connection, merchant_id: int, notice_id: int) -> bool:
    """Opens a closed notice again. Returns False if it is not closed."""
    return await connection.fetchval(REOPEN, merchant_id, notice_id) is not None
