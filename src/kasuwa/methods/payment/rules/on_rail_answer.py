"""Applies a rail's answer to a payment: ends it, asks the payer, or schedules the next query.

Only a final answer ends a payment. A step is sent again only if the rail refused it without effect.
Contract: #states, payment#pending, payment#rail-away, payment#validate
"""

from datetime import datetime

import msgspec

from kasuwa.core.codes import ERROR, NOT_VALIDATED, UNREADABLE_ANSWER
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, NeedsMore, Refusal, Row
from kasuwa.methods.payment.model import (
    ABANDONED,
    AWAITING_OTP,
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
    PAYER_ACTS_ELSEWHERE,
    QUERY,
    VALIDATE,
    CardSummary,
    Payment,
    PaymentFacts,
    PaymentJobData,
    SealedCardData,
    count_from_sending,
    merge_rail_facts,
    payment_key,
    sealed_card_aad,
)
from kasuwa.methods.payment.rules.charge_card import MAX_OTP_ATTEMPTS, expected_stage
from kasuwa.methods.payment.rules.finish import PaymentOutcome, end_payment, finish_accounts
from kasuwa.methods.payment.rules.hosted_card import price_by_card
from kasuwa.methods.payment.rules.receipts.late_money import PAID_TOO_MUCH, add_return, read_excess
from kasuwa.methods.payment.rules.replies import reply_payer_step, reply_payment, reply_validated
from kasuwa.methods.payment.rules.vendor_choice import find_next_vendor, move_payment
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, VendorCard
from kasuwa.transactions import requery
from kasuwa.transactions.purpose import effects_of_purpose
from kasuwa.transactions.requery import RequeryJobKinds, final_status, next_requery_at
from kasuwa.transactions.transactions import (
    FAILED,
    SUCCESSFUL,
    Transaction,
    contradiction_notices,
    encode_text,
    extend_trail,
)

JOB_KINDS = RequeryJobKinds(CHARGE, QUERY)
# Methods that the payer completes outside this API.
PAYER_APPROVED_METHODS = frozenset({"ussd", "phone", "qrpay", "bank_transfer", "mobile_money"})

RAIL_UNAVAILABLE = Refusal(
    ERROR, "The rail is not available for a moment; nothing was charged, try again", error_code="rail_unavailable"
)
WRONG_OTP = Refusal(NOT_VALIDATED, "The OTP is not right; try again", error_code="wrong_otp")
OTP_EXHAUSTED = Refusal(
    NOT_VALIDATED, "The OTP was wrong three times; the payment has failed", error_code="otp_attempts_over"
)
# Outcomes of payments that are ended here and not by the rail.
EXPIRED_OUTCOME = PaymentOutcome(FAILED, EXPIRED, "The customer did not complete the payment in time")
RAIL_UNAVAILABLE_OUTCOME = PaymentOutcome(FAILED, None, "The rail is not available")
ABANDONED_OUTCOME = PaymentOutcome(FAILED, ABANDONED, "The customer chose another way to pay")
OTP_EXHAUSTED_OUTCOME = PaymentOutcome(FAILED, OTP_ATTEMPTS_EXHAUSTED, "The OTP was wrong three times")


def need_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    rows: tuple[tuple[type[Row], bytes], ...] = (
        (Transaction, job.subject),
        (Payment, payment_key(merchant.merchant_id, job.reference)),
        (Job, job.key),
    )
    return Needs(rows, finish_accounts(JOB_DATA_DECODER.decode(job.work)))


def decide_answer(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    row = rows.get(Transaction, job.subject)
    payment = rows.get(Payment, payment_key(context.merchant.merchant_id, job.reference))
    assert row is not None
    assert payment is not None
    current_job = rows.get(Job, job.key)
    if row.is_final or current_job is None:
        notices = contradiction_notices(row, final_status(answer, 0) or row.status)
        done = () if current_job is None or not row.is_final else (current_job,)
        return Decision(reply=reply_payment(row, payment, context), notices=notices, jobs_done=done)
    if current_job.kind != job.kind and (final_status(answer, 0) is None or job.kind == EXPIRE):
        # The next step was taken meanwhile. The answer to this one is outdated, unless it is final.
        return Decision(reply=reply_payment(row, payment, context))
    updated = apply_rail_facts(payment, answer, context)
    if job.kind == EXPIRE and answer.code is None:
        return end_payment(row, updated, current_job, EXPIRED_OUTCOME, context, rows)
    vendor = find_next_vendor(job, current_job, updated, answer, context)
    if vendor is not None and (current_job.attempt == 0 or not needs_payer_secrets(updated, current_job)):
        return move_payment(row, updated, current_job, vendor, context)
    ending = final_status(answer, 0)
    if is_opening_session(current_job) and ending == SUCCESSFUL:
        # The session is open and nothing was charged. Without its authentication it cannot be charged either.
        if updated.auth:
            return await_payer(row, updated, current_job, INITIATED, context)
        return schedule_retry(row, updated, current_job, answer, context, rows)
    if ending is not None:
        outcome = PaymentOutcome(ending, answer.code, answer.message)
        if ending == SUCCESSFUL:
            row, updated = price_by_card(row, updated, context)
        decision = end_payment(row, updated, current_job, outcome, context, rows)
        if isinstance(decision, Decision) and ending == SUCCESSFUL:
            decision = add_return(decision, row, read_excess(answer), PAID_TOO_MUCH, context)
        return adapt_reply_to_step(decision, row, updated, job, ending, context)
    return continue_payment(row, updated, current_job, answer, context, rows)


def is_opening_session(job: Job) -> bool:
    """Whether the job opens a card session (initiate) or queries the opening of one."""
    return job.kind == OPEN or (job.kind == QUERY and JOB_DATA_DECODER.decode(job.work).last_step == OPEN)


def apply_rail_facts(payment: Payment, answer: Answer, context: Context) -> Payment:
    """Returns the payment with the session, authentication, facts and card that the rail reported."""
    facts, known = answer.facts, FACTS_DECODER.decode(payment.facts)
    if not facts and answer.card is None:
        return payment
    learned = msgspec.structs.replace(
        known,
        fraud=facts.get("fraud", known.fraud),
        ussd_code=facts.get("ussd_code", known.ussd_code),
        rail=merge_rail_facts(known.rail, facts),
    )
    updated = msgspec.structs.replace(
        payment,
        auth=facts.get("auth", payment.auth),
        session=facts.get("session", payment.session),
        facts=encode_text(learned),
    )
    return updated if answer.card is None else apply_vendor_card(updated, learned, answer.card, context)


def apply_vendor_card(payment: Payment, facts: PaymentFacts, card: VendorCard, context: Context) -> Payment:
    """Returns the payment with the card that its payer used on a vendor's page. The vendor's token is sealed."""
    identity = f"card {payment.merchant_id} {card.identity}"
    summary = CardSummary(
        hash=context.vault.fingerprint(identity.encode()),
        mask=card.mask,
        bin=card.bin,
        brand=card.brand,
        type=card.type,
        issuer=card.issuer,
        country=card.country,
        vendor="" if card.token is None else card.token.vendor,
        vendor_account="" if card.token is None else card.token.account,
    )
    updated = msgspec.structs.replace(payment, facts=encode_text(msgspec.structs.replace(facts, card=summary)))
    if card.token is None or payment.method != "card":
        return updated
    token = SealedCardData(
        vendor=card.token.vendor,
        vendor_token=card.token.token,
        email=card.token.email,
        vendor_account=card.token.account,
    )
    sealed = context.seal(sealed_card_aad(payment.txn_ref), msgspec.json.encode(token))
    return msgspec.structs.replace(updated, sealed_card=sealed)


def adapt_reply_to_step(
    decision: Decision | NeedsMore, row: Transaction, payment: Payment, job: Job, ending: str, context: Context
) -> Decision | NeedsMore:
    """Replaces the reply of a successful end by the reply format of the step that ended it.

    A payer's step that succeeds at once still gets status 202: clients wait for the event.
    Contract: payment#validate, payment#confirmed-at-once
    """
    if isinstance(decision, NeedsMore) or ending != SUCCESSFUL or not isinstance(decision.reply, PaymentReply):
        return decision
    if job.kind == CHARGE and payment.method in PAYER_APPROVED_METHODS:
        decision.reply = reply_payer_step(payment, DETAIL_DECODER.decode(payment.detail), context.public_url)
    if job.kind == VALIDATE:
        decision.reply = reply_validated(decision.reply)
    return decision


def continue_payment(
    row: Transaction, payment: Payment, job: Job, answer: Answer, context: Context, rows: LoadedRows
) -> Decision | NeedsMore:
    """Handles an answer that is not final: a challenge, a wrong OTP, or an unknown outcome."""
    if answer.status == orders.CHALLENGE and context.now < payment.expires_at:
        return await_payer(row, payment, job, payer_stage(payment), context)
    if answer.status == orders.WRONG_CODE:
        return count_wrong_otp(row, payment, job, context, rows)
    if answer.status == orders.UNAVAILABLE and (job.kind in (OPEN, VALIDATE) or needs_payer_secrets(payment, job)):
        return revert_step(row, payment, job, context, rows)
    return schedule_retry(row, payment, job, answer, context, rows)


def needs_payer_secrets(payment: Payment, job: Job) -> bool:
    """Whether only a request that carries the card or account can repeat this step."""
    return job.kind == CHARGE and payment.method in ("card", "account")


def payer_stage(payment: Payment) -> str:
    """Returns the stage in which a payment of this method awaits its payer."""
    if payment.auth in PAYER_ACTS_ELSEWHERE:
        return AWAITING_PAYER
    if payment.method in PAYER_APPROVED_METHODS:
        has_code = payment.auth == "OTP" and DETAIL_DECODER.decode(payment.detail).vendor
        return AWAITING_OTP if has_code else AWAITING_PAYER
    return expected_stage(payment.auth)


def await_payer(row: Transaction, payment: Payment, job: Job, stage: str, context: Context) -> Decision:
    """Moves the payment to a stage in which the payer must act before it expires."""
    payment_after = msgspec.structs.replace(payment, stage=stage)
    open_row = msgspec.structs.replace(row, trail=extend_trail(row.trail, context.now, stage))
    reply = reply_payment(row, payment_after, context)
    return Decision(
        reply=reply, rows=(open_row, payment_after), jobs=(schedule_payer_wait(job, payment_after, context),)
    )


def schedule_payer_wait(job: Job, payment: Payment, context: Context) -> Job:
    """Returns the job while the payer is awaited.

    It queries the rail if the payer acts there. If the payer's OTP must come to us, it expires the payment.
    """
    work = hand_back_facts(JOB_DATA_DECODER.decode(job.work), payment)
    kind, due = EXPIRE, payment.expires_at
    if payment.stage == AWAITING_PAYER:
        kind, due = QUERY, next_query_time(payment, work.sent_at, context)
    return msgspec.structs.replace(job, kind=kind, due=due, work=encode_text(work))


def hand_back_facts(work: PaymentJobData, payment: Payment) -> PaymentJobData:
    """Returns the job data with the facts of the rail so far, which its next order carries."""
    facts = FACTS_DECODER.decode(payment.facts).rail
    return msgspec.structs.replace(work, session=payment.session, rail_facts=facts)


def next_query_time(payment: Payment, sent_at: float, context: Context) -> datetime:
    """Returns when to query the rail next: by the requery schedule, but at expiry at the latest."""
    requery_at = next_requery_at(context.now, context.now.timestamp() - sent_at)
    return requery_at if context.now >= payment.expires_at else min(requery_at, payment.expires_at)


def count_wrong_otp(
    row: Transaction, payment: Payment, job: Job, context: Context, rows: LoadedRows
) -> Decision | NeedsMore:
    """Counts a wrong OTP. The third one fails the payment. Contract: payment#validate"""
    tried = msgspec.structs.replace(payment, tries=payment.tries + 1, stage=payer_stage(payment))
    if tried.tries >= MAX_OTP_ATTEMPTS:
        decision = end_payment(row, tried, job, OTP_EXHAUSTED_OUTCOME, context, rows)
        if isinstance(decision, Decision):
            decision.reply = OTP_EXHAUSTED
        return decision
    open_row = msgspec.structs.replace(row, trail=extend_trail(row.trail, context.now, "wrong code"))
    return Decision(reply=WRONG_OTP, rows=(open_row, tried), jobs=(schedule_payer_wait(job, tried, context),))


def revert_step(
    row: Transaction, payment: Payment, job: Job, context: Context, rows: LoadedRows
) -> Decision | NeedsMore:
    """Returns a payment to the stage before a step that the rail refused without effect.

    The card or OTP is no longer in memory, so only the merchant can repeat the step. A payment whose first step was
    refused fails, and the request may be sent again, also under the same Idempotency-Key.
    Contract: payment#rail-away
    """
    if job.kind == OPEN or not payment.auth:
        decision = end_payment(row, payment, job, RAIL_UNAVAILABLE_OUTCOME, context, rows)
        if isinstance(decision, Decision):
            decision.reply = RAIL_UNAVAILABLE
        return decision
    reverted = msgspec.structs.replace(payment, stage=INITIATED if job.kind == CHARGE else payer_stage(payment))
    open_row = msgspec.structs.replace(row, trail=extend_trail(row.trail, context.now, "rail away"))
    return Decision(
        reply=RAIL_UNAVAILABLE, rows=(open_row, reverted), jobs=(schedule_payer_wait(job, reverted, context),)
    )


# --- not known yet ----------------------------------------------------------------------------------------------------


def schedule_retry(
    row: Transaction, payment: Payment, job: Job, answer: Answer, context: Context, rows: LoadedRows
) -> Decision | NeedsMore:
    """Schedules the next query of the outcome, or sends a step again that the rail refused without effect.

    Ends the payment if it has expired and was certainly not paid.
    """
    is_sent = job.kind == CHARGE and answer.status != orders.UNAVAILABLE
    work = count_from_sending(JOB_DATA_DECODER.decode(job.work), is_sent, context.now)
    age = context.now.timestamp() - work.sent_at
    payment_after = msgspec.structs.replace(payment, stage=stage_while_unknown(payment, work, answer))
    if work.method == "token" and final_status(answer, age) == FAILED:
        return end_payment(row, payment, job, PaymentOutcome(FAILED, answer.code, answer.message), context, rows)
    is_abandoned = FACTS_DECODER.decode(payment.facts).is_abandoned
    if (is_abandoned or context.now >= payment.expires_at) and is_certainly_unpaid(payment_after, job, answer):
        outcome = ABANDONED_OUTCOME if is_abandoned else EXPIRED_OUTCOME
        return end_payment(row, payment, job, outcome, context, rows)
    open_row, again = requery.schedule_requery(row, job, answer, context, age, JOB_KINDS)
    if work.method != "token":
        # A saved card's charge has no payer, so it does not expire.
        again.due = next_query_time(payment, work.sent_at, context)
    # The rail finds the payment by its session, which a card opened and charged in one step learns from this answer.
    again.work = encode_text(hand_back_facts(work, payment))
    added = effects_of_purpose(open_row, DETAIL_DECODER.decode(payment.detail).purpose, context, rows)
    if isinstance(added, NeedsMore):
        return added
    code = UNREADABLE_ANSWER if answer.status == orders.UNREADABLE else 200
    reply = added.reply or reply_payment(open_row, payment_after, context, code)
    return Decision(reply=reply, rows=(open_row, payment_after), jobs=(again,))


def stage_while_unknown(payment: Payment, work: PaymentJobData, answer: Answer) -> str:
    """Returns the stage of a payment whose last step has no final answer.

    The payer is awaited only if the rail is known to have asked and the payer has not acted. Once the payer's answer
    was sent it may have been accepted, so the payer is not asked again.
    """
    if payment.method not in PAYER_APPROVED_METHODS and payment.auth not in PAYER_ACTS_ELSEWHERE:
        return OUTCOME_UNKNOWN
    is_begun = work.last_step == CHARGE and is_known_to_rail(answer)
    return AWAITING_PAYER if payment.stage == AWAITING_PAYER or is_begun else OUTCOME_UNKNOWN


def is_known_to_rail(answer: Answer) -> bool:
    """Whether the answer shows that the rail has the payment, and still waits for its payer."""
    return answer.status in (orders.UNKNOWN, orders.PROCESSING) and answer.code is not None


def is_certainly_unpaid(payment: Payment, job: Job, answer: Answer) -> bool:
    """Whether the rail's answer proves that an expired payment was not paid.

    It does if the rail never saw the step, refused to begin it, or still waits for the payer. A payment without an
    answer may have been paid.
    """
    if answer.status == orders.NOT_FOUND:
        return payment.method != "token"
    if answer.status == orders.UNAVAILABLE:
        return job.kind == CHARGE and payment.method in PAYER_APPROVED_METHODS
    return answer.status == orders.CHALLENGE or (payment.stage == AWAITING_PAYER and is_known_to_rail(answer))
