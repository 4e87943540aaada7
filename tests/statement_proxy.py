"""A proxy between a service and its PostgreSQL by which a test takes conditions on the merchant out of statements.

It changes the statements of connections that read for replies and pages, which it knows by the name that these give
themselves. Each condition on the merchant gets a number, and an alternative:

    (merchant_id = $1 or exists (… an advisory lock with this number …))

While a test holds the lock, the condition does not apply. So it is taken away and put back without a new connection,
although statements are prepared once. The proxy can also connect the reader as another login.
"""

import asyncio
import contextlib
import re
import struct
import threading
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from kasuwa.postgres.logins import READER_LOGIN

PARSE, BIND = b"P", b"B"
# Connections that read what replies and pages show.
READERS = ("kasuwa lists", "kasuwa console")
# Those of look-ups by key, which also find the merchant who sends a request: only statements of a batch are changed.
LOOKUPS = "kasuwa reader"
OF_BATCH = b"u.merchant"
CONDITION = re.compile(
    rb"(?:\b\w+\.)?\bmerchant_id = (?:\$[0-9]+|u\.merchant\b|\w+\.merchant_id\b)|\$[0-9]+ = (?:\w+\.)?merchant_id\b"
    rb"|\bmid (?:=|is not distinct from) \$[0-9]+"
    # Keys of rows contain their merchant.
    rb"|\bkey = any\(array\(select substr\(.*? n\)\)"
)
# The first number of the advisory locks.
LOCK_CLASS = 20_190
WITHOUT = (
    b"(%b or exists (select 1 from pg_catalog.pg_locks where locktype = 'advisory' and classid = %d and objid = %d))"
)


class Statement(NamedTuple):
    """A statement that a reader sent, and the numbers of its conditions on the merchant."""

    text: str
    conditions: tuple[int, ...]


class StatementProxy:
    """Run by a thread of its own.

    `used` has the statements that readers executed since it was cleared, `executions` the text of each execution.
    """

    def __init__(self, dsn: str) -> None:
        address = urlsplit(dsn)
        query = parse_qs(address.query)
        self.used: dict[str, Statement] = {}
        self.executions: list[str] = []
        self._known: dict[bytes, tuple[Statement, bytes]] = {}
        self._conditions = 0
        self.reader_login = READER_LOGIN
        self._target = f"{query['host'][0]}/.s.PGSQL.{query['port'][0]}"
        self._database = unquote(address.path).lstrip("/")
        self._loop = asyncio.new_event_loop()
        self._ends: set[asyncio.StreamWriter] = set()
        self._port = 0
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def dsn(self, login: str) -> str:
        return f"postgresql://{login}@127.0.0.1:{self._port}/{self._database}?sslmode=disable"

    def __enter__(self) -> "StatementProxy":
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def connect_reader_as(self, login: str) -> None:
        """Ends all connections. New ones of the reader are made with another login."""
        self.reader_login = login
        asyncio.run_coroutine_threadsafe(self._end_all(), self._loop).result()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        await self._end_all()

    async def _end_all(self) -> None:
        for end in list(self._ends):
            end.transport.abort()
        await asyncio.sleep(0)

    async def _carry(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_unix_connection(self._target)
        self._ends |= {to_client, to_server}
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await asyncio.gather(self._send(from_client, to_server), self._return(from_server, to_client))
        finally:
            self._ends -= {to_client, to_server}
            to_client.close()
            to_server.close()

    async def _return(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while chunk := await source.read(65_536):
            target.write(chunk)
            await target.drain()
        target.transport.abort()

    async def _send(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        try:
            options = await self._pass_startup(source, target)
            reads, looks_up = (options.get("application_name") in names for names in (READERS, (LOOKUPS,)))
            prepared: dict[bytes, Statement] = {}
            while True:
                head = await source.readexactly(5)
                body = await source.readexactly(struct.unpack("!I", head[1:])[0] - 4)
                if head[:1] == PARSE:
                    name, text, rest = body.split(b"\0", 2)
                    if reads or (looks_up and OF_BATCH in text):
                        prepared[name], text = self._change(text)
                        body = b"\0".join((name, text, rest))
                elif head[:1] == BIND and (statement := prepared.get(body.split(b"\0", 2)[1])) is not None:
                    self.used[statement.text] = statement
                    self.executions.append(statement.text)
                target.write(head[:1] + struct.pack("!I", len(body) + 4) + body)
                await target.drain()
        finally:
            target.transport.abort()

    def _change(self, text: bytes) -> tuple[Statement, bytes]:
        """Returns a statement and its changed text. Its conditions keep their numbers on every connection."""
        if text not in self._known:
            numbers = []

            def number(match: "re.Match[bytes]") -> bytes:
                self._conditions += 1
                numbers.append(self._conditions)
                return WITHOUT % (match[0], LOCK_CLASS, self._conditions)

            changed = CONDITION.sub(number, text)
            self._known[text] = Statement(text.decode(), tuple(numbers)), changed
        return self._known[text]

    async def _pass_startup(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> dict[str, str]:
        """Sends the first message, with another login for the reader. Returns its parameters."""
        [length] = struct.unpack("!I", await source.readexactly(4))
        body = await source.readexactly(length - 4)
        parts = [part.decode() for part in body[4:].rstrip(b"\0").split(b"\0")]
        options = dict(zip(parts[::2], parts[1::2], strict=True))
        if options["user"] == READER_LOGIN:
            options["user"] = self.reader_login
        sent = body[:4] + b"".join(f"{name}\0{value}\0".encode() for name, value in options.items()) + b"\0"
        target.write(struct.pack("!I", len(sent) + 4) + sent)
        await target.drain()
        return options
