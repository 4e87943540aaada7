"""What the writer remembers between batches: the books of merchants it was the last to write, and their open rows.

A book row carries a version that everybody raises who writes anything of that merchant. As long as the version
in the database is the one remembered, nobody else has written, and every remembered row of that merchant is
what the database holds. The write itself checks it: a batch decided on memory commits only if no version has
moved, and is decided again from the database otherwise. So memory can be wrong without harm: it saves reads,
never correctness. Only single rows the writer may want again soon are kept; ended ones are forgotten.
"""

from collections.abc import Iterable, Mapping

import msgspec

from kasuwa.core.decision import Row
from kasuwa.db.batch import BatchState, MerchantState
from kasuwa.ledger.chart import Account

MAX_MERCHANTS = 1_000
MAX_ROWS = 20_000
# After somebody else wrote a merchant's rows they will likely do so again: for so many batches its book is
# locked and read before deciding, instead of trying on memory and failing.
CONTENDED_BATCHES = 16


class RowCache:
    def __init__(self) -> None:
        self._books: dict[int, MerchantState] = {}
        self._rows: dict[bytes, Row | None] = {}
        self._contended: dict[int, int] = {}

    def can_decide(self, merchants: Iterable[int]) -> bool:
        """Whether a batch of these can be decided without locking first."""
        return all(merchant_id in self._books and merchant_id not in self._contended for merchant_id in merchants)

    def load_states(self, desk: BatchState, merchants: Iterable[int]) -> None:
        for merchant_id in merchants:
            desk.add_merchant_state(msgspec.structs.replace(self._books[merchant_id]))

    def load_rows(
        self, desk: BatchState, asked: Mapping[bytes, type[Row]], unknown: dict[type[Row], dict[bytes, None]]
    ) -> None:
        """Gives a desk what is remembered of the rows that are asked for. Adds the keys of the others to `unknown`, by
        table."""
        rows, kept = desk.rows, self._rows
        for key, kind in asked.items():
            if key in rows:
                continue
            if key not in kept:
                unknown.setdefault(kind, {})[key] = None
                continue
            row = rows[key] = kept[key]
            if isinstance(row, Account):
                desk.accounts.setdefault(row.merchant_id, {})[row.name] = row

    def check_version(self, book: MerchantState) -> None:
        """A book just locked and read: what is remembered of its merchant is right only at the same version."""
        kept = self._books.get(book.merchant_id)
        if kept is None:
            return
        if kept.version != book.version:
            self._contended[book.merchant_id] = CONTENDED_BATCHES
            self.forget_merchants([book.merchant_id])
        elif book.merchant_id in self._contended:
            self._contended[book.merchant_id] -= 1
            if not self._contended[book.merchant_id]:
                del self._contended[book.merchant_id]

    def remember_batch(self, desk: BatchState) -> None:
        """What a desk decided, before it is committed: the next batch is decided on top of it."""
        if len(self._books) > MAX_MERCHANTS or len(self._rows) > MAX_ROWS:
            self.forget_all()
        for merchant_id, book in desk.merchant_states.items():
            self._books[merchant_id] = book
        for row in desk.rows.values():
            if isinstance(row, Account):
                self._rows[row.key] = row
        self._rows.update(desk.inserted_rows)
        self._rows.update(desk.updated_rows)
        for key in desk.deleted_jobs:
            self._rows[key] = None

    def forget_closed(self, desk: BatchState) -> None:
        """A desk is committed: its ended rows need not be remembered any longer."""
        rows = self._rows
        for changed in (desk.inserted_rows, desk.updated_rows):
            for key, row in changed.items():
                if rows.get(key) is row and not row.is_open:
                    del rows[key]
        for key in desk.deleted_jobs:
            if key in rows and rows[key] is None:
                del rows[key]

    def forget_merchants(self, merchants: Iterable[int]) -> None:
        wanted = set(merchants)
        for merchant_id in wanted:
            self._books.pop(merchant_id, None)
        self._rows = {key: row for key, row in self._rows.items() if row is not None and row.merchant_id not in wanted}

    def mark_contended(self, merchants: Iterable[int]) -> None:
        """A batch decided on memory was not what the database held."""
        wanted = set(merchants)
        self._contended.update(dict.fromkeys(wanted, CONTENDED_BATCHES))
        self.forget_merchants(wanted)

    def forget_all(self) -> None:
        self._books.clear()
        self._rows.clear()
