"""The pure half of the writer: decide a batch in memory and say what must be written.

Given everything the batch needs (fetched and locked), each submission is decided in order of arrival on what
is now in memory, so later ones see what earlier ones did. A refusal or a rule that raises leaves no trace:
what a decision changes is put down only after all of it was found possible. No I/O, no clock, no luck here:
tests/db drive it with Hypothesis.
"""

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    Job,
    Merchant,
    More,
    Needs,
    Refusal,
    Row,
    Seen,
)
from kasuwa.core.issuing import DEFAULT_ISSUING, Issuing
from kasuwa.core.purpose import Purpose
from kasuwa.core.references import KEY_BYTES, Permutation, account_key, row_key
from kasuwa.core.scenario import NO_SCENARIO, Scenario, read_faults
from kasuwa.core.secrets import Vault, derive
from kasuwa.db.book import Book, business_now, wall_of
from kasuwa.db.entropy import SeededEntropy
from kasuwa.db.journal import DeedRow, EventRow, NoticeRow, PostingRow, deed_row, event_row
from kasuwa.db.turns import Steps, collect
from kasuwa.ledger.apply import Applied, Entry, Short, TooLarge, apply
from kasuwa.ledger.chart import Account, open_account

__all__ = ["Book", "business_now"]

# Longer than a request's deadline at the rail plus the commit that follows it: a job leased to a request is
# taken up by the worker only when that request is surely gone.
LEASE = timedelta(seconds=20)

# How long a reply is kept under its Idempotency-Key. Spec silent: D7
REPEAT_LIFE = timedelta(hours=24)

# When a key expires that is free again at once: before any clock's time.
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)

TOO_LARGE = Refusal(INVALID_REQUEST, "The amount is too large: a balance would be more than the books can keep")

REPEAT_DIFFERS = Refusal(INVALID_REQUEST, "This Idempotency-Key was used with another request")


class Repeat(Row):
    """A reply kept under an Idempotency-Key. `open` while its request is still at a rail."""

    table: ClassVar[str] = "repeat"
    changing: ClassVar[tuple[str, ...]] = ("digest", "reply", "open", "expires_at")

    digest: bytes
    reply: bytes | None
    open: bool
    expires_at: datetime

    @property
    def is_open(self) -> bool:
        return False  # another process may close it, and a repeat is rare: read it when it is needed


class Claim(msgspec.Struct, frozen=True):
    """An Idempotency-Key: `opens` on the request itself, not on the step that ends it."""

    key: bytes
    digest: bytes
    opens: bool


def closing_claim(repeat: bytes | None) -> Claim | None:
    """What a job carries of the Idempotency-Key that its request came with."""
    return None if repeat is None else Claim(repeat[:KEY_BYTES], repeat[KEY_BYTES:], opens=False)


class Submission(msgspec.Struct, eq=False):
    """One thing to decide: a request, or what a step learnt."""

    merchant: Merchant
    needs: Needs
    decide: Callable[[Context, Seen], Any]
    entropy: bytes
    claim: Claim | None = None
    scenario: Scenario = NO_SCENARIO


class Broken(msgspec.Struct, frozen=True):
    """A rule raised: a bug. It is answered with 204 and changes nothing."""

    error: BaseException


class Spoiled(Exception):
    """A decision broke off while it was being put down: this desk must be thrown away, and its batch decided
    again one by one on fresh ones."""


Result = Refusal | Decision | More | Broken


REFUSAL_OR_MORE = (Refusal, More)


class World(msgspec.Struct, frozen=True):
    """What does not change from batch to batch."""

    vault: Vault
    permutation: Permutation
    seed: bytes | None = None
    purposes: Mapping[str, Purpose] = {}
    public_url: str = ""
    issuing: Issuing = DEFAULT_ISSUING

    def numbering(self, merchant_id: int) -> Callable[[int], int]:
        return self.permutation.of_merchant(merchant_id)


class PartsLeft(msgspec.Struct, eq=False):
    """A decision whose parts are not yet recorded, and what they are recorded with."""

    submission: Submission
    decision: Decision
    book: Book
    now: datetime


class Desk:
    """A batch's memory: what was fetched, what is new, what has changed. `wall` is the time it is decided at; what is
    over by `earliest`, where that is given, is over by every clock there is (db/clock.py)."""

    def __init__(self, world: World, wall: datetime, earliest: datetime | None = None) -> None:
        self.world = world
        self.wall = wall
        self.earliest = earliest or wall
        self.rows: dict[bytes, Row | None] = {}
        self.accounts: dict[int, dict[str, Account]] = {}
        self.new: dict[bytes, Row] = {}
        self.changed: dict[bytes, Row] = {}
        self.gone: dict[bytes, Job] = {}
        self.postings: list[PostingRow] = []
        self.events: list[EventRow] = []
        self.notices: list[NoticeRow] = []
        self.deeds: list[DeedRow] = []
        self.books: dict[int, Book] = {}
        self.touched: set[int] = set()
        self.expected: dict[int, int] = {}
        self.seeded = None if world.seed is None else SeededEntropy(world.seed)
        self.asked: dict[Submission, dict[bytes, type[Row]]] = {}

    # --- filling it -------------------------------------------------------------------------------------

    def ask(self, submission: Submission, needs: Needs) -> dict[bytes, type[Row]]:
        """Let a submission see these rows from now on. Returns all that it has asked for so far, by key."""
        asked = self.asked.setdefault(submission, {})
        for kind, key in needs.rows:
            asked[key] = kind
        merchant_id = submission.merchant.merchant_id
        for name in needs.accounts:
            asked[account_key(merchant_id, name)] = Account
        return asked

    def fetched(self, asked: Iterable[bytes], found: list[Row]) -> None:
        for key in asked:
            self.rows.setdefault(key, None)
        for row in found:
            self.rows[row.key] = row
            if isinstance(row, Account):
                self.accounts.setdefault(row.merchant_id, {})[row.name] = row

    def open_book(self, book: Book) -> None:
        self.books[book.merchant_id] = book
        self.rows[book.key] = book

    def account_names(self, merchant_id: int, names: tuple[str, ...]) -> None:
        """Accounts that have no row yet are opened by their first use."""
        accounts = self.accounts.setdefault(merchant_id, {})
        for name in names:
            if name not in accounts:
                accounts[name] = open_account(merchant_id, name)

    # --- deciding ---------------------------------------------------------------------------------------

    def decide(self, submission: Submission) -> "Steps[Result]":
        """Decides one submission. It can be interrupted after each part of a decision that has parts."""
        result = self.decide_whole(submission)
        if isinstance(result, PartsLeft):
            result = yield from self.decide_parts(result)
        return result

    def decide_whole(self, submission: Submission) -> "Result | PartsLeft":
        """Decides one submission, but for the parts of a decision that has them: `decide_parts` must follow. Nearly all
        decisions have none, and need no generator."""
        result = self.decide_once(submission)
        if self.seeded is not None and not isinstance(result, More | PartsLeft):
            self.seeded.release(submission)
        return result

    def decide_parts(self, left: "PartsLeft") -> "Steps[Decision]":
        """Records the parts of a decision. It can be interrupted after each of them."""
        try:
            decision = yield from self.take_parts(left)
        except Exception as error:
            raise Spoiled from error
        if self.seeded is not None:
            self.seeded.release(left.submission)
        return decision

    def decide_once(self, submission: Submission) -> "Result | PartsLeft":
        merchant = submission.merchant
        book = self.books[merchant.merchant_id]
        if submission.claim is not None and submission.claim.opens:
            kept = self.kept_reply(submission.claim, merchant.merchant_id)
            if kept is not None:
                return kept
        try:
            context = Context(
                merchant,
                business_now(book, self.wall),
                self.entropy(submission, book),
                book.numbers + 1,
                self.world.numbering(merchant.merchant_id),
                self.world.vault.digest,
                self.world.vault,
                submission.scenario,
                read_faults(book.faults),
                book.listens,
                self.world.purposes,
                self.world.public_url,
                self.world.issuing,
            )
            outcome = submission.decide(context, Seen(self.rows, self.asked[submission]))
            if not isinstance(outcome, Decision):
                assert isinstance(outcome, REFUSAL_OR_MORE)
                return outcome
            applied: list[Applied] = []
            refusal = self.apply_groups(outcome, merchant.merchant_id, applied)
            if refusal is not None:
                return refusal
        except Exception as error:
            return Broken(error)
        try:
            return self.take(submission, outcome, applied, book, context.now)
        except Exception as error:
            raise Spoiled from error

    def entropy(self, submission: Submission, book: Book) -> bytes:
        if self.seeded is None:
            return submission.entropy
        return self.seeded.draw(submission, book.merchant_id, book.decisions)

    def take(
        self, submission: Submission, decision: Decision, applied: list[Applied], book: Book, now: datetime
    ) -> "Decision | PartsLeft":
        """Records a decision. All that may refuse has been asked; from here on nothing does. The parts of a decision
        that has them are left to be recorded."""
        if decision.clock is not None:
            self.move_clock(book, decision.clock)
        if submission.claim is not None and decision.then is not None:
            # So that whoever ends it can close the kept reply.
            decision.then.repeat = submission.claim.key + submission.claim.digest
        self.put_down(decision, applied, book, now)
        if decision.join is not None:
            return PartsLeft(submission, decision, book, now)
        if submission.claim is not None:
            self.keep_reply_of(submission, decision)
        return decision

    def take_parts(self, left: "PartsLeft") -> "Steps[Decision]":
        """Records the parts of a decision one by one, and what they come to."""
        decision, book = left.decision, left.book
        assert decision.join is not None, "only a decision that has parts is taken part by part"
        results = yield from collect(self.take_part(part, book, left.now) for part in decision.parts)
        whole = decision.join(results)
        self.put_rows(whole.rows, book.merchant_id)
        decision.reply = whole.reply
        self.keep_reply_of(left.submission, decision)
        return decision

    def take_part(self, part: Decision | Refusal, book: Book, now: datetime) -> Decision | Refusal:
        if isinstance(part, Refusal):
            return part
        applied: list[Applied] = []
        refusal = self.apply_groups(part, book.merchant_id, applied)
        if refusal is not None:
            if part.fallback is None:
                return refusal
            part, applied = part.fallback(), []
        self.put_down(part, applied, book, now)
        return part

    def apply_groups(self, decision: Decision, merchant_id: int, applied: list[Applied]) -> Refusal | None:
        """Each group sees what those before it did; the desk itself is changed only when all of them are possible."""
        moved: dict[str, Account] = {}
        ended: dict[bytes, Row | None] = {}
        accounts: Mapping[str, Account] = self.accounts.get(merchant_id, {})
        holds: Mapping[bytes, Row | None] = self.rows
        if len(decision.groups) > 1:
            accounts, holds = ChainMap(moved, accounts), ChainMap(ended, holds)  # type: ignore[arg-type]
        for group in decision.groups:
            result = apply(accounts, holds, group, merchant_id)
            if isinstance(result, Short):
                return group.short
            if isinstance(result, TooLarge):
                return TOO_LARGE
            moved.update(result.accounts)
            ended.update(result.holds)
            applied.append(result)
        return None

    def put_down(self, decision: Decision, applied: list[Applied], book: Book, now: datetime) -> None:
        merchant_id = book.merchant_id
        book.decisions += decision.changes_anything
        for result in applied:
            self.accounts[merchant_id].update(result.accounts)
            for account in result.accounts.values():
                self.put(account)
            for hold in result.holds.values():
                self.put(hold)
            self.journal(result.entries, book, now)
        self.put_rows(decision.rows, merchant_id)
        for job in decision.jobs:
            self.put_job(job, book, leased=job is decision.then)
        for job in decision.jobs_done:
            self.drop(job)
        for event in decision.events:
            book.events += 1
            self.events.append(event_row(event, merchant_id, book.events, now))
        for notice in decision.notices:
            self.touched.add(merchant_id)
            self.notices.append(NoticeRow(merchant_id, notice.reference, notice.what, now))
        for deed in decision.deeds:
            self.touched.add(merchant_id)
            self.deeds.append(deed_row(deed, merchant_id))
        if decision.numbers:
            book.numbers += decision.numbers
            self.touched.add(merchant_id)
        if decision.faults is not None:
            book.faults = msgspec.json.encode(decision.faults).decode() if decision.faults else None
            self.touched.add(merchant_id)
        if decision.clock is not None:
            self.touched.add(merchant_id)

    def journal(self, entries: list[Entry], book: Book, now: datetime) -> None:
        first = book.postings + 1
        for entry in entries:
            book.postings += 1
            self.postings.append(
                PostingRow(
                    book.merchant_id,
                    book.postings,
                    first,
                    entry.reference,
                    entry.debit,
                    entry.credit,
                    entry.amount,
                    entry.debit_after,
                    entry.credit_after,
                    entry.kind,
                    now,
                )
            )

    def put_rows(self, rows: tuple[Row, ...], merchant_id: int) -> None:
        for row in rows:
            if row.merchant_id != merchant_id:
                raise ValueError(f"a row of merchant {row.merchant_id} in a decision of {merchant_id}")
            self.put(row)

    def put(self, row: Row) -> None:
        key = row.key
        self.touched.add(row.merchant_id)
        if key in self.new or self.rows.get(key) is None:
            self.new[key] = row
        else:
            self.changed[key] = row
        self.rows[key] = row

    def put_job(self, job: Job, book: Book, *, leased: bool) -> None:
        job.run_at = wall_of(book, job.due, self.wall)
        job.leased_until = self.wall + LEASE if leased else None
        job.claims = 1 if leased else 0
        self.put(job)

    def drop(self, job: Job) -> None:
        self.touched.add(job.merchant_id)
        self.changed.pop(job.key, None)
        if self.new.pop(job.key, None) is None:
            self.gone[job.key] = job
        self.rows[job.key] = None

    def move_clock(self, book: Book, to: datetime) -> None:
        if book.clock_fixed is not None:
            book.clock_fixed = to
        else:
            book.clock_offset = (to - self.wall) // timedelta(microseconds=1)

    def close_books(self) -> None:
        """All is decided: the books that anything was written to go up a version."""
        for merchant_id, book in self.books.items():
            self.expected[merchant_id] = book.version
            if merchant_id in self.touched:
                book.version += 1

    # --- replies kept under an Idempotency-Key ----------------------------------------------------------

    def kept_reply(self, claim: Claim, merchant_id: int) -> Result | None:
        row = self.rows[claim.key]
        if not isinstance(row, Repeat) or row.expires_at <= self.earliest:
            return None
        if row.digest != claim.digest:
            return REPEAT_DIFFERS
        assert row.reply is not None
        reply = self.world.vault.open(merchant_id, f"repeat {claim.key.hex()}", row.reply)
        return Decision(reply=msgspec.Raw(reply), wait=row.open)

    def keep_reply_of(self, submission: Submission, decision: Decision) -> None:
        if submission.claim is not None and decision.reply is not None and not decision.wait:
            self.keep_reply(submission, decision)

    def keep_reply(self, submission: Submission, decision: Decision) -> None:
        claim, merchant_id = submission.claim, submission.merchant.merchant_id
        assert claim is not None
        row = self.rows[claim.key]
        if not claim.opens and not (isinstance(row, Repeat) and row.open and row.digest == claim.digest):
            return  # the reply was given already, or a day later the key is another request's
        if isinstance(decision.reply, Refusal):
            if not claim.opens:  # refusals are not kept: the key is free again. Spec silent: D7
                self.put(Repeat(claim.key, merchant_id, claim.digest, b"", False, LONG_AGO))
            return
        # What is shown once is absent from a repeat. Spec silent: D7
        reply = msgspec.json.encode(decision.reply if decision.repeat is None else decision.repeat)
        nonce = derive(submission.entropy, "kept reply" if claim.opens else "kept last reply")
        sealed = self.world.vault.seal(merchant_id, f"repeat {claim.key.hex()}", reply, nonce)
        self.put(
            Repeat(claim.key, merchant_id, claim.digest, sealed, decision.then is not None, self.wall + REPEAT_LIFE)
        )


def repeat_key(merchant_id: int, said: str) -> bytes:
    return row_key(merchant_id, "repeat", said)


def decide_batch(desk: Desk, submissions: list[Submission]) -> "Steps[list[Result]]":
    """Decide in order of arrival. A result of `More` means: fetch those too, and decide that one again. It can be
    interrupted after each submission and each part of one: the desk belongs to whoever runs it, and nothing of it is
    written before all is decided."""
    for submission in submissions:
        desk.account_names(submission.merchant.merchant_id, submission.needs.accounts)
    results: list[Result] = []
    for submission in submissions:
        result = desk.decide_whole(submission)
        results.append((yield from desk.decide_parts(result)) if isinstance(result, PartsLeft) else result)
        yield
    return results
