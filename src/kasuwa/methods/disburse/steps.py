"""What a transfer's job does outside: send it, or ask what became of it. No decisions and no SQL here."""

from datetime import datetime
from functools import partial

from kasuwa.core.decision import Job
from kasuwa.core.references import rail_key
from kasuwa.methods.disburse.rules.transfer import CURRENCY, QUERY, read_work
from kasuwa.rails.ports import Answer, Rails, TransferOrder, send_or_query


async def call_bank(rails: Rails, job: Job, now: datetime, secrets: None) -> Answer:
    order = order_of(job, now)
    return await send_or_query(job, QUERY, partial(rails.bank.transfer, order), partial(rails.bank.query, order))


def order_of(job: Job, now: datetime) -> TransferOrder:
    work = read_work(job.work)
    return TransferOrder(
        key=rail_key(job.merchant_id, job.reference),
        amount=work.amount,
        currency=CURRENCY,
        bank_code=work.order.bank_code,
        account_number=work.order.account_number,
        sender_name=work.order.sender_name,
        narration=work.order.narration,
        age_seconds=now.timestamp() - work.sent_at,
        scenario=work.scenario,
    )
