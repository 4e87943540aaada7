"""The ladder of D28: when an outcome that is not known is asked after, and when it counts as failed.

Whatever was sent and not answered is never sent anew: it is asked after under its own reference, soon at first and
then every hour. What was refused before anything was done is sent again under the same key, on the same rungs.
Transfers, bills, payments and refunds climb it alike; which statuses and words they show meanwhile is their own.
"""

from datetime import datetime, timedelta
from typing import Protocol

import msgspec

from kasuwa.core.decision import Context, Job
from kasuwa.core.transactions import FAILED, SUCCESSFUL, Transaction, extend_trail

# Ages at which an unknown outcome is asked after, then every hour. Contract: disburse#transfer
REQUERY_AFTER_SECONDS = (5, 30, 120, 600, 1800)
REQUERY_EVERY_SECONDS = 3600

# "Not found" soon after sending is no failure: the rail may be behind. Contract: disburse#transfer
NOT_FOUND_IS_FAILED_AFTER_SECONDS = 24 * 3600

# The trail of what never ends must not grow for ever: hourly asks are told apart from here on only by their
# last one.
MOST_TRAIL = 8_000

# What a rail can mean that is neither an end nor a promise of one.
NOT_FOUND = "not_found"
UNAVAILABLE = "unavailable"

FINAL_ANSWERS = frozenset({SUCCESSFUL, FAILED})


class RailAnswer(Protocol):
    """What a rail said, as `rails.ports.Answer` holds it."""

    @property
    def status(self) -> str: ...

    @property
    def code(self) -> str | None: ...

    @property
    def message(self) -> str: ...


class RequeryJobKinds(msgspec.Struct, frozen=True):
    """A slice's two jobs: the one that sends, and the one that asks what became of it."""

    send: str
    query: str


def final_status(answer: RailAnswer, age: float) -> str | None:
    """How an answer ends its transaction, if it does, so many seconds after it was first sent."""
    if answer.status == NOT_FOUND and age >= NOT_FOUND_IS_FAILED_AFTER_SECONDS:
        return FAILED
    return answer.status if answer.status in FINAL_ANSWERS else None


def schedule_requery(
    row: Transaction,
    job: Job,
    answer: RailAnswer,
    context: Context,
    age: float,
    kinds: RequeryJobKinds,
    status: str,
    message: str,
) -> tuple[Transaction, Job]:
    """Nothing is known yet. What was never taken in is sent again under its key; all else is asked after."""
    trail = row.trail
    if len(trail) < MOST_TRAIL:
        step = "asked" if job.kind == kinds.query else "sent"
        trail = extend_trail(trail, context.now, step, answer.message)
    kept = msgspec.structs.replace(row, status=status, code=answer.code or answer.status, message=message, trail=trail)
    # A rail that refuses a question says nothing of what was sent before.
    refused = answer.status == UNAVAILABLE and job.kind == kinds.send
    kind = kinds.send if refused else kinds.query
    again = msgspec.structs.replace(job, kind=kind, attempt=job.attempt + 1, due=next_requery_at(context.now, age))
    return kept, again


def next_requery_at(now: datetime, age: float) -> datetime:
    """The next rung of the ladder, counted from when it was first sent."""
    rung = next((after for after in REQUERY_AFTER_SECONDS if after > age + 0.001), None)
    if rung is None:
        rung = (int(age + 0.001) // REQUERY_EVERY_SECONDS + 1) * REQUERY_EVERY_SECONDS
    return now + timedelta(seconds=rung - age)
