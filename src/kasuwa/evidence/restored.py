"""Checks a restored copy of the database: its books, and its closes against the published ones."""

from pathlib import Path
from typing import Any

import msgspec

from kasuwa.db import closes
from kasuwa.db.evidence import COUNT_POSTINGS
from kasuwa.ledger.invariants import check_invariants
from kasuwa.work.close_audit import compare_file
from kasuwa.work.closes import file_name


class RestoreResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a test."""

    is_right: bool
    postings: int
    newest_posting_at: str | None  # by the clock of the database
    closes: int
    faults: list[str]
    seconds: float = 0.0


async def check_restored(connection: Any, published: Path) -> RestoreResult:
    """Checks the books of a copy, and its closes against the published files. Closes that were made after the backup
    are not missed."""
    faults = await check_invariants(connection)
    stored = await closes.list_closes(connection)
    for made in stored:
        path = published / file_name(made.close.number)
        if path.exists():
            faults += compare_file(path, made, await closes.changed_heads(connection, made.close.number))
    if [made.close.number for made in stored] != list(range(1, len(stored) + 1)):
        faults.append("a close is missing")
    postings, newest = await connection.fetchrow(COUNT_POSTINGS)
    return RestoreResult(
        is_right=not faults,
        postings=postings,
        newest_posting_at=None if newest is None else newest.isoformat(),
        closes=len(stored),
        faults=faults,
    )
