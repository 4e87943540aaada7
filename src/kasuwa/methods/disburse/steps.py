"""Calls the bank rail for a transfer's job: sends the transfer, or queries its outcome."""

from datetime import datetime
from functools import partial

from kasuwa.core.decision import Job
from kasuwa.core.references import rail_key
from kasuwa.methods.disburse.model import CURRENCY, QUERY, decode_job_data
from kasuwa.rails.ports import Answer, Rails, TransferOrder, send_or_query


async def call_bank(rails: Rails, job: Job, now: datetime, secrets: None) -> Answer:
    order = make_transfer_order(job, now)
    return await send_or_query(job, QUERY, partial(rails.bank.transfer, order), partial(rails.bank.query, order))


def make_transfer_order(job: Job, now: datetime) -> TransferOrder:
    job_data = decode_job_data(job.work)
    return TransferOrder(
        key=rail_key(job.merchant_id, job.reference),
        amount=job_data.amount,
        currency=CURRENCY,
        bank_code=job_data.order.bank_code,
        account_number=job_data.order.account_number,
        sender_name=job_data.order.sender_name,
        narration=job_data.order.narration,
        age_seconds=now.timestamp() - job_data.sent_at,
        scenario=job_data.scenario,
    )
