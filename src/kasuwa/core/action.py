"""Rows of the action tables: the actions that a merchant can request, and the functions that execute them.

There are five kinds of actions, and the steps of their jobs:

    Write         a pure rule decides in the next batch of the writer
    Read          SQL over committed rows
    MemoryRead    a reply from memory
    Lookup        a question to a rail that changes nothing
    AdminCommand  an operation on what surrounds the books: events, the business clock, a simulated call-back
    Step          work on a job: call a rail or read the books, then decide on the answer

The tables are data. Dispatch, the OpenAPI document, the console and the tests walk the same rows. Each row is generic
in its request and reply types, so that mypy checks its functions against them (tests/walk/test_row_types.py checks
the rest). `rails` is Any here because core does not import the ports (rails/ports/orders.py).
"""

import gzip
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Generic, Literal, Protocol

import msgspec
from typing_extensions import TypeVar

from kasuwa.core.callers import ActionScope, Caller, KeyScope
from kasuwa.core.decision import Context, FieldError, Job, LoadedRows, Merchant, Needs, Outcome, Refusal, ReplyT
from kasuwa.core.reading import ActionReader
from kasuwa.core.scenario import Scenario, TakeCallScenario
from kasuwa.core.vault import Vault

RequestT = TypeVar("RequestT", bound=msgspec.Struct, default=Any)
# What the functions of a Write take: its request, or the list of pieces that `unpack` makes of it.
InputT = TypeVar("InputT", default=RequestT)
QuestionInputT = TypeVar("QuestionInputT", default=Any)
InputT_contra = TypeVar("InputT_contra", contravariant=True)
# The answer of a rail, and the secrets that its call needs.
AnswerT = TypeVar("AnswerT", default=Any)
AnswerT_contra = TypeVar("AnswerT_contra", contravariant=True, default=Any)
SecretsT = TypeVar("SecretsT", default=Any)

# The permission that a person must have to request an action. Roles are mapped to permissions in console/kit/access.py.
Permission = Literal["view", "collect", "pay", "manage", "integrate"]
VIEW: Permission = "view"  # changes nothing
COLLECT: Permission = "collect"  # collects money from payers, or gives them a way to pay
PAY: Permission = "pay"  # moves money out or between accounts, or reveals what could (a card's number)
MANAGE: Permission = "manage"  # changes records that money depends on, or shows personal data of others
INTEGRATE: Permission = "integrate"  # sends events again, uses the test environment's simulations


class PreflightContext(msgspec.Struct, frozen=True):
    """The input of a preflight check besides the fields: business time, and what the rails have in memory."""

    now: datetime
    rails: Any


class FieldRule(msgspec.Struct, frozen=True):
    """A check on decoded fields. `check(merchant, *values)` returns what is wrong, or None.

    It runs if all its fields could be decoded, so that one reply names every error of a body. A preflight check is
    called as `check(merchant, preflight_context, *values)`, and only for a body that is already refused: the action
    itself decides the same question later, and may know better (a replay is answered although its paycode is gone).
    """

    fields: tuple[str, ...]
    check: Callable[..., str | None]
    is_preflight: bool = False
    top_level_fields: tuple[str, ...] = ()  # computed once, as every request needs them

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "top_level_fields", tuple(field.partition(".")[0] for field in self.fields))


def require_one(*fields: str, reason: str = "required") -> FieldRule:
    """Returns a rule that requires one of the fields. The error names the last of them."""
    return FieldRule(fields, lambda merchant, *values: reason if all(value is None for value in values) else None)


class PreencodedReply(msgspec.Struct, frozen=True):
    """A reply that is the same for every merchant, encoded once: plain and gzipped."""

    plain: bytes
    gzip_body: bytes


def preencode_reply(reply: Any) -> PreencodedReply:
    return preencode_bytes(msgspec.json.encode(reply))


def preencode_bytes(plain: bytes) -> PreencodedReply:
    return PreencodedReply(plain, gzip.compress(plain, mtime=0))


class NeedsRule(Protocol[InputT_contra]):
    """Returns the rows and accounts that the decision starts with."""

    def __call__(self, request: InputT_contra, merchant: Merchant, /) -> Needs: ...


class DecideRule(Protocol[InputT_contra, ReplyT]):
    """A pure rule: decides on a request with the rows that it needs."""

    def __call__(self, request: InputT_contra, context: Context, rows: LoadedRows, /) -> Outcome[ReplyT]: ...


class DecideAnsweredRule(Protocol[InputT_contra, ReplyT, AnswerT_contra]):
    """A pure rule that decides on a request and the answer of a rail to its question."""

    def __call__(
        self, request: InputT_contra, context: Context, rows: LoadedRows, answer: AnswerT_contra, /
    ) -> Outcome[ReplyT]: ...


class RailQuestion(msgspec.Struct, Generic[QuestionInputT, ReplyT, AnswerT], frozen=True):
    """A question to a rail that a write may have to ask before it can be decided.

    If the rule of the row returns a decision with a `question`, `ask(question, merchant, rails, scenario)` is called
    with no transaction open. A Refusal is the reply to the request. Any other answer is handed to `decide`.
    """

    rail: str
    operation: str  # of the rail: one of core.scenario.OPERATIONS
    ask: Callable[[Any, Merchant, Any, Scenario], Awaitable[AnswerT | Refusal]]
    decide: DecideAnsweredRule[QuestionInputT, ReplyT, AnswerT]


class Write(msgspec.Struct, Generic[RequestT, ReplyT, InputT], frozen=True):
    """An action that is decided by a pure rule and committed by the writer."""

    name: str
    request: type[RequestT]
    reply: type[ReplyT]
    needs: NeedsRule[InputT]
    decide: DecideRule[InputT, ReplyT]
    summary: str
    example: Mapping[str, Any]
    permission: Permission
    rules: tuple[FieldRule, ...] = ()
    variant: tuple[str, str] | None = None  # a body field and the value that selects this row among those of its name
    only_with: str = ""  # a body field without which this row is not selected; Envelope in api/routes.py has it
    selector: str | None = None  # the body field that selects this row, if it is not one of the path's
    title: str = ""  # names the row if another of the path has the same name under another selector
    scope: ActionScope | None = None  # of the keys that may request it; None for that of the path
    accepts_idempotency_key: bool = True
    rail_question: RailQuestion[InputT, ReplyT, Any] | None = None
    # Decides once it is known which senders were ended. `decide` returns a decision whose `question` names the senders.
    decide_with_ended: DecideAnsweredRule[InputT, ReplyT, frozenset[Caller]] | None = None
    # The fields that its replies may have, if they are fewer than those of the reply type. OpenAPI describes no others.
    reply_fields: tuple[str, ...] = ()
    # Decodes a long request piece by piece. `needs` and `decide` then take the list of pieces instead of the request.
    unpack: Callable[[RequestT, Merchant], Iterator[Any]] | None = None
    # Returns how many orders a request has at most, if it may have several: the writer weighs it by that.
    weigh: Callable[[InputT], int] | None = None
    read_only_without: str = ""  # without this body field the action changes nothing and needs only VIEW
    # The body field with the merchant's own reference, if the same request with the same reference is carried out once.
    unique_reference: str | None = None
    max_body_bytes: int = 0  # above the path's own limit, for a request with files; 0: that of the path
    # Returns the most that a request moves, in kobo, or None if the request does not say it. Rows without it never do.
    amount_moved: Callable[[RequestT, Merchant], int | None] | None = None
    # The rows that it writes say all that its request said: no row of decision_input is written (docs/decisions/0105).
    is_read_from_rows: bool = False


class Read(msgspec.Struct, Generic[RequestT, ReplyT], frozen=True):
    """An action that reads committed rows."""

    name: str
    request: type[RequestT]
    reply: type[ReplyT]
    read: Callable[[RequestT, Merchant, ActionReader], Awaitable[ReplyT | Refusal]]
    summary: str
    example: Mapping[str, Any]
    rules: tuple[FieldRule, ...] = ()
    variant: tuple[str, str] | None = None
    only_with: str = ""  # a body field without which this row is not selected; Envelope in api/routes.py has it
    selector: str | None = None
    title: str = ""  # names the row if another of the path has the same name under another selector
    scope: ActionScope | None = None  # of the keys that may request it; None for that of the path
    permission: Permission = VIEW


class MemoryRead(msgspec.Struct, Generic[RequestT, ReplyT], frozen=True):
    """An action that is answered from memory: reference data, the merchant's terms, or a cached rail answer."""

    name: str
    request: type[RequestT]
    reply: type[ReplyT]
    answer: Callable[[RequestT, Merchant, Any], ReplyT | PreencodedReply | Refusal]  # (request, merchant, rails)
    summary: str
    example: Mapping[str, Any]
    rules: tuple[FieldRule, ...] = ()
    variant: tuple[str, str] | None = None
    selector: str | None = None
    title: str = ""  # names the row if another of the path has the same name under another selector
    scope: ActionScope | None = None  # of the keys that may request it; None for that of the path
    permission: Permission = VIEW


class Lookup(msgspec.Struct, Generic[RequestT, ReplyT], frozen=True):
    """An action that asks a rail within its deadline and changes nothing."""

    name: str
    request: type[RequestT]
    reply: type[ReplyT]
    rail: str  # whose operation has the name of the action (core.scenario.OPERATIONS)
    # ask(request, merchant, rails, take_scenario). Awaits take_scenario() right before it calls the rail.
    ask: Callable[[RequestT, Merchant, Any, TakeCallScenario], Awaitable[ReplyT | Refusal]]
    summary: str
    example: Mapping[str, Any]
    rules: tuple[FieldRule, ...] = ()
    variant: tuple[str, str] | None = None
    selector: str | None = None
    title: str = ""  # names the row if another of the path has the same name under another selector
    scope: ActionScope | None = None  # of the keys that may request it; None for that of the path
    permission: Permission = VIEW


class Step(msgspec.Struct, Generic[AnswerT, SecretsT], frozen=True):
    """Work on one kind of job: a rail is called, or the books are read, with no transaction open. Then a rule decides
    on the answer."""

    kind: str
    lane: str
    # call(rails, job, now, secrets). The secrets are those of the decision that wrote the job; None for a later run.
    call: Callable[[Any, Job, datetime, SecretsT], Awaitable[AnswerT]]
    needs: Callable[[Job, AnswerT, Merchant], Needs]
    decide: Callable[[Job, AnswerT, Context, LoadedRows], Outcome]
    accepts_callback: bool = True  # the rail may report the result of this job by a call-back
    # Restores the secrets of a later run from those that are sealed in the job (a saved card).
    restore_secrets: Callable[[Job, Vault], SecretsT] | None = None
    # Returns the job with what is sealed in it in clear, for the call alone.
    open_job: Callable[[Job, Vault], Job] | None = None
    extra_lanes: tuple[str, ...] = ()  # further lanes that jobs of this kind run in
    # enrich_callback(rails, job, answer). Adds what a call-back does not say itself.
    enrich_callback: Callable[[Any, Job, AnswerT], Awaitable[AnswerT]] | None = None
    # read(job, reader). Makes the answer out of committed rows, if the rule needs more of them than it can load by key.
    # No rail is called then: `call` is call_no_rail.
    read: Callable[[Job, ActionReader], Awaitable[AnswerT]] | None = None
    is_read_from_rows: bool = False  # the trail of its transaction says what the rail answered, and when: as of a Write


class AdminOperations(Protocol):
    """The operations of an AdminCommand. All but those that resend events exist in the test environment only."""

    async def resend(self, merchant: Merchant, first: int, last: int) -> int | None: ...

    async def resend_failed(self, merchant: Merchant, since: datetime, limit: int) -> int | None: ...

    async def new_merchant(
        self, name: str, now: datetime | None, balance: int | None, *, webhook_url: str, seed: str, terms: bytes
    ) -> tuple[str, str] | FieldError: ...

    async def new_key(
        self,
        merchant: Merchant,
        name: str,
        scopes: tuple[KeyScope, ...],
        addresses: tuple[str, ...],
        expires_at: datetime | None,
    ) -> tuple[int, str] | Refusal: ...

    async def set_payout_policy(self, merchant: Merchant, policy: Any) -> None: ...  # a PayoutPolicy

    async def set_client_tiers(self, merchant: Merchant, tiers: Any) -> None: ...  # a ClientTiers

    async def set_checkout_origins(self, merchant: Merchant, origins: tuple[str, ...]) -> None: ...

    async def simulate_callback(self, merchant: Merchant, reference: str, status: str, code: str | None) -> Any: ...

    async def set_webhook(self, merchant: Merchant, url: str) -> str | None: ...

    async def explain(self, merchant: Merchant, reference: str) -> Any: ...

    async def reset(self, merchant: Merchant) -> Refusal | None: ...

    async def snapshot_world(self, merchant: Merchant, name: str) -> Any: ...

    async def restore_world(self, merchant: Merchant, name: str) -> int | Refusal: ...

    async def fork_world(self, merchant: Merchant, name: str | None) -> tuple[str, str] | Refusal: ...

    async def list_worlds(self, merchant: Merchant) -> Any: ...

    async def list_running_worlds(self, merchant: Merchant) -> Any: ...

    async def compare_worlds(self, merchant: Merchant, first: str, second: str) -> Any: ...

    async def delete_world(self, merchant: Merchant, name: str) -> Refusal | None: ...

    async def export_world(self, merchant: Merchant, name: str, passphrase: str) -> Any: ...

    async def import_world(self, merchant: Merchant, name: str, passphrase: str, content: bytes) -> Any: ...

    async def list_requests(
        self,
        merchant: Merchant,
        *,
        search: str,
        only_refused: bool,
        before: int | None,
        after: int | None,
        limit: int,
    ) -> Any: ...

    async def list_people_mails(self, merchant: Merchant, *, before: int | None, limit: int) -> Any: ...

    async def trigger(self, merchant: Merchant, event: str, changes: Mapping[str, Any]) -> Any: ...

    async def business_now(self, merchant: Merchant) -> datetime: ...

    async def freeze_clock(self, merchant: Merchant, is_frozen: bool) -> datetime | Refusal: ...

    async def audit(self, merchant: Merchant) -> list[tuple[str, str]]: ...

    async def close_books(self) -> Any: ...

    async def advance_clock(self, merchant: Merchant, target: Callable[[datetime], datetime | Refusal]) -> Any: ...


class AdminCommand(msgspec.Struct, Generic[RequestT, ReplyT], frozen=True):
    """An action on what surrounds the books: sends an event again, moves the clock, simulates a call-back."""

    name: str
    request: type[RequestT]
    reply: type[ReplyT]
    run: Callable[[RequestT, Merchant, AdminOperations], Awaitable[ReplyT | Refusal]]
    summary: str
    example: Mapping[str, Any]
    permission: Permission
    rules: tuple[FieldRule, ...] = ()
    variant: tuple[str, str] | None = None
    selector: str | None = None
    title: str = ""  # names the row if another of the path has the same name under another selector
    scope: ActionScope | None = None  # of the keys that may request it; None for that of the path
    writes: bool = True  # may commit several times: if it fails, its outcome is unknown
    max_body_bytes: int = 0  # above the path's own limit, for a request with a file; 0: that of the path


Action = Write | Read | MemoryRead | Lookup | AdminCommand


def permission_needed(action: Action, request: Any) -> Permission:
    """Returns the permission that a decoded request needs. One that could not be decoded needs that of the action."""
    if not isinstance(action, Write) or not action.read_only_without or not isinstance(request, action.request):
        return action.permission
    return action.permission if getattr(request, action.read_only_without) else VIEW


def least_permission(action: Action) -> Permission:
    """Returns the permission that some request of the action needs at least."""
    return VIEW if isinstance(action, Write) and action.read_only_without else action.permission


def moves_at_least(action: Action, request: Any, merchant: Merchant, threshold: int) -> bool:
    """Returns whether a decoded request moves the threshold, in kobo, or more. True if that is not known: the request
    could not be decoded, or it does not say how much it moves."""
    if not isinstance(action, Write) or action.amount_moved is None or not isinstance(request, action.request):
        return True
    amount = action.amount_moved(request, merchant)
    return amount is None or amount >= threshold


def amount_in_naira(request: Any, merchant: Merchant) -> int | None:
    """Returns the `amount` of a request that is always in NGN, for `amount_moved`."""
    amount: int | None = request.amount
    return amount


def get_scope(method: "ApiMethod", action: Action) -> ActionScope:
    """Returns the scope of the keys that may request an action."""
    return action.scope or method.scope


def only_shows(action: Action) -> bool:
    """Returns whether a key of scope `read` may request the action: it changes nothing, and everybody may see it."""
    return isinstance(action, Read | MemoryRead | Lookup) and action.permission == VIEW


def get_selecting_field(action: Action) -> str:
    """Returns the body field without which an action is not selected, or "" if there is none."""
    return action.only_with if isinstance(action, Read | Write) else ""


def make_action_title(action: Action) -> str:
    """Returns the name of an action, unique within its path, with its variant if several rows share the name."""
    name = action.title or action.name
    return name if action.variant is None else f"{name} {action.variant[1]}"


class ApiMethod(msgspec.Struct, frozen=True):
    """One path of the API with its actions."""

    name: str  # the word in the URL
    selectors: tuple[str, ...]  # body fields that may select an action; not those that rows name as their own selector
    actions: tuple[Action, ...]
    steps: tuple[Step, ...] = ()
    max_body_bytes: int = 256 * 1024
    scope: ActionScope = "all"  # of the keys that may request its actions, unless a row has a scope of its own
