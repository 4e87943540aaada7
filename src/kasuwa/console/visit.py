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

from kasuwa.console.access import ROLES_BY_PERMISSION
from kasuwa.console.actions import CONSOLE
from kasuwa.console.audit_notes import describe_action
from kasuwa.console.cookies import DEVICE, FLASH, CookieSettings
from kasuwa.console.daily_totals import TotalsCache
from kasuwa.console.rendering import RenderedPage
from kasuwa.core.action import PAY, VIEW, Action, ApiMethod, MemoryRead, Read, Write, permission_needed, title_of
from kasuwa.core.addresses import Network
from kasuwa.core.codes import ERROR
from kasuwa.core.decision import AuditEntry, Decision, Merchant
from kasuwa.core.exchange_rates import HOME
from kasuwa.core.money import parse_minor
from kasuwa.db import audit_trail
from kasuwa.db.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.db.connections import Connection, Pool
from kasuwa.db.console_sessions import ConsoleSession
from kasuwa.db.console_users import ConsoleUser
from kasuwa.db.merchants import MerchantDirectory
from kasuwa.db.progress import RequestProgress
from kasuwa.db.reading import TornRead, snapshot
from kasuwa.db.writer import Writer

MAX_FLASH_LENGTH = 300
MAX_TOKEN_LENGTH = 100

# Hands a link to the person it is for, and to nobody else: answers what the page says of it.
DeliverLink = Callable[[str, str], Awaitable[str]]
AuditNote = Callable[[Decision], AuditEntry]
RunAction = Callable[[Merchant, str, Mapping[str, Any], AuditNote | None, Connection | None], Awaitable[dict[str, Any]]]


class InvariantCheck(msgspec.Struct, frozen=True):
    """A check of the laws of the books: when it ended, who asked for it, and every place where one is broken."""

    at: datetime
    by: str
    violations: list[str]


class ConsoleServices(msgspec.Struct, kw_only=True):
    """What the console works with, handed over by app.py. `act` asks for an action of the tables as a merchant, by
    the same rules as the API, and reads in the snapshot that it is given; `find_action` is the row that a body
    selects; `ping` sends a signed test event; `tell_story` is the timeline that `explain` gives; `tallies` is what
    the overview remembers, `last_audit` what the page of the laws shows; `rail_kinds` are the kinds of jobs that ask a
    rail."""

    environment: str
    console_url: str
    api_url: str
    proxies: Sequence[Network]
    merchant_directory: MerchantDirectory
    read_pool: Pool
    operator_pool: Pool
    writer: Writer
    vault: Any
    methods: tuple[ApiMethod, ...]
    rail_job_kinds: list[str]
    openapi: dict[str, Any]
    run_action: RunAction
    find_action: Callable[[str, Mapping[str, Any]], Action | None]
    send_test_event: Callable[[int, str], Awaitable[str]]
    url_fault: Callable[[str], str | None]
    read_timeline: Callable[[Any, Any], Awaitable[list[dict[str, Any]]]]
    templates: jinja2.Environment
    cookies: CookieSettings
    deliver_link: DeliverLink
    cooling_off: timedelta
    large_amount_minor: int
    totals_cache: TotalsCache = msgspec.field(default_factory=dict)
    last_check: InvariantCheck | None = None

    @property
    def is_live(self) -> bool:
        return self.environment == "live"

    def has_action(self, method: str, name: str) -> bool:
        """Of the API, or of what only the console can ask for."""
        return has_action((*self.methods, CONSOLE), method, name)


def has_action(methods: Iterable[ApiMethod], method: str, name: str) -> bool:
    return any(m.name == method and any(a.name == name for a in m.actions) for m in methods)


class StepUpRequired(Exception):
    """The visitor has to show again who they are, before this."""


class NotAllowed(Exception):
    """The visitor's role does not have the permission that an action needs."""


class NotFound(Exception):
    """No such thing, or not this visitor's: the two look alike."""


class Visit(msgspec.Struct):
    request: Request
    services: ConsoleServices
    nav_links: list[tuple[str, str]]
    session: ConsoleSession | None = None
    session_merchant: Merchant | None = None
    csrf_token: str = ""
    form: Mapping[str, Any] = {}
    progress: RequestProgress = msgspec.field(default_factory=RequestProgress)
    has_stepped_up: bool = False
    has_read: bool = False
    open_snapshot: Connection | None = None

    @property
    def user(self) -> ConsoleUser:
        assert self.session is not None, "the route lets strangers in"
        return self.session.user

    @property
    def merchant(self) -> Merchant:
        assert self.session_merchant is not None, "the route lets operators in"
        return self.session_merchant

    @property
    def query(self) -> Mapping[str, str]:
        return self.request.query_params

    @property
    def client_address(self) -> str:
        return self.request.client.host if self.request.client is not None else ""

    @property
    def device_token(self) -> str | None:
        """The token of a browser in which somebody signed in before."""
        token = self.services.cookies.read(self.request, DEVICE)
        return token if token is not None and len(token) <= MAX_TOKEN_LENGTH else None

    @property
    def audit_chain(self) -> int:
        """Whose audit trail tells of the visitor: their merchant's, or the operator's own."""
        return OPERATOR_CHAIN_ID if self.session_merchant is None else self.session_merchant.merchant_id

    def path_parameter(self, name: str) -> str:
        return str(self.request.path_params[name])

    def form_text(self, name: str) -> str:
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
        async with snapshot(self.services.read_pool) as connection:
            self.open_snapshot = connection
            try:
                yield connection
            finally:
                self.open_snapshot = None

    @property
    def reader(self) -> Pool:
        """For forms, which decide on what they read. Raises TornRead on a page that is only looked at."""
        self._check_form("reader")
        return self.services.read_pool

    @property
    def operators(self) -> Pool:
        """For what forms write, and what they read to decide on it. Raises TornRead on a page that is only looked
        at."""
        self._check_form("operators")
        return self.services.operator_pool

    @property
    def export_reader(self) -> Pool:
        """For files that are longer than a snapshot may be held: they are read in pieces, each of its own moment."""
        self._read_once("an export")
        return self.services.read_pool

    async def repair(self, work: Callable[[Connection], Awaitable[None]]) -> None:
        """Completes what somebody broke off, before the page that shows it is read."""
        assert self.is_form or not self.has_read, "it would not be seen in a snapshot that is older"
        async with self.services.operator_pool.acquire() as connection:
            await work(connection)

    def _check_form(self, what: str) -> None:
        if not self.is_form:
            raise TornRead(f"a page is read in one snapshot: {self.request.url.path} uses {what}")

    def _read_once(self, what: str) -> None:
        if self.has_read and not self.is_form:
            raise TornRead(f"a page is read in one snapshot: {self.request.url.path} reads {what} besides")
        self.has_read = True

    # --- answers ------------------------------------------------------------------------------------------

    def render(self, template: str, status: int = 200, **values: Any) -> Response:
        told = self.services.cookies.read(self.request, FLASH)
        shared: dict[str, Any] = {
            "visit": self,
            "user": None if self.session is None else self.session.user,
            "is_whole": self.session is not None and self.session.is_authenticated,
            "merchant": self.session_merchant,
            "environment": self.services.environment,
            "navigation": self.nav_links,
            "here": self.request.url.path,
            "csrf": self.csrf_token,
            "told": None if told is None else unquote(told)[:MAX_FLASH_LENGTH],
            "faults": {},
        }
        response = RenderedPage(self.services.templates, template, {**shared, **values}, status)
        if told is not None:
            self.services.cookies.delete_cookie(response, FLASH)
        return response

    def redirect(self, path: str, flash: str = "") -> Response:
        """To another page after something was done, which then says so once."""
        response = RedirectResponse(path, status_code=303)
        if flash:
            self.services.cookies.set_cookie(response, FLASH, quote(flash))
        return response

    # --- what pages do with it ----------------------------------------------------------------------------

    def is_allowed(self, action: Action, fields: Mapping[str, Any] = {}) -> bool:
        """Whether the visitor's role has the permission that the action needs."""
        return self.session is not None and self.user.role in ROLES_BY_PERMISSION[permission_needed(action, fields)]

    async def call_action(self, method: str, /, **fields: Any) -> "ActionReply":
        return await self.run_action(method, fields)

    async def run_action(self, method: str, fields: Mapping[str, Any], audit_text: str = "") -> "ActionReply":
        """Asks for an action as the visitor's merchant. What is more than a look is in the audit trail: a write in the
        commit that does it, anything else right after. `says` is what the trail calls it. Raises NotAllowed, and
        NotConfirmed where much money would leave and the visitor has not shown for a while who they are."""
        action = self.services.find_action(method, fields)
        if action is None:
            return ActionReply(await self.services.run_action(self.merchant, method, fields, None, None))
        if not self.is_allowed(action, fields):
            raise NotAllowed
        permission = permission_needed(action, fields)
        if permission == PAY and not self.has_stepped_up and is_large(method, fields, self.services.large_amount_minor):
            raise StepUpRequired
        if permission == VIEW:
            return await self._look(action, method, fields)
        title = f"{method} {title_of(action)}"
        note = partial(describe_action, self.user.email, self.client_address, audit_text or title, title, fields)
        is_write = isinstance(action, Write)
        reply = ActionReply(
            await self.services.run_action(self.merchant, method, fields, note if is_write else None, None)
        )
        if reply.is_success and not is_write:
            async with self.services.operator_pool.acquire() as connection:
                deed = note(Decision(reply=reply.body))
                await audit_trail.append_entry(connection, self.merchant.merchant_id, deed)
        return reply

    async def _look(self, action: Action, method: str, fields: Mapping[str, Any]) -> "ActionReply":
        """Asks for an action that changes nothing: in the page's snapshot, if one is open and the action is answered by
        the database."""
        within = self.open_snapshot if isinstance(action, Read | Write) else None
        if within is None and not isinstance(action, MemoryRead):
            self._read_once(f"{method} {action.name}")
        return ActionReply(await self.services.run_action(self.merchant, method, fields, None, within))

    async def record_audit(self, action: str, subject: str, before: Any = "", after: Any = "") -> None:
        """Into the audit trail of the visitor's merchant, or the operator's own."""
        async with self.services.operator_pool.acquire() as connection:
            await self.record_audit_on(connection, self.audit_chain, action, subject, before, after)

    async def record_audit_on(
        self, connection: Connection, chain: int, action: str, subject: str, before: Any = "", after: Any = ""
    ) -> None:
        deed = AuditEntry(self.user.email, action, subject, self.client_address, as_text(before), as_text(after))
        await audit_trail.append_entry(connection, chain, deed)


class ActionReply:
    """What an action answered: its body, and the faults of fields by name."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body

    @property
    def is_success(self) -> bool:
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
        if self.is_success:
            return {}
        named = {fault["field"]: fault["reason"] for fault in self.body.get("errors", ())}
        return named or {"": self.message}


# Cards may be of any currency, whatever their request says of it.
ALWAYS_LARGE_METHODS = frozenset({"virtualcard"})


def is_large(method: str, fields: Mapping[str, Any], large: int) -> bool:
    """Whether a request moves at least so much, in minor units of the home currency; also where that is not known."""
    if method in ALWAYS_LARGE_METHODS or fields.get("currency") not in (None, "", HOME):
        return True
    orders = fields["data"] if isinstance(fields.get("data"), list) else [fields]
    amounts = [parse_minor(str(order.get("amount", ""))) if isinstance(order, dict) else None for order in orders]
    return any(amount is None for amount in amounts) or sum(filter(None, amounts)) >= large


def as_text(said: Any) -> str:
    return said if isinstance(said, str) else msgspec.json.encode(said).decode()
