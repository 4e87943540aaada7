"""The only outgoing HTTP of the service: webhooks now, rails behind HTTP later.

Merchants choose who is on the other side, so nothing about it is trusted: not its name, not what the name resolves
to, not that it ever answers or ever stops. What can go wrong is told apart by what may have happened:

    Refused       we do not talk to such a URL or address, and nothing was sent
    Undelivered   there was no answer; `sent` says whether the request may have arrived all the same
      Crowded     it was never tried: too many others to the same host were under way

An answer is its status. A body that never ends, drips or breaks off is taken as far as it came.
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

from kasuwa.work.http_connection import BoundedResponseHandler, RequestTemplate, encode_request, exchange, make_template
from kasuwa.work.url_policy import address_fault, parse_target

# An answer's body is kept for the event log only: a page of it is enough to see what went wrong.
MAX_BODY_BYTES = 20_000
MAX_CONNECTIONS = 1000
# Many merchants may share one host (a shop platform's): none of them has more than a quarter of these (webhooks.py).
MAX_PER_HOST = 128
# Below what common servers keep (Node, Apache, uvicorn: 5 s), so that we seldom write to what is just being closed.
KEEPALIVE_SECONDS = 4.0
# One name server that hangs takes one thread for as long as the system's resolver lets it; the others go on.
MAX_DNS_LOOKUPS = 64
MAX_RETRY_AFTER_SECONDS = 86_400
HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT", re.ASCII)


class TargetRefused(Exception):
    """An address or URL we do not talk to. Its text is one sentence and safe to show."""


class RequestFailed(Exception):
    """No answer was had. Its text is one sentence and safe to show."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.may_have_arrived = sent


class QueueTimeout(RequestFailed):
    """Its turn did not come in time, and nothing was tried."""


# The first match counts. Whatever happens before the connection stands has sent nothing.
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


class EgressTimeouts(msgspec.Struct, frozen=True):
    """Seconds. The wait for a turn and the whole exchange together end before a delivery's lease does, or somebody else
    would send the same again meanwhile. `answer` is D39's."""

    queue_seconds: float = 4.0
    connect_seconds: float = 5.0
    response_seconds: float = 10.0
    total_seconds: float = 15.0


DEFAULT_TIMEOUTS = EgressTimeouts()


class EgressResponse(msgspec.Struct, frozen=True):
    """What came back: `body` up to its bound, `retry_after` in seconds, `ms` until the status was there."""

    status: int
    retry_after: int | None
    body: bytes
    response_ms: float


Resolve = Callable[[str], Awaitable[Sequence[str]]]


def read_retry_after(text: str, now: datetime) -> int | None:
    """Seconds, from seconds or from a date, at most a day. What cannot be read asks for nothing."""
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
    """Names to addresses, all of which must be allowed. What was checked is what is connected to."""

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
        """There is nothing to close."""


class DeadlineGroup:
    """Deadlines of one length, with one timer for all of them: a timer for each would cost every request a tenth of
    its time. They stand in the order in which they began, so the first is the next to fall due."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due: dict[asyncio.Task[Any] | None, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        self._due[asyncio.current_task()] = loop.time() + self._seconds
        if self._timer is None:
            self._timer = loop.call_later(self._seconds, self._sweep, loop)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        task = asyncio.current_task()
        if self._due.pop(task, None) is not None or task is None:
            return
        # The sweep took it. Somebody else may have cancelled it besides: that is not ours to swallow.
        if task.uncancel() == 0 and kind is asyncio.CancelledError:
            raise TimeoutError

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        while self._due:
            task, due = next(iter(self._due.items()))
            if due > loop.time():
                self._timer = loop.call_at(due, self._sweep, loop)
                return
            del self._due[task]
            if task is not None:
                task.cancel()


class EgressClient:
    def __init__(
        self,
        *,
        environment: str,
        loopback_allowed: bool,
        user_agent: str = "Kasuwa",
        limits: EgressTimeouts = DEFAULT_TIMEOUTS,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._environment = environment
        self._loopback_allowed = loopback_allowed and environment == "test"
        self._limits = limits
        self._turn_clock = DeadlineGroup(limits.queue_seconds)
        self._answer_clock = DeadlineGroup(limits.response_seconds)
        self._threads = ThreadPoolExecutor(MAX_DNS_LOOKUPS, thread_name_prefix="kasuwa-lookup")
        self._lookup = CheckedResolver(resolve or self._ask_system, loopback_allowed=self._loopback_allowed)
        self._tls = tls
        self._connector: aiohttp.TCPConnector | None = None
        self._way = lru_cache(maxsize=4096)(partial(make_template, user_agent=user_agent))
        # A clock is needed only while connecting: `post` keeps the others.
        self._connecting = aiohttp.ClientTimeout(total=None, connect=limits.connect_seconds)
        # aiohttp's own bound per host is not first come, first served: under load its queue starves. A host's
        # entry lives for as long as somebody holds or awaits a turn.
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> EgressResponse:
        target = parse_target(url, self._environment, self._loopback_allowed)
        if isinstance(target, str):
            raise TargetRefused(target)
        turn = self._turns.get(target.origin)
        if turn is None:
            turn = self._turns[target.origin] = asyncio.Semaphore(MAX_PER_HOST)
        if turn.locked():
            await self._wait_for(turn)
        else:
            await turn.acquire()
        try:
            return await self._exchange(target.url, body, headers)
        finally:
            turn.release()

    async def close(self) -> None:
        if self._connector is not None:
            await self._connector.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _wait_for(self, turn: asyncio.Semaphore) -> None:
        try:
            with self._turn_clock:
                await turn.acquire()
        except TimeoutError:
            raise QueueTimeout("Too many to the same host are under way", sent=False) from None

    async def _exchange(self, url: URL, body: bytes, headers: Mapping[str, str]) -> EgressResponse:
        connector = self._connector or self._open()
        way = self._way(url)
        request = encode_request(way.head, headers, body)
        began = time.perf_counter()
        connection: Connection | None = None
        answered = False
        try:
            try:
                with self._answer_clock:
                    connection = await self._connect(connector, way)
                    message, content = await exchange(connection, request)
            except (aiohttp.ClientError, HttpProcessingError, EofStream, OSError) as error:
                reason, sent = next((reason, sent) for kind, reason, sent in FAILURE_REASONS if isinstance(error, kind))
                raise RequestFailed(reason, sent=sent) from None
            answered = True
            ms = (time.perf_counter() - began) * 1000
            taken = await self._take_body(content, self._limits.total_seconds - ms / 1000)
        finally:
            # An answer read whole leaves its connection to others; any other takes it along. So does one that is still
            # to come: whoever asked there next would take it for their own.
            if connection is not None and answered:
                connection.release()
            elif connection is not None:
                connection.close()
        said = message.headers.get("Retry-After")
        retry_after = None if said is None else read_retry_after(said, datetime.now(UTC))
        return EgressResponse(status=message.code, retry_after=retry_after, body=taken, response_ms=ms)

    async def _connect(self, connector: aiohttp.TCPConnector, way: RequestTemplate) -> Connection:
        try:
            return await connector.connect(way.connector_request, [], self._connecting)
        except TimeoutError:
            raise aiohttp.ConnectionTimeoutError from None

    async def _take_body(self, content: aiohttp.StreamReader, seconds: float) -> bytes:
        if content.is_eof() and content.exception() is None:
            # It came with the headers, as most do: no clock is needed.
            return content.read_nowait(MAX_BODY_BYTES)
        taken = bytearray()
        with suppress(aiohttp.ClientError, OSError):
            async with asyncio.timeout(seconds):
                while len(taken) < MAX_BODY_BYTES and (piece := await content.read(MAX_BODY_BYTES - len(taken))):
                    taken += piece
        return bytes(taken)

    def _open(self) -> aiohttp.TCPConnector:
        """On first use, since it belongs to the loop that runs then."""
        self._connector = aiohttp.TCPConnector(
            limit=MAX_CONNECTIONS,
            keepalive_timeout=KEEPALIVE_SECONDS,
            resolver=self._lookup,
            # Nothing is cached; this only lets those who ask for a name at the same moment share the lookup.
            use_dns_cache=True,
            ttl_dns_cache=0,
            socket_factory=self._open_socket,
            ssl=True if self._tls is None else self._tls,
        )
        line: Callable[..., ResponseHandler] = BoundedResponseHandler
        self._connector._factory = partial(line, loop=asyncio.get_running_loop())
        return self._connector

    def _open_socket(self, info: tuple[Any, ...]) -> socket.socket:
        """The last wall: whichever way an address came here, it is looked at where it is connected to."""
        family, kind, protocol, _, where = info
        fault = address_fault(where[0], loopback_allowed=self._loopback_allowed)
        if fault:
            raise PermissionError(fault)
        return socket.socket(family, kind, protocol)

    async def _ask_system(self, host: str) -> Sequence[str]:
        """In threads of our own: the loop's are few, and one slow name would hold up everybody's."""
        ask = partial(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        found = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        return [str(where[0]) for _, _, _, _, where in found]
