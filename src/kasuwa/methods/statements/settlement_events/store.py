"""Reads whether daily events of settlements are on, and the day that they report. Never writes; every WHERE has the
merchant_id."""

from kasuwa.core.decision import Job, Merchant, Refusal
from kasuwa.core.reading import ActionReader
from kasuwa.core.references import job_key
from kasuwa.methods.statements.settlement_events.model import SettlementEvents, read_day, setting_key
from kasuwa.methods.statements.settlement_events.rules import show_setting
from kasuwa.methods.statements.settlement_events.wire import SettlementEventsReadRequest, SettlementEventsReply
from kasuwa.methods.statements.settlements.store import read_days
from kasuwa.rails.ports.orders import SUCCESSFUL, Answer, Unavailable

SETTING = """
    select s.key, s.merchant_id, s.is_daily, s.changed_at, s.last_day,
        (select j.due from scheduled_job j where j.merchant_id = $1 and j.key = $3)
    from settlement_events s where s.merchant_id = $1 and s.key = $2
"""


async def read_setting(
    request: SettlementEventsReadRequest, merchant: Merchant, reader: ActionReader
) -> SettlementEventsReply:
    key = setting_key(merchant.merchant_id)
    row = await reader.fetchrow(SETTING, merchant.merchant_id, key, job_key(key))
    if row is None:
        return show_setting(None, None)
    *columns, due = row
    return show_setting(SettlementEvents(*columns), due)


async def read_ended_day(job: Job, reader: ActionReader) -> Answer:
    """Returns the net of each settlement of a job's day, by currency. Raises Unavailable if too many postings of the
    day are not summed yet."""
    day = read_day(job)
    async with reader.snapshot() as snapshot:
        days = await read_days(job.merchant_id, day, day, None, snapshot)
    if isinstance(days, Refusal):
        raise Unavailable(days.message)
    nets = {currency: str(settlement.net) for (_, currency), settlement in days.settlements.items()}
    return Answer(SUCCESSFUL, None, "", facts=nets)
