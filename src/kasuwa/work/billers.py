"""The catalogue of bills: kept in memory for those who pull it, and taken anew from the biller rail once a day.

Both run in wall time. Every API process has a shelf, which looks once a second whether there is a newer edition; every
worker has a keeper, and an advisory lock sees to it that one edition is taken however many there are.
"""

import asyncio
import contextlib

import structlog

from kasuwa.core.billers import EMPTY_EDITION, Catalogue, InvalidCatalogue, check_edition
from kasuwa.db import billers, connections
from kasuwa.db.connections import Connection, Pool
from kasuwa.observe.log import describe_error
from kasuwa.rails.ports import BillerRail, NoAnswer, Unavailable

# How far behind the database a shelf may be.
POLL_SECONDS = 1.0
# How long after it has fallen due an edition is taken at the latest, where the rail answers.
REFRESH_SECONDS = 60.0

log = structlog.get_logger("kasuwa.work")


class PolledCatalogueCache:
    def __init__(self, reader: Pool) -> None:
        self._reader = reader
        self.catalogue = Catalogue(0, EMPTY_EDITION)

    async def refresh(self) -> None:
        async with self._reader.acquire() as connection:
            if await billers.read_newest_edition(connection) != self.catalogue.edition_number:
                self.catalogue = await billers.read_catalogue(connection)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                await self.refresh()
            except Exception as error:
                if not connections.is_connection_error(error):
                    log.error("shelf failed", **describe_error(error))


async def fetch_edition(connection: Connection, rail: BillerRail, *, only_if_due: bool) -> int | None:
    """Take the next edition from the rail; answers its number, or None where the newest is still fresh. The lock is
    the session's, not a transaction's: the rail is called with none open. Raises LockNotAvailableError where somebody
    else has held it for longer than this connection's lock_timeout."""
    await connection.execute("select pg_advisory_lock($1)", billers.CATALOGUE_LOCK_ID)
    try:
        if only_if_due and await billers.is_edition_fresh(connection):
            return None
        edition = await billers.read_newest_edition(connection) + 1
        sheet = await rail.fetch_catalogue(edition)
        check_edition(sheet)
        await billers.store_edition(connection, edition, sheet)
        return edition
    finally:
        await connection.execute("select pg_advisory_unlock($1)", billers.CATALOGUE_LOCK_ID)


class CatalogueRefresher:
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
            except InvalidCatalogue as error:
                log.error("the biller rail's catalogue is refused", why=str(error))
            except Exception as error:
                if not connections.is_connection_error(error):
                    log.error("keeper failed", **describe_error(error))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(REFRESH_SECONDS):
                    await self._stopping.wait()

    async def run_once(self) -> int | None:
        connection = await connections.connect(self._dsn, {"application_name": "kasuwa worker catalogue"})
        try:
            return await fetch_edition(connection, self._rail, only_if_due=True)
        finally:
            await connection.close()
