"""The catalogue of bills: kept in memory for those who pull it, and taken anew from the biller rail once a day.

Both run in wall time. Every API process has a shelf, which looks once a second whether there is a newer edition; every
worker has a keeper, and an advisory lock sees to it that one edition is taken however many there are.
"""

import asyncio
import contextlib

import structlog

from kasuwa.core.billers import EMPTY_SHEET, Listing, Unsellable, check_sheet
from kasuwa.db import billers, pool
from kasuwa.db.pool import Connection, Pool
from kasuwa.observe.log import where_it_broke
from kasuwa.rails.ports import BillerRail, NoAnswer, Unavailable

# How far behind the database a shelf may be.
LOOK_SECONDS = 1.0
# How long after it has fallen due an edition is taken at the latest, where the rail answers.
KEEP_SECONDS = 60.0

log = structlog.get_logger("kasuwa.work")


class MemoryShelf:
    def __init__(self, reader: Pool) -> None:
        self._reader = reader
        self.listing = Listing(0, EMPTY_SHEET)

    async def look(self) -> None:
        async with self._reader.acquire() as connection:
            if await billers.newest_edition(connection) != self.listing.edition:
                self.listing = await billers.read_listing(connection)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.look()
            except Exception as error:
                if not pool.is_lost(error):
                    log.error("shelf failed", **where_it_broke(error))


async def take_edition(connection: Connection, rail: BillerRail, *, only_if_due: bool) -> int | None:
    """Take the next edition from the rail; answers its number, or None where the newest is still fresh. The lock is
    the session's, not a transaction's: the rail is called with none open. Raises LockNotAvailableError where somebody
    else has held it for longer than this connection's lock_timeout."""
    await connection.execute("select pg_advisory_lock($1)", billers.LOCK)
    try:
        if only_if_due and await billers.is_fresh(connection):
            return None
        edition = await billers.newest_edition(connection) + 1
        sheet = await rail.catalogue(edition)
        check_sheet(sheet)
        await billers.put_edition(connection, edition, sheet)
        return edition
    finally:
        await connection.execute("select pg_advisory_unlock($1)", billers.LOCK)


class Keeper:
    """A worker's duty: an edition a day. A rail that does not answer, or says what cannot be sold from, leaves
    yesterday's standing."""

    def __init__(self, dsn: str, rail: BillerRail) -> None:
        self._dsn = dsn
        self._rail = rail
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        self._stopping.set()

    async def run(self) -> None:
        while not self._stopping.is_set():
            try:
                await self.run_once()
            except (Unavailable, NoAnswer):
                log.debug("the biller rail has no catalogue to give")
            except Unsellable as error:
                log.error("the biller rail's catalogue is refused", why=str(error))
            except Exception as error:
                if not pool.is_lost(error):
                    log.error("keeper failed", **where_it_broke(error))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(KEEP_SECONDS):
                    await self._stopping.wait()

    async def run_once(self) -> int | None:
        connection = await pool.connect(self._dsn, {"application_name": "kasuwa worker catalogue"})
        try:
            return await take_edition(connection, self._rail, only_if_due=True)
        finally:
            await connection.close()
