"""Plans the day on which a loan is collected automatically, and plans it anew if a due date comes before it.

Contract: loans#auto-repay
"""

from datetime import date, datetime, timedelta

import msgspec

from kasuwa.core.calendar import lagos_day, lagos_moment
from kasuwa.core.decision import Context, Effects, Job, LoadedRows, NeedsMore
from kasuwa.core.references import job_key
from kasuwa.methods.loans.auto_repay_model import (
    NOTICE,
    PAUSED,
    AutoRepayment,
    auto_repayment_key,
    halt,
    need_auto_repayment,
)
from kasuwa.methods.loans.rules.loan_position import LoanPosition

# Time between telling the client and collecting.
NOTICE_TIME = timedelta(days=1)

NO_DATE = "no_due_date"


def find_soonest(hour: int, now: datetime) -> date:
    """Returns the first day whose hour is not over."""
    today = lagos_day(now)
    return today if now <= lagos_moment(today, hour) else today + timedelta(days=1)


def find_following(position: LoanPosition, day: date) -> date | None:
    """Returns the first due date after a day of which something is owed, or None."""
    return next((line.due for line in position.lines if line.due > day and line.owed.total), None)


def plan_day(auto: AutoRepayment, day: date | None, earliest: datetime) -> AutoRepayment:
    """Returns the collection with the day that it collects next. It pauses if there is none."""
    if day is None:
        return halt(auto, PAUSED, NO_DATE)
    notice = max(earliest, lagos_moment(day, auto.hour) - NOTICE_TIME)
    return msgspec.structs.replace(auto, step=NOTICE, due_on=day, next_at=notice, tries=0)


def plan_earlier(after: LoanPosition, context: Context, rows: LoadedRows) -> Effects | NeedsMore:
    """Returns the effects on the collection of a loan whose installments have changed: it collects on the first due
    date whose hour is to come if that is before the day that was planned. A charge in progress plans what follows when
    it ends."""
    loan = after.loan
    needs = need_auto_repayment(loan.merchant_id, loan.loan_id)
    if not all(rows.is_loaded(key) for _, key in needs.rows):
        return NeedsMore(needs)
    auto = rows.get(AutoRepayment, auto_repayment_key(loan.merchant_id, loan.loan_id))
    if auto is None or auto.due_on is None or auto.next_at is None:
        return Effects()
    over = find_soonest(auto.hour, context.now) - timedelta(days=1)
    following, job = find_following(after, over), rows.get(Job, job_key(auto.key))
    assert job is not None, "a collection with a next time has a job"
    if following is None or following >= max(auto.due_on, lagos_day(auto.next_at)):
        return Effects()
    planned = plan_day(auto, following, context.now)
    assert planned.next_at is not None
    return Effects(rows=(planned,), jobs=(msgspec.structs.replace(job, due=planned.next_at, attempt=job.attempt + 1),))
