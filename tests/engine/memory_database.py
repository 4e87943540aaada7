"""A database in memory for batch tests.

MemoryDatabase returns rows, commits what a batch changed, and asserts that PostgreSQL would accept the changes. So
engine/batch.py is driven as the writer drives it, without I/O.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from kasuwa.concurrency.time_slices import run_to_completion
from kasuwa.core.decision import Decision, Needs, NeedsMore, Refusal, Row
from kasuwa.core.references import account_key, merchant_state_key
from kasuwa.engine.batch import BatchState, Deployment, Result, RuleFailure, Submission, decide_batch
from kasuwa.engine.idempotency import IdempotencyRecord
from kasuwa.engine.locked_batch import MAX_DECIDE_ROUNDS
from kasuwa.engine.merchant_state import MerchantState
from kasuwa.ledger.chart import Account
from kasuwa.postgres.bulk_sql import updated_columns
from tests.engine.toy import MERCHANTS, WALL, WALLET, WORLD


class MemoryDatabase:
    """All rows that were committed."""

    def __init__(self, merchants: Iterable[int] = MERCHANTS) -> None:
        self.rows: dict[bytes, Row] = {}
        self.postings: list[Any] = []
        self.events: list[Any] = []
        self.notices: list[Any] = []
        self.audit_rows: list[Any] = []
        for merchant_id in merchants:
            self.rows[merchant_state_key(merchant_id)] = MerchantState(
                merchant_state_key(merchant_id), merchant_id, 0, 0, 0, 0, 0, None, None
            )

    def batch_state(
        self, submissions: list[Submission], wall: datetime = WALL, world: Deployment = WORLD
    ) -> BatchState:
        state = BatchState(world, wall)
        for merchant_id in {made.merchant.merchant_id for made in submissions}:
            state.add_merchant_state(msgspec.structs.replace(self.book(merchant_id)))
        self.fill(state, submissions)
        return state

    def fill(self, state: BatchState, submissions: list[Submission]) -> None:
        for made in submissions:
            self.fetch(state, made, made.needs)
            if made.idempotency_claim is not None:
                self.fetch(state, made, Needs(((IdempotencyRecord, made.idempotency_claim.key),)))

    def fetch(self, state: BatchState, made: Submission, needs: Needs) -> None:
        for key in state.request_rows(made, needs):
            if key not in state.rows:
                state.add_fetched_rows([key], [self.rows[key]] if key in self.rows else [])

    def run(self, submissions: list[Submission], wall: datetime = WALL, world: Deployment = WORLD) -> list[Result]:
        """Decides a batch and commits it."""
        state = self.batch_state(submissions, wall, world)
        results = self.decide(state, submissions)
        self.commit(state)
        return results

    def decide(self, state: BatchState, submissions: list[Submission]) -> list[Result]:
        """Decides a batch. Asserts that deciding changes no committed row."""
        before = msgspec.msgpack.encode(list(self.rows.values()))
        results = run_to_completion(decide_batch(state, submissions))
        for _ in range(MAX_DECIDE_ROUNDS):
            for n, result in enumerate(results):
                if isinstance(result, NeedsMore):
                    merchant_id = submissions[n].merchant.merchant_id
                    self.fetch(state, submissions[n], result.needs)
                    state.open_missing_accounts(merchant_id, result.needs.accounts)
                    results[n] = run_to_completion(state.decide(submissions[n]))
        assert msgspec.msgpack.encode(list(self.rows.values())) == before
        state.raise_versions()
        return results

    def commit(self, state: BatchState) -> None:
        for key, row in state.inserted_rows.items():
            assert key not in self.rows, f"{row} is there already"
        for key, row in state.updated_rows.items():
            assert key in state.inserted_rows or changes_only(self.rows[key], row)
        for key in state.deleted_jobs:
            assert key in self.rows, "deleted what is not there"
        self.rows |= state.updated_rows | state.inserted_rows
        for key in state.deleted_jobs:
            del self.rows[key]
        for merchant_id in state.written_merchants:
            self.rows[merchant_state_key(merchant_id)] = state.merchant_states[merchant_id]
        self.postings += state.postings
        self.events += state.events
        self.notices += state.notices
        self.audit_rows += state.audit_rows

    def book(self, merchant_id: int) -> MerchantState:
        book = self.rows[merchant_state_key(merchant_id)]
        assert isinstance(book, MerchantState)
        return book

    def all(self, kind: type[Any], merchant_id: int) -> list[Any]:
        return [row for row in self.rows.values() if isinstance(row, kind) and row.merchant_id == merchant_id]

    def contents(self, *, versions: bool = True) -> tuple[Any, ...]:
        """Returns everything for comparison, with or without the versions, which count batches."""
        rows = [
            row if versions or not isinstance(row, MerchantState) else without_version(row)
            for row in self.rows.values()
        ]
        return sorted(rows, key=lambda row: row.key), self.postings, self.events, self.notices


def without_version(book: MerchantState) -> MerchantState:
    return msgspec.structs.replace(book, version=0)


def changes_only(old: Row, new: Row) -> bool:
    fixed = [name for name in old.__struct_fields__ if name not in updated_columns(type(old))]
    return type(old) is type(new) and all(getattr(old, name) == getattr(new, name) for name in fixed)


def wallet_of(database: MemoryDatabase, merchant_id: int = 1) -> Account:
    account = database.rows[account_key(merchant_id, WALLET)]
    assert isinstance(account, Account)
    return account


def visible_result(result: Result) -> tuple[Any, ...]:
    """Returns a result as the requester would see it."""
    if isinstance(result, Refusal):
        return ("refused", result.code, result.message)
    if isinstance(result, RuleFailure):
        return ("broken", type(result.error).__name__)
    assert isinstance(result, Decision)
    return ("done", msgspec.json.encode(result.reply), result.in_progress)
