"""Servers on loopback for the tests of outgoing HTTP, friendly and hostile, and how a test runs in an event loop."""

import asyncio
import functools
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

import uvloop

from kasuwa.outbound.egress import EgressClient, EgressLimits

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
# For requests that are answered: a busy machine must not make a test fail.
PATIENT = EgressLimits(queue_seconds=30, connect_seconds=30, response_seconds=30, total_seconds=30)


class Receiver:
    """The record of a server: the number of connections, and each request as head and body."""

    def __init__(self) -> None:
        self.host = ""
        self.port = 0
        self.scheme = "http"
        self.connections = 0
        self.requests: list[tuple[bytes, bytes]] = []
        self.gone = asyncio.Event()

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}/hook?a=1"

    async def read_request(self, reader: asyncio.StreamReader) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        lengths = [line[15:] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        self.requests.append((head, await reader.readexactly(int(lengths[0]) if lengths else 0)))


ServeConnection = Callable[[Receiver, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def receiving(
    talk: ServeConnection, *, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Receiver]:
    seen = Receiver()
    open_writers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.connections += 1
        open_writers.add(writer)
        # The client may close at any time, as some tests require.
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await talk(seen, reader, writer)
        writer.close()

    server = await asyncio.start_server(serve, host, port, ssl=tls)
    seen.host = f"[{host}]" if ":" in host else host
    seen.port = server.sockets[0].getsockname()[1]
    seen.scheme = "https" if tls else "http"
    try:
        yield seen
    finally:
        server.close()
        for writer in open_writers:
            writer.transport.abort()
        await asyncio.sleep(0)


def answering(*answers: bytes) -> ServeConnection:
    """Answers each request of a connection in turn; repeats the last answer."""

    async def talk(seen: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left = list(answers)
        while True:
            await seen.read_request(reader)
            writer.write(left.pop(0) if len(left) > 1 else left[0])
            await writer.drain()

    return talk


def flooding(first: bytes, more: bytes) -> ServeConnection:
    """Answers once and then sends more of the same until the connection ends."""

    async def talk(seen: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await seen.read_request(reader)
        writer.write(first)
        try:
            while True:
                writer.write(more)
                await writer.drain()
                await asyncio.sleep(0)
        finally:
            seen.gone.set()

    return talk


async def keep_silent(seen: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    seen.gone.set()
    await asyncio.Event().wait()


async def reset(seen: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await seen.read_request(reader)
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@asynccontextmanager
async def sending(
    *, environment: str = "test", loopback_allowed: bool = True, **more: Any
) -> AsyncIterator[EgressClient]:
    egress = EgressClient(environment=environment, loopback_allowed=loopback_allowed, **{"limits": PATIENT, **more})
    try:
        yield egress
    finally:
        await egress.close()


def on_both_loops(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Runs a test under uvloop, as in production, and under Python's own event loop."""

    @functools.wraps(test)
    def run(**given: Any) -> None:
        uvloop.run(test(**given))
        asyncio.run(test(**given))

    return run
