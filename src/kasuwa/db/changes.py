"""All that a desk changed, as the parts of one statement."""

from collections.abc import Iterable
from typing import Any

import msgspec

from kasuwa.core.decision import Job, Row
from kasuwa.db.batch import Book, Desk
from kasuwa.db.journal import MarkRow
from kasuwa.db.rows import Part, book_parts, change_part, delete_part, encode_rows, insert_part


def changes(desk: Desk, mark: MarkRow) -> tuple[tuple[Part, ...], list[str]]:
    """The parts, and the rows of each."""
    parts: list[Part] = []
    rows: list[str] = []

    def add(part: Part, changed: Iterable[Any]) -> None:
        parts.append(part)
        rows.append(encode_rows(changed))

    raising, looking = book_parts(Book)
    # In one order, as the locked way takes them: two batches must not wait for each other.
    books = sorted(desk.books.values(), key=lambda book: book.key)
    for part, touched in ((raising, True), (looking, False)):
        chosen = [book for book in books if (book.merchant_id in desk.touched) is touched]
        if chosen:
            add(part, [book_fields(book, desk.expected[book.merchant_id]) for book in chosen])
    for kind, new in by_kind(desk.new.values()):
        add(insert_part(kind, kind.table), new)
    for kind, changed in by_kind(row for key, row in desk.changed.items() if key not in desk.new):
        part, changing = change_part(kind)
        add(part, map(changing, changed))
    if desk.gone:
        part, going = delete_part(Job)
        add(part, map(going, desk.gone.values()))
    if desk.touched:
        add(insert_part(MarkRow, "commit_mark"), [mark])
    for table, kept in (
        ("posting", desk.postings),
        ("event", desk.events),
        ("notice", desk.notices),
        ("audit", desk.deeds),
    ):
        if kept:
            add(insert_part(type(kept[0]), table), kept)
    return tuple(parts), rows


def book_fields(book: Book, expected: int) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.structs.asdict(book)
    fields["expected"] = expected
    return fields


def by_kind(rows: Iterable[Row]) -> list[tuple[type[Row], list[Row]]]:
    """Rows by table, tables by name, so that the same mix always makes the same statement."""
    found: dict[type[Row], list[Row]] = {}
    for row in rows:
        found.setdefault(type(row), []).append(row)
    return sorted(found.items(), key=lambda item: item[0].table)
