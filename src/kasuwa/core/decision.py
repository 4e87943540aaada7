"""The words in which a rule says what should happen.

A rule (`decide`) looks at a request and the rows it needs, and returns exactly one of three things:

    Refusal    nothing happens; this is the answer
    Decision   everything that should happen, as data: reply, postings, rows, events, jobs
    More       it must see more rows first, and is then run again in the same transaction

It never reads a clock or rolls dice: `Context` brings the merchant, the time and the luck.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, ClassVar, TypeVar

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.exchange_rates import ExchangeRate
from kasuwa.core.issuing import DEFAULT_ISSUING, CardIssuingSettings
from kasuwa.core.loan_interest import LendingSettings
from kasuwa.core.scenario import NO_SCENARIO, InjectedFault, Scenario
from kasuwa.core.tariff import Tariff
from kasuwa.core.vault import Vault, derive


class Row(msgspec.Struct):
    """One row of a table that the writer keeps. Its first two fields are `key` and `merchant_id`; `changing`
    names the columns that may differ after the insert: the others are never written again."""

    table: ClassVar[str] = ""
    mutable_columns: ClassVar[tuple[str, ...]] = ()

    key: bytes
    merchant_id: int

    @property
    def is_open(self) -> bool:
        """Whether more is to come soon: the writer keeps such rows in memory and forgets the others."""
        return True


R = TypeVar("R", bound=Row)


# --- who asks, and when ---------------------------------------------------------------------------------


class AmountLimits(msgspec.Struct, frozen=True):
    """The smallest and largest amount of one transaction, in minor units."""

    min_amount: int
    max_amount: int


class Merchant(msgspec.Struct, frozen=True):
    """What the rules may know of a merchant. `merchant_id` names its books; `mid` is what it calls itself; `exchange`
    is what the operator pays and asks in NGN for other currencies."""

    merchant_id: int
    mid: str
    name: str
    environment: str
    has_strict_http: bool
    tariff: Tariff
    limits: Mapping[str, AmountLimits]
    rate_limit: tuple[int, int] | None = None
    settlement_days: int = 0
    inbound_bank: str = "035"
    lending: LendingSettings = LendingSettings()
    exchange_rates: Mapping[str, ExchangeRate] = {}
    suspended: bool = False


class Context(msgspec.Struct):
    """What a rule may know besides its request: business time, entropy, the next free reference number (and
    the permutation that hides it), the vault that seals what must not be kept plain, whether the merchant has an
    endpoint for its events, in the test environment how the outside was told to behave, what money can be moved
    for on behalf of another slice (`core.purpose.Purpose` by name), the address at which payers reach us, and how this
    deployment issues cards."""

    merchant: Merchant
    now: datetime
    entropy: bytes
    number: int
    permutation: Callable[[int], int]
    digest: Callable[[bytes], bytes]
    vault: Vault
    scenario: Scenario = NO_SCENARIO
    injected_faults: tuple[InjectedFault, ...] = ()
    has_webhook: bool = False
    purposes: Mapping[str, Any] = {}
    public_url: str = ""
    issuing: CardIssuingSettings = DEFAULT_ISSUING

    def seal(self, place: str, plain: bytes) -> bytes:
        """Encrypted for one place (table, column and row) of this merchant; the nonce is this decision's luck."""
        return self.vault.seal(self.merchant.merchant_id, place, plain, derive(self.entropy, f"nonce {place}"))

    def unseal(self, place: str, sealed: bytes) -> bytes:
        return self.vault.unseal(self.merchant.merchant_id, place, sealed)


# --- what a rule needs ----------------------------------------------------------------------------------


class Needs(msgspec.Struct):
    """The rows (by table and key) and accounts (by name) that a rule must see, locked."""

    rows: tuple[tuple[type[Row], bytes], ...] = ()
    accounts: tuple[str, ...] = ()


class LoadedRows:
    """The rows a rule asked for. A key that has no row yet answers None: absence is something one can see.

    `rows` may hold more than that, since all submissions of a batch share them: a rule sees the keys of `asked` alone,
    so that what it finds does not depend on which other requests arrived with it. Without `asked` it sees all of them.
    """

    def __init__(self, rows: Mapping[bytes, Row | None], asked: Collection[bytes] | None = None) -> None:
        self._rows = rows
        self._asked = rows if asked is None else asked

    def is_loaded(self, key: bytes) -> bool:
        """Whether a key was asked for, whatever was found."""
        return key in self._asked

    def get(self, kind: type[R], key: bytes) -> R | None:
        """The row of a key, or None where there is none. Raises KeyError for a key that was not asked for."""
        if key not in self._asked:
            raise KeyError(key)
        row = self._rows[key]
        if row is not None and not isinstance(row, kind):
            raise TypeError(f"{kind.__name__} asked for, {type(row).__name__} found")
        return row


# --- what a rule answers --------------------------------------------------------------------------------


class FieldError(msgspec.Struct, frozen=True):
    field: str
    reason: str


class Refusal(msgspec.Struct, frozen=True):
    """An error of the contract: a code, what to do about it, and the fields at fault. Contract: #errors"""

    code: int
    message: str
    field_errors: tuple[FieldError, ...] = ()


# Faults that a reply lists, and those that its message names. Contract: #errors
MOST_FAULTS = 50
MAX_ERRORS_IN_MESSAGE = 3


def refuse_fields(*faults: FieldError) -> Refusal:
    """Refuses a request for its fields. Most clients show the message alone, so it names the first faults."""
    told = [
        f"{fault.field}: {fault.reason}" if fault.field else fault.reason for fault in faults[:MAX_ERRORS_IN_MESSAGE]
    ]
    if len(faults) > MAX_ERRORS_IN_MESSAGE:
        told.append(f"and {len(faults) - MAX_ERRORS_IN_MESSAGE} more")
    return Refusal(INVALID_REQUEST, "; ".join(told) or "The request is not valid", faults[:MOST_FAULTS])


class Posting(msgspec.Struct, frozen=True):
    """Money from one account to another of the same merchant and currency: the debited one pays."""

    debit: str
    credit: str
    amount: int
    kind: str


class NewHold(msgspec.Struct, frozen=True):
    """Money set aside on one account until its hold is ended."""

    hold_key: bytes
    account: str
    amount: int


class PostingGroup(msgspec.Struct, frozen=True):
    """Movements that happen whole or not at all. `ends` names a hold that is released first: with posts it
    is posted (whole or part), without any it is voided. `short` answers when a floor refuses."""

    reference: str
    shortfall_refusal: Refusal
    postings: tuple[Posting, ...] = ()
    new_holds: tuple[NewHold, ...] = ()
    closes_hold: bytes | None = None


class Job(Row):
    """Something to do at a business time. `run_at` is the same moment on the wall's clock, kept by the writer;
    a claim moves `leased_until`, so a job whose worker died falls due again by itself."""

    table: ClassVar[str] = "scheduled_job"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "kind",
        "due",
        "run_at",
        "leased_until",
        "claims",
        "attempt",
        "work",
    )

    kind: str
    lane: str
    reference: str
    subject: bytes
    due: datetime
    run_at: datetime
    leased_until: datetime | None
    claims: int
    attempt: int
    idempotency_claim: bytes | None
    work: str

    @property
    def is_open(self) -> bool:
        """Leased to the request that wrote it, which will be back in a moment; others are a worker's."""
        return self.leased_until is not None


class Event(msgspec.Struct, frozen=True):
    """A transaction became final. `payload` is, to the byte, what is signed and sent. `object` is what it
    belongs to (a refund to its payment), where that is not the transaction itself; `object_seq` its place there."""

    reference: str
    kind: str
    payload: bytes
    object: str = ""
    object_seq: int = 1


class OperatorNotice(msgspec.Struct, frozen=True):
    """Something an operator should know, such as a rail that contradicts itself."""

    reference: str
    what: str


class AuditEntry(msgspec.Struct, frozen=True):
    """What somebody did, for the audit trail: who, from where, what, and to what; `before` and `after` are texts
    without secrets. Its place in the chain is made where it is written (db/migrations, table audit)."""

    actor: str
    action: str
    subject: str
    address: str = ""
    before: str = ""
    after: str = ""


class Decision(msgspec.Struct):
    """Everything that should happen. `reply` may be a refusal that leaves something behind, such as a wrong try that is
    counted; `numbers` counts the reference numbers used; `jobs_done` are finished;
    `then` is a job of this decision to be run at once by who asked, and `beside` what that run alone may know (a
    card's secrets): it is handed on in memory and never kept; `wait` says that the same request is
    still under way elsewhere and is worth asking again; `parts` stand or fall each on its own, are made one by one as
    they are put down, and `join` makes a decision of a reply and rows alone out of what became of them; `fallback()` is
    recorded in place of a part that a floor refuses, and
    has no groups of its own; `clock` moves the merchant's business time, but not the
    wall times of its jobs (db/job_times.py); `faults` replaces the faults its rails were told to have (these in test
    alone); `repeat` is what a repeat is told where the reply shows something once (Contract: #repeats); `asks` is what the outside
    must be asked first: such a decision does nothing, and is made again on the answer (core.action.Question)."""

    reply: Any = None
    groups: tuple[PostingGroup, ...] = ()
    rows: tuple[Row, ...] = ()
    jobs: tuple[Job, ...] = ()
    jobs_done: tuple[Job, ...] = ()
    events: tuple[Event, ...] = ()
    notices: tuple[OperatorNotice, ...] = ()
    audit_entries: tuple[AuditEntry, ...] = ()
    numbers_used: int = 0
    follow_up: Job | None = None
    secrets: Any = None
    in_progress: bool = False
    sub_decisions: Iterable["Decision | Refusal"] = ()
    combine: Callable[[list["Decision | Refusal"]], "Decision"] | None = None
    fallback: Callable[[], "Decision"] | None = None
    sandbox_clock: datetime | None = None
    injected_faults: tuple[InjectedFault, ...] | None = None
    replay_reply: Any = None
    question: Any = None

    @property
    def changes_anything(self) -> bool:
        """Whether it writes something, rather than just answer. Its parts are decisions of their own."""
        moves = self.groups or self.rows or self.jobs or self.jobs_done
        tells = self.events or self.notices or self.audit_entries
        return (
            bool(moves or tells)
            or self.numbers_used > 0
            or self.injected_faults is not None
            or self.sandbox_clock is not None
        )


class NeedsMore(msgspec.Struct, frozen=True):
    needs: Needs


Outcome = Refusal | Decision | NeedsMore
