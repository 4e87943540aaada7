"""One request of a browser, with everything a page may use; and the answers a page can give."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import quote, unquote

import jinja2
import msgspec
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from kasuwa.console.access import ROLES_WITH
from kasuwa.console.actions import CONSOLE
from kasuwa.console.cookies import DEVICE, SAID, Cookies
from kasuwa.console.days import Tallies
from kasuwa.console.notes import describe_act
from kasuwa.console.rendering import RenderedPage
from kasuwa.core.action import PAY, VIEW, Action, Known, Method, Read, Write, permission_needed, title_of
from kasuwa.core.addresses import Network
from kasuwa.core.codes import ERROR
from kasuwa.core.decision import Decision, Deed, Merchant
from kasuwa.core.money import parse_minor
from kasuwa.core.rates import HOME
from kasuwa.db import audit_trail
from kasuwa.db.audit_trail import OPERATORS_CHAIN
from kasuwa.db.console_sessions import Session
from kasuwa.db.console_users import User
from kasuwa.db.gather import TornRead, snapshot
from kasuwa.db.merchants import Directory
from kasuwa.db.pool import Connection, Pool
from kasuwa.db.progress import Progress
from kasuwa.db.writer import Writer

MOST_SAID = 300
MOST_TOKEN = 100

# Hands a link to the person it is for, and to nobody else: answers what the page says of it.
Deliver = Callable[[str, str], Awaitable[str]]
Note = Callable[[Decision], Deed]
Act = Callable[[Merchant, str, Mapping[str, Any], Note | None, Connection | None], Awaitable[dict[str, Any]]]


class AuditRun(msgspec.Struct, frozen=True):
    """A check of the laws of the books: when it ended, who asked for it, and every place where one is broken."""

    at: datetime
    by: str
    broken: list[str]


class Parts(msgspec.Struct, kw_only=True):
    """What the console works with, handed over by app.py. `act` asks for an action of the tables as a merchant, by
    the same rules as the API, and reads in the snapshot that it is given; `find_action` is the row that a body
    selects; `ping` sends a signed test event; `tell_story` is the timeline that `explain` gives; `tallies` is what
    the overview remembers, `last_audit` what the page of the laws shows; `rail_kinds` are the kinds of jobs that ask a
    rail."""

    environment: str
    console_url: str
    api_url: str
    proxies: Sequence[Network]
    directory: Directory
    reader: Pool
    operators: Pool
    writer: Writer
    vault: Any
    methods: tuple[Method, ...]
    rail_kinds: list[str]
    openapi: dict[str, Any]
    act: Act
    find_action: Callable[[str, Mapping[str, Any]], Action | None]
    ping: Callable[[int, str], Awaitable[str]]
    url_fault: Callable[[str], str | None]
    tell_story: Callable[[Any, Any], Awaitable[list[dict[str, Any]]]]
    templates: jinja2.Environment
    cookies: Cookies
    deliver: Deliver
    cooling_off: timedelta
    large_amount: int
    tallies: Tallies = msgspec.field(default_factory=dict)
    last_audit: AuditRun | None = None

    @property
    def is_live(self) -> bool:
        return self.environment == "live"

    def has_action(self, method: str, name: str) -> bool:
        """Of the API, or of what only the console can ask for."""
        return has_action((*self.methods, CONSOLE), method, name)


def has_action(methods: Iterable[Method], method: str, name: str) -> bool:
    return any(m.name == method and any(a.name == name for a in m.actions) for m in methods)


class NotConfirmed(Exception):
    """The visitor has to show again who they are, before this."""


class NotAllowed(Exception):
    """The visitor's role does not have the permission that an action needs."""


class NotFound(Exception):
    """No such thing, or not this visitor's: the two look alike."""


class Visit(msgspec.Struct):
    request: Request
    parts: Parts
    navigation: list[tuple[str, str]]
    session: Session | None = None
    known_merchant: Merchant | None = None
    form_token: str = ""
    form: Mapping[str, Any] = {}
    progress: Progress = msgspec.field(default_factory=Progress)
    is_confirmed: bool = False
    has_read: bool = False
    open_snapshot: Connection | None = None

    @property
    def user(self) -> User:
        assert self.session is not None, "the route lets strangers in"
        return self.session.user

    @property
    def merchant(self) -> Merchant:
        assert self.known_merchant is not None, "the route lets operators in"
        return self.known_merchant

    @property
    def query(self) -> Mapping[str, str]:
        return self.request.query_params

    @property
    def address(self) -> str:
        return self.request.client.host if self.request.client is not None else ""

    @property
    def device(self) -> str | None:
        """The token of a browser in which somebody signed in before."""
        token = self.parts.cookies.read(self.request, DEVICE)
        return token if token is not None and len(token) <= MOST_TOKEN else None

    @property
    def chain(self) -> int:
        """Whose audit trail tells of the visitor: their merchant's, or the operator's own."""
        return OPERATORS_CHAIN if self.known_merchant is None else self.known_merchant.merchant_id

    def path(self, name: str) -> str:
        return str(self.request.path_params[name])

    def said(self, name: str) -> str:
        """A field of the form as text, trimmed."""
        value = self.form.get(name, "")
        return value.strip() if isinstance(value, str) else ""

    async def upload(self, name: str) -> bytes | None:
        value = self.form.get(name)
        return await value.read() if isinstance(value, UploadFile) and value.filename else None

    # --- reading ------------------------------------------------------------------------------------------

    @property
    def is_form(self) -> bool:
        return self.request.method == "POST"

    @contextlib.asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Connection]:
        """The snapshot that a page is read in. A page that is only looked at has one: what it shows together is of one
        moment, and a second read raises TornRead. A form may read once more when it shows what came of it."""
        self._read_once("a snapshot")
        async with snapshot(self.parts.reader) as connection:
            self.open_snapshot = connection
            try:
                yield connection
            finally:
                self.open_snapshot = None

    @property
    def reader(self) -> Pool:
        """For forms, which decide on what they read. Raises TornRead on a page that is only looked at."""
        self._check_form("reader")
        return self.parts.reader

    @property
    def operators(self) -> Pool:
        """For what forms write, and what they read to decide on it. Raises TornRead on a page that is only looked
        at."""
        self._check_form("operators")
        return self.parts.operators

    @property
    def export_reader(self) -> Pool:
        """For files that are longer than a snapshot may be held: they are read in pieces, each of its own moment."""
        self._read_once("an export")
        return self.parts.reader

    async def repair(self, work: Callable[[Connection], Awaitable[None]]) -> None:
        """Completes what somebody broke off, before the page that shows it is read."""
        assert self.is_form or not self.has_read, "it would not be seen in a snapshot that is older"
        async with self.parts.operators.acquire() as connection:
            await work(connection)

    def _check_form(self, what: str) -> None:
        if not self.is_form:
            raise TornRead(f"a page is read in one snapshot: {self.request.url.path} uses {what}")

    def _read_once(self, what: str) -> None:
        if self.has_read and not self.is_form:
            raise TornRead(f"a page is read in one snapshot: {self.request.url.path} reads {what} besides")
        self.has_read = True

    # --- answers ------------------------------------------------------------------------------------------

    def show(self, template: str, status: int = 200, **values: Any) -> Response:
        told = self.parts.cookies.read(self.request, SAID)
        shared: dict[str, Any] = {
            "visit": self,
            "user": None if self.session is None else self.session.user,
            "is_whole": self.session is not None and self.session.is_whole,
            "merchant": self.known_merchant,
            "environment": self.parts.environment,
            "navigation": self.navigation,
            "here": self.request.url.path,
            "csrf": self.form_token,
            "told": None if told is None else unquote(told)[:MOST_SAID],
            "faults": {},
        }
        response = RenderedPage(self.parts.templates, template, {**shared, **values}, status)
        if told is not None:
            self.parts.cookies.drop(response, SAID)
        return response

    def go(self, where: str, said: str = "") -> Response:
        """To another page after something was done, which then says so once."""
        response = RedirectResponse(where, status_code=303)
        if said:
            self.parts.cookies.put(response, SAID, quote(said))
        return response

    # --- what pages do with it ----------------------------------------------------------------------------

    def may(self, action: Action, fields: Mapping[str, Any] = {}) -> bool:
        """Whether the visitor's role has the permission that the action needs."""
        return self.session is not None and self.user.role in ROLES_WITH[permission_needed(action, fields)]

    async def act(self, method: str, /, **fields: Any) -> "Reply":
        return await self.do(method, fields)

    async def do(self, method: str, fields: Mapping[str, Any], says: str = "") -> "Reply":
        """Asks for an action as the visitor's merchant. What is more than a look is in the audit trail: a write in the
        commit that does it, anything else right after. `says` is what the trail calls it. Raises NotAllowed, and
        NotConfirmed where much money would leave and the visitor has not shown for a while who they are."""
        action = self.parts.find_action(method, fields)
        if action is None:
            return Reply(await self.parts.act(self.merchant, method, fields, None, None))
        if not self.may(action, fields):
            raise NotAllowed
        permission = permission_needed(action, fields)
        if permission == PAY and not self.is_confirmed and is_large(method, fields, self.parts.large_amount):
            raise NotConfirmed
        if permission == VIEW:
            return await self._look(action, method, fields)
        title = f"{method} {title_of(action)}"
        note = partial(describe_act, self.user.email, self.address, says or title, title, fields)
        is_write = isinstance(action, Write)
        reply = Reply(await self.parts.act(self.merchant, method, fields, note if is_write else None, None))
        if reply.is_good and not is_write:
            async with self.parts.operators.acquire() as connection:
                deed = note(Decision(reply=reply.body))
                await audit_trail.append(connection, self.merchant.merchant_id, deed)
        return reply

    async def _look(self, action: Action, method: str, fields: Mapping[str, Any]) -> "Reply":
        """Asks for an action that changes nothing: in the page's snapshot, if one is open and the action is answered by
        the database."""
        within = self.open_snapshot if isinstance(action, Read | Write) else None
        if within is None and not isinstance(action, Known):
            self._read_once(f"{method} {action.name}")
        return Reply(await self.parts.act(self.merchant, method, fields, None, within))

    async def record(self, what: str, about: str, before: Any = "", after: Any = "") -> None:
        """Into the audit trail of the visitor's merchant, or the operator's own."""
        async with self.parts.operators.acquire() as connection:
            await self.record_on(connection, self.chain, what, about, before, after)

    async def record_on(
        self, connection: Connection, chain: int, what: str, about: str, before: Any = "", after: Any = ""
    ) -> None:
        deed = Deed(self.user.email, what, about, self.address, as_text(before), as_text(after))
        await audit_trail.append(connection, chain, deed)


class Reply:
    """What an action answered: its body, and the faults of fields by name."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body

    @property
    def is_good(self) -> bool:
        return self.body.get("status") in (200, 202, "success")

    @property
    def is_error(self) -> bool:
        """Whether the action failed for a reason that is not the request's: it may have been done all the same."""
        return self.body.get("status") == ERROR

    @property
    def message(self) -> str:
        return str(self.body.get("message", ""))

    @property
    def faults(self) -> dict[str, str]:
        """Faults beside their fields; what belongs to none is under the empty name."""
        if self.is_good:
            return {}
        named = {fault["field"]: fault["reason"] for fault in self.body.get("errors", ())}
        return named or {"": self.message}


# Cards may be of any currency, whatever their request says of it.
ANY_CURRENCY = frozenset({"virtualcard"})


def is_large(method: str, fields: Mapping[str, Any], large: int) -> bool:
    """Whether a request moves at least so much, in minor units of the home currency; also where that is not known."""
    if method in ANY_CURRENCY or fields.get("currency") not in (None, "", HOME):
        return True
    orders = fields["data"] if isinstance(fields.get("data"), list) else [fields]
    amounts = [parse_minor(str(order.get("amount", ""))) if isinstance(order, dict) else None for order in orders]
    return any(amount is None for amount in amounts) or sum(filter(None, amounts)) >= large


def as_text(said: Any) -> str:
    return said if isinstance(said, str) else msgspec.json.encode(said).decode()
