"""The owner's side: answers the questions that other processes send about its merchants.

Processes of this host connect to a Unix socket. Those of other hosts connect by TLS and are authenticated
(peer_listener.py).
"""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import structlog

from kasuwa.cluster.frames import ANSWER, DECLINED, FAILED, GOODBYE, HELLO, PING, PONG, FrameConnection
from kasuwa.cluster.peer_listener import PeerListener
from kasuwa.observe.log import describe_error

# At shutdown, how long to wait for questions in flight; and, if there are none, for the others to hang up.
DRAIN_SECONDS = 15.0
HANG_UP_SECONDS = 2.0
POLL_SECONDS = 0.02

log = structlog.get_logger("kasuwa.cluster")


class Inquiry:
    """A question that is being answered. Exactly one of the methods is called, once."""

    __slots__ = ("_connection", "_listener", "_number")

    def __init__(self, listener: "OwnerListener", connection: FrameConnection, number: int) -> None:
        self._listener = listener
        self._connection = connection
        self._number = number

    def answer(self, payload: bytes) -> None:
        self._end(ANSWER, payload)

    def decline(self) -> None:
        """Tells the other process that nothing was done: it decides itself."""
        self._end(DECLINED)

    def fail(self) -> None:
        """Tells the other process that the question may have been carried out, and that there is no answer."""
        self._end(FAILED)

    def _end(self, kind: int, payload: bytes = b"") -> None:
        self._listener.in_flight -= 1
        self._connection.send(kind, self._number, payload)


# Begins to answer a question. Called in the order in which questions arrived. If it raises, nothing was done.
AnswerQuestion = Callable[[bytes, Inquiry], None]


class OwnerListener:
    """Listens on a Unix socket that only this user can open, and with `peers` for other hosts. `handlers` are by kind
    of question."""

    def __init__(self, path: Path, handlers: Mapping[int, AnswerQuestion], peers: PeerListener | None = None) -> None:
        self._path = path
        self._handlers = handlers
        self.peers = peers
        self._server: asyncio.Server | None = None
        self._connections: set[FrameConnection] = set()
        self.in_flight = 0

    async def start(self) -> None:
        self._path.unlink(missing_ok=True)  # left behind by a process that was killed
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(partial(GreetingConnection, self), str(self._path))
        os.chmod(self._path, 0o600)
        if self.peers is not None:
            await self.peers.start(partial(PeerConnection, self, self.peers.greeting))

    def greet(self, connection: FrameConnection, greeting: bytes) -> None:
        self._connections.add(connection)
        connection.send(HELLO, payload=greeting)

    def forget(self, connection: FrameConnection) -> None:
        self._connections.discard(connection)

    def receive(self, connection: FrameConnection, kind: int, number: int, payload: bytes) -> None:
        if connection not in self._connections:
            connection.abort()  # it was not greeted
            return
        if kind == PING:
            connection.send(PONG)
            return
        inquiry = Inquiry(self, connection, number)
        self.in_flight += 1
        try:
            self._handlers[kind](payload, inquiry)
        except Exception as error:
            log.error("a question of another process was declined", kind=kind, **describe_error(error))
            inquiry.decline()

    def say_goodbye(self) -> None:
        """Tells the other processes to send nothing more. What they have sent is still answered."""
        if self._server is None:
            return
        self._server.close()
        if self.peers is not None:
            self.peers.stop()
        self._path.unlink(missing_ok=True)
        for connection in self._connections:
            connection.send(GOODBYE)

    def dismiss_peers(self) -> None:
        """Tells processes of other hosts to connect again. What they have sent is still answered."""
        for connection in self._connections:
            if isinstance(connection, PeerConnection):
                connection.send(GOODBYE)

    async def drain(self) -> None:
        """Waits until all questions are answered and the others have hung up. Call say_goodbye first."""
        began = time.monotonic()
        while self._connections and time.monotonic() - began < (DRAIN_SECONDS if self.in_flight else HANG_UP_SECONDS):
            await asyncio.sleep(POLL_SECONDS)
        for connection in list(self._connections):
            connection.close()


class GreetingConnection(FrameConnection):
    """An accepted connection. It begins with a HELLO."""

    def __init__(self, listener: OwnerListener, greeting: bytes = b"") -> None:
        super().__init__(listener.receive, listener.forget)
        self._listener = listener
        self._greeting = greeting

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.greet()

    def greet(self) -> None:
        self._listener.greet(self, self._greeting)


class PeerConnection(GreetingConnection):
    """An accepted connection of another host. It is greeted when the host is known."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        FrameConnection.connection_made(self, transport)
