"""Debts of disputes: what the operator lent to the wallet, or paid for the merchant, is taken from the wallet hourly.

    wallet → receivable:disputes     what the wallet has, at most what is owed

The job exists while something is owed. Contract: payment#disputes
"""

from datetime import datetime

import msgspec

from kasuwa.core.codes import INSUFFICIENT_FUNDS
from kasuwa.core.decision import (
    Context,
    Decision,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    Posting,
    PostingGroup,
    Refusal,
    Row,
    make_job,
)
from kasuwa.core.references import account_key, job_key, row_key
from kasuwa.ledger import chart
from kasuwa.methods.disputes.model import COLLECT, COLLECT_INTERVAL, LANE
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.transactions import encode_text

# Required by PostingGroup, and never returned: no more is taken than the wallet has.
WALLET_INSUFFICIENT = Refusal(INSUFFICIENT_FUNDS, "The wallet does not cover the debt", error_code="insufficient_funds")


class CollectionData(msgspec.Struct, frozen=True):
    """The data of the job that collects a debt. Stored as `Job.work`."""

    currency: str


COLLECTION_DATA_DECODER: "msgspec.json.Decoder[CollectionData]" = msgspec.json.Decoder(CollectionData)


def debt_reference(currency: str) -> str:
    return f"dispute debt {currency}"


def debt_key(merchant_id: int, currency: str) -> bytes:
    return row_key(merchant_id, "dispute debt", currency)


def need_debt_job(merchant_id: int, currency: str) -> tuple[type[Row], bytes]:
    return Job, job_key(debt_key(merchant_id, currency))


def debt_job(currency: str, due: datetime, context: Context, rows: LoadedRows) -> tuple[Job, ...]:
    """Returns the job that collects a debt, or none if there is one that is due no later."""
    merchant_id = context.merchant.merchant_id
    subject = debt_key(merchant_id, currency)
    known = rows.get(Job, job_key(subject))
    if known is not None and known.due <= due:
        return ()
    return (collection_job(currency, due, merchant_id),)


def collection_job(currency: str, due: datetime, merchant_id: int) -> Job:
    subject = debt_key(merchant_id, currency)
    return make_job(
        key=job_key(subject),
        merchant_id=merchant_id,
        kind=COLLECT,
        lane=LANE,
        reference=debt_reference(currency),
        subject=subject,
        due=due,
        work=encode_text(CollectionData(currency)),
    )


def need_collection(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    currency = COLLECTION_DATA_DECODER.decode(job.work).currency
    accounts = (chart.wallet(currency), chart.dispute_debt(currency))
    rows: tuple[tuple[type[Row], bytes], ...] = tuple(
        (chart.Account, account_key(merchant.merchant_id, name)) for name in accounts
    )
    return Needs(((Job, job.key), *rows), accounts)


def decide_collection(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision:
    """Takes what the wallet has of the debt. Comes again in an hour if something is left."""
    current_job = rows.get(Job, job.key)
    if current_job is None:
        return Decision()
    currency, merchant_id = COLLECTION_DATA_DECODER.decode(job.work).currency, context.merchant.merchant_id
    wallet = rows.get(chart.Account, account_key(merchant_id, chart.wallet(currency)))
    debt = rows.get(chart.Account, account_key(merchant_id, chart.dispute_debt(currency)))
    owed = 0 if debt is None else max(0, -debt.posted)
    amount = min(owed, 0 if wallet is None else max(0, wallet.available))
    posting = Posting(chart.wallet(currency), chart.dispute_debt(currency), amount, "dispute debt")
    groups = (PostingGroup(job.reference, WALLET_INSUFFICIENT, postings=(posting,)),) if amount else ()
    if amount == owed:
        return Decision(groups=groups, jobs_done=(current_job,))
    return Decision(groups=groups, jobs=(collection_job(currency, context.now + COLLECT_INTERVAL, merchant_id),))
