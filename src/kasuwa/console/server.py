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
from kasuwa.console.access import ANYBODY, HALF_SIGNED_IN, Door
from kasuwa.console.bodies import BODY_SECONDS, Bodies, Crowded
from kasuwa.console.cookies import FORM, SESSION, strangers_token
from kasuwa.console.forwarded import ForwardedClient
from kasuwa.console.passwords import NOBODYS, Busy
from kasuwa.console.rendering import RenderedPage
from kasuwa.console.routes import Page, navigation, pages_of
from kasuwa.console.visit import NotAllowed, NotConfirmed, NotFound, Parts, Visit
from kasuwa.core.secrets import same
from kasuwa.db import console_sessions, merchants
from kasuwa.db.console_sessions import ROTATE_AFTER, Session
from kasuwa.db.console_throttle import network_of
from kasuwa.db.progress import is_outage
from kasuwa.observe.log import RequestIds, RequestLog, where_it_broke

log = structlog.get_logger("kasuwa.console")

MOST_BODY = 2 * 1024 * 1024
MOST_FIELDS = 200
ENROLMENT = ("/account/second-factor", "/sign-out")

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
PATTERN, VISIT = "kasuwa.pattern", "kasuwa.visit"
STATIC_HEADERS = {"cache-control": "public, max-age=3600"}

UNKNOWN = {
    404: ("Not found", "There is no such page, or it is not yours."),
    405: ("Not so", "This page does not take that."),
}

UNSTORABLE = "It holds a character that is no text (NUL). Remove it and send it again."

Answer = Callable[[Request], Awaitable[Response]]


class Refused(Exception):
    """Not let through, with what the visitor is answered instead."""

    def __init__(self, response: Response) -> None:
        self.response = response


def make_console(parts: Parts, request_log: RequestLog) -> Starlette:
    NOBODYS()  # made now: the first unknown address takes no longer than the second
    pages, bodies = pages_of(parts), Bodies()
    routes: list[Route | Mount] = [
        Route(page.path, door(parts, page, pages, bodies), methods=[page.verb], include_in_schema=False)
        for page in pages
    ]
    folder = files("kasuwa") / "console" / "static"
    routes.append(Mount("/static", app=StaticFiles(directory=str(folder))))
    application = Starlette(routes=routes, exception_handlers={HTTPException: plain_error(parts, pages)})
    application.add_middleware(PolicyHeaders)
    application.add_middleware(Lines, request_log=request_log)
    application.add_middleware(ForwardedClient, proxies=parts.proxies)
    return application


class PolicyHeaders:
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


class Lines:
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
                self._note(scope, request_id, http, time.perf_counter() - started)

    def _note(self, scope: Any, request_id: str, http: int, seconds: float) -> None:
        visit: Visit | None = scope.get(VISIT)
        merchant = None if visit is None else visit.known_merchant
        path = "/static/" if scope["path"].startswith("/static/") else scope.get(PATTERN, "other")
        verb = scope["method"] if scope["method"] in ("GET", "HEAD", "POST") else "other"
        mid = "" if merchant is None else merchant.mid
        client = scope.get("client")
        address = "" if client is None else client[0]
        self._log.write(request_id, address, verb, path, "console", mid, http, http, seconds)


# --- the door -----------------------------------------------------------------------------------------------------


def door(parts: Parts, page: Page, pages: Sequence[Page], bodies: Bodies) -> Answer:
    async def answer(request: Request) -> Response:
        visit = Visit(request, parts, [])
        request.scope[PATTERN], request.scope[VISIT] = page.path, visit
        try:
            new_token = await identify(visit)
            visit.navigation = navigation(visit, pages)
            admit(visit, page)
            check_address(visit)
            if page.verb == "POST":
                await take_form(visit, page, bodies)
                await ask_again(visit, page)
                visit.progress.expect_changes()
            response = await page.answer(visit)
            if isinstance(response, RenderedPage):
                await response.prepare()
            response = keep_form_cookie(visit, response)
            return response if new_token is None else renewed(response, new_token, parts)
        except Refused as refused:
            return keep_form_cookie(visit, refused.response)
        except NotConfirmed:
            return step_up.ask(visit)
        except Busy:
            return too_busy(visit)
        except NotAllowed:
            return not_allowed(visit)
        except NotFound:
            title, why = UNKNOWN[404]
            return visit.show("error.html", 404, title=title, why=why)
        except HTTPException as error:
            # A form that cannot be read: the one thing that Starlette refuses on the way to a page.
            return visit.show("error.html", error.status_code, title="Form refused", why="The form could not be read.")
        except Exception as error:
            return broken(visit, page.path, error)

    return answer


def renewed(response: Response, token: str, parts: Parts) -> Response:
    """A page that itself began or ended the session has set its cookie already."""
    return response if parts.cookies.is_in(response, SESSION) else parts.cookies.put(response, SESSION, token)


def broken(visit: Visit, pattern: str, error: Exception) -> Response:
    """What a visitor is told of a page that failed. Once its form was handed to the page, some of it may be done."""
    outage = is_outage(error)
    if not outage:
        log.error("page failed", page=pattern, **where_it_broke(error))
    if visit.progress.may_have_changed:
        why = "It is not known whether this was done. Look it up before you send it again."
        return visit.show("error.html", 503 if outage else 500, title="Outcome not known", why=why)
    if outage:
        return visit.show(
            "error.html", 503, title="Not now", why="The database does not answer. Try again in a moment."
        )
    return visit.show("error.html", 500, title="Our fault", why="Something went wrong here. Nothing was changed.")


async def identify(visit: Visit) -> str | None:
    """Fill in who it is; answers a new token where it is time for one."""
    visit.form_token = strangers_token(form_cookie(visit))
    token = visit.parts.cookies.read(visit.request, SESSION)
    if token is None or len(token) > 100:
        return None
    async with visit.parts.operators.acquire() as connection:
        session = await console_sessions.find(connection, token)
        if session is None:
            return None
        visit.session = session
        visit.form_token = session.csrf
        if session.user.mid is not None:
            merchant_id = await merchants.find_merchant_id(connection, session.user.mid)
            visit.known_merchant = await visit.parts.directory.by_id(merchant_id)
        return await console_sessions.rotate(connection, session) if is_old(session) else None


def is_old(session: Session) -> bool:
    return not session.is_previous and datetime.now(UTC) - session.rotated_at > ROTATE_AFTER


def admit(visit: Visit, page: Page) -> None:
    """One look at the table's roles; strangers are sent to sign in, others are refused."""
    if page.roles is ANYBODY:
        return
    session = visit.session
    if session is None:
        raise Refused(visit.parts.cookies.drop(to_sign_in(visit), SESSION))
    if page.roles is HALF_SIGNED_IN:
        if session.is_whole:
            raise Refused(visit.go("/"))
        return
    if not session.is_whole:
        raise Refused(RedirectResponse("/sign-in/code", 303))
    assert not isinstance(page.roles, Door)
    if session.user.role not in page.roles:
        if page.path == "/" and session.user.mid is None:
            raise Refused(visit.go("/operator/merchants"))
        raise Refused(not_allowed(visit))
    if visit.parts.is_live and session.user.totp_sealed is None and page.path not in ENROLMENT:
        raise Refused(visit.go("/account/second-factor"))


async def ask_again(visit: Visit, page: Page) -> None:
    """Where the page wants to know anew who it is, and where the form says so without being asked."""
    if visit.session is None or not visit.session.is_whole:
        return
    asked = await step_up.take(visit)
    visit.is_confirmed = step_up.is_recent(visit)
    if asked is not None or (page.confirms and not visit.is_confirmed):
        raise Refused(asked or step_up.ask(visit))


def too_busy(visit: Visit) -> Response:
    why = "Too many people sign in at this moment. Nothing was changed; try again in a few seconds."
    response = visit.show("error.html", 503, title="Too busy", why=why)
    response.headers["retry-after"] = "2"
    return response


def not_allowed(visit: Visit) -> Response:
    why = "Your role does not allow this. Somebody who manages people can change it."
    return visit.show("error.html", 403, title="Not allowed", why=why)


def to_sign_in(visit: Visit) -> Response:
    url = visit.request.url
    wanted = url.path if visit.request.method == "GET" and url.path != "/" else ""
    return RedirectResponse(f"/sign-in?next={wanted}" if wanted else "/sign-in", 303)


def check_address(visit: Visit) -> None:
    """Refuses an address with text that no table can hold: nothing has such a name, and no search can find it."""
    if any(not is_storable(str(value)) for value in visit.request.path_params.values()):
        raise NotFound
    wrong = [name for name, value in visit.query.items() if not is_storable(name) or not is_storable(value)]
    if wrong:
        raise Refused(visit.show("error.html", 400, title="Address refused", why=UNSTORABLE))


def hang_up(visit: Visit, status: int, title: str, why: str) -> Response:
    """The rest of the body is not read, so nothing more can come on its connection."""
    response = visit.show("error.html", status, title=title, why=why)
    response.headers["connection"] = "close"
    return response


async def take_form(visit: Visit, page: Page, bodies: Bodies) -> None:
    """The fields, if they come from a form of ours that this very browser was shown."""
    length = visit.request.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > MOST_BODY:
        raise Refused(visit.show("error.html", 413, title="Too large", why="A form has at most 2 MiB."))
    try:
        with bodies.reading(network_of(visit.address)):
            async with asyncio.timeout(BODY_SECONDS):
                visit.form = await visit.request.form(max_files=1, max_fields=MOST_FIELDS)
    except ClientDisconnect:
        why = "The form broke off before its end. Nothing was changed; send it again."
        raise Refused(visit.show("error.html", 400, title="Broken off", why=why)) from None
    except Crowded:
        raise Refused(
            hang_up(visit, 503, "Too busy", "Too many forms are on their way. Try again in a moment.")
        ) from None
    except TimeoutError:
        raise Refused(hang_up(visit, 408, "Too slow", "The form took too long to arrive. Send it again.")) from None
    said = visit.form.get("csrf")
    fits = isinstance(said, str) and same(said.encode(), visit.form_token.encode())
    if not fits or visit.request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        why = "This form is not one that you were shown just now. Go back, load the page again and send it again."
        raise Refused(visit.show("error.html", 403, title="Form refused", why=why))
    texts = [(name, value) for name, value in visit.form.items() if isinstance(value, str)]
    wrong = [name for name, value in texts if not is_storable(name) or not is_storable(value)]
    if wrong:
        named = ", ".join(name for name in wrong if is_storable(name)) or "a field without a name"
        raise Refused(visit.show("error.html", 422, title="Form refused", why=f"{named}: {UNSTORABLE}"))


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can hold a text: all of Unicode but NUL and halves of surrogate pairs."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def form_cookie(visit: Visit) -> str:
    """What ties a stranger's form to its browser; made when it first comes."""
    request = visit.request
    kept = visit.parts.cookies.read(request, FORM)
    if kept is None:
        kept = request.state.form_cookie = getattr(request.state, "form_cookie", None) or secrets.token_urlsafe(24)
    return kept


def keep_form_cookie(visit: Visit, response: Response) -> Response:
    made = getattr(visit.request.state, "form_cookie", None)
    if made is not None:
        visit.parts.cookies.put(response, FORM, made)
    return response


def plain_error(parts: Parts, pages: Sequence[Page]) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Paths and verbs that no route has: said within the frame that the visitor has everywhere."""

    async def answer(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        visit = Visit(request, parts, [])
        try:
            new_token = await identify(visit)
        except Exception as broke:
            return broken(visit, "other", broke)
        visit.navigation = navigation(visit, pages)
        title, why = UNKNOWN.get(error.status_code, UNKNOWN[404])
        response = visit.show("error.html", error.status_code, title=title, why=why)
        return response if new_token is None else renewed(response, new_token, parts)

    return answer
