"""The result types of the pure rules, and what a rule is given to decide on.

A rule (`decide`) is called with a request, a `Context` and the rows that it asked for. It returns one of:

    Refusal    nothing happens; the refusal is the reply
    Decision   everything that should happen, as data: reply, postings, rows, events, jobs
    NeedsMore  further rows to load; the rule is then run again in the same transaction

A rule never reads a clock and never draws random numbers: `Context` has the business time and the entropy.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, ClassVar, Generic

import msgspec
from typing_extensions import TypeVar

from kasuwa.core.callers import NO_CALLER, Caller
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.endpoints import Endpoint
from kasuwa.core.error_codes import FIELD_INVALID, UNNAMED
from kasuwa.core.keyring import derive
from kasuwa.core.references import first_number
from kasuwa.core.routing import NO_ROUTING, RailChooser, RailDemand
from kasuwa.core.row_codes import RowChanged, describe_row
from kasuwa.core.scenario import NO_SCENARIO, InjectedFault, Scenario
from kasuwa.core.vault import Vault


class Row(msgspec.Struct):
    """A row of a table that the writer maintains. Subclasses add a field for each further column."""

    table: ClassVar[str] = ""
    mutable_columns: ClassVar[tuple[str, ...]] = ()  # the only columns that are written after the insert
    # Columns that decide where money goes (core/row_codes.py). A table that has some has a field `row_code` as well.
    coded_columns: ClassVar[tuple[str, ...]] = ()
    coded_parts: ClassVar[Mapping[str, str]] = {}  # SQL of those of which a part decides: the property `coded_…`
    coded_condition: ClassVar[str] = "true"  # SQL of `is_coded`

    key: bytes
    merchant_id: int

    @property
    def is_coded(self) -> bool:
        """Whether this row of a table with coded columns has a code."""
        return True

    @property
    def is_open(self) -> bool:
        """Whether the row is likely to be needed again soon. The writer caches such rows and drops the others."""
        return True


class ChangedRow(Row):
    """Stands for a row that is not as the service wrote it. A rule that asks for the row fails."""

    found_in: str  # its table


RowT = TypeVar("RowT", bound=Row)
# The reply of a decision. A bare `Decision` is one of any reply.
ReplyT = TypeVar("ReplyT", default=Any)


TermsT = TypeVar("TermsT")


def find_terms(terms: Mapping[type, Any], kind: type[TermsT]) -> TermsT:
    """Returns the terms of one subject. Every such struct has defaults, which are in force where nothing was agreed."""
    agreed: TermsT | None = terms.get(kind)
    return kind() if agreed is None else agreed


# --- the merchant and the context -----------------------------------------------------------------------


class AmountLimits(msgspec.Struct, frozen=True):
    """The smallest and largest amount of one transaction, in minor units."""

    min_amount: int
    max_amount: int


class Merchant(msgspec.Struct, frozen=True):
    """The merchant who makes a request, with its terms."""

    merchant_id: int  # names its books: it changes when the test environment resets them
    mid: str  # the public identifier that the merchant sends in the `mid` header
    name: str
    environment: str  # "test" or "live"
    has_strict_http: bool  # errors are sent with HTTP status codes instead of 200
    limits: Mapping[str, AmountLimits]  # by currency
    rate_limit: tuple[int, int] | None = None  # requests a second and burst; None for no limit
    settlement_days: int = 0
    inbound_bank: str = "035"  # bank code of the account numbers that payers transfer to
    suspended: bool = False
    rails: Mapping[str, tuple[str, ...]] = {}  # rails of its own, by purpose, in order of preference
    outcome_seed: str = ""  # in test: makes random outcomes the same in every run; empty if they are random
    dispute_credit: Mapping[str, int] = {}  # by currency: how far disputes may take the wallet below zero
    logo: str = ""  # a data URL of a picture; empty if there is none
    token_space: int = 0  # of a fork: the number that sets its account numbers and codes apart; 0 if it is none
    caller: Caller = NO_CALLER  # who makes the request in its name
    settings_version: int = 0  # of the settings that these terms are made from
    subject_terms: Mapping[type, Any] = {}  # by the struct that a subject declares for them

    @property
    def shown_number(self) -> int:
        """The number of the books in addresses: that of the first books, or of the fork, so that a world that is put
        back goes on as if it was never interrupted."""
        return self.token_space or first_number(self.merchant_id)

    def terms(self, kind: type[TermsT]) -> TermsT:
        """Returns the merchant's terms of one subject, such as its Tariff. Raises KeyError for a struct that is not
        among the terms of merchants."""
        terms: TermsT = self.subject_terms[kind]
        return terms


class Context(msgspec.Struct):
    """The input of a rule besides its request and its rows."""

    merchant: Merchant
    now: datetime  # the merchant's business time
    entropy: bytes  # random bytes of this decision
    number: int  # the next free reference number
    permutation: Callable[[int], int]  # turns a reference number into one that does not reveal the count
    digest: Callable[[bytes], bytes]  # keyed hash by which sealed values are found
    vault: Vault
    scenario: Scenario = NO_SCENARIO  # test environment: how the rail behaves for this request
    injected_faults: tuple[InjectedFault, ...] = ()  # test environment: faults of the merchant's next rail calls
    endpoints: tuple[Endpoint, ...] = ()  # that the merchant's events are sent to
    public_url: str = ""  # the address at which payers reach this deployment
    deployment_terms: Mapping[type, Any] = {}  # by the struct that a subject declares for them
    rail_chooser: RailChooser = NO_ROUTING

    def terms(self, kind: type[TermsT]) -> TermsT:
        """Returns the deployment's terms of one subject, such as its CardIssuingSettings."""
        return find_terms(self.deployment_terms, kind)

    def choose_rail(self, demand: RailDemand, avoided: str = "", among: tuple[str, ...] = ()) -> str:
        """Returns the rail of a new order, or of one that was not sent to the rail `avoided`. See core/routing.py.

        `among` are those that may take it, if the rule knows that not all of them do."""
        return self.rail_chooser.choose(demand, among or self.merchant.rails.get(demand.purpose, ()), avoided)

    def find_rail_account(self, rail: str, account: str = "") -> str:
        """Returns our account with a rail that a new order is sent with, or "" if the rail has none. It is `kept`, the
        account that keeps a saved card, if its keys are set."""
        return self.rail_chooser.find_account(rail, account)

    def has_untried_rail(self, purpose: str, attempt: int, among: tuple[str, ...] = ()) -> bool:
        """Whether an order that was moved at every attempt so far has a rail left that it was not given to."""
        preferred = among or self.merchant.rails.get(purpose, ())
        return attempt < self.rail_chooser.count_rails(purpose, preferred) - 1

    def draw_page_token(self, purpose: str) -> str:
        """Returns 64 unguessable hexadecimal digits for the address of a page. A page is found without its merchant, so
        those of a fork differ from those of what it is a copy of, which else draws the same."""
        space = self.merchant.token_space
        return derive(self.entropy, f"{purpose} of {space}" if space else purpose).hex()

    def seal(self, place: str, plain: bytes) -> bytes:
        """Encrypts a value for one place (table, column and row) of this merchant. The nonce comes from `entropy`."""
        return self.vault.seal(self.merchant.merchant_id, place, plain, derive(self.entropy, f"nonce {place}"))

    def unseal(self, place: str, sealed: bytes) -> bytes:
        return self.vault.unseal(self.merchant.merchant_id, place, sealed)


# --- the rows of a rule ---------------------------------------------------------------------------------


class Needs(msgspec.Struct):
    """The rows (by table and key) and accounts (by name) that are loaded and locked before a rule runs.

    `new_keys` are keys among `rows` under which the rule creates a row unless there is one. It is a hint: the writer
    need not read them first, because creating a row that exists fails (docs/decisions/0072)."""

    rows: tuple[tuple[type[Row], bytes], ...] = ()
    accounts: tuple[str, ...] = ()
    new_keys: tuple[bytes, ...] = ()


class LoadedRows:
    """The rows that a rule asked for. A key without a row is loaded as None.

    `rows` is shared by all submissions of a batch and may hold more. A rule sees the keys in `asked` alone, so that its
    result does not depend on the requests that share its batch. Without `asked` it sees all of `rows`.
    """

    def __init__(self, rows: Mapping[bytes, Row | None], keys: Collection[bytes] | None = None) -> None:
        self._rows = rows
        self._keys = rows if keys is None else keys

    def is_loaded(self, key: bytes) -> bool:
        """Whether a key was asked for, even if it has no row."""
        return key in self._keys

    def get(self, kind: type[RowT], key: bytes) -> RowT | None:
        """Returns the row of a key, or None if it has none. Raises KeyError for a key that was not asked for, and
        RowChanged for a row that is not as the service wrote it."""
        if key not in self._keys:
            raise KeyError(key)
        row = self._rows[key]
        if row is not None and not isinstance(row, kind):
            if isinstance(row, ChangedRow):
                raise RowChanged(describe_row(row.found_in, row.merchant_id, (row.key.hex(),)))
            raise TypeError(f"{kind.__name__} asked for, {type(row).__name__} found")
        return row


# --- the results of a rule ------------------------------------------------------------------------------


class FieldError(msgspec.Struct, frozen=True):
    """One fault of a request, by the field that has it."""

    field: str
    "Path of the field in the request, such as `card.expiry_year` or `split.0.ref_code`."
    reason: str
    "What the value must be, or what is wrong with it."
    code: str = FIELD_INVALID
    "What is wrong with it, for programs. The page of errors lists the codes."
    value: str | msgspec.UnsetType = msgspec.UNSET
    "The value that was sent, as text of at most 100 characters. Absent for objects and arrays; `***` for secrets."


class Refusal(msgspec.Struct, frozen=True):
    """An error reply: its status, a message that says what to do, and the invalid fields. Contract: #errors

    A refusal is a constant. One whose message depends on the request is a template: its message names the values in
    braces, and `fill` sets them."""

    code: int  # the status of the reply
    message: str
    field_errors: tuple[FieldError, ...] = ()
    total: int | None = None  # what would be charged instead, for a page to show; no part of a reply
    error_code: str = UNNAMED  # what is wrong, for programs: `code` of the reply. Contract: errors

    def fill(self, **values: Any) -> "Refusal":
        """Returns the refusal with the values that its message names."""
        return msgspec.structs.replace(self, message=self.message.format(**values))


# Field errors that a reply lists, and those that its message names. Contract: #errors
MAX_FIELD_ERRORS = 50
MAX_ERRORS_IN_MESSAGE = 3


def refuse_fields(*errors: FieldError) -> Refusal:
    """Returns a refusal for invalid fields. Many clients show the message alone, so it names the first errors."""
    lines = [
        f"{error.field}: {error.reason}" if error.field else error.reason for error in errors[:MAX_ERRORS_IN_MESSAGE]
    ]
    if len(errors) > MAX_ERRORS_IN_MESSAGE:
        lines.append(f"and {len(errors) - MAX_ERRORS_IN_MESSAGE} more")
    message = "; ".join(lines) or "The request is not valid"
    return Refusal(INVALID_REQUEST, message, errors[:MAX_FIELD_ERRORS], error_code=FIELD_INVALID)


class Posting(msgspec.Struct, frozen=True):
    """A movement from the debited to the credited account, both of one merchant and one currency."""

    debit: str
    credit: str
    amount: int
    kind: str  # what the money means, one of ledger.posting_kinds


class HeldAmount(msgspec.Struct, frozen=True):
    """An amount that a row reserves on one account as long as it is open: that of a transaction, of a dispute or of
    money that is returned out of suspense (docs/decisions/0090)."""

    account: str
    amount: int


class PostingGroup(msgspec.Struct, frozen=True):
    """Postings and holds that are applied all or not at all."""

    reference: str
    shortfall_refusal: Refusal  # the result if an account would fall below its minimum balance
    postings: tuple[Posting, ...] = ()
    holds: HeldAmount | None = None  # by a row that the same decision opens
    # By a row that the same decision ends. Released first: captured in whole or in part by `postings`, voided without
    # any.
    releases: HeldAmount | None = None


class Job(Row):
    """Work that is due at a business time. A job whose lease expires, because its worker died, can be claimed again."""

    table: ClassVar[str] = "scheduled_job"
    coded_columns: ClassVar[tuple[str, ...]] = ("kind", "reference", "subject", "work")
    coded_condition: ClassVar[str] = "lane <> 'webhook'"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "kind",
        "due",
        "run_at",
        "leased_until",
        "claims",
        "attempt",
        "work",
        "rail",
        "is_rail_fixed",
        "is_queried_first",
        "rail_account",
        "row_code",
    )

    kind: str
    lane: str
    reference: str
    subject: bytes
    due: datetime  # business time
    run_at: datetime  # the same moment in wall time, maintained by the writer
    leased_until: datetime | None
    claims: int
    attempt: int
    idempotency_claim: bytes | None  # of the request that wrote the job (engine.idempotency.parse_idempotency_claim)
    work: str
    rail: str = ""  # the rail of its order; "" if it calls none, or if none is configured
    is_rail_fixed: bool = False  # its order may have reached the rail (core/routing.py)
    # A process that died may have sent its order, so the rail is queried before it is sent again. The database sets it
    # at the second claim, for good.
    is_queried_first: bool = False
    rail_account: str = ""  # our account with the rail that its order goes to (core/routing.py)
    endpoint_id: int = 0  # of a delivery, the endpoint that it is for; otherwise 0
    row_code: bytes | None = None

    @property
    def is_coded(self) -> bool:
        # A delivery can be made anew from the event log, and says nothing of its own.
        return self.lane != "webhook"

    @property
    def is_open(self) -> bool:
        """Whether it is leased to the request that wrote it, which records its result in a moment."""
        return self.leased_until is not None


def make_job(
    *,
    key: bytes,
    merchant_id: int,
    kind: str,
    lane: str,
    reference: str,
    subject: bytes,
    due: datetime,
    work: str = "{}",
    rail: str = "",
    rail_account: str = "",
    endpoint_id: int = 0,
) -> Job:
    """Returns a new job, due at a business time. The writer sets its wall time."""
    # By place: a struct of so many fields takes ten times as long by name.
    return Job(
        key,
        merchant_id,
        kind,
        lane,
        reference,
        subject,
        due,
        due,
        None,
        0,
        0,
        None,
        work,
        rail,
        False,
        False,
        rail_account,
        endpoint_id,
    )


class Event(msgspec.Struct, frozen=True):
    """A webhook event: a transaction has become final."""

    reference: str
    kind: str
    payload: bytes  # signed and sent byte for byte
    object: str = ""  # what the event belongs to if that is not the transaction itself: a refund's payment
    object_seq: int = 1  # position among the events of its object


class OperatorNotice(msgspec.Struct, frozen=True):
    """A message to the operator."""

    reference: str
    message: str
    # A rail contradicts the end of the transaction `reference`: two operators decide whether that is booked.
    is_contradiction: bool = False


class AuditEntry(msgspec.Struct, frozen=True):
    """An entry of the audit trail. Its sequence number and hash are set on insert (postgres/migrations, table
    audit)."""

    actor: str
    action: str
    subject: str
    address: str = ""  # network address of the actor
    before: str = ""  # without secrets, as is `after`
    after: str = ""


class SandboxEffects(msgspec.Struct, frozen=True):
    """Effects that only the test environment has."""

    clock: datetime | None = (
        None  # the merchant's new business time; its jobs keep their wall times (jobs/job_times.py)
    )
    injected_faults: tuple[InjectedFault, ...] | None = None  # replace the merchant's; None leaves them
    is_frozen: bool | None = None  # stops the merchant's clock, or lets it run again; None leaves it


def replace_faults(faults: tuple[InjectedFault, ...] | None) -> SandboxEffects | None:
    """Returns the effect that replaces the merchant's injected faults, or None if `faults` is None (unchanged)."""
    return None if faults is None else SandboxEffects(injected_faults=faults)


class Effects(msgspec.Struct, kw_only=True):
    """Everything that a decision writes, or a part of it that another rule adds (docs/decisions/0091)."""

    groups: tuple[PostingGroup, ...] = ()
    rows: tuple[Row, ...] = ()
    jobs: tuple[Job, ...] = ()
    jobs_done: tuple[Job, ...] = ()  # deleted
    events: tuple[Event, ...] = ()
    notices: tuple[OperatorNotice, ...] = ()
    audit_entries: tuple[AuditEntry, ...] = ()
    numbers_used: int = 0  # reference numbers taken, counted from Context.number

    def add(self, part: "Effects") -> None:
        """Appends all effects of a part to these. What only a decision has, such as a reply or a follow-up, is left to
        the caller."""
        self.groups += part.groups
        self.rows += part.rows
        self.jobs += part.jobs
        self.jobs_done += part.jobs_done
        self.events += part.events
        self.notices += part.notices
        self.audit_entries += part.audit_entries
        self.numbers_used += part.numbers_used


class Decision(Effects, Generic[ReplyT], kw_only=True):
    """Everything that a rule wants to happen. The writer commits it in whole."""

    # May be a refusal that leaves something behind, such as a counted wrong attempt.
    reply: ReplyT = None  # type: ignore[assignment]
    follow_up: Job | None = None  # run by the requesting process right after the commit; leased to it until then
    secrets: Any = None  # handed to the follow-up in memory and never stored: a card's number and PIN
    in_progress: bool = False  # the same request is still being processed elsewhere: ask again in a moment
    # Of a dry run: posting groups that an account may refuse as it would those of the act, and that are not recorded.
    tried_groups: tuple[PostingGroup, ...] = ()
    # Applied one by one as they are produced; one that is refused does not undo the others. `combine` then makes the
    # reply, rows, jobs and events of the whole out of their results.
    sub_decisions: Iterable["Decision | Refusal"] = ()
    combine: Callable[[list["Decision | Refusal"]], "Decision"] | None = None
    # Recorded instead of a sub-decision that an account's minimum balance refuses. Has no posting groups.
    fallback: Callable[[], "Decision"] | None = None
    sandbox: SandboxEffects | None = None
    # The reply says that the outcome is awaited: it is not stored, and a repeat is decided anew. Contract: #repeats
    is_provisional: bool = False
    # Stored for replays in place of a reply that shows a secret once. Contract: #repeats
    replay_reply: Any = None
    # What an audit entry of this decision says besides the fields of the request: how much a bulk approval releases.
    audit_facts: Mapping[str, Any] | None = None
    # What must be asked first: a rail (core.action.RailQuestion), or whether senders were ended (`decide_with_ended` of
    # Write). Such a decision changes nothing: it is made again with the answer.
    question: Any = None

    @property
    def changes_anything(self) -> bool:
        """Whether it writes anything. Sub-decisions are not counted: each is a decision of its own."""
        changes = self.groups or self.rows or self.jobs or self.jobs_done
        messages = self.events or self.notices or self.audit_entries
        return bool(changes or messages) or self.numbers_used > 0 or self.sandbox is not None


class NeedsMore(msgspec.Struct, frozen=True):
    needs: Needs


Outcome = Refusal | Decision[ReplyT] | NeedsMore
