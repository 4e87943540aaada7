"""The console's application: every request goes through one door, which the table of routes is checked at.

In order: who is it (session), may they (role), did they mean it (a form's token), and only then the page. What is
missing and what is not theirs answer alike. Every response carries the same strict policy.
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import structlog
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from kasuwa.console import step_up
from kasuwa.console.access import NO_SESSION, PASSWORD_ONLY, SessionRequirement
from kasuwa.console.body_limits import BODY_TIMEOUT_SECONDS, BodyLimiter, TooManyBodies
from kasuwa.console.cookies import FORM_SEED, SESSION, anonymous_csrf_token
from kasuwa.console.forwarded import ForwardedClient
from kasuwa.console.passwords import HashPoolFull, dummy_hash
from kasuwa.console.rendering import RenderedPage
from kasuwa.console.routes import ConsolePage, build_navigation, list_deployed_pages
from kasuwa.console.visit import ConsoleServices, NotAllowed, NotFound, StepUpRequired, Visit
from kasuwa.core.vault import is_equal_constant_time
from kasuwa.db import console_sessions, merchants
from kasuwa.db.console_sessions import ROTATE_AFTER, ConsoleSession
from kasuwa.db.console_throttle import network_of
from kasuwa.db.progress import is_outage
from kasuwa.observe.log import RequestIds, RequestLog, describe_error

log = structlog.get_logger("kasuwa.console")

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
# What the door leaves in a request's scope for the line about it.
ROUTE_SCOPE_KEY, VISIT_SCOPE_KEY = "kasuwa.pattern", "kasuwa.visit"
STATIC_HEADERS = {"cache-control": "public, max-age=3600"}

ERROR_TEXTS = {
    404: ("Not found", "There is no such page, or it is not yours."),
    405: ("Not so", "This page does not take that."),
}

NUL_REFUSED = "It holds a character that is no text (NUL). Remove it and send it again."

Endpoint = Callable[[Request], Awaitable[Response]]


class EarlyResponse(Exception):
    """Not let through, with what the visitor is answered instead."""

    def __init__(self, response: Response) -> None:
        self.response = response


def make_console(parts: ConsoleServices, request_log: RequestLog) -> Starlette:
    dummy_hash()  # made now: the first unknown address takes no longer than the second
    pages, bodies = list_deployed_pages(parts), BodyLimiter()
    routes: list[Route | Mount] = [
        Route(page.path, make_endpoint(parts, page, pages, bodies), methods=[page.http_method], include_in_schema=False)
        for page in pages
    ]
    folder = files("kasuwa") / "console" / "static"
    routes.append(Mount("/static", app=StaticFiles(directory=str(folder))))
    application = Starlette(routes=routes, exception_handlers={HTTPException: make_error_handler(parts, pages)})
    application.add_middleware(SecurityHeaders)
    application.add_middleware(RequestLogging, request_log=request_log)
    application.add_middleware(ForwardedClient, proxies=parts.proxies)
    return application


class SecurityHeaders:
    """Puts the policy on everything that leaves, static files and errors included."""

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
    """A line a request, as the API writes it. A page is named by its pattern in the table of routes: what stands in
    an address may be a link's token, and strangers write anything into theirs."""

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
        self._log.write(request_id, address, verb, path, "console", mid, http, http, seconds)


# --- the door -----------------------------------------------------------------------------------------------------


def make_endpoint(
    parts: ConsoleServices, page: ConsolePage, pages: Sequence[ConsolePage], bodies: BodyLimiter
) -> Endpoint:
    async def answer(request: Request) -> Response:
        visit = Visit(request, parts, [])
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
            return response if new_token is None else set_rotated_token(response, new_token, parts)
        except EarlyResponse as refused:
            return set_form_seed(visit, refused.response)
        except StepUpRequired:
            return step_up.show_step_up(visit)
        except HashPoolFull:
            return too_busy(visit)
        except NotAllowed:
            return not_allowed(visit)
        except NotFound:
            title, why = ERROR_TEXTS[404]
            return visit.render("error.html", 404, title=title, why=why)
        except HTTPException as error:
            # A form that cannot be read: the one thing that Starlette refuses on the way to a page.
            return visit.render(
                "error.html", error.status_code, title="Form refused", why="The form could not be read."
            )
        except Exception as error:
            return error_response(visit, page.path, error)

    return answer


def set_rotated_token(response: Response, token: str, parts: ConsoleServices) -> Response:
    """A page that itself began or ended the session has set its cookie already."""
    return (
        response if parts.cookies.is_set_on(response, SESSION) else parts.cookies.set_cookie(response, SESSION, token)
    )


def error_response(visit: Visit, pattern: str, error: Exception) -> Response:
    """What a visitor is told of a page that failed. Once its form was handed to the page, some of it may be done."""
    outage = is_outage(error)
    if not outage:
        log.error("page failed", page=pattern, **describe_error(error))
    if visit.progress.may_have_changed:
        why = "It is not known whether this was done. Look it up before you send it again."
        return visit.render("error.html", 503 if outage else 500, title="Outcome not known", why=why)
    if outage:
        return visit.render(
            "error.html", 503, title="Not now", why="The database does not answer. Try again in a moment."
        )
    return visit.render("error.html", 500, title="Our fault", why="Something went wrong here. Nothing was changed.")


async def load_session(visit: Visit) -> str | None:
    """Fill in who it is; answers a new token where it is time for one."""
    visit.csrf_token = anonymous_csrf_token(form_seed(visit))
    token = visit.services.cookies.read(visit.request, SESSION)
    if token is None or len(token) > 100:
        return None
    async with visit.services.operator_pool.acquire() as connection:
        session = await console_sessions.find(connection, token)
        if session is None:
            return None
        visit.session = session
        visit.csrf_token = session.csrf_token
        if session.user.mid is not None:
            merchant_id = await merchants.find_merchant_id(connection, session.user.mid)
            visit.session_merchant = await visit.services.merchant_directory.get_by_id(merchant_id)
        return await console_sessions.rotate(connection, session) if is_due_for_rotation(session) else None


def is_due_for_rotation(session: ConsoleSession) -> bool:
    return not session.is_previous_token and datetime.now(UTC) - session.rotated_at > ROTATE_AFTER


def check_access(visit: Visit, page: ConsolePage) -> None:
    """One look at the table's roles; strangers are sent to sign in, others are refused."""
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
            raise EarlyResponse(visit.redirect("/operator/merchants"))
        raise EarlyResponse(not_allowed(visit))
    if visit.services.is_live and session.user.totp_sealed is None and page.path not in ENROLLMENT_PATHS:
        raise EarlyResponse(visit.redirect("/account/second-factor"))


async def require_step_up(visit: Visit, page: ConsolePage) -> None:
    """Where the page wants to know anew who it is, and where the form says so without being asked."""
    if visit.session is None or not visit.session.is_authenticated:
        return
    asked = await step_up.verify_step_up(visit)
    visit.has_stepped_up = step_up.is_step_up_recent(visit)
    if asked is not None or (page.needs_step_up and not visit.has_stepped_up):
        raise EarlyResponse(asked or step_up.show_step_up(visit))


def too_busy(visit: Visit) -> Response:
    why = "Too many people sign in at this moment. Nothing was changed; try again in a few seconds."
    response = visit.render("error.html", 503, title="Too busy", why=why)
    response.headers["retry-after"] = "2"
    return response


def not_allowed(visit: Visit) -> Response:
    why = "Your role does not allow this. Somebody who manages people can change it."
    return visit.render("error.html", 403, title="Not allowed", why=why)


def redirect_to_sign_in(visit: Visit) -> Response:
    url = visit.request.url
    wanted = url.path if visit.request.method == "GET" and url.path != "/" else ""
    return RedirectResponse(f"/sign-in?next={wanted}" if wanted else "/sign-in", 303)


def check_url_text(visit: Visit) -> None:
    """Refuses an address with text that no table can hold: nothing has such a name, and no search can find it."""
    if any(not is_storable(str(value)) for value in visit.request.path_params.values()):
        raise NotFound
    wrong = [name for name, value in visit.query.items() if not is_storable(name) or not is_storable(value)]
    if wrong:
        raise EarlyResponse(visit.render("error.html", 400, title="Address refused", why=NUL_REFUSED))


def refuse_and_close(visit: Visit, status: int, title: str, why: str) -> Response:
    """The rest of the body is not read, so nothing more can come on its connection."""
    response = visit.render("error.html", status, title=title, why=why)
    response.headers["connection"] = "close"
    return response


async def read_form(visit: Visit, page: ConsolePage, bodies: BodyLimiter) -> None:
    """The fields, if they come from a form of ours that this very browser was shown."""
    length = visit.request.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
        raise EarlyResponse(visit.render("error.html", 413, title="Too large", why="A form has at most 2 MiB."))
    try:
        with bodies.hold_slot(network_of(visit.client_address)):
            async with asyncio.timeout(BODY_TIMEOUT_SECONDS):
                visit.form = await visit.request.form(max_files=1, max_fields=MAX_FORM_FIELDS)
    except ClientDisconnect:
        why = "The form broke off before its end. Nothing was changed; send it again."
        raise EarlyResponse(visit.render("error.html", 400, title="Broken off", why=why)) from None
    except TooManyBodies:
        raise EarlyResponse(
            refuse_and_close(visit, 503, "Too busy", "Too many forms are on their way. Try again in a moment.")
        ) from None
    except TimeoutError:
        raise EarlyResponse(
            refuse_and_close(visit, 408, "Too slow", "The form took too long to arrive. Send it again.")
        ) from None
    said = visit.form.get("csrf")
    fits = isinstance(said, str) and is_equal_constant_time(said.encode(), visit.csrf_token.encode())
    if not fits or visit.request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        why = "This form is not one that you were shown just now. Go back, load the page again and send it again."
        raise EarlyResponse(visit.render("error.html", 403, title="Form refused", why=why))
    texts = [(name, value) for name, value in visit.form.items() if isinstance(value, str)]
    wrong = [name for name, value in texts if not is_storable(name) or not is_storable(value)]
    if wrong:
        named = ", ".join(name for name in wrong if is_storable(name)) or "a field without a name"
        raise EarlyResponse(visit.render("error.html", 422, title="Form refused", why=f"{named}: {NUL_REFUSED}"))


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can hold a text: all of Unicode but NUL and halves of surrogate pairs."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def form_seed(visit: Visit) -> str:
    """What ties a stranger's form to its browser; made when it first comes."""
    request = visit.request
    kept = visit.services.cookies.read(request, FORM_SEED)
    if kept is None:
        kept = request.state.form_cookie = getattr(request.state, "form_cookie", None) or secrets.token_urlsafe(24)
    return kept


def set_form_seed(visit: Visit, response: Response) -> Response:
    made = getattr(visit.request.state, "form_cookie", None)
    if made is not None:
        visit.services.cookies.set_cookie(response, FORM_SEED, made)
    return response


def make_error_handler(
    parts: ConsoleServices, pages: Sequence[ConsolePage]
) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Paths and verbs that no route has: said within the frame that the visitor has everywhere."""

    async def answer(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        visit = Visit(request, parts, [])
        try:
            new_token = await load_session(visit)
        except Exception as broke:
            return error_response(visit, "other", broke)
        visit.nav_links = build_navigation(visit, pages)
        title, why = ERROR_TEXTS.get(error.status_code, ERROR_TEXTS[404])
        response = visit.render("error.html", error.status_code, title=title, why=why)
        return response if new_token is None else set_rotated_token(response, new_token, parts)

    return answer
