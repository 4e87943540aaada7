"""Applies the bank's answer to a transfer: posts the hold, voids it, or schedules another query.

Contract: #states, disburse#requery
"""

import msgspec

from kasuwa.core.codes import UNREADABLE_ANSWER
from kasuwa.core.decision import (
    Context,
    Decision,
    HeldAmount,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Row,
)
from kasuwa.ledger.holds import find_fee_hold, find_hold
from kasuwa.methods.disburse.model import (
    INCOME,
    KIND,
    PURPOSE,
    QUERY,
    RAIL,
    SEND,
    STAMP_DUTY,
    VAT,
    WALLET,
    TransferDetail,
    TransferJobData,
    decode_job_data,
)
from kasuwa.methods.disburse.receipts import seal_facts
from kasuwa.methods.disburse.rules.payout_checks import need_beneficiary, need_counted, settle_counters
from kasuwa.methods.disburse.rules.transfer import MESSAGES, WALLET_INSUFFICIENT, demand_rail, reply_transfer
from kasuwa.methods.disburse.rules.waiting import place_final_event
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import BENEFICIARY_NAME, Answer
from kasuwa.terms.tariff import Tariff
from kasuwa.transactions.purpose import SCHEDULED_PAYOUT, effects_of_purpose, make_subject_field, reply_of_purpose
from kasuwa.transactions.requery import (
    RequeryJobKinds,
    age_on_schedule,
    final_status,
    find_next_rail,
    is_sent_late,
    schedule_requery,
    seconds_since_sent,
)
from kasuwa.transactions.transactions import (
    FAILED,
    PENDING,
    PROCESSING,
    SUCCESSFUL,
    Transaction,
    TransactionOutcome,
    contradiction_notices,
    encode_text,
    end_transaction,
)

POSTED = (WALLET, RAIL, INCOME, VAT)
POSTED_WITH_DUTY = (*POSTED, STAMP_DUTY)

# Results that are not final. An answer with a code makes a transfer pending; without an answer (`code` is None) it
# stays processing.
UNCONFIRMED = frozenset({orders.UNKNOWN, orders.NOT_FOUND, orders.UNREADABLE})

JOB_KINDS = RequeryJobKinds(SEND, QUERY, PURPOSE)

BANK_SAYS = "The beneficiary's bank: "


def need_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    rows: tuple[tuple[type[Row], bytes], ...]
    rows = ((Transaction, job.subject), (Job, job.key))
    accounts: tuple[str, ...] = (WALLET,)
    if answer.status == orders.SUCCESSFUL:
        accounts = POSTED_WITH_DUTY if merchant.terms(Tariff).transfer.stamp_duty.default_on else POSTED
    data = decode_job_data(job.work)
    rows = (*rows, *need_counted(merchant.merchant_id, data), *need_beneficiary(merchant, data))
    source = data.order.source_account
    if source != WALLET:
        return Needs(rows, (*accounts, source))
    return Needs(rows, accounts)


def decide_answer(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    row = rows.get(Transaction, job.subject)
    assert row is not None
    current_job = rows.get(Job, job.key)
    if row.is_final:
        return reply_final(row, job, answer, current_job, context, rows)
    assert current_job is not None
    job_data = decode_job_data(current_job.work)
    ending = final_status(answer, seconds_since_sent(current_job, JOB_KINDS, job_data, context.now))
    rail = find_next_rail(job, current_job, answer, context, demand_rail(job_data.order, row.amount), SEND)
    if ending is None or (answer.is_unsent and rail != current_job.rail):
        return schedule_query(row, current_job, answer, rail, context, rows)
    return end_transfer(row, current_job, answer, ending, context, rows)


def find_name(job_data: TransferJobData, answer: Answer) -> str:
    """Returns the name on the account as a rail has looked it up: at an earlier try, or with this answer."""
    return job_data.beneficiary_name or answer.facts.get(BENEFICIARY_NAME, "")


def reply_final(
    row: Transaction, job: Job, answer: Answer, current_job: Job | None, context: Context, rows: LoadedRows
) -> Decision | NeedsMore:
    """Returns the reply for a transfer that a call-back has ended in the meantime.

    The purpose of the transfer may replace the reply. Nothing is posted twice. An answer that contradicts the final
    status becomes an operator notice.
    """
    purpose_reply = reply_of_purpose(row, decode_job_data(job.work).order.purpose, context, rows)
    if isinstance(purpose_reply, NeedsMore):
        return purpose_reply
    notices = contradiction_notices(row, final_status(answer, 0) or row.status)
    return Decision(
        reply=purpose_reply or reply_transfer(row, context),
        notices=notices,
        jobs_done=() if current_job is None else (current_job,),
    )


def end_transfer(
    row: Transaction, job: Job, answer: Answer, ending: str, context: Context, rows: LoadedRows
) -> Decision | NeedsMore:
    # The bank's words alone ("No sufficient funds") could be read as being about the merchant's own wallet.
    message = MESSAGES[SUCCESSFUL] if ending == SUCCESSFUL else f"{BANK_SAYS}{answer.message}"
    job_data = decode_job_data(job.work)
    event_fields = {"order_ref": row.order_ref, **make_subject_field(job_data.order.purpose)}
    end = end_transaction(
        context,
        row,
        TransactionOutcome(
            status=ending,
            code=answer.code,
            message=message,
            method=KIND,
            scenario=job_data.scenario,
            event_fields=event_fields,
        ),
    )
    if ending == SUCCESSFUL:
        end.row = msgspec.structs.replace(
            end.row, facts_sealed=seal_facts(row, find_name(job_data, answer), answer, context)
        )
    added = effects_of_purpose(end.row, job_data.order.purpose, context, rows)
    if isinstance(added, NeedsMore):
        return added
    decision = Decision(
        reply=added.reply or reply_transfer(end.row, context),
        groups=end_holds(end.row, job_data.order, added.posts),
        rows=(end.row, *settle_counters(end.row, job_data, context, rows)),
        jobs=end.jobs,
        jobs_done=(job,),
        events=(place_final_event(end.event) if job_data.is_approved else end.event,),
    )
    decision.add(added)
    return decision


def end_holds(row: Transaction, order: TransferDetail, added: tuple[Posting, ...]) -> tuple[PostingGroup, ...]:
    """Returns the groups that post or void the holds, with the postings that the purpose adds.

    After a failure the holds are voided, so the postings of the purpose get a group of their own.
    """
    held, fee_held = find_hold(row), find_fee_hold(row)
    if row.status == FAILED:
        voided = tuple(end_hold(row, one, ()) for one in (held, fee_held) if one is not None)
        return (*voided, PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=added)) if added else voided
    is_payout = order.purpose is not None and order.purpose.purpose == SCHEDULED_PAYOUT
    amount = (Posting(row.held_on, RAIL, row.amount, "payout" if is_payout else "transfer"),)
    fees = post_fees(row)
    if fee_held is None:
        return (end_hold(row, held, (*amount, *fees, *added)),)
    return end_hold(row, held, (*amount, *added)), end_hold(row, fee_held, fees)


def end_hold(row: Transaction, held: HeldAmount | None, postings: tuple[Posting, ...]) -> PostingGroup:
    return PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=postings, releases=held)


def post_fees(row: Transaction) -> tuple[Posting, ...]:
    postings = (
        Posting(WALLET, INCOME, row.fee, "transfer fee"),
        Posting(WALLET, VAT, row.vat, "transfer VAT"),
        Posting(WALLET, STAMP_DUTY, row.duty, "stamp duty"),
    )
    return tuple(posting for posting in postings if posting.amount)


def schedule_query(
    row: Transaction, job: Job, answer: Answer, rail: str, context: Context, rows: LoadedRows
) -> Decision | NeedsMore:
    """Keeps the transfer open and reschedules its job, to query the bank again, or to send it to its next rail."""
    job_data = decode_job_data(job.work)
    age = age_on_schedule(job, JOB_KINDS, job_data, answer, context.now)
    status = PENDING if answer.status in UNCONFIRMED and answer.code is not None else PROCESSING
    still_open = msgspec.structs.replace(row, status=status, message=MESSAGES[status])
    updated, next_job = schedule_requery(still_open, job, answer, context, age, JOB_KINDS, rail)
    next_data = msgspec.structs.replace(job_data, beneficiary_name=find_name(job_data, answer))
    if is_sent_late(job, JOB_KINDS, answer):
        next_data = msgspec.structs.replace(next_data, resent_at=context.now.timestamp())
    if next_data != job_data:
        next_job = msgspec.structs.replace(next_job, work=encode_text(next_data))
    code = UNREADABLE_ANSWER if answer.status == orders.UNREADABLE else 200
    added = effects_of_purpose(updated, job_data.order.purpose, context, rows)
    if isinstance(added, NeedsMore):
        return added
    return Decision(reply=added.reply or reply_transfer(updated, context, code), rows=(updated,), jobs=(next_job,))
