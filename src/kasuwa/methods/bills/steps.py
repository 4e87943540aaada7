"""What a bill's job does outside: send it, or ask what became of it. No decisions and no SQL here."""

from datetime import datetime
from functools import partial

import msgspec

from kasuwa.core.decision import Job
from kasuwa.core.references import rail_key
from kasuwa.methods.bills.rules.pay_bill import CURRENCY, JOB_DATA_DECODER, QUERY
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer, BillOrder, Rails, send_or_query


async def call_biller(rails: Rails, job: Job, now: datetime, secrets: None) -> Answer:
    order = order_of(job, now.timestamp())
    return await send_or_query(job, QUERY, partial(rails.biller.pay, order), partial(rails.biller.query, order))


async def fetch_delivery(rails: Rails, job: Job, answer: Answer) -> Answer:
    """A call-back says how it ended; what it brought is asked for."""
    if answer.status != ports.SUCCESSFUL:
        return answer
    facts = await rails.biller.reprint(order_of(job, JOB_DATA_DECODER.decode(job.work).sent_at))
    return msgspec.structs.replace(answer, facts=facts)


def order_of(job: Job, at: float) -> BillOrder:
    work = JOB_DATA_DECODER.decode(job.work)
    return BillOrder(
        key=rail_key(job.merchant_id, job.reference),
        biller=work.order.slug,
        paycode=work.order.paycode,
        fulfillment=work.order.fulfilment,
        reference=work.order.reference,
        amount=work.amount,
        currency=CURRENCY,
        age_seconds=at - work.sent_at,
        scenario=work.scenario,
    )
