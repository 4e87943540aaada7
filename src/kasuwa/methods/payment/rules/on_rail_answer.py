"""What a rail's answer means for a payment: ask the payer, end it, or ask again later.

Contract: #states, payment#charge, payment#validate
"""

from datetime import datetime

import msgspec

from kasuwa.core import requery
from kasuwa.core.codes import ERROR, NOT_VALIDATED, UNREADABLE_ANSWER
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, NeedsMore, Refusal, Row
from kasuwa.core.purpose import effects_of_purpose
from kasuwa.core.references import hold_key
from kasuwa.core.requery import RequeryJobKinds, final_status, next_requery_at
from kasuwa.core.transactions import FAILED, SUCCESSFUL, Transaction, contradiction_notices, encode_text, extend_trail
from kasuwa.ledger.chart import Hold
from kasuwa.methods.payment.model import (
    AWAITING_PAYER,
    CHARGE,
    DETAIL_DECODER,
    EXPIRE,
    EXPIRED,
    FACTS_DECODER,
    INITIATED,
    JOB_DATA_DECODER,
    OPEN,
    OTP_ATTEMPTS_EXHAUSTED,
    OUTCOME_UNKNOWN,
    QUERY,
    VALIDATE,
    Payment,
    PaymentFacts,
    PaymentJobData,
    payment_key,
)
from kasuwa.methods.payment.rules.charge_card import MAX_OTP_ATTEMPTS, expected_stage
from kasuwa.methods.payment.rules.finish import end_payment, finish_accounts
from kasuwa.methods.payment.rules.replies import reply_payer_step, reply_payment, reply_validated
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer

JOB_KINDS = RequeryJobKinds(CHARGE, QUERY)
PAYER_APPROVED_METHODS = frozenset({"ussd", "phone", "qrpay", "bank_transfer", "mobile_money"})

RAIL_UNAVAILABLE = Refusal(ERROR, "The rail is not available for a moment; nothing was charged, try again")
WRONG_OTP = Refusal(NOT_VALIDATED, "The OTP is not right; try again")
OTP_EXHAUSTED = Refusal(NOT_VALIDATED, "The OTP was wrong three times; the payment has failed")
EXPIRED_MESSAGE = "The customer did not complete the payment in time"
RAIL_UNAVAILABLE_MESSAGE = "The rail is not available"
OTP_EXHAUSTED_MESSAGE = "The OTP was wrong three times"


def need_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    rows: tuple[tuple[type[Row], bytes], ...] = (
        (Transaction, job.subject),
        (Payment, payment_key(merchant.merchant_id, job.reference)),
        (Job, job.key),
        (Hold, hold_key(job.subject)),
    )
    return Needs(rows, finish_accounts(JOB_DATA_DECODER.decode(job.work)))


def decide_answer(job: Job, answer: Answer, context: Context, seen: LoadedRows) -> Decision | NeedsMore:
    row = seen.get(Transaction, job.subject)
    payment = seen.get(Payment, payment_key(context.merchant.merchant_id, job.reference))
    assert row is not None
    assert payment is not None
    current_job = seen.get(Job, job.key)
    if row.is_final or current_job is None:
        notices = contradiction_notices(row, final_status(answer, 0) or row.status)
        done = () if current_job is None or not row.is_final else (current_job,)
        return Decision(reply=reply_payment(row, payment, context.public_url), notices=notices, jobs_done=done)
    if current_job.kind != job.kind and (final_status(answer, 0) is None or job.kind == EXPIRE):
        # Somebody took the next step meanwhile: what this one heard is out of date, unless it is final.
        return Decision(reply=reply_payment(row, payment, context.public_url))
    told = apply_rail_facts(payment, answer)
    if job.kind == EXPIRE and answer.code is None:
        return end_payment(row, told, current_job, FAILED, EXPIRED, EXPIRED_MESSAGE, context, seen)
    ending = final_status(answer, 0)
    if is_opening_session(current_job) and ending == SUCCESSFUL:
        # A session is open: nothing was charged, whatever the word, and without its authentication nothing can be.
        if told.auth:
            return await_payer(row, told, current_job, INITIATED, context)
        return schedule_retry(row, told, current_job, answer, context, seen)
    if ending is not None:
        decision = end_payment(row, told, current_job, ending, answer.code, answer.message, context, seen)
        return adapt_reply_to_step(decision, row, told, job, ending, context)
    return continue_payment(row, told, current_job, answer, context, seen)


def is_opening_session(job: Job) -> bool:
    """Whether the job is about the session that initiate opens: it opens it, or asks after an answer that was lost."""
    return job.kind == OPEN or (job.kind == QUERY and JOB_DATA_DECODER.decode(job.work).last_step == OPEN)


def apply_rail_facts(payment: Payment, answer: Answer) -> Payment:
    """What the rail told besides its answer."""
    facts, kept = answer.facts, FACTS_DECODER.decode(payment.facts)
    if not facts:
        return payment
    told = PaymentFacts(fraud=facts.get("fraud", kept.fraud), ussd_code=facts.get("ussd_code", kept.ussd_code))
    return msgspec.structs.replace(
        payment,
        auth=facts.get("auth", payment.auth),
        session=facts.get("session", payment.session),
        facts=encode_text(told),
    )


def adapt_reply_to_step(
    decision: Decision | NeedsMore, row: Transaction, payment: Payment, job: Job, ending: str, context: Context
) -> Decision | NeedsMore:
    """A success is told in the step's own words. A payer's step that ends at once still answers as one: clients wait
    for the event. Contract: payment#validate, payment#phone"""
    if isinstance(decision, NeedsMore) or ending != SUCCESSFUL or not isinstance(decision.reply, PaymentReply):
        return decision
    if job.kind == CHARGE and payment.method in PAYER_APPROVED_METHODS:
        decision.reply = reply_payer_step(payment, DETAIL_DECODER.decode(payment.detail), context.public_url)
    if job.kind == VALIDATE:
        decision.reply = reply_validated(decision.reply)
    return decision


def continue_payment(
    row: Transaction, payment: Payment, job: Job, answer: Answer, context: Context, seen: LoadedRows
) -> Decision | NeedsMore:
    """Nothing final is known: the payer is asked, a code was wrong, or the rail is to be asked again."""
    if answer.status == ports.CHALLENGE and context.now < payment.expires_at:
        return await_payer(row, payment, job, payer_stage(payment), context)
    if answer.status == ports.WRONG_CODE:
        return count_wrong_otp(row, payment, job, context, seen)
    if answer.status == ports.UNAVAILABLE and (job.kind in (OPEN, VALIDATE) or needs_payer_secrets(payment, job)):
        return revert_step(row, payment, job, context, seen)
    return schedule_retry(row, payment, job, answer, context, seen)


def needs_payer_secrets(payment: Payment, job: Job) -> bool:
    """Whether the step was one that only whoever holds the card, or asks for the account, can take."""
    return job.kind == CHARGE and payment.method in ("card", "account")


def payer_stage(payment: Payment) -> str:
    return AWAITING_PAYER if payment.method in PAYER_APPROVED_METHODS else expected_stage(payment.auth)


def await_payer(row: Transaction, payment: Payment, job: Job, stage: str, context: Context) -> Decision:
    """The payer must act, and has until the payment expires."""
    asked = msgspec.structs.replace(payment, stage=stage)
    kept = msgspec.structs.replace(row, trail=extend_trail(row.trail, context.now, stage))
    reply = reply_payment(row, asked, context.public_url)
    return Decision(reply=reply, rows=(kept, asked), jobs=(schedule_payer_wait(job, asked, context),))


def schedule_payer_wait(job: Job, payment: Payment, context: Context) -> Job:
    """Who acts at the rail is asked after there; whose code must come to us is waited for."""
    work = msgspec.structs.replace(JOB_DATA_DECODER.decode(job.work), session=payment.session)
    kind, due = EXPIRE, payment.expires_at
    if payment.stage == AWAITING_PAYER:
        kind, due = QUERY, next_query_time(payment, work.sent_at, context)
    return msgspec.structs.replace(job, kind=kind, due=due, work=encode_text(work))


def next_query_time(payment: Payment, sent_at: float, context: Context) -> datetime:
    """The ladder, but not past the moment at which the payer's time is up, before that has come."""
    rung = next_requery_at(context.now, context.now.timestamp() - sent_at)
    return rung if context.now >= payment.expires_at else min(rung, payment.expires_at)


def count_wrong_otp(
    row: Transaction, payment: Payment, job: Job, context: Context, seen: LoadedRows
) -> Decision | NeedsMore:
    """A wrong code: the third fails the payment. Contract: payment#validate"""
    tried = msgspec.structs.replace(payment, tries=payment.tries + 1, stage=payer_stage(payment))
    if tried.tries >= MAX_OTP_ATTEMPTS:
        decision = end_payment(row, tried, job, FAILED, OTP_ATTEMPTS_EXHAUSTED, OTP_EXHAUSTED_MESSAGE, context, seen)
        if isinstance(decision, Decision):
            decision.reply = OTP_EXHAUSTED
        return decision
    kept = msgspec.structs.replace(row, trail=extend_trail(row.trail, context.now, "wrong code"))
    return Decision(reply=WRONG_OTP, rows=(kept, tried), jobs=(schedule_payer_wait(job, tried, context),))


def revert_step(
    row: Transaction, payment: Payment, job: Job, context: Context, seen: LoadedRows
) -> Decision | NeedsMore:
    """Refused before anything was done, and what the step needs is in nobody's memory any more: it can be taken again
    by whoever has it. A payment that has not even begun has nothing to go back to: it ends, and the same request may be
    sent again, under the same Idempotency-Key too. Contract: payment#rail-away"""
    if job.kind == OPEN or not payment.auth:
        decision = end_payment(row, payment, job, FAILED, None, RAIL_UNAVAILABLE_MESSAGE, context, seen)
        if isinstance(decision, Decision):
            decision.reply = RAIL_UNAVAILABLE
        return decision
    back = msgspec.structs.replace(payment, stage=INITIATED if job.kind == CHARGE else payer_stage(payment))
    kept = msgspec.structs.replace(row, trail=extend_trail(row.trail, context.now, "rail away"))
    return Decision(reply=RAIL_UNAVAILABLE, rows=(kept, back), jobs=(schedule_payer_wait(job, back, context),))


# --- not known yet ----------------------------------------------------------------------------------------------------


def schedule_retry(
    row: Transaction, payment: Payment, job: Job, answer: Answer, context: Context, seen: LoadedRows
) -> Decision | NeedsMore:
    """By the ladder, under the same key. Only what was refused before anything was done is sent again."""
    work = JOB_DATA_DECODER.decode(job.work)
    age = context.now.timestamp() - work.sent_at
    asked = msgspec.structs.replace(payment, stage=stage_while_unknown(payment, work, answer))
    if work.method == "token" and final_status(answer, age) == FAILED:
        return end_payment(row, payment, job, FAILED, answer.code, answer.message, context, seen)
    if context.now >= payment.expires_at and is_certainly_unpaid(asked, job, answer):
        return end_payment(row, payment, job, FAILED, EXPIRED, EXPIRED_MESSAGE, context, seen)
    kept, again = requery.schedule_requery(row, job, answer, context, age, JOB_KINDS, row.status, row.message)
    if work.method != "token":
        # A token's charge has no payer whose time could be up.
        again.due = next_query_time(payment, work.sent_at, context)
    # The rail knows it by the session that it opened: both steps of a card in one learn it only from this answer.
    again.work = encode_text(msgspec.structs.replace(work, session=payment.session))
    added = effects_of_purpose(kept, DETAIL_DECODER.decode(payment.detail).purpose, context, seen)
    if isinstance(added, NeedsMore):
        return added
    code = UNREADABLE_ANSWER if answer.status == ports.UNREADABLE else 200
    reply = added.reply or reply_payment(kept, asked, context.public_url, code)
    return Decision(reply=reply, rows=(kept, asked), jobs=(again,))


def stage_while_unknown(payment: Payment, work: PaymentJobData, answer: Answer) -> str:
    """A payer is awaited only while the rail is known to have asked and nobody has acted: the payment was waiting for
    the payer already, or the rail says now that what we began is open. Once the payer's answer has gone out it may
    have been taken, and nothing is asked of the payer twice."""
    if payment.method not in PAYER_APPROVED_METHODS:
        return OUTCOME_UNKNOWN
    begun = work.last_step == CHARGE and is_known_to_rail(answer)
    return AWAITING_PAYER if payment.stage == AWAITING_PAYER or begun else OUTCOME_UNKNOWN


def is_known_to_rail(answer: Answer) -> bool:
    return answer.status in (ports.UNKNOWN, ports.PROCESSING) and answer.code is not None


def is_certainly_unpaid(payment: Payment, job: Job, answer: Answer) -> bool:
    """Whether the rail's own words leave no doubt, once the payer's time is up: it never saw the step, whose secrets
    nobody has any more; it refused to begin; or it still waits for the payer. One that says nothing may have been paid.
    """
    if answer.status == ports.NOT_FOUND:
        return payment.method != "token"
    if answer.status == ports.UNAVAILABLE:
        return job.kind == CHARGE and payment.method in PAYER_APPROVED_METHODS
    return answer.status == ports.CHALLENGE or (payment.stage == AWAITING_PAYER and is_known_to_rail(answer))
