"""How a process reaches an owner: over a Unix socket on its own host, by TLS on another one."""

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from kasuwa.cluster.certificates import HANG_UP_SECONDS, PeerCertificates, name_refusal
from kasuwa.cluster.frames import FrameConnection
from kasuwa.cluster.peers import Peer

CONNECT_SECONDS = 3.0


class Dialer(Protocol):
    """Connects to one API process."""

    retry_seconds: float  # the pause before the next attempt
    greeting: bytes  # what the process says first
    peer: str  # the address of a process of another host, or ""

    async def connect(self, make_connection: Callable[[], FrameConnection]) -> None:
        """Connects, or raises OSError. Its `connection_lost` is called when it ends."""


class LocalDialer:
    """Connects to a process of this host."""

    retry_seconds = 0.1
    greeting = b""
    peer = ""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def connect(self, make_connection: Callable[[], FrameConnection]) -> None:
        await asyncio.get_running_loop().create_unix_connection(make_connection, str(self._path))


class PeerDialer:
    """Connects to a process of another host. `on_refused(reason)` is called if it is another one, or none of ours."""

    retry_seconds = 0.5

    def __init__(self, peer: Peer, certificates: PeerCertificates, on_refused: Callable[[str], None]) -> None:
        self._certificates = certificates
        self._endpoint = peer.endpoint
        self._on_refused = on_refused
        self.greeting = peer.greeting
        self.peer = peer.address

    async def connect(self, make_connection: Callable[[], FrameConnection]) -> None:
        host, port = self._endpoint
        try:
            # Raises TimeoutError, which is an OSError, if the other host does not answer.
            async with asyncio.timeout(CONNECT_SECONDS):
                await asyncio.get_running_loop().create_connection(
                    make_connection,
                    host,
                    port,
                    ssl=self._certificates.calling,
                    server_hostname=host,
                    ssl_handshake_timeout=CONNECT_SECONDS,
                    ssl_shutdown_timeout=HANG_UP_SECONDS,
                )
        except (ssl.SSLError, ConnectionResetError, ConnectionAbortedError) as error:
            self._on_refused(name_refusal(error))
            raise
