"""What a biller's answer means for a bill: post the hold and keep what was delivered, give it back, or ask again later.
(D14, D28, D30)"""

import msgspec

from kasuwa.core.codes import UNREADABLE_ANSWER
from kasuwa.core.decision import Context, Decision, Group, Job, Merchant, Needs, Post, Row, Seen
from kasuwa.core.money import format_minor
from kasuwa.core.references import hold_key
from kasuwa.core.requery import Kinds, ask_again, ending_of
from kasuwa.core.transactions import PENDING, SUCCESSFUL, Transaction, contradiction, end_transaction
from kasuwa.ledger.chart import Hold
from kasuwa.methods.bills.decide import (
    ASK,
    FORMS,
    INCOME,
    KIND,
    MESSAGES,
    NO_GOODS,
    PROMISED,
    RAIL,
    SEND,
    VAT,
    WALLET,
    WALLET_SHORT,
    WORK,
    Voucher,
    kept_goods,
    reply_bill,
    voucher_key,
    voucher_place,
)
from kasuwa.methods.bills.wire import Goods
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer

KINDS = Kinds(SEND, ASK)

BILLER_SAYS = "The biller: "
GARBLED = "What the biller gave could not be read"


def need_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    voucher = voucher_key(job.merchant_id, job.subject)
    rows = ((Transaction, job.subject), (Hold, hold_key(job.subject)), (Job, job.key), (Voucher, voucher))
    if answer.status != ports.SUCCESSFUL:
        return Needs(rows, (WALLET,))
    return Needs(rows, (WALLET, RAIL, INCOME, VAT))


def decide_answer(job: Job, answer: Answer, context: Context, seen: Seen) -> Decision:
    row = seen.get(Transaction, job.subject)
    assert row is not None
    here = seen.get(Job, job.key)
    if row.is_final:
        return keep_final(row, answer, here, kept_goods(row, context, seen))
    assert here is not None
    work = WORK.decode(here.work)
    answer = read_goods(answer, work.order.fulfilment)
    age = context.now.timestamp() - work.sent_at
    ending = ending_of(answer, age)
    goods = goods_of(answer, work.order.fulfilment)
    if ending is None or (ending == SUCCESSFUL and goods is None):
        return keep_asking(row, here, answer, context, age)
    return end_bill(row, here, answer, ending, goods or NO_GOODS, context)


def read_goods(answer: Answer, fulfilment: str) -> Answer:
    """A token that no meter takes is worth nothing to whoever paid for it: such an answer cannot be read, whatever else
    it says. (D4)"""
    if answer.status != ports.SUCCESSFUL:
        return answer
    forms = FORMS.get(fulfilment, {})
    told = {name: said for name, said in answer.facts.items() if name in forms and said != ""}
    if all(forms[name].fullmatch(said) for name, said in told.items()):
        return msgspec.structs.replace(answer, facts=told)
    return Answer(ports.UNREADABLE, None, GARBLED)


def goods_of(answer: Answer, fulfilment: str) -> Goods | None:
    """What the biller gave. None where it promised a token or a PIN and told none: it is delivered and we must still
    learn what, so the bill stays open and the rail is asked again."""
    promised = PROMISED.get(fulfilment)
    if promised is None:
        return NO_GOODS
    return msgspec.convert(dict(answer.facts), Goods) if promised in answer.facts else None


def keep_final(row: Transaction, answer: Answer, job: Job | None, goods: Goods) -> Decision:
    notices = contradiction(row, ending_of(answer, 0) or row.status)
    return Decision(reply=reply_bill(row, goods), notices=notices, jobs_done=() if job is None else (job,))


def end_bill(row: Transaction, job: Job, answer: Answer, ending: str, goods: Goods, context: Context) -> Decision:
    delivered = ending == SUCCESSFUL
    work = WORK.decode(job.work)
    message = MESSAGES[SUCCESSFUL] if delivered else f"{BILLER_SAYS}{answer.message}"
    commission = format_minor(work.order.commission if delivered else 0)
    told = {"orderRef": row.order_ref, "commission": commission}
    end = end_transaction(context, row, ending, answer.code, message, KIND, work.scenario, told=told)
    rows: tuple[Row, ...] = (end.row,)
    if delivered and goods != NO_GOODS:
        rows += (seal_goods(row, goods, context),)
    posts = post_bill(row, work.order.commission) if delivered else ()
    return Decision(
        reply=reply_bill(end.row, goods if delivered else NO_GOODS),
        groups=(Group(row.txn_ref, WALLET_SHORT, posts=posts, ends=hold_key(row.key)),),
        rows=rows,
        jobs=end.jobs,
        jobs_done=(job,),
        events=(end.event,),
    )


def seal_goods(row: Transaction, goods: Goods, context: Context) -> Voucher:
    sealed = context.seal(voucher_place(row.txn_ref), msgspec.json.encode(goods))
    return Voucher(voucher_key(row.merchant_id, row.key), row.merchant_id, row.txn_ref, sealed)


def post_bill(row: Transaction, commission: int) -> tuple[Post, ...]:
    posts = (
        Post(WALLET, RAIL, row.amount, "bill"),
        Post(WALLET, INCOME, row.fee, "bill fee"),
        Post(WALLET, VAT, row.vat, "VAT on fee"),
        Post(RAIL, WALLET, commission, "bill commission"),
    )
    return tuple(post for post in posts if post.amount)


def keep_asking(row: Transaction, job: Job, answer: Answer, context: Context, age: float) -> Decision:
    """A bill is pending until it is final: it has no word for being processed."""
    kept, again = ask_again(row, job, answer, context, age, KINDS, PENDING, MESSAGES[PENDING])
    code = UNREADABLE_ANSWER if answer.status == ports.UNREADABLE else 200
    return Decision(reply=reply_bill(kept, NO_GOODS, code), rows=(kept,), jobs=(again,))
