"""Keeps a process in touch with the API processes of other hosts: renews its lease, and reads who is live and what
certificate this host has."""

import asyncio
import contextlib
import time

import msgspec
import structlog

from kasuwa.cluster import api_processes
from kasuwa.cluster.api_processes import ApiProcess
from kasuwa.cluster.links import OwnerLinks
from kasuwa.cluster.listener import OwnerListener
from kasuwa.cluster.peers import Peer, PeerHost, make_greeting, split_address
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connection_pool import QueryRunner
from kasuwa.postgres.polling import Polling

RENEW_SECONDS = 1.0
# A database that does not answer does not hold up the stop of a process. Its lease ends soon.
END_SECONDS = 1.0

log = structlog.get_logger("kasuwa.cluster")


def list_peers(live: list[ApiProcess], host: PeerHost) -> list[Peer]:
    """Returns the processes of other hosts that speak the protocol of this one."""
    return [
        Peer(process.address, make_greeting(process.host_id, process.protocol, process.address))
        for process in live
        if process.host_id != host.host_id and process.protocol == host.protocol
    ]


class OwnProcess(msgspec.Struct):
    """A process that owns merchants."""

    row: ApiProcess
    listener: OwnerListener


class PeerRegistry(Polling):
    """Runs in every process that has links to owners. `own` is this process, or None if it owns no merchants."""

    def __init__(
        self, database: QueryRunner, links: OwnerLinks, host: PeerHost, own: OwnProcess | None, clock: DatabaseClock
    ) -> None:
        super().__init__()
        self._database = database
        self._links = links
        self._host = host
        self._own = own
        self._clock = clock
        self._refused_at: float | None = None
        self._has_warned = False
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        step = self.repeat(self.refresh, RENEW_SECONDS, "the table of live API processes was not read")
        self._running = asyncio.get_running_loop().create_task(step)

    async def refresh(self) -> None:
        """Renews the lease of this process, and connects to those that are live."""
        self._reload_certificates()
        if self._own is not None:
            skew = round(self._clock.skew_seconds * 1000)
            self._own.row = msgspec.structs.replace(self._own.row, clock_skew_ms=skew)
            self._report_address(await api_processes.renew(self._database, self._own.row))
            await api_processes.delete_old(self._database)
        live = await api_processes.list_live(self._database)
        if self._own is not None and self._own.listener.peers is not None:
            self._own.listener.peers.set_hosts(split_address(process.address)[0] for process in live)
        self._links.set_peers(list_peers(live, self._host))

    def _reload_certificates(self) -> None:
        """Takes up files that were renewed. Connections by those before end when all is answered, and are made again.
        So the files of one host after the other can be replaced while all of them serve."""
        certificates = self._host.certificates
        before = certificates.trouble
        if not certificates.reload():
            if certificates.trouble not in ("", before):
                why = certificates.trouble
                log.warning("changed certificates for other hosts cannot be used: those before stay", why=why)
            return
        log.info("the certificates for other hosts were read again")
        self._links.leave_peers()
        if self._own is not None:
            self._own.listener.dismiss_peers()

    def _report_address(self, has_address: bool) -> None:
        """Logs if another host has the address of this one. One that was killed has it until its lease ends."""
        now = time.monotonic()
        if has_address:
            self._refused_at, self._has_warned = None, False
            return
        self._refused_at = self._refused_at or now
        if now - self._refused_at > 2 * api_processes.LEASE_SECONDS and not self._has_warned and self._own is not None:
            self._has_warned = True
            log.warning("another live host has the address of this one", address=self._own.row.address)

    async def close(self) -> None:
        """Ends the lease, so that other hosts look for this process no more."""
        self.stop()
        with contextlib.suppress(Exception):  # the lease ends by itself
            async with asyncio.timeout(END_SECONDS):
                if self._running is not None:
                    await self._running
                if self._own is not None:
                    await api_processes.end(self._database, self._own.row)
