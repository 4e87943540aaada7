"""The console's ASGI application.

Every request passes the same checks before its page handler runs, in this order: session, role (routes.py), text that
PostgreSQL can store, then for a form its size, CSRF token and step-up authentication. An object that does not exist and
one of another merchant get the same response. Every response carries the same Content-Security-Policy.
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any
from urllib.parse import quote

import msgspec
import structlog
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Match, Mount, Route
from starlette.staticfiles import StaticFiles

from kasuwa.console.kit import step_up
from kasuwa.console.kit.access import NO_SESSION, PASSWORD_ONLY, SessionRequirement
from kasuwa.console.kit.body_limits import BODY_TIMEOUT_SECONDS, BodyLimiter, TooManyBodies
from kasuwa.console.kit.cookies import FORM_SEED, SESSION, anonymous_csrf_token
from kasuwa.console.kit.forwarded import ForwardedClient
from kasuwa.console.kit.rendering import RenderedPage
from kasuwa.console.kit.visit import (
    MAX_NEXT_LENGTH,
    ConfirmationRequired,
    ConsoleServices,
    NotAllowed,
    NotFound,
    StepUpRequired,
    Visit,
)
from kasuwa.console.merchant.store import read_clock
from kasuwa.console.routes import ConsolePage, build_navigation, list_deployed_pages
from kasuwa.core.addresses import find_network
from kasuwa.core.row_codes import RowChanged
from kasuwa.core.vault import is_equal_constant_time
from kasuwa.engine.progress import is_outage
from kasuwa.merchants import merchants
from kasuwa.observe.log import RequestIds, RequestLine, RequestLog, describe_error
from kasuwa.people import sessions
from kasuwa.people.passwords import HashPoolFull
from kasuwa.people.sessions import ROTATE_AFTER, ConsoleSession

log = structlog.get_logger("kasuwa.console")

# Of a form without files of its own limit, and of each file of a form that takes several.
MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_FORM_FIELDS = 200
ENROLLMENT_PATHS = ("/account/second-factor", "/sign-out")

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cross-origin-opener-policy": "same-origin",
}
# Scope keys under which make_endpoint leaves the route and the visit for the request log.
ROUTE_SCOPE_KEY, VISIT_SCOPE_KEY = "kasuwa.pattern", "kasuwa.visit"
# Smaller responses are sent as they are. The level is fast, and the largest page takes a few milliseconds.
MIN_COMPRESSED_BYTES, COMPRESSION_LEVEL = 1_000, 5
STATIC_HEADERS = {"cache-control": "public, max-age=3600"}

RECORD_CHANGED = (
    "A record that this page needs is not as the service wrote it, and is not used. Nothing was changed. "
    "Operators find it with `kasuwa audit`."
)
ERROR_TEXTS = {
    404: ("Not found", "This page does not exist, or you do not have access to it."),
    405: ("Method not allowed", "This page does not support that request."),
}

NUL_REFUSED = "It contains a NUL character, which cannot be stored. Remove it and try again."

Endpoint = Callable[[Request], Awaitable[Response]]


class EarlyResponse(Exception):
    """Raised to end a request before its page handler runs. Carries the response."""

    def __init__(self, response: Response) -> None:
        self.response = response


def make_console(services: ConsoleServices, request_log: RequestLog) -> Starlette:
    pages, bodies = list_deployed_pages(services), BodyLimiter()
    routes: list[Route | Mount] = [
        Route(
            page.path, make_endpoint(services, page, pages, bodies), methods=[page.http_method], include_in_schema=False
        )
        for page in pages
    ]
    folder = files("kasuwa") / "console" / "static"
    routes.append(Mount("/static", app=sent_here(StaticFiles(directory=str(folder)))))
    application = Starlette(routes=routes, exception_handlers={HTTPException: make_error_handler(services, pages)})
    # Starlette's own redirect would name the host of the Host header, which is the client's word.
    application.router.redirect_slashes = False
    # Cookies are sent with requests of the same site alone, so that no other site can have a page of a user compressed
    # together with a text of its own.
    application.add_middleware(GZipMiddleware, minimum_size=MIN_COMPRESSED_BYTES, compresslevel=COMPRESSION_LEVEL)
    application.add_middleware(SecurityHeaders)
    application.add_middleware(RequestLogging, request_log=request_log)
    application.add_middleware(ForwardedClient, proxies=services.proxies)
    return application


def sent_here(application: Any) -> Any:
    """Returns an application whose files are sent by itself: those that it leaves to the server are not compressed."""

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        await application({**scope, "extensions": {}}, receive, send)

    return serve


class SecurityHeaders:
    """Middleware that sets the security headers on every response, static files and errors included."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_static = scope["path"].startswith("/static/")
        added = {**HEADERS, **(STATIC_HEADERS if is_static else {"cache-control": "no-store"})}

        async def send_with_policy(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    *((name.encode(), value.encode()) for name, value in added.items()),
                ]
            await send(message)

        await self._app(scope, receive, send_with_policy)


class RequestLogging:
    """Middleware that writes one line per request to the request log, in the API's format.

    The line names the route's pattern, not the path: a path may contain the secret token of a link.
    """

    def __init__(self, app: Any, request_log: RequestLog) -> None:
        self._app = app
        self._log = request_log
        self._ids = RequestIds()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, http = time.perf_counter(), 0
        request_id = self._ids.choose(Headers(scope=scope).get("x-request-id"))

        async def send_with_id(message: Any) -> None:
            nonlocal http
            if message["type"] == "http.response.start":
                http = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            if self._log.is_open:
                self._write_line(scope, request_id, http, time.perf_counter() - started)

    def _write_line(self, scope: Any, request_id: str, http: int, seconds: float) -> None:
        visit: Visit | None = scope.get(VISIT_SCOPE_KEY)
        merchant = None if visit is None else visit.session_merchant
        path = "/static/" if scope["path"].startswith("/static/") else scope.get(ROUTE_SCOPE_KEY, "other")
        verb = scope["method"] if scope["method"] in ("GET", "HEAD", "POST") else "other"
        mid = "" if merchant is None else merchant.mid
        client = scope.get("client")
        address = "" if client is None else client[0]
        line = RequestLine(
            request_id=request_id,
            address=address,
            method=verb,
            path=path,
            action="console",
            mid=mid,
            http=http,
            status=http,
            ms=round(seconds * 1000, 2),
        )
        self._log.write(line)


# --- checks before the page handler -----------------------------------------------------------------------------


def make_endpoint(
    services: ConsoleServices, page: ConsolePage, pages: Sequence[ConsolePage], bodies: BodyLimiter
) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        visit = Visit(request, services, [])
        request.scope[ROUTE_SCOPE_KEY], request.scope[VISIT_SCOPE_KEY] = page.path, visit
        try:
            new_token = await load_session(visit)
            visit.nav_links = build_navigation(visit, pages)
            check_access(visit, page)
            check_url_text(visit)
            if page.http_method == "POST":
                await read_form(visit, page, bodies)
                await require_step_up(visit, page)
                visit.progress.expect_changes()
            response = await page.view(visit)
            if isinstance(response, RenderedPage):
                await response.prepare()
            response = set_form_seed(visit, response)
            return response if new_token is None else set_rotated_token(response, new_token, services)
        except EarlyResponse as early:
            return set_form_seed(visit, early.response)
        except StepUpRequired:
            return step_up.show_step_up(visit)
        except ConfirmationRequired as confirmation:
            return step_up.show_confirmation(visit, confirmation)
        except HashPoolFull:
            return busy_response(visit)
        except NotAllowed:
            return forbidden_response(visit)
        except NotFound:
            title, why = ERROR_TEXTS[404]
            return visit.render("error.html", 404, title=title, why=why)
        except HTTPException as error:
            # Starlette raises this only for a form that it cannot parse.
            return visit.render(
                "error.html",
                error.status_code,
                title="Invalid form",
                why=f"The form could not be read: {error.detail} Nothing was changed.",
            )
        except Exception as error:
            return error_response(visit, page.path, error)

    return endpoint


def set_rotated_token(response: Response, token: str, services: ConsoleServices) -> Response:
    """Sets the session cookie, unless the page handler has set or deleted it already."""
    return (
        response
        if services.cookies.is_set_on(response, SESSION)
        else services.cookies.set_cookie(response, SESSION, token)
    )


def error_response(visit: Visit, pattern: str, error: Exception) -> Response:
    """Returns the error page for an unexpected exception.

    Once a form was passed to its handler, the page says that the outcome is unknown.
    """
    if isinstance(error, RowChanged):
        return visit.render("error.html", 500, title="Record changed", why=RECORD_CHANGED)
    outage = is_outage(error)
    if not outage:
        log.error("page failed", page=pattern, **describe_error(error))
    if visit.progress.may_have_changed:
        why = "It is not known whether your request was carried out. Check before you send it again."
        return visit.render("error.html", 503 if outage else 500, title="Outcome unknown", why=why)
    if outage:
        return visit.render(
            "error.html", 503, title="Service unavailable", why="The database does not respond. Try again in a moment."
        )
    return visit.render(
        "error.html", 500, title="Internal error", why="An unexpected error occurred. Nothing was changed."
    )


async def load_session(visit: Visit) -> str | None:
    """Fills in the session, merchant and CSRF token. Returns a new session token if the old one is due for rotation."""
    visit.csrf_token = anonymous_csrf_token(form_seed(visit))
    token = visit.services.cookies.read(visit.request, SESSION)
    if token is None or len(token) > 100:
        return None
    async with visit.services.operator_pool.acquire() as connection:
        try:
            session = await sessions.find(connection, visit.services.vault, token)
        except RowChanged:  # logged; the page asks to sign in
            session = None
        if session is None:
            return None
        visit.session = session
        visit.csrf_token = session.csrf_token
        if session.user.mid is not None:
            merchant_id = await merchants.find_merchant_id(connection, session.user.mid)
            merchant = await visit.services.merchant_directory.get_by_id(merchant_id)
            waits = session.user.can_approve_from
            caller = visit.maker.as_caller(is_cooling_off=waits is not None and waits > datetime.now(UTC))
            visit.session_merchant = msgspec.structs.replace(merchant, caller=caller)
            if not visit.services.is_live:
                visit.clock = await read_clock(connection, visit.session_merchant, datetime.now(UTC))
        return (
            await sessions.rotate(connection, visit.services.vault, session) if is_due_for_rotation(session) else None
        )


def is_due_for_rotation(session: ConsoleSession) -> bool:
    return not session.is_previous_token and datetime.now(UTC) - session.rotated_at > ROTATE_AFTER


def check_access(visit: Visit, page: ConsolePage) -> None:
    """Checks the session and role against the route's access rule.

    Raises EarlyResponse: a redirect to sign in without a session, status 403 for a wrong role.
    """
    if page.access is NO_SESSION:
        return
    session = visit.session
    if session is None:
        raise EarlyResponse(visit.services.cookies.delete_cookie(redirect_to_sign_in(visit), SESSION))
    if page.access is PASSWORD_ONLY:
        if session.is_authenticated:
            raise EarlyResponse(visit.redirect("/"))
        return
    if not session.is_authenticated:
        raise EarlyResponse(RedirectResponse("/sign-in/code", 303))
    assert not isinstance(page.access, SessionRequirement)
    if session.user.role not in page.access:
        if page.path == "/" and session.user.mid is None:
            raise EarlyResponse(visit.redirect("/operator/home"))
        raise EarlyResponse(forbidden_response(visit))
    if visit.services.is_live and session.user.totp_sealed is None and page.path not in ENROLLMENT_PATHS:
        raise EarlyResponse(visit.redirect("/account/second-factor"))


async def require_step_up(visit: Visit, page: ConsolePage) -> None:
    """Verifies credentials that the form carries, and raises EarlyResponse if the page needs step-up authentication."""
    if visit.session is None or not visit.session.is_authenticated:
        return
    retry_page = await step_up.verify_step_up(visit)
    visit.has_stepped_up = step_up.is_step_up_recent(visit)
    if retry_page is not None or (page.needs_step_up and not visit.has_stepped_up):
        raise EarlyResponse(retry_page or step_up.show_step_up(visit))


def busy_response(visit: Visit) -> Response:
    why = "Too many users are signing in. Nothing was changed. Try again in a few seconds."
    response = visit.render("error.html", 503, title="Server busy", why=why)
    response.headers["retry-after"] = "2"
    return response


def forbidden_response(visit: Visit) -> Response:
    why = "Your role does not allow this. Ask an owner or administrator to change it."
    return visit.render("error.html", 403, title="Not allowed", why=why)


def redirect_to_sign_in(visit: Visit) -> Response:
    url = visit.request.url
    wanted = url.path + (f"?{url.query}" if url.query else "") if visit.request.method == "GET" else "/"
    if wanted == "/" or len(wanted) > MAX_NEXT_LENGTH:
        return RedirectResponse("/sign-in", 303)
    return RedirectResponse(f"/sign-in?next={quote(wanted, safe='/')}", 303)


def check_url_text(visit: Visit) -> None:
    """Refuses a URL with text that PostgreSQL cannot store: status 404 for a path, 400 for a query."""
    if any(not is_storable(str(value)) for value in visit.request.path_params.values()):
        raise NotFound
    wrong = [name for name, value in visit.query.items() if not is_storable(name) or not is_storable(value)]
    if wrong:
        raise EarlyResponse(visit.render("error.html", 400, title="Invalid address", why=NUL_REFUSED))


def refuse_and_close(visit: Visit, status: int, title: str, why: str) -> Response:
    """Returns an error page and closes the connection, because the rest of the body is not read."""
    response = visit.render("error.html", status, title=title, why=why)
    response.headers["connection"] = "close"
    return response


async def read_form(visit: Visit, page: ConsolePage, bodies: BodyLimiter) -> None:
    """Reads the form into visit.form and checks its CSRF token.

    Raises EarlyResponse if it is too large, too slow, incomplete, from another site, or contains unstorable text.
    """
    length = visit.request.headers.get("content-length", "")
    # Several files of the largest size fit, with the fields beside them.
    limit = MAX_BODY_BYTES * (page.max_files + (page.max_files > 1))
    if not length.isdecimal() or int(length) > limit:
        why = f"A form may have at most {limit // 1024**2} MiB."
        raise EarlyResponse(visit.render("error.html", 413, title="Form too large", why=why))
    try:
        with bodies.hold_slot(find_network(visit.client_address)):
            async with asyncio.timeout(BODY_TIMEOUT_SECONDS * page.max_files):
                visit.form = await visit.request.form(max_files=page.max_files, max_fields=MAX_FORM_FIELDS)
    except ClientDisconnect:
        why = "The form did not arrive completely. Nothing was changed. Send it again."
        raise EarlyResponse(visit.render("error.html", 400, title="Incomplete form", why=why)) from None
    except TooManyBodies:
        raise EarlyResponse(
            refuse_and_close(visit, 503, "Server busy", "Too many forms are being sent. Try again in a moment.")
        ) from None
    except TimeoutError:
        raise EarlyResponse(
            refuse_and_close(visit, 408, "Request timeout", "The form took too long to arrive. Send it again.")
        ) from None
    token = visit.form.get("csrf")
    is_valid = isinstance(token, str) and is_equal_constant_time(token.encode(), visit.csrf_token.encode())
    if not is_valid or visit.request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        why = "This form has expired or was not opened in this browser. Reload the page and send it again."
        raise EarlyResponse(visit.render("error.html", 403, title="Invalid form", why=why))
    texts = [(name, value) for name, value in visit.form.items() if isinstance(value, str)]
    wrong = [name for name, value in texts if not is_storable(name) or not is_storable(value)]
    if wrong:
        named = ", ".join(name for name in wrong if is_storable(name)) or "field name"
        raise EarlyResponse(visit.render("error.html", 422, title="Invalid form", why=f"{named}: {NUL_REFUSED}"))


def is_storable(text: str) -> bool:
    """Returns whether PostgreSQL can store a text: it must not contain NUL or unpaired surrogates."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def form_seed(visit: Visit) -> str:
    """Returns the seed of the CSRF token of a browser without a session. Made on its first request."""
    request = visit.request
    seed = visit.services.cookies.read(request, FORM_SEED)
    if seed is None:
        seed = request.state.form_cookie = getattr(request.state, "form_cookie", None) or secrets.token_urlsafe(24)
    return seed


def set_form_seed(visit: Visit, response: Response) -> Response:
    new_seed = getattr(visit.request.state, "form_cookie", None)
    if new_seed is not None:
        visit.services.cookies.set_cookie(response, FORM_SEED, new_seed)
    return response


def redirect_without_slash(request: Request) -> Response | None:
    """Returns the redirect to the page that a path with slashes at its end means, or None if there is none."""
    requested_path, query = request.scope["path"], request.url.query
    path = "/" + requested_path.strip("/")
    meant = {**request.scope, "path": path}
    if path == requested_path or all(route.matches(meant)[0] is not Match.FULL for route in request.app.routes):
        return None
    return RedirectResponse(f"{path}?{query}" if query else path, 307)


def make_error_handler(
    services: ConsoleServices, pages: Sequence[ConsolePage]
) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Returns the handler for unknown paths and methods. Its page has the navigation of the signed-in user."""

    async def handle_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        meant = redirect_without_slash(request) if error.status_code == 404 else None
        if meant is not None:
            return meant
        visit = Visit(request, services, [])
        try:
            new_token = await load_session(visit)
        except Exception as session_error:
            return error_response(visit, "other", session_error)
        visit.nav_links = build_navigation(visit, pages)
        title, why = ERROR_TEXTS.get(error.status_code, ERROR_TEXTS[404])
        response = visit.render("error.html", error.status_code, title=title, why=why)
        return response if new_token is None else set_rotated_token(response, new_token, services)

    return handle_error
