"""What a bank's answer means for a transfer: post the hold, give it back, or ask again later. (D14, D28)"""

from kasuwa.core.codes import UNREADABLE_ANSWER
from kasuwa.core.decision import Context, Decision, Group, Job, Merchant, More, Needs, Post, Row, Seen
from kasuwa.core.purpose import ask_purpose, ask_told, subject_of
from kasuwa.core.references import fee_hold_key, hold_key
from kasuwa.core.requery import Kinds, ask_again, ending_of
from kasuwa.core.transactions import (
    FAILED,
    PENDING,
    PROCESSING,
    SUCCESSFUL,
    Transaction,
    contradiction,
    end_transaction,
)
from kasuwa.ledger.chart import Hold
from kasuwa.methods.disburse.decide import (
    ASK,
    INCOME,
    KIND,
    MESSAGES,
    RAIL,
    SEND,
    STAMP_DUTY,
    VAT,
    WALLET,
    WALLET_SHORT,
    read_work,
    reply_transfer,
)
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer

POSTED = (WALLET, RAIL, INCOME, VAT)
POSTED_WITH_DUTY = (*POSTED, STAMP_DUTY)

# The bank has spoken and does not say how it ends; where it has not spoken, we are still processing.
UNCONFIRMED = frozenset({ports.UNKNOWN, ports.NOT_FOUND, ports.UNREADABLE})

KINDS = Kinds(SEND, ASK)

BANK_SAYS = "The beneficiary's bank: "


def need_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    rows: tuple[tuple[type[Row], bytes], ...]
    rows = ((Transaction, job.subject), (Hold, hold_key(job.subject)), (Job, job.key))
    accounts: tuple[str, ...] = (WALLET,)
    if answer.status == ports.SUCCESSFUL:
        accounts = POSTED_WITH_DUTY if merchant.tariff.transfer.stamp_duty.default_on else POSTED
    source = read_work(job.work).order.source
    if source != WALLET:
        return Needs((*rows, (Hold, fee_hold_key(job.subject))), (*accounts, source))
    return Needs(rows, accounts)


def decide_answer(job: Job, answer: Answer, context: Context, seen: Seen) -> Decision | More:
    row = seen.get(Transaction, job.subject)
    assert row is not None
    here = seen.get(Job, job.key)
    if row.is_final:
        return keep_final(row, job, answer, here, context, seen)
    assert here is not None
    age = context.now.timestamp() - read_work(here.work).sent_at
    ending = ending_of(answer, age)
    if ending is None:
        return keep_asking(row, here, answer, context, seen)
    return end_transfer(row, here, answer, ending, context, seen)


def keep_final(
    row: Transaction, job: Job, answer: Answer, here: Job | None, context: Context, seen: Seen
) -> Decision | More:
    """A call-back has ended it meanwhile: whoever waits is told so, in the words of what the transfer was for."""
    told = ask_told(row, read_work(job.work).order.errand, context, seen)
    if isinstance(told, More):
        return told
    notices = contradiction(row, ending_of(answer, 0) or row.status)
    return Decision(reply=told or reply_transfer(row), notices=notices, jobs_done=() if here is None else (here,))


def end_transfer(
    row: Transaction, job: Job, answer: Answer, ending: str, context: Context, seen: Seen
) -> Decision | More:
    # The bank's words alone ("No sufficient funds") could be read as being about the merchant's own wallet.
    message = MESSAGES[SUCCESSFUL] if ending == SUCCESSFUL else f"{BANK_SAYS}{answer.message}"
    work = read_work(job.work)
    told = {"orderRef": row.order_ref, **subject_of(work.order.errand)}
    end = end_transaction(context, row, ending, answer.code, message, KIND, work.scenario, told=told)
    added = ask_purpose(end.row, work.order.errand, context, seen)
    if isinstance(added, More):
        return added
    return Decision(
        reply=added.reply or reply_transfer(end.row),
        groups=(*end_holds(end.row, work.order.source, added.posts, seen), *added.groups),
        rows=(end.row, *added.rows),
        jobs=(*end.jobs, *added.jobs),
        jobs_done=(job, *added.jobs_done),
        events=(end.event,),
        notices=added.notices,
    )


def end_holds(row: Transaction, source: str, added: tuple[Post, ...], seen: Seen) -> tuple[Group, ...]:
    """Post what was held, or give it back. What a purpose adds to a failure has no hold to go under."""
    hold, fee_hold = hold_key(row.key), fee_hold_key(row.key)
    held = [hold] if source == WALLET or seen.get(Hold, fee_hold) is None else [hold, fee_hold]
    if row.status == FAILED:
        voided = tuple(Group(row.txn_ref, WALLET_SHORT, ends=key) for key in held)
        return (*voided, Group(row.txn_ref, WALLET_SHORT, posts=added)) if added else voided
    amount, fees = (Post(source, RAIL, row.amount, "transfer"),), post_fees(row)
    if source == WALLET:
        return (Group(row.txn_ref, WALLET_SHORT, posts=(*amount, *fees, *added), ends=hold),)
    first = Group(row.txn_ref, WALLET_SHORT, posts=(*amount, *added), ends=hold)
    return (first, Group(row.txn_ref, WALLET_SHORT, posts=fees, ends=fee_hold)) if fees else (first,)


def post_fees(row: Transaction) -> tuple[Post, ...]:
    posts = (
        Post(WALLET, INCOME, row.fee, "transfer fee"),
        Post(WALLET, VAT, row.vat, "VAT on fee"),
        Post(WALLET, STAMP_DUTY, row.duty, "stamp duty"),
    )
    return tuple(post for post in posts if post.amount)


def keep_asking(row: Transaction, job: Job, answer: Answer, context: Context, seen: Seen) -> Decision | More:
    work = read_work(job.work)
    age = context.now.timestamp() - work.sent_at
    status = PENDING if answer.status in UNCONFIRMED and answer.code is not None else PROCESSING
    kept, again = ask_again(row, job, answer, context, age, KINDS, status, MESSAGES[status])
    code = UNREADABLE_ANSWER if answer.status == ports.UNREADABLE else 200
    added = ask_purpose(kept, work.order.errand, context, seen)
    if isinstance(added, More):
        return added
    return Decision(reply=added.reply or reply_transfer(kept, code), rows=(kept,), jobs=(again,))
