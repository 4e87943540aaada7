"""Calls the biller rail for a bill's job: pays the bill, or queries its outcome."""

from datetime import UTC, datetime
from functools import partial

import msgspec

from kasuwa.core.decision import Job
from kasuwa.core.references import rail_key
from kasuwa.core.transactions import Transaction
from kasuwa.methods.bills.model import BILL_DETAIL_DECODER, CURRENCY, JOB_DATA_DECODER, QUERY
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer, BillOrder, Rails, send_or_query


async def call_biller(rails: Rails, job: Job, now: datetime, secrets: None) -> Answer:
    order = make_bill_order(job, now.timestamp())
    return await send_or_query(job, QUERY, partial(rails.biller.pay, order), partial(rails.biller.query, order))


async def query_ended(rails: Rails, row: Transaction) -> Answer:
    """Queries the biller for a bill that has ended."""
    detail = BILL_DETAIL_DECODER.decode(row.detail)
    order = BillOrder(
        key=rail_key(row.merchant_id, row.txn_ref),
        biller=detail.slug,
        paycode=detail.paycode,
        fulfillment=detail.fulfillment,
        reference=detail.reference,
        amount=row.amount,
        currency=row.currency,
        sent_at=row.created_at,
    )
    return await rails.biller.query(order)


async def fetch_delivery(rails: Rails, job: Job, answer: Answer) -> Answer:
    """Adds the token or PIN to a successful call-back, which itself carries only the status."""
    if answer.status != ports.SUCCESSFUL:
        return answer
    facts = await rails.biller.reprint(make_bill_order(job, JOB_DATA_DECODER.decode(job.work).sent_at))
    return msgspec.structs.replace(answer, facts=facts)


def make_bill_order(job: Job, at: float) -> BillOrder:
    job_data = JOB_DATA_DECODER.decode(job.work)
    return BillOrder(
        key=rail_key(job.merchant_id, job.reference),
        biller=job_data.order.slug,
        paycode=job_data.order.paycode,
        fulfillment=job_data.order.fulfillment,
        reference=job_data.order.reference,
        amount=job_data.amount,
        currency=CURRENCY,
        sent_at=datetime.fromtimestamp(job_data.sent_at, UTC),
        age_seconds=at - job_data.sent_at,
        scenario=job_data.scenario,
    )
