"""The pure half of the writer: decide a batch in memory and say what must be written.

Given everything the batch needs (fetched and locked), each submission is decided in order of arrival on what
is now in memory, so later ones see what earlier ones did. A refusal or a rule that raises leaves no trace:
what a decision changes is put down only after all of it was found possible. No I/O, no clock, no luck here:
tests/db drive it with Hypothesis.
"""

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Outcome,
    Refusal,
    Row,
)
from kasuwa.core.issuing import DEFAULT_ISSUING, CardIssuingSettings
from kasuwa.core.purpose import PurposeRules
from kasuwa.core.references import KEY_BYTES, Permutation, account_key, row_key
from kasuwa.core.scenario import NO_SCENARIO, Scenario, read_faults
from kasuwa.core.vault import Vault, derive
from kasuwa.db.entropy import SeededEntropy
from kasuwa.db.journal import AuditRow, EventRow, NoticeRow, PostingRow, audit_row, event_row
from kasuwa.db.merchant_state import MerchantState, business_now, to_wall_time
from kasuwa.db.time_slices import Interruptible, collect
from kasuwa.ledger.apply import JournalLine, LedgerChanges, Shortfall, TooLarge, apply_group
from kasuwa.ledger.chart import Account, open_account

__all__ = ["MerchantState", "business_now"]

# Longer than a request's deadline at the rail plus the commit that follows it: a job leased to a request is
# taken up by the worker only when that request is surely gone.
JOB_LEASE = timedelta(seconds=20)

# How long a reply is kept under its Idempotency-Key. Contract: #repeats
IDEMPOTENCY_KEY_TTL = timedelta(hours=24)

# When a key expires that is free again at once: before any clock's time.
ALREADY_EXPIRED = datetime(2000, 1, 1, tzinfo=UTC)

TOO_LARGE = Refusal(INVALID_REQUEST, "The amount is too large: a balance would be more than the books can keep")

IDEMPOTENCY_MISMATCH = Refusal(INVALID_REQUEST, "This Idempotency-Key was used with another request")


class IdempotencyRecord(Row):
    """A reply kept under an Idempotency-Key. `open` while its request is still at a rail."""

    table: ClassVar[str] = "repeat"
    mutable_columns: ClassVar[tuple[str, ...]] = ("digest", "reply", "open", "expires_at")

    digest: bytes
    reply: bytes | None
    open: bool
    expires_at: datetime

    @property
    def is_open(self) -> bool:
        return False  # another process may close it, and a repeat is rare: read it when it is needed


class IdempotencyClaim(msgspec.Struct, frozen=True):
    """An Idempotency-Key: `opens` on the request itself, not on the step that ends it."""

    key: bytes
    request_digest: bytes
    is_original_request: bool


def parse_idempotency_claim(packed_claim: bytes | None) -> IdempotencyClaim | None:
    """What a job carries of the Idempotency-Key that its request came with."""
    return (
        None
        if packed_claim is None
        else IdempotencyClaim(packed_claim[:KEY_BYTES], packed_claim[KEY_BYTES:], is_original_request=False)
    )


class Submission(msgspec.Struct, eq=False):
    """One thing to decide: a request, or what a step learnt."""

    merchant: Merchant
    needs: Needs
    decide: Callable[[Context, LoadedRows], Outcome]
    entropy: bytes
    idempotency_claim: IdempotencyClaim | None = None
    scenario: Scenario = NO_SCENARIO


class RuleFailure(msgspec.Struct, frozen=True):
    """A rule raised: a bug. It is answered with 204 and changes nothing."""

    error: BaseException


class InconsistentBatchState(Exception):
    """A decision broke off while it was being put down: this desk must be thrown away, and its batch decided
    again one by one on fresh ones."""


Result = Refusal | Decision | NeedsMore | RuleFailure


REFUSAL_OR_NEEDS_MORE = (Refusal, NeedsMore)


class Deployment(msgspec.Struct, frozen=True):
    """What does not change from batch to batch."""

    vault: Vault
    number_permutation: Permutation
    seed: bytes | None = None
    purposes: Mapping[str, PurposeRules] = {}
    public_url: str = ""
    issuing: CardIssuingSettings = DEFAULT_ISSUING

    def number_permutation_of(self, merchant_id: int) -> Callable[[int], int]:
        return self.number_permutation.of_merchant(merchant_id)


class PartsLeft(msgspec.Struct, eq=False):
    """A decision whose parts are not yet recorded, and what they are recorded with."""

    submission: Submission
    decision: Decision
    book: MerchantState
    now: datetime


class BatchState:
    """A batch's memory: what was fetched, what is new, what has changed. `wall` is the time it is decided at; what is
    over by `earliest`, where that is given, is over by every clock there is (db/clock.py)."""

    def __init__(self, world: Deployment, wall: datetime, earliest: datetime | None = None) -> None:
        self.deployment = world
        self.wall_time = wall
        self.earliest_time = earliest or wall
        self.rows: dict[bytes, Row | None] = {}
        self.accounts: dict[int, dict[str, Account]] = {}
        self.inserted_rows: dict[bytes, Row] = {}
        self.updated_rows: dict[bytes, Row] = {}
        self.deleted_jobs: dict[bytes, Job] = {}
        self.postings: list[PostingRow] = []
        self.events: list[EventRow] = []
        self.notices: list[NoticeRow] = []
        self.audit_rows: list[AuditRow] = []
        self.merchant_states: dict[int, MerchantState] = {}
        self.written_merchants: set[int] = set()
        self.expected_versions: dict[int, int] = {}
        self.seeded_entropy = None if world.seed is None else SeededEntropy(world.seed)
        self.requested_keys: dict[Submission, dict[bytes, type[Row]]] = {}

    # --- filling it -------------------------------------------------------------------------------------

    def request_rows(self, submission: Submission, needs: Needs) -> dict[bytes, type[Row]]:
        """Let a submission see these rows from now on. Returns all that it has asked for so far, by key."""
        asked = self.requested_keys.setdefault(submission, {})
        for kind, key in needs.rows:
            asked[key] = kind
        merchant_id = submission.merchant.merchant_id
        for name in needs.accounts:
            asked[account_key(merchant_id, name)] = Account
        return asked

    def add_fetched_rows(self, requested_keys: Iterable[bytes], found: list[Row]) -> None:
        for key in requested_keys:
            self.rows.setdefault(key, None)
        for row in found:
            self.rows[row.key] = row
            if isinstance(row, Account):
                self.accounts.setdefault(row.merchant_id, {})[row.name] = row

    def add_merchant_state(self, book: MerchantState) -> None:
        self.merchant_states[book.merchant_id] = book
        self.rows[book.key] = book

    def open_missing_accounts(self, merchant_id: int, names: tuple[str, ...]) -> None:
        """Accounts that have no row yet are opened by their first use."""
        accounts = self.accounts.setdefault(merchant_id, {})
        for name in names:
            if name not in accounts:
                accounts[name] = open_account(merchant_id, name)

    # --- deciding ---------------------------------------------------------------------------------------

    def decide(self, submission: Submission) -> "Interruptible[Result]":
        """Decides one submission. It can be interrupted after each part of a decision that has parts."""
        result = self.decide_whole(submission)
        if isinstance(result, PartsLeft):
            result = yield from self.decide_parts(result)
        return result

    def decide_whole(self, submission: Submission) -> "Result | PartsLeft":
        """Decides one submission, but for the parts of a decision that has them: `decide_parts` must follow. Nearly all
        decisions have none, and need no generator."""
        result = self.decide_once(submission)
        if self.seeded_entropy is not None and not isinstance(result, NeedsMore | PartsLeft):
            self.seeded_entropy.release(submission)
        return result

    def decide_parts(self, left: "PartsLeft") -> "Interruptible[Decision]":
        """Records the parts of a decision. It can be interrupted after each of them."""
        try:
            decision = yield from self.take_parts(left)
        except Exception as error:
            raise InconsistentBatchState from error
        if self.seeded_entropy is not None:
            self.seeded_entropy.release(left.submission)
        return decision

    def decide_once(self, submission: Submission) -> "Result | PartsLeft":
        merchant = submission.merchant
        book = self.merchant_states[merchant.merchant_id]
        if submission.idempotency_claim is not None and submission.idempotency_claim.is_original_request:
            kept = self.stored_reply(submission.idempotency_claim, merchant.merchant_id)
            if kept is not None:
                return kept
        try:
            context = Context(
                merchant,
                business_now(book, self.wall_time),
                self.entropy_for(submission, book),
                book.numbers + 1,
                self.deployment.number_permutation_of(merchant.merchant_id),
                self.deployment.vault.digest,
                self.deployment.vault,
                submission.scenario,
                read_faults(book.faults),
                book.listens,
                self.deployment.purposes,
                self.deployment.public_url,
                self.deployment.issuing,
            )
            outcome = submission.decide(context, LoadedRows(self.rows, self.requested_keys[submission]))
            if not isinstance(outcome, Decision):
                assert isinstance(outcome, REFUSAL_OR_NEEDS_MORE)
                return outcome
            applied: list[LedgerChanges] = []
            refusal = self.apply_groups(outcome, merchant.merchant_id, applied)
            if refusal is not None:
                return refusal
        except Exception as error:
            return RuleFailure(error)
        try:
            return self.accept(submission, outcome, applied, book, context.now)
        except Exception as error:
            raise InconsistentBatchState from error

    def entropy_for(self, submission: Submission, book: MerchantState) -> bytes:
        if self.seeded_entropy is None:
            return submission.entropy
        return self.seeded_entropy.draw(submission, book.merchant_id, book.decisions)

    def accept(
        self,
        submission: Submission,
        decision: Decision,
        applied: list[LedgerChanges],
        book: MerchantState,
        now: datetime,
    ) -> "Decision | PartsLeft":
        """Records a decision. All that may refuse has been asked; from here on nothing does. The parts of a decision
        that has them are left to be recorded."""
        if decision.sandbox is not None and decision.sandbox.clock is not None:
            self.move_clock(book, decision.sandbox.clock)
        if submission.idempotency_claim is not None and decision.follow_up is not None:
            # So that whoever ends it can close the kept reply.
            decision.follow_up.repeat = submission.idempotency_claim.key + submission.idempotency_claim.request_digest
        self.record_decision(decision, applied, book, now)
        if decision.combine is not None:
            return PartsLeft(submission, decision, book, now)
        if submission.idempotency_claim is not None:
            self.keep_reply_of(submission, decision)
        return decision

    def take_parts(self, left: "PartsLeft") -> "Interruptible[Decision]":
        """Records the parts of a decision one by one, and what they come to."""
        decision, book = left.decision, left.book
        assert decision.combine is not None, "only a decision that has parts is taken part by part"
        results = yield from collect(self.accept_sub_decision(part, book, left.now) for part in decision.sub_decisions)
        whole = decision.combine(results)
        self.upsert_rows(whole.rows, book.merchant_id)
        decision.reply = whole.reply
        self.keep_reply_of(left.submission, decision)
        return decision

    def accept_sub_decision(self, part: Decision | Refusal, book: MerchantState, now: datetime) -> Decision | Refusal:
        if isinstance(part, Refusal):
            return part
        applied: list[LedgerChanges] = []
        refusal = self.apply_groups(part, book.merchant_id, applied)
        if refusal is not None:
            if part.fallback is None:
                return refusal
            part, applied = part.fallback(), []
        self.record_decision(part, applied, book, now)
        return part

    def apply_groups(self, decision: Decision, merchant_id: int, applied: list[LedgerChanges]) -> Refusal | None:
        """Each group sees what those before it did; the desk itself is changed only when all of them are possible."""
        moved: dict[str, Account] = {}
        ended: dict[bytes, Row | None] = {}
        accounts: Mapping[str, Account] = self.accounts.get(merchant_id, {})
        holds: Mapping[bytes, Row | None] = self.rows
        if len(decision.groups) > 1:
            accounts, holds = ChainMap(moved, accounts), ChainMap(ended, holds)  # type: ignore[arg-type]
        for group in decision.groups:
            result = apply_group(accounts, holds, group, merchant_id)
            if isinstance(result, Shortfall):
                return group.shortfall_refusal
            if isinstance(result, TooLarge):
                return TOO_LARGE
            moved.update(result.accounts)
            ended.update(result.holds)
            applied.append(result)
        return None

    def record_decision(
        self, decision: Decision, applied: list[LedgerChanges], book: MerchantState, now: datetime
    ) -> None:
        merchant_id = book.merchant_id
        book.decisions += decision.changes_anything
        for result in applied:
            self.accounts[merchant_id].update(result.accounts)
            for account in result.accounts.values():
                self.upsert_row(account)
            for hold in result.holds.values():
                self.upsert_row(hold)
            self.append_postings(result.journal_lines, book, now)
        self.upsert_rows(decision.rows, merchant_id)
        for job in decision.jobs:
            self.schedule_job(job, book, is_leased=job is decision.follow_up)
        for job in decision.jobs_done:
            self.delete_job(job)
        for event in decision.events:
            book.events += 1
            self.events.append(event_row(event, merchant_id, book.events, now))
        for notice in decision.notices:
            self.written_merchants.add(merchant_id)
            self.notices.append(NoticeRow(merchant_id, notice.reference, notice.what, now))
        for deed in decision.audit_entries:
            self.written_merchants.add(merchant_id)
            self.audit_rows.append(audit_row(deed, merchant_id))
        if decision.numbers_used:
            book.numbers += decision.numbers_used
            self.written_merchants.add(merchant_id)
        if decision.sandbox is not None:
            faults = decision.sandbox.injected_faults
            if faults is not None:
                book.faults = msgspec.json.encode(faults).decode() if faults else None
            self.written_merchants.add(merchant_id)

    def append_postings(self, entries: list[JournalLine], book: MerchantState, now: datetime) -> None:
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

    def upsert_rows(self, rows: tuple[Row, ...], merchant_id: int) -> None:
        for row in rows:
            if row.merchant_id != merchant_id:
                raise ValueError(f"a row of merchant {row.merchant_id} in a decision of {merchant_id}")
            self.upsert_row(row)

    def upsert_row(self, row: Row) -> None:
        key = row.key
        self.written_merchants.add(row.merchant_id)
        if key in self.inserted_rows or self.rows.get(key) is None:
            self.inserted_rows[key] = row
        else:
            self.updated_rows[key] = row
        self.rows[key] = row

    def schedule_job(self, job: Job, book: MerchantState, *, is_leased: bool) -> None:
        job.run_at = to_wall_time(book, job.due, self.wall_time)
        job.leased_until = self.wall_time + JOB_LEASE if is_leased else None
        job.claims = 1 if is_leased else 0
        self.upsert_row(job)

    def delete_job(self, job: Job) -> None:
        self.written_merchants.add(job.merchant_id)
        self.updated_rows.pop(job.key, None)
        if self.inserted_rows.pop(job.key, None) is None:
            self.deleted_jobs[job.key] = job
        self.rows[job.key] = None

    def move_clock(self, book: MerchantState, to: datetime) -> None:
        if book.clock_fixed is not None:
            book.clock_fixed = to
        else:
            book.clock_offset = (to - self.wall_time) // timedelta(microseconds=1)

    def raise_versions(self) -> None:
        """All is decided: the books that anything was written to go up a version."""
        for merchant_id, book in self.merchant_states.items():
            self.expected_versions[merchant_id] = book.version
            if merchant_id in self.written_merchants:
                book.version += 1

    # --- replies kept under an Idempotency-Key ----------------------------------------------------------

    def stored_reply(self, claim: IdempotencyClaim, merchant_id: int) -> Result | None:
        row = self.rows[claim.key]
        if not isinstance(row, IdempotencyRecord) or row.expires_at <= self.earliest_time:
            return None
        if row.digest != claim.request_digest:
            return IDEMPOTENCY_MISMATCH
        assert row.reply is not None
        reply = self.deployment.vault.unseal(merchant_id, f"repeat {claim.key.hex()}", row.reply)
        return Decision(reply=msgspec.Raw(reply), in_progress=row.open)

    def keep_reply_of(self, submission: Submission, decision: Decision) -> None:
        if submission.idempotency_claim is not None and decision.reply is not None and not decision.in_progress:
            self.store_reply(submission, decision)

    def store_reply(self, submission: Submission, decision: Decision) -> None:
        claim, merchant_id = submission.idempotency_claim, submission.merchant.merchant_id
        assert claim is not None
        row = self.rows[claim.key]
        if not claim.is_original_request and not (
            isinstance(row, IdempotencyRecord) and row.open and row.digest == claim.request_digest
        ):
            return  # the reply was given already, or a day later the key is another request's
        if isinstance(decision.reply, Refusal):
            if not claim.is_original_request:  # refusals are not kept: the key is free again. Contract: #repeats
                self.upsert_row(
                    IdempotencyRecord(claim.key, merchant_id, claim.request_digest, b"", False, ALREADY_EXPIRED)
                )
            return
        # What is shown once is absent from a repeat. Contract: #repeats
        reply = msgspec.json.encode(decision.reply if decision.replay_reply is None else decision.replay_reply)
        nonce = derive(submission.entropy, "kept reply" if claim.is_original_request else "kept last reply")
        sealed = self.deployment.vault.seal(merchant_id, f"repeat {claim.key.hex()}", reply, nonce)
        self.upsert_row(
            IdempotencyRecord(
                claim.key,
                merchant_id,
                claim.request_digest,
                sealed,
                decision.follow_up is not None,
                self.wall_time + IDEMPOTENCY_KEY_TTL,
            )
        )


def idempotency_record_key(merchant_id: int, idempotency_key: str) -> bytes:
    return row_key(merchant_id, "repeat", idempotency_key)


def decide_batch(state: BatchState, submissions: list[Submission]) -> "Interruptible[list[Result]]":
    """Decide in order of arrival. A result of `More` means: fetch those too, and decide that one again. It can be
    interrupted after each submission and each part of one: the desk belongs to whoever runs it, and nothing of it is
    written before all is decided."""
    for submission in submissions:
        state.open_missing_accounts(submission.merchant.merchant_id, submission.needs.accounts)
    results: list[Result] = []
    for submission in submissions:
        result = state.decide_whole(submission)
        results.append((yield from state.decide_parts(result)) if isinstance(result, PartsLeft) else result)
        yield
    return results
