"""The HTTP/1.1 server of the API and of the metrics. It runs on the event loop of its application.

A server with threads of its own would hand each request over to the event loop and back, and wait for the interpreter's
lock each time while the loop decides a batch.
"""

import asyncio
import socket
from email.utils import formatdate

from kasuwa.http.connection import Connection, HttpLimits
from kasuwa.http.exchange import HttpApplication

# Connections that the system accepts before the server does.
BACKLOG = 2048
# The most that a connection receives at once. More than that of a request which waits is left in the system's buffer.
RECEIVE_BYTES = 64 * 1024
# At the end, the server waits this long until the last replies are sent.
FLUSH_SECONDS = 1.0
# Files that a process has open besides connections of this server.
RESERVED_FILES = 256


class HttpServer:
    """Serves an application on a listening socket, from `start` on until `stop` and `close`."""

    def __init__(self, application: HttpApplication, listener: socket.socket, limits: HttpLimits) -> None:
        self.application = application
        self.limits = limits
        self.loop = asyncio.get_running_loop()
        self.buffer = memoryview(bytearray(RECEIVE_BYTES))
        self.date = formatdate(usegmt=True)
        self.is_stopping = False
        self._listener = listener
        self._connections: set[Connection] = set()
        self._acceptor: asyncio.Server | None = None  # None while no connection is accepted
        self._starting: asyncio.Task[None] | None = None
        self._checking: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        await self._start_accepting()
        self._check()

    def stop(self) -> None:
        """Stops accepting and closes idle connections. Requests in progress are answered, and then their connections
        are closed."""
        self.is_stopping = True
        self._stop_accepting()
        self._listener.close()
        for connection in tuple(self._connections):
            connection.stop()

    async def close(self) -> None:
        """Waits until what was written is sent, at most FLUSH_SECONDS, and ends all connections. Call `stop` before."""
        until = self.loop.time() + FLUSH_SECONDS
        while any(connection.has_unsent for connection in self._connections) and self.loop.time() < until:
            await asyncio.sleep(0.01)
        if self._checking is not None:
            self._checking.cancel()
        for connection in tuple(self._connections):
            connection.abort()
        await asyncio.sleep(0)

    def add(self, connection: Connection) -> None:
        self._connections.add(connection)
        if self.is_stopping:
            connection.stop()
        elif len(self._connections) >= self.limits.connections:
            self._stop_accepting()

    def forget(self, connection: Connection) -> None:
        self._connections.discard(connection)
        is_free = len(self._connections) < self.limits.connections
        if is_free and self._acceptor is None and self._starting is None and not self.is_stopping:
            self._starting = self.loop.create_task(self._start_accepting())

    async def _start_accepting(self) -> None:
        """Accepts on a copy of the listening socket. While there are too many connections the copy is closed, and new
        ones wait in the backlog of the socket itself."""
        self._acceptor = await self.loop.create_server(
            lambda: Connection(self), sock=self._listener.dup(), backlog=BACKLOG
        )
        self._starting = None
        if self.is_stopping:
            self._stop_accepting()

    def _stop_accepting(self) -> None:
        if self._acceptor is not None:
            self._acceptor.close()
            self._acceptor = None

    def _check(self) -> None:
        """Once a second: makes the date anew and closes connections whose deadline has passed."""
        self.date = formatdate(usegmt=True)
        now = self.loop.time()
        for connection in tuple(self._connections):
            connection.check(now)
        self._checking = self.loop.call_later(self.limits.check_seconds, self._check)


def open_files_limit() -> int | None:
    """Returns how many files the process may have open, or None if that is not limited or not known."""
    try:
        import resource
    except ImportError:  # there is none for Windows
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def connections_within(files: int | None, most: int) -> int:
    """Returns how many connections may be open, so that files are left for the rest of the process."""
    return most if files is None else max(1, min(most, files - RESERVED_FILES))
