"""Calls the bank rail for a transfer's job: sends the transfer, or queries its outcome."""

from datetime import UTC, datetime
from functools import partial

import msgspec

from kasuwa.core.banks import bank_of_code
from kasuwa.core.decision import Job
from kasuwa.core.references import rail_key
from kasuwa.methods.disburse.model import CURRENCY, QUERY, TRANSFER_DETAIL_DECODER, TransferDetail, decode_job_data
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.orders import Answer, TransferOrder, send_or_query
from kasuwa.transactions.transactions import Transaction


async def call_bank(rails: Rails, job: Job, now: datetime, secrets: None) -> Answer:
    order = make_transfer_order(job, now)
    return await send_or_query(job, QUERY, partial(rails.bank.transfer, order), partial(rails.bank.query, order))


async def query_ended(rails: Rails, row: Transaction) -> Answer:
    """Queries the bank for a transfer that has ended."""
    detail = TRANSFER_DETAIL_DECODER.decode(row.detail)
    order = describe_transfer(rail_key(row.merchant_id, row.txn_ref), detail, row.amount)
    return await rails.bank.query(
        msgspec.structs.replace(order, rail=row.rail, account=row.rail_account, sent_at=row.created_at)
    )


def make_transfer_order(job: Job, now: datetime) -> TransferOrder:
    job_data = decode_job_data(job.work)
    order = describe_transfer(rail_key(job.merchant_id, job.reference), job_data.order, job_data.amount)
    return msgspec.structs.replace(
        order,
        rail=job.rail,
        account=job.rail_account,
        sent_at=datetime.fromtimestamp(job_data.resent_at or job_data.sent_at, UTC),
        age_seconds=now.timestamp() - job_data.sent_at,
        scenario=job_data.scenario,
        beneficiary_name=job_data.beneficiary_name or None,
    )


def describe_transfer(key: str, detail: TransferDetail, amount: int) -> TransferOrder:
    return TransferOrder(
        key=key,
        amount=amount,
        currency=CURRENCY,
        bank=bank_of_code(detail.bank_code),
        account_number=detail.account_number,
        sender_name=detail.sender_name,
        narration=detail.narration,
    )
