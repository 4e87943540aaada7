"""Streams of requests on one connection, cut anywhere: every request is answered, in order, with its own body.

No sockets: the transport below hands the connection slices of the stream while it reads, as a socket would.
"""

import asyncio
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from kasuwa.http.connection import Connection, HttpLimits
from kasuwa.http.exchange import Exchange, HttpApplication, Request
from tests.hypothesis_settings import without_deadline

UNTIMED = without_deadline(100)


class EchoApplication:
    """Replies with the method, the path and the body. Paths say whether the body is read, and how."""

    async def answer(self, request: Request, exchange: Exchange) -> None:
        body = b""
        if request.path.startswith("/slow"):
            await asyncio.sleep(0)
        if request.path.endswith("/all") and exchange.length is not None:
            body = await exchange.read_all()
        elif not request.path.endswith("/unread"):
            async for chunk in exchange.chunks():
                body += chunk
                if request.path.startswith("/slow"):
                    await asyncio.sleep(0)
        exchange.reply(200, [("content-type", "text/plain")], f"{request.method} {request.path} ".encode() + body)


class Transport:
    """Records what is written."""

    def __init__(self) -> None:
        self.written = b""
        self.is_reading = True
        self.has_ended = False

    def write(self, data: bytes) -> None:
        self.written += data

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True

    def get_extra_info(self, name: str) -> Any:
        return ("127.0.0.1", 50_000)

    def get_write_buffer_size(self) -> int:
        return 0

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.has_ended = True

    def is_closing(self) -> bool:
        return self.has_ended

    def close(self) -> None:
        self.has_ended = True

    abort = close


class Owner:
    """The server as a connection sees it."""

    def __init__(self) -> None:
        self.application: HttpApplication = EchoApplication()
        self.limits = HttpLimits()
        self.loop = asyncio.get_running_loop()
        self.buffer = memoryview(bytearray(64 * 1024))
        self.date = "Thu, 01 Jan 2026 00:00:00 GMT"
        self.is_stopping = False

    def add(self, connection: Connection) -> None:
        pass

    forget = add


class Sent(NamedTuple):
    """One request of a stream."""

    method: str
    path: str
    body: bytes
    chunk: int  # size of its chunks, or 0 if the length is declared

    def encode(self) -> bytes:
        head = f"{self.method} {self.path} HTTP/1.1\r\nHost: x\r\n"
        if not self.chunk:
            return f"{head}Content-Length: {len(self.body)}\r\n\r\n".encode() + self.body
        pieces = [self.body[at : at + self.chunk] for at in range(0, len(self.body), self.chunk)]
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
        return f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + chunks + b"0\r\n\r\n"

    def reply(self) -> bytes:
        body = b"" if self.path.endswith("/unread") else self.body
        return f"{self.method} {self.path} ".encode() + body


def replies_of(written: bytes) -> list[bytes]:
    bodies = []
    while written:
        head, _, written = written.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\n"), head
        [length] = [int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")]
        bodies.append(written[:length])
        written = written[length:]
    return bodies


async def exchange_stream(stream: bytes, cuts: list[int]) -> bytes:
    owner, transport = Owner(), Transport()
    connection = Connection(owner)
    connection.connection_made(transport)  # type: ignore[arg-type]
    at, n, idle = 0, 0, 0
    while at < len(stream) and not transport.has_ended:
        if not transport.is_reading:
            idle += 1
            assert idle < 10_000, "the connection never reads again"
            await asyncio.sleep(0)
            continue
        idle = 0
        cut = max(cuts[n % len(cuts)], len(stream) // 500)  # so that a test takes no minutes
        size = min(cut, len(owner.buffer), len(stream) - at)
        owner.buffer[:size] = stream[at : at + size]
        connection.buffer_updated(size)
        at, n = at + size, n + 1
        if n % 3 == 0:
            await asyncio.sleep(0)
    while len(asyncio.all_tasks()) > 1:  # requests are being answered
        await asyncio.sleep(0)
    connection.connection_lost(None)
    await asyncio.sleep(0)
    return transport.written


PATHS = st.sampled_from(["/all", "/chunks", "/unread", "/slow/all", "/slow/chunks", "/slow/unread"])
BODIES = st.one_of(
    st.binary(max_size=40),
    st.builds(lambda n: b"GET /smuggled HTTP/1.1\r\n\r\n" * n, st.integers(0, 2_000)),
)
REQUESTS = st.builds(Sent, st.sampled_from(["PUT", "POST"]), PATHS, BODIES, st.sampled_from([0, 0, 500, 4_000, 30_000]))


@UNTIMED
@given(
    st.lists(REQUESTS, min_size=1, max_size=6),
    st.lists(st.sampled_from([1, 7, 100, 3_000, 4_096, 30_000, 65_536]), min_size=1, max_size=8),
)
def test_every_request_of_a_stream_is_answered_in_order_wherever_it_is_cut(sent: list[Sent], cuts: list[int]) -> None:
    stream = b"".join(request.encode() for request in sent)
    written = asyncio.run(exchange_stream(stream, cuts))
    assert replies_of(written) == [request.reply() for request in sent]


@UNTIMED
@given(st.lists(REQUESTS, min_size=1, max_size=3), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_small_slices_change_nothing(sent: list[Sent], cuts: list[int]) -> None:
    sent = [request._replace(body=request.body[:300]) for request in sent]
    stream = b"".join(request.encode() for request in sent)
    assert replies_of(asyncio.run(exchange_stream(stream, cuts))) == [request.reply() for request in sent]


@UNTIMED
@given(st.lists(REQUESTS, max_size=2), st.binary(min_size=1, max_size=200), st.lists(st.integers(1, 300), min_size=1))
def test_whatever_follows_valid_requests_they_are_answered(sent: list[Sent], garbage: bytes, cuts: list[int]) -> None:
    stream = b"".join(request.encode() for request in sent) + garbage
    written = asyncio.run(exchange_stream(stream, cuts))
    for request in sent:
        body = request.reply()
        place = written.find(b"\r\n\r\n" + body)
        assert place >= 0, "answered, in order"
        written = written[place + 4 + len(body) :]
    assert b"HTTP/1.1 200 " not in written or b"HTTP/1.1 " in garbage
