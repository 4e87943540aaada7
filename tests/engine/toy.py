"""A toy slice for the batch tests: a ticket is started with a hold, and ended, like a transfer."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar, NamedTuple

import msgspec

from kasuwa.core.decision import (
    Context,
    Decision,
    Event,
    HeldAmount,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    OperatorNotice,
    Posting,
    PostingGroup,
    Refusal,
    Row,
)
from kasuwa.core.references import Permutation, ordered_key, row_key
from kasuwa.core.vault import Vault
from kasuwa.engine.batch import Deployment, Submission
from kasuwa.engine.idempotency import IdempotencyClaim, idempotency_record_key
from kasuwa.merchants.merchant_settings import MerchantSettings, make_merchant

WALL = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
WORLD = Deployment(Vault(bytes(32)), Permutation(b"toy"))
MERCHANTS = (1, 2)
WALLET, RAIL, OUTSIDE = "wallet:main:NGN", "rail:bank:NGN", "outside:funding:NGN"
ACCOUNTS = (WALLET, RAIL, OUTSIDE)

SHORT = Refusal(301, "short")
USED = Refusal(104, "used with another amount")
UNKNOWN = Refusal(104, "unknown")
REFUSED = Refusal(104, "refused")


class Ticket(Row):
    """The toy's transaction: found by its reference, open until it has ended."""

    table: ClassVar[str] = "ticket"
    mutable_columns: ClassVar[tuple[str, ...]] = ("state",)

    ref: str
    number: int
    amount: int
    state: str

    @property
    def is_open(self) -> bool:
        return self.state == "open"


Rule = Callable[[Context, LoadedRows], Any]


class ToyRequest(NamedTuple):
    """One request of the toy slice: the rule, the merchant and the values."""

    verb: str
    merchant_id: int = 1
    ref: str = "a"
    amount: int = 100
    idempotency_key: str | None = None


def merchant(merchant_id: int) -> Merchant:
    return make_merchant(merchant_id, f"GP{merchant_id:07d}", "Toy", "test", MerchantSettings())


def ticket_key(ask: ToyRequest) -> bytes:
    return row_key(ask.merchant_id, "ticket", ask.ref)


def job_key(ask: ToyRequest) -> bytes:
    return ordered_key(1, "toy", row_key(ask.merchant_id, "toy.send", ask.ref))


# --- the rules ------------------------------------------------------------------------------------------------


def fund(ask: ToyRequest, context: Context, rows: LoadedRows) -> Decision:
    return Decision(
        reply="funded",
        groups=(PostingGroup("funding", SHORT, (Posting(OUTSIDE, WALLET, ask.amount, "wallet funding"),)),),
    )


def spend(ask: ToyRequest, context: Context, rows: LoadedRows) -> Decision:
    return Decision(
        reply="spent", groups=(PostingGroup("spending", SHORT, (Posting(WALLET, RAIL, ask.amount, "transfer"),)),)
    )


def start(ask: ToyRequest, context: Context, rows: LoadedRows) -> Decision | Refusal:
    first = rows.get(Ticket, ticket_key(ask))
    if first is not None:
        return Decision(reply=(first.number, first.state)) if first.amount == ask.amount else USED
    row = Ticket(ticket_key(ask), ask.merchant_id, ask.ref, context.number, ask.amount, "open")
    now = context.now
    job = Job(job_key(ask), ask.merchant_id, "toy.send", "toy", ask.ref, row.key, now, now, None, 0, 0, None, "{}")
    return Decision(
        reply=(row.number, row.state),
        groups=(PostingGroup(ask.ref, SHORT, holds=HeldAmount(WALLET, ask.amount)),),
        rows=(row,),
        jobs=(job,),
        numbers_used=1,
        follow_up=job,
    )


def end(ask: ToyRequest, context: Context, rows: LoadedRows, part: int) -> Decision | Refusal:
    """Posts `part` of the hold, or voids the hold if `part` is zero."""
    row, job = rows.get(Ticket, ticket_key(ask)), rows.get(Job, job_key(ask))
    if row is None:
        return UNKNOWN
    if row.state != "open" or job is None:
        return Decision(reply=(row.number, row.state), notices=(OperatorNotice(row.ref, f"it is {row.state}"),))
    posts = (Posting(WALLET, RAIL, part, "transfer"),) if part else ()
    ended = msgspec.structs.replace(row, state=f"ended with {part}")
    return Decision(
        reply=(ended.number, ended.state),
        groups=(PostingGroup(row.ref, SHORT, posts, releases=HeldAmount(WALLET, row.amount)),),
        rows=(ended,),
        jobs_done=(job,),
        events=(Event(row.ref, "toy", ended.state.encode()),),
    )


def finish(ask: ToyRequest, context: Context, rows: LoadedRows) -> Decision | Refusal:
    row = rows.get(Ticket, ticket_key(ask))
    return end(ask, context, rows, row.amount if row is not None else 0)


def finish_half(ask: ToyRequest, context: Context, rows: LoadedRows) -> Decision | Refusal:
    row = rows.get(Ticket, ticket_key(ask))
    return end(ask, context, rows, row.amount // 2 if row is not None else 0)


def give_back(ask: ToyRequest, context: Context, rows: LoadedRows) -> Decision | Refusal:
    return end(ask, context, rows, 0)


def try_later(ask: ToyRequest, context: Context, rows: LoadedRows) -> Decision | Refusal:
    job = rows.get(Job, job_key(ask))
    if job is None:
        return UNKNOWN
    return Decision(reply="later", jobs=(msgspec.structs.replace(job, attempt=job.attempt + 1),))


def ask_more(ask: ToyRequest, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Spends too, but only after it has asked for an account and a row that it did not name at first."""
    key = row_key(ask.merchant_id, "ticket", f"more {ask.ref}")
    try:
        before = rows.get(Ticket, key)
    except KeyError:
        return NeedsMore(Needs(((Ticket, key),), (WALLET, RAIL)))
    if before is not None:
        return Decision(reply=(before.number, before.state))
    row = Ticket(key, ask.merchant_id, f"more {ask.ref}", context.number, ask.amount, "done")
    post = Posting(WALLET, RAIL, ask.amount, "transfer")
    return Decision(
        reply=(row.number, row.state), groups=(PostingGroup("more", SHORT, (post,)),), rows=(row,), numbers_used=1
    )


def refuse(ask: ToyRequest, context: Context, rows: LoadedRows) -> Refusal:
    return REFUSED


def overdraw(ask: ToyRequest, context: Context, rows: LoadedRows) -> Decision:
    """Would write much, but the wallet is short in its last group."""
    funding = PostingGroup("funding", SHORT, (Posting(OUTSIDE, WALLET, 5, "wallet funding"),))
    short = PostingGroup("spending", SHORT, (Posting(WALLET, RAIL, 10**15, "transfer"),))
    row = Ticket(ticket_key(ask), ask.merchant_id, ask.ref, context.number, 5, "never")
    return Decision(
        reply="never", groups=(funding, short), rows=(row,), events=(Event("x", "toy", b"x"),), numbers_used=3
    )


def crash(ask: ToyRequest, context: Context, rows: LoadedRows) -> Decision:
    raise ZeroDivisionError("a bug in a slice")


def crash_in_the_ledger(ask: ToyRequest, context: Context, rows: LoadedRows) -> Decision:
    funding = PostingGroup("funding", SHORT, (Posting(OUTSIDE, WALLET, 5, "wallet funding"),))
    return Decision(
        reply="never",
        groups=(funding, PostingGroup("bad", SHORT, (Posting(WALLET, WALLET, 5, "transfer"),))),
        numbers_used=2,
    )


VALID_RULE_FUNCTIONS = (fund, spend, start, finish, finish_half, give_back, try_later)
FAILING_RULE_FUNCTIONS = (refuse, overdraw, crash, crash_in_the_ledger)
RULES: dict[str, Callable[[ToyRequest, Context, LoadedRows], Any]] = {
    rule.__name__: rule for rule in (*VALID_RULE_FUNCTIONS, ask_more, *FAILING_RULE_FUNCTIONS)
}
VALID_RULES = tuple(rule.__name__ for rule in VALID_RULE_FUNCTIONS)
FAILING_RULES = tuple(rule.__name__ for rule in FAILING_RULE_FUNCTIONS)
# Rules whose requests say that their rows are new. For `give_back` that is wrong, which must cost time alone.
CREATING_RULES = ("start", "overdraw", "refuse", "crash", "give_back")


# --- from an ask to a submission --------------------------------------------------------------------------------


def submission(ask: ToyRequest, entropy: bytes = bytes(32)) -> Submission:
    def decide(context: Context, rows: LoadedRows) -> Any:
        return RULES[ask.verb](ask, context, rows)

    rows: tuple[tuple[type[Row], bytes], ...] = ()
    if ask.verb != "ask_more":
        rows = ((Ticket, ticket_key(ask)), (Job, job_key(ask)))
    new_keys = tuple(key for _, key in rows) if ask.verb in CREATING_RULES else ()
    made = Submission(merchant(ask.merchant_id), Needs(rows, ACCOUNTS, new_keys), decide, entropy)
    if ask.idempotency_key is not None:
        result = f"{ask.verb} {ask.ref} {ask.amount}".encode()
        made.idempotency_claim = IdempotencyClaim(
            idempotency_record_key(ask.merchant_id, ask.idempotency_key),
            WORLD.vault.digest(result),
            is_original_request=True,
        )
    return made
