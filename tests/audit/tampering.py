"""Changes books as the owner of the database can, and repairs what the books' own rules would notice."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from kasuwa.audit import make_close
from kasuwa.audit.chain_audit import find_chain_violations
from kasuwa.audit.chain_rows import iterate_events, iterate_groups
from kasuwa.audit.close_tree import head_bytes
from kasuwa.audit.merkle import build_levels, get_root, hash_leaf
from kasuwa.ledger.chain import EMPTY_CHAIN, extend_by_event, extend_by_group
from tests.running import Deployment

MAX_SEQ = 2**63 - 1


@asynccontextmanager
async def as_owner(connection: Any) -> AsyncIterator[None]:
    """A transaction without triggers and constraints, rolled back at the end."""
    attempt = connection.transaction()
    await attempt.start()
    try:
        await connection.execute("set local session_replication_role = replica")
        yield
    finally:
        await attempt.rollback()


def find_after(deployment: Deployment, merchant_id: int, harm: Callable[[Any], Awaitable[None]]) -> list[str]:
    """Returns the violations of the chains of a merchant after a change, which is undone."""

    async def work(connection: Any) -> list[str]:
        async with as_owner(connection):
            await harm(connection)
            found = await find_chain_violations(connection, [merchant_id])
            return [f"{description}: {place}" for _, description, place in found]

    return deployment.run_on_connection(work)


async def rewrite_chains(connection: Any, merchant_id: int) -> None:
    """Computes all values of a merchant's chains again, as one would who wants to hide a change."""
    head, last = EMPTY_CHAIN, 0
    async for group in iterate_groups(connection, merchant_id, 0, MAX_SEQ):
        head, last = extend_by_group(head, merchant_id, group[0].group_seq, group[0].at, group), group[-1].seq
        await connection.execute(
            "update posting set hash = $3 where merchant_id = $1 and seq = $2", merchant_id, last, head
        )
    await connection.execute(
        "update merchant_state set posting_head = $2, last_posting_seq = $3 where merchant_id = $1",
        merchant_id,
        head,
        last,
    )
    head, last = EMPTY_CHAIN, 0
    async for event in iterate_events(connection, merchant_id, 0, MAX_SEQ):
        head, last = extend_by_event(head, event), event.seq
        await connection.execute(
            "update event set hash = $3 where merchant_id = $1 and seq = $2", merchant_id, last, head
        )
    await connection.execute(
        "update merchant_state set event_head = $2, last_event_seq = $3 where merchant_id = $1",
        merchant_id,
        head,
        last,
    )


async def rewrite_newest_close(connection: Any, merchant_id: int) -> None:
    """Makes the newest close have a merchant's head as it is now. The signature cannot be made."""
    await connection.execute(
        "update book_close_head h set posting_head = s.posting_head, event_head = s.event_head from merchant_state s"
        " where h.merchant_id = $1 and s.merchant_id = $1"
        " and h.close_number = (select max(close_number) from book_close_head where merchant_id = $1)",
        merchant_id,
    )
    heads = {}
    for made in await make_close.list_closes(connection):
        heads.update({head.merchant_id: head for head in await make_close.changed_heads(connection, made.close.number)})
        levels = build_levels([hash_leaf(head_bytes(heads[n])) for n in sorted(heads)])
        await connection.execute(
            "update book_close set root = $2 where number = $1", made.close.number, get_root(levels)
        )


async def edit_amount(connection: Any, merchant_id: int, seq: int) -> None:
    """Adds a million to a posting, to the balances after it and to the accounts."""
    [[debit, credit]] = await connection.fetch(
        "update posting set amount = amount + 1000000 where merchant_id = $1 and seq = $2 returning debit, credit",
        merchant_id,
        seq,
    )
    for account, more in ((debit, -1_000_000), (credit, 1_000_000)):
        for side in ("debit", "credit"):
            await connection.execute(
                f"update posting set {side}_after = {side}_after + $4"
                f" where merchant_id = $1 and seq >= $2 and {side} = $3",
                merchant_id,
                seq,
                account,
                more,
            )
        await connection.execute(
            "update account set posted = posted + $3 where merchant_id = $1 and name = $2", merchant_id, account, more
        )
