"""Checks a restored copy of the database: its books, and its closes against the published ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from kasuwa.audit import make_close as closes
from kasuwa.audit.close_audit import compare_file
from kasuwa.audit.close_task import file_name
from kasuwa.audit.invariants.ledger import check_invariants, describe_violations, name_violations
from kasuwa.core.row_codes import CodedTable
from kasuwa.core.vault import Vault
from kasuwa.evidence.reads import COUNT_POSTINGS
from kasuwa.privacy.row_code_moves import find_changed_rows


class RestoreResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a test."""

    is_right: bool
    postings: int
    newest_posting_at: str | None  # by the clock of the database
    closes: int
    faults: list[str]
    seconds: float = 0.0


async def check_restored(connection: Any, vault: Vault, tables: Sequence[CodedTable], published: Path) -> RestoreResult:
    """Checks the books of a copy, the codes of its rows, and its closes against the published files. Closes that were
    made after the backup are not missed."""
    faults = await check_invariants(connection)
    changed = await find_changed_rows(connection, vault, tables)
    faults += describe_violations(await name_violations(connection, changed))
    stored = await closes.list_closes(connection)
    for signed_close in stored:
        path = published / file_name(signed_close.close.number)
        if path.exists():
            faults += compare_file(
                path, signed_close, await closes.changed_heads(connection, signed_close.close.number)
            )
    if [signed_close.close.number for signed_close in stored] != list(range(1, len(stored) + 1)):
        faults.append("a close is missing")
    postings, newest = await connection.fetchrow(COUNT_POSTINGS)
    return RestoreResult(
        is_right=not faults,
        postings=postings,
        newest_posting_at=None if newest is None else newest.isoformat(),
        closes=len(stored),
        faults=faults,
    )
