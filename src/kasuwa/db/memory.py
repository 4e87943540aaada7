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
from kasuwa.db.batch import Book, Desk
from kasuwa.ledger.chart import Account

MOST_MERCHANTS = 1_000
MOST_ROWS = 20_000
# After somebody else wrote a merchant's rows they will likely do so again: for so many batches its book is
# locked and read before deciding, instead of trying on memory and failing.
WARY_BATCHES = 16


class Memory:
    def __init__(self) -> None:
        self._books: dict[int, Book] = {}
        self._rows: dict[bytes, Row | None] = {}
        self._wary: dict[int, int] = {}

    def covers(self, merchants: Iterable[int]) -> bool:
        """Whether a batch of these can be decided without locking first."""
        return all(merchant_id in self._books and merchant_id not in self._wary for merchant_id in merchants)

    def open_books(self, desk: Desk, merchants: Iterable[int]) -> None:
        for merchant_id in merchants:
            desk.open_book(msgspec.structs.replace(self._books[merchant_id]))

    def recall(self, desk: Desk, asked: Mapping[bytes, type[Row]], unknown: dict[type[Row], dict[bytes, None]]) -> None:
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

    def check(self, book: Book) -> None:
        """A book just locked and read: what is remembered of its merchant is right only at the same version."""
        kept = self._books.get(book.merchant_id)
        if kept is None:
            return
        if kept.version != book.version:
            self._wary[book.merchant_id] = WARY_BATCHES
            self.forget([book.merchant_id])
        elif book.merchant_id in self._wary:
            self._wary[book.merchant_id] -= 1
            if not self._wary[book.merchant_id]:
                del self._wary[book.merchant_id]

    def learn(self, desk: Desk) -> None:
        """What a desk decided, before it is committed: the next batch is decided on top of it."""
        if len(self._books) > MOST_MERCHANTS or len(self._rows) > MOST_ROWS:
            self.forget_all()
        for merchant_id, book in desk.books.items():
            self._books[merchant_id] = book
        for row in desk.rows.values():
            if isinstance(row, Account):
                self._rows[row.key] = row
        self._rows.update(desk.new)
        self._rows.update(desk.changed)
        for key in desk.gone:
            self._rows[key] = None

    def settle(self, desk: Desk) -> None:
        """A desk is committed: its ended rows need not be remembered any longer."""
        rows = self._rows
        for changed in (desk.new, desk.changed):
            for key, row in changed.items():
                if rows.get(key) is row and not row.is_open:
                    del rows[key]
        for key in desk.gone:
            if key in rows and rows[key] is None:
                del rows[key]

    def forget(self, merchants: Iterable[int]) -> None:
        wanted = set(merchants)
        for merchant_id in wanted:
            self._books.pop(merchant_id, None)
        self._rows = {key: row for key, row in self._rows.items() if row is not None and row.merchant_id not in wanted}

    def distrust(self, merchants: Iterable[int]) -> None:
        """A batch decided on memory was not what the database held."""
        wanted = set(merchants)
        self._wary.update(dict.fromkeys(wanted, WARY_BATCHES))
        self.forget(wanted)

    def forget_all(self) -> None:
        self._books.clear()
        self._rows.clear()
