"""Checks and conversions that payment requests share: card, currency, limits, price, split and schedule.

Functions named `…_faults` return the field errors that depend on several fields or on the day, so that one reply can
name all of them. `read_…` functions convert request fields into what is stored.
"""

from collections.abc import Sequence
from datetime import date

import msgspec

from kasuwa.core.calendar import lagos_day, lagos_moment
from kasuwa.core.cards import find_bin
from kasuwa.core.decision import Context, FieldError, LoadedRows, Merchant, Needs, Row
from kasuwa.core.references import first_number
from kasuwa.merchants.merchant_settings import check_amount_limits
from kasuwa.methods.payment.model import CardSummary, InstallmentTerms, PaymentDetail, RecurrentTerms
from kasuwa.methods.payment.settlement_model import Beneficiary, beneficiary_key
from kasuwa.methods.payment.wire import Card, ChargeToken, InitiateCard, Installment, PaymentFields, Recurrent, User
from kasuwa.rails.ports.orders import CardSecrets
from kasuwa.rails.sandbox.magic import SAMPLE_CARD
from kasuwa.terms.tariff import Bearer, FeeClass, Tariff
from kasuwa.terms.vendors import CollectionVendors, find_closest
from kasuwa.transactions.pricing import Price, card_class, choose_bearer, price_collection
from kasuwa.transactions.schedule import Frequency, amount_due, check_recurrence_value, plan_installments
from kasuwa.transactions.splits import SplitShare, check_and_split, check_share

HOME_COUNTRY, HOME_CURRENCY = "NG", "NGN"
# Cards are charged in their country's currency, or in dollars.
CARD_CURRENCIES = {"NG": ("NGN", "USD"), "GH": ("GHS", "USD"), "KE": ("KES", "USD"), "US": ("USD",)}

NO_PRICE = Price(amount=0, fee=0, vat=0, charged=0, settled=0)


# --- cards --------------------------------------------------------------------------------------------------------


def card_hash(context: Context, number: str, month: str, year: str) -> str:
    text = f"card {first_number(context.merchant.merchant_id)} {number} {month} {year}"
    return context.vault.fingerprint(text.encode())


def summarize_card(context: Context, card: Card) -> CardSummary:
    issuer = find_bin(card.card_no)
    return CardSummary(
        hash=card_hash(context, card.card_no, card.expiry_month, card.expiry_year),
        mask=f"{card.card_no[:6]}{'*' * (len(card.card_no) - 10)}{card.card_no[-4:]}",
        bin=issuer.bin,
        brand=issuer.brand,
        type=issuer.type,
        issuer=issuer.issuer,
        country=issuer.country,
    )


def read_card_secrets(card: Card) -> CardSecrets:
    return CardSecrets(str(card.card_no), card.expiry_month, card.expiry_year, card.ccv, card.pin or "")


def expiry_faults(
    expiry_month: str, expiry_year: str, today: date, merchant: Merchant, number: str = ""
) -> list[FieldError]:
    """Returns an error if the card has expired: it is valid until the end of its month.

    In the test environment the sample card of public clients' READMEs is valid with any expiry.
    Contract: payment#charge
    """
    if merchant.environment == "test" and number == SAMPLE_CARD:
        return []
    month, year = int(expiry_month), 2000 + int(expiry_year)
    if (year, month) >= (today.year, today.month):
        return []
    return [FieldError("card.expiry_year" if year < today.year else "card.expiry_month", "the card has expired")]


# --- country and currency -----------------------------------------------------------------------------------------


def card_money_faults(country: str, currency: str) -> list[FieldError]:
    allowed = CARD_CURRENCIES.get(country)
    if allowed is None:
        return [FieldError("country", "one of " + ", ".join(CARD_CURRENCIES))]
    return [] if currency in allowed else [FieldError("currency", f"{' or '.join(allowed)} in {country}")]


def home_money_faults(country: str, currency: str) -> list[FieldError]:
    """Returns errors for a country or currency other than Nigeria's. Methods of Nigerian banks and phones use them."""
    faults = [] if country == HOME_COUNTRY else [FieldError("country", f"{HOME_COUNTRY} for this payment type")]
    return (
        faults
        if currency == HOME_CURRENCY
        else [*faults, FieldError("currency", f"{HOME_CURRENCY} for this payment type")]
    )


def country_and_currency(request: PaymentFields) -> tuple[str, str]:
    return request.country or HOME_COUNTRY, str(request.currency or HOME_CURRENCY)


def reason_at(field: str, faults: list[FieldError]) -> str | None:
    """Returns the first error text of a field, or None."""
    return next((fault.reason for fault in faults if fault.field == field), None)


def limit_faults(merchant: Merchant, currency: str, amount: int) -> list[FieldError]:
    reason = check_amount_limits(merchant, currency, amount)
    return [] if reason is None else [FieldError("amount", reason)]


# --- price and split ----------------------------------------------------------------------------------------------


def price_request(bearer: Bearer, merchant: Merchant, fee_class: FeeClass, currency: str, amount: int) -> Price:
    if not amount:
        return NO_PRICE
    return price_collection(merchant.terms(Tariff), fee_class, currency, amount, bearer)


class CardCharges(msgspec.Struct, frozen=True):
    """The charges of a card payment: one now, and those of an installment plan."""

    card: CardSummary
    bearer: Bearer
    currency: str
    price: Price  # of the charge now
    installments: InstallmentTerms | None


def price_installments(charges: CardCharges, merchant: Merchant) -> InstallmentTerms | None:
    """Returns the installment plan with the price of each later charge, which holds whatever the tariff is then.

    Contract: payment#price-kept
    """
    installments = charges.installments
    if installments is None:
        return None
    fee_class = card_fee_class(charges.card)
    prices = tuple(
        price_request(charges.bearer, merchant, fee_class, charges.currency, amount)
        for _, amount in installments.later_charges
    )
    return msgspec.structs.replace(installments, prices=prices)


def settled_amounts(charges: CardCharges, merchant: Merchant) -> list[int]:
    """Returns what each charge settles, later installments included. A charge of 0 is left out."""
    installments = price_installments(charges, merchant)
    prices = [charges.price, *(() if installments is None else installments.prices)]
    return [each.settled for each in prices if each.charged]


def read_split_parts(request: PaymentFields) -> tuple[SplitShare, ...]:
    return tuple(
        SplitShare(
            part.ref_code,
            None if part.percentage is None else str(part.percentage),
            None if part.share is None and part.fixed is None else int(part.share or part.fixed or 0),
        )
        for part in request.split or ()
    )


def need_split(request: PaymentFields, merchant: Merchant) -> Needs:
    rows: tuple[tuple[type[Row], bytes], ...] = tuple(
        (Beneficiary, beneficiary_key(merchant.merchant_id, part.ref_code)) for part in request.split or ()
    )
    return Needs(rows)


def split_faults(
    parts: Sequence[SplitShare], currency: str, settled: Sequence[int], context: Context, rows: LoadedRows
) -> list[FieldError]:
    """Returns the errors of a split. `settled` holds what each charge settles: now, and by installments."""
    faults = []
    if parts and currency != HOME_CURRENCY:
        reason = f"no beneficiary can be paid in {currency}: their bank accounts are in {HOME_CURRENCY}"
        faults.append(FieldError("split", reason))
    if len({part.ref_code for part in parts}) != len(parts):
        faults.append(FieldError("split", "each ref_code once"))
    for n, part in enumerate(parts):
        share_reason = check_share(part)
        if share_reason is not None:
            faults.append(FieldError(f"split.{n}", share_reason))
        if rows.get(Beneficiary, beneficiary_key(context.merchant.merchant_id, part.ref_code)) is None:
            faults.append(FieldError(f"split.{n}.ref_code", "no beneficiary has this ref_code"))
    return faults or division_faults(parts, settled)


def division_faults(parts: Sequence[SplitShare], settled: Sequence[int]) -> list[FieldError]:
    divided = (check_and_split(each, parts) for each in settled)
    return [FieldError("split", reason) for reason in divided if isinstance(reason, str)][:1]


def card_split_faults(
    parts: tuple[SplitShare, ...], charges: CardCharges, context: Context, rows: LoadedRows | None
) -> list[FieldError]:
    """Returns the errors of a card payment's split.

    `seen` holds the beneficiaries. None means that the parts were accepted before and only the charges have changed.
    """
    if not parts:
        return []
    settled = settled_amounts(charges, context.merchant)
    if rows is None:
        return division_faults(parts, settled)
    return split_faults(parts, charges.currency, settled, context, rows)


# --- schedules ----------------------------------------------------------------------------------------------------


def recurrent_faults(request: InitiateCard) -> list[FieldError]:
    """Returns the errors of a recurrence. `recurrent` alone implies `is_recurring`; a false one contradicts it.

    Contract: payment#recurrent
    """
    recurrent = request.recurrent
    if recurrent is None:
        return []
    if request.is_recurring is False:
        return [FieldError("is_recurring", "true or absent, where recurrent says when")]
    reason = None if recurrent.value is None else check_recurrence_value(get_frequency(recurrent), recurrent.value)
    return [] if reason is None else [FieldError("recurrent.value", reason)]


def schedule_conflict_faults(recurrent: bool, installment: bool) -> list[FieldError]:
    """Returns an error if a payment has both a recurrence and an installment plan.

    Contract: payment#recurrent, payment#installment
    """
    return [FieldError("installment", "not together with recurrent")] if recurrent and installment else []


def get_frequency(recurrent: Recurrent) -> Frequency:
    return recurrent.frequency or "monthly"


def read_recurrent_terms(request: InitiateCard) -> RecurrentTerms | None:
    if request.recurrent is None:
        return None
    return RecurrentTerms(get_frequency(request.recurrent), request.recurrent.value)


def read_installment_terms(
    installment: Installment, amount: int | None, today: date
) -> tuple[int, InstallmentTerms] | list[FieldError]:
    """Returns the amount due today and the later installments, or the field errors. Contract: payment#installment"""
    figures = {day: str(figure) for day, figure in installment.payment_schedule.items()}
    plan = plan_installments(int(installment.total), figures)
    if isinstance(plan, str):
        return [FieldError("installment.payment_schedule", plan)]
    if plan[0].due < today:
        return [FieldError("installment.payment_schedule", "no date before today")]
    due = amount_due(plan, today)
    if amount is not None and amount != due:
        return [FieldError("amount", "what is due today by the schedule, or absent")]
    later = tuple((lagos_moment(part.due).isoformat(), part.amount) for part in plan if part.due > today)
    return due, InstallmentTerms(int(installment.total), later)


def amount_to_charge(
    request: InitiateCard | ChargeToken, currency: str, context: Context
) -> tuple[int, InstallmentTerms | None] | list[FieldError]:
    """Returns the amount to charge now and the installments that follow, or the field errors."""
    amount = None if request.amount is None else int(request.amount)
    if request.installment is None:
        if amount is None:
            return [FieldError("amount", "required")]
        return limit_faults(context.merchant, currency, amount) or (amount, None)
    planned = read_installment_terms(request.installment, amount, lagos_day(context.now))
    if isinstance(planned, list):
        return planned
    due, installments = planned
    faults = limit_faults(context.merchant, currency, due) if due else []
    return faults + later_faults(installments, context.merchant, currency) or (due, installments)


def later_faults(installments: InstallmentTerms, merchant: Merchant, currency: str) -> list[FieldError]:
    """Returns errors for later installments outside the merchant's limits."""
    reasons = {check_amount_limits(merchant, currency, later) for _, later in installments.later_charges}
    return [FieldError("installment.payment_schedule", f"parts {reason}") for reason in reasons if reason is not None]


# --- who pays -----------------------------------------------------------------------------------------------------


def make_payment_detail(request: PaymentFields, context: Context) -> PaymentDetail:
    """Returns the stored detail of the fields that all payment requests share."""
    user = request.user or User()
    return PaymentDetail(
        country=request.country or HOME_COUNTRY,
        fullname=" ".join(filter(None, (user.firstname, user.lastname))),
        email=user.email or "",
        ip=user.ip or "",
        fingerprint=user.fingerprint or "",
        meta=str(request.meta or ""),
        redirect_url=request.redirect_url or "",
        bearer=choose_bearer(context.merchant.terms(Tariff), request.bearer),
        is_bearer_explicit=request.bearer is not None,
        split=read_split_parts(request),
    )


def vendor_faults(method: str, provider: str, currency: str, charged: int, context: Context) -> list[FieldError]:
    """Returns the error of a payment that no vendor of the deployment serves. `charged` is what the payer pays.

    Contract: payment#vendors
    """
    vendors = context.terms(CollectionVendors).of_method(method, context.merchant.rails)
    reasons = [vendor.find_unserved(method, provider, currency, charged) for vendor in vendors]
    unserved = [reason for reason in reasons if reason is not None]
    if not vendors or len(unserved) < len(reasons):
        return []
    closest = find_closest(unserved)
    return [FieldError(closest.field, closest.reason)]


def saved_card_faults(card: CardSummary, currency: str, charged: int, context: Context) -> list[FieldError]:
    """Returns the error of a charge that the vendor of a saved card does not serve."""
    vendor = context.terms(CollectionVendors).configured.get(card.vendor)
    if vendor is None:
        return [] if card.vendor else vendor_faults("token", "", currency, charged, context)
    unserved = vendor.find_unserved("token", "", currency, charged)
    return [] if unserved is None else [FieldError(unserved.field, unserved.reason)]


def unsupported_schedule_faults(request: PaymentFields, *, installments: bool = False) -> list[FieldError]:
    """Returns errors for a schedule on a method that cannot be charged again.

    Contract: payment#recurrent, payment#installment
    """
    requested = {"is_recurring": request.is_recurring or None, "recurrent": request.recurrent}
    faults = [FieldError(name, "card payments only") for name, value in requested.items() if value is not None]
    if request.installment is not None and not installments:
        faults.append(FieldError("installment", "card and token payments only"))
    return faults


def card_fee_class(card: CardSummary) -> FeeClass:
    return card_class(card.country)
