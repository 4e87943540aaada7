"""The Visit that every page handler receives: a browser request, the console's services and helpers for responses.

A page that is read with GET reads the database in one snapshot. Visit raises TornRead when a page reads twice.
"""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Protocol
from urllib.parse import quote, unquote

import jinja2
import msgspec
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from kasuwa.audit.make_close import Record, SignedClose
from kasuwa.authority import acts, audit_trail
from kasuwa.authority.audit_notes import ActionNote
from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.authority.roles import CAN_INTEGRATE, CAN_MOVE_MONEY, ROLES_BY_PERMISSION
from kasuwa.concurrency.shares import FileShares
from kasuwa.console.kit.cookies import DEVICE, FLASH, CookieSettings
from kasuwa.console.kit.links import LinkSender
from kasuwa.console.kit.navigation import NavigationGroup, find_current_page
from kasuwa.console.kit.rendering import RenderedPage
from kasuwa.console.kit.values import remove_separators
from kasuwa.console.merchant.actions import CONSOLE
from kasuwa.console.merchant.store import BusinessClock
from kasuwa.core.action import (
    PAY,
    VIEW,
    Action,
    ApiMethod,
    MemoryRead,
    Permission,
    Read,
    Write,
    least_permission,
    make_action_title,
    moves_at_least,
    permission_needed,
)
from kasuwa.core.addresses import Network
from kasuwa.core.callers import KEY_SCOPES, KeyScope, Maker
from kasuwa.core.codes import ERROR
from kasuwa.core.decision import AuditEntry, Decision, Merchant
from kasuwa.core.routing import RailPurpose
from kasuwa.core.row_codes import CodedTable
from kasuwa.engine.progress import RequestProgress
from kasuwa.engine.reading import TornRead
from kasuwa.engine.writer import Writer
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.people.sessions import ConsoleSession
from kasuwa.people.users import ConsoleUser, make_maker
from kasuwa.postgres.connection_pool import Connection, Pool
from kasuwa.postgres.merchant_rows import ALL_MERCHANTS, MerchantReader, snapshot

MAX_FLASH_LENGTH = 300
MAX_TOKEN_LENGTH = 100
MAX_NEXT_LENGTH = 2_000
# Form field with which the page that asks first confirms.
CONFIRMED_FIELD = "confirmed"
CONFIRMED = "yes"

# Name of the field with the key of a form.
FORM_KEY = "form_key"


class RunAction(Protocol):
    def __call__(
        self,
        merchant: Merchant,
        method: str,
        fields: Mapping[str, Any],
        *,
        note: ActionNote | None = None,
        within: Connection | None = None,
        idempotency_key: str = "",
    ) -> Awaitable[dict[str, Any]]: ...


class ConsoleServices(msgspec.Struct, kw_only=True):
    """Services of the console process. Built once by boot/console.py and shared by all visits."""

    environment: str  # "test" or "live"
    console_url: str
    api_url: str
    # Proxies whose X-Forwarded-For header is trusted.
    proxies: Sequence[Network]
    merchant_directory: MerchantDirectory
    # Read-only connections for pages.
    read_pool: Pool
    # Limits the files that are exported at once.
    file_shares: FileShares = msgspec.field(default_factory=FileShares)
    # Connections that may write the console's own tables: users, sessions, approvals, settings, audit trail.
    operator_pool: Pool
    # Writes to merchants' books, through rules.
    writer: Writer
    vault: Any
    # Tables whose rows the service authenticates.
    coded_tables: Sequence[CodedTable]
    methods: tuple[ApiMethod, ...]
    # Kinds of jobs that query a rail. An operator may run these at once.
    rail_job_kinds: list[str]
    # The rails of each purpose, and what is wrong with rails of a merchant's own.
    rail_purposes: tuple[RailPurpose, ...]
    find_rail_faults: Callable[[Mapping[str, Sequence[str]]], list[str]]
    # Returns the document that the API serves at /openapi-actions.json.
    read_openapi: Callable[[], Awaitable[dict[str, Any]]]
    # Runs an API action as a merchant, under the API's rules. Reads in the given snapshot, if any. A write with an
    # Idempotency-Key is carried out once.
    run_action: RunAction
    # Returns the action that a method and a request body select, or None.
    find_action: Callable[[str, Mapping[str, Any]], Action | None]
    # Returns the action that a method and a request body select, with the request as the API decodes it. None if the
    # body selects no action.
    read_request: Callable[[Merchant, str, Mapping[str, Any]], Awaitable[tuple[Action, Any] | None]]
    # Sends a signed sample event of a kind to an endpoint of a merchant. Returns the text that the page shows.
    send_test_event: Callable[[int, int, str], Awaitable[str]]
    # Closes the books now, and records in the same commit who did. Raises NoCloseKey, and PublishError if the close
    # could not be published.
    close_books: Callable[[Record], Awaitable[SignedClose]]
    # Returns what is wrong with a webhook URL, or None.
    url_fault: Callable[[str], str | None]
    # Returns the timeline of a transaction, as the sandbox action `explain` does.
    read_timeline: Callable[[Any, Any], Awaitable[list[dict[str, Any]]]]
    templates: jinja2.Environment
    cookies: CookieSettings
    links: LinkSender
    # Payments of at least this much, in kobo, need step-up authentication.
    large_amount_minor: int
    # References in the last reply to each example of the API reference that a user tried: by user, example and name.
    last_calls: dict[int, dict[str, dict[str, str]]] = msgspec.field(default_factory=dict)

    @property
    def is_live(self) -> bool:
        return self.environment == "live"

    def has_action(self, method: str, name: str) -> bool:
        """Returns whether the API, or the console's own method, has the action in this deployment."""
        return has_action((*self.methods, CONSOLE), method, name)


def has_action(methods: Iterable[ApiMethod], method: str, name: str) -> bool:
    return any(m.name == method and any(a.name == name for a in m.actions) for m in methods)


class StepUpRequired(Exception):
    """Raised if the user must authenticate again before the request is carried out."""


class ConfirmationRequired(Exception):
    """Raised if the user must confirm before the request is carried out."""

    def __init__(
        self,
        question: str,
        consequence: str,
        label: str,
        back: str,
        answer: str,
        figures: Sequence[Mapping[str, str]] = (),
    ) -> None:
        self.question = question
        self.consequence = consequence  # what the change does, and whether it can be undone
        self.label = label  # of the button that confirms
        self.back = back  # path of the page to return to
        self.answer = answer  # value of CONFIRMED_FIELD that confirms
        self.figures = figures  # of a dry run, as the API explains them


class NotAllowed(Exception):
    """Raised if the user's role lacks the permission that an action needs."""


class NotFound(Exception):
    """Raised for objects that do not exist or belong to another merchant. The response does not tell which."""


class Visit(msgspec.Struct):
    """One request of a browser, filled in step by step by server.py before the page handler runs."""

    request: Request
    services: ConsoleServices
    nav_links: list[NavigationGroup]  # the pages that the user may open
    session: ConsoleSession | None = None  # None without a valid session cookie
    session_merchant: Merchant | None = None  # None for operators
    csrf_token: str = ""
    form: Mapping[str, Any] = {}  # empty for GET
    progress: RequestProgress = msgspec.field(default_factory=RequestProgress)
    has_stepped_up: bool = False  # the user authenticated again a short while ago
    clock: BusinessClock | None = None  # the merchant's business time, in the test environment
    has_read: bool = False  # the page has used its one read
    is_export: bool = False  # it is read in batches, outside of a snapshot
    open_snapshot: Connection | None = None  # while snapshot() is entered
    write_count: int = 0  # how many writes the form has run
    kept_form_key: str = ""  # of the form that is shown again, because it was not carried out or may not have been

    @property
    def user(self) -> ConsoleUser:
        assert self.session is not None, "the route is open without a session"
        return self.session.user

    @property
    def merchant(self) -> Merchant:
        assert self.session_merchant is not None, "the route is open to operators"
        return self.session_merchant

    @property
    def maker(self) -> Maker:
        """Returns the user as somebody who makes accounts and keys."""
        return make_maker(self.user)

    @property
    def query(self) -> Mapping[str, str]:
        return self.request.query_params

    @property
    def client_address(self) -> str:
        return self.request.client.host if self.request.client is not None else ""

    @property
    def device_token(self) -> str | None:
        """Returns the device token of a browser in which a user signed in before, or None."""
        token = self.services.cookies.read(self.request, DEVICE)
        return token if token is not None and len(token) <= MAX_TOKEN_LENGTH else None

    @property
    def audit_chain(self) -> int:
        """Returns the audit chain of the user's actions: their merchant's, or the operator's."""
        return OPERATOR_CHAIN_ID if self.session_merchant is None else self.session_merchant.merchant_id

    def path_parameter(self, name: str) -> str:
        return str(self.request.path_params[name])

    def form_text(self, name: str) -> str:
        """Returns a form field as trimmed text, empty if absent."""
        value = self.form.get(name, "")
        return value.strip() if isinstance(value, str) else ""

    def form_amount(self, name: str) -> str:
        """Returns a form field with an amount, without thousands separators."""
        return remove_separators(self.form_text(name))

    async def upload(self, name: str) -> bytes | None:
        value = self.form.get(name)
        return await value.read() if isinstance(value, UploadFile) and value.filename else None

    async def uploads(self, name: str) -> list[tuple[str, bytes]]:
        """Returns name, shortened, and content of every uploaded file of a field."""
        values = self.form.getlist(name) if isinstance(self.form, FormData) else []
        files = [value for value in values if isinstance(value, UploadFile) and value.filename]
        return [((file.filename or "")[-200:], await file.read()) for file in files]

    @property
    def next_path(self) -> str:
        """Returns the path of this server that the form's `next` names, or nothing."""
        path = self.form_text("next")[:MAX_NEXT_LENGTH]
        return path if path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() else ""

    def ask_first(
        self,
        question: str,
        consequence: str,
        label: str,
        back: str,
        *,
        answer: str = CONFIRMED,
        figures: Sequence[Mapping[str, str]] = (),
    ) -> None:
        """Raises ConfirmationRequired, unless the form was confirmed. `back` is the path of the form's page. `answer`
        names what is confirmed: another one does not count. `figures` are those of a dry run."""
        if self.form_text(CONFIRMED_FIELD) != answer:
            raise ConfirmationRequired(question, consequence, label, back, answer, figures)

    # --- reading ------------------------------------------------------------------------------------------

    @property
    def is_form(self) -> bool:
        return self.request.method == "POST"

    @contextlib.asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Connection]:
        """Opens the snapshot in which a page reads the database.

        A GET may open one only, so that everything on the page is of the same moment. A second one raises TornRead. A
        POST may open another to show its result.
        """
        self._read_once("a snapshot")
        async with snapshot(self.services.read_pool, self.shown_merchant) as connection:
            self.open_snapshot = connection
            try:
                yield connection
            finally:
                self.open_snapshot = None

    @contextlib.asynccontextmanager
    async def session_connection(self) -> AsyncIterator[Connection]:
        """Opens the connection by which a page reads links and sessions, which the reader's login cannot see."""
        self._read_once("a link")
        async with self.services.operator_pool.acquire() as connection:
            yield connection

    @property
    def shown_merchant(self) -> int | None:
        """Returns the merchant whose rows the visit may see. An operator sees those of all merchants."""
        if self.session_merchant is not None:
            return self.session_merchant.merchant_id
        assert self.user.mid is None, "a merchant's user sees the rows of a merchant"
        return ALL_MERCHANTS

    @property
    def reader(self) -> MerchantReader:
        """Returns the read pool, for form handlers that check what is stored. Raises TornRead on a GET."""
        self._check_form("reader")
        return MerchantReader(self.services.read_pool, self.shown_merchant)

    @property
    def operator_pool(self) -> Pool:
        """Returns the pool for writes of form handlers, and for reads they depend on. Raises TornRead on a GET."""
        self._check_form("operator_pool")
        return self.services.operator_pool

    @property
    def export_reader(self) -> MerchantReader:
        """Returns the read pool for exports. They are read in batches, because they would hold a snapshot too long.

        Actions that the page calls afterwards read outside of a snapshot too."""
        self._read_once("an export")
        self.is_export = True
        return MerchantReader(self.services.read_pool, self.shown_merchant)

    async def repair(self, work: Callable[[Connection], Awaitable[None]]) -> None:
        """Runs `work` to complete an interrupted operation. Must be called before the page opens its snapshot."""
        assert self.is_form or not self.has_read, "an older snapshot would not show the repair"
        async with self.services.operator_pool.acquire() as connection:
            await work(connection)

    def _check_form(self, what: str) -> None:
        if not self.is_form:
            raise TornRead(f"{self.request.url.path} uses {what}: a page must be read in one snapshot")

    def _read_once(self, what: str) -> None:
        if self.has_read and not self.is_form and not self.is_export:
            raise TornRead(f"{self.request.url.path} also reads {what}: a page must be read in one snapshot")
        self.has_read = True

    # --- responses ----------------------------------------------------------------------------------------

    def render(self, template: str, status: int = 200, **values: Any) -> Response:
        flash = self.services.cookies.read(self.request, FLASH)
        shared: dict[str, Any] = {
            "visit": self,
            "user": None if self.session is None else self.session.user,
            "is_signed_in": self.session is not None and self.session.is_authenticated,
            "merchant": self.session_merchant,
            "environment": self.services.environment,
            "navigation": self.nav_links,
            "current_path": self.request.url.path,
            "current_address": self.request.url.path + (f"?{self.request.url.query}" if self.request.url.query else ""),
            "current_page": find_current_page(self.nav_links, self.request.url.path),
            "clock": self.clock,
            "can_move_money": self.session is not None and self.user.role in CAN_MOVE_MONEY,
            "can_integrate": self.session is not None and self.user.role in CAN_INTEGRATE,
            "csrf": self.csrf_token,
            "form_key": self.kept_form_key or secrets.token_hex(16),
            "flash": None if flash is None else unquote(flash)[:MAX_FLASH_LENGTH],
            "faults": {},
        }
        response = RenderedPage(self.services.templates, template, {**shared, **values}, status)
        if flash is not None:
            self.services.cookies.delete_cookie(response, FLASH)
        return response

    def redirect(self, path: str, flash: str = "") -> Response:
        """Redirects with status 303. The next page shows the flash message once."""
        response = RedirectResponse(path, status_code=303)
        if flash:
            self.services.cookies.set_cookie(response, FLASH, quote(flash))
        return response

    # --- actions and audit trail --------------------------------------------------------------------------

    def is_allowed(self, method: str, action: Action, request: Any = None) -> bool:
        """Returns whether the table of authority lets the user's role make the decoded request. Without one, whether it
        may request everything that the action does."""
        return self._is_role_in(method, action, permission_needed(action, request))

    def may_try(self, method: str, action: Action) -> bool:
        """Returns whether some request of the action is allowed for the user's role."""
        return self._is_role_in(method, action, least_permission(action))

    def _is_role_in(self, method: str, action: Action, permission: Permission) -> bool:
        return self.session is not None and self.user.role in roles_of_action(method, action, permission)

    async def call_action(self, method: str, /, **fields: Any) -> "ActionReply":
        return await self.run_action(method, fields)

    async def run_action(self, method: str, fields: Mapping[str, Any], audit_text: str = "") -> "ActionReply":
        """Runs an API action as the user's merchant.

        Who may is in the table of authority. Every action that needs more than the permission to view is recorded in
        the audit trail as `audit_text`: a write in its own commit, any other action right after it. Raises NotAllowed,
        and StepUpRequired if the table or a large payment asks for step-up authentication.
        """
        selected = await self.services.read_request(self.merchant, method, fields)
        if selected is None:
            return ActionReply(await self.services.run_action(self.merchant, method, fields))
        action, request = selected
        if not self.is_allowed(method, action, request):
            raise NotAllowed
        permission = permission_needed(action, request)
        act = acts.act_of_action(f"{method} {make_action_title(action)}", permission)
        if act is acts.OWN_KEY and acts.find_excess_scopes(self.user.role, requested_scopes(action, request)):
            raise NotAllowed
        if act is not None and act.asks_second_factor and not self.has_stepped_up:
            raise StepUpRequired
        if permission == PAY and not self.has_stepped_up and await self._is_large(action, request):
            raise StepUpRequired
        if permission == VIEW:
            return await self._run_view_action(action, method, fields)
        title = f"{method} {make_action_title(action)}"
        # The audit entry names nothing that the request does not have: an unknown field is ignored, whatever it says.
        known = {name: fields[name] for name in action.request.__struct_encode_fields__ if name in fields}
        note = ActionNote(self.user.email, self.client_address, audit_text or title, title, known)
        if isinstance(action, Write):
            key = self._make_idempotency_key(method, fields)
            body = await self.services.run_action(self.merchant, method, fields, note=note, idempotency_key=key)
            return self._keep_form_key(ActionReply(body))
        reply = ActionReply(await self.services.run_action(self.merchant, method, fields))
        if reply.is_success:
            async with self.services.operator_pool.acquire() as connection:
                entry = note(Decision(reply=reply.body))
                await audit_trail.append_entry(connection, self.merchant.merchant_id, entry)
        return reply

    def _make_idempotency_key(self, method: str, fields: Mapping[str, Any]) -> str:
        """Returns the Idempotency-Key of the form's next write, so that a form that arrives twice is carried out once.
        Empty without a form key. The fields are part of it: a form that was changed is another request."""
        self.write_count += 1
        form_key = self.form_text(FORM_KEY)
        request = msgspec.json.encode((form_key, self.write_count, method, fields), order="sorted")
        return f"console {sha256(request).hexdigest()}" if form_key else ""

    def _keep_form_key(self, reply: "ActionReply") -> "ActionReply":
        """Has the form keep its key if it is shown again after a reply that may hide what was done."""
        if reply.is_error:
            self.kept_form_key = self.form_text(FORM_KEY)
        return reply

    async def _is_large(self, action: Action, request: Any) -> bool:
        """Returns whether a payment needs step-up authentication, by what was decoded of it. In a thread, because the
        orders of a bulk are decoded to be added up."""
        threshold = self.services.large_amount_minor
        return await asyncio.to_thread(moves_at_least, action, request, self.merchant, threshold)

    async def preview_action(self, method: str, fields: Mapping[str, Any]) -> "ActionReply":
        """Makes the dry run of an action: it changes nothing, and is not recorded in the audit trail."""
        tried = {**fields, "dry_run": True}
        selected = await self.services.read_request(self.merchant, method, tried)
        if selected is None or not self.is_allowed(method, *selected):
            raise NotAllowed
        return ActionReply(await self.services.run_action(self.merchant, method, tried))

    async def _run_view_action(self, action: Action, method: str, fields: Mapping[str, Any]) -> "ActionReply":
        """Runs an action that changes nothing. It reads in the page's open snapshot, if it reads the database."""
        snapshot_connection = self.open_snapshot if isinstance(action, Read | Write) else None
        if snapshot_connection is None and not isinstance(action, MemoryRead):
            self._read_once(f"{method} {action.name}")
        return ActionReply(await self.services.run_action(self.merchant, method, fields, within=snapshot_connection))

    async def record_audit(self, action: str, subject: str, before: Any = "", after: Any = "") -> None:
        """Appends an audit entry to the chain of the user's merchant, or of the operator."""
        async with self.services.operator_pool.acquire() as connection:
            await self.record_audit_on(connection, self.audit_chain, action, subject, before, after)

    async def record_audit_on(
        self, connection: Connection, chain: int, action: str, subject: str, before: Any = "", after: Any = ""
    ) -> None:
        """Appends an audit entry within the caller's transaction."""
        entry = AuditEntry(
            self.user.email, action, subject, self.client_address, audit_value(before), audit_value(after)
        )
        await audit_trail.append_entry(connection, chain, entry)


class ActionReply:
    """The reply of an API action."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body

    @property
    def is_success(self) -> bool:
        return self.body.get("status") in (200, 202, "success")

    @property
    def is_error(self) -> bool:
        """Returns whether the reply has status 204 (error). The action may have been carried out nevertheless."""
        return self.body.get("status") == ERROR

    @property
    def message(self) -> str:
        return str(self.body.get("message", ""))

    @property
    def faults(self) -> dict[str, str]:
        """Returns error texts by field name. A refusal that names no field is under the empty name."""
        if self.is_success:
            return {}
        named = {fault["field"]: fault["reason"] for fault in self.body.get("errors", ())}
        return named or {"": self.message}


def roles_of_action(method: str, action: Action, permission: Permission) -> frozenset[str]:
    """Returns the roles of a merchant that may make a request of an action that needs this permission."""
    act = acts.act_of_action(f"{method} {make_action_title(action)}", permission)
    return ROLES_BY_PERMISSION[permission] if act is None else act.roles


def requested_scopes(action: Action, request: Any) -> list[KeyScope]:
    """Returns the scopes of a key that a decoded request asks for. What could not be read counts as all of them."""
    scopes = request.scopes if isinstance(request, action.request) else None
    return list(scopes) if scopes and all(scope in KEY_SCOPES for scope in scopes) else ["all"]


def audit_value(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
