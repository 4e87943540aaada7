"""Turns the changes of a decided batch into the parts of one SQL statement."""

from collections.abc import Iterable
from typing import Any

import msgspec

from kasuwa.core.decision import Job, Row
from kasuwa.db.batch import BatchState
from kasuwa.db.bulk_sql import StatementPart, delete_part, encode_rows, insert_part, update_part, version_parts
from kasuwa.db.journal import CommitMarkRow
from kasuwa.db.merchant_state import MerchantState


def build_write(state: BatchState, mark: CommitMarkRow) -> tuple[tuple[StatementPart, ...], list[str]]:
    """Returns the statement parts of a batch and, for each part, its rows as a JSON array."""
    parts: list[StatementPart] = []
    rows: list[str] = []

    def add(part: StatementPart, changed: Iterable[Any]) -> None:
        parts.append(part)
        rows.append(encode_rows(changed))

    raising, looking = version_parts(MerchantState)
    # Sorted by key, the order in which locked batches lock them, so that two batches cannot deadlock.
    merchant_states = sorted(state.merchant_states.values(), key=lambda row: row.key)
    for part, touched in ((raising, True), (looking, False)):
        chosen = [row for row in merchant_states if (row.merchant_id in state.written_merchants) is touched]
        if chosen:
            add(part, [versioned_fields(row, state.expected_versions[row.merchant_id]) for row in chosen])
    for kind, new in group_by_table(state.inserted_rows.values()):
        add(insert_part(kind, kind.table), new)
    for kind, changed in group_by_table(
        row for key, row in state.updated_rows.items() if key not in state.inserted_rows
    ):
        part, changing = update_part(kind)
        add(part, map(changing, changed))
    if state.deleted_jobs:
        part, going = delete_part(Job)
        add(part, map(going, state.deleted_jobs.values()))
    if state.written_merchants:
        add(insert_part(CommitMarkRow, "commit_mark"), [mark])
    for table, kept in (
        ("posting", state.postings),
        ("event", state.events),
        ("operator_notice", state.notices),
        ("audit_entry", state.audit_rows),
    ):
        if kept:
            add(insert_part(type(kept[0]), table), kept)
    return tuple(parts), rows


def versioned_fields(merchant_state: MerchantState, expected: int) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.structs.asdict(merchant_state)
    fields["expected"] = expected
    return fields


def group_by_table(rows: Iterable[Row]) -> list[tuple[type[Row], list[Row]]]:
    """Groups rows by type, sorted by table name, so that the same mix of tables gives the same statement text."""
    found: dict[type[Row], list[Row]] = {}
    for row in rows:
        found.setdefault(type(row), []).append(row)
    return sorted(found.items(), key=lambda item: item[0].table)
