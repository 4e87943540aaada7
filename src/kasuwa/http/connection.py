"""A connection of the HTTP server: parses requests with llhttp and answers them in order, one at a time.

    data arrives ──> parser ──> headers complete: the application is called in a task of its own
                            ──> body: given to the exchange
                     the application has ended ──> the next request of the connection

Requests that arrive while another is in progress (pipelining) wait. Most of them wait as bytes that are not parsed, and
reading is paused until then. Only those that were in the same slice as the end of another are parsed already.
"""

import asyncio
import math
import re
from collections import deque
from typing import Protocol, cast
from urllib.parse import unquote_to_bytes

import httptools
import msgspec
import structlog

from kasuwa.http.exchange import DISCARD_SECONDS, ClientDisconnected, Exchange, Framing, HttpApplication, Request
from kasuwa.http.headers import RequestHeaders
from kasuwa.observe.log import describe_error

# As many header fields as any client sends, and few enough to be cheap.
MAX_HEADER_FIELDS = 100
# Bytes that are parsed at once, unless more are known to belong to one body. It limits how many requests of a
# connection are parsed before the first is answered.
SLICE_BYTES = 4 * 1024
# How long a connection that is closed while the client may still be sending goes on reading. If it were closed at once,
# the client's system could drop the reply before the client has read it.
LINGER_SECONDS = 2.0

BAD_REQUEST = "400 Bad Request"
HEADERS_TOO_LARGE = "431 Request Header Fields Too Large"
# What no host and port contains: such a value is a list, or another part of a URL.
NO_HOST = re.compile(r"[\s,/?#@\\]")
NEVER = math.inf

log = structlog.get_logger("kasuwa")


class HttpLimits(msgspec.Struct, frozen=True):
    """Limits of the connections of a server."""

    # How long the headers of a request may take, and how long a connection may be idle before it.
    header_seconds: float = 5.0
    header_bytes: int = 64 * 1024
    # A connection whose client takes nothing of a reply for so long is closed.
    write_seconds: float = 30.0
    connections: int = 4096
    # How often deadlines are checked. A connection is closed up to so much later.
    check_seconds: float = 1.0


class ConnectionOwner(Protocol):
    """The server as a connection uses it."""

    application: HttpApplication
    limits: HttpLimits
    loop: asyncio.AbstractEventLoop
    buffer: memoryview  # what was received last. Shared by all connections, as each uses it up at once
    date: str
    is_stopping: bool

    def add(self, connection: "Connection") -> None: ...

    def forget(self, connection: "Connection") -> None: ...


def has_valid_host(headers: RequestHeaders, version: str) -> bool:
    """Whether a request names one host. HTTP/1.0 may name none. Proxies could understand several differently."""
    hosts = headers.get_all("host")
    if len(hosts) != 1:
        return version == "1.0" and "host" not in headers
    return NO_HOST.search(hosts[0]) is None


def is_only_chunked(headers: RequestHeaders) -> bool:
    """Whether the body is chunked and nothing else: no other encoding is undone here."""
    return [value.lower() for value in headers.get_all("transfer-encoding")] == ["chunked"]


class BodyCallbacks:
    """Callbacks of a parser that is used for the body of one request only."""

    def __init__(self, connection: "Connection") -> None:
        self.on_body = connection.on_body
        self.on_message_complete = connection.on_message_complete


class Connection(asyncio.BufferedProtocol):
    __slots__ = (
        "_client",
        "_current",
        "_deadline",
        "_drained",
        "_drops_input",
        "_has_ended",
        "_head_bytes",
        "_headers",
        "_is_closing",
        "_is_full",
        "_is_reading",
        "_parser",
        "_receiving",
        "_refusal",
        "_server",
        "_task",
        "_transport",
        "_unparsed",
        "_unsent",
        "_url",
        "_waiting",
    )

    def __init__(self, server: ConnectionOwner) -> None:
        self._server = server
        self._transport: asyncio.Transport | None = None  # None after the connection has ended
        self._parser = httptools.HttpRequestParser(self)
        self._client = ""
        self._deadline = NEVER
        # The request that is being parsed: first its headers, then its body.
        self._url = b""
        self._headers: RequestHeaders | None = None
        self._receiving: Exchange | None = None
        self._head_bytes = 0  # bytes of its headers, or of its trailer fields, so far
        # The request that is being answered, those after it, and the bytes after those.
        self._current: Exchange | None = None
        self._task: asyncio.Task[None] | None = None
        self._waiting: deque[Exchange] = deque()
        self._unparsed = b""
        self._refusal: str | None = None  # the reply to what could not be parsed, after all others
        self._is_reading = True
        self._drops_input = False  # what arrives is dropped
        self._is_closing = False
        self._has_ended = False  # the client sends no more
        # Sending.
        self._is_full = False  # the client does not take what was written
        self._unsent = 0  # bytes when `_deadline` was set for them
        self._drained: asyncio.Future[None] | None = None

    # --- the transport's calls ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none of asyncio's classes
        peer = transport.get_extra_info("peername")
        if peer:
            self._client = f"[{peer[0]}]:{peer[1]}" if ":" in peer[0] else f"{peer[0]}:{peer[1]}"
        self._expect_request()
        self._server.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._is_closing = self._drops_input = True
        self._unparsed = b""
        self._waiting.clear()
        self._break_off_body()
        self._wake_writer()
        del self._parser  # it refers to this connection
        if self._task is None:
            self._server.forget(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._server.buffer

    def buffer_updated(self, nbytes: int) -> None:
        if not self._drops_input:
            self._parse(self._server.buffer[:nbytes])

    def eof_received(self) -> bool:
        self._has_ended = True
        self._break_off_body()
        is_discarding = self._current is not None and self._current.is_answered
        if self._is_closing and self._transport is not None:
            self._transport.close()
        elif is_discarding or not self._is_occupied():
            self._close()
        return True

    def pause_writing(self) -> None:
        self._is_full = True
        if self._transport is not None:
            self._unsent = self._transport.get_write_buffer_size()
        self._deadline = self._server.loop.time() + self._server.limits.write_seconds

    def resume_writing(self) -> None:
        self._is_full = False
        self._deadline = self._server.loop.time() + LINGER_SECONDS if self._is_closing else NEVER
        self._wake_writer()
        if self._current is None and not self._is_closing:
            self._go_on()

    # --- parsing ---

    def _is_occupied(self) -> bool:
        """Whether a request is in progress, or the client has to take replies before the next."""
        return self._current is not None or self._is_full

    def _parse(self, data: memoryview) -> None:
        """Parses what may be parsed now, and keeps the rest."""
        at, size = 0, len(data)
        while at < size and not self._drops_input:
            if self._receiving is None and self._is_occupied():
                self._unparsed += data[at:]
                self.pause_reading()
                return
            end = at + max(SLICE_BYTES, 0 if self._receiving is None else self._receiving.missing)
            self._feed(data[at:end])
            at = end

    def _feed(self, data: memoryview) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._feed_body_after_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            if isinstance(error, httptools.HttpParserCallbackError):  # a bug in one of the methods below
                log.error("a request could not be parsed", **describe_error(error.__context__ or error))
            self._refuse(BAD_REQUEST)
        if not self._drops_input and (self._headers is not None or self._receiving is not None):
            if self._headers is not None and not self._head_bytes and not self._is_occupied():
                self._expect_request()
            self._head_bytes += len(data)
            if self._head_bytes > self._server.limits.header_bytes:
                self._refuse(HEADERS_TOO_LARGE)
        current = self._current
        if current is not None and current.is_answered:
            self._discard(current)

    def _feed_body_after_upgrade(self, data: memoryview) -> None:
        """Parses the body of a request that asks for another protocol, which is not granted.

        For llhttp the request ends with its headers. So another parser gets headers of the same framing, and what
        follows."""
        exchange = self._receiving
        if exchange is None:
            self._stop_listening()
            return
        framing = "transfer-encoding: chunked" if exchange.length is None else f"content-length: {exchange.length}"
        self._parser = httptools.HttpRequestParser(BodyCallbacks(self))
        self._parser.feed_data(f"POST / HTTP/1.1\r\nconnection: close\r\n{framing}\r\n\r\n".encode())
        if data:
            self._feed(data)

    def _refuse(self, status: str) -> None:
        """Ends a connection whose bytes cannot be parsed: now, or after the requests before."""
        if self._refusal is not None:
            return
        self._stop_listening()
        self._refusal = status
        self._break_off_body()
        if not self._is_occupied():
            self._go_on()

    def _stop_listening(self) -> None:
        self._drops_input = True
        self.pause_reading()

    def _break_off_body(self) -> None:
        self._headers = None
        if self._receiving is not None:
            self._receiving.break_off()
            self._receiving = None

    # --- the parser's calls ---

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers = RequestHeaders()
        self._head_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._headers is not None:
            self._headers.add(name, value)
        elif self._receiving is not None:
            self._receiving.break_off()  # by a trailer field

    def on_headers_complete(self) -> None:
        parser, headers = self._parser, self._headers
        self._headers, self._head_bytes = None, 0
        if self._drops_input or headers is None:
            return
        version, is_chunked = parser.get_http_version(), "transfer-encoding" in headers
        if headers.field_count > MAX_HEADER_FIELDS:
            self._refuse(HEADERS_TOO_LARGE)
            return
        if version != "1.1" and (version != "1.0" or is_chunked):
            self._refuse(BAD_REQUEST)
            return
        if not has_valid_host(headers, version) or (is_chunked and not is_only_chunked(headers)):
            self._refuse(BAD_REQUEST)
            return
        framing = Framing(
            None if is_chunked else int(headers.get("content-length") or 0),
            parser.should_keep_alive() and not parser.should_upgrade(),
            is_http_10=version == "1.0",
            expects_continue=version == "1.1" and (headers.get("expect") or "").lower() == "100-continue",
        )
        method = parser.get_method().decode()
        exchange = Exchange(self, Request(method, decode_path(self._url), headers, self._client), framing)
        self._receiving = exchange
        if self._is_occupied():
            self._waiting.append(exchange)
        else:
            self._start(exchange)

    def on_body(self, body: bytes) -> None:
        self._head_bytes = 0
        if self._receiving is not None:
            self._receiving.feed(body)

    def on_message_complete(self) -> None:
        exchange = self._receiving
        # The parser leaves out the body of a request that asks for an upgrade: see _feed_body_after_upgrade.
        has_body_left = exchange is not None and (exchange.missing or exchange.length is None)
        if exchange is not None and not (has_body_left and self._parser.should_upgrade()):
            exchange.complete()
            self._receiving = None

    # --- answering ---

    def _start(self, exchange: Exchange) -> None:
        self._current = exchange
        self._deadline = NEVER
        self._task = self._server.loop.create_task(self._run(exchange))

    async def _run(self, exchange: Exchange) -> None:
        """Calls the application. The client's going away does not stop it: money may have moved."""
        try:
            await self._server.application.answer(exchange.request, exchange)
            if not exchange.has_begun:
                raise RuntimeError("the application sent no reply")
        except ClientDisconnected:
            pass
        except Exception as error:
            log.error("a request could not be answered", **describe_error(error))
            self._fail(exchange)
        exchange.is_answered = True
        self._task = None
        if self._transport is None:
            self._current = None
            self._server.forget(self)
        else:
            self._end(exchange)

    def _fail(self, exchange: Exchange) -> None:
        """Answers HTTP 500. If a part of the reply was sent, the connection breaks off instead."""
        if not exchange.has_begun:
            exchange.reply(500, [("connection", "close")])
        else:
            self.abort()

    def _end(self, exchange: Exchange) -> None:
        if exchange.closes or exchange.is_broken:
            self._close()
        elif exchange.is_complete:
            self._go_on()
        else:
            self._deadline = self._server.loop.time() + DISCARD_SECONDS
            self.resume_reading()

    def _discard(self, exchange: Exchange) -> None:
        """Continues after a body that was dropped has arrived. Ends the connection if it is too large."""
        if exchange.is_complete:
            self._go_on()
        elif not exchange.can_discard:
            self._close()

    def _go_on(self) -> None:
        """Takes up the next request of the connection, if there is one."""
        self._current = None
        if self._is_full or self._is_closing:
            return
        if self._waiting:
            self._start(self._waiting.popleft())
            return
        if self._unparsed:
            data, self._unparsed = self._unparsed, b""
            self._parse(memoryview(data))
            if self._is_occupied():
                if not self._unparsed and not self._drops_input:
                    self.resume_reading()
                return
        if self._refusal is not None:
            head = f"HTTP/1.1 {self._refusal}\r\ncontent-length: 0\r\ndate: {self.date}\r\nconnection: close\r\n\r\n"
            self.write(head.encode())
            self._close()
        elif self._has_ended or self._server.is_stopping:
            self._close()
        else:
            self._expect_request()
            self.resume_reading()

    # --- deadlines and the end ---

    def _expect_request(self) -> None:
        if not self._is_full:
            self._unsent = 0
            self._deadline = self._server.loop.time() + self._server.limits.header_seconds

    def check(self, now: float) -> None:
        """Closes the connection if its deadline has passed and the client takes nothing of what was sent either."""
        if now < self._deadline or self._transport is None:
            return
        unsent = self._transport.get_write_buffer_size()
        if unsent and unsent != self._unsent:
            self._unsent, self._deadline = unsent, now + self._server.limits.write_seconds
        else:
            self.abort()

    def stop(self) -> None:
        """Closes the connection if it is idle. Otherwise the next reply announces that it will be closed."""
        if not self._is_occupied() and not self._is_closing:
            self._close()

    def _close(self) -> None:
        """Closes the connection after what was written is sent, and after the client has stopped sending."""
        if self._transport is None or self._is_closing:
            return
        is_sending = self._receiving is not None or self._drops_input or self._unparsed
        self._is_closing = self._drops_input = True
        self._unparsed = b""
        self._waiting.clear()
        self._deadline = self._server.loop.time() + LINGER_SECONDS
        if is_sending and not self._has_ended and self._transport.can_write_eof():
            try:
                self._transport.write_eof()
            except OSError:  # asyncio's own transport raises if the client has gone away
                self._transport.abort()
            else:
                self.resume_reading()
        else:
            self._transport.close()

    def abort(self) -> None:
        """Ends the connection at once. What was not sent is dropped."""
        self._is_closing = self._drops_input = True
        if self._transport is not None:
            self._transport.abort()

    # --- what an exchange uses ---

    @property
    def date(self) -> str:
        return self._server.date

    @property
    def must_close(self) -> bool:
        return self._server.is_stopping

    @property
    def has_unsent(self) -> bool:
        return self._transport is not None and self._transport.get_write_buffer_size() > 0

    def write(self, data: bytes) -> None:
        if self._transport is not None and not self._is_closing:
            self._transport.write(data)

    async def drain(self) -> None:
        if self._is_full and not self._is_closing:
            self._drained = self._server.loop.create_future()
            await self._drained
        else:
            await asyncio.sleep(0)  # a client that takes everything at once must not keep others waiting
        if self._is_closing:
            raise ClientDisconnected

    def _wake_writer(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    def pause_reading(self) -> None:
        if self._is_reading and self._transport is not None:
            self._is_reading = False
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if not self._is_reading and self._transport is not None and not self._transport.is_closing():
            self._is_reading = True
            self._transport.resume_reading()


def decode_path(url: bytes) -> str:
    """Returns the decoded path of a request's target. Empty for a target without one, such as that of CONNECT."""
    path = url.partition(b"?")[0].partition(b"#")[0]
    if not path.startswith(b"/") and path != b"*":
        # The form with scheme and host that proxies are sent.
        _, scheme, rest = path.partition(b"://")
        path = b"/" + rest.partition(b"/")[2] if scheme else b""
    return (unquote_to_bytes(path) if b"%" in path else path).decode(errors="replace")
