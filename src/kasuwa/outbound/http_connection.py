"""Connections of the outgoing HTTP client: aiohttp opens, keeps and reads them, and this module writes the requests.

aiohttp's connector resolves, connects, speaks TLS and keeps connections, and its parser reads the answers. Its objects
for sending (session, request, response, writer) took more than half of a delivery's time, so requests are encoded here.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http_parser import RawResponseMessage
from yarl import URL

# The limit of incoming bytes for one request besides the body of its answer: headers, 1xx and unsolicited answers.
MAX_OVERHEAD_BYTES = 76 * 1024
MAX_HEADERS = 100
MAX_HEADER_BYTES = 8190
READ_BYTES = 64 * 1024

SWITCHING_PROTOCOLS = 101


class BoundedResponseHandler(ResponseHandler):
    """A connection with a limit on incoming bytes per request. Without it, aiohttp reads on as long as the server sends
    1xx answers, and takes unsolicited bytes between two requests for the answer to the second."""

    _allowed = 0

    def __init__(self, loop: asyncio.AbstractEventLoop, max_incoming: int) -> None:
        super().__init__(loop)
        self._max_incoming = max_incoming

    def set_response_params(self, **params: Any) -> None:
        self._allowed = self._max_incoming
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        allowed = self._allowed
        self._allowed = allowed - len(data)
        if self._allowed >= 0:
            return super().data_received(data)
        if allowed > 0:
            super().data_received(data[:allowed])
        if self.transport is not None:
            self.transport.abort()

    def is_connected(self) -> bool:
        return super().is_connected() and not self._buffer


class RequestTemplate(NamedTuple):
    """The constant parts of requests to one URL: the request for the connector, and the first header lines."""

    connector_request: aiohttp.ClientRequest
    head: str


def make_template(method: str, url: URL, user_agent: str) -> RequestTemplate:
    request = aiohttp.ClientRequest(method, url, loop=asyncio.get_running_loop())
    host = request.headers["Host"]
    head = f"{method} {url.raw_path_qs} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {user_agent}\r\nAccept: */*\r\n"
    return RequestTemplate(request, head)


def encode_request(head: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """Returns the bytes of a request. Raises ValueError if a header has a line break, which would make two of it."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    if lines.count("\n") != len(headers) or lines.count("\r") != len(headers) or "\0" in lines:
        raise ValueError("a header with a line break in it")
    return f"{head}{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def exchange(connection: Connection, request: bytes) -> tuple[RawResponseMessage, aiohttp.StreamReader]:
    """Sends a request and returns the head of its answer with its body's stream. Skips provisional (1xx) answers."""
    line = connection.protocol
    assert line is not None
    line.set_response_params(
        read_until_eof=True,
        auto_decompress=False,
        read_bufsize=READ_BYTES,
        max_line_size=MAX_HEADER_BYTES,
        max_field_size=MAX_HEADER_BYTES,
        max_headers=MAX_HEADERS,
    )
    if line.transport is None:
        raise aiohttp.ClientConnectionResetError("the connection was closed before the request")
    line.transport.write(request)
    while True:
        message, content = await line.read()
        if not 100 <= message.code <= 199 or message.code == SWITCHING_PROTOCOLS:
            return message, content
