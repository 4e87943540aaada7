"""Accepts the connections of other hosts, by TCP, and authenticates them."""

import asyncio
import time
from collections.abc import Callable

import structlog

from kasuwa.observe.metrics import PEER_REFUSED, Metrics
from kasuwa.owners.handshake import PeerSecret
from kasuwa.owners.secure_channel import SecureChannel

# Connections that may be waiting for their handshake at a time. Further ones are closed at once.
MAX_UNAUTHENTICATED = 64
# Refusals are all counted, and logged once in this time.
LOG_SECONDS = 60.0

log = structlog.get_logger("kasuwa.owners")


class PeerListener:
    """Listens for processes of other hosts. `greeting` is what each is sent first."""

    def __init__(self, endpoint: tuple[str, int], secret: PeerSecret, greeting: bytes, metrics: Metrics) -> None:
        self.greeting = greeting
        self._endpoint = endpoint
        self._secret = secret
        self._metrics = metrics
        self._server: asyncio.Server | None = None
        self._waiting: set[SecureChannel] = set()
        self._logged_at = -LOG_SECONDS

    async def start(self, make_connection: Callable[[], asyncio.Protocol]) -> None:
        host, port = self._endpoint
        # The supervisor holds the port with a socket that does not listen: see ports.py.
        self._server = await asyncio.get_running_loop().create_server(
            lambda: AcceptedChannel(self, make_connection(), self._secret), host, port, reuse_port=True
        )

    def stop(self) -> None:
        """Accepts no more connections. Those that are authenticated stay open."""
        if self._server is not None:
            self._server.close()
        for channel in list(self._waiting):
            channel.abort()

    def admit(self, channel: SecureChannel) -> bool:
        """Returns whether there is room for a connection that is not authenticated yet."""
        if len(self._waiting) >= MAX_UNAUTHENTICATED:
            self.refuse("too many")
            return False
        self._waiting.add(channel)
        return True

    def forget(self, channel: SecureChannel) -> None:
        """Called when a connection is authenticated or has ended."""
        self._waiting.discard(channel)

    def refuse(self, reason: str) -> None:
        self._metrics.count(PEER_REFUSED, "", reason)
        now = time.monotonic()
        if now - self._logged_at >= LOG_SECONDS:
            self._logged_at = now
            log.warning("a connection to the port for other hosts was refused", reason=reason)


class AcceptedChannel(SecureChannel):
    """A connection that another host has opened."""

    def __init__(self, listener: PeerListener, inner: asyncio.Protocol, secret: PeerSecret) -> None:
        super().__init__(inner, secret, is_caller=False, on_refused=listener.refuse)
        self._listener = listener

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if not self._listener.admit(self):
            self.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._listener.forget(self)
        super().connection_lost(error)

    def on_authenticated(self) -> None:
        self._listener.forget(self)
