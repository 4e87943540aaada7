"""Which parts of a deployment are there: each holds a lock for as long as it lives, and /readyz asks who does."""

import asyncio
import contextlib
import time

import structlog

from kasuwa.db import pool
from kasuwa.db.pool import Connection

# Held, shared, by every job worker and every console.
WORKER = 0x6B617375
CONSOLE = 0x6B617376
LOOK_SECONDS = 0.5
ASK_SECONDS = 5.0
LISTENING_SECONDS = 0.02

# Other databases of the same server may be other deployments.
PRESENT = """
    select objid::bigint from pg_locks l join pg_database d on d.oid = l.database
    where l.locktype = 'advisory' and d.datname = current_database() and l.objid = any($1::oid[])
"""

log = structlog.get_logger("kasuwa")


async def show(dsn: str, part: int) -> None:
    """Hold a part's lock, and take it again after every lost connection."""
    while True:
        try:
            await hold(dsn, part)
        except Exception as error:
            log.debug("presence lost", error=type(error).__name__)
        await asyncio.sleep(LOOK_SECONDS)


async def hold(dsn: str, part: int) -> None:
    """Hold a part's lock until its connection is lost. One that is open and answers nothing is lost too: the server
    may have ended it long ago."""
    connection = await pool.connect_as_owner(dsn, {"application_name": "kasuwa presence"})
    try:
        await connection.execute("select pg_advisory_lock_shared($1)", part)
        asked_at = time.monotonic()
        while not connection.is_closed():
            await asyncio.sleep(LOOK_SECONDS)
            if time.monotonic() - asked_at > ASK_SECONDS:
                await connection.fetchval("select 1")
                asked_at = time.monotonic()
    finally:
        connection.terminate()


async def show_when_listening(host: str, port: int, dsn: str) -> None:
    """The console is there once it answers."""
    while True:
        with contextlib.suppress(OSError):
            _, door = await asyncio.open_connection(host, port)
            door.close()
            await show(dsn, CONSOLE)
        await asyncio.sleep(LISTENING_SECONDS)


async def who_is_there(connection: Connection) -> set[int]:
    return {record[0] for record in await connection.fetch(PRESENT, [WORKER, CONSOLE])}
