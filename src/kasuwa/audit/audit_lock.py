"""Advisory lock of the check of all books: only one process of a deployment runs it at a time."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kasuwa.postgres.advisory_locks import AdvisoryLock
from kasuwa.postgres.connection_pool import Connection


@asynccontextmanager
async def audit_lock(connection: Connection) -> AsyncIterator[bool]:
    """Yields whether the lock was free. Releases it at the end of the block, or closes the connection if that fails."""
    is_free = bool(await connection.fetchval("select pg_try_advisory_lock($1)", AdvisoryLock.AUDIT))
    try:
        yield is_free
    finally:
        if is_free:
            try:
                await connection.execute("select pg_advisory_unlock($1)", AdvisoryLock.AUDIT)
            except BaseException:
                connection.terminate()
                raise
