"""A toy slice for the batch tests: a ticket is started, held money for, and ended, as a transfer would be."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar, NamedTuple

import msgspec

from kasuwa.core.decision import (
    Context,
    Decision,
    Event,
    Group,
    Job,
    Merchant,
    More,
    Needs,
    Notice,
    Post,
    Refusal,
    Reserve,
    Row,
    Seen,
)
from kasuwa.core.merchant import MerchantSettings, make_merchant
from kasuwa.core.references import Permutation, hold_key, ordered_key, row_key
from kasuwa.core.secrets import Vault
from kasuwa.db.batch import Claim, Submission, World, repeat_key
from kasuwa.ledger.chart import Hold

WALL = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
WORLD = World(Vault(bytes(32)), Permutation(b"toy"))
MERCHANTS = (1, 2)
WALLET, RAIL, OUTSIDE = "wallet:main:NGN", "rail:bank:NGN", "outside:funding:NGN"
ACCOUNTS = (WALLET, RAIL, OUTSIDE)

SHORT = Refusal(301, "short")
USED = Refusal(104, "used with another amount")
UNKNOWN = Refusal(104, "unknown")
REFUSED = Refusal(104, "refused")


class Ticket(Row):
    """The toy's transaction: known by its reference, open until it has ended."""

    table: ClassVar[str] = "ticket"
    changing: ClassVar[tuple[str, ...]] = ("state",)

    ref: str
    number: int
    amount: int
    state: str


Rule = Callable[[Context, Seen], Any]


class Ask(NamedTuple):
    """One thing asked of the toy slice: which rule, of which merchant, with what."""

    verb: str
    merchant_id: int = 1
    ref: str = "a"
    amount: int = 100
    idempotency_key: str | None = None


def merchant(merchant_id: int) -> Merchant:
    return make_merchant(merchant_id, f"GP{merchant_id:07d}", "Toy", "test", MerchantSettings())


def ticket_key(ask: Ask) -> bytes:
    return row_key(ask.merchant_id, "ticket", ask.ref)


def job_key(ask: Ask) -> bytes:
    return ordered_key(1, "toy", row_key(ask.merchant_id, "toy.send", ask.ref))


# --- the rules ------------------------------------------------------------------------------------------------


def fund(ask: Ask, context: Context, seen: Seen) -> Decision:
    return Decision("funded", (Group("funding", SHORT, (Post(OUTSIDE, WALLET, ask.amount, "funding"),)),))


def spend(ask: Ask, context: Context, seen: Seen) -> Decision:
    return Decision("spent", (Group("spending", SHORT, (Post(WALLET, RAIL, ask.amount, "spending"),)),))


def start(ask: Ask, context: Context, seen: Seen) -> Decision | Refusal:
    first = seen.get(Ticket, ticket_key(ask))
    if first is not None:
        return Decision((first.number, first.state)) if first.amount == ask.amount else USED
    row = Ticket(ticket_key(ask), ask.merchant_id, ask.ref, context.number, ask.amount, "open")
    hold = Reserve(hold_key(row.key), WALLET, ask.amount)
    now = context.now
    job = Job(job_key(ask), ask.merchant_id, "toy.send", "toy", ask.ref, row.key, now, now, None, 0, 0, None, "{}")
    return Decision(
        reply=(row.number, row.state),
        groups=(Group(ask.ref, SHORT, reserves=(hold,)),),
        rows=(row,),
        jobs=(job,),
        numbers=1,
        then=job,
    )


def end(ask: Ask, context: Context, seen: Seen, part: int) -> Decision | Refusal:
    """Post `part` of the hold, or void it where that is nothing."""
    row, job = seen.get(Ticket, ticket_key(ask)), seen.get(Job, job_key(ask))
    if row is None:
        return UNKNOWN
    if row.state != "open" or job is None:
        return Decision((row.number, row.state), notices=(Notice(row.ref, f"it is {row.state}"),))
    posts = (Post(WALLET, RAIL, part, "end"),) if part else ()
    ended = msgspec.structs.replace(row, state=f"ended with {part}")
    return Decision(
        reply=(ended.number, ended.state),
        groups=(Group(row.ref, SHORT, posts, ends=hold_key(row.key)),),
        rows=(ended,),
        jobs_done=(job,),
        events=(Event(row.ref, "toy", ended.state.encode()),),
    )


def finish(ask: Ask, context: Context, seen: Seen) -> Decision | Refusal:
    row = seen.get(Ticket, ticket_key(ask))
    return end(ask, context, seen, row.amount if row is not None else 0)


def finish_half(ask: Ask, context: Context, seen: Seen) -> Decision | Refusal:
    row = seen.get(Ticket, ticket_key(ask))
    return end(ask, context, seen, row.amount // 2 if row is not None else 0)


def give_back(ask: Ask, context: Context, seen: Seen) -> Decision | Refusal:
    return end(ask, context, seen, 0)


def try_later(ask: Ask, context: Context, seen: Seen) -> Decision | Refusal:
    job = seen.get(Job, job_key(ask))
    if job is None:
        return UNKNOWN
    return Decision("later", jobs=(msgspec.structs.replace(job, attempt=job.attempt + 1),))


def ask_more(ask: Ask, context: Context, seen: Seen) -> Decision | More:
    """Spends too, but only after a second look, at an account and a row it did not name at first."""
    key = row_key(ask.merchant_id, "ticket", f"more {ask.ref}")
    try:
        before = seen.get(Ticket, key)
    except KeyError:
        return More(Needs(((Ticket, key),), (WALLET, RAIL)))
    if before is not None:
        return Decision((before.number, before.state))
    row = Ticket(key, ask.merchant_id, f"more {ask.ref}", context.number, ask.amount, "done")
    post = Post(WALLET, RAIL, ask.amount, "spending")
    return Decision((row.number, row.state), (Group("more", SHORT, (post,)),), (row,), numbers=1)


def refuse(ask: Ask, context: Context, seen: Seen) -> Refusal:
    return REFUSED


def overdraw(ask: Ask, context: Context, seen: Seen) -> Decision:
    """Would write plenty, if only the wallet were not short in its last group."""
    funding = Group("funding", SHORT, (Post(OUTSIDE, WALLET, 5, "funding"),))
    short = Group("spending", SHORT, (Post(WALLET, RAIL, 10**15, "spending"),))
    row = Ticket(ticket_key(ask), ask.merchant_id, ask.ref, context.number, 5, "never")
    return Decision("never", (funding, short), (row,), events=(Event("x", "toy", b"x"),), numbers=3)


def crash(ask: Ask, context: Context, seen: Seen) -> Decision:
    raise ZeroDivisionError("a bug in a slice")


def crash_in_the_ledger(ask: Ask, context: Context, seen: Seen) -> Decision:
    funding = Group("funding", SHORT, (Post(OUTSIDE, WALLET, 5, "funding"),))
    return Decision("never", (funding, Group("bad", SHORT, (Post(WALLET, WALLET, 5, "bad"),))), numbers=2)


WELL_MEANT = (fund, spend, start, finish, finish_half, give_back, try_later)
ILL_MEANT = (refuse, overdraw, crash, crash_in_the_ledger)
RULES: dict[str, Callable[[Ask, Context, Seen], Any]] = {
    rule.__name__: rule for rule in (*WELL_MEANT, ask_more, *ILL_MEANT)
}
HARMLESS = tuple(rule.__name__ for rule in WELL_MEANT)
HURTFUL = tuple(rule.__name__ for rule in ILL_MEANT)


# --- from an ask to a submission --------------------------------------------------------------------------------


def submission(ask: Ask, entropy: bytes = bytes(32)) -> Submission:
    def decide(context: Context, seen: Seen) -> Any:
        return RULES[ask.verb](ask, context, seen)

    rows: tuple[tuple[type[Row], bytes], ...] = ()
    if ask.verb != "ask_more":
        rows = ((Ticket, ticket_key(ask)), (Hold, hold_key(ticket_key(ask))), (Job, job_key(ask)))
    made = Submission(merchant(ask.merchant_id), Needs(rows, ACCOUNTS), decide, entropy)
    if ask.idempotency_key is not None:
        said = f"{ask.verb} {ask.ref} {ask.amount}".encode()
        made.claim = Claim(repeat_key(ask.merchant_id, ask.idempotency_key), WORLD.vault.digest(said), opens=True)
    return made
