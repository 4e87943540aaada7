"""The writer's cache between batches: states of merchants that it was the last to write, and their open rows.

A merchant's state row has a version, raised by everyone who writes anything of that merchant. As long as the version in
the database is the cached one, every cached row of that merchant is current. The write checks it: a batch decided from
the cache commits only if no version has changed, and is otherwise decided again from the database. So a stale cache
costs time, never correctness. Closed rows are dropped.
"""

from collections.abc import Iterable, Mapping

import msgspec

from kasuwa.core.decision import Row
from kasuwa.engine.batch import BatchState
from kasuwa.engine.merchant_state import MerchantState
from kasuwa.ledger.chart import Account

MAX_MERCHANTS = 1_000
MAX_ROWS = 20_000
# When another session wrote a merchant it will likely do so again. For this many batches the merchant is locked and
# read before deciding, because a decision from the cache would have to be repeated.
CONTENDED_BATCHES = 16
# A merchant that repeated a request will likely repeat others. For this many batches the rows that its requests would
# create are read before deciding, because the decision would have to be repeated.
REPEATING_BATCHES = 1_000


class RowCache:
    def __init__(self) -> None:
        self._merchant_states: dict[int, MerchantState] = {}
        self._rows: dict[bytes, Row | None] = {}
        self._contended: dict[int, int] = {}
        self._repeating: dict[int, int] = {}

    def can_decide(self, merchants: Iterable[int]) -> bool:
        """Returns whether all these merchants can be decided from the cache, without locking first."""
        return all(
            merchant_id in self._merchant_states and merchant_id not in self._contended for merchant_id in merchants
        )

    def load_states(self, state: BatchState, merchants: Iterable[int]) -> None:
        for merchant_id in merchants:
            state.add_merchant_state(msgspec.structs.replace(self._merchant_states[merchant_id]))

    def load_rows(
        self,
        state: BatchState,
        requested_keys: Mapping[bytes, type[Row]],
        missing_keys: dict[type[Row], dict[bytes, None]],
    ) -> None:
        """Adds the cached rows among the requested ones to a batch. Adds the other keys to `missing_keys`, by table."""
        rows, cached_rows = state.rows, self._rows
        for key, kind in requested_keys.items():
            if key in rows:
                continue
            if key not in cached_rows:
                missing_keys.setdefault(kind, {})[key] = None
                continue
            row = rows[key] = cached_rows[key]
            if isinstance(row, Account):
                state.accounts.setdefault(row.merchant_id, {})[row.name] = row

    def check_version(self, merchant_state: MerchantState) -> None:
        """Compares a state that was just locked and read with the cached one. Drops the merchant if they differ."""
        cached_state = self._merchant_states.get(merchant_state.merchant_id)
        if cached_state is None:
            return
        if cached_state.version != merchant_state.version:
            self._contended[merchant_state.merchant_id] = CONTENDED_BATCHES
            self.forget_merchants([merchant_state.merchant_id])
        elif merchant_state.merchant_id in self._contended:
            self._count_down(self._contended, merchant_state.merchant_id)

    def remember_batch(self, state: BatchState) -> None:
        """Caches what a batch decided, before its commit: the next batch is decided on top of it."""
        if len(self._merchant_states) > MAX_MERCHANTS or len(self._rows) > MAX_ROWS:
            self.forget_all()
        for merchant_id, merchant_state in state.merchant_states.items():
            self._merchant_states[merchant_id] = merchant_state
            if merchant_id in self._repeating:
                self._count_down(self._repeating, merchant_id)
        for accounts in state.accounts.values():
            # Accounts without a row are open in memory alone: no decision has used them.
            self._rows.update({row.key: row for row in accounts.values() if state.rows.get(row.key) is not None})
        self._rows.update(state.inserted_rows)
        self._rows.update(state.updated_rows)
        for key in state.deleted_jobs:
            self._rows[key] = None

    def forget_closed(self, state: BatchState) -> None:
        """Drops the closed rows of a batch that is committed."""
        rows = self._rows
        for changed in (state.inserted_rows, state.updated_rows):
            for key, row in changed.items():
                if rows.get(key) is row and not row.is_open:
                    del rows[key]
        for key in state.deleted_jobs:
            if key in rows and rows[key] is None:
                del rows[key]

    def forget_merchants(self, merchants: Iterable[int]) -> None:
        wanted = set(merchants)
        for merchant_id in wanted:
            self._merchant_states.pop(merchant_id, None)
        self._rows = {key: row for key, row in self._rows.items() if row is not None and row.merchant_id not in wanted}

    def mark_contended(self, merchants: Iterable[int]) -> None:
        """Drops these merchants, and has them locked before deciding for the next batches."""
        wanted = set(merchants)
        self._contended.update(dict.fromkeys(wanted, CONTENDED_BATCHES))
        self.forget_merchants(wanted)

    def expects_new_rows(self, merchant_id: int) -> bool:
        """Returns whether the rows that this merchant's requests would create are taken to be absent."""
        return merchant_id not in self._repeating

    def expect_repeats(self, merchants: Iterable[int]) -> None:
        """Has the rows that requests of these merchants would create be read first for the next batches."""
        self._repeating.update(dict.fromkeys(merchants, REPEATING_BATCHES))

    @staticmethod
    def _count_down(batches_left: dict[int, int], merchant_id: int) -> None:
        batches_left[merchant_id] -= 1
        if not batches_left[merchant_id]:
            del batches_left[merchant_id]

    def forget_all(self) -> None:
        self._merchant_states.clear()
        self._rows.clear()
