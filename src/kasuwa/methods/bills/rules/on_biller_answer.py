"""What a biller's answer means for a bill: post the hold and keep what was delivered, give it back, or ask again later.
(Contract: #states, disburse#transfer, bills#pay)"""

import msgspec

from kasuwa.core.codes import UNREADABLE_ANSWER
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, Posting, PostingGroup, Row
from kasuwa.core.money import format_minor
from kasuwa.core.references import hold_key
from kasuwa.core.requery import RequeryJobKinds, final_status, schedule_requery
from kasuwa.core.transactions import PENDING, SUCCESSFUL, Transaction, contradiction_notices, end_transaction
from kasuwa.ledger.chart import Hold
from kasuwa.methods.bills.rules.pay_bill import (
    DELIVERY_FORMATS,
    INCOME,
    JOB_DATA_DECODER,
    KIND,
    MESSAGES,
    NO_DELIVERY,
    QUERY,
    RAIL,
    REQUIRED_DELIVERY,
    SEND,
    VAT,
    WALLET,
    WALLET_INSUFFICIENT,
    Voucher,
    find_delivery,
    reply_bill,
    voucher_aad,
    voucher_key,
)
from kasuwa.methods.bills.wire import BillDelivery
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer

JOB_KINDS = RequeryJobKinds(SEND, QUERY)

BILLER_SAYS = "The biller: "
UNREADABLE_DELIVERY = "What the biller gave could not be read"


def need_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    voucher = voucher_key(job.merchant_id, job.subject)
    rows = ((Transaction, job.subject), (Hold, hold_key(job.subject)), (Job, job.key), (Voucher, voucher))
    if answer.status != ports.SUCCESSFUL:
        return Needs(rows, (WALLET,))
    return Needs(rows, (WALLET, RAIL, INCOME, VAT))


def decide_answer(job: Job, answer: Answer, context: Context, seen: LoadedRows) -> Decision:
    row = seen.get(Transaction, job.subject)
    assert row is not None
    current_job = seen.get(Job, job.key)
    if row.is_final:
        return reply_final(row, answer, current_job, find_delivery(row, context, seen))
    assert current_job is not None
    work = JOB_DATA_DECODER.decode(current_job.work)
    answer = check_delivery_format(answer, work.order.fulfilment)
    age = context.now.timestamp() - work.sent_at
    ending = final_status(answer, age)
    goods = read_delivery(answer, work.order.fulfilment)
    if ending is None or (ending == SUCCESSFUL and goods is None):
        return schedule_query(row, current_job, answer, context, age)
    return end_bill(row, current_job, answer, ending, goods or NO_DELIVERY, context)


def check_delivery_format(answer: Answer, fulfilment: str) -> Answer:
    """A token that no meter takes is worth nothing to whoever paid for it: such an answer cannot be read, whatever else
    it says. (Contract: #errors)"""
    if answer.status != ports.SUCCESSFUL:
        return answer
    forms = DELIVERY_FORMATS.get(fulfilment, {})
    told = {name: said for name, said in answer.facts.items() if name in forms and said != ""}
    if all(forms[name].fullmatch(said) for name, said in told.items()):
        return msgspec.structs.replace(answer, facts=told)
    return Answer(ports.UNREADABLE, None, UNREADABLE_DELIVERY)


def read_delivery(answer: Answer, fulfilment: str) -> BillDelivery | None:
    """What the biller gave. None where it promised a token or a PIN and told none: it is delivered and we must still
    learn what, so the bill stays open and the rail is asked again."""
    promised = REQUIRED_DELIVERY.get(fulfilment)
    if promised is None:
        return NO_DELIVERY
    return msgspec.convert(dict(answer.facts), BillDelivery) if promised in answer.facts else None


def reply_final(row: Transaction, answer: Answer, job: Job | None, goods: BillDelivery) -> Decision:
    notices = contradiction_notices(row, final_status(answer, 0) or row.status)
    return Decision(reply=reply_bill(row, goods), notices=notices, jobs_done=() if job is None else (job,))


def end_bill(
    row: Transaction, job: Job, answer: Answer, ending: str, goods: BillDelivery, context: Context
) -> Decision:
    delivered = ending == SUCCESSFUL
    work = JOB_DATA_DECODER.decode(job.work)
    message = MESSAGES[SUCCESSFUL] if delivered else f"{BILLER_SAYS}{answer.message}"
    commission = format_minor(work.order.commission if delivered else 0)
    event_fields = {"orderRef": row.order_ref, "commission": commission}
    end = end_transaction(context, row, ending, answer.code, message, KIND, work.scenario, event_fields=event_fields)
    rows: tuple[Row, ...] = (end.row,)
    if delivered and goods != NO_DELIVERY:
        rows += (seal_delivery(row, goods, context),)
    posts = post_bill(row, work.order.commission) if delivered else ()
    return Decision(
        reply=reply_bill(end.row, goods if delivered else NO_DELIVERY),
        groups=(PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, postings=posts, closes_hold=hold_key(row.key)),),
        rows=rows,
        jobs=end.jobs,
        jobs_done=(job,),
        events=(end.event,),
    )


def seal_delivery(row: Transaction, goods: BillDelivery, context: Context) -> Voucher:
    sealed = context.seal(voucher_aad(row.txn_ref), msgspec.json.encode(goods))
    return Voucher(voucher_key(row.merchant_id, row.key), row.merchant_id, row.txn_ref, sealed)


def post_bill(row: Transaction, commission: int) -> tuple[Posting, ...]:
    posts = (
        Posting(WALLET, RAIL, row.amount, "bill"),
        Posting(WALLET, INCOME, row.fee, "bill fee"),
        Posting(WALLET, VAT, row.vat, "VAT on fee"),
        Posting(RAIL, WALLET, commission, "bill commission"),
    )
    return tuple(post for post in posts if post.amount)


def schedule_query(row: Transaction, job: Job, answer: Answer, context: Context, age: float) -> Decision:
    """A bill is pending until it is final: it has no word for being processed."""
    kept, again = schedule_requery(row, job, answer, context, age, JOB_KINDS, PENDING, MESSAGES[PENDING])
    code = UNREADABLE_ANSWER if answer.status == ports.UNREADABLE else 200
    return Decision(reply=reply_bill(kept, NO_DELIVERY, code), rows=(kept,), jobs=(again,))
