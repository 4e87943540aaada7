"""Calls the biller rail for a bill's job: pays the bill, or queries its outcome."""

from datetime import UTC, datetime
from functools import partial

import msgspec

from kasuwa.core.decision import Job
from kasuwa.core.references import rail_key
from kasuwa.methods.bills.model import BILL_DETAIL_DECODER, CURRENCY, JOB_DATA_DECODER, QUERY, BillDetail
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.orders import Answer, BillOrder, send_or_query
from kasuwa.transactions.transactions import Transaction


async def call_biller(rails: Rails, job: Job, now: datetime, secrets: None) -> Answer:
    order = make_bill_order(job, now.timestamp())
    return await send_or_query(job, QUERY, partial(rails.biller.pay, order), partial(rails.biller.query, order))


async def query_ended(rails: Rails, row: Transaction) -> Answer:
    """Queries the biller for a bill that has ended."""
    detail = BILL_DETAIL_DECODER.decode(row.detail)
    order = describe_bill(rail_key(row.merchant_id, row.txn_ref), detail, row.amount, row.created_at)
    return await rails.biller.query(msgspec.structs.replace(order, rail=row.rail, account=row.rail_account))


async def fetch_delivery(rails: Rails, job: Job, answer: Answer) -> Answer:
    """Adds the token or PIN to a successful call-back, which itself carries only the status."""
    if answer.status != orders.SUCCESSFUL:
        return answer
    facts = await rails.biller.reprint(make_bill_order(job, JOB_DATA_DECODER.decode(job.work).sent_at))
    return msgspec.structs.replace(answer, facts=facts)


def make_bill_order(job: Job, at: float) -> BillOrder:
    job_data = JOB_DATA_DECODER.decode(job.work)
    sent_at = datetime.fromtimestamp(job_data.sent_at, UTC)
    order = describe_bill(rail_key(job.merchant_id, job.reference), job_data.order, job_data.amount, sent_at)
    return msgspec.structs.replace(
        order,
        rail=job.rail,
        account=job.rail_account,
        age_seconds=at - job_data.sent_at,
        scenario=job_data.scenario,
    )


def describe_bill(key: str, detail: BillDetail, amount: int, sent_at: datetime) -> BillOrder:
    return BillOrder(
        key=key,
        biller=detail.slug,
        paycode=detail.paycode,
        fulfillment=detail.fulfillment,
        reference=detail.reference,
        amount=amount,
        currency=CURRENCY,
        sent_at=sent_at,
        phone=detail.phone,
    )
