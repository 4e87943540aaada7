"""Decides a batch of submissions in memory and collects what must be written. Pure: no I/O, no clock, no randomness.

The caller fetches and locks the rows that the submissions need. Submissions are decided in order of arrival, each on
the state that the earlier ones left. A refusal or a rule that raises changes nothing: a decision is recorded only after
all of its posting groups were found possible.
"""

from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from kasuwa.concurrency.time_slices import Interruptible, collect
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    Event,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Outcome,
    Refusal,
    Row,
)
from kasuwa.core.endpoints import read_endpoints
from kasuwa.core.references import Permutation, account_key
from kasuwa.core.routing import NO_ROUTING, RailChooser
from kasuwa.core.scenario import NO_SCENARIO, Scenario, read_faults
from kasuwa.core.vault import Vault
from kasuwa.engine.decision_inputs import DecisionInput, DecisionInputRow, list_opened, make_rows
from kasuwa.engine.entropy import EntropySlots, seeded_entropy, with_seeded_outcomes
from kasuwa.engine.idempotency import (
    IdempotencyClaim,
    ReplyToStore,
    make_idempotency_record,
    pack_idempotency_claim,
    read_stored_reply,
)
from kasuwa.engine.journal import AuditRow, EventRow, NoticeRow, PostingRow, audit_row, event_row
from kasuwa.engine.merchant_state import SETTINGS_CHANGED, MerchantState, SettingsChanged, business_now, to_wall_time
from kasuwa.ledger.apply import JournalLine, LedgerChanges, Shortfall, TooLarge, apply_group
from kasuwa.ledger.chain import extend_by_event, extend_by_group
from kasuwa.ledger.chart import Account, open_account

# Longer than a request's deadline at the rail plus the commit that follows: the worker claims a job that is leased to a
# request only when that request is certainly over.
JOB_LEASE = timedelta(seconds=20)

TOO_LARGE = Refusal(
    INVALID_REQUEST,
    "The amount is too large: a balance would be more than the books can keep",
    error_code="balance_too_large",
)


class Submission(msgspec.Struct, eq=False):
    """One thing to decide: a request, or the result of a job step."""

    merchant: Merchant
    needs: Needs  # rows and accounts fetched before `decide` is called for the first time
    decide: Callable[[Context, LoadedRows], Outcome]
    entropy: bytes  # random bytes for this decision, ignored if the deployment has a seed
    idempotency_claim: IdempotencyClaim | None = None
    scenario: Scenario = NO_SCENARIO  # sandbox only: how the rails are to behave
    orders: int = 1  # how much work it is: the orders of a bulk
    # The result is SettingsChanged if the merchant's settings have changed since `merchant` was read.
    needs_current_settings: bool = False
    sent: DecisionInput | None = None  # recorded with the decision
    # Whoever submits it runs the follow-up of the decision, which is leased to it. Else it is due like any other job.
    runs_follow_up: bool = True


class RuleFailure(msgspec.Struct, frozen=True):
    """Result of a submission whose rule raised: status 204 (error), and nothing is written."""

    error: BaseException


class InconsistentBatchState(Exception):
    """Raised when recording a decision failed halfway. The batch state must be discarded, and its submissions decided
    again one by one, each on a new one."""


Result = Refusal | Decision | NeedsMore | RuleFailure | SettingsChanged


REFUSAL_OR_NEEDS_MORE = (Refusal, NeedsMore)


class Deployment(msgspec.Struct, frozen=True):
    """Constants of the deployment that every batch is decided with."""

    vault: Vault
    number_permutation: Permutation  # hides how many reference numbers a merchant has used
    seed: bytes | None = None  # set on test servers whose random bytes must be reproducible
    public_url: str = ""  # address at which payers reach this deployment
    rail_chooser: RailChooser = NO_ROUTING
    terms: Mapping[type, Any] = {}  # of each subject, by the struct that it declares for them

    def get_number_permutation(self, merchant_id: int) -> Callable[[int], int]:
        return self.number_permutation.of_merchant(merchant_id)


class PendingSubDecisions(msgspec.Struct, eq=False):
    """A recorded decision whose sub-decisions are not yet recorded, and what they are recorded with."""

    submission: Submission
    decision: Decision
    merchant_state: MerchantState
    now: datetime


UNFINISHED = (NeedsMore, PendingSubDecisions)


class BatchState:
    """In-memory state of one batch: the rows fetched, and the rows inserted, updated and deleted so far.

    `wall_time` is the time at which the batch is decided. Idempotency keys that expire before `earliest_time` are
    expired on every clock (postgres/clock.py)."""

    def __init__(self, deployment: Deployment, wall_time: datetime, earliest_time: datetime | None = None) -> None:
        self.deployment = deployment
        self.wall_time = wall_time
        self.earliest_time = earliest_time or wall_time
        self.rows: dict[bytes, Row | None] = {}
        self.accounts: dict[int, dict[str, Account]] = {}
        self.inserted_rows: dict[bytes, Row] = {}
        self.updated_rows: dict[bytes, Row] = {}
        self.deleted_jobs: dict[bytes, Job] = {}
        self.postings: list[PostingRow] = []
        self.events: list[EventRow] = []
        self.notices: list[NoticeRow] = []
        self.audit_rows: list[AuditRow] = []
        self.inputs: list[DecisionInputRow] = []
        self.merchant_states: dict[int, MerchantState] = {}
        self.written_merchants: set[int] = set()
        self.expected_versions: dict[int, int] = {}
        self.entropy_slots = EntropySlots()
        self.requested_keys: dict[Submission, dict[bytes, type[Row]]] = {}
        # Row types by key: rows that were not read because they are to be created.
        self.assumed_absent: dict[bytes, type[Row]] = {}

    # --- rows to decide on ---------------------------------------------------------------------------------

    def request_rows(self, submission: Submission, needs: Needs) -> dict[bytes, type[Row]]:
        """Adds rows to those a submission may see. Returns all that it has requested so far: row types by key."""
        requested = self.requested_keys.setdefault(submission, {})
        for kind, key in needs.rows:
            requested[key] = kind
        merchant_id = submission.merchant.merchant_id
        for name in needs.accounts:
            requested[account_key(merchant_id, name)] = Account
        return requested

    def assume_absent(self, needs: Needs, missing_keys: dict[type[Row], dict[bytes, None]]) -> None:
        """Takes the new rows of a submission to be absent, and removes their keys from those to be read."""
        for kind, key in needs.rows:
            if key in needs.new_keys and key in missing_keys.get(kind, ()):
                del missing_keys[kind][key]
                self.rows[key] = None
                self.assumed_absent[key] = kind

    def take_unproven_rows(self) -> dict[type[Row], dict[bytes, None]]:
        """Returns the keys of rows that were taken to be absent and that no decision creates, by table.

        A row that is created need not be read: the write fails if it exists."""
        unproven: dict[type[Row], dict[bytes, None]] = {}
        for key, kind in self.assumed_absent.items():
            if key not in self.inserted_rows:
                unproven.setdefault(kind, {})[key] = None
        self.assumed_absent.clear()
        return unproven

    def add_fetched_rows(self, requested_keys: Iterable[bytes], rows: list[Row]) -> None:
        """Adds rows read from the database. A requested key without a row is stored as None."""
        for key in requested_keys:
            self.rows.setdefault(key, None)
        for row in rows:
            self.rows[row.key] = row
            if isinstance(row, Account):
                self.accounts.setdefault(row.merchant_id, {})[row.name] = row

    def add_merchant_state(self, merchant_state: MerchantState) -> None:
        self.merchant_states[merchant_state.merchant_id] = merchant_state
        self.rows[merchant_state.key] = merchant_state

    def open_missing_accounts(self, merchant_id: int, names: tuple[str, ...]) -> None:
        """Opens, in memory, the named accounts that have no row yet."""
        accounts = self.accounts.setdefault(merchant_id, {})
        for name in names:
            if name not in accounts:
                accounts[name] = open_account(merchant_id, name)

    # --- deciding ---------------------------------------------------------------------------------------

    def decide(self, submission: Submission) -> "Interruptible[Result]":
        """Decides one submission. Can be interrupted after each sub-decision."""
        result = self.start_decision(submission)
        if isinstance(result, PendingSubDecisions):
            result = yield from self.finish_sub_decisions(result)
        return result

    def start_decision(self, submission: Submission) -> "Result | PendingSubDecisions":
        """Decides one submission. If it returns PendingSubDecisions, `finish_sub_decisions` must follow.

        Nearly all decisions have no sub-decisions, and this way they need no generator."""
        result = self.evaluate(submission)
        if not isinstance(result, UNFINISHED):
            self.entropy_slots.release(submission)
        return result

    def finish_sub_decisions(self, pending: "PendingSubDecisions") -> "Interruptible[Decision]":
        """Records the sub-decisions of a decision. Can be interrupted after each of them."""
        try:
            decision = yield from self.record_sub_decisions(pending)
        except Exception as error:
            raise InconsistentBatchState from error
        self.entropy_slots.release(pending.submission)
        return decision

    def evaluate(self, submission: Submission) -> "Result | PendingSubDecisions":
        """Returns the stored reply of a repeated request, or runs the rule and records its decision."""
        merchant = submission.merchant
        merchant_state = self.merchant_states[merchant.merchant_id]
        # A state in memory may be older than the merchant. Its version has changed too then, which the commit notices.
        if submission.needs_current_settings and merchant.settings_version < merchant_state.settings_version:
            return SETTINGS_CHANGED
        if submission.idempotency_claim is not None and submission.idempotency_claim.is_original_request:
            claim = submission.idempotency_claim
            stored = read_stored_reply(
                self.rows[claim.key], claim, merchant.merchant_id, self.deployment.vault, self.earliest_time
            )
            if stored is not None:
                return stored
        try:
            context = self.make_context(submission, merchant_state)
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
            return self.accept(submission, outcome, applied, merchant_state, context.now)
        except Exception as error:
            raise InconsistentBatchState from error

    def make_context(self, submission: Submission, merchant_state: MerchantState) -> Context:
        # By place: a struct of so many fields takes ten times as long by name.
        deployment = self.deployment
        return Context(
            submission.merchant,
            business_now(merchant_state, self.wall_time),
            self.entropy_for(submission, merchant_state),
            merchant_state.last_number + 1,
            deployment.get_number_permutation(submission.merchant.merchant_id),
            deployment.vault.digest,
            deployment.vault,
            submission.scenario,
            read_faults(merchant_state.faults),
            read_endpoints(merchant_state.endpoints),
            deployment.public_url,
            deployment.terms,
            deployment.rail_chooser,
        )

    def entropy_for(self, submission: Submission, merchant_state: MerchantState) -> bytes:
        seed, outcome_seed = self.deployment.seed, submission.merchant.outcome_seed
        if seed is None and not outcome_seed:
            return submission.entropy
        slot = self.entropy_slots.take(submission, submission.merchant.merchant_id, merchant_state.decision_count)
        entropy = submission.entropy if seed is None else seeded_entropy(seed, slot)
        return with_seeded_outcomes(entropy, outcome_seed, slot) if outcome_seed else entropy

    def accept(
        self,
        submission: Submission,
        decision: Decision,
        applied: list[LedgerChanges],
        merchant_state: MerchantState,
        now: datetime,
    ) -> "Decision | PendingSubDecisions":
        """Records a decision whose groups were applied, but not its sub-decisions. Nothing can refuse it any more: an
        exception from here on leaves the batch state inconsistent."""
        if decision.sandbox is not None and decision.sandbox.clock is not None:
            self.move_clock(merchant_state, decision.sandbox.clock)
        if decision.sandbox is not None and decision.sandbox.is_frozen is not None:
            self.freeze_clock(merchant_state, decision.sandbox.is_frozen)
        if submission.idempotency_claim is not None and decision.follow_up is not None:
            # The step that ends the request stores its final reply under the same key.
            decision.follow_up.idempotency_claim = pack_idempotency_claim(submission.idempotency_claim)
        opened = list_opened(decision.rows, self.is_known) if submission.sent is not None else []
        follow_up = decision.follow_up if submission.runs_follow_up else None
        self.record_decision(decision, applied, merchant_state, now, follow_up)
        if decision.combine is not None:
            return PendingSubDecisions(submission, decision, merchant_state, now)
        self.record_input(submission, decision, now, opened)
        if submission.idempotency_claim is not None:
            self.store_reply(submission, decision)
        return decision

    def record_sub_decisions(self, pending: "PendingSubDecisions") -> "Interruptible[Decision]":
        """Records the sub-decisions one by one, then what `combine` makes of their results, and its reply."""
        decision, merchant_state = pending.decision, pending.merchant_state
        assert decision.combine is not None, "only decisions with sub-decisions are deferred"
        results = yield from collect(
            self.accept_sub_decision(part, merchant_state, pending.now) for part in decision.sub_decisions
        )
        whole = decision.combine(results)
        self.record_effects(whole, merchant_state, pending.now)
        decision.reply = whole.reply
        orders = [part for part in results if isinstance(part, Decision)]
        self.record_input(
            pending.submission, decision, pending.now, [one for part in orders for one in list_opened(part.rows)]
        )
        self.store_reply(pending.submission, decision)
        return decision

    def accept_sub_decision(
        self, part: Decision | Refusal, merchant_state: MerchantState, now: datetime
    ) -> Decision | Refusal:
        """Applies and records one sub-decision, or its fallback if an account does not cover it."""
        if isinstance(part, Refusal):
            return part
        applied: list[LedgerChanges] = []
        refusal = self.apply_groups(part, merchant_state.merchant_id, applied)
        if refusal is not None:
            if part.fallback is None:
                return refusal
            part, applied = part.fallback(), []
        self.record_decision(part, applied, merchant_state, now)
        return part

    def apply_groups(self, decision: Decision, merchant_id: int, applied: list[LedgerChanges]) -> Refusal | None:
        """Applies the groups in order, each on the result of the ones before, and appends the changes to `applied`:
        those of groups that are only tried are not.

        Returns the refusal of the first group that is not possible, or None. Does not change the batch state."""
        moved: dict[str, Account] = {}
        accounts: Mapping[str, Account] = self.accounts.get(merchant_id, {})
        groups = decision.groups or decision.tried_groups
        if len(groups) > 1:
            accounts = ChainMap(moved, accounts)  # type: ignore[arg-type]
        for group in groups:
            result = apply_group(accounts, group)
            if isinstance(result, Shortfall):
                return group.shortfall_refusal
            if isinstance(result, TooLarge):
                return TOO_LARGE
            moved.update(result.accounts)
            if decision.groups:
                applied.append(result)
        return None

    def record_decision(
        self,
        decision: Decision,
        applied: list[LedgerChanges],
        merchant_state: MerchantState,
        now: datetime,
        leased: Job | None = None,
    ) -> None:
        """Adds a decision to the batch state. Call only after apply_groups succeeded: it cannot be undone."""
        if not decision.changes_anything:
            return
        merchant_id = merchant_state.merchant_id
        merchant_state.decision_count += 1
        self.written_merchants.add(merchant_id)
        for result in applied:
            self.accounts[merchant_id].update(result.accounts)
            self.upsert_rows(result.accounts.values(), merchant_id)
            self.append_postings(result.journal_lines, merchant_state, now)
        self.record_effects(decision, merchant_state, now, leased)
        merchant_state.last_number += decision.numbers_used
        if decision.sandbox is not None and decision.sandbox.injected_faults is not None:
            faults = decision.sandbox.injected_faults
            merchant_state.faults = msgspec.json.encode(faults).decode() if faults else None

    def record_effects(
        self, decision: Decision, merchant_state: MerchantState, now: datetime, leased: Job | None = None
    ) -> None:
        """Adds the rows, jobs and messages of a decision."""
        merchant_id = merchant_state.merchant_id
        for job in decision.jobs:
            self.schedule_job(job, merchant_state, is_leased=job is leased)
        self.upsert_rows((*decision.rows, *decision.jobs), merchant_id)
        for job in decision.jobs_done:
            self.delete_job(job)
        for event in decision.events:
            self.append_event(event, merchant_state, now)
        for notice in decision.notices:
            self.notices.append(NoticeRow(merchant_id, notice.reference, notice.message, now, notice.is_contradiction))
        for entry in decision.audit_entries:
            self.audit_rows.append(audit_row(entry, merchant_id))

    def record_input(self, submission: Submission, decision: Decision, now: datetime, opened: list[str]) -> None:
        """Adds what was decided on, unless the decision left nothing behind."""
        sent = submission.sent
        if sent is None or not (decision.changes_anything or decision.combine is not None):
            return
        merchant_id, hash_text = submission.merchant.merchant_id, self.deployment.vault.hash_person
        self.inputs += make_rows(sent, merchant_id, decision, now, opened, hash_text)

    def is_known(self, key: bytes) -> bool:
        return self.rows.get(key) is not None

    def append_postings(self, entries: list[JournalLine], merchant_state: MerchantState, now: datetime) -> None:
        """Adds the postings of a group, and extends the merchant's chain by the group (docs/decisions/0052)."""
        if not entries:
            return
        merchant_id, first = merchant_state.merchant_id, merchant_state.last_posting_seq + 1
        for entry in entries:
            merchant_state.last_posting_seq += 1
            self.postings.append(
                PostingRow(
                    merchant_id,
                    merchant_state.last_posting_seq,
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
        head = extend_by_group(merchant_state.posting_head, merchant_id, first, now, entries)
        self.postings[-1].hash = merchant_state.posting_head = head

    def append_event(self, event: Event, merchant_state: MerchantState, now: datetime) -> None:
        """Adds an event, and extends the merchant's chain of events by it."""
        merchant_state.last_event_seq += 1
        row = event_row(event, merchant_state.merchant_id, merchant_state.last_event_seq, now)
        row.hash = merchant_state.event_head = extend_by_event(merchant_state.event_head, row)
        self.events.append(row)

    def upsert_rows(self, changed: Collection[Row], merchant_id: int) -> None:
        """Adds rows that a merchant's decision inserts or updates."""
        rows, inserted, updated = self.rows, self.inserted_rows, self.updated_rows
        if changed:
            self.written_merchants.add(merchant_id)
        for row in changed:
            if row.merchant_id != merchant_id:
                raise ValueError(f"a row of merchant {row.merchant_id} in a decision of {merchant_id}")
            key = row.key
            if key in inserted or rows.get(key) is None:
                inserted[key] = row
            else:
                updated[key] = row
            rows[key] = row

    def schedule_job(self, job: Job, merchant_state: MerchantState, *, is_leased: bool) -> None:
        """Sets when a job runs."""
        job.run_at = to_wall_time(merchant_state, job.due, self.wall_time)
        job.leased_until = self.wall_time + JOB_LEASE if is_leased else None
        job.claims = 1 if is_leased else 0

    def delete_job(self, job: Job) -> None:
        self.updated_rows.pop(job.key, None)
        if self.inserted_rows.pop(job.key, None) is None:
            self.deleted_jobs[job.key] = job
        self.rows[job.key] = None

    def move_clock(self, merchant_state: MerchantState, to: datetime) -> None:
        if merchant_state.clock_fixed_at is not None:
            merchant_state.clock_fixed_at = to
        else:
            merchant_state.clock_offset_us = (to - self.wall_time) // timedelta(microseconds=1)

    def freeze_clock(self, merchant_state: MerchantState, is_frozen: bool) -> None:
        now = business_now(merchant_state, self.wall_time)
        merchant_state.clock_fixed_at = now if is_frozen else None
        if not is_frozen:
            self.move_clock(merchant_state, now)

    def raise_versions(self) -> None:
        """Raises the version of each written merchant. Call once, after the last decision of the batch."""
        for merchant_id, merchant_state in self.merchant_states.items():
            self.expected_versions[merchant_id] = merchant_state.version
            if merchant_id in self.written_merchants:
                merchant_state.version += 1

    def store_reply(self, submission: Submission, decision: Decision) -> None:
        """Stores the reply under the submission's Idempotency-Key, if it has one."""
        claim = submission.idempotency_claim
        if claim is None or decision.reply is None or decision.in_progress:
            return
        merchant_id = submission.merchant.merchant_id
        reply = ReplyToStore(claim, merchant_id, decision, submission.entropy, self.wall_time)
        record = make_idempotency_record(self.rows[claim.key], reply, self.deployment.vault)
        if record is not None:
            self.upsert_rows((record,), merchant_id)


def decide_batch(state: BatchState, submissions: list[Submission]) -> "Interruptible[list[Result]]":
    """Decides submissions in order of arrival and returns their results.

    A result of NeedsMore means: fetch those rows and decide that submission again. Can be interrupted after each
    submission and sub-decision. That is safe because no other task uses this batch state."""
    for submission in submissions:
        state.open_missing_accounts(submission.merchant.merchant_id, submission.needs.accounts)
    results: list[Result] = []
    for submission in submissions:
        result = state.start_decision(submission)
        results.append(
            (yield from state.finish_sub_decisions(result)) if isinstance(result, PendingSubDecisions) else result
        )
        yield
    return results
