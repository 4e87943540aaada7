"""Applies the biller's answer to a bill: posts the hold and stores the delivery, voids it, or schedules another query.

Contract: #states, disburse#requery, bills#pay
"""

import msgspec

from kasuwa.core.codes import UNREADABLE_ANSWER
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, Posting, PostingGroup, Row
from kasuwa.core.money import format_minor
from kasuwa.ledger.holds import find_hold
from kasuwa.methods.bills.model import (
    DELIVERY_FORMATS,
    INCOME,
    JOB_DATA_DECODER,
    KIND,
    NO_DELIVERY,
    PURPOSE,
    QUERY,
    RAIL,
    REQUIRED_DELIVERY,
    SEND,
    VAT,
    WALLET,
    Voucher,
    voucher_aad,
    voucher_key,
)
from kasuwa.methods.bills.rules.pay_bill import MESSAGES, WALLET_INSUFFICIENT, demand_rail, find_delivery, reply_bill
from kasuwa.methods.bills.wire import BillDelivery
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
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
    PENDING,
    SUCCESSFUL,
    Transaction,
    TransactionOutcome,
    contradiction_notices,
    encode_text,
    end_transaction,
)

JOB_KINDS = RequeryJobKinds(SEND, QUERY, PURPOSE)

BILLER_SAYS = "The biller: "
UNREADABLE_DELIVERY = "What the biller gave could not be read"


def need_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    voucher = voucher_key(job.merchant_id, job.subject)
    rows = ((Transaction, job.subject), (Job, job.key), (Voucher, voucher))
    if answer.status != orders.SUCCESSFUL:
        return Needs(rows, (WALLET,))
    return Needs(rows, (WALLET, RAIL, INCOME, VAT))


def decide_answer(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision:
    row = rows.get(Transaction, job.subject)
    assert row is not None
    current_job = rows.get(Job, job.key)
    if row.is_final:
        return reply_final(row, answer, current_job, find_delivery(row, context, rows))
    assert current_job is not None
    job_data = JOB_DATA_DECODER.decode(current_job.work)
    answer = check_delivery_format(answer, job_data.order.fulfillment)
    age = age_on_schedule(current_job, JOB_KINDS, job_data, answer, context.now)
    ending = final_status(answer, seconds_since_sent(current_job, JOB_KINDS, job_data, context.now))
    delivery = read_delivery(answer, job_data.order.fulfillment)
    rail = find_next_rail(job, current_job, answer, context, demand_rail(job_data.order, row.amount), SEND)
    is_moved = answer.is_unsent and rail != current_job.rail
    if ending is None or (ending == SUCCESSFUL and delivery is None) or is_moved:
        return schedule_query(row, current_job, answer, rail, context, age)
    return end_bill(row, current_job, answer, ending, delivery or NO_DELIVERY, context)


def check_delivery_format(answer: Answer, fulfillment: str) -> Answer:
    """Returns a successful answer with only the fields of its delivery, or an unreadable answer if one is malformed.

    A malformed token is worth nothing to the customer, so such an answer must not end the bill. Contract: #errors
    """
    if answer.status != orders.SUCCESSFUL:
        return answer
    formats = DELIVERY_FORMATS.get(fulfillment, {})
    fields = {name: value for name, value in answer.facts.items() if name in formats and value != ""}
    if all(formats[name].fullmatch(value) for name, value in fields.items()):
        return msgspec.structs.replace(answer, facts=fields)
    return Answer(orders.UNREADABLE, None, UNREADABLE_DELIVERY)


def read_delivery(answer: Answer, fulfillment: str) -> BillDelivery | None:
    """Returns the delivery, or None if the answer lacks the token or PIN that the item delivers.

    Then the bill stays open, and the biller is queried again.
    """
    required = REQUIRED_DELIVERY.get(fulfillment)
    if required is None:
        return NO_DELIVERY
    return msgspec.convert(dict(answer.facts), BillDelivery) if required in answer.facts else None


def reply_final(row: Transaction, answer: Answer, job: Job | None, delivery: BillDelivery) -> Decision:
    notices = contradiction_notices(row, final_status(answer, 0) or row.status)
    return Decision(reply=reply_bill(row, delivery), notices=notices, jobs_done=() if job is None else (job,))


def end_bill(
    row: Transaction, job: Job, answer: Answer, ending: str, delivery: BillDelivery, context: Context
) -> Decision:
    is_successful = ending == SUCCESSFUL
    job_data = JOB_DATA_DECODER.decode(job.work)
    message = MESSAGES[SUCCESSFUL] if is_successful else f"{BILLER_SAYS}{answer.message}"
    commission = format_minor(job_data.order.commission if is_successful else 0)
    event_fields = {"order_ref": row.order_ref, "commission": commission}
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
    rows: tuple[Row, ...] = (end.row,)
    if is_successful and delivery != NO_DELIVERY:
        rows += (seal_delivery(row, delivery, context),)
    posts = post_bill(row, job_data.order.commission) if is_successful else ()
    return Decision(
        reply=reply_bill(end.row, delivery if is_successful else NO_DELIVERY),
        groups=(PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=posts, releases=find_hold(row)),),
        rows=rows,
        jobs=end.jobs,
        jobs_done=(job,),
        events=(end.event,),
    )


def seal_delivery(row: Transaction, delivery: BillDelivery, context: Context) -> Voucher:
    sealed = context.seal(voucher_aad(row.txn_ref), msgspec.json.encode(delivery))
    return Voucher(voucher_key(row.merchant_id, row.key), row.merchant_id, row.txn_ref, sealed)


def post_bill(row: Transaction, commission: int) -> tuple[Posting, ...]:
    posts = (
        Posting(WALLET, RAIL, row.amount, "bill"),
        Posting(WALLET, INCOME, row.fee, "bill fee"),
        Posting(WALLET, VAT, row.vat, "bill VAT"),
        Posting(RAIL, WALLET, commission, "bill commission"),
    )
    return tuple(post for post in posts if post.amount)


def schedule_query(row: Transaction, job: Job, answer: Answer, rail: str, context: Context, age: float) -> Decision:
    """Keeps the bill pending and reschedules its job. Bills have no status `processing`."""
    pending = msgspec.structs.replace(row, status=PENDING, message=MESSAGES[PENDING])
    updated, next_job = schedule_requery(pending, job, answer, context, age, JOB_KINDS, rail)
    if is_sent_late(job, JOB_KINDS, answer):
        late = msgspec.structs.replace(JOB_DATA_DECODER.decode(job.work), resent_at=context.now.timestamp())
        next_job = msgspec.structs.replace(next_job, work=encode_text(late))
    code = UNREADABLE_ANSWER if answer.status == orders.UNREADABLE else 200
    return Decision(reply=reply_bill(updated, NO_DELIVERY, code), rows=(updated,), jobs=(next_job,))
