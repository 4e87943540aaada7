"""The application of the API that the HTTP server calls: routing, limits of bodies, and shutdown."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import partial

import msgspec

from kasuwa.api.checkout_script import SCRIPT_PATHS, serve_script
from kasuwa.api.dispatch import Dispatch
from kasuwa.api.documentation import CONTENTS, DOCS, TO_CONTENTS, DocumentationPages
from kasuwa.api.forwarding import RequestForwarder
from kasuwa.api.openapi.documents import DOCUMENT_PATHS, BuiltOnce, StaticDocument
from kasuwa.api.replies import API_VERSION, HttpReply, refusal_reply, with_address
from kasuwa.api.routes import Route
from kasuwa.concurrency.exhaustion import PoolExhausted
from kasuwa.core.addresses import Network, client_address, find_network
from kasuwa.core.codes import ERROR, ERROR_MEANINGS, INVALID_JSON, INVALID_METHOD
from kasuwa.core.decision import Refusal
from kasuwa.core.suggestions import find_nearest
from kasuwa.http.bodies import (
    CALLBACK_BODY,
    SMALL_BODY,
    BodyMemoryTimeout,
    BodyResources,
    BodyTimeout,
    BodyTooLarge,
    RequestBody,
)
from kasuwa.http.exchange import Exchange, IncompleteBody, Request
from kasuwa.http.headers import RequestHeaders
from kasuwa.http.page import Files, Page, Pages, StreamedPage
from kasuwa.http.public_limits import PublicLimits
from kasuwa.observe.log import RequestIds, RequestLine, RequestLog
from kasuwa.observe.metrics import REQUEST_SECONDS, REQUESTS, Metrics
from kasuwa.rails.ports.callback import Callbacks
from kasuwa.sandbox.request_records import RequestRecord

# At shutdown the process waits this long for requests in flight.
DRAIN_SECONDS = 15.0

# Path prefixes of the payers' pages, of the rails' call-backs, and of files.
PAGES = "/pay/"
RAILS = "/rails/"
FILES = "/statements/"

WHERE_TO_READ = (
    b'{"status":200,"message":"The documentation is at /docs/, its contents for programs at /llms.txt, and the OpenAPI'
    b' document at /openapi.json"}'
)

PATH_UNKNOWN = Refusal(INVALID_METHOD, "Invalid method call: there is no such path", error_code="path_unknown")
SIMILAR_PATH = Refusal(
    INVALID_METHOD, "Invalid method call: there is no such path (did you mean {path}?)", error_code="path_unknown"
)
ONLY_PUT = Refusal(INVALID_METHOD, "Invalid method call: use PUT", error_code="http_method_not_allowed")
PUT_INSTEAD = Refusal(
    INVALID_METHOD, "Invalid method call: use PUT; {path} takes no {method}", error_code="http_method_not_allowed"
)
ONLY_POST = Refusal(INVALID_METHOD, "Invalid method call: use POST", error_code="http_method_not_allowed")
ONLY_GET = Refusal(INVALID_METHOD, "Invalid method call: use GET", error_code="http_method_not_allowed")
SLOW_BODY = Refusal(INVALID_JSON, "Invalid JSON request: the body took too long", error_code="body_timeout")
BROKEN_BODY = Refusal(
    INVALID_JSON,
    "Invalid JSON request: the body broke off before its end, or has trailer fields; nothing was done",
    error_code="body_incomplete",
)
LARGE_BODY = Refusal(INVALID_JSON, "Invalid JSON request: the body is over {most} KiB", error_code="body_too_large")
MANY_LARGE_BODIES = Refusal(
    ERROR, "Too many large requests at once; nothing was done, try again", error_code="too_many_large_requests"
)
MANY_CALLBACKS = Refusal(
    ERROR, "Too many call-backs at once; nothing was done, send it again", error_code="too_many_callbacks"
)
NOT_READY = Refusal(ERROR, "{trouble}", error_code="not_ready")

NO_PATH = refusal_reply(PATH_UNKNOWN, strict=False, http=404)
USE_PUT_REPLY = refusal_reply(ONLY_PUT, strict=False)
USE_POST_REPLY = refusal_reply(ONLY_POST, strict=False, http=405)
USE_GET_REPLY = refusal_reply(ONLY_GET, strict=False, http=405)
TOO_SLOW = refusal_reply(SLOW_BODY, strict=False, http=408)
INCOMPLETE_BODY_REPLY = refusal_reply(BROKEN_BODY, strict=False, http=400)
BODY_MEMORY_REPLY = refusal_reply(MANY_LARGE_BODIES, strict=False, http=503)
BODY_MEMORY_REPLY.retry_after = 1
TOO_MANY_CALLBACKS = refusal_reply(MANY_CALLBACKS, strict=False, http=503)
TOO_MANY_CALLBACKS.retry_after = 5

# Whoever follows the request log does not fill it.
READS_THE_LOG = ("/sandbox", "requests")

# HTTP statuses after which the connection is closed, because the rest of the body was not read.
CLOSING_STATUSES = frozenset({400, 408, 413})
# Methods that a reply names; others may hold anything.
NAMED_METHODS = frozenset({"GET", "HEAD", "DELETE", "PATCH", "OPTIONS"})


def too_large(most: int) -> HttpReply:
    return refusal_reply(LARGE_BODY.fill(most=most // 1024), strict=False, http=413)


def body_error_reply(error: BodyTooLarge | BodyTimeout | BodyMemoryTimeout | IncompleteBody, most: int) -> HttpReply:
    """Returns the reply to a request whose body could not be read."""
    if isinstance(error, BodyTooLarge):
        return too_large(most)
    if isinstance(error, BodyMemoryTimeout):
        return BODY_MEMORY_REPLY
    return TOO_SLOW if isinstance(error, BodyTimeout) else INCOMPLETE_BODY_REPLY


def page_reply(page: Page, action: str = "page") -> HttpReply:
    return HttpReply(page.http, page.body, page.http, action=action, headers=page.headers)


def canonical(path: str) -> str:
    """Returns a path without doubled and trailing slashes. Contract: #requests"""
    return "/" + "/".join(part for part in path.split("/") if part)


def reply_headers(answered: HttpReply, request_id: str) -> list[tuple[str, str]]:
    out = [*answered.headers, ("x-request-id", request_id), ("x-api-version", API_VERSION)]
    if answered.retry_after is not None:
        out.append(("retry-after", str(answered.retry_after)))
    if answered.http_status in CLOSING_STATUSES:
        out.append(("connection", "close"))
    return out


class ServerServices(msgspec.Struct, frozen=True):
    """The services that the server uses."""

    routes: dict[str, Route]  # by path
    dispatch: Dispatch
    documents: BuiltOnce[dict[str, StaticDocument]]  # the OpenAPI documents by path
    documentation: DocumentationPages
    check_readiness: Callable[[], Awaitable[str | None]]  # returns the problem that keeps us from serving, or None
    request_log: RequestLog
    pages: Pages  # the payers' pages
    files: Files  # statements
    callbacks: Callbacks  # of the rails
    public_limits: PublicLimits  # of those three
    metrics: Metrics
    proxies: Sequence[Network] = ()  # proxies whose X-Forwarded-For is trusted
    forwarder: RequestForwarder | None = None  # None: all requests are decided in this process
    # Records requests for the console of the test environment. None in live.
    record_request: Callable[[str, RequestRecord], None] | None = None
    public_url: str = ""  # begins the links in errors; empty: they are paths
    details: dict[str, str | int] = {}  # further fields of the reply of /readyz: environment, version, schema


class Server:
    def __init__(self, services: ServerServices) -> None:
        self._routes = services.routes
        self._dispatch = services.dispatch
        self._answer_request = (services.forwarder or services.dispatch).answer
        self._documents = services.documents
        self._documentation = services.documentation
        self._check_readiness = services.check_readiness
        self._log = services.request_log
        self._pages = services.pages
        self._files = services.files
        self._callbacks = services.callbacks
        self._public_limits = services.public_limits
        self._metrics = services.metrics
        self._record_request = services.record_request
        self._proxies = services.proxies
        self._ready = msgspec.json.encode({"status": 200, "message": "ready", **services.details})
        self._public_url = services.public_url
        self._ids = RequestIds()
        self._in_flight = 0
        self._bodies = BodyResources()

    async def answer(self, request: Request, exchange: Exchange) -> None:
        """Answers a request and logs it."""
        started = time.perf_counter()
        path = request.path
        if path not in self._routes and path != PAGES:
            path = canonical(path)
        request_id = self._ids.choose(request.headers.get("x-request-id"))
        self._in_flight += 1
        try:
            answered = await self._make_reply(request, path, exchange)
            if answered.status in ERROR_MEANINGS:
                answered = msgspec.structs.replace(answered, body=with_address(answered.body, self._public_url))
            out = reply_headers(answered, request_id)
            if answered.pieces is None:
                exchange.reply(answered.http_status, out, answered.body)
            else:
                await exchange.reply_in_pieces(answered.http_status, out, answered.pieces)
        finally:
            self._in_flight -= 1
        seconds, shown = time.perf_counter() - started, self._loggable(path)
        self._metrics.count(REQUESTS, shown, answered.action, str(answered.status))
        self._metrics.observe(REQUEST_SECONDS, seconds, shown, answered.action)
        if self._record_request is not None and answered.mid and (shown, answered.action) != READS_THE_LOG:
            parts = (request_id, shown, answered.action, answered.http_status, answered.status, seconds * 1000)
            record = RequestRecord(datetime.now(UTC), *parts, sent=answered.sent, answered=answered.body)
            self._record_request(answered.mid, record)
        if self._log.is_open:
            method = request.method if request.method in ("PUT", "POST", "GET") else "other"
            line = RequestLine(
                request_id=request_id,
                address=self._address(request),
                method=method,
                path=shown,
                action=answered.action,
                mid=answered.mid,
                http=answered.http_status,
                status=answered.status,
                ms=round(seconds * 1000, 2),
            )
            self._log.write(line)

    def _address(self, request: Request) -> str:
        """Returns the client's address, also behind a trusted proxy."""
        return client_address(request.client, ",".join(request.headers.get_all("x-forwarded-for")), self._proxies)

    def _loggable(self, path: str) -> str:
        """Returns the path to log. That of a page or file holds a token, that of a call-back a secret, and an unknown
        one may hold anything."""
        if path in self._routes or path in SCRIPT_PATHS:
            return path
        for prefix in (PAGES, RAILS, FILES, DOCS):
            if path.startswith(prefix):
                return prefix
        return "other"

    async def _make_reply(self, request: Request, path: str, exchange: Exchange) -> HttpReply:
        headers, route = request.headers, self._routes.get(path)
        if route is None:
            if path.startswith(PAGES):
                return await self._answer_page(request, path, exchange)
            if path.startswith(RAILS):
                return await self._answer_callback(request, path, exchange)
            if path.startswith(FILES):
                return await self._answer_file(request, path)
            if path == DOCS or path.startswith(f"{DOCS}/"):
                return await self._documentation.serve(request.method, path, headers)
            return await self._answer_plain(request.method, path, headers)
        if request.method not in ("PUT", "POST"):
            if request.method not in NAMED_METHODS:
                return USE_PUT_REPLY
            return refusal_reply(PUT_INSTEAD.fill(path=path, method=request.method), strict=False)
        merchant = await self._dispatch.authenticate(route, headers, partial(self._address, request))
        if isinstance(merchant, HttpReply):
            return merchant
        most = route.method.max_body_bytes
        body = RequestBody(self._bodies, exchange, most, merchant.merchant_id, route.largest_body)
        try:
            content = await body.read()
            if len(content) > most and len(content) > await asyncio.to_thread(route.body_limit, content):
                raise BodyTooLarge
            answered = await self._answer_request(route, headers, content, merchant)
            if self._record_request is not None:
                answered.sent = content
            return answered
        except (BodyTooLarge, BodyTimeout, BodyMemoryTimeout, IncompleteBody) as error:
            return body_error_reply(error, most)
        finally:
            body.release()

    async def _answer_page(self, request: Request, path: str, exchange: Exchange) -> HttpReply:
        method, address, limits = request.method, self._address(request), self._public_limits
        network = find_network(address)
        if not limits.may_open(network, path):
            return page_reply(limits.too_many)
        try:
            form = await RequestBody(self._bodies, exchange, SMALL_BODY, network).read() if method == "POST" else b""
        except (BodyTooLarge, BodyTimeout, IncompleteBody) as error:
            return body_error_reply(error, SMALL_BODY)
        try:
            async with limits.request("page", network):
                page = await self._pages.serve(method, path, form, address)
        except PoolExhausted:
            return page_reply(limits.too_many)
        limits.record_found(network, path, page.http != 404)
        return page_reply(page)

    async def _answer_file(self, request: Request, path: str) -> HttpReply:
        address, limits = self._address(request), self._public_limits
        network = find_network(address)
        if not limits.may_open(network, path):
            return page_reply(limits.too_many, "file")
        file = await self._files.serve(request.method, path, address)
        limits.record_found(network, path, file.http != 404)
        if isinstance(file, StreamedPage):
            return HttpReply(file.http, b"", file.http, action="file", headers=file.headers, pieces=file.pieces)
        return page_reply(file, "file")

    async def _answer_callback(self, request: Request, path: str, exchange: Exchange) -> HttpReply:
        if request.method != "POST":
            return USE_POST_REPLY
        address = self._address(request)
        network = find_network(address)
        body = RequestBody(self._bodies, exchange, CALLBACK_BODY, network)
        try:
            content = await body.read()
            async with self._public_limits.request("callback", network):
                reply = await self._callbacks.receive(path, request.headers.get, content, address)
        except (BodyTooLarge, BodyTimeout, BodyMemoryTimeout, IncompleteBody) as error:
            return body_error_reply(error, CALLBACK_BODY)
        except PoolExhausted:
            return TOO_MANY_CALLBACKS
        finally:
            body.release()
        return HttpReply(reply.http, reply.body, reply.http, action="callback", headers=reply.headers)

    async def _answer_plain(self, method: str, path: str, headers: RequestHeaders) -> HttpReply:
        if path == "/" and method in ("GET", "HEAD"):
            return HttpReply(200, WHERE_TO_READ)
        if path == CONTENTS and method in ("GET", "HEAD"):
            return TO_CONTENTS
        if path in SCRIPT_PATHS:
            return serve_script(method, path, headers)
        if path not in ("/healthz", "/readyz") and path not in DOCUMENT_PATHS:
            near = find_nearest(path, (*self._routes, *DOCUMENT_PATHS, "/healthz", "/readyz"))
            if near is None:
                return NO_PATH
            return refusal_reply(SIMILAR_PATH.fill(path=near), strict=False, http=404)
        if method not in ("GET", "HEAD"):
            return USE_GET_REPLY
        if path in DOCUMENT_PATHS:
            document = (await self._documents.read())[path]
            return document.reply(headers.get("accept-encoding"), headers.get("if-none-match"))
        if path == "/healthz":
            return HttpReply(200, b'{"status":200,"message":"up"}')
        trouble = await self._check_readiness()
        if trouble is None:
            return HttpReply(200, self._ready)
        return refusal_reply(NOT_READY.fill(trouble=trouble), strict=False, http=503)

    async def drain(self) -> None:
        """Waits until every request in flight has been answered, at most DRAIN_SECONDS."""
        until = time.monotonic() + DRAIN_SECONDS
        while self._in_flight and time.monotonic() < until:
            await asyncio.sleep(0.02)
        self._log.flush()
