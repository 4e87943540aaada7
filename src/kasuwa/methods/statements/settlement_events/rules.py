"""Turns daily events of settlements on or off, and reports a day that has ended.

Contract: resources#settlement-events
"""

from datetime import datetime, timedelta

import msgspec

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.decision import Context, Decision, Event, Job, LoadedRows, Merchant, Needs
from kasuwa.core.references import job_key
from kasuwa.methods.statements.settlement_events.model import (
    RETRY_AFTER,
    SettlementEvents,
    make_day_job,
    read_day,
    setting_key,
    time_to_report,
)
from kasuwa.methods.statements.settlement_events.wire import (
    SettlementEventsReply,
    SettlementEventsRequest,
    SettlementEventsState,
)
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.settlements import SettlementMovement, make_settlement_event
from kasuwa.transactions.transactions import SUCCESSFUL

ON, OFF = "Daily events of settlements are on", "Daily events of settlements are off"


def need_setting(request: SettlementEventsRequest, merchant: Merchant) -> Needs:
    key = setting_key(merchant.merchant_id)
    return Needs(((SettlementEvents, key), (Job, job_key(key))))


def decide_setting(
    request: SettlementEventsRequest, context: Context, rows: LoadedRows
) -> Decision[SettlementEventsReply]:
    """Changes the setting. A request that changes nothing leaves the day that is reported next as it is."""
    key = setting_key(context.merchant.merchant_id)
    known, job = rows.get(SettlementEvents, key), rows.get(Job, job_key(key))
    if request.daily == (job is not None):
        return Decision(reply=show_setting(known, None if job is None else job.due))
    last_day = None if known is None else known.last_day
    setting = SettlementEvents(key, context.merchant.merchant_id, request.daily, context.now, last_day)
    if job is not None:
        return Decision(reply=show_setting(setting, None), rows=(setting,), jobs_done=(job,))
    today = lagos_day(context.now)
    due = time_to_report(today)
    return Decision(reply=show_setting(setting, due), rows=(setting,), jobs=(make_day_job(setting, today, due),))


def show_setting(setting: SettlementEvents | None, due: datetime | None) -> SettlementEventsReply:
    """Returns the setting as replies show it: None if it was never turned on, without a due time if it is off."""
    last_day = None if setting is None else setting.last_day
    return SettlementEventsReply(
        message=OFF if due is None else ON,
        data=SettlementEventsState(
            daily=due is not None,
            next_event=None if due is None else utc_text(due),
            last_day=None if last_day is None else last_day.isoformat(),
        ),
    )


# --- a day that has ended -------------------------------------------------------------------------------------------


def need_day(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((SettlementEvents, job.subject), (Job, job.key)))


def decide_day(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision:
    """Reports the settlements of a day by one event each, and schedules the following day.

    The answer is what was read of the day: the net of each settlement by currency, in minor units (store.py). A day
    that could not be read is read again later.
    """
    setting, current_job = rows.get(SettlementEvents, job.subject), rows.get(Job, job.key)
    if setting is None or current_job is None or current_job.work != job.work:
        return Decision()  # the events are off, or this day was reported and the job is that of the next
    day = read_day(job)
    if answer.status != SUCCESSFUL:
        return Decision(jobs=(make_day_job(setting, day, context.now + RETRY_AFTER),))
    events: list[Event] = []
    deliveries: list[Job] = []
    for currency, net in sorted(answer.facts.items()):
        moved = SettlementMovement(step="closed", reference="closed", amount=int(net), currency=currency, day=day)
        event, jobs = make_settlement_event(moved, setting, context)
        events.append(event)
        deliveries.extend(jobs)
    following = day + timedelta(days=1)
    return Decision(
        rows=(msgspec.structs.replace(setting, last_day=day),) if events else (),
        jobs=(make_day_job(setting, following, time_to_report(following)), *deliveries),
        events=tuple(events),
    )
