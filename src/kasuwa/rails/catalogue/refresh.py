"""The catalogue of bills: a cache in memory for requests, and its daily refresh from the biller rail.

Both run in wall time. Every API process has a PolledCatalogueCache, which checks once a second for a newer edition.
Every worker has a CatalogueRefresher. An advisory lock makes sure that only one of them fetches an edition.
"""

import asyncio

import structlog

from kasuwa.observe.log import describe_error
from kasuwa.postgres import connections
from kasuwa.postgres.advisory_locks import AdvisoryLock
from kasuwa.postgres.connection_pool import Connection, Pool
from kasuwa.postgres.polling import Polling
from kasuwa.rails.catalogue import editions
from kasuwa.rails.catalogue.catalogue import EMPTY_EDITION, Catalogue, InvalidCatalogue, check_edition
from kasuwa.rails.ports.orders import BillerRail, NoAnswer, Unavailable

# How far behind the database a cache may be.
POLL_SECONDS = 1.0
# How often a refresher checks whether a new edition is due.
REFRESH_SECONDS = 60.0

log = structlog.get_logger("kasuwa.rails")


class PolledCatalogueCache:
    def __init__(self, reader: Pool) -> None:
        self._reader = reader
        self.catalogue = Catalogue(0, EMPTY_EDITION)

    async def refresh(self) -> None:
        async with self._reader.acquire() as connection:
            if await editions.read_newest_edition(connection) != self.catalogue.edition_number:
                self.catalogue = await editions.read_catalogue(connection)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                await self.refresh()
            except Exception as error:
                if not connections.is_connection_error(error):
                    log.error("catalogue cache failed", **describe_error(error))


async def fetch_edition(connection: Connection, rail: BillerRail, *, only_if_due: bool) -> int | None:
    """Fetches the next edition from the rail. Returns its number, or None if the newest is still fresh.

    The lock belongs to the session, so that the rail is called without an open transaction. Raises
    LockNotAvailableError if another session holds the lock for longer than this connection's lock_timeout."""
    await connection.execute("select pg_advisory_lock($1)", AdvisoryLock.CATALOGUE)
    try:
        if only_if_due and await editions.is_edition_fresh(connection):
            return None
        number = await editions.read_newest_edition(connection) + 1
        edition = await rail.fetch_catalogue(number)
        check_edition(edition)
        await editions.store_edition(connection, number, edition)
        return number
    finally:
        await connection.execute("select pg_advisory_unlock($1)", AdvisoryLock.CATALOGUE)


class CatalogueRefresher(Polling):
    """Fetches an edition a day. If the rail does not answer, or its catalogue is invalid, the last edition stays."""

    def __init__(self, dsn: str, rail: BillerRail) -> None:
        super().__init__()
        self._dsn = dsn
        self._rail = rail

    async def run(self) -> None:
        await self.repeat(self._refresh, REFRESH_SECONDS, "catalogue refresh failed")

    async def _refresh(self) -> None:
        try:
            await self.run_once()
        except (Unavailable, NoAnswer):
            log.debug("the biller rail has no catalogue to give")
        except InvalidCatalogue as error:
            log.error("the biller rail's catalogue is refused", why=str(error))

    async def run_once(self) -> int | None:
        connection = await connections.connect(self._dsn, {"application_name": "kasuwa worker catalogue"})
        try:
            return await fetch_edition(connection, self._rail, only_if_due=True)
        finally:
            await connection.close()
