"""The table of routes: each page with the roles that may open it. The door (server.py) reads nothing else."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec
from starlette.responses import Response

from kasuwa.console import account, signing_in
from kasuwa.console.access import ANYBODY, HALF_SIGNED_IN, SIGNED_IN, Roles
from kasuwa.console.visit import Parts, Visit


class Page(msgspec.Struct, frozen=True):
    """`label` puts it into the navigation; `needs` is an action (method, name) without which it is not there, and
    `test_only` pages are not there in live."""

    verb: str
    path: str
    answer: Callable[[Visit], Awaitable[Response]]
    roles: Roles
    label: str = ""
    needs: tuple[str, str] | None = None
    test_only: bool = False


PAGES: tuple[Page, ...] = (
    Page("GET", "/sign-in", signing_in.show_sign_in, ANYBODY),
    Page("POST", "/sign-in", signing_in.sign_in, ANYBODY),
    Page("GET", "/sign-in/code", signing_in.show_code, HALF_SIGNED_IN),
    Page("POST", "/sign-in/code", signing_in.check_code, HALF_SIGNED_IN),
    Page("GET", "/link/{token}", signing_in.show_link, ANYBODY),
    Page("POST", "/link/{token}", signing_in.use_link, ANYBODY),
    Page("POST", "/sign-out", signing_in.sign_out, SIGNED_IN),
    Page("GET", "/account", account.show_account, SIGNED_IN),
    Page("POST", "/account/password", account.change_password, SIGNED_IN),
    Page("GET", "/account/second-factor", account.show_second_factor, SIGNED_IN),
    Page("POST", "/account/second-factor", account.set_second_factor, SIGNED_IN),
)


def pages_of(parts: Parts) -> tuple[Page, ...]:
    """The pages of this deployment: those whose slices are there, and of the scripted world only in test."""
    return tuple(
        page
        for page in PAGES
        if not (page.test_only and parts.is_live) and (page.needs is None or parts.has_action(*page.needs))
    )


def navigation(visit: Visit, pages: Sequence[Page]) -> list[tuple[str, str]]:
    """Paths and labels of the pages that this visitor may open."""
    session = visit.session
    if session is None or not session.is_whole:
        return []
    role = session.user.role
    return [
        (page.path, page.label)
        for page in pages
        if page.label and isinstance(page.roles, frozenset) and role in page.roles
    ]
