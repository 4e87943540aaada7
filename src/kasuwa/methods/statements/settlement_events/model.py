"""Daily events of settlements: after the end of each day in Lagos, one for each settlement of that day.

A merchant turns them on. While they are on there is one job, for the day that is reported next. It is due shortly after
that day has ended; when it is done, the job is that of the following day. A job that is late by days therefore reports
them one by one. Contract: resources#settlement-events
"""

from datetime import date, datetime, timedelta
from typing import ClassVar

import msgspec

from kasuwa.core.calendar import lagos_moment
from kasuwa.core.decision import Job, Row, make_job
from kasuwa.core.references import job_key, row_key
from kasuwa.transactions.transactions import encode_text

REPORT_DAY = "settlements.report"
# A lane of its own: the days of all merchants are read at the same time of night, and nothing else waits for that.
LANE = "settlements"
REFERENCE = "settlement events"

# Commits of a day's last moment end within it, also if the clocks of processes differ.
DELAY = timedelta(minutes=5)
# A day that cannot be read, because too many of its postings are still to be summed, is read again after this.
RETRY_AFTER = timedelta(minutes=10)


class SettlementEvents(Row):
    """Whether a merchant gets daily events of settlements."""

    table: ClassVar[str] = "settlement_events"
    mutable_columns: ClassVar[tuple[str, ...]] = ("is_daily", "changed_at", "last_day")

    is_daily: bool
    changed_at: datetime
    last_day: date | None  # the last day that was reported; None before the first

    @property
    def is_open(self) -> bool:
        return False


class DayWork(msgspec.Struct, frozen=True):
    """The work of a job: the day that it reports."""

    day: date


WORK_DECODER = msgspec.json.Decoder(DayWork)


def setting_key(merchant_id: int) -> bytes:
    return row_key(merchant_id, "settlement events", "daily")


def time_to_report(day: date) -> datetime:
    """Returns the time at which a day is reported."""
    return lagos_moment(day + timedelta(days=1), 0) + DELAY


def read_day(job: Job) -> date:
    return WORK_DECODER.decode(job.work).day


def make_day_job(setting: SettlementEvents, day: date, due: datetime) -> Job:
    """Returns the job that reports a day. There is one for each merchant, so that it replaces the one before it."""
    return make_job(
        key=job_key(setting.key),
        merchant_id=setting.merchant_id,
        kind=REPORT_DAY,
        lane=LANE,
        reference=REFERENCE,
        subject=setting.key,
        due=due,
        work=encode_text(DayWork(day)),
    )
