"""The requery schedule: when an unknown outcome is queried, and when it counts as failed.

An order that was sent and not answered is never sent again. Its outcome is queried under its own reference, soon at
first and then hourly. An order that the rail refused before doing anything is sent again under the same key, on the
same schedule, and if certainly nothing of it has left, perhaps to another rail (core/routing.py). Transfers, bills,
payments and refunds share it.

Contract: disburse#requery
"""

from datetime import datetime, timedelta
from typing import Protocol

import msgspec

from kasuwa.core.decision import Context, Job
from kasuwa.core.routing import RailDemand
from kasuwa.transactions.transactions import FAILED, SUCCESSFUL, Transaction, extend_trail

# Ages at which an unknown outcome is queried before the hourly queries begin. Contract: disburse#requery
REQUERY_AFTER_SECONDS = (5, 30, 120, 600, 1800)
REQUERY_EVERY_SECONDS = 3600

# "Not found" soon after sending is not a failure: the rail may be behind. Contract: disburse#requery
NOT_FOUND_IS_FAILED_AFTER_SECONDS = 24 * 3600

# Length at which the trail of an unanswered transaction stops growing. Later queries only update code and message.
MAX_TRAIL_LENGTH = 8_000

# When an order is sent to its next rail. Later than now, so that an advance of the sandbox's clock sees another time.
AT_ONCE = timedelta(milliseconds=1)

# Answers that are neither final nor pending.
NOT_FOUND = "not_found"
UNAVAILABLE = "unavailable"

FINAL_ANSWERS = frozenset({SUCCESSFUL, FAILED})


class RailAnswer(Protocol):
    """A rail's answer. Implemented by rails.ports.orders.Answer."""

    @property
    def status(self) -> str: ...

    @property
    def code(self) -> str | None: ...

    @property
    def message(self) -> str: ...

    @property
    def retry_after(self) -> float: ...

    @property
    def is_unsent(self) -> bool: ...


class RequeryJobKinds(msgspec.Struct, frozen=True):
    """The job kinds of a slice: the one that sends and the one that queries the outcome."""

    send: str
    query: str
    purpose: str = ""  # of the rails that its orders can be given to; "" if they have no second choice


class SendingTimes(Protocol):
    """The job data of an order that a rail carries out."""

    @property
    def sent_at(self) -> float: ...

    @property
    def resent_at(self) -> float: ...


def seconds_since_sent(job: Job, kinds: RequeryJobKinds, times: SendingTimes, now: datetime) -> float:
    """Returns how long ago an order left for its rail: 0 if the answer is to its sending.

    A rail may have refused it for days before, without effect. The day after which an order that is not found counts
    as failed begins when it was really sent."""
    return 0.0 if job.kind == kinds.send else now.timestamp() - (times.resent_at or times.sent_at)


def is_sent_late(job: Job, kinds: RequeryJobKinds, answer: RailAnswer) -> bool:
    """Whether this answer is to an order that its rail had refused before, and that has now left."""
    return job.kind == kinds.send and job.attempt > 0 and answer.status != UNAVAILABLE


def age_on_schedule(job: Job, kinds: RequeryJobKinds, times: SendingTimes, answer: RailAnswer, now: datetime) -> float:
    """Returns the age by which the next try or query is scheduled: since the order left or, before that, since its
    first try. An order that waited for its rail is queried as soon after it left as any other."""
    return 0.0 if is_sent_late(job, kinds, answer) else now.timestamp() - (times.resent_at or times.sent_at)


def final_status(answer: RailAnswer, age: float) -> str | None:
    """Returns the final status that an answer implies, or None. `age` is from seconds_since_sent."""
    if answer.status == NOT_FOUND and age >= NOT_FOUND_IS_FAILED_AFTER_SECONDS:
        return FAILED
    return answer.status if answer.status in FINAL_ANSWERS else None


def find_next_rail(claimed: Job, job: Job, answer: RailAnswer, context: Context, demand: RailDemand, send: str) -> str:
    """Returns the rail of an open order after an answer: another one only if certainly nothing of it has left.

    `claimed` is the job as the process that called the rail claimed it, `job` as it is now, `send` the kind of a job
    that sends. An order without a rail, because none was configured, was sent nowhere."""
    if not job.rail or can_change_rail(claimed, job, answer, send):
        return context.choose_rail(demand, avoided=job.rail)
    return job.rail


def can_change_rail(claimed: Job, job: Job, answer: RailAnswer, send: str) -> bool:
    """Whether certainly nothing of an order has left. The parameters are those of find_next_rail."""
    is_claimed_once = max(claimed.claims, job.claims) <= 1
    return answer.is_unsent and is_claimed_once and job.kind == claimed.kind == send and not job.is_rail_fixed


def schedule_requery(
    row: Transaction,
    job: Job,
    answer: RailAnswer,
    context: Context,
    age: float,
    kinds: RequeryJobKinds,
    rail: str | None = None,
) -> tuple[Transaction, Job]:
    """Returns the open transaction with the answer's code and trail, and its job, rescheduled to send or to query.

    `row` has the status and message that the transaction keeps until then. The job sends again only if the rail refused
    the order itself as unavailable. It waits longer than the schedule says if the rail asked for it. `rail` is the rail
    of find_next_rail: the order is sent there at once if it was not given to that rail before.
    """
    rail = job.rail if rail is None else rail
    account = find_next_account(job, rail, answer, context, kinds)
    is_moved = (rail, account) != (job.rail, job.rail_account) and answer.is_unsent
    trail = row.trail
    if len(trail) < MAX_TRAIL_LENGTH:
        step = "asked" if job.kind == kinds.query else "sent"
        trail = extend_trail(trail, context.now, step, answer.message)
    open_row = msgspec.structs.replace(
        row, code=answer.code or answer.status, trail=trail, rail=rail, rail_account=account
    )
    # An unavailable rail that refuses a query says nothing about the order sent before.
    refused = is_moved or (answer.status == UNAVAILABLE and job.kind == kinds.send)
    kind = kinds.send if refused else kinds.query
    due = max(next_requery_at(context.now, age), context.now + timedelta(seconds=answer.retry_after))
    if is_moved:
        is_untried = context.has_untried_rail(kinds.purpose, job.attempt)
        due = context.now + AT_ONCE if is_untried else next_requery_at(context.now, age)
    fixed = job.is_rail_fixed or job.claims > 1 or not answer.is_unsent
    return open_row, msgspec.structs.replace(
        job, kind=kind, attempt=job.attempt + 1, due=due, rail=rail, is_rail_fixed=fixed, rail_account=account
    )


def find_next_account(job: Job, rail: str, answer: RailAnswer, context: Context, kinds: RequeryJobKinds) -> str:
    """Returns our account with the rail of find_next_rail. An order of which certainly nothing has left is given the
    one that the settings have now, unless it has no second choice, as a refund has none."""
    is_free = kinds.purpose and can_change_rail(job, job, answer, kinds.send)
    return context.find_rail_account(rail) if rail != job.rail or is_free else job.rail_account


def next_requery_at(now: datetime, age: float) -> datetime:
    """Returns when to query next, by the age in seconds since the first send."""
    next_age = next((after for after in REQUERY_AFTER_SECONDS if after > age + 0.001), None)
    if next_age is None:
        next_age = (int(age + 0.001) // REQUERY_EVERY_SECONDS + 1) * REQUERY_EVERY_SECONDS
    return now + timedelta(seconds=next_age - age)
