"""A small application on a running HTTP server, for tests on raw sockets."""

import asyncio
import re
import socket
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import uvloop

from kasuwa.boot.ports import open_listener
from kasuwa.http.connection import HttpLimits
from kasuwa.http.exchange import ClientDisconnected, Exchange, IncompleteBody, Request
from kasuwa.http.server import HttpServer

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "uvloop": uvloop.new_event_loop,
    "asyncio": asyncio.new_event_loop,
}
TEXT = [("content-type", "text/plain")]
PIECE = b"x" * 50_000


class Application:
    """Answers by the first word of the path."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.finished: list[str] = []
        self.errors: list[type[Exception]] = []
        self.go_on = threading.Event()

    async def answer(self, request: Request, exchange: Exchange) -> None:
        self.requests.append(request)
        name = request.path.strip("/").partition("/")[0] or "root"
        await getattr(self, f"answer_{name}", self.answer_root)(request, exchange)
        self.finished.append(request.path)

    async def answer_root(self, request: Request, exchange: Exchange) -> None:
        """Does not read the body."""
        exchange.reply(200, TEXT, request.path.encode())

    async def answer_echo(self, request: Request, exchange: Exchange) -> None:
        await self.reply_with(exchange, exchange.read_all())

    async def answer_chunks(self, request: Request, exchange: Exchange) -> None:
        async def read() -> bytes:
            return b"".join([chunk async for chunk in exchange.chunks()])

        await self.reply_with(exchange, read())

    async def reply_with(self, exchange: Exchange, reading: Coroutine[Any, Any, bytes]) -> None:
        try:
            body = await reading
        except IncompleteBody as error:
            self.errors.append(type(error))
            exchange.reply(400, [*TEXT, ("connection", "close")], b"incomplete")
        else:
            exchange.reply(200, TEXT, body)

    async def answer_slow(self, request: Request, exchange: Exchange) -> None:
        await asyncio.to_thread(self.go_on.wait, 20)
        exchange.reply(200, TEXT, b"slow")

    async def answer_empty(self, request: Request, exchange: Exchange) -> None:
        exchange.reply(int(request.path[-3:]), TEXT)

    async def answer_raise(self, request: Request, exchange: Exchange) -> None:
        raise ValueError("a secret")

    async def answer_silence(self, request: Request, exchange: Exchange) -> None:
        """Sends no reply, which is a bug."""

    async def answer_broken(self, request: Request, exchange: Exchange) -> None:
        exchange.reply(200, [("x", "a\r\nset-cookie: b")])

    async def answer_large(self, request: Request, exchange: Exchange) -> None:
        exchange.reply(200, TEXT, b"x" * 20_000_000)

    async def answer_pieces(self, request: Request, exchange: Exchange) -> None:
        count = int(request.path.rpartition("/")[2])
        try:
            await exchange.reply_in_pieces(200, TEXT, make_pieces(count))
        except ClientDisconnected as error:
            self.errors.append(type(error))
            raise

    async def answer_torn(self, request: Request, exchange: Exchange) -> None:
        await exchange.reply_in_pieces(200, TEXT, make_torn_pieces())


async def make_pieces(count: int) -> AsyncGenerator[bytes, None]:
    for _ in range(count):
        yield PIECE
        yield b""


async def make_torn_pieces() -> AsyncGenerator[bytes, None]:
    yield PIECE
    raise ValueError("a secret")


class RunningServer:
    """A server on a thread of its own."""

    def __init__(self, loop: asyncio.AbstractEventLoop, limits: HttpLimits) -> None:
        self.application = Application()
        self.unhandled: list[dict[str, Any]] = []  # errors that nobody awaited
        self._loop = loop
        loop.set_exception_handler(lambda _, details: self.unhandled.append(details))
        self._thread = threading.Thread(target=loop.run_forever)
        self._thread.start()
        listener = open_listener("127.0.0.1", 0)
        self.port = listener.getsockname()[1]
        self.server = self.run(self._start(listener, limits))

    async def _start(self, listener: socket.socket, limits: HttpLimits) -> HttpServer:
        server = HttpServer(self.application, listener, limits)
        await server.start()
        return server

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    def call(self, function: Callable[[], Any]) -> Any:
        async def work() -> Any:
            return function()

        return self.run(work())

    def check(self, seconds_later: float) -> None:
        """Has all connections check their deadlines as if it were later."""
        now = self._loop.time() + seconds_later
        self.call(lambda: [connection.check(now) for connection in tuple(self.server._connections)])

    def connect(self) -> "Client":
        return Client(socket.create_connection(("127.0.0.1", self.port), timeout=60))

    def close(self) -> None:
        self.application.go_on.set()
        self.call(self.server.stop)
        self.run(self.server.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@contextmanager
def running(loop_name: str, **limits: Any) -> Iterator[RunningServer]:
    server = RunningServer(LOOPS[loop_name](), HttpLimits(**{"check_seconds": 0.05, **limits}))
    try:
        yield server
    finally:
        server.close()
    assert server.unhandled == []


class Client:
    """A connection that reads replies one by one."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self._received = b""

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> "Client":
        self.socket.sendall(data)
        return self

    def reply(self, *, is_head: bool = False) -> tuple[int, dict[str, str], bytes]:
        """Returns status, headers and body of the next reply."""
        head = self._read_until(b"\r\n\r\n").decode()
        status, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        length = 0 if is_head else int(headers.get("content-length", 0))
        self.receive(length)
        body, self._received = self._received[:length], self._received[length:]
        match = re.fullmatch(r"HTTP/1.1 (\d{3}) [A-Za-z -]*", status)
        assert match is not None, status
        return int(match[1]), headers, body

    def receive(self, size: int) -> None:
        """Receives until so many bytes are there that no reply has used."""
        while len(self._received) < size:
            self._receive()

    def rest(self) -> bytes:
        """Returns all that arrives until the server closes the connection."""
        while self._receive(may_end=True):
            pass
        return self._received

    def _read_until(self, mark: bytes) -> bytes:
        while mark not in self._received:
            self._receive()
        found, _, self._received = self._received.partition(mark)
        return found + mark

    def _receive(self, *, may_end: bool = False) -> bytes:
        data = self.socket.recv(65536)
        assert data or may_end, f"the connection ended after {self._received!r}"
        self._received += data
        return data


# --- what tests send and wait for ---

CHUNKED = "transfer-encoding: chunked"


def head(path: str, *headers: str, verb: str = "GET", version: str = "1.1") -> bytes:
    return "\r\n".join([f"{verb} {path} HTTP/{version}", "host: x", *headers, "", ""]).encode()


def put(path: str, body: bytes, *headers: str) -> bytes:
    return head(path, f"content-length: {len(body)}", *headers, verb="PUT") + body


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def wait_until(condition: Callable[[], object]) -> None:
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def is_closed(client: Client) -> bool:
    try:
        return client.socket.recv(1) == b""
    except ConnectionError:
        return True


def assert_still_serves(server: RunningServer) -> None:
    with server.connect() as client:
        assert client.send(put("/echo", b"{}")).reply()[2] == b"{}"
