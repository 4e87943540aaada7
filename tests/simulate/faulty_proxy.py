"""A proxy in front of PostgreSQL, or of a port, that can be made to fail. Connections stay open while it forwards,
delays or drops data.

    passing      forwards both ways
    deaf         drops what the server sends: a request arrives, its answer does not
    mute         drops what the client sends: the request never arrives
    frozen       holds everything back; nothing is lost, and it is forwarded later
    refusing     closes open connections, and new ones at once
"""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Self

from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.embedded.directory import PORT, socket_directory
from tests.simulate.processes import READY_SECONDS

CHUNK = 65536


class FaultyProxy:
    """A TCP address that forwards to the socket of a cluster. Its `state` may be set at any time, from any thread."""

    def __init__(self, cluster: embedded.Cluster | None, port: int = 0) -> None:
        self._inside = "" if cluster is None else str(socket_directory(cluster.directory) / f".s.PGSQL.{PORT}")
        self._state = "passing"
        self._port = port
        self._open: set[asyncio.StreamWriter] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def dsn(self) -> str:
        return f"postgresql://kasuwa@127.0.0.1:{self._port}/kasuwa?sslmode=disable"

    @property
    def state(self) -> str:
        return self._state

    @state.setter
    def state(self, state: str) -> None:
        self._state = state
        if state == "refusing" and self._loop is not None:
            self._loop.call_soon_threadsafe(self._cut)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_unix_connection(self._inside)

    def _cut(self) -> None:
        for writer in self._open:
            writer.transport.abort()

    async def _let_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._state == "refusing":
            writer.transport.abort()
            return
        try:
            answers, requests = await self._connect()
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, requests}
        try:
            await asyncio.gather(self._carry(reader, requests, "mute"), self._carry(answers, writer, "deaf"))
        finally:
            self._open -= {writer, requests}

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, losing: str) -> None:
        with contextlib.suppress(OSError):
            while chunk := await reader.read(CHUNK):
                while self._state == "frozen":
                    await asyncio.sleep(0.005)
                if self._state != losing:
                    writer.write(chunk)
        with contextlib.suppress(OSError, RuntimeError):
            writer.close()

    @contextlib.asynccontextmanager
    async def open(self):  # type: ignore[no-untyped-def]
        """Listens within the running event loop."""
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._let_in, "127.0.0.1", self._port)
        self._port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            self._cut()

    @contextlib.contextmanager
    def open_in_thread(self) -> Iterator[Self]:
        """Listens in a thread of its own, for processes that a test starts."""
        listening, over = threading.Event(), threading.Event()

        async def listen() -> None:
            async with self.open():
                listening.set()
                while not over.is_set():
                    await asyncio.sleep(0.02)

        thread = threading.Thread(target=lambda: asyncio.run(listen()), daemon=True)
        thread.start()
        assert listening.wait(READY_SECONDS)
        try:
            yield self
        finally:
            over.set()
            thread.join(READY_SECONDS)


class PortProxy(FaultyProxy):
    """A port of this machine that forwards to another one."""

    def __init__(self, port: int, target: int) -> None:
        super().__init__(None, port)
        self._target = target

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self._target)
