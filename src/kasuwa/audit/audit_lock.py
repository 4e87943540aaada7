"""Advisory lock of the check of all books: only one runs at a time in a deployment, in whichever process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kasuwa.postgres.connection_pool import Connection

# An arbitrary number that no other advisory lock of this database has.
AUDIT_LOCK = 7_301_447


@asynccontextmanager
async def audit_lock(connection: Connection) -> AsyncIterator[bool]:
    """Yields whether the lock was free. Releases it at the end of the block, or closes the connection if that fails."""
    is_free = bool(await connection.fetchval("select pg_try_advisory_lock($1)", AUDIT_LOCK))
    try:
        yield is_free
    finally:
        if is_free:
            try:
                await connection.execute("select pg_advisory_unlock($1)", AUDIT_LOCK)
            except BaseException:
                connection.terminate()
                raise
