"""Rolls out new versions of the data keys: rewrites what older keys encrypted or hashed, then retires those.

The worker does so in the background. How far it has come is in the database, so that it goes on after a crash. Of
several workers one does it at a time. A version is retired once a whole pass over all ciphertexts has found none that
needs it, and not before the overlap of the rotation has ended (privacy/vault_keys.py).
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

import structlog

from kasuwa.core.keyring import INDEX, SEAL
from kasuwa.core.vault import Vault
from kasuwa.postgres import connections
from kasuwa.postgres.advisory_locks import AdvisoryLock
from kasuwa.postgres.connection_pool import Connection, QueryRunner
from kasuwa.postgres.polling import Polling
from kasuwa.privacy import client_index, key_moves, key_versions
from kasuwa.privacy.client_index import ClientIndexer
from kasuwa.privacy.key_moves import REWRITTEN_AT_ONCE, Position, Rewritten, StaleRow
from kasuwa.privacy.row_code_moves import recode_window
from kasuwa.privacy.sealed_places import SealedColumn, SealedJobField, SealedPlaces

STATEMENT_SECONDS = 60.0
# How often the worker looks for a new version.
POLL_SECONDS = 5.0
# The pause after each transaction, so that requests of the merchant come between.
PAUSE_SECONDS = 0.005
SELECT_PAUSE = "select key_update_seconds / 2.0 from deployment"

log = structlog.get_logger("kasuwa.keys")

# Takes a connection and a position. Returns what it rewrote, and the next position.
RewriteWindow = Callable[[Connection, Position], Awaitable[tuple[Rewritten, Position]]]


class KeyRotation(Polling):
    """Rolls out new versions until it is stopped."""

    def __init__(self, dsn: str, pool: QueryRunner, vault: Vault, places: SealedPlaces, indexer: ClientIndexer) -> None:
        super().__init__()
        self._dsn = dsn
        self._pool = pool
        self._vault = vault
        columns = {column.name: partial(rewrite_window, column, vault) for column in places.columns}
        fields = {field.name: partial(rewrite_job_window, field, vault) for field in places.job_fields}
        # After what they cover was encrypted anew.
        codes: dict[str, RewriteWindow] = {
            f"{table.table}.row_code": partial(recode_window, table, vault) for table in places.coded_tables
        }
        index: dict[str, RewriteWindow] = {client_index.NAME: partial(client_index.reindex_window, indexer)}
        # What is rewritten for each purpose, by its name, in order.
        self._steps: dict[str, dict[str, RewriteWindow]] = {
            SEAL: {**columns, **fields, **codes},
            INDEX: index,
        }

    async def run(self) -> None:
        await self.repeat(self.run_once, POLL_SECONDS, "the rotation of keys failed")

    async def run_once(self) -> None:
        """Rolls out the versions that wait for it, until there is none left, unless another worker does."""
        if not await key_versions.find_unfinished(self._pool):
            return
        async with self._connected() as connection:
            if not await connection.fetchval("select pg_try_advisory_lock($1)", AdvisoryLock.KEY_ROTATION):
                return
            # A job that was claimed before it was rewritten ends within this time, and so does a request.
            seconds = float(await connection.fetchval(SELECT_PAUSE))
            while not self._stopping.is_set():
                unfinished = await key_versions.find_unfinished(connection)
                if not unfinished:
                    return
                for purpose, version, may_move, may_retire in unfinished:
                    if may_move and self._is_active(purpose, version):
                        await self._roll_out(connection, purpose, version, may_retire=may_retire)
                await self.pause(seconds)

    def _is_active(self, purpose: str, version: int) -> bool:
        """Whether this process has read that the version is active."""
        keys = self._vault.keyring.versions
        return any(key.is_active and (key.purpose, key.version) == (purpose, version) for key in keys)

    async def _roll_out(self, connection: Connection, purpose: str, version: int, *, may_retire: bool) -> None:
        done = await self._pass_over_all(connection, purpose, version)
        if done is None or done.rows:
            return
        if purpose == INDEX:
            await client_index.delete_released_guards(connection)
        async with connection.transaction():
            await connection.execute(key_versions.MARK_MOVED, purpose, version)
            if may_retire:
                retired = await key_versions.retire_replaced(connection, purpose, version)
                log.info("versions of a data key are retired", purpose=purpose, versions=retired)

    async def _pass_over_all(self, connection: Connection, purpose: str, version: int) -> Rewritten | None:
        """Looks at everything once, from where the last pass was interrupted. Returns what the whole pass did, or None
        if it was stopped."""
        progress = await key_moves.read_progress(connection, purpose, version)
        steps = list(self._steps[purpose].items())
        first_step = next((n for n, (name, _) in enumerate(steps) if name == progress.place), None)
        position = [] if first_step is None else progress.position
        for name, rewrite in steps[first_step or 0 :]:
            while True:
                if self._stopping.is_set():
                    return None
                done, position = await rewrite(connection, position)
                progress.in_pass.add(done)
                await key_moves.save_progress(connection, purpose, version, name, position, done)
                if not position:
                    break
        await key_moves.end_pass(connection, purpose, version)
        return progress.in_pass

    @contextlib.asynccontextmanager
    async def _connected(self) -> AsyncIterator[Any]:
        settings = {"application_name": "kasuwa keys"}
        connection = await connections.connect(self._dsn, settings, statement_seconds=STATEMENT_SECONDS)
        try:
            yield connection
        finally:
            connection.terminate()


async def rewrite_window(
    column: SealedColumn, vault: Vault, connection: Connection, position: Position
) -> tuple[Rewritten, Position]:
    """Encrypts anew what older keys encrypted in the next rows of a table."""
    window, done = await key_moves.read_window(connection, column, position, vault), Rewritten()
    for merchant_id, row_ids in by_merchant(window.stale):
        done.add(await key_moves.rewrite_rows(connection, column, merchant_id, row_ids, vault))
        await asyncio.sleep(PAUSE_SECONDS)
    return done, window.position


async def rewrite_job_window(
    field: SealedJobField, vault: Vault, connection: Connection, position: Position
) -> tuple[Rewritten, Position]:
    """Encrypts anew what older keys encrypted in the next jobs."""
    window, done = await key_moves.read_job_window(connection, field, position, vault), Rewritten()
    for merchant_id, row_ids in by_merchant(window.stale):
        done.add(await key_moves.rewrite_jobs(connection, field, merchant_id, row_ids, vault))
        await asyncio.sleep(PAUSE_SECONDS)
    return done, window.position


def by_merchant(stale: list[StaleRow]) -> list[tuple[int, list[bytes | int]]]:
    """Returns the rows of each merchant, in pieces that one transaction rewrites."""
    groups: dict[int, list[bytes | int]] = {}
    for row in stale:
        groups.setdefault(row.merchant_id, []).append(row.row_id)
    return [
        (merchant_id, row_ids[start : start + REWRITTEN_AT_ONCE])
        for merchant_id, row_ids in groups.items()
        for start in range(0, len(row_ids), REWRITTEN_AT_ONCE)
    ]
