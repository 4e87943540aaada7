"""Opens a checkout by the API, and ends one whose time is over. Contract: payment#checkout"""

from datetime import datetime, timedelta

import msgspec

from kasuwa.core.calendar import utc_text
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
    refuse_fields,
)
from kasuwa.methods.checkout.rules.served_channels import DEFAULT_CHANNELS, channels_of_plan, served_channels
from kasuwa.methods.checkout.wire import CheckoutReply, CheckoutRequest
from kasuwa.methods.payment.model import KIND, Payment, payment_key
from kasuwa.methods.payment.rules import check_request
from kasuwa.methods.payment.rules.hosted_card import UNKNOWN_CARD
from kasuwa.methods.payment.wire import InitiateCard, User
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.tariff import Tariff
from kasuwa.terms.vendors import CollectionVendors
from kasuwa.transactions.checkouts import (
    DETAIL_DECODER,
    OPEN,
    Checkout,
    CheckoutDetail,
    NewCheckout,
    begin_checkout,
    checkout_key,
    checkout_url,
    end_checkout,
    find_source,
)
from kasuwa.transactions.pricing import choose_bearer
from kasuwa.transactions.transactions import Transaction, transaction_key

# Contract: payment#checkout-expiry
DEFAULT_LIFE = timedelta(hours=24)
SHORTEST_LIFE = timedelta(minutes=1)
LONGEST_LIFE = timedelta(days=30)
# How long the end of a checkout waits for an attempt that began in time and whose outcome is not known.
ATTEMPT_WAIT = timedelta(minutes=10)

EXPIRES_REASON = "at least a minute and at most 30 days from now"
NOT_SERVED = "none of them is served here for this currency and plan"
NOTHING_DUE = FieldError("installment.payment_schedule", "a part that is due today")
NO_CHANNEL = FieldError("currency", "one that payments can be made in here")


def as_card_request(request: CheckoutRequest) -> InitiateCard:
    """Returns the fields that a checkout shares with `initiate`, to be checked alike."""
    return InitiateCard(
        amount=request.amount,
        currency=request.currency,
        country=request.country,
        bearer=request.bearer,
        split=request.split,
        recurrent=request.recurrent,
        installment=request.installment,
    )


def need_checkout(request: CheckoutRequest, merchant: Merchant) -> Needs:
    return check_request.need_split(as_card_request(request), merchant)


def decide_checkout(request: CheckoutRequest, context: Context, rows: LoadedRows) -> Decision[CheckoutReply] | Refusal:
    card_request = as_card_request(request)
    _, currency = check_request.country_and_currency(card_request)
    faults = check_request.recurrent_faults(card_request)
    faults += check_request.schedule_conflict_faults(request.recurrent is not None, request.installment is not None)
    expires_at = (context.now + DEFAULT_LIFE) if request.expires is None else request.expires.plain()
    if request.expires is not None and not SHORTEST_LIFE <= expires_at - context.now <= LONGEST_LIFE:
        faults.append(FieldError("expires", EXPIRES_REASON))
    amount_now = check_request.amount_to_charge(card_request, currency, context)
    if isinstance(amount_now, list):
        return refuse_fields(*faults, *amount_now)
    amount, installments = amount_now
    if not amount:
        faults.append(NOTHING_DUE)
    bearer = choose_bearer(context.merchant.terms(Tariff), request.bearer)
    fee_class = check_request.card_fee_class(UNKNOWN_CARD)
    price = check_request.price_request(bearer, context.merchant, fee_class, currency, amount)
    charges = check_request.CardCharges(UNKNOWN_CARD, bearer, currency, price, installments)
    parts = check_request.read_split_parts(card_request)
    faults += check_request.card_split_faults(parts, charges, context, rows)
    detail = make_checkout_detail(request, context)
    if not detail.channels:
        faults.append(NO_CHANNEL if request.channels is None else FieldError("channels", NOT_SERVED))
    if faults:
        return refuse_fields(*faults)
    new = NewCheckout(
        amount=amount,
        currency=currency,
        detail=detail,
        expires_at=expires_at,
        customer_txnref=request.customer_txnref or "",
    )
    checkout, decision = begin_checkout(new, context)
    decision.reply = reply_opened(checkout, context)
    return decision


def reply_opened(checkout: Checkout, context: Context) -> CheckoutReply:
    page_token = DETAIL_DECODER.decode(checkout.detail).page_token
    return CheckoutReply(
        txn_ref=checkout.txn_ref,
        checkout_url=checkout_url(context.public_url, page_token),
        access_code=page_token,
        expires=utc_text(checkout.expires_at),
    )


def make_checkout_detail(request: CheckoutRequest, context: Context) -> CheckoutDetail:
    """Returns the terms of a checkout, with the channels that its currency, plan and rails have in common."""
    card_request, user = as_card_request(request), request.user or User()
    country, currency = check_request.country_and_currency(card_request)
    recurrent = check_request.read_recurrent_terms(card_request)
    installment = request.installment
    detail = CheckoutDetail(
        title=request.title or "",
        description=request.description or "",
        bearer=choose_bearer(context.merchant.terms(Tariff), request.bearer),
        country=country,
        split=check_request.read_split_parts(card_request),
        frequency="" if recurrent is None else recurrent.frequency,
        frequency_value="" if recurrent is None else recurrent.value or "",
        installment_total=0 if installment is None else int(installment.total),
        schedule={} if installment is None else {day: str(part) for day, part in installment.payment_schedule.items()},
        redirect_url=request.redirect_url or "",
        meta=str(request.meta or ""),
        fullname=" ".join(filter(None, (user.firstname, user.lastname))),
        email=user.email or "",
        is_payer_given=user.email is not None,
    )
    wanted = DEFAULT_CHANNELS if request.channels is None else tuple(request.channels)
    wanted = tuple(channel for channel in wanted if channel in channels_of_plan(detail))
    served = served_channels(wanted, currency, context.terms(CollectionVendors), context.merchant)
    return msgspec.structs.replace(detail, channels=served)


# --- the end of its time ------------------------------------------------------------------------------------------


def need_expiry(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((Checkout, checkout_key(merchant.merchant_id, job.reference)), (Job, job.key)))


def decide_expiry(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Ends a checkout whose time is over. One whose last attempt is still open waits for it.

    Contract: payment#checkout-expiry
    """
    checkout = rows.get(Checkout, checkout_key(context.merchant.merchant_id, job.reference))
    current_job = rows.get(Job, job.key)
    if checkout is None or current_job is None:
        return Decision()
    if checkout.state != OPEN:
        return Decision(jobs_done=(current_job,))
    attempt = find_attempt(checkout, rows)
    if isinstance(attempt, NeedsMore):
        return attempt
    if attempt is not None and not attempt[0].is_final:
        return Decision(jobs=(msgspec.structs.replace(current_job, due=next_look(attempt[1], context)),))
    effects = expire(checkout, context, rows)
    if isinstance(effects, NeedsMore):
        return effects
    decision: Decision = Decision(jobs_done=(current_job,))
    decision.add(effects)
    return decision


def next_look(payment: Payment, context: Context) -> datetime:
    """Returns when to look again at an attempt that is open after the checkout's time."""
    return max(payment.expires_at, context.now) + ATTEMPT_WAIT


def find_attempt(checkout: Checkout, rows: LoadedRows) -> tuple[Transaction, Payment] | NeedsMore | None:
    """Returns the newest attempt of a checkout, or None if there was none."""
    if not checkout.attempt_ref:
        return None
    key = transaction_key(checkout.merchant_id, KIND, checkout.attempt_ref)
    payment_row_key = payment_key(checkout.merchant_id, checkout.attempt_ref)
    if not rows.is_loaded(key) or not rows.is_loaded(payment_row_key):
        return NeedsMore(Needs(((Transaction, key), (Payment, payment_row_key))))
    row, payment = rows.get(Transaction, key), rows.get(Payment, payment_row_key)
    assert row is not None, "a checkout's attempt is written with it"
    assert payment is not None, "a payment has both rows"
    return row, payment


def expire(checkout: Checkout, context: Context, rows: LoadedRows) -> Effects | NeedsMore:
    """Returns the end of a checkout that was not paid, with what its source adds. Its job is not among them."""
    source = find_source(checkout, context, rows)
    if isinstance(source, NeedsMore):
        return source
    ended, event, deliveries = end_checkout(checkout, None, {}, context)
    effects = Effects(rows=(ended,), jobs=deliveries, events=(event,))
    if source is not None and source.on_expired is not None:
        added = source.on_expired(checkout, context, rows)
        if isinstance(added, NeedsMore):
            return added
        effects.add(added)
    return effects
