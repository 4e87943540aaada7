"""Turns the changes of a decided batch into the parts of one SQL statement."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import astuple

from kasuwa.core.decision import Job, Row
from kasuwa.engine.batch import BatchState
from kasuwa.engine.journal import CommitMarkRow
from kasuwa.engine.merchant_state import MerchantState
from kasuwa.postgres.bulk_sql import (
    StatementPart,
    delete_part,
    insert_part,
    update_part,
    updated_columns,
    version_parts,
)
from kasuwa.postgres.columns import Columns
from kasuwa.postgres.row_codes import code_rows

EncodeRows = Callable[[Columns, list[tuple[Any, ...]]], str]


def build_write(
    state: BatchState, mark: CommitMarkRow, encode: EncodeRows
) -> tuple[tuple[StatementPart, ...], list[str]]:
    """Returns the statement parts of a batch and, for each part, its rows as JSON."""
    parts: list[StatementPart] = []
    rows: list[str] = []

    def add(part: StatementPart, changed: Iterable[tuple[Any, ...]]) -> None:
        parts.append(part)
        rows.append(encode(part.columns, list(changed)))

    # Sorted by key, the order in which locked batches lock them, so that two batches cannot deadlock.
    merchant_states = sorted(state.merchant_states.values(), key=lambda row: row.key)
    for (part, take), is_written in zip(version_parts(MerchantState), (True, False), strict=True):
        chosen = [row for row in merchant_states if (row.merchant_id in state.written_merchants) is is_written]
        if chosen:
            add(part, [(*take(row), state.expected_versions[row.merchant_id]) for row in chosen])
    vault = state.deployment.vault
    for kind, new in group_by_table(state.inserted_rows.values()):
        if kind.coded_columns:
            code_rows(vault, kind, new)
        add(insert_part(kind, kind.table), map(astuple, new))
    for kind, changed in group_by_table(
        row for key, row in state.updated_rows.items() if key not in state.inserted_rows
    ):
        if "row_code" in updated_columns(kind):
            code_rows(vault, kind, changed)
        part, take = update_part(kind)
        add(part, map(take, changed))
    if state.deleted_jobs:
        part, take = delete_part(Job)
        add(part, map(take, state.deleted_jobs.values()))
    if state.written_merchants:
        add(insert_part(CommitMarkRow, "commit_mark"), [astuple(mark)])
    for table, new_rows in (
        ("posting", state.postings),
        ("event", state.events),
        ("operator_notice", state.notices),
        ("audit_entry", state.audit_rows),
        ("decision_input", state.inputs),
    ):
        if new_rows:
            add(insert_part(type(new_rows[0]), table), map(astuple, new_rows))
    return tuple(parts), rows


def group_by_table(rows: Iterable[Row]) -> list[tuple[type[Row], list[Row]]]:
    """Groups rows by type, sorted by table name, so that the same mix of tables gives the same statement text."""
    groups: dict[type[Row], list[Row]] = {}
    for row in rows:
        groups.setdefault(type(row), []).append(row)
    return sorted(groups.items(), key=lambda item: item[0].table)
