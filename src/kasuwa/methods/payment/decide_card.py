"""The rules of card payments: initiate, charge, validate; and charging a saved card. (D15, D16)

initiate   a session is opened at the rail; what it wants (PIN, OTP, 3-D Secure) is the answer
charge     the same body again, with that; PIN goes on to completion, OTP and 3-D Secure ask the payer
validate   the payer's OTP; also straight after initiate
"""

from base64 import b64encode

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST, NOT_VALIDATED
from kasuwa.core.decision import Context, Decision, Fault, Job, Merchant, Needs, Refusal, Row, Seen, refuse_fields
from kasuwa.core.magic import NOTHING_TOLD, Told, proof_of
from kasuwa.core.pricing import bearer_of
from kasuwa.core.references import job_key
from kasuwa.core.scenario import NO_SCENARIO, PlannedFault, Scenario, plan_call
from kasuwa.core.secrets import derive
from kasuwa.core.transactions import SUCCESSFUL, Transaction, extend_trail, transaction_key
from kasuwa.methods.payment import decide_ask as ask_rules
from kasuwa.methods.payment.decide import (
    ASKING,
    AT_THE_RAIL,
    AWAITING_3DS,
    AWAITING_OTP,
    AWAITING_PAYER,
    CHANNELS,
    CHARGE,
    CHARGING,
    DETAIL,
    EXPIRED,
    INITIATED,
    KIND,
    OPEN,
    SAVED,
    TRIES_USED_UP,
    UNKNOWN_REFERENCE,
    VALIDATE,
    VALIDATING,
    WORK,
    Ask,
    Payment,
    SavedCard,
    Work,
    at_the_rail,
    begin,
    find_saved,
    payment_key,
    saved_card_key,
    told_by_secrets,
)
from kasuwa.methods.payment.decide_reply import reply_completed, reply_payment, reply_validated
from kasuwa.methods.payment.decide_terms import add_terms
from kasuwa.methods.payment.wire import ChargeCard, ChargeToken, InitiateCard, ValidateRequest

# Other pages only show something: whoever pays, pays elsewhere.
ANSWERED_ON_PAGES = frozenset({"card", "mobile_money"})

# Three codes and no more. Spec silent: D16
MOST_TRIES = 3

# 192 bits.
PAGE_TOKEN_DIGITS = 48

NOT_AWAITED = Refusal(INVALID_REQUEST, "This payment awaits no validation")
TRIES_ARE_OVER = Refusal(NOT_VALIDATED, "The OTP was wrong three times; the payment has failed")
TIME_IS_OVER = Refusal(INVALID_REQUEST, "The time for this payment is over and it has failed; begin a new payment")


def page_token(context: Context) -> str:
    """What a payer's page is found by: nobody guesses it."""
    return derive(context.entropy, "page").hex()[:PAGE_TOKEN_DIGITS]


# --- initiate -------------------------------------------------------------------------------------------------------


def need_initiate(request: InitiateCard, merchant: Merchant) -> Needs:
    return ask_rules.need_split(request, merchant)


def decide_initiate(request: InitiateCard, context: Context, seen: Seen) -> Decision | Refusal:
    ask = ask_card(request, context, seen)
    return ask if isinstance(ask, Refusal) else begin(ask, context, OPEN)


def ask_card(request: InitiateCard, context: Context, seen: Seen) -> Ask | Refusal:
    country, currency = ask_rules.money_of(request)
    card, today = request.card, lagos_day(context.now)
    faults = ask_rules.expiry_faults(card.expiry_month, card.expiry_year, today, context.merchant, card.card_no)
    faults += ask_rules.card_money_faults(country, currency)
    faults += ask_rules.recurrent_faults(request)
    faults += ask_rules.both_plans_faults(request.recurrent is not None, request.installment is not None)
    now = ask_rules.amount_now(request, currency, context)
    if isinstance(now, list):
        return refuse_fields(*faults, *now)
    amount, instalments = now
    facts = ask_rules.card_facts(context, request.card)
    bearer = bearer_of(context.merchant.tariff, request.bearer)
    price = ask_rules.price_of(bearer, context.merchant, ask_rules.class_of_card(facts), currency, amount)
    parts = ask_rules.parts_of(request)
    faults += ask_rules.card_split_faults(parts, bearer, facts, currency, price, instalments, context, seen)
    if faults:
        return refuse_fields(*faults)
    detail = msgspec.structs.replace(
        ask_rules.detail_of(request, context),
        card=facts,
        page=page_token(context),
        recurrent=ask_rules.wish_of(request),
        instalments=instalments,
    )
    return Ask(
        method="card",
        currency=currency,
        price=price,
        detail=detail,
        customer_txnref=request.customer_txnref or "",
        card=ask_rules.secrets_of(request.card),
    )


# --- charge -------------------------------------------------------------------------------------------------------


def need_payment(txn_ref: str, merchant: Merchant) -> Needs:
    key = transaction_key(merchant.merchant_id, KIND, txn_ref)
    rows: tuple[tuple[type[Row], bytes], ...]
    rows = ((Transaction, key), (Payment, payment_key(merchant.merchant_id, txn_ref)), (Job, job_key(key)))
    return Needs(rows)


def need_charge(request: ChargeCard, merchant: Merchant) -> Needs:
    return Needs((*need_payment(request.txn_ref, merchant).rows, *ask_rules.need_split(request, merchant).rows))


def decide_charge(request: ChargeCard, context: Context, seen: Seen) -> Decision | Refusal:
    row, payment, job = see_payment(request.txn_ref, context.merchant, seen)
    if row is None or payment is None or payment.method != "card":
        return UNKNOWN_REFERENCE
    terms = add_terms(request, row, payment, context, seen)
    faults = charge_faults(request, row, payment, context)
    if isinstance(terms, list) or faults:
        return refuse_fields(*faults, *(terms if isinstance(terms, list) else ()))
    if row.is_final or payment.stage != INITIATED:
        # Repeated while the payer is awaited, the same step; after the end, the result. Spec silent: D15
        return Decision(reply=reply_payment(row, payment, context.public_url), wait=payment.stage in AT_THE_RAIL)
    assert job is not None
    row, amended = terms
    work = msgspec.structs.replace(WORK.decode(job.work), amount=amended.charged)
    scenario, faults_left = scenario_now(context, work)
    secrets = ask_rules.secrets_of(request.card)
    sent = work_of(work, payment, context, scenario, told_by_secrets(secrets, context.merchant))
    rows = moved(row, amended, CHARGING, context, "charged")
    job = at_the_rail(job, CHARGE, sent, context)
    reply = reply_payment(*rows, context.public_url)
    return Decision(reply=reply, rows=rows, jobs=(job,), then=job, beside=secrets, faults=faults_left)


def charge_faults(request: ChargeCard, row: Transaction, payment: Payment, context: Context) -> list[Fault]:
    """What differs from the first step. Spec silent: D15"""
    faults = []
    card, detail = request.card, DETAIL.decode(payment.detail)
    if payment.auth and request.auth_type not in (None, payment.auth):
        faults.append(Fault("auth_type", f"{payment.auth}, as apply_auth said"))
    if request.amount is not None and request.amount != row.amount:
        faults.append(Fault("amount", "as it was initiated"))
    if request.currency is not None and request.currency != row.currency:
        faults.append(Fault("currency", "as it was initiated"))
    said = ask_rules.card_hash(context, card.card_no, card.expiry_month, card.expiry_year)
    if detail.card is None or said != detail.card.hash:
        faults.append(Fault("card.card_no", "the card that was initiated"))
    if payment.auth == "PIN" and card.pin is None:
        faults.append(Fault("card.pin", "required"))
    return faults


def see_payment(txn_ref: str, merchant: Merchant, seen: Seen) -> tuple[Transaction | None, Payment | None, Job | None]:
    key = transaction_key(merchant.merchant_id, KIND, txn_ref)
    payment = seen.get(Payment, payment_key(merchant.merchant_id, txn_ref))
    return seen.get(Transaction, key), payment, seen.get(Job, job_key(key))


def scenario_now(context: Context, work: Work) -> tuple[Scenario, tuple[PlannedFault, ...] | None]:
    """How this step's call goes: as this request says, else a planned fault, else as the earlier step said."""
    luck = int.from_bytes(context.entropy[:8], "big")
    planned, left = plan_call(context.scenario, context.faults, CHANNELS[work.method].fault, luck)
    if planned == NO_SCENARIO:
        return msgspec.structs.replace(work.scenario, http=None), left
    return planned, left


def work_of(work: Work, payment: Payment, context: Context, scenario: Scenario, told: Told) -> Work:
    return msgspec.structs.replace(
        work, sent_at=context.now.timestamp(), session=payment.session, told=told, scenario=scenario
    )


def told_by_code(work: Work, otp: str | None, merchant: Merchant) -> Told:
    """What the payer's code tells the test environment, beside what the card told; in live, nothing."""
    return msgspec.structs.replace(work.told, proof=proof_of(otp)) if merchant.environment == "test" else NOTHING_TOLD


def moved(row: Transaction, payment: Payment, stage: str, context: Context, step: str) -> tuple[Transaction, Payment]:
    trail = extend_trail(row.trail, context.now, step)
    return msgspec.structs.replace(row, trail=trail), msgspec.structs.replace(payment, stage=stage)


# --- validate -------------------------------------------------------------------------------------------------------


def need_validate(request: ValidateRequest, merchant: Merchant) -> Needs:
    return need_payment(request.txn_ref, merchant)


def decide_validate(request: ValidateRequest, context: Context, seen: Seen) -> Decision | Refusal:
    return bring_code(request.txn_ref, request.otp, context, seen, awaited=AWAITING_OTP)


class AnswerChallenge(msgspec.Struct, frozen=True):
    """What a payer does on a page of ours: approve, with a code where one is asked for, or decline (None). It is on no
    wire of the API, and says nothing of itself in a trace."""

    txn_ref: str
    otp: str | None

    def __repr__(self) -> str:
        return "AnswerChallenge(…)"


def need_challenge(request: AnswerChallenge, merchant: Merchant) -> Needs:
    return need_payment(request.txn_ref, merchant)


def answer_challenge(request: AnswerChallenge, context: Context, seen: Seen) -> Decision | Refusal:
    """The payer has answered on a page: 3-D Secure, or a wallet's hand-off. Spec silent: D15, D24"""
    _, payment, _ = see_payment(request.txn_ref, context.merchant, seen)
    if payment is not None and payment.method not in ANSWERED_ON_PAGES:
        return NOT_AWAITED
    awaited = AWAITING_3DS if payment is not None and payment.method == "card" else AWAITING_PAYER
    return bring_code(request.txn_ref, request.otp, context, seen, awaited=awaited)


def bring_code(txn_ref: str, otp: str | None, context: Context, seen: Seen, *, awaited: str) -> Decision | Refusal:
    """The payer's code goes to the rail; None says that the payer declined."""
    row, payment, job = see_payment(txn_ref, context.merchant, seen)
    if row is None or payment is None:
        return UNKNOWN_REFERENCE
    if payment.stage in AT_THE_RAIL:
        return Decision(reply=reply_payment(row, payment, context.public_url), wait=True)
    if row.is_final:
        return tell_outcome(row, payment)
    if payment.stage == ASKING and asks_for_code(payment):
        # What became of the last step is not known yet: it may have been taken, and no answer may deny it.
        return Decision(reply=reply_payment(row, payment, context.public_url))
    straight = payment.stage == INITIATED and payment.auth in ("OTP", "3DSecure")
    if payment.stage != awaited and not (straight and awaited == expected_stage(payment.auth)):
        return NOT_AWAITED
    if context.now >= payment.expires_at:
        # Whoever ends it is a moment late.
        return TIME_IS_OVER
    assert job is not None
    work = WORK.decode(job.work)
    scenario, faults_left = scenario_now(context, work)
    told = told_by_code(work, otp, context.merchant)
    job = at_the_rail(job, VALIDATE, work_of(work, payment, context, scenario, told), context)
    rows = moved(row, payment, VALIDATING, context, "validated")
    return Decision(
        reply=reply_payment(*rows, context.public_url),
        rows=rows,
        jobs=(job,),
        then=job,
        beside=Code(otp),
        faults=faults_left,
    )


def expected_stage(auth: str) -> str:
    return AWAITING_3DS if auth == "3DSecure" else AWAITING_OTP


def asks_for_code(payment: Payment) -> bool:
    """A card whose initiate was lost may: which authentication its bank wants is not known yet."""
    return payment.method == "account" or (payment.method == "card" and payment.auth in ("", "OTP", "3DSecure"))


def tell_outcome(row: Transaction, payment: Payment) -> Decision | Refusal:
    """What a code is answered after the end: the outcome of a successful payment, else why it is too late. Spec silent:
    D7, D16"""
    if row.status == SUCCESSFUL:
        return Decision(reply=reply_validated(reply_completed(row, payment)))
    late = {EXPIRED: TIME_IS_OVER, TRIES_USED_UP: TRIES_ARE_OVER}
    failed = Refusal(INVALID_REQUEST, f"This payment has failed ({row.message}) and awaits no validation")
    return late.get(row.code or "", failed)


class Code(msgspec.Struct, frozen=True):
    """The payer's code on its way to the rail, in memory alone."""

    otp: str | None

    def __repr__(self) -> str:
        return "Code(…)"


# --- a saved card ---------------------------------------------------------------------------------------------------


def need_token(request: ChargeToken, merchant: Merchant) -> Needs:
    saved = (SavedCard, saved_card_key(merchant.merchant_id, request.token))
    return Needs((saved, *ask_rules.need_split(request, merchant).rows))


def decide_token(request: ChargeToken, context: Context, seen: Seen) -> Decision | Refusal:
    ask = ask_token(request, context, seen)
    return ask if isinstance(ask, Refusal) else begin(ask, context, CHARGE)


def ask_token(request: ChargeToken, context: Context, seen: Seen) -> Ask | Refusal:
    country, currency = ask_rules.money_of(request)
    saved = find_saved(context.merchant.merchant_id, request.token, seen)
    faults = [] if saved is not None else [Fault("token", "no saved card has this token")]
    faults += ask_rules.card_money_faults(country, currency)
    faults += ask_rules.schedule_faults(request, installments=True)
    now = ask_rules.amount_now(request, currency, context)
    if isinstance(now, list):
        faults += now
    if faults or saved is None or isinstance(now, list):
        return refuse_fields(*faults)
    amount, instalments = now
    facts = SAVED.decode(saved.detail)
    bearer = bearer_of(context.merchant.tariff, request.bearer)
    price = ask_rules.price_of(bearer, context.merchant, ask_rules.class_of_card(facts), currency, amount)
    parts = ask_rules.parts_of(request)
    faults = ask_rules.card_split_faults(parts, bearer, facts, currency, price, instalments, context, seen)
    if faults:
        return refuse_fields(*faults)
    detail = msgspec.structs.replace(ask_rules.detail_of(request, context), card=facts, instalments=instalments)
    return Ask(
        method="token",
        currency=currency,
        price=price,
        detail=detail,
        customer_txnref=request.customer_txnref or "",
        saved=saved,
        sealed_saved=b64encode(saved.sealed).decode(),
    )
