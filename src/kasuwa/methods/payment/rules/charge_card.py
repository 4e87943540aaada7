"""Card payments (initiate, charge, validate) and charges of a saved card.

    initiate   opens a session at the rail. The reply says which authentication it asks for: PIN, OTP or 3-D Secure
    charge     sends the same body with that authentication. PIN completes the payment, the others ask the payer
    validate   sends the payer's OTP to the rail. Allowed straight after initiate too

Contract: payment#initiate, payment#charge, payment#token, payment#validate
"""

from base64 import b64encode

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST, NOT_VALIDATED
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    Refusal,
    Row,
    refuse_fields,
    replace_faults,
)
from kasuwa.core.references import job_key
from kasuwa.core.scenario import NO_SCENARIO, InjectedFault, Scenario, take_call_scenario
from kasuwa.methods.payment.model import (
    AWAITING_3DS,
    AWAITING_OTP,
    AWAITING_PAYER,
    CARD_SUMMARY_DECODER,
    CHARGE,
    CHARGING,
    DETAIL_DECODER,
    EXPIRED,
    INITIATED,
    JOB_DATA_DECODER,
    KIND,
    OPEN,
    OTP_ATTEMPTS_EXHAUSTED,
    OUTCOME_UNKNOWN,
    RAIL_CALL_STAGES,
    RAIL_ROUTES,
    UNKNOWN_REFERENCE,
    VALIDATE,
    VALIDATING,
    Payment,
    PaymentJobData,
    SavedCard,
    find_chargeable_card,
    payment_key,
    saved_card_key,
)
from kasuwa.methods.payment.rules import check_request, hosted_card
from kasuwa.methods.payment.rules.amend_charge import amend_payment
from kasuwa.methods.payment.rules.begin import (
    PaymentOrder,
    begin_payment,
    make_page_token,
    read_card_test_outcomes,
    requeue_for_rail,
)
from kasuwa.methods.payment.rules.dry_run import preview_charge, preview_code, preview_order, preview_unchanged
from kasuwa.methods.payment.rules.replies import reply_payment, reply_validated
from kasuwa.methods.payment.wire import ChargeCard, ChargeToken, InitiateCard, ValidateRequest
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.rails.sandbox.magic import DEFAULT_OUTCOME, SandboxOutcome, choose_proof
from kasuwa.terms.tariff import Tariff
from kasuwa.transactions.pricing import choose_bearer
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction, extend_trail, transaction_key

# Methods whose payer approves or declines on a hosted page. Pages of other methods only show how to pay.
PAGE_APPROVED_METHODS = frozenset({"card", "mobile_money"})

# Number of wrong OTPs that fails a payment. Contract: payment#validate
MAX_OTP_ATTEMPTS = 3


VALIDATION_NOT_AWAITED = Refusal(
    INVALID_REQUEST, "This payment awaits no validation", error_code="validation_not_awaited"
)
PAYMENT_FAILED = Refusal(
    INVALID_REQUEST, "This payment has failed ({message}) and awaits no validation", error_code="payment_failed"
)
OTP_ATTEMPTS_OVER = Refusal(
    NOT_VALIDATED, "The OTP was wrong three times; the payment has failed", error_code="otp_attempts_over"
)
PAYMENT_EXPIRED = Refusal(
    INVALID_REQUEST,
    "The time for this payment is over and it has failed; begin a new payment",
    error_code="payment_expired",
)


# --- initiate -------------------------------------------------------------------------------------------------------


def need_initiate(request: InitiateCard, merchant: Merchant) -> Needs:
    return check_request.need_split(request, merchant)


def decide_initiate(request: InitiateCard, context: Context, rows: LoadedRows) -> Decision[PaymentReply] | Refusal:
    order = build_card_order(request, context, rows)
    if isinstance(order, Refusal):
        return order
    if request.dry_run:
        return preview_order(order)
    return begin_payment(order, context, CHARGE if order.is_hosted else OPEN)


def build_card_order(request: InitiateCard, context: Context, rows: LoadedRows) -> PaymentOrder | Refusal:
    faults = hosted_card.card_presence_faults(request, context)
    if request.card is None:
        return hosted_card.build_hosted_order(request, context, rows, faults)
    country, currency = check_request.country_and_currency(request)
    card, today = request.card, lagos_day(context.now)
    faults += check_request.expiry_faults(card.expiry_month, card.expiry_year, today, context.merchant, card.card_no)
    faults += check_request.card_money_faults(country, currency)
    faults += check_request.recurrent_faults(request)
    faults += check_request.schedule_conflict_faults(request.recurrent is not None, request.installment is not None)
    amount_now = check_request.amount_to_charge(request, currency, context)
    if isinstance(amount_now, list):
        return refuse_fields(*faults, *amount_now)
    amount, installments = amount_now
    summary = check_request.summarize_card(context, request.card)
    bearer = choose_bearer(context.merchant.terms(Tariff), request.bearer)
    price = check_request.price_request(
        bearer, context.merchant, check_request.card_fee_class(summary), currency, amount
    )
    charges = check_request.CardCharges(summary, bearer, currency, price, installments)
    parts = check_request.read_split_parts(request)
    faults += check_request.card_split_faults(parts, charges, context, rows)
    if faults:
        return refuse_fields(*faults)
    detail = msgspec.structs.replace(
        check_request.make_payment_detail(request, context),
        card=summary,
        page_token=make_page_token(context),
        recurrent=check_request.read_recurrent_terms(request),
        installments=check_request.price_installments(charges, context.merchant),
    )
    return PaymentOrder(
        method="card",
        currency=currency,
        price=price,
        detail=detail,
        customer_txnref=request.customer_txnref or "",
        card_secrets=check_request.read_card_secrets(request.card),
    )


# --- charge -------------------------------------------------------------------------------------------------------


def need_payment(txn_ref: str, merchant: Merchant) -> Needs:
    key = transaction_key(merchant.merchant_id, KIND, txn_ref)
    rows: tuple[tuple[type[Row], bytes], ...]
    rows = ((Transaction, key), (Payment, payment_key(merchant.merchant_id, txn_ref)), (Job, job_key(key)))
    return Needs(rows)


def need_charge(request: ChargeCard, merchant: Merchant) -> Needs:
    return Needs((*need_payment(request.txn_ref, merchant).rows, *check_request.need_split(request, merchant).rows))


def decide_charge(request: ChargeCard, context: Context, loaded_rows: LoadedRows) -> Decision[PaymentReply] | Refusal:
    row, payment, job = find_payment(request.txn_ref, context.merchant, loaded_rows)
    if row is None or payment is None or payment.method != "card":
        return UNKNOWN_REFERENCE
    if DETAIL_DECODER.decode(payment.detail).vendor:
        return hosted_card.repeat_step(request, row, payment, context)
    if request.card is None:
        return refuse_fields(hosted_card.CARD_REQUIRED)
    terms = amend_payment(request, row, payment, context, loaded_rows)
    faults = charge_faults(request, row, payment, context)
    if isinstance(terms, list) or faults:
        return refuse_fields(*faults, *(terms if isinstance(terms, list) else ()))
    if row.is_final or payment.stage != INITIATED:
        # A repeated charge gets the payer's step while that is awaited, and the result after the end.
        # Contract: payment#charge-repeat
        repeated = Decision(reply=reply_payment(row, payment, context), in_progress=payment.stage in RAIL_CALL_STAGES)
        return preview_unchanged(repeated) if request.dry_run else repeated
    assert job is not None
    row, amended = terms
    if request.dry_run:
        return preview_charge(row, amended)
    work = msgspec.structs.replace(JOB_DATA_DECODER.decode(job.work), amount=amended.charged)
    scenario, faults_left = next_call_scenario(context, work, "charge")
    assert request.card is not None
    secrets = check_request.read_card_secrets(request.card)
    job_data = renew_job_data(work, payment, context, scenario, read_card_test_outcomes(secrets, context.merchant))
    rows = advance_stage(row, amended, CHARGING, context, "charged")
    job = requeue_for_rail(job, CHARGE, job_data, context)
    reply = reply_payment(*rows, context)
    return Decision(
        reply=reply, rows=rows, jobs=(job,), follow_up=job, secrets=secrets, sandbox=replace_faults(faults_left)
    )


def charge_faults(request: ChargeCard, row: Transaction, payment: Payment, context: Context) -> list[FieldError]:
    """Returns an error for each field that differs from initiate. Contract: payment#charge-mismatch"""
    faults = []
    card, detail = request.card, DETAIL_DECODER.decode(payment.detail)
    assert card is not None
    if payment.auth and request.auth_type not in (None, payment.auth):
        faults.append(FieldError("auth_type", f"{payment.auth}, as apply_auth said"))
    if request.amount is not None and request.amount != row.amount:
        faults.append(FieldError("amount", "as it was initiated"))
    if request.currency is not None and request.currency != row.currency:
        faults.append(FieldError("currency", "as it was initiated"))
    given_hash = check_request.card_hash(context, card.card_no, card.expiry_month, card.expiry_year)
    if detail.card is None or given_hash != detail.card.hash:
        faults.append(FieldError("card.card_no", "the card that was initiated"))
    if payment.auth == "PIN" and card.pin is None:
        faults.append(FieldError("card.pin", "required"))
    return faults


def find_payment(
    txn_ref: str, merchant: Merchant, rows: LoadedRows
) -> tuple[Transaction | None, Payment | None, Job | None]:
    """Returns the transaction, payment and job of a reference, each None if absent."""
    key = transaction_key(merchant.merchant_id, KIND, txn_ref)
    payment = rows.get(Payment, payment_key(merchant.merchant_id, txn_ref))
    return rows.get(Transaction, key), payment, rows.get(Job, job_key(key))


def next_call_scenario(
    context: Context, work: PaymentJobData, operation: str
) -> tuple[Scenario, tuple[InjectedFault, ...] | None]:
    """Returns the sandbox scenario of this step's call and the injected faults left (None if unchanged).

    The request's own scenario comes first, then an injected fault, then the scenario of the step before.
    """
    random_number = int.from_bytes(context.entropy[:8], "big")
    scenario, faults_left = take_call_scenario(
        context.scenario, context.injected_faults, RAIL_ROUTES[work.method].fault_rail, operation, random_number
    )
    if scenario == NO_SCENARIO:
        return msgspec.structs.replace(work.scenario, http=None), faults_left
    return scenario, faults_left


def renew_job_data(
    work: PaymentJobData, payment: Payment, context: Context, scenario: Scenario, test_outcomes: SandboxOutcome
) -> PaymentJobData:
    """Returns the job data of a new step: sent now, with its session and scenario."""
    return msgspec.structs.replace(
        work, sent_at=context.now.timestamp(), session=payment.session, test_outcomes=test_outcomes, scenario=scenario
    )


def read_otp_test_outcomes(work: PaymentJobData, otp: str | None, merchant: Merchant) -> SandboxOutcome:
    """Returns the card's test outcomes with the one that a magic OTP selects, the default ones in live."""
    return (
        msgspec.structs.replace(work.test_outcomes, proof=choose_proof(otp))
        if merchant.environment == "test"
        else DEFAULT_OUTCOME
    )


def advance_stage(
    row: Transaction, payment: Payment, stage: str, context: Context, step: str
) -> tuple[Transaction, Payment]:
    """Returns both rows at a new stage, with the step in the trail."""
    trail = extend_trail(row.trail, context.now, step)
    return msgspec.structs.replace(row, trail=trail), msgspec.structs.replace(payment, stage=stage)


# --- validate -------------------------------------------------------------------------------------------------------


def need_validate(request: ValidateRequest, merchant: Merchant) -> Needs:
    return need_payment(request.txn_ref, merchant)


def decide_validate(request: ValidateRequest, context: Context, rows: LoadedRows) -> Decision[PaymentReply] | Refusal:
    submitted = submit_code(request.txn_ref, request.otp, context, rows, awaited_stage=AWAITING_OTP)
    if not request.dry_run or isinstance(submitted, Refusal):
        return submitted
    return preview_code(request.txn_ref) if submitted.follow_up else preview_unchanged(submitted)


class ChallengeAnswer(msgspec.Struct, frozen=True):
    """The payer's answer on a hosted page. `otp` is None if the payer declined, empty if no code is asked for.

    It is not part of the API. Its repr shows no values, so that none reaches a log.
    """

    txn_ref: str
    otp: str | None

    def __repr__(self) -> str:
        return "ChallengeAnswer(…)"


def need_challenge(request: ChallengeAnswer, merchant: Merchant) -> Needs:
    return need_payment(request.txn_ref, merchant)


def answer_challenge(request: ChallengeAnswer, context: Context, rows: LoadedRows) -> Decision | Refusal:
    """Sends the payer's answer on a hosted page to the rail: 3-D Secure, or a mobile-money approval.

    Contract: payment#3ds-page, payment#mobile-money
    """
    _, payment, _ = find_payment(request.txn_ref, context.merchant, rows)
    if payment is not None and payment.method not in PAGE_APPROVED_METHODS:
        return VALIDATION_NOT_AWAITED
    awaited = AWAITING_3DS if payment is not None and payment.method == "card" else AWAITING_PAYER
    return submit_code(request.txn_ref, request.otp, context, rows, awaited_stage=awaited)


def submit_code(
    txn_ref: str, otp: str | None, context: Context, loaded_rows: LoadedRows, *, awaited_stage: str
) -> Decision | Refusal:
    """Sends the payer's OTP to the rail. None means that the payer declined."""
    row, payment, job = find_payment(txn_ref, context.merchant, loaded_rows)
    if row is None or payment is None:
        return UNKNOWN_REFERENCE
    if payment.stage in RAIL_CALL_STAGES:
        return Decision(reply=reply_payment(row, payment, context), in_progress=True)
    if row.is_final:
        return reply_final_outcome(row, payment, context)
    if payment.stage == OUTCOME_UNKNOWN and may_need_code(payment):
        # The outcome of the last step is not known. The rail may have accepted it, so it is not refused here.
        return Decision(reply=reply_payment(row, payment, context))
    after_initiate = payment.stage == INITIATED and payment.auth in ("OTP", "3DSecure")
    if payment.stage != awaited_stage and not (after_initiate and awaited_stage == expected_stage(payment.auth)):
        return VALIDATION_NOT_AWAITED
    if context.now >= payment.expires_at:
        # The job that fails the payment has not run yet.
        return PAYMENT_EXPIRED
    assert job is not None
    work = JOB_DATA_DECODER.decode(job.work)
    scenario, faults_left = next_call_scenario(context, work, "validate")
    test_outcomes = read_otp_test_outcomes(work, otp, context.merchant)
    job = requeue_for_rail(job, VALIDATE, renew_job_data(work, payment, context, scenario, test_outcomes), context)
    rows = advance_stage(row, payment, VALIDATING, context, "validated")
    return Decision(
        reply=reply_payment(*rows, context),
        rows=rows,
        jobs=(job,),
        follow_up=job,
        secrets=PayerCode(otp),
        sandbox=replace_faults(faults_left),
    )


def expected_stage(auth: str) -> str:
    """Returns the stage in which a payment with this authentication awaits its payer."""
    return AWAITING_3DS if auth == "3DSecure" else AWAITING_OTP


def may_need_code(payment: Payment) -> bool:
    """Whether the payment may await an OTP or a page's answer.

    A card whose initiate was lost may: the authentication that its bank asks for is not known yet.
    """
    return payment.method == "account" or (payment.method == "card" and payment.auth in ("", "OTP", "3DSecure"))


def reply_final_outcome(row: Transaction, payment: Payment, context: Context) -> Decision | Refusal:
    """Replies to an OTP for a payment that has ended: with its success, or the reason why it is too late.

    Contract: #repeats, payment#validate
    """
    if row.status == SUCCESSFUL:
        return Decision(reply=reply_validated(reply_payment(row, payment, context)))
    refusals = {EXPIRED: PAYMENT_EXPIRED, OTP_ATTEMPTS_EXHAUSTED: OTP_ATTEMPTS_OVER}
    return refusals.get(row.code or "", PAYMENT_FAILED.fill(message=row.message))


class PayerCode(msgspec.Struct, frozen=True):
    """The payer's OTP on its way to the rail. Held in memory only."""

    otp: str | None

    def __repr__(self) -> str:
        return "PayerCode(…)"


# --- a saved card ---------------------------------------------------------------------------------------------------


def need_token_charge(request: ChargeToken, merchant: Merchant) -> Needs:
    saved = (SavedCard, saved_card_key(merchant.merchant_id, request.token))
    return Needs((saved, *check_request.need_split(request, merchant).rows))


def decide_token_charge(request: ChargeToken, context: Context, rows: LoadedRows) -> Decision[PaymentReply] | Refusal:
    order = build_token_order(request, context, rows)
    if isinstance(order, Refusal):
        return order
    return preview_order(order) if request.dry_run else begin_payment(order, context, CHARGE)


def build_token_order(request: ChargeToken, context: Context, rows: LoadedRows) -> PaymentOrder | Refusal:
    country, currency = check_request.country_and_currency(request)
    saved = find_chargeable_card(context.merchant.merchant_id, request.token, rows)
    faults = [] if saved is not None else [FieldError("token", "no saved card has this token")]
    faults += check_request.card_money_faults(country, currency)
    faults += check_request.unsupported_schedule_faults(request, installments=True)
    amount_now = check_request.amount_to_charge(request, currency, context)
    if isinstance(amount_now, list):
        faults += amount_now
    if faults or saved is None or isinstance(amount_now, list):
        return refuse_fields(*faults)
    amount, installments = amount_now
    summary = CARD_SUMMARY_DECODER.decode(saved.detail)
    bearer = choose_bearer(context.merchant.terms(Tariff), request.bearer)
    price = check_request.price_request(
        bearer, context.merchant, check_request.card_fee_class(summary), currency, amount
    )
    charges = check_request.CardCharges(summary, bearer, currency, price, installments)
    parts = check_request.read_split_parts(request)
    faults = check_request.card_split_faults(parts, charges, context, rows)
    faults += check_request.saved_card_faults(summary, currency, price.charged, context)
    if faults:
        return refuse_fields(*faults)
    detail = msgspec.structs.replace(
        check_request.make_payment_detail(request, context),
        card=summary,
        installments=check_request.price_installments(charges, context.merchant),
    )
    return PaymentOrder(
        method="token",
        currency=currency,
        price=price,
        detail=detail,
        customer_txnref=request.customer_txnref or "",
        saved_card=saved,
        sealed_card=b64encode(saved.sealed).decode(),
    )
