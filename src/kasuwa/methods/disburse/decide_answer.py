"""What a bank's answer means for a transfer: post the hold, give it back, or ask again later. (D14, D28)"""

from datetime import datetime, timedelta

import msgspec

from kasuwa.core.codes import UNREADABLE_ANSWER
from kasuwa.core.decision import Context, Decision, Group, Job, Merchant, Needs, Post, Seen
from kasuwa.core.references import hold_key
from kasuwa.core.transactions import (
    FAILED,
    PENDING,
    PROCESSING,
    SUCCESSFUL,
    Transaction,
    contradiction,
    end_transaction,
    extend_trail,
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
    WORK,
    reply_transfer,
)
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer

# Ages at which an unknown outcome is asked after, then every hour. Spec silent: D28
ASK_AFTER_SECONDS = (5, 30, 120, 600, 1800)
THEN_EVERY_SECONDS = 3600

# "Not found" soon after sending is no failure: the rail may be behind. Spec silent: D28
NOT_FOUND_IS_FAILED_AFTER_SECONDS = 24 * 3600

# The trail of a transfer that never ends must not grow for ever: hourly asks are told apart from here on only
# by their last one.
MOST_TRAIL = 8_000

POSTED = (WALLET, RAIL, INCOME, VAT)
POSTED_WITH_DUTY = (*POSTED, STAMP_DUTY)

# The bank has spoken and does not say how it ends; where it has not spoken, we are still processing.
UNCONFIRMED = frozenset({ports.UNKNOWN, ports.NOT_FOUND, ports.UNREADABLE})

ENDINGS = {ports.SUCCESSFUL: SUCCESSFUL, ports.FAILED: FAILED}


def need_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    rows = ((Transaction, job.subject), (Hold, hold_key(job.subject)), (Job, job.key))
    if answer.status != ports.SUCCESSFUL:
        return Needs(rows, (WALLET,))
    return Needs(rows, POSTED_WITH_DUTY if merchant.tariff.transfer.stamp_duty.default_on else POSTED)


def decide_answer(job: Job, answer: Answer, context: Context, seen: Seen) -> Decision:
    row = seen.get(Transaction, job.subject)
    assert row is not None
    here = seen.get(Job, job.key)
    if row.is_final:
        return keep_final(row, answer, here)
    assert here is not None
    age = context.now.timestamp() - WORK.decode(here.work).sent_at
    ending = ENDINGS.get(answer.status)
    if answer.status == ports.NOT_FOUND and age >= NOT_FOUND_IS_FAILED_AFTER_SECONDS:
        ending = FAILED
    if ending is None:
        return ask_again(row, here, answer, context, age)
    return end_transfer(row, here, answer, ending, context)


def keep_final(row: Transaction, answer: Answer, job: Job | None) -> Decision:
    notices = contradiction(row, ENDINGS.get(answer.status, row.status))
    return Decision(reply=reply_transfer(row), notices=notices, jobs_done=() if job is None else (job,))


def end_transfer(row: Transaction, job: Job, answer: Answer, ending: str, context: Context) -> Decision:
    message = MESSAGES[SUCCESSFUL] if ending == SUCCESSFUL else answer.message
    scenario = WORK.decode(job.work).scenario
    end = end_transaction(context, row, ending, answer.code, message, KIND, scenario)
    posts = post_transfer(row) if ending == SUCCESSFUL else ()
    return Decision(
        reply=reply_transfer(end.row),
        groups=(Group(row.txn_ref, WALLET_SHORT, posts=posts, ends=hold_key(row.key)),),
        rows=(end.row,),
        jobs=end.jobs,
        jobs_done=(job,),
        events=(end.event,),
    )


def post_transfer(row: Transaction) -> tuple[Post, ...]:
    posts = (
        Post(WALLET, RAIL, row.amount, "transfer"),
        Post(WALLET, INCOME, row.fee, "transfer fee"),
        Post(WALLET, VAT, row.vat, "VAT on fee"),
        Post(WALLET, STAMP_DUTY, row.duty, "stamp duty"),
    )
    return tuple(post for post in posts if post.amount)


def ask_again(row: Transaction, job: Job, answer: Answer, context: Context, age: float) -> Decision:
    """Nothing is known yet. What was never taken in is sent again under its key; all else is asked after."""
    status = PENDING if answer.status in UNCONFIRMED and answer.code is not None else PROCESSING
    trail = row.trail
    if len(trail) < MOST_TRAIL:
        trail = extend_trail(trail, context.now, "asked" if job.kind == ASK else "sent", answer.message)
    kept = msgspec.structs.replace(
        row, status=status, code=answer.code or answer.status, message=MESSAGES[status], trail=trail
    )
    kind = SEND if answer.status == ports.UNAVAILABLE else ASK
    again = msgspec.structs.replace(job, kind=kind, attempt=job.attempt + 1, due=next_ask(context.now, age))
    code = UNREADABLE_ANSWER if answer.status == ports.UNREADABLE else 200
    return Decision(reply=reply_transfer(kept, code), rows=(kept,), jobs=(again,))


def next_ask(now: datetime, age: float) -> datetime:
    """The next rung of the ladder, counted from when the transfer was first sent."""
    rung = next((after for after in ASK_AFTER_SECONDS if after > age + 0.001), None)
    if rung is None:
        rung = (int(age + 0.001) // THEN_EVERY_SECONDS + 1) * THEN_EVERY_SECONDS
    return now + timedelta(seconds=rung - age)
