"""The HTTP client for all outgoing requests: webhooks, and rails behind HTTP.

Merchants choose the receiver, so nothing about it is trusted: not its name, not what the name resolves to, not that it
answers or stops sending. The errors say what may have happened:

    TargetRefused     the URL or address is not allowed, and nothing was sent
    RequestFailed     there was no answer; `may_have_arrived` says whether the request may have been received
      QueueTimeout    nothing was sent: too many other requests to the same host were in progress

The status is the answer. A body that never ends, is slow or breaks off is kept as far as it was received.
"""

import asyncio
import re
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache, partial
from typing import Any
from weakref import WeakValueDictionary

import aiohttp
import msgspec
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.streams import EofStream
from yarl import URL

from kasuwa.concurrency.deadlines import Deadlines
from kasuwa.outbound.http_connection import (
    MAX_OVERHEAD_BYTES,
    BoundedResponseHandler,
    RequestTemplate,
    encode_request,
    exchange,
    make_template,
)
from kasuwa.outbound.url_policy import address_fault, parse_target

# The body of a webhook's answer is kept for the event log only: its beginning is enough to see what went wrong.
MAX_BODY_BYTES = 20_000
MAX_CONNECTIONS = 1000
# Many merchants may share one host, such as a shop platform. Each has at most a quarter of these (webhooks.py).
MAX_PER_HOST = 128
# Shorter than common servers keep a connection (Node, Apache, uvicorn: 5 s), so that we seldom write to one that is
# just being closed.
KEEPALIVE_SECONDS = 4.0
# A name server that hangs blocks one thread until the system's resolver gives up. The others go on.
MAX_DNS_LOOKUPS = 64
MAX_RETRY_AFTER_SECONDS = 86_400
HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT", re.ASCII)


class TargetRefused(Exception):
    """The URL or address is not allowed. The text is one sentence and safe to show."""


class RequestFailed(Exception):
    """There was no answer. The text is one sentence and safe to show."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.may_have_arrived = sent


class QueueTimeout(RequestFailed):
    """The request waited too long for other requests to the same host. Nothing was sent."""


# Error type, reason, and whether the request may have arrived. The first match counts. Before the connection is made,
# nothing was sent.
FAILURE_REASONS: tuple[tuple[type[BaseException], str, bool], ...] = (
    (aiohttp.ClientConnectorDNSError, "No address was found for the host", False),
    (aiohttp.ClientConnectorCertificateError, "The certificate is not trusted", False),
    (aiohttp.ClientSSLError, "No TLS connection could be made", False),
    (aiohttp.ClientConnectorError, "No connection could be made", False),
    (aiohttp.ConnectionTimeoutError, "No connection could be made in time", False),
    (TimeoutError, "There was no answer in time", True),
    (HttpProcessingError, "The answer is not HTTP, or its headers are too large", True),
    (Exception, "The connection was lost before the answer", True),
)


class EgressLimits(msgspec.Struct, frozen=True):
    """Limits of a request. The defaults are those of webhooks: queue and total together are shorter than the lease of a
    delivery, because another process would send the same event meanwhile. Contract: events#delivery"""

    queue_seconds: float = 4.0
    connect_seconds: float = 5.0
    response_seconds: float = 10.0
    total_seconds: float = 15.0
    body_bytes: int = MAX_BODY_BYTES  # how much of the answer's body is read


DEFAULT_LIMITS = EgressLimits()


class EgressResponse(msgspec.Struct, frozen=True):
    """An answer. `body` is what was received of it within the limits, and `is_complete` says whether that is all of it.
    `retry_after` is in seconds, `response_ms` until the headers arrived, `date` the header of that name.
    Names in `headers` are found in any case."""

    status: int
    retry_after: int | None
    body: bytes
    response_ms: float
    is_complete: bool = True
    date: str = ""
    headers: Mapping[str, str] = {}


Resolve = Callable[[str], Awaitable[Sequence[str]]]


def read_retry_after(text: str, now: datetime) -> int | None:
    """Returns the seconds of a Retry-After header (seconds or a date), at most a day. None if it cannot be read."""
    if text.isascii() and text.isdecimal():
        digits = text.lstrip("0") or "0"
        return MAX_RETRY_AFTER_SECONDS if len(digits) > 5 else min(int(digits), MAX_RETRY_AFTER_SECONDS)
    if not HTTP_DATE.fullmatch(text):
        return None
    try:
        wait = (parsedate_to_datetime(text) - now).total_seconds()
    except ValueError:
        return None
    return max(0, min(round(wait), MAX_RETRY_AFTER_SECONDS))


class CheckedResolver(AbstractResolver):
    """Resolves names to addresses. Raises TargetRefused unless all are allowed. Only checked addresses are used."""

    def __init__(self, resolve: Resolve, *, loopback_allowed: bool) -> None:
        self._resolve = resolve
        self._loopback_allowed = loopback_allowed

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = await self._resolve(host)
        if not addresses:
            raise OSError("no addresses")
        for address in addresses:
            fault = address_fault(address, loopback_allowed=self._loopback_allowed)
            if fault:
                raise TargetRefused(fault)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Does nothing: there is nothing to close."""


class EgressClient:
    def __init__(
        self,
        *,
        environment: str,
        loopback_allowed: bool,
        user_agent: str = "Kasuwa",
        limits: EgressLimits = DEFAULT_LIMITS,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._environment = environment
        self._loopback_allowed = loopback_allowed and environment == "test"
        self._limits = limits
        self._deadlines = Deadlines()
        self._threads = ThreadPoolExecutor(MAX_DNS_LOOKUPS, thread_name_prefix="kasuwa-lookup")
        self._lookup = CheckedResolver(resolve or self._resolve_by_system, loopback_allowed=self._loopback_allowed)
        self._tls = tls
        self._connector: aiohttp.TCPConnector | None = None
        self._template_of = lru_cache(maxsize=4096)(partial(make_template, user_agent=user_agent))
        # aiohttp limits the time of connecting only. `post` keeps the other limits.
        self._connecting = aiohttp.ClientTimeout(total=None, connect=limits.connect_seconds)
        # aiohttp's own limit per host is not first come, first served: under load some requests starve. The entry of a
        # host lives as long as a request holds it or waits for it.
        self._host_slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> EgressResponse:
        return await self.send("POST", url, body, headers)

    async def send(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> EgressResponse:
        target = parse_target(url, self._environment, self._loopback_allowed)
        if isinstance(target, str):
            raise TargetRefused(target)
        slot = self._host_slots.get(target.origin)
        if slot is None:
            slot = self._host_slots[target.origin] = asyncio.Semaphore(MAX_PER_HOST)
        if slot.locked():
            await self._wait_for(slot)
        else:
            await slot.acquire()
        try:
            return await self._exchange(method, target.url, body, headers)
        finally:
            slot.release()

    async def close(self) -> None:
        if self._connector is not None:
            await self._connector.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _wait_for(self, slot: asyncio.Semaphore) -> None:
        try:
            with self._deadlines.within(self._limits.queue_seconds):
                await slot.acquire()
        except TimeoutError:
            raise QueueTimeout("Too many to the same host are under way", sent=False) from None

    async def _exchange(self, method: str, url: URL, body: bytes, headers: Mapping[str, str]) -> EgressResponse:
        connector = self._connector or self._open()
        template = self._template_of(method, url)
        request = encode_request(template.head, headers, body)
        began = time.perf_counter()
        connection: Connection | None = None
        answered = False
        try:
            try:
                with self._deadlines.within(self._limits.response_seconds):
                    connection = await self._connect(connector, template)
                    message, content = await exchange(connection, request)
            except (aiohttp.ClientError, HttpProcessingError, EofStream, OSError) as error:
                reason, sent = next((reason, sent) for kind, reason, sent in FAILURE_REASONS if isinstance(error, kind))
                raise RequestFailed(reason, sent=sent) from None
            answered = True
            ms = (time.perf_counter() - began) * 1000
            response_body, is_complete = await self._take_body(content, self._limits.total_seconds - ms / 1000)
        finally:
            # Without an answer the connection is closed, because the next request on it could get the late answer.
            # A released connection is reused only if the answer was read completely.
            if connection is not None and answered:
                connection.release()
            elif connection is not None:
                connection.close()
        header = message.headers.get("Retry-After")
        retry_after = None if header is None else read_retry_after(header, datetime.now(UTC))
        date = message.headers.get("Date", "")
        return EgressResponse(message.code, retry_after, response_body, ms, is_complete, date, message.headers)

    async def _connect(self, connector: aiohttp.TCPConnector, template: RequestTemplate) -> Connection:
        try:
            return await connector.connect(template.connector_request, [], self._connecting)
        except TimeoutError:
            raise aiohttp.ConnectionTimeoutError from None

    async def _take_body(self, content: aiohttp.StreamReader, seconds: float) -> tuple[bytes, bool]:
        """Returns what arrives of the body within the limits, and whether that is all of it."""
        most = self._limits.body_bytes
        if content.is_eof() and content.exception() is None:
            # The body came with the headers, as most do, so no timeout is needed.
            return content.read_nowait(most), content.at_eof()
        body = bytearray()
        with suppress(aiohttp.ClientError, OSError), self._deadlines.within(seconds):
            while len(body) < most and (piece := await content.read(most - len(body))):
                body += piece
        return bytes(body), content.at_eof() and content.exception() is None

    def _open(self) -> aiohttp.TCPConnector:
        """Creates the connector. Called on first use, because it belongs to the running event loop."""
        self._connector = aiohttp.TCPConnector(
            limit=MAX_CONNECTIONS,
            keepalive_timeout=KEEPALIVE_SECONDS,
            resolver=self._lookup,
            # Nothing is cached. This only lets simultaneous lookups of one name share the result.
            use_dns_cache=True,
            ttl_dns_cache=0,
            socket_factory=self._open_socket,
            ssl=True if self._tls is None else self._tls,
        )
        line: Callable[..., ResponseHandler] = BoundedResponseHandler
        max_incoming = self._limits.body_bytes + MAX_OVERHEAD_BYTES
        self._connector._factory = partial(line, loop=asyncio.get_running_loop(), max_incoming=max_incoming)
        return self._connector

    def _open_socket(self, info: tuple[Any, ...]) -> socket.socket:
        """Opens a socket for an address. Checks the address again, however it was found."""
        family, kind, protocol, _, where = info
        fault = address_fault(where[0], loopback_allowed=self._loopback_allowed)
        if fault:
            raise PermissionError(fault)
        return socket.socket(family, kind, protocol)

    async def _resolve_by_system(self, host: str) -> Sequence[str]:
        """Resolves a name with the system's resolver, in threads of its own: the loop's are few, and slow names would
        block them all."""
        ask = partial(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        entries = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        return [str(where[0]) for _, _, _, _, where in entries]
