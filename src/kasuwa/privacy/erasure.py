"""Erasure of a person's data from rows of other slices.

Slices do not import each other, so the erasing slice is given a list of rows, each with the owning slice's function
that erases it. What the books need stays: amounts, references, postings and events.
"""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Context, Effects, Job, LoadedRows, Refusal, Row
from kasuwa.core.references import job_key

TRANSACTION_IN_PROGRESS = Refusal(
    INVALID_REQUEST,
    "A payment, refund, transfer, dispute or account of this person is still under way; wait for its end",
    error_code="transaction_in_progress",
)


class RowErasure(msgspec.Struct, frozen=True):
    """A row with personal data, and the owning slice's function that erases it."""

    kind: type[Row]
    key: bytes
    erase: Callable[[Any], Row | Refusal]  # returns the row without personal data, or why it cannot be erased yet
    # Returns the jobs that have the data erased elsewhere, of the row as it was.
    make_jobs: Callable[[Any, Context], tuple[Job, ...]] | None = None
    ends_job: bool = False  # whether the job of the row (`job_key`) is deleted with its data


def need_rows(erasures: Iterable[RowErasure]) -> tuple[tuple[type[Row], bytes], ...]:
    """Returns what `erase_rows` needs loaded: the rows, and the jobs that end with their data."""
    needed: list[tuple[type[Row], bytes]] = []
    for erasure in erasures:
        needed.append((erasure.kind, erasure.key))
        if erasure.ends_job:
            needed.append((Job, job_key(erasure.key)))
    return tuple(needed)


def erase_rows(erasures: Iterable[RowErasure], context: Context, rows: LoadedRows) -> Effects | Refusal:
    """Erases rows of other slices: returns the changed rows, the jobs that have data erased elsewhere and the jobs that
    end, or the first refusal. Rows that are erased already are left alone."""
    effects = Effects()
    for erasure in erasures:
        row = rows.get(erasure.kind, erasure.key)
        erased = None if row is None else erasure.erase(row)
        if isinstance(erased, Refusal):
            return erased
        if erased is not None and erased != row:
            jobs = () if erasure.make_jobs is None else erasure.make_jobs(row, context)
            job = rows.get(Job, job_key(erasure.key)) if erasure.ends_job else None
            effects.add(Effects(rows=(erased,), jobs=jobs, jobs_done=() if job is None else (job,)))
    return effects
