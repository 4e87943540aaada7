"""Simulators of vendors' APIs: a small HTTP server for each, with the vendor's rules, and faults on demand.

A twin knows nothing of our adapters: it is written from the vendor's documentation, so that the two check each other.
Tests run it in the process of the test; people run it with `kasuwa twin`.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Iterable
from typing import Any, Literal, Protocol

import msgspec
from aiohttp import ClientSession, web

from kasuwa.rails.twins.facts import VendorFacts
from kasuwa.rails.twins.forms import Problem, check_body, check_query, decode_body

# The decoded body of a request.
BODY = web.RequestKey("body", dict[str, Any])
# What is no part of a vendor's API: pages for payers, files at a third party, and what people who try a twin ask of it.
OUTSIDE = ("/_twin/", "/_files/", "/pay/", "/checkout/")

FaultKind = Literal[
    "drop",  # the connection is closed before the request is looked at
    "lose",  # the request is carried out, and the connection is closed without an answer
    "half",  # the answer breaks off in the middle
    "hang",  # the request is carried out, and there is no answer
    "hold",  # the request is carried out, and its answer waits for `release`
    "stall",  # the request is not carried out, and there is no answer
    "page",  # HTTP 200 with a web page, as a proxy answers
    "empty",  # HTTP 200 without a body
    "bad_gateway",  # HTTP 502 with a web page; the request is carried out
    "too_many",  # HTTP 429 with Retry-After
]


class Fault(msgspec.Struct):
    """A fault of the next calls whose path begins with `path`, of one HTTP method or of all. With `$` at its end it is
    the whole path."""

    kind: FaultKind
    path: str = "/"
    count: int = 1
    method: str = ""


class SeenRequest(msgspec.Struct, frozen=True):
    """A request that the vendor looked at."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


async def deliver(url: str, event: tuple[bytes, dict[str, str]]) -> int:
    """Sends a call-back. Returns the HTTP status of the answer."""
    body, headers = event
    async with ClientSession() as session, session.post(url, data=body, headers=headers) as answer:
        return answer.status


class VendorPart(Protocol):
    """A part of a vendor's API."""

    def routes(self) -> Iterable[web.RouteDef]: ...


class VendorRules(VendorPart, Protocol):
    """The API of one vendor."""

    name: str
    facts: VendorFacts

    def refuse(self, request: web.Request) -> web.Response | None:
        """Returns the vendor's refusal of a request without our keys, or None."""
        ...

    def refuse_form(self, problem: Problem) -> web.Response:
        """Returns the vendor's refusal of a request that is not of its form."""
        ...


class Twin:
    """Serves the API of a vendor on a loopback port. `parts` are further parts of the same API."""

    def __init__(self, rules: VendorRules, *parts: VendorPart) -> None:
        self.rules = rules
        self._parts = (rules, *parts)
        self.requests: list[SeenRequest] = []
        self.problems: list[tuple[str, Problem]] = []  # of requests that were not of their form, by their call
        self._faults: deque[Fault] = deque()
        self._runner: web.AppRunner | None = None
        self._released = threading.Event()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def add_fault(self, kind: FaultKind, path: str = "/", count: int = 1, method: str = "") -> None:
        self._faults.append(Fault(kind, path, count, method))

    @property
    def has_faults(self) -> bool:
        """Whether a fault waits for its call."""
        return bool(self._faults)

    def clear_faults(self) -> None:
        self._faults.clear()

    def release(self) -> None:
        """Lets the answers that are held leave. May be called from another thread."""
        self._released.set()

    def count(self, path: str) -> int:
        """Returns how many requests of a path the vendor has looked at."""
        return sum(request.path == path for request in self.requests)

    async def start(self, port: int = 0) -> None:
        application = web.Application(middlewares=[self._serve])
        for part in self._parts:
            application.add_routes(part.routes())
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    def _take_fault(self, method: str, path: str) -> FaultKind | None:
        for fault in self._faults:
            if f"{path}$".startswith(fault.path) and fault.method in ("", method):
                fault.count -= 1
                if not fault.count:
                    self._faults.remove(fault)
                return fault.kind
        return None

    def _refuse(self, request: web.Request, content: bytes) -> web.Response | None:
        """Returns the vendor's refusal of a request for its keys or its form, or None."""
        resource = request.match_info.route.resource
        if resource is None or request.path.startswith(OUTSIDE):
            return None
        refusal = self.rules.refuse(request)
        if refusal is not None:
            return refusal
        name = f"{request.method} {resource.canonical}"
        form = self.rules.facts.calls.get(name)
        if form is None:
            return None
        problem = check_query(form, request.query.items()) or check_body(form, request.content_type, content)
        if problem is None:
            request[BODY] = decode_body(content) if content else {}
            return None
        self.problems.append((name, problem))
        return self.rules.refuse_form(problem)

    @web.middleware
    async def _serve(self, request: web.Request, handler: Any) -> web.StreamResponse:
        fault = self._take_fault(request.method, request.path)
        if fault == "too_many":
            return web.json_response({"message": "Too many requests"}, status=429, headers={"Retry-After": "7"})
        if fault == "drop":
            return cut(request)
        if fault == "stall":
            await asyncio.sleep(60)
            return cut(request)
        content = await request.read()
        record = SeenRequest(
            request.method,
            request.path,
            dict(request.query),
            dict(request.headers),
            read_seen_body(request, content),
        )
        self.requests.append(record)
        refusal = self._refuse(request, content)
        response: web.Response = await handler(request) if refusal is None else refusal
        match fault:
            case "lose":
                return cut(request)
            case "hang":
                await asyncio.sleep(60)
            case "hold":
                await asyncio.to_thread(self._released.wait, 60)
            case "half":
                return await break_off(request, response)
            case "page":
                return web.Response(text="<html>Welcome</html>", content_type="text/html")
            case "empty":
                return web.Response()
            case "bad_gateway":
                return web.Response(text="<html>Bad gateway</html>", content_type="text/html", status=502)
        return response


def read_seen_body(request: web.Request, content: bytes) -> Any:
    """Returns the decoded body of a request, or None if it is no JSON."""
    try:
        return msgspec.json.decode(content) if request.content_type == "application/json" and content else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def cut(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def break_off(request: web.Request, response: web.Response) -> web.StreamResponse:
    """Sends the headers and half of the body, then closes the connection."""
    body = response.body if isinstance(response.body, bytes) else b""
    partial = web.StreamResponse(status=response.status, headers={"Content-Length": str(len(body))})
    partial.content_type = "application/json"
    await partial.prepare(request)
    await partial.write(body[: len(body) // 2])
    cut(request)
    return partial


class TwinThread:
    """Runs a twin in a thread with an event loop of its own, for callers that have none. Port 0 is any free one."""

    def __init__(self, twin: Twin, port: int = 0) -> None:
        self.twin = twin
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name=f"twin {twin.rules.name}")

    def __enter__(self) -> Twin:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.twin.start(self._port), self._loop).result(10)
        return self.twin

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _end(self) -> None:
        """Stops the twin, and ends requests that still hang."""
        await self.twin.stop()
        hanging = asyncio.all_tasks() - {asyncio.current_task()}
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)
