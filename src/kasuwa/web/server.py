"""Bytes in, bytes out: the RSGI application that Granian calls, and its bounds."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from kasuwa.core.addresses import Network, client_address
from kasuwa.core.codes import ERROR, INVALID_JSON, INVALID_METHOD
from kasuwa.core.decision import Refusal
from kasuwa.core.page import Pages
from kasuwa.observe.log import RequestIds, RequestLog
from kasuwa.observe.metrics import REQUEST_SECONDS, REQUESTS, Meter
from kasuwa.web.dispatch import Answered, Dispatch, refused
from kasuwa.web.table import Path

API_VERSION = "1"
BODY_SECONDS = 10.0
# After this long without a request in flight at shutdown, the process goes anyway.
DRAIN_SECONDS = 15.0

# Where payers' pages are, and the most that one of their forms may hold: a code and a decision.
PAGES = "/pay/"
MOST_FORM = 4 * 1024

NO_PATH = refused(Refusal(INVALID_METHOD, "Invalid method call: there is no such path"), strict=False, http=404)
NO_VERB = refused(Refusal(INVALID_METHOD, "Invalid method call: use PUT"), strict=False)
TOO_SLOW = refused(Refusal(INVALID_JSON, "Invalid JSON request: the body took too long"), strict=False, http=408)
STOPPING = refused(Refusal(ERROR, "The service is stopping; try again"), strict=False, http=503)

# The rest of such a body is not read, so nothing more can come on its connection.
HANG_UP = frozenset({408, 413})


def too_large(most: int) -> Answered:
    refusal = Refusal(INVALID_JSON, f"Invalid JSON request: the body is over {most // 1024} KiB")
    return refused(refusal, strict=False, http=413)


class TooLarge(Exception):
    """A body that grew over its bound while it was read."""


class Patience:
    """Bounds how long bodies may take, with one look around a second instead of a timer for every request."""

    def __init__(self) -> None:
        self._until: dict[asyncio.Task[Any], float] = {}
        self._over: set[asyncio.Task[Any]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._looking = False

    def begin(self) -> asyncio.Task[Any]:
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        # Who is told the loop need not ask the system which process this is.
        task = asyncio.current_task(loop)
        assert task is not None, "a request is answered by a task"
        self._until[task] = time.monotonic() + BODY_SECONDS
        if not self._looking:
            self._looking = True
            loop.call_later(1, self._look, loop)
        return task

    def end(self, task: asyncio.Task[Any]) -> None:
        self._until.pop(task, None)
        self._over.discard(task)

    def is_over(self, task: asyncio.Task[Any]) -> bool:
        return task in self._over

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        now = time.monotonic()
        for task, until in self._until.items():
            if now > until:
                self._over.add(task)
                task.cancel()
        self._looking = bool(self._until)
        if self._looking:
            loop.call_later(1, self._look, loop)


class Server:
    def __init__(
        self,
        table: dict[str, Path],
        dispatch: Dispatch,
        openapi: bytes,
        is_ready: Callable[[], Awaitable[str | None]],
        request_log: RequestLog,
        pages: Pages,
        meter: Meter,
        proxies: Sequence[Network] = (),
    ) -> None:
        self._table = table
        self._dispatch = dispatch
        self._openapi = openapi
        self._is_ready = is_ready
        self._log = request_log
        self._pages = pages
        self._meter = meter
        self._proxies = proxies
        self._ids = RequestIds()
        self._in_flight = 0
        self._patience = Patience()
        self.stopping = False

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        started = time.perf_counter()
        headers = scope.headers
        request_id = self._ids.choose(headers.get("x-request-id"))
        self._in_flight += 1
        try:
            answered = await self._answer(scope, protocol, headers)
        finally:
            self._in_flight -= 1
        out = [*answered.headers, ("x-request-id", request_id), ("x-api-version", API_VERSION)]
        if answered.retry_after is not None:
            out.append(("retry-after", str(answered.retry_after)))
        if answered.http in HANG_UP:
            out.append(("connection", "close"))
        protocol.response_bytes(answered.http, out, answered.body)
        seconds, path = time.perf_counter() - started, self._loggable(scope.path)
        self._meter.count(REQUESTS, path, answered.action, str(answered.status))
        self._meter.observe(REQUEST_SECONDS, seconds, path, answered.action)
        if self._log.is_open:
            method = scope.method if scope.method in ("PUT", "POST", "GET") else "other"
            said = (answered.action, answered.mid, answered.http, answered.status, seconds)
            self._log.write(request_id, self._address(scope), method, path, *said)

    def _address(self, scope: Any) -> str:
        """The client's address, behind a trusted proxy too."""
        return client_address(scope.client, ",".join(scope.headers.get_all("x-forwarded-for")), self._proxies)

    def _loggable(self, path: str) -> str:
        """A page's address holds a payer's token, and strangers' paths anything."""
        if path.startswith(PAGES):
            return PAGES
        return path if path in self._table else "other"

    async def _answer(self, scope: Any, protocol: Any, headers: Any) -> Answered:
        path = self._table.get(scope.path)
        if path is None:
            is_page = scope.path.startswith(PAGES)
            return await self._answer_page(scope, protocol, headers) if is_page else await self._answer_plain(scope)
        if scope.method not in ("PUT", "POST"):
            return NO_VERB
        if self.stopping:
            return STOPPING
        body = await self._read(protocol, headers, path.method.most_bytes)
        return (
            body
            if isinstance(body, Answered)
            else await self._dispatch.answer(path, headers, body, partial(self._address, scope))
        )

    async def _answer_page(self, scope: Any, protocol: Any, headers: Any) -> Answered:
        if self.stopping:
            return STOPPING
        form = await self._read(protocol, headers, MOST_FORM) if scope.method == "POST" else b""
        if isinstance(form, Answered):
            return form
        page = await self._pages.answer(scope.method, scope.path, form)
        return Answered(page.http, page.body, page.http, action="page", headers=page.headers)

    async def _read(self, protocol: Any, headers: Any, most: int) -> bytes | Answered:
        """The body, or what is answered to one that is too slow or too large. A declared length is believed (HTTP
        holds the sender to it), an undeclared one is counted as it comes."""
        length = headers.get("content-length")
        declared = length is not None and length.isdecimal()
        if declared and int(length) > most:
            return too_large(most)
        reading = self._patience.begin()
        try:
            return bytes(await protocol()) if declared else await read_chunks(protocol, most)
        except asyncio.CancelledError:
            if not self._patience.is_over(reading):
                raise
            return TOO_SLOW
        except TooLarge:
            return too_large(most)
        finally:
            self._patience.end(reading)

    async def _answer_plain(self, scope: Any) -> Answered:
        if scope.path not in ("/healthz", "/readyz", "/openapi.json"):
            return NO_PATH
        if scope.method not in ("GET", "HEAD"):
            return NO_VERB
        if scope.path == "/openapi.json":
            return Answered(200, self._openapi)
        if scope.path == "/healthz":
            return Answered(200, b'{"status":200,"message":"up"}')
        trouble = "stopping" if self.stopping else await self._is_ready()
        if trouble is None:
            return Answered(200, b'{"status":200,"message":"ready"}')
        return refused(Refusal(ERROR, trouble), strict=False, http=503)

    async def drain(self) -> None:
        """Wait until every request in flight has been answered."""
        until = time.monotonic() + DRAIN_SECONDS
        while self._in_flight and time.monotonic() < until:
            await asyncio.sleep(0.02)
        self._log.flush()


async def read_chunks(protocol: Any, most: int) -> bytes:
    chunks, size = [], 0
    async for chunk in protocol:
        size += len(chunk)
        if size > most:
            raise TooLarge
        chunks.append(bytes(chunk))
    return b"".join(chunks)


def encode_openapi(document: dict[str, Any]) -> bytes:
    return msgspec.json.encode(document)
