"""Rows of the action tables: what a merchant can ask for, and which rule answers.

Six kinds, and no more. A `Write` goes into the next batch of the one writer. A `Read` is SQL over committed
rows. What is `Known` is answered at once, from memory. A `Lookup` asks a rail and changes nothing. A `Step` is work on
a job: call the outside, then decide what its answer means. A `Command` acts on the world around the books. The tables
are data: documents, tests and dispatch all walk the same rows.
"""

import gzip
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, Protocol

import msgspec

from kasuwa.core.decision import Merchant, Refusal

# What a person must be allowed to do to ask for an action. Every row of the tables names one; which roles have it is
# said once, in console/access.py, and the console's pages, its "try it" and whatever else acts for a person ask there.
Permission = Literal["view", "collect", "pay", "manage", "integrate"]
VIEW: Permission = "view"  # shows what is there and changes nothing
COLLECT: Permission = "collect"  # takes money in from customers, or gives them a way to pay
PAY: Permission = "pay"  # moves money out or between accounts, or reveals what could (a card's number)
MANAGE: Permission = "manage"  # changes records that money depends on, or shows personal data of others
INTEGRATE: Permission = "integrate"  # sends events again, plays the scripted world of the test environment


class PreflightContext(msgspec.Struct, frozen=True):
    """What a rule that foretells may look at besides: business time, and what the rails keep in memory."""

    now: datetime
    rails: Any


class FieldRule(msgspec.Struct, frozen=True):
    """A check on decoded fields: `reason(merchant, *values)` answers what is wrong, or None. It runs when all
    its fields could be read, so that one reply names every fault of a body.

    What a rule `foretells` is judged for good where the action is answered, which may know better: a repeat is answered
    though its paycode is gone. Such a rule runs only on a body that is refused anyway, with more to look at:
    `reason(merchant, foresight, *values)`."""

    fields: tuple[str, ...]
    check: Callable[..., str | None]
    is_preflight: bool = False
    top_level_fields: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """`tops` are the fields of the request itself that these stand in, found once: every request asks for them."""
        msgspec.structs.force_setattr(self, "top_level_fields", tuple(field.partition(".")[0] for field in self.fields))


def one_of(*fields: str, reason: str = "required") -> FieldRule:
    """One of these must be said; the last is the one that is asked for."""
    return FieldRule(fields, lambda merchant, *values: reason if all(value is None for value in values) else None)


class RailQuestion(msgspec.Struct, frozen=True):
    """Whom a write may have to ask before it can be decided: where its decision says what it `asks`,
    `ask(asked, merchant, rails, scenario)` is called with no transaction open. A Refusal is the answer to the whole
    request; anything else is handed to `decide` as `told`, which is None until then."""

    rail: str
    ask: Callable[..., Awaitable[Any]]


class PreencodedReply(msgspec.Struct, frozen=True):
    """A reply that is the same for everybody, encoded once: as it is, and packed for those who take it so."""

    plain: bytes
    gzip_body: bytes


def preencode_reply(reply: Any) -> PreencodedReply:
    plain = msgspec.json.encode(reply)
    return PreencodedReply(plain, gzip.compress(plain, mtime=0))


class Write(msgspec.Struct, frozen=True):
    name: str
    request: type[msgspec.Struct]
    reply: Any
    needs: Callable[..., Any]
    decide: Callable[..., Any]
    summary: str
    example: Mapping[str, Any]
    permission: Permission
    rules: tuple[FieldRule, ...] = ()
    variant: tuple[str, str] | None = None
    selector: str | None = None
    accepts_idempotency_key: bool = True
    rail_question: RailQuestion | None = None
    # Reads a long request piece by piece: `unpack(request, merchant)`. `needs` and `decide` are given a list of the
    # pieces in its place.
    unpack: Callable[[Any, Merchant], Iterator[Any]] | None = None
    read_only_without: str = ""  # without this field in the body the action only shows, which everybody may


class Read(msgspec.Struct, frozen=True):
    name: str
    request: type[msgspec.Struct]
    reply: Any
    read: Callable[..., Awaitable[Any]]
    summary: str
    example: Mapping[str, Any]
    rules: tuple[FieldRule, ...] = ()
    variant: tuple[str, str] | None = None
    selector: str | None = None
    permission: Permission = VIEW


class MemoryRead(msgspec.Struct, frozen=True):
    """`answer(request, merchant, rails)` waits for nothing: reference data, the merchant's own terms, or what a rail
    told earlier."""

    name: str
    request: type[msgspec.Struct]
    reply: Any
    answer: Callable[..., Any]
    summary: str
    example: Mapping[str, Any]
    rules: tuple[FieldRule, ...] = ()
    variant: tuple[str, str] | None = None
    selector: str | None = None
    permission: Permission = VIEW


class Lookup(msgspec.Struct, frozen=True):
    """`ask(request, merchant, rails, plan)` calls `rail`, within its deadline; `await plan()`, right before that, is
    the scenario of the call."""

    name: str
    request: type[msgspec.Struct]
    reply: Any
    rail: str
    ask: Callable[..., Awaitable[Any]]
    summary: str
    example: Mapping[str, Any]
    rules: tuple[FieldRule, ...] = ()
    variant: tuple[str, str] | None = None
    selector: str | None = None
    permission: Permission = VIEW


class Step(msgspec.Struct, frozen=True):
    """Work on a job: `call` talks to the outside with no transaction open (`beside` is what the request that wrote
    the job keeps to itself; None for whoever takes it up later), then `needs` and `decide` record what its answer
    means, through the same writer as every request. `settles`: a rail's call-back may be recorded on this job.
    `recall(job, vault)` makes what stands beside a job out of what is sealed in it (a saved card); `also` names other
    lanes that such jobs run in; `told(rails, job, answer)` adds to a call-back what it does not say by itself."""

    kind: str
    lane: str
    call: Callable[..., Awaitable[Any]]
    needs: Callable[..., Any]
    decide: Callable[..., Any]
    accepts_callback: bool = True
    restore_secrets: Callable[..., Any] | None = None
    extra_lanes: tuple[str, ...] = ()
    enrich_callback: Callable[..., Awaitable[Any]] | None = None


class AdminOperations(Protocol):
    """What a command may ask of the machinery around the books; all but `resend` in the test environment alone."""

    async def resend(self, merchant: Merchant, first: int, last: int) -> int | None: ...

    async def new_merchant(self, name: str, now: datetime | None) -> tuple[str, str]: ...

    async def simulate_callback(self, merchant: Merchant, reference: str, status: str) -> Any: ...

    async def set_webhook(self, merchant: Merchant, url: str) -> str | None: ...

    async def explain(self, merchant: Merchant, reference: str) -> Any: ...

    async def reset(self, merchant: Merchant) -> Refusal | None: ...

    async def business_now(self, merchant: Merchant) -> datetime: ...

    async def advance_clock(self, merchant: Merchant, target: Callable[[datetime], datetime | Refusal]) -> Any: ...


class AdminCommand(msgspec.Struct, frozen=True):
    """Something done to the world around the books: an event sent again, a clock moved, a call-back played. One that
    `writes` may be several commits: where it fails, its outcome is not known."""

    name: str
    request: type[msgspec.Struct]
    reply: Any
    run: Callable[..., Awaitable[Any]]
    summary: str
    example: Mapping[str, Any]
    permission: Permission
    rules: tuple[FieldRule, ...] = ()
    variant: tuple[str, str] | None = None
    selector: str | None = None
    writes: bool = True


Action = Write | Read | MemoryRead | Lookup | AdminCommand


def permission_needed(action: Action, fields: Mapping[str, Any]) -> Permission:
    """The permission that a request for this action needs."""
    only_shows = isinstance(action, Write) and action.read_only_without and not fields.get(action.read_only_without)
    return VIEW if only_shows else action.permission


def title_of(action: Action) -> str:
    """What an action is called among those of its path, where several may have one name."""
    return action.name if action.variant is None else f"{action.name} {action.variant[1]}"


class ApiMethod(msgspec.Struct, frozen=True):
    """One path of the API: its word in the URL, the body fields that may select an action, and its rows. A selector
    that some rows name as their own selects those alone, and nothing else does."""

    name: str
    selectors: tuple[str, ...]
    actions: tuple[Action, ...]
    steps: tuple[Step, ...] = ()
    max_body_bytes: int = 256 * 1024
