"""Approvals: changes that one operator proposes and another decides. The table rejects deciding one's own proposal.

What a command proposes has no proposer, because nothing proves who ran it: two operators approve it, one after another.
"""

import contextlib
from collections.abc import Sequence
from datetime import datetime

import msgspec

from kasuwa.core.row_codes import CodedTable, RowChanged
from kasuwa.core.vault import Vault
from kasuwa.postgres import row_codes
from kasuwa.postgres.connection_pool import Connection, Pool

APPROVALS = CodedTable(
    table="approval",
    is_of_merchant=False,
    key={"approval_id": "bigint"},
    covered=(
        "mid",
        "kind",
        "proposal",
        "reason",
        "proposed_by",
        "unproven_by",
        "proposed_at",
        "first_approved_by",
        "state",
        "decided_by",
    ),
    uncovered=dict.fromkeys(("first_approved_at", "decided_at"), "only shown"),
)
APPROVAL_ROW = "approval_id = $1"

COLUMNS = """
    a.approval_id, a.mid, a.kind, a.proposal, a.reason, a.proposed_by, coalesce(p.email, a.unproven_by), a.proposed_at,
    a.state, d.email, a.decided_at, f.user_id, f.email, a.first_approved_at
"""
JOINED = """
    from approval a left join console_user p on p.user_id = a.proposed_by
    left join console_user d on d.user_id = a.decided_by
    left join console_user f on f.user_id = a.first_approved_by and (a.state <> 'open' or f.disabled_at is null)
"""
# The approvals that a search looks at: the newest.
MAX_SEARCHED = 10_000
FIND = f"""
    select {COLUMNS} {JOINED}
    where a.approval_id > (select coalesce(max(approval_id), 0) - {MAX_SEARCHED} from approval) and (
        (select bool_and(position(lower(word) in lower(concat_ws(' ', a.approval_id, a.kind, a.mid, a.reason, p.email,
            a.unproven_by, d.email, f.email, a.proposal))) > 0) from unnest($1::text[]) u (word))
        or $2::bigint > 0 and a.proposal ->> 'amount' = $2::bigint::text)
    order by a.approval_id::text = any($1::text[]) desc, a.approval_id desc limit $3
"""
# The deciding transaction locks only the approval, for as long as the writer needs to commit the posting. The lock only
# saves work: what prevents a posting from being made twice, or made and rejected, is its row in manual_posting.
EXTEND_IDLE_TIMEOUT = "set local idle_in_transaction_session_timeout = '15s'"


class Approval(msgspec.Struct):
    """A proposed change and its decision."""

    approval_id: int
    mid: str | None  # None for what belongs to no merchant: exchange rates, operators, the policy
    kind: str
    proposal: str  # JSON
    reason: str
    proposed_by: int | None  # None if a command proposed it
    proposer_name: str  # email address, or who ran the command, which nothing proves
    proposed_at: datetime
    state: str
    decider_email: str | None
    decided_at: datetime | None
    # The first of the two operators who approve what a command proposed. None if that one was disabled meanwhile.
    first_approved_by: int | None = None
    first_approver_email: str | None = None
    first_approved_at: datetime | None = None

    @property
    def needs_two_approvers(self) -> bool:
        return self.proposed_by is None

    @property
    def people(self) -> str:
        """Returns who stands for it before the one who decides it now."""
        return self.first_approver_email or self.proposer_name


async def propose(
    connection: Connection, vault: Vault, mid: str | None, kind: str, proposal: str, reason: str, proposer: int | str
) -> int:
    """Stores a proposal and returns its number. `proposer` is the user_id of an operator, or the name of who ran a
    command."""
    is_proven = isinstance(proposer, int)
    number = await connection.fetchval(
        "insert into approval (mid, kind, proposal, reason, proposed_by, unproven_by) values ($1, $2, $3, $4, $5, $6)"
        " returning approval_id",
        mid,
        kind,
        proposal,
        reason,
        proposer if is_proven else None,
        "" if is_proven else proposer,
    )
    assert isinstance(number, int)
    await row_codes.code_new_row(connection, vault, APPROVALS, APPROVAL_ROW, number)
    return number


async def list_open(connection: Connection, before: int, limit: int) -> list[Approval]:
    """Returns the open approvals with smaller numbers than `before`, newest first."""
    return await list_where(connection, "a.state = 'open'", before, limit)


async def list_decided(connection: Connection, before: int, limit: int) -> list[Approval]:
    """Returns the decided approvals with smaller numbers than `before`, newest first."""
    return await list_where(connection, "a.state <> 'open'", before, limit)


async def list_where(connection: Connection, condition: str, before: int, limit: int) -> list[Approval]:
    where = f"where {condition} and a.approval_id < $1 order by a.approval_id desc limit $2"
    return [Approval(*record) for record in await connection.fetch(f"select {COLUMNS} {JOINED} {where}", before, limit)]


async def find_approvals(connection: Connection, words: Sequence[str], amount: int, limit: int) -> list[Approval]:
    """Returns the approvals that have all of some words in number, kind, merchant, reason, people or proposal, or that
    move an amount: those with such a number first, then the newest."""
    records = await connection.fetch(FIND, list(words), amount, limit)
    return [Approval(*record) for record in records]


async def lock_open_approval(connection: Connection, vault: Vault, approval_id: int) -> Approval | None:
    """Returns an open approval with its row locked until the end of the transaction, or None if it is not open. Raises
    RowChanged if it is not as it was proposed."""
    where = "where a.approval_id = $1 and a.state = 'open' for update of a"
    columns = f"{COLUMNS}, a.row_code, {APPROVALS.content_sql('a')}"
    record = await connection.fetchrow(f"select {columns} {JOINED} {where}", approval_id)
    if record is None:
        return None
    width = len(Approval.__struct_fields__)
    row_codes.check_content(vault, APPROVALS, tuple(record[width + 1 :]), record[width])
    return Approval(*record[:width])


async def record_first_approval(connection: Connection, vault: Vault, approval_id: int, user_id: int) -> None:
    """Records the first of two operators who approve. Call it with the approval locked."""
    async with row_codes.changing(connection, vault, APPROVALS, APPROVAL_ROW, approval_id):
        await connection.execute(
            "update approval set first_approved_by = $2, first_approved_at = now() where approval_id = $1",
            approval_id,
            user_id,
        )


async def close_approval(connection: Connection, vault: Vault, approval_id: int, user_id: int, state: str) -> None:
    async with row_codes.changing(connection, vault, APPROVALS, APPROVAL_ROW, approval_id):
        await connection.execute(
            "update approval set state = $3, decided_by = $2, decided_at = now() where approval_id = $1",
            approval_id,
            user_id,
            state,
        )


SELECT_VERDICT = "select state, decided_by from manual_posting where approval_id = $1 order by merchant_id limit 1"
# One that assigns money in suspense may have to be booked in another merchant's books as well: it stays open until it
# is approved again.
SELECT_OPEN = "select approval_id from approval where state = 'open' and kind <> 'suspense_assign'"
SELECT_DECIDED = """
    select approval_id, state, decided_by from manual_posting where approval_id = any($1)
"""
# Skips approvals that are being decided right now: their transaction closes them.
LOCK_UNLESS_BUSY = "select true from approval where approval_id = $1 and state = 'open' for update skip locked"


async def draw_number(connection: Pool) -> int:
    """Returns the number of an approval that nobody proposed, because the test environment plays it."""
    number: int = await connection.fetchval("select nextval(pg_get_serial_sequence('approval', 'approval_id'))")
    return number


async def find_posting_verdict(connection: Connection, approval_id: int) -> tuple[str, int] | None:
    """Returns the recorded verdict on a manual posting and who gave it, or None. Includes archived books."""
    record = await connection.fetchrow(SELECT_VERDICT, approval_id)
    return None if record is None else (record[0], record[1])


async def close_decided_approvals(connection: Connection, vault: Vault) -> None:
    """Closes approvals whose verdict is recorded but which are still open because the deciding process failed. One that
    is not as it was proposed stays open."""
    waiting = [row[0] for row in await connection.fetch(SELECT_OPEN)]
    for decided in await connection.fetch(SELECT_DECIDED, waiting) if waiting else []:
        with contextlib.suppress(RowChanged):
            async with connection.transaction():
                if await connection.fetchval(LOCK_UNLESS_BUSY, decided[0]):
                    await close_approval(connection, vault, decided[0], decided[2], decided[1])
