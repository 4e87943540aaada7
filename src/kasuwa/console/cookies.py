"""The cookies: the session's token, and what ties a stranger's form to the browser that asked for it."""

from hashlib import blake2b

from starlette.requests import Request
from starlette.responses import Response

from kasuwa.db.console_sessions import ABSOLUTE_END

SESSION_COOKIE = "kasuwa_session"
FORM_COOKIE = "kasuwa_form"


def session_token(request: Request) -> str | None:
    return request.cookies.get(SESSION_COOKIE)


def set_session(response: Response, token: str, is_live: bool) -> Response:
    """Lax, so that a link in a mail finds its reader signed in; forms carry a token of their own besides."""
    response.set_cookie(
        SESSION_COOKIE,
        token,
        max_age=int(ABSOLUTE_END.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=is_live,
    )
    return response


def clear_session(response: Response) -> Response:
    response.delete_cookie(SESSION_COOKIE)
    return response


def strangers_token(cookie: str) -> str:
    """The form token of a browser without a session: only who can read its cookie can make it."""
    return blake2b(cookie.encode(), person=b"kasuwa form", digest_size=24).hexdigest()
