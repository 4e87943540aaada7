"""Chooses the merchant whose rows a connection of the reader's login sees (row-level security, postgres/logins.py).

Until a merchant is chosen, such a connection sees no row of any. The operator's pages choose all merchants. On a
connection of another login the choice has no effect.
"""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from kasuwa.concurrency.shares import Shares
from kasuwa.postgres.backend_connection import NO_MERCHANT
from kasuwa.postgres.connection_pool import Connection, ConnectionSource, Pool
from kasuwa.postgres.layout import find_layout

MERCHANT_SETTING = "kasuwa.merchant_id"
ALL_SETTING = "kasuwa.all_merchants"
# Views of tables that have indexes on expressions. They come before the tables of the same name.
READER_SCHEMA = "kasuwa_reader"
READER_SEARCH_PATH = f"{READER_SCHEMA}, public"
# In place of a merchant: the rows of all.
ALL_MERCHANTS = None

BEGIN = "begin isolation level repeatable read read only"


def choose_rows(merchant_id: int | None, *, is_local: bool) -> tuple[str, str]:
    """Returns the statements that choose a merchant, or all, for the session or for the transaction."""
    how = "set local" if is_local else "set"
    if merchant_id is ALL_MERCHANTS:
        return f"{how} {MERCHANT_SETTING} = ''", f"{how} {ALL_SETTING} = 'on'"
    return f"{how} {MERCHANT_SETTING} = '{merchant_id:d}'", f"{how} {ALL_SETTING} = 'off'"


async def begin_transaction(connection: Any, begin: str, merchant_id: int | None) -> None:
    """Begins a transaction that sees the rows of a merchant, or of all, in one round trip if the layout allows it."""
    await find_layout(connection).run_in_order(connection, begin, *choose_rows(merchant_id, is_local=True))


async def choose_for_transaction(connection: Any, merchant_id: int | None) -> None:
    """Chooses the merchant of a transaction."""
    await find_layout(connection).run_in_order(connection, *choose_rows(merchant_id, is_local=True))


@contextlib.asynccontextmanager
async def snapshot(pool: Pool, merchant_id: int | None) -> AsyncIterator[Connection]:
    """Yields a connection whose statements all see the state of the database at the first of them.

    The merchant is chosen in the round trip that begins the transaction."""
    async with pool.acquire() as connection, snapshot_on(connection, merchant_id):
        yield connection


@contextlib.asynccontextmanager
async def snapshot_on(connection: Any, merchant_id: int | None) -> AsyncIterator[None]:
    """Has the statements on a connection of a pool see one state of the database."""
    try:
        await begin_transaction(connection, BEGIN, merchant_id)
        yield
    except BaseException:
        with contextlib.suppress(Exception):
            await connection.execute("rollback")
        raise
    else:
        await connection.execute("commit")
    finally:
        # The pool resets nothing. A connection left in its transaction would show the next reader an old state.
        if connection.is_in_transaction():
            connection.terminate()


class MerchantReader(ConnectionSource):
    """A pool whose statements see the rows of one merchant, or of all. Each statement is its own transaction.

    With `shares`, statements use the connections of the merchant's share. PoolExhausted if none is free in time."""

    __slots__ = ("_merchant_id", "_pool", "_shares")

    def __init__(self, pool: Pool, merchant_id: int | None, shares: Shares[int] | None = None) -> None:
        self._pool = pool
        self._merchant_id = merchant_id
        self._shares = shares

    @contextlib.asynccontextmanager
    async def acquire(self) -> AsyncIterator[Any]:
        if self._shares is None or self._merchant_id is ALL_MERCHANTS:
            async with self._acquire() as connection:
                yield connection
        else:
            async with self._shares.holding(self._merchant_id), self._acquire() as connection:
                yield connection

    @contextlib.asynccontextmanager
    async def _acquire(self) -> AsyncIterator[Any]:
        async with self._pool.acquire() as connection:
            if find_layout(connection).keeps_session_settings:
                await choose_merchant(connection, self._merchant_id)
                yield connection
            else:
                async with snapshot_on(connection, self._merchant_id):
                    yield connection


async def choose_merchant(connection: Any, merchant_id: int | None) -> None:
    """Chooses the merchant of a session, unless it is chosen already."""
    if connection.has_chosen(merchant_id):
        return
    # If the statement is cancelled, nobody knows which merchant the session has.
    connection.record_choice(NO_MERCHANT)
    await connection.execute("; ".join(choose_rows(merchant_id, is_local=False)))
    connection.record_choice(merchant_id)
