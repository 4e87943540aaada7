"""From what a merchant sent to a payment that may begin: who pays, in which currency, what it costs, for whom.

Faults that depend on more than one field, or on the day, are found here and named together.
"""

from collections.abc import Sequence
from datetime import date

from kasuwa.core.calendar import lagos_day, moment_of
from kasuwa.core.cards import bin_of
from kasuwa.core.decision import Context, Fault, Merchant, Needs, Row, Seen
from kasuwa.core.magic import SAMPLE_CARD
from kasuwa.core.merchant import outside_limits
from kasuwa.core.pricing import Price, bearer_of, card_class, price_collection
from kasuwa.core.schedule import Frequency, amount_due, plan_instalments, value_reason
from kasuwa.core.splits import Part, divide_settled, part_reason
from kasuwa.core.tariff import Bearer, FeeClass
from kasuwa.methods.payment.decide import (
    CardFacts,
    Detail,
    InstalmentWish,
    RecurrentWish,
)
from kasuwa.methods.payment.decide_split import Beneficiary, beneficiary_key
from kasuwa.methods.payment.wire import Card, ChargeToken, Common, InitiateCard, Installment, Recurrent, User
from kasuwa.rails.ports import CardSecrets

HOME, HOME_CURRENCY = "NG", "NGN"
# Cards are charged in their country's currency, or in dollars.
CARD_CURRENCIES = {"NG": ("NGN", "USD"), "GH": ("GHS", "USD"), "KE": ("KES", "USD"), "US": ("USD",)}

NO_PRICE = Price(amount=0, fee=0, vat=0, charged=0, settled=0)


# --- cards --------------------------------------------------------------------------------------------------------


def card_hash(context: Context, number: str, month: str, year: str) -> str:
    said = f"card {context.merchant.merchant_id} {number} {month} {year}"
    return context.vault.fingerprint(said.encode())


def card_facts(context: Context, card: Card) -> CardFacts:
    issuer = bin_of(card.card_no)
    return CardFacts(
        hash=card_hash(context, card.card_no, card.expiry_month, card.expiry_year),
        mask=f"{card.card_no[:6]}{'*' * (len(card.card_no) - 10)}{card.card_no[-4:]}",
        bin=issuer.bin,
        brand=issuer.brand,
        type=issuer.type,
        issuer=issuer.issuer,
        country=issuer.country,
    )


def secrets_of(card: Card) -> CardSecrets:
    return CardSecrets(str(card.card_no), card.expiry_month, card.expiry_year, card.ccv, card.pin or "")


def expiry_faults(
    expiry_month: str, expiry_year: str, today: date, merchant: Merchant, number: str = ""
) -> list[Fault]:
    """A card is good until the end of its month. In test, the card of the public clients' READMEs is good with any
    expiry. Spec silent: D15"""
    if merchant.environment == "test" and number == SAMPLE_CARD:
        return []
    month, year = int(expiry_month), 2000 + int(expiry_year)
    if (year, month) >= (today.year, today.month):
        return []
    return [Fault("card.expiry_year" if year < today.year else "card.expiry_month", "the card has expired")]


# --- country and currency -----------------------------------------------------------------------------------------


def card_money_faults(country: str, currency: str) -> list[Fault]:
    allowed = CARD_CURRENCIES.get(country)
    if allowed is None:
        return [Fault("country", "one of " + ", ".join(CARD_CURRENCIES))]
    return [] if currency in allowed else [Fault("currency", f"{' or '.join(allowed)} in {country}")]


def home_money_faults(country: str, currency: str) -> list[Fault]:
    """Everything that Nigerian banks and telephones do, they do in naira."""
    faults = [] if country == HOME else [Fault("country", f"{HOME} for this payment type")]
    return (
        faults if currency == HOME_CURRENCY else [*faults, Fault("currency", f"{HOME_CURRENCY} for this payment type")]
    )


def money_of(request: Common) -> tuple[str, str]:
    return request.country or HOME, str(request.currency or HOME_CURRENCY)


def reason_at(field: str, faults: list[Fault]) -> str | None:
    return next((fault.reason for fault in faults if fault.field == field), None)


def limit_faults(merchant: Merchant, currency: str, amount: int) -> list[Fault]:
    reason = outside_limits(merchant, currency, amount)
    return [] if reason is None else [Fault("amount", reason)]


# --- price and split ----------------------------------------------------------------------------------------------


def price_of(bearer: Bearer, merchant: Merchant, fee_class: FeeClass, currency: str, amount: int) -> Price:
    if not amount:
        return NO_PRICE
    return price_collection(merchant.tariff, fee_class, currency, amount, bearer)


def settlements_of(
    bearer: Bearer, merchant: Merchant, fee_class: FeeClass, currency: str, price: Price, wish: InstalmentWish | None
) -> list[int]:
    """What each charge settles, those to come too. What only saves the card settles nothing."""
    later = () if wish is None else wish.later
    prices = [price, *(price_of(bearer, merchant, fee_class, currency, amount) for _, amount in later)]
    return [each.settled for each in prices if each.charged]


def parts_of(request: Common) -> tuple[Part, ...]:
    return tuple(
        Part(
            part.ref_code,
            None if part.percentage is None else str(part.percentage),
            None if part.share is None and part.fixed is None else int(part.share or part.fixed or 0),
        )
        for part in request.split or ()
    )


def need_split(request: Common, merchant: Merchant) -> Needs:
    rows: tuple[tuple[type[Row], bytes], ...] = tuple(
        (Beneficiary, beneficiary_key(merchant.merchant_id, part.ref_code)) for part in request.split or ()
    )
    return Needs(rows)


def split_faults(
    parts: Sequence[Part], currency: str, settled: Sequence[int], context: Context, seen: Seen
) -> list[Fault]:
    """`settled` is what each charge settles that is to be split so: now, and by instalments."""
    faults = []
    if parts and currency != HOME_CURRENCY:
        unpaid = f"no beneficiary can be paid in {currency}: their bank accounts are in {HOME_CURRENCY}"
        faults.append(Fault("split", unpaid))
    if len({part.ref_code for part in parts}) != len(parts):
        faults.append(Fault("split", "each ref_code once"))
    for n, part in enumerate(parts):
        reason = part_reason(part)
        if reason is not None:
            faults.append(Fault(f"split.{n}", reason))
        if seen.get(Beneficiary, beneficiary_key(context.merchant.merchant_id, part.ref_code)) is None:
            faults.append(Fault(f"split.{n}.ref_code", "no beneficiary has this ref_code"))
    return faults or division_faults(parts, settled)


def division_faults(parts: Sequence[Part], settled: Sequence[int]) -> list[Fault]:
    divided = (divide_settled(each, parts) for each in settled)
    return [Fault("split", reason) for reason in divided if isinstance(reason, str)][:1]


def card_split_faults(
    parts: tuple[Part, ...],
    bearer: Bearer,
    facts: CardFacts,
    currency: str,
    price: Price,
    wish: InstalmentWish | None,
    context: Context,
    seen: Seen | None,
) -> list[Fault]:
    """`seen` has the beneficiaries; None where the parts were accepted before and only the charges have changed."""
    if not parts:
        return []
    fee_class = class_of_card(facts)
    settled = settlements_of(bearer, context.merchant, fee_class, currency, price, wish)
    return division_faults(parts, settled) if seen is None else split_faults(parts, currency, settled, context, seen)


# --- schedules ----------------------------------------------------------------------------------------------------


def recurrent_faults(request: InitiateCard) -> list[Fault]:
    """`recurrent` alone implies `is_recurring`; one that says no contradicts it. Spec silent: D25"""
    recurrent = request.recurrent
    if recurrent is None:
        return []
    if request.is_recurring is False:
        return [Fault("is_recurring", "true or absent, where recurrent says when")]
    reason = None if recurrent.value is None else value_reason(frequency_of(recurrent), recurrent.value)
    return [] if reason is None else [Fault("recurrent.value", reason)]


def both_plans_faults(recurrent: bool, installment: bool) -> list[Fault]:
    """One payment has one schedule. Spec silent: D25, D26"""
    return [Fault("installment", "not together with recurrent")] if recurrent and installment else []


def frequency_of(recurrent: Recurrent) -> Frequency:
    return recurrent.frequency or "monthly"


def wish_of(request: InitiateCard) -> RecurrentWish | None:
    if request.recurrent is None:
        return None
    return RecurrentWish(frequency_of(request.recurrent), request.recurrent.value)


def plan_of(installment: Installment, amount: int | None, today: date) -> tuple[int, InstalmentWish] | list[Fault]:
    """What is due today and what later, or what is wrong. Spec silent: D26"""
    figures = {day: str(figure) for day, figure in installment.payment_schedule.items()}
    plan = plan_instalments(int(installment.total), figures)
    if isinstance(plan, str):
        return [Fault("installment.payment_schedule", plan)]
    if plan[0].due < today:
        return [Fault("installment.payment_schedule", "no date before today")]
    due = amount_due(plan, today)
    if amount is not None and amount != due:
        return [Fault("amount", "what is due today by the schedule, or absent")]
    later = tuple((moment_of(part.due).isoformat(), part.amount) for part in plan if part.due > today)
    return due, InstalmentWish(int(installment.total), later)


def amount_now(
    request: InitiateCard | ChargeToken, currency: str, context: Context
) -> tuple[int, InstalmentWish | None] | list[Fault]:
    """What is to be charged now, and what follows by instalments."""
    amount = None if request.amount is None else int(request.amount)
    if request.installment is None:
        if amount is None:
            return [Fault("amount", "required")]
        return limit_faults(context.merchant, currency, amount) or (amount, None)
    planned = plan_of(request.installment, amount, lagos_day(context.now))
    if isinstance(planned, list):
        return planned
    due, wish = planned
    faults = limit_faults(context.merchant, currency, due) if due else []
    return faults + later_faults(wish, context.merchant, currency) or (due, wish)


def later_faults(wish: InstalmentWish, merchant: Merchant, currency: str) -> list[Fault]:
    reasons = {outside_limits(merchant, currency, later) for _, later in wish.later}
    return [Fault("installment.payment_schedule", f"parts {reason}") for reason in reasons if reason is not None]


# --- who pays -----------------------------------------------------------------------------------------------------


def detail_of(request: Common, context: Context) -> Detail:
    user = request.user or User()
    return Detail(
        country=request.country or HOME,
        fullname=" ".join(filter(None, (user.firstname, user.lastname))),
        email=user.email or "",
        ip=user.ip or "",
        fingerprint=user.fingerprint or "",
        meta=str(request.meta or ""),
        redirect_url=request.redirect_url or "",
        bearer=bearer_of(context.merchant.tariff, request.bearer),
        bearer_said=request.bearer is not None,
        split=parts_of(request),
    )


def schedule_faults(request: Common, *, installments: bool = False) -> list[Fault]:
    """What is asked of a payment whose payer cannot be charged again by us. Spec silent: D25, D26"""
    asked = {"is_recurring": request.is_recurring or None, "recurrent": request.recurrent}
    faults = [Fault(name, "card payments only") for name, value in asked.items() if value is not None]
    if request.installment is not None and not installments:
        faults.append(Fault("installment", "card and token payments only"))
    return faults


def class_of_card(facts: CardFacts) -> FeeClass:
    return card_class(facts.country)
