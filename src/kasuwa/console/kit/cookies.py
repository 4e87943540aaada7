"""The console's cookies: names and attributes, and the CSRF token of browsers without a session."""

from datetime import timedelta
from hashlib import blake2b
from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from kasuwa.people.sessions import ABSOLUTE_TIMEOUT
from kasuwa.people.throttle import DEVICE_MAX_AGE

SESSION, FORM_SEED, FLASH, DEVICE = "kasuwa_session", "kasuwa_form", "kasuwa_said", "kasuwa_browser"
FLASH_LIFETIME = timedelta(seconds=60)
# The session cookie is Lax, so that a link in a mail opens signed in. Forms are protected by CSRF tokens.
SAME_SITE: dict[str, Literal["lax", "strict"]] = {
    SESSION: "lax",
    FORM_SEED: "strict",
    FLASH: "strict",
    DEVICE: "strict",
}
LIFETIMES = {SESSION: ABSOLUTE_TIMEOUT, FORM_SEED: None, FLASH: FLASH_LIFETIME, DEVICE: DEVICE_MAX_AGE}


class CookieSettings(msgspec.Struct, frozen=True):
    """Names and attributes of the cookies."""

    # Users reach the console by https. Names then start with `__Host-`, which browsers accept from this host over TLS
    # only. On plain http, as on a laptop, browsers would reject such cookies.
    is_https: bool
    is_live: bool

    def name(self, cookie: str) -> str:
        return f"__Host-{cookie}" if self.is_https else cookie

    def read(self, request: Request, cookie: str) -> str | None:
        return request.cookies.get(self.name(cookie))

    def set_cookie(self, response: Response, cookie: str, value: str) -> Response:
        life = LIFETIMES[cookie]
        response.set_cookie(
            self.name(cookie),
            value,
            max_age=None if life is None else int(life.total_seconds()),
            httponly=True,
            samesite=SAME_SITE[cookie],
            secure=self.is_https or self.is_live,
        )
        return response

    def delete_cookie(self, response: Response, cookie: str) -> Response:
        response.delete_cookie(self.name(cookie), secure=self.is_https or self.is_live, httponly=True)
        return response

    def is_set_on(self, response: Response, cookie: str) -> bool:
        """Returns whether a response already sets or deletes the cookie."""
        prefix = f"{self.name(cookie)}=".encode()
        return any(name == b"set-cookie" and value.startswith(prefix) for name, value in response.raw_headers)


def anonymous_csrf_token(cookie: str) -> str:
    """Derives the CSRF token of a browser without a session. It cannot be made without the cookie."""
    return blake2b(cookie.encode(), person=b"kasuwa form", digest_size=24).hexdigest()
