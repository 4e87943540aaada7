"""Watches rails: publishes what this process knows of its vendors, and reads our balances with them.

Every process that calls vendors has a RailWatch. Every worker has a BalanceReader; an advisory lock makes sure that
only one of them reads at a time. A deployment without vendors has neither.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

import asyncpg
import structlog

from kasuwa.core.routing import AccountAlias
from kasuwa.observe.log import describe_error
from kasuwa.postgres import connections
from kasuwa.postgres.advisory_locks import AdvisoryLock
from kasuwa.postgres.connection_pool import Connection, Pool
from kasuwa.rails.ports.orders import FundedRail, NoAnswer, Unavailable
from kasuwa.rails.watch import records, vendor_accounts
from kasuwa.rails.watch.call_timings import CallTimings, store_timings
from kasuwa.rails.watch.records import RailHealth

# How often a process publishes the state of its vendors, and reads the balances.
WATCH_SECONDS = 5.0
# How long reading one balance may take.
READ_SECONDS = 15.0

log = structlog.get_logger("kasuwa.rails")

Balances = Mapping[tuple[str, str], int]


async def repeat(work: Callable[[], Awaitable[object]], seconds: float, failure: str) -> None:
    """Runs work again and again until it is cancelled. Logs errors, except those of a database that is away."""
    while True:
        try:
            await work()
        except Exception as error:
            if not connections.is_connection_error(error):
                log.error(failure, **describe_error(error))
        await asyncio.sleep(seconds)


class SharedAccounts(Protocol):
    """Our accounts with vendors, as this process knows them. Implemented by rails/routing/vendor_accounts.py."""

    @property
    def own(self) -> Mapping[str, str]: ...

    def take_learned(self) -> list[AccountAlias]: ...

    def update(self, aliases: Sequence[AccountAlias]) -> None: ...


async def share_accounts(connection: Connection, accounts: SharedAccounts) -> None:
    """Writes which accounts this process uses and what it has found out of them, and reads what others have."""
    await vendor_accounts.record_use(connection, accounts.own)
    await vendor_accounts.add_aliases(connection, accounts.take_learned())
    accounts.update(await vendor_accounts.list_aliases(connection))


class RailWatch:
    """Publishes the state of the vendors of this process, how long their calls took, and its accounts with them, and
    passes on the balances that a worker has read."""

    def __init__(
        self,
        pool: Pool,
        read_states: Callable[[], Sequence[RailHealth]],
        use_balances: Callable[[Balances], None],
        accounts: SharedAccounts | None = None,
        list_timings: Callable[[], Sequence[CallTimings]] = tuple,
    ) -> None:
        self._pool = pool
        self._read_states = read_states
        self._use_balances = use_balances
        self._accounts = accounts
        self._list_timings = list_timings
        self._read_at: dict[tuple[str, str], datetime] = {}

    async def run(self) -> None:
        await repeat(self.run_once, WATCH_SECONDS, "watching rails failed")

    async def run_once(self) -> None:
        async with self._pool.acquire() as connection:
            await records.store_health(connection, self._read_states())
            for timings in self._list_timings():
                await store_timings(connection, timings)
            balances = await records.list_balances(connection)
            if self._accounts is not None:
                await share_accounts(connection, self._accounts)
        # Each reading is passed on once: later ones of this process would undo what it has subtracted since.
        new = [row for row in balances if self._read_at.get((row.rail, row.currency)) != row.read_at]
        self._read_at.update({(row.rail, row.currency): row.read_at for row in new})
        if new:
            self._use_balances({(row.rail, row.currency): row.amount for row in new})


class BalanceReader:
    """Reads our balances with vendors from time to time. A vendor that does not answer keeps the balance read last."""

    def __init__(
        self,
        dsn: str,
        rails: Mapping[str, FundedRail],
        least: Mapping[str, int],
        seconds: float,
        on_read: Callable[[str, bool, float], None] = lambda *_: None,
    ) -> None:
        self._dsn = dsn
        self._rails = rails
        self._least = least
        self._seconds = seconds
        self._on_read = on_read

    async def run(self) -> None:
        await repeat(self.run_once, self._seconds, "reading balances failed")

    async def run_once(self) -> bool:
        """Reads all balances, unless another worker reads them now or did so a moment ago. Returns whether it did."""
        connection = await connections.connect(self._dsn, {"application_name": "kasuwa worker balances"})
        try:
            if not await connection.fetchval("select pg_try_advisory_lock($1)", AdvisoryLock.BALANCES):
                return False
            if await connection.fetchval(records.ARE_BALANCES_FRESH, self._seconds / 2):
                return False
            for name, rail in self._rails.items():
                await self._read(connection, name, rail)
            await connection.execute(records.DELETE_OTHER_BALANCES, list(self._rails))
            return True
        finally:
            await connection.close()

    async def _read(self, connection: Connection, name: str, rail: FundedRail) -> None:
        began = asyncio.get_running_loop().time()
        answered = False
        try:
            async with asyncio.timeout(READ_SECONDS):
                balances = await rail.balance()
            answered = True
        except (Unavailable, NoAnswer, TimeoutError) as error:
            log.warning("a balance could not be read", rail=name, trouble=type(error).__name__)
        else:
            with contextlib.suppress(asyncpg.NumericValueOutOfRangeError):
                await records.store_balances(connection, name, balances, self._least)
        self._on_read(name, answered, asyncio.get_running_loop().time() - began)
