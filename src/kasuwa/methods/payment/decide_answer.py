"""What a rail's answer means for a payment: ask the payer, end it, or ask again later. (D14–D16, D20–D24)"""

from datetime import datetime

import msgspec

from kasuwa.core import requery
from kasuwa.core.codes import ERROR, NOT_VALIDATED, UNREADABLE_ANSWER
from kasuwa.core.decision import Context, Decision, Job, Merchant, More, Needs, Refusal, Row, Seen
from kasuwa.core.purpose import ask_purpose
from kasuwa.core.references import hold_key
from kasuwa.core.requery import Kinds, ending_of, next_ask
from kasuwa.core.transactions import FAILED, SUCCESSFUL, Transaction, contradiction, encode_text, extend_trail
from kasuwa.ledger.chart import Hold
from kasuwa.methods.payment.decide import (
    ASK,
    ASKING,
    AWAITING_PAYER,
    CHARGE,
    DETAIL,
    EXPIRE,
    EXPIRED,
    FACTS,
    INITIATED,
    OPEN,
    TRIES_USED_UP,
    VALIDATE,
    WORK,
    Facts,
    Payment,
    Work,
    payment_key,
)
from kasuwa.methods.payment.decide_card import MOST_TRIES, expected_stage
from kasuwa.methods.payment.decide_end import end_payment, ending_accounts
from kasuwa.methods.payment.decide_reply import reply_payer_step, reply_payment, reply_validated
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer

KINDS = Kinds(CHARGE, ASK)
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
        notices = contradiction(row, ending_of(answer, 0) or row.status)
        done = () if here is None or not row.is_final else (here,)
        return Decision(reply=reply_payment(row, payment, context.public_url), notices=notices, jobs_done=done)
    if here.kind != job.kind and (ending_of(answer, 0) is None or job.kind == EXPIRE):
        # Somebody took the next step meanwhile: what this one heard is out of date, unless it is final.
        return Decision(reply=reply_payment(row, payment, context.public_url))
    told = learn(payment, answer)
    if job.kind == EXPIRE and answer.code is None:
        return end_payment(row, told, here, FAILED, EXPIRED, TOO_LATE, context, seen)
    ending = ending_of(answer, 0)
    if is_opening(here) and ending == SUCCESSFUL:
        # A session is open: nothing was charged, whatever the word, and without its authentication nothing can be.
        if told.auth:
            return ask_payer(row, told, here, INITIATED, context)
        return ask_again(row, told, here, answer, context, seen)
    if ending is not None:
        decision = end_payment(row, told, here, ending, answer.code, answer.message, context, seen)
        return as_the_step_answers(decision, row, told, job, ending, context)
    return go_on(row, told, here, answer, context, seen)


def is_opening(job: Job) -> bool:
    """Whether the job is about the session that initiate opens: it opens it, or asks after an answer that was lost."""
    return job.kind == OPEN or (job.kind == ASK and WORK.decode(job.work).step == OPEN)


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
        decision.reply = reply_payer_step(payment, DETAIL.decode(payment.detail), context.public_url)
    if job.kind == VALIDATE:
        decision.reply = reply_validated(decision.reply)
    return decision


def go_on(
    row: Transaction, payment: Payment, job: Job, answer: Answer, context: Context, seen: Seen
) -> Decision | More:
    """Nothing final is known: the payer is asked, a code was wrong, or the rail is to be asked again."""
    if answer.status == ports.CHALLENGE and context.now < payment.expires_at:
        return ask_payer(row, payment, job, stage_of(payment), context)
    if answer.status == ports.WRONG:
        return count_try(row, payment, job, context, seen)
    if answer.status == ports.UNAVAILABLE and (job.kind in (OPEN, VALIDATE) or needs_card(payment, job)):
        return step_back(row, payment, job, context, seen)
    return ask_again(row, payment, job, answer, context, seen)


def needs_card(payment: Payment, job: Job) -> bool:
    """Whether the step was one that only whoever holds the card, or asks for the account, can take."""
    return job.kind == CHARGE and payment.method in ("card", "account")


def stage_of(payment: Payment) -> str:
    return AWAITING_PAYER if payment.method in PAYER_METHODS else expected_stage(payment.auth)


def ask_payer(row: Transaction, payment: Payment, job: Job, stage: str, context: Context) -> Decision:
    """The payer must act, and has until the payment expires."""
    asked = msgspec.structs.replace(payment, stage=stage)
    kept = msgspec.structs.replace(row, trail=extend_trail(row.trail, context.now, stage))
    reply = reply_payment(row, asked, context.public_url)
    return Decision(reply=reply, rows=(kept, asked), jobs=(wait_for_payer(job, asked, context),))


def wait_for_payer(job: Job, payment: Payment, context: Context) -> Job:
    """Who acts at the rail is asked after there; whose code must come to us is waited for."""
    work = msgspec.structs.replace(WORK.decode(job.work), session=payment.session)
    kind, due = EXPIRE, payment.expires_at
    if payment.stage == AWAITING_PAYER:
        kind, due = ASK, next_look(payment, work.sent_at, context)
    return msgspec.structs.replace(job, kind=kind, due=due, work=encode_text(work))


def next_look(payment: Payment, sent_at: float, context: Context) -> datetime:
    """The ladder, but not past the moment at which the payer's time is up, before that has come."""
    rung = next_ask(context.now, context.now.timestamp() - sent_at)
    return rung if context.now >= payment.expires_at else min(rung, payment.expires_at)


def count_try(row: Transaction, payment: Payment, job: Job, context: Context, seen: Seen) -> Decision | More:
    """A wrong code: the third fails the payment. Spec silent: D16"""
    tried = msgspec.structs.replace(payment, tries=payment.tries + 1, stage=stage_of(payment))
    if tried.tries >= MOST_TRIES:
        decision = end_payment(row, tried, job, FAILED, TRIES_USED_UP, TRIES_MESSAGE, context, seen)
        if isinstance(decision, Decision):
            decision.reply = NO_MORE_TRIES
        return decision
    kept = msgspec.structs.replace(row, trail=extend_trail(row.trail, context.now, "wrong code"))
    return Decision(reply=WRONG_OTP, rows=(kept, tried), jobs=(wait_for_payer(job, tried, context),))


def step_back(row: Transaction, payment: Payment, job: Job, context: Context, seen: Seen) -> Decision | More:
    """Refused before anything was done, and what the step needs is in nobody's memory any more: it can be taken again
    by whoever has it. A payment that has not even begun has nothing to go back to: it ends, and the same request may be
    sent again, under the same Idempotency-Key too. Contract: payment#rail-away"""
    if job.kind == OPEN or not payment.auth:
        decision = end_payment(row, payment, job, FAILED, None, NO_RAIL, context, seen)
        if isinstance(decision, Decision):
            decision.reply = RAIL_AWAY
        return decision
    back = msgspec.structs.replace(payment, stage=INITIATED if job.kind == CHARGE else stage_of(payment))
    kept = msgspec.structs.replace(row, trail=extend_trail(row.trail, context.now, "rail away"))
    return Decision(reply=RAIL_AWAY, rows=(kept, back), jobs=(wait_for_payer(job, back, context),))


# --- not known yet ----------------------------------------------------------------------------------------------------


def ask_again(
    row: Transaction, payment: Payment, job: Job, answer: Answer, context: Context, seen: Seen
) -> Decision | More:
    """By the ladder, under the same key. Only what was refused before anything was done is sent again."""
    work = WORK.decode(job.work)
    age = context.now.timestamp() - work.sent_at
    asked = msgspec.structs.replace(payment, stage=stage_while_unknown(payment, work, answer))
    if work.method == "token" and ending_of(answer, age) == FAILED:
        return end_payment(row, payment, job, FAILED, answer.code, answer.message, context, seen)
    if context.now >= payment.expires_at and nobody_paid(asked, job, answer):
        return end_payment(row, payment, job, FAILED, EXPIRED, TOO_LATE, context, seen)
    kept, again = requery.ask_again(row, job, answer, context, age, KINDS, row.status, row.message)
    if work.method != "token":
        # A token's charge has no payer whose time could be up.
        again.due = next_look(payment, work.sent_at, context)
    # The rail knows it by the session that it opened: both steps of a card in one learn it only from this answer.
    again.work = encode_text(msgspec.structs.replace(work, session=payment.session))
    added = ask_purpose(kept, DETAIL.decode(payment.detail).errand, context, seen)
    if isinstance(added, More):
        return added
    code = UNREADABLE_ANSWER if answer.status == ports.UNREADABLE else 200
    reply = added.reply or reply_payment(kept, asked, context.public_url, code)
    return Decision(reply=reply, rows=(kept, asked), jobs=(again,))


def stage_while_unknown(payment: Payment, work: Work, answer: Answer) -> str:
    """A payer is awaited only while the rail is known to have asked and nobody has acted: the payment was waiting for
    the payer already, or the rail says now that what we began is open. Once the payer's answer has gone out it may
    have been taken, and nothing is asked of the payer twice."""
    if payment.method not in PAYER_METHODS:
        return ASKING
    begun = work.step == CHARGE and knows_of_it(answer)
    return AWAITING_PAYER if payment.stage == AWAITING_PAYER or begun else ASKING


def knows_of_it(answer: Answer) -> bool:
    return answer.status in (ports.UNKNOWN, ports.PROCESSING) and answer.code is not None


def nobody_paid(payment: Payment, job: Job, answer: Answer) -> bool:
    """Whether the rail's own words leave no doubt, once the payer's time is up: it never saw the step, whose secrets
    nobody has any more; it refused to begin; or it still waits for the payer. One that says nothing may have been paid.
    """
    if answer.status == ports.NOT_FOUND:
        return payment.method != "token"
    if answer.status == ports.UNAVAILABLE:
        return job.kind == CHARGE and payment.method in PAYER_METHODS
    return answer.status == ports.CHALLENGE or (payment.stage == AWAITING_PAYER and knows_of_it(answer))
