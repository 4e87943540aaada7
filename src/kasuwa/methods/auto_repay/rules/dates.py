"""The days on which a loan is collected: its due dates, and the days on which a declined attempt is made again.

A client is told a day before the first attempt. Retries follow the schedule of recurrent payments
(transactions/schedule.py), on the days that were agreed on, and never on or after the next due date, on which all that
is due by then is collected.

Contract: loans#auto-repay
"""

from datetime import date, datetime, timedelta

import msgspec

from kasuwa.core.calendar import lagos_day, lagos_moment
from kasuwa.core.decision import Job, make_job
from kasuwa.core.references import job_key
from kasuwa.methods.loans.auto_repay_model import COLLECT, PAUSED, WAIT, AutoRepayment, halt
from kasuwa.methods.loans.rules.loan_position import LoanPosition
from kasuwa.methods.loans.rules.plan_collection import find_following, find_soonest, plan_day
from kasuwa.methods.payment.rules.plans.scheduled_charges import MAX_MISSED_CYCLES
from kasuwa.transactions.schedule import next_retry

RUN = "loans.collect"
LANE = "loans"

# Keeps the due times of two runs of a job distinct, because a run is recognized by its due time.
MIN_RUN_INTERVAL = timedelta(seconds=1)


class Decline(msgspec.Struct, frozen=True):
    """The reason why an attempt failed. A soft one may succeed later, any other pauses the collection at once."""

    reason: str
    message: str
    is_soft: bool = True


def find_next(position: LoanPosition, attempted_on: date, hour: int, now: datetime) -> date | None:
    """Returns the day that is collected after an attempt: the first due date since then of which something is owed. If
    that has passed while a card was charged, it is collected as soon as the hour comes."""
    following = find_following(position, attempted_on)
    return None if following is None else max(following, find_soonest(hour, now))


def find_first(position: LoanPosition, hour: int, now: datetime) -> date | None:
    """Returns the day that is collected first under a new agreement. What is due already is collected as soon as the
    hour comes."""
    return find_soonest(hour, now) if position.due.total else find_following(position, lagos_day(now))


def wait_for_payout(auto: AutoRepayment, earliest: datetime) -> AutoRepayment:
    """Returns the collection of a loan that is not paid out yet: it looks again when the hour comes."""
    day = find_soonest(auto.hour, earliest)
    return msgspec.structs.replace(auto, step=WAIT, due_on=None, next_at=lagos_moment(day, auto.hour))


def collect_next(auto: AutoRepayment, earliest: datetime) -> AutoRepayment:
    """Returns the collection whose client was told: it collects when the hour of the day comes."""
    assert auto.due_on is not None
    return msgspec.structs.replace(auto, step=COLLECT, next_at=max(earliest, lagos_moment(auto.due_on, auto.hour)))


def plan_after_decline(
    auto: AutoRepayment, position: LoanPosition, attempted_on: date, decline: Decline, now: datetime, earliest: datetime
) -> tuple[AutoRepayment, str]:
    """Returns the collection after an attempt that failed, and the step that its event names."""
    assert auto.due_on is not None
    if not decline.is_soft:
        return halt(auto, PAUSED, decline.reason), "paused"
    following = find_next(position, attempted_on, auto.hour, now)
    coming = None if following is None else lagos_moment(following, auto.hour)
    again = next_retry(lagos_moment(auto.due_on, auto.hour), now, coming, auto.retry_days)
    failed = msgspec.structs.replace(auto, reason=decline.reason)
    if again is not None:
        return msgspec.structs.replace(failed, step=COLLECT, next_at=max(earliest, again)), "failed"
    given_up = msgspec.structs.replace(failed, misses=auto.misses + 1, missed=auto.missed + 1)
    if following is None or given_up.misses >= MAX_MISSED_CYCLES:
        return halt(given_up, PAUSED, decline.reason), "paused"
    return plan_day(given_up, following, earliest), "missed"


def make_run(auto: AutoRepayment) -> Job:
    """Returns the job of a collection that waits."""
    assert auto.next_at is not None, "a collection without a next time has no job"
    return make_job(
        key=job_key(auto.key),
        merchant_id=auto.merchant_id,
        kind=RUN,
        lane=LANE,
        reference=auto.auto_repay_id,
        subject=auto.key,
        due=auto.next_at,
    )
