"""The console's cookies: how they are named and closed, and what ties a stranger's form to its browser."""

from datetime import timedelta
from hashlib import blake2b
from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from kasuwa.db.console_sessions import ABSOLUTE_TIMEOUT
from kasuwa.db.console_throttle import DEVICE_MAX_AGE

SESSION, FORM_SEED, FLASH, DEVICE = "kasuwa_session", "kasuwa_form", "kasuwa_said", "kasuwa_browser"
FLASH_LIFETIME = timedelta(seconds=60)
# Lax, so that a link in a mail finds its reader signed in; forms carry a token of their own besides.
SAME_SITE: dict[str, Literal["lax", "strict"]] = {
    SESSION: "lax",
    FORM_SEED: "strict",
    FLASH: "strict",
    DEVICE: "strict",
}
LIFETIMES = {SESSION: ABSOLUTE_TIMEOUT, FORM_SEED: None, FLASH: FLASH_LIFETIME, DEVICE: DEVICE_MAX_AGE}


class CookieSettings(msgspec.Struct, frozen=True):
    """`is_https`: people reach the console by https. Names then begin with `__Host-`, which browsers take only from
    this very host and only over TLS; on plain http, as on a laptop, no browser would keep such a cookie."""

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
        """Whether a response sets or drops the cookie already."""
        start = f"{self.name(cookie)}=".encode()
        return any(name == b"set-cookie" and value.startswith(start) for name, value in response.raw_headers)


def anonymous_csrf_token(cookie: str) -> str:
    """The form token of a browser without a session: only who can read its cookie can make it."""
    return blake2b(cookie.encode(), person=b"kasuwa form", digest_size=24).hexdigest()
