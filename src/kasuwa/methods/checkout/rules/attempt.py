"""Attempts to pay a checkout: each is an ordinary payment. A new one begins only after the one before has ended.

    begin     a payment by the chosen channel, whose purpose is the checkout
    charge    the second step of a card, after its bank has named the authentication
    confirm   the payer's code
    abandon   ends an attempt that waits for its payer. One whose payer acts elsewhere (a code to dial, an account to
              transfer into, a vendor's page) ends only if its rail says that it is not paid. Money that arrives later
              is booked and returned as for any payment that has failed (receipts/late_money.py, inbound_transfer.py)

Contract: payment#checkout-attempts
"""

from datetime import date

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    Effects,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key, job_key
from kasuwa.methods.checkout.payer_model import (
    AbandonAttempt,
    BeginAttempt,
    ChargeAttempt,
    ConfirmAttempt,
    EnteredCard,
    PayerRequest,
)
from kasuwa.methods.checkout.rules.open_checkout import find_attempt
from kasuwa.methods.checkout.rules.served_channels import served_channels
from kasuwa.methods.payment.model import (
    AWAITING_3DS,
    AWAITING_OTP,
    AWAITING_PAYER,
    CHARGE,
    FACTS_DECODER,
    INITIATED,
    JOB_DATA_DECODER,
    KIND,
    QUERY,
    RAIL_CALL_STAGES,
    InstallmentTerms,
    Payment,
    SavedCard,
    payment_key,
    saved_card_key,
)
from kasuwa.methods.payment.model import OPEN as OPEN_SESSION
from kasuwa.methods.payment.rules.begin import PaymentOrder, begin_payment
from kasuwa.methods.payment.rules.channels import MOBILE_MONEY_PROVIDERS
from kasuwa.methods.payment.rules.charge_card import decide_charge, need_payment, submit_code
from kasuwa.methods.payment.rules.check_request import need_split, read_installment_terms
from kasuwa.methods.payment.rules.collect import PAYMENT_CHANNELS
from kasuwa.methods.payment.rules.finish import end_payment, finish_accounts
from kasuwa.methods.payment.rules.on_rail_answer import ABANDONED_OUTCOME
from kasuwa.methods.payment.wire import Account, Card, ChargeCard, Installment, Part, PaymentFields, Recurrent, User
from kasuwa.terms.vendors import CollectionVendors
from kasuwa.transactions.checkouts import (
    DETAIL_DECODER,
    OPEN,
    Checkout,
    CheckoutDetail,
    checkout_key,
    checkout_url,
    find_source,
    read_checkout_detail,
    seal_checkout_detail,
)
from kasuwa.transactions.purpose import CHECKOUT, TransactionPurpose
from kasuwa.transactions.schedule import read_day
from kasuwa.transactions.transactions import Transaction, encode_text, transaction_key
from kasuwa.wire.fields import Amount, CardNumber, Currency, PercentOrAmount

# Attempts of one checkout: enough for a payer who looks for the right card, too few to try out many.
# Contract: payment#checkout-attempts
MAX_ATTEMPTS = 10

UNKNOWN_CHECKOUT = Refusal(INVALID_REQUEST, "This payment does not exist", error_code="checkout_not_found")
CHECKOUT_ENDED = Refusal(INVALID_REQUEST, "This payment has ended", error_code="checkout_ended")
CHECKOUT_EXPIRED = Refusal(
    INVALID_REQUEST, "The time for this payment is over. Nothing was charged", error_code="checkout_expired"
)
TOO_MANY_ATTEMPTS = Refusal(
    INVALID_REQUEST,
    "Too many attempts were made. Please ask the merchant for a new payment",
    error_code="too_many_payment_attempts",
)
OTHER_ATTEMPT = Refusal(
    INVALID_REQUEST,
    "Another attempt to pay is in progress, perhaps in another window. Nothing was charged now",
    error_code="attempt_in_progress",
)
STALE_FORM = Refusal(
    INVALID_REQUEST, "This page was out of date. Nothing was charged; please try again", error_code="page_out_of_date"
)
NOT_OFFERED = refuse_fields(FieldError("channel", "one that the page offers", "channel_not_offered"))
STILL_CONFIRMING = Refusal(
    INVALID_REQUEST,
    "We are still confirming this attempt with the bank. Please wait a moment",
    error_code="attempt_being_confirmed",
)

# The payer sees the new total and sends the form again.
TOTAL_CHANGED = "With this card the total is {} {}. Nothing was charged yet: please confirm"

# Stages in which the payer's code must come to us: such an attempt cannot succeed once it was ended here.
ENDABLE_STAGES = frozenset({INITIATED, AWAITING_OTP, AWAITING_3DS})


def need_checkout_row(request: PayerRequest, merchant: Merchant) -> Needs:
    return Needs(((Checkout, checkout_key(merchant.merchant_id, request.reference)),))


def find_checkout(request: PayerRequest, context: Context, rows: LoadedRows) -> Checkout | None:
    return rows.get(Checkout, checkout_key(context.merchant.merchant_id, request.reference))


# --- begin ------------------------------------------------------------------------------------------------------


def decide_begin(request: BeginAttempt, context: Context, rows: LoadedRows) -> Decision | Refusal | NeedsMore:
    checkout = find_checkout(request, context, rows)
    if checkout is None:
        return UNKNOWN_CHECKOUT
    refused = check_begin(request, checkout, context, rows)
    if refused is not None:
        return refused
    known = read_checkout_detail(checkout, context.vault.unseal)
    detail = name_payer(known, request)
    order = build_attempt_order(request, checkout, detail, context, rows)
    if not isinstance(order, PaymentOrder):
        return order
    if order.price.charged != request.shown_total:
        return refuse_total(order.price.charged, checkout.currency)
    added = ask_source(checkout, context, rows)
    if not isinstance(added, Effects):
        return added
    is_session = request.channel == "card" and not order.is_hosted
    decision = begin_payment(order, context, OPEN_SESSION if is_session else CHARGE)
    open_checkout = msgspec.structs.replace(
        checkout, attempt_ref=decision.reply.txn_ref, attempts=checkout.attempts + 1
    )
    if detail != known:
        stored, payer_sealed = seal_checkout_detail(detail, checkout.txn_ref, context)
        open_checkout = msgspec.structs.replace(open_checkout, detail=stored, payer_sealed=payer_sealed)
    decision.rows += (open_checkout,)
    decision.add(added)
    return decision


def refuse_total(total: int, currency: str) -> Refusal:
    """Refuses an attempt that would charge another total than the page showed."""
    refusal = refuse_fields(FieldError("total", TOTAL_CHANGED.format(currency, format_minor(total))))
    return msgspec.structs.replace(refusal, total=total)


def check_begin(
    request: BeginAttempt, checkout: Checkout, context: Context, rows: LoadedRows
) -> Decision | Refusal | NeedsMore | None:
    """Returns why no attempt can begin, the attempt that the same form has begun, or None."""
    attempt = find_attempt(checkout, rows)
    if isinstance(attempt, NeedsMore):
        return attempt
    if request.number == checkout.attempts and attempt is not None:
        # The same form again: it waits for the answer to the first.
        return Decision(in_progress=attempt[1].stage in RAIL_CALL_STAGES)
    if checkout.state != OPEN:
        return CHECKOUT_ENDED
    if context.now >= checkout.expires_at:
        return CHECKOUT_EXPIRED
    if attempt is not None and not attempt[0].is_final:
        return OTHER_ATTEMPT
    if request.number != checkout.attempts + 1:
        return STALE_FORM
    if checkout.attempts >= MAX_ATTEMPTS:
        return TOO_MANY_ATTEMPTS
    merchant = context.merchant
    offered = DETAIL_DECODER.decode(checkout.detail).channels
    served = served_channels(offered, checkout.currency, context.terms(CollectionVendors), merchant)
    return None if request.channel in served else NOT_OFFERED


def ask_source(checkout: Checkout, context: Context, rows: LoadedRows) -> Effects | Refusal | NeedsMore:
    source = find_source(checkout, context, rows)
    if isinstance(source, NeedsMore):
        return source
    if source is None or source.on_attempt is None:
        return Effects()
    return source.on_attempt(checkout, context, rows)


def name_payer(detail: CheckoutDetail, request: BeginAttempt) -> CheckoutDetail:
    """Returns the terms with the payer that the page asked for. A payer whom the merchant named stays."""
    if detail.is_payer_given:
        return msgspec.structs.replace(detail, phone=detail.phone or request.contact_phone)
    return msgspec.structs.replace(
        detail,
        fullname=request.fullname or detail.fullname,
        email=request.email or detail.email,
        phone=request.contact_phone or detail.phone,
    )


# --- the payment of an attempt ------------------------------------------------------------------------------------


def build_attempt_order(
    request: BeginAttempt, checkout: Checkout, detail: CheckoutDetail, context: Context, rows: LoadedRows
) -> PaymentOrder | Refusal | NeedsMore:
    """Builds the order of an attempt as the API would, from the checkout's terms and what the payer entered."""
    channel = PAYMENT_CHANNELS[request.channel]
    shared = shared_fields(request, checkout, detail, context)
    needed = rows_of_attempt(request, shared, context)
    if not all(rows.is_loaded(key) for _, key in needed.rows):
        return NeedsMore(needed)
    fields = msgspec.structs.asdict(shared) | own_fields(request)
    if detail.frequency and request.channel == "card":
        fields["recurrent"] = Recurrent(
            frequency=detail.frequency,  # type: ignore[arg-type]
            value=detail.frequency_value or None,
        )
    if detail.schedule:
        fields["installment"] = make_installment_plan(detail, lagos_day(context.now))
    else:
        fields["amount"] = Amount(checkout.amount)
    order = channel.build_order(channel.request(**fields), context, rows)
    if not isinstance(order, PaymentOrder):
        return order
    purpose = TransactionPurpose(CHECKOUT, checkout.txn_ref)
    of_checkout = msgspec.structs.replace(order.detail, purpose=purpose, phone=detail.phone)
    return msgspec.structs.replace(order, detail=of_checkout)


def rows_of_attempt(request: BeginAttempt, shared: PaymentFields, context: Context) -> Needs:
    """Returns the beneficiaries of a split and the saved card."""
    rows: tuple[tuple[type[Row], bytes], ...] = need_split(shared, context.merchant).rows
    if request.token:
        rows += ((SavedCard, saved_card_key(context.merchant.merchant_id, request.token)),)
    return Needs(rows)


def shared_fields(request: BeginAttempt, checkout: Checkout, detail: CheckoutDetail, context: Context) -> PaymentFields:
    country = detail.country
    if request.channel == "mobile_money":
        country = MOBILE_MONEY_PROVIDERS[request.provider][0]
    return PaymentFields(
        user=User(
            firstname=detail.fullname or None,
            email=detail.email or None,
            ip=request.address or None,
        ),
        country=country,
        currency=Currency(checkout.currency),
        customer_txnref=checkout.customer_txnref or None,
        redirect_url=checkout_url(context.public_url, detail.page_token),
        meta=detail.meta or None,  # type: ignore[arg-type]
        bearer=detail.bearer or None,
        split=[
            Part(
                ref_code=part.ref_code,
                percentage=None if part.percentage is None else PercentOrAmount(part.percentage),
                share=None if part.share is None else Amount(part.share),
            )
            for part in detail.split
        ]
        or None,
    )


def own_fields(request: BeginAttempt) -> dict[str, object]:
    """Returns the fields that only the request's payment type has."""
    by_channel: dict[str, dict[str, object]] = {
        "card": {"card": None if request.card is None else read_card(request.card)},
        "token": {"token": request.token},
        "account": {"account": Account(account_number=request.account_number, bank_code=request.bank_code)},
        "ussd": {
            "bank": request.ussd_bank,
            "phonenumber": request.phone or None,
            "accountnumber": request.account_number or None,
        },
        "phone": {"phonenumber": request.phone},
        "mobile_money": {
            "type": request.provider,
            "phonenumber": request.phone or None,
            "network": request.network or None,
        },
    }
    return by_channel.get(request.channel, {})


def read_card(card: EnteredCard) -> Card:
    return Card(
        card_no=CardNumber(card.number),
        expiry_month=card.expiry_month,
        expiry_year=card.expiry_year,
        ccv=card.cvv,
        pin=card.pin or None,
    )


def make_installment_plan(detail: CheckoutDetail, today: date) -> Installment:
    """Returns the plan of a checkout. Parts whose date has passed since it was opened are due today.

    Contract: payment#checkout
    """
    due: dict[str, PercentOrAmount] = {}
    for day, part in detail.schedule.items():
        passed = (read_day(day) or today) < today
        name = today.strftime("%d-%m-%Y") if passed else day
        due[name] = PercentOrAmount(part) if name not in due else add_parts(due[name], part)
    return Installment(payment_schedule=due, total=Amount(detail.installment_total))


def due_today(checkout: Checkout, detail: CheckoutDetail, today: date) -> tuple[int, InstallmentTerms | None]:
    """Returns what an attempt of today charges, without a fee, and the plan that it starts, or None."""
    if not detail.schedule:
        return checkout.amount, None
    planned = read_installment_terms(make_installment_plan(detail, today), None, today)
    # Parts of less than a naira may be rounded to nothing when they fall due together: the attempt names the reason.
    return (checkout.amount, None) if isinstance(planned, list) else planned


def add_parts(first: str, second: str) -> PercentOrAmount:
    """Adds two figures of a schedule, which have at most four decimals."""

    def ten_thousandths(text: str) -> int:
        whole, _, decimals = text.partition(".")
        return int(whole) * 10_000 + int(decimals.ljust(4, "0") or 0)

    whole, decimals = divmod(ten_thousandths(first) + ten_thousandths(second), 10_000)
    return PercentOrAmount(f"{whole}.{decimals:04d}".rstrip("0").rstrip("."))


# --- further steps ------------------------------------------------------------------------------------------------


def need_attempt(request: ChargeAttempt | ConfirmAttempt | AbandonAttempt, merchant: Merchant) -> Needs:
    return Needs((*need_checkout_row(request, merchant).rows, *need_payment(request.attempt_ref, merchant).rows))


def is_current(checkout: Checkout | None, attempt_ref: str) -> bool:
    return checkout is not None and checkout.attempt_ref == attempt_ref


def decide_charge_attempt(request: ChargeAttempt, context: Context, rows: LoadedRows) -> Decision | Refusal:
    if not is_current(find_checkout(request, context, rows), request.attempt_ref):
        return UNKNOWN_CHECKOUT
    return decide_charge(ChargeCard(txn_ref=request.attempt_ref, card=read_card(request.card)), context, rows)


def decide_confirm(request: ConfirmAttempt, context: Context, rows: LoadedRows) -> Decision | Refusal:
    if not is_current(find_checkout(request, context, rows), request.attempt_ref):
        return UNKNOWN_CHECKOUT
    return submit_code(request.attempt_ref, request.otp, context, rows, awaited_stage=AWAITING_OTP)


def decide_abandon(request: AbandonAttempt, context: Context, rows: LoadedRows) -> Decision | Refusal | NeedsMore:
    merchant_id = context.merchant.merchant_id
    if not is_current(find_checkout(request, context, rows), request.attempt_ref):
        return UNKNOWN_CHECKOUT
    key = transaction_key(merchant_id, KIND, request.attempt_ref)
    row = rows.get(Transaction, key)
    payment = rows.get(Payment, payment_key(merchant_id, request.attempt_ref))
    job = rows.get(Job, job_key(key))
    if row is None or payment is None:
        return UNKNOWN_CHECKOUT
    if row.is_final:
        return Decision()
    if payment.stage in RAIL_CALL_STAGES:
        return Decision(in_progress=True)
    assert job is not None, "an open payment has a job"
    if payment.stage in ENDABLE_STAGES:
        accounts = finish_accounts(JOB_DATA_DECODER.decode(job.work))
        if not all(rows.is_loaded(account_key(merchant_id, name)) for name in accounts):
            return NeedsMore(Needs(accounts=accounts))
        return end_payment(row, payment, job, ABANDONED_OUTCOME, context, rows)
    if payment.stage != AWAITING_PAYER:
        return STILL_CONFIRMING
    facts = msgspec.structs.replace(FACTS_DECODER.decode(payment.facts), is_abandoned=True)
    query_job = msgspec.structs.replace(job, kind=QUERY, due=context.now)
    return Decision(
        rows=(msgspec.structs.replace(payment, facts=encode_text(facts)),), jobs=(query_job,), follow_up=query_job
    )
