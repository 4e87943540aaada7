"""Presence of workers and consoles: each holds a shared advisory lock while it runs, and /readyz looks for it."""

import asyncio
import contextlib
import time

import structlog

from kasuwa.postgres import connections
from kasuwa.postgres.advisory_locks import AdvisoryLock
from kasuwa.postgres.connection_pool import Connection

POLL_SECONDS = 0.5
KEEPALIVE_SECONDS = 5.0
LISTEN_POLL_SECONDS = 0.02

# Other databases of the same server may be other deployments.
PRESENT = """
    select objid::bigint from pg_locks l join pg_database d on d.oid = l.database
    where l.locktype = 'advisory' and d.datname = current_database() and l.objid = any($1::oid[])
"""

log = structlog.get_logger("kasuwa")


async def announce(dsn: str, lock_id: int) -> None:
    """Holds a lock forever. Takes it again after every lost connection."""
    while True:
        try:
            await hold_lock(dsn, lock_id)
        except Exception as error:
            log.debug("presence lost", error=type(error).__name__)
        await asyncio.sleep(POLL_SECONDS)


async def hold_lock(dsn: str, lock_id: int) -> None:
    """Holds a lock until its connection is lost or stops answering."""
    connection = await connections.connect_as_owner(dsn, {"application_name": "kasuwa presence"})
    try:
        await connection.execute("select pg_advisory_lock_shared($1)", lock_id)
        asked_at = time.monotonic()
        while not connection.is_closed():
            await asyncio.sleep(POLL_SECONDS)
            if time.monotonic() - asked_at > KEEPALIVE_SECONDS:
                await connection.fetchval("select 1")
                asked_at = time.monotonic()
    finally:
        connection.terminate()


async def announce_when_listening(host: str, port: int, dsn: str) -> None:
    """Announces the console once its port accepts connections."""
    while True:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection(host, port)
            writer.close()
            await announce(dsn, AdvisoryLock.CONSOLE)
        await asyncio.sleep(LISTEN_POLL_SECONDS)


async def find_present_parts(connection: Connection) -> set[int]:
    return {record[0] for record in await connection.fetch(PRESENT, [AdvisoryLock.WORKER, AdvisoryLock.CONSOLE])}
