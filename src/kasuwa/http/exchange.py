"""One request of a connection and its reply: what the HTTP server passes to the application.

The application is called when the headers are complete. The body may still be on its way: it is read with `read_all` or
`chunks`. The reply is sent with `reply` or `reply_in_pieces`.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from http import HTTPStatus
from typing import Protocol

import msgspec

from kasuwa.http.headers import RequestHeaders
from kasuwa.http.page import Pieces

# While nobody reads a body, reading from its connection is paused when this much of it has arrived.
BODY_BUFFER_BYTES = 64 * 1024
# Limits for a body that the application does not want. It is read and dropped so that the client finishes sending and
# reads the reply, and can use the connection again.
DISCARD_SECONDS = 2.0
MAX_DISCARDED_BYTES = 64 * 1024

STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}" for status in HTTPStatus}
# Statuses whose replies have no body.
BODILESS = frozenset({204, 304})
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"


class IncompleteBody(Exception):
    """Raised if the client closed the connection before the end of the body, or sent a malformed chunk or trailers."""


class ClientDisconnected(Exception):
    """Raised while a reply is sent in pieces, if the connection has ended."""


class Request(msgspec.Struct, frozen=True):
    """A request without its body."""

    method: str
    path: str  # decoded, without the query
    headers: RequestHeaders
    client: str  # address and port of the other end of the connection


class Framing(msgspec.Struct, frozen=True):
    """The delimiting of a request on its connection."""

    length: int | None  # of the body; None if it is chunked
    keeps_alive: bool  # whether the client wants to use the connection again
    is_http_10: bool
    expects_continue: bool  # whether the client waits for "100 Continue" before it sends the body


class Wire(Protocol):
    """The connection as an exchange uses it."""

    @property
    def date(self) -> str:
        """The value of the header `date`."""

    @property
    def must_close(self) -> bool:
        """Whether the next reply announces that the connection will be closed."""

    def write(self, data: bytes) -> None:
        """Sends bytes. Drops them if the connection has ended."""

    async def drain(self) -> None:
        """Waits until the client has taken enough of what was written. Raises ClientDisconnected."""

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class HttpApplication(Protocol):
    async def answer(self, request: Request, exchange: "Exchange") -> None:
        """Answers a request. Must send one reply."""


class Exchange:
    """A request and its reply. The connection calls `feed`, `complete` and `break_off` as the body arrives."""

    __slots__ = (
        "_buffered",
        "_chunks",
        "_discarded",
        "_expects_continue",
        "_is_kept_whole",
        "_waiter",
        "_wire",
        "closes",
        "has_begun",
        "is_answered",
        "is_broken",
        "is_complete",
        "is_http_10",
        "length",
        "missing",
        "request",
    )

    def __init__(self, wire: Wire, request: Request, framing: Framing) -> None:
        self._wire = wire
        self.request = request
        self.length = framing.length  # of the body; None if it is chunked
        self.missing = framing.length or 0  # bytes of a declared body that have not arrived
        self.closes = not framing.keeps_alive  # whether the connection ends with this exchange
        self.is_http_10 = framing.is_http_10
        self.is_complete = False  # the body has arrived
        self.is_broken = False  # the body will not arrive
        self.has_begun = False  # a part of the reply was sent
        self.is_answered = False  # the application has ended
        self._expects_continue = framing.expects_continue
        self._chunks: list[bytes] = []
        self._buffered = 0
        self._discarded = 0
        self._is_kept_whole = False
        self._waiter: asyncio.Future[None] | None = None

    # --- the body, as the application reads it ---

    async def read_all(self) -> bytes:
        """Returns the whole body, at once if it has arrived. Raises IncompleteBody.

        Whatever arrives is kept in memory: check `length` before, which is not None."""
        self._is_kept_whole = True
        while not self.is_complete:
            await self._receive()
        return self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yields the body as it arrives. Raises IncompleteBody."""
        while self._chunks or not self.is_complete:
            if not self._chunks:
                await self._receive()
            chunks, self._chunks, self._buffered = self._chunks, [], 0
            for chunk in chunks:
                yield chunk

    async def _receive(self) -> None:
        """Waits for more of the body, or for its end."""
        if self.is_broken:
            raise IncompleteBody
        if self._expects_continue:
            self._expects_continue = False
            self._wire.write(CONTINUE)
        self._wire.resume_reading()
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    # --- the body, as the connection receives it ---

    def feed(self, data: bytes) -> None:
        if self.length is not None:
            self.missing -= len(data)
        if self.is_answered:
            self._discarded += len(data)
            return
        self._chunks.append(data)
        self._buffered += len(data)
        if self._buffered >= BODY_BUFFER_BYTES and not self._is_kept_whole:
            self._wire.pause_reading()
        self._wake()

    def complete(self) -> None:
        self.is_complete = not self.is_broken
        self._wake()

    def break_off(self) -> None:
        """Marks a body as one that never arrives completely. Ignored if it has arrived."""
        self.is_broken = not self.is_complete
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    @property
    def can_discard(self) -> bool:
        """Whether the rest of the body may be read and dropped, so that the connection can be used again."""
        return not (
            self.is_broken or self._expects_continue or max(self.missing, self._discarded) > MAX_DISCARDED_BYTES
        )

    # --- the reply ---

    def reply(self, status: int, headers: Iterable[tuple[str, str]], body: bytes = b"") -> None:
        """Sends a reply. Raises ValueError if a header has a line break."""
        length = None if status in BODILESS else f"content-length: {len(body)}"
        head = self._make_head(status, headers, length)
        has_body = length is not None and self.request.method != "HEAD"
        self._wire.write(head + body if has_body else head)

    async def reply_in_pieces(self, status: int, headers: Iterable[tuple[str, str]], pieces: Pieces) -> None:
        """Sends a reply whose body is made while it is sent, and closes its pieces. Raises ClientDisconnected.

        If a piece cannot be made, the body breaks off, which the client notices."""
        try:
            await self._send_in_pieces(status, headers, pieces)
        finally:
            await pieces.aclose()

    async def _send_in_pieces(self, status: int, headers: Iterable[tuple[str, str]], pieces: Pieces) -> None:
        if self.is_http_10:
            self.closes = True  # the end of the connection is the end of the body
        self._wire.write(self._make_head(status, headers, None if self.is_http_10 else "transfer-encoding: chunked"))
        if self.request.method == "HEAD":
            return
        async for piece in pieces:
            if piece:
                self._wire.write(piece if self.is_http_10 else b"%x\r\n%b\r\n" % (len(piece), piece))
                await self._wire.drain()
        if not self.is_http_10:
            self._wire.write(LAST_CHUNK)

    def _make_head(self, status: int, headers: Iterable[tuple[str, str]], framing: str | None) -> bytes:
        """Returns the status line and the headers. A header `connection` can only announce that it will be closed."""
        if self.has_begun:
            raise RuntimeError("a request has one reply")
        closes = self.closes or self._wire.must_close or not (self.is_complete or self.can_discard)
        lines = [STATUS_LINES.get(status) or f"HTTP/1.1 {status} "]
        for name, value in headers:
            if name == "connection":
                closes = True
            else:
                lines.append(f"{name}: {value}")
        if framing is not None:
            lines.append(framing)
        lines.append(f"date: {self._wire.date}")
        if closes:
            lines.append("connection: close")
        elif self.is_http_10:
            lines.append("connection: keep-alive")
        text = "\r\n".join(lines)
        if text.count("\r") != len(lines) - 1 or text.count("\n") != len(lines) - 1 or "\0" in text:
            raise ValueError("a header of the reply has a line break")
        self.closes = closes
        self.has_begun = True
        return text.encode("latin-1") + b"\r\n\r\n"
