"""The connections of the one outgoing client: opened, kept and read by aiohttp, written to by ourselves.

aiohttp's connector resolves, connects, speaks TLS and keeps connections, and its parser reads whatever comes back. What
it makes of a request on the way there (a session, a request, a response, a writer: each an object with much in it) took
more than half of a delivery's time, and all of it comes to the same few bytes.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http_parser import RawResponseMessage
from yarl import URL

# All that may come in for one request, of whatever kind: headers, a row of 1xx answers, answers nobody asked for.
# It holds the largest headers that are read and the body, and stays below where aiohttp pauses a connection.
MAX_INCOMING_BYTES = 96 * 1024
MAX_HEADERS = 100
MAX_HEADER_BYTES = 8190
READ_BYTES = 64 * 1024

SWITCHING_PROTOCOLS = 101


class BoundedResponseHandler(ResponseHandler):
    """One connection, with a bound on what comes in. Without it, aiohttp reads on for as long as the other side
    sends 1xx answers, and takes what was sent unasked between two requests for the answer to the second."""

    _allowed = 0

    def set_response_params(self, **params: Any) -> None:
        self._allowed = MAX_INCOMING_BYTES
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
    """Where requests to one URL go: what the connector is asked with, and how each of them begins."""

    connector_request: aiohttp.ClientRequest
    head: str


def make_template(url: URL, user_agent: str) -> RequestTemplate:
    asked = aiohttp.ClientRequest("POST", url, loop=asyncio.get_running_loop())
    host = asked.headers["Host"]
    head = f"POST {url.raw_path_qs} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {user_agent}\r\nAccept: */*\r\n"
    return RequestTemplate(asked, head)


def encode_request(head: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """The bytes of a request. A header that would be two is a bug of ours, and is not sent."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    if lines.count("\n") != len(headers) or lines.count("\r") != len(headers) or "\0" in lines:
        raise ValueError("a header with a line break in it")
    return f"{head}{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def exchange(connection: Connection, request: bytes) -> tuple[RawResponseMessage, aiohttp.StreamReader]:
    """Send a request and wait for the head of its answer; whatever is merely provisional is passed over."""
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
