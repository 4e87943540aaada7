"""Accepts the connections of other hosts by TLS, and authenticates them."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import structlog

from kasuwa.cluster import certificates
from kasuwa.cluster.certificates import PeerCertificates, list_names, name_refusal, plain_name
from kasuwa.observe.metrics import PEER_REFUSED, Metrics

# Connections that may be waiting to be authenticated at a time. Further ones are closed at once.
MAX_UNAUTHENTICATED = 64
# A host that has just started may call before this process has read its row. It is refused after this time.
UNKNOWN_SECONDS = 5.0
# The pause after a connection could not be accepted, such as for want of descriptors.
PAUSE_SECONDS = 0.5
# Refusals are all counted, and logged once in this time.
LOG_SECONDS = 60.0

log = structlog.get_logger("kasuwa.cluster")


class AcceptedConnection(Protocol):
    """The connection of another host. Nothing is sent or read before `greet`."""

    is_closed: bool

    def greet(self) -> None: ...

    def abort(self) -> None: ...


class PeerListener:
    """Listens for processes of other hosts. `greeting` is what each is sent first."""

    def __init__(self, endpoint: tuple[str, int], trusted: PeerCertificates, greeting: bytes, metrics: Metrics) -> None:
        self.greeting = greeting
        self._endpoint = endpoint
        self._certificates = trusted
        self._metrics = metrics
        self._hosts: frozenset[str] = frozenset()
        self._hosts_changed = asyncio.Event()
        self._sockets: list[socket.socket] = []
        self._accepting: list[asyncio.Task[None]] = []
        self._waiting: set[asyncio.Task[None]] = set()
        self._logged_at = -LOG_SECONDS

    @property
    def port(self) -> int:
        return int(self._sockets[0].getsockname()[1])

    async def start(self, make_connection: Callable[[], Any]) -> None:
        """Listens. `make_connection` makes the protocol of a connection, which is an AcceptedConnection."""
        loop = asyncio.get_running_loop()
        host, port = self._endpoint
        entries = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, address in dict.fromkeys((entry[0], entry[4][:2]) for entry in entries):
            # The supervisor holds the port with a socket that does not listen: see boot/ports.py.
            listening = socket.create_server(address, family=family, reuse_port=True)
            listening.setblocking(False)
            self._sockets.append(listening)
            self._accepting.append(loop.create_task(self._accept(listening, make_connection)))

    async def _accept(self, listening: socket.socket, make_connection: Callable[[], Any]) -> None:
        """Accepts connections until it is cancelled."""
        loop = asyncio.get_running_loop()
        with listening:
            while True:
                try:
                    accepted, _ = await loop.sock_accept(listening)
                except OSError:
                    await asyncio.sleep(PAUSE_SECONDS)
                    continue
                if len(self._waiting) >= MAX_UNAUTHENTICATED:
                    accepted.close()
                    self.refuse("too many")
                    continue
                task = loop.create_task(self._authenticate(accepted, make_connection))
                self._waiting.add(task)
                task.add_done_callback(self._waiting.discard)

    async def _authenticate(self, accepted: socket.socket, make_connection: Callable[[], Any]) -> None:
        """Greets the caller if it is a host of the table, and hangs up otherwise."""
        connection = make_connection()
        try:
            # The protocol that it returns is that of TLS, with uvloop.
            transport, _ = await asyncio.get_running_loop().connect_accepted_socket(
                lambda: connection,
                accepted,
                ssl=self._certificates.accepting,
                ssl_handshake_timeout=certificates.HANDSHAKE_SECONDS,
                ssl_shutdown_timeout=certificates.HANG_UP_SECONDS,
            )
        except OSError as error:
            self.refuse(name_refusal(error))
            return
        await self._introduce(list_names(transport.get_extra_info("peercert") or {}), connection)

    async def _introduce(self, names: frozenset[str], connection: AcceptedConnection) -> None:
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(UNKNOWN_SECONDS):
                    while names.isdisjoint(self._hosts):
                        await self._hosts_changed.wait()
        except asyncio.CancelledError:
            connection.abort()
            raise
        if connection.is_closed:
            return
        if names.isdisjoint(self._hosts):
            self.refuse("unknown host")
            connection.abort()
        else:
            connection.greet()

    def set_hosts(self, hosts: Iterable[str]) -> None:
        """Sets the hosts of the table of live processes, whose calls are accepted."""
        self._hosts = frozenset(map(plain_name, hosts))
        self._hosts_changed.set()
        self._hosts_changed = asyncio.Event()

    def stop(self) -> None:
        """Accepts no more connections. Those that are authenticated stay open."""
        for task in (*self._accepting, *self._waiting):
            task.cancel()

    def refuse(self, reason: str) -> None:
        self._metrics.count(PEER_REFUSED, "", reason)
        now = time.monotonic()
        if now - self._logged_at >= LOG_SECONDS:
            self._logged_at = now
            log.warning("a connection to the port for other hosts was refused", reason=reason)
