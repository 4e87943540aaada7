"""A TCP proxy between a service and its PostgreSQL that can be cut and mended.

It runs in a thread of its own, so that it serves a service in another process and a test that blocks alike. While it
is cut, every connection through it is reset and new ones are refused. What passes it can be delayed, so that a cut
meets requests at every step of theirs.
"""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from urllib.parse import parse_qs, unquote, urlsplit

CHUNK = 64 * 1024


class DatabaseProxy:
    def __init__(self, dsn: str) -> None:
        self.delay_seconds = 0.0
        address = urlsplit(dsn)
        query = parse_qs(address.query)
        self._target = f"{query['host'][0]}/.s.PGSQL.{query['port'][0]}"
        self._database = unquote(address.path).lstrip("/")
        self._loop = asyncio.new_event_loop()
        self._ends: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._port = 0
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def dsn(self) -> str:
        """The address by which the database is reached through the proxy."""
        return f"postgresql://kasuwa@127.0.0.1:{self._port}/{self._database}"

    def __enter__(self) -> "DatabaseProxy":
        self._thread.start()
        self.restore()
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def restore(self) -> None:
        asyncio.run_coroutine_threadsafe(self._restore(), self._loop).result()

    def cut(self) -> None:
        """Returns when no byte passes any more."""
        asyncio.run_coroutine_threadsafe(self._cut(), self._loop).result()

    async def _restore(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._carry, "127.0.0.1", self._port)
            self._port = self._server.sockets[0].getsockname()[1]

    async def _cut(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for end in list(self._ends):
            end.transport.abort()
        await asyncio.sleep(0)

    async def _carry(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        with self._known(to_client):
            try:
                from_server, to_server = await asyncio.open_unix_connection(self._target)
            except OSError:
                return
            with self._known(to_server):
                await asyncio.gather(self._pass(from_client, to_server), self._pass(from_server, to_client))

    @contextlib.contextmanager
    def _known(self, end: asyncio.StreamWriter) -> Iterator[None]:
        self._ends.add(end)
        try:
            yield
        finally:
            self._ends.discard(end)
            end.close()

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while chunk := await source.read(CHUNK):
                await asyncio.sleep(self.delay_seconds)
                target.write(chunk)
                await target.drain()
        target.transport.abort()
