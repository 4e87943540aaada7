"""How a process reaches an owner: over a Unix socket on its own host, encrypted over TCP on another one."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from kasuwa.owners.frames import FrameConnection
from kasuwa.owners.handshake import PeerSecret
from kasuwa.owners.peers import Peer
from kasuwa.owners.secure_channel import SecureChannel

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
    """Connects to a process of another host. `on_refused(reason)` is called if it is not one of ours."""

    retry_seconds = 0.5

    def __init__(self, peer: Peer, secret: PeerSecret, on_refused: Callable[[str], None]) -> None:
        self._secret = secret
        self._endpoint = peer.endpoint
        self._on_refused = on_refused
        self.greeting = peer.greeting
        self.peer = peer.address

    async def connect(self, make_connection: Callable[[], FrameConnection]) -> None:
        def make_channel() -> SecureChannel:
            return SecureChannel(make_connection(), self._secret, is_caller=True, on_refused=self._on_refused)

        host, port = self._endpoint
        # Raises TimeoutError, which is an OSError, if the other host does not answer.
        async with asyncio.timeout(CONNECT_SECONDS):
            await asyncio.get_running_loop().create_connection(make_channel, host, port)
