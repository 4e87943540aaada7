"""What a rail's answer means for a payment: ask the payer, end it, or ask again later. (D14–D16, D20–D24)"""

from datetime import datetime, timedelta

import msgspec

from kasuwa.core.codes import ERROR, NOT_VALIDATED, UNREADABLE_ANSWER
from kasuwa.core.decision import Context, Decision, Job, Merchant, More, Needs, Refusal, Row, Seen
from kasuwa.core.purpose import ask_purpose
from kasuwa.core.references import hold_key
from kasuwa.core.requery import MOST_TRAIL, NOT_FOUND_IS_FAILED_AFTER_SECONDS, next_ask
from kasuwa.core.transactions import FAILED, SUCCESSFUL, Transaction, contradiction, encode_text, extend_trail
from kasuwa.ledger.chart import Hold
from kasuwa.methods.payment.decide import (
    ASK,
    ASKING,
    AWAITING_PAYER,
    CHARGE,
    DETAIL,
    EXPIRE,
    FACTS,
    INITIATED,
    OPEN,
    VALIDATE,
    WORK,
    Facts,
    Payment,
    payment_key,
)
from kasuwa.methods.payment.decide_card import EXPIRED, MOST_TRIES, TRIES_USED_UP, expected_stage
from kasuwa.methods.payment.decide_end import end_payment, ending_accounts
from kasuwa.methods.payment.decide_reply import reply_payer_step, reply_payment, reply_validated
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer

ENDINGS = {ports.SUCCESSFUL: SUCCESSFUL, ports.FAILED: FAILED}
PAYER_METHODS = frozenset({"ussd", "phone", "qrpay", "bank_transfer", "mobile_money"})

RAIL_AWAY = Refusal(ERROR, "The rail is not available for a moment; nothing was charged, try again")
WRONG_OTP = Refusal(NOT_VALIDATED, "The OTP is not right; try again")
NO_MORE_TRIES = Refusal(NOT_VALIDATED, "The OTP was wrong three times; the payment has failed")
TOO_LATE = "The customer did not complete the payment in time"
NO_RAIL = "The rail is not available"
TRIES_MESSAGE = "The OTP was wrong three times"


def need_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    rows: tuple[tuple[type[Row], bytes], ...] = (
        (Transaction, job.subject),
        (Payment, payment_key(merchant.merchant_id, job.reference)),
        (Job, job.key),
        (Hold, hold_key(job.subject)),
    )
    return Needs(rows, ending_accounts(WORK.decode(job.work)))


def decide_answer(job: Job, answer: Answer, context: Context, seen: Seen) -> Decision | More:
    row = seen.get(Transaction, job.subject)
    payment = seen.get(Payment, payment_key(context.merchant.merchant_id, job.reference))
    assert row is not None
    assert payment is not None
    here = seen.get(Job, job.key)
    if row.is_final or here is None:
        notices = contradiction(row, ENDINGS.get(answer.status, row.status))
        done = () if here is None or not row.is_final else (here,)
        return Decision(reply=reply_payment(row, payment, context.public_url), notices=notices, jobs_done=done)
    if here.kind != job.kind and (answer.status not in ENDINGS or job.kind == EXPIRE):
        # Somebody took the next step meanwhile: what this one heard is out of date, unless it is final.
        return Decision(reply=reply_payment(row, payment, context.public_url))
    told = learn(payment, answer)
    if job.kind == EXPIRE and answer.code is None:
        return end_payment(row, told, here, FAILED, EXPIRED, TOO_LATE, context, seen)
    ending = ENDINGS.get(answer.status)
    if job.kind == OPEN and ending == SUCCESSFUL:
        return ask_payer(row, told, here, INITIATED, context)
    if ending is not None:
        decision = end_payment(row, told, here, ending, answer.code, answer.message, context, seen)
        return as_the_step_answers(decision, row, told, job, ending, context)
    return go_on(row, told, here, answer, context, seen)


def learn(payment: Payment, answer: Answer) -> Payment:
    """What the rail told besides its answer."""
    facts, kept = answer.facts, FACTS.decode(payment.facts)
    if not facts:
        return payment
    told = Facts(fraud=facts.get("fraud", kept.fraud), ussd_code=facts.get("ussd_code", kept.ussd_code))
    return msgspec.structs.replace(
        payment,
        auth=facts.get("auth", payment.auth),
        session=facts.get("session", payment.session),
        facts=encode_text(told),
    )


def as_the_step_answers(
    decision: Decision | More, row: Transaction, payment: Payment, job: Job, ending: str, context: Context
) -> Decision | More:
    """A success is told in the step's own words. A payer's step that ends at once still answers as one: clients wait
    for the event. Spec silent: D16, D21"""
    if isinstance(decision, More) or ending != SUCCESSFUL or not isinstance(decision.reply, PaymentReply):
        return decision
    if job.kind == CHARGE and payment.method in PAYER_METHODS:
        decision.reply = reply_payer_step(row, payment, DETAIL.decode(payment.detail), context.public_url)
    if job.kind == VALIDATE:
        decision.reply = reply_validated(decision.reply)
    return decision


def go_on(
    row: Transaction, payment: Payment, job: Job, answer: Answer, context: Context, seen: Seen
) -> Decision | More:
    """Nothing final is known: the payer is asked, a code was wrong, or the rail is to be asked again."""
    if answer.status == ports.CHALLENGE:
        return ask_payer(row, payment, job, stage_of(payment), context)
    if answer.status == ports.WRONG:
        return count_try(row, payment, job, context, seen)
    if (
        answer.status == ports.UNAVAILABLE
        and job.kind in (OPEN, VALIDATE, CHARGE)
        and payment.method in ("card", "account")
    ):
        return step_back(row, payment, job, context, seen)
    return ask_again(row, payment, job, answer, context, seen)


def stage_of(payment: Payment) -> str:
    return AWAITING_PAYER if payment.method in PAYER_METHODS else expected_stage(payment.auth)


def ask_payer(row: Transaction, payment: Payment, job: Job, stage: str, context: Context) -> Decision:
    """The payer must act, and has until the payment expires."""
    asked = msgspec.structs.replace(payment, stage=stage)
    kept = msgspec.structs.replace(row, trail=extend_trail(row.trail, context.now, stage))
    work = WORK.decode(job.work)
    again = msgspec.structs.replace(
        job,
        kind=ASK if stage == AWAITING_PAYER else EXPIRE,
        due=next_look(payment, work.sent_at, context) if stage == AWAITING_PAYER else payment.expires_at,
        work=encode_text(msgspec.structs.replace(work, session=payment.session)),
    )
    return Decision(reply=reply_payment(row, asked, context.public_url), rows=(kept, asked), jobs=(again,))


def next_look(payment: Payment, sent_at: float, context: Context) -> datetime:
    """The ladder, but never past the moment at which the payer's time is up."""
    return min(next_ask(context.now, context.now.timestamp() - sent_at), payment.expires_at)


def count_try(row: Transaction, payment: Payment, job: Job, context: Context, seen: Seen) -> Decision | More:
    """A wrong code: the third fails the payment. Spec silent: D16"""
    tried = msgspec.structs.replace(payment, tries=payment.tries + 1, stage=expected_stage(payment.auth))
    if tried.tries >= MOST_TRIES:
        decision = end_payment(row, tried, job, FAILED, TRIES_USED_UP, TRIES_MESSAGE, context, seen)
        if isinstance(decision, Decision):
            decision.reply = NO_MORE_TRIES
        return decision
    kept = msgspec.structs.replace(row, trail=extend_trail(row.trail, context.now, "wrong code"))
    waiting = msgspec.structs.replace(job, kind=EXPIRE, due=payment.expires_at)
    return Decision(reply=WRONG_OTP, rows=(kept, tried), jobs=(waiting,))


def step_back(row: Transaction, payment: Payment, job: Job, context: Context, seen: Seen) -> Decision | More:
    """Refused before anything was done, and what the step needs is in nobody's memory any more: it can be taken again
    by whoever has it. A payment that has not even begun has nothing to go back to."""
    if job.kind == OPEN or not payment.auth:
        return end_payment(row, payment, job, FAILED, None, NO_RAIL, context, seen)
    stage = INITIATED if job.kind == CHARGE else expected_stage(payment.auth)
    kept = msgspec.structs.replace(row, trail=extend_trail(row.trail, context.now, "rail away"))
    waiting = msgspec.structs.replace(job, kind=EXPIRE, due=payment.expires_at)
    return Decision(reply=RAIL_AWAY, rows=(kept, msgspec.structs.replace(payment, stage=stage)), jobs=(waiting,))


def ask_again(
    row: Transaction, payment: Payment, job: Job, answer: Answer, context: Context, seen: Seen
) -> Decision | More:
    """By the ladder. A payer who was awaited too long has not paid; a step with secrets that the rail never saw
    cannot be sent again and fails with its time; what the rail may have done is asked after as long as it takes."""
    work = WORK.decode(job.work)
    age = context.now.timestamp() - work.sent_at
    expired = context.now >= payment.expires_at
    never_seen = answer.status == ports.NOT_FOUND and (
        work.method != "token" or age >= NOT_FOUND_IS_FAILED_AFTER_SECONDS
    )
    if expired and (payment.stage == AWAITING_PAYER or never_seen):
        return end_payment(row, payment, job, FAILED, EXPIRED, TOO_LATE, context, seen)
    awaited = payment.method in PAYER_METHODS
    asked = msgspec.structs.replace(payment, stage=AWAITING_PAYER if awaited else ASKING)
    trail = row.trail
    if len(trail) < MOST_TRAIL:
        trail = extend_trail(trail, context.now, "asked" if job.kind == ASK else "sent", answer.message)
    kept = msgspec.structs.replace(row, code=answer.code or answer.status, trail=trail)
    resend = answer.status == ports.UNAVAILABLE
    due = next_look(payment, work.sent_at, context) if awaited or never_seen else next_ask(context.now, age)
    if due <= context.now:
        due = context.now + timedelta(seconds=1)
    # The rail knows it by the session that it opened: both steps of a card in one learn it only from this answer.
    known = encode_text(msgspec.structs.replace(work, session=payment.session))
    kind = CHARGE if resend else ASK
    again = msgspec.structs.replace(job, kind=kind, attempt=job.attempt + 1, due=due, work=known)
    added = ask_purpose(kept, DETAIL.decode(payment.detail).errand, context, seen)
    if isinstance(added, More):
        return added
    code = UNREADABLE_ANSWER if answer.status == ports.UNREADABLE else 200
    reply = added.reply or reply_payment(kept, asked, context.public_url, code)
    return Decision(reply=reply, rows=(kept, asked), jobs=(again,))
