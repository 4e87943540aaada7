"""Reads the schedule of payouts. Never writes; every WHERE has the merchant_id."""

from kasuwa.core.decision import Merchant
from kasuwa.core.reading import ActionReader
from kasuwa.core.references import job_key
from kasuwa.methods.payouts.model import PayoutSchedule, schedule_key
from kasuwa.methods.payouts.rules import show_schedule
from kasuwa.methods.payouts.wire import ScheduleReadRequest, ScheduleReply

SCHEDULE = """
    select s.key, s.merchant_id, s.currency, s.frequency, s.least, s.bank_code, s.account_number, s.changed_at,
        s.last_ref, s.set_by, (select j.due from scheduled_job j where j.merchant_id = $1 and j.key = $3)
    from payout_schedule s where s.merchant_id = $1 and s.key = $2
"""


async def read_schedule(request: ScheduleReadRequest, merchant: Merchant, reader: ActionReader) -> ScheduleReply:
    key = schedule_key(merchant.merchant_id)
    row = await reader.fetchrow(SCHEDULE, merchant.merchant_id, key, job_key(key))
    if row is None:
        return ScheduleReply(message="Payouts are off", data=show_schedule(None, None))
    *columns, due = row
    return ScheduleReply(
        message="Payouts are off" if due is None else "Payouts are scheduled",
        data=show_schedule(PayoutSchedule(*columns), due),
    )
