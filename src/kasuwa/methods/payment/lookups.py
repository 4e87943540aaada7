"""Look-ups answered from memory: what a payment costs, and which banks' accounts can be debited.

Contract: resources#charges, resources#banks
"""

from kasuwa.core.action import FieldRule, require_one
from kasuwa.core.cards import find_bin
from kasuwa.core.decision import FieldError, Merchant
from kasuwa.merchants.merchant_settings import check_amount_limits
from kasuwa.methods.payment.rules.channels import MOBILE_MONEY_PROVIDERS, chargeable_banks
from kasuwa.methods.payment.rules.check_request import (
    HOME_COUNTRY,
    HOME_CURRENCY,
    card_money_faults,
    home_money_faults,
    reason_at,
)
from kasuwa.methods.payment.rules.dry_run import show_price
from kasuwa.methods.payment.wire import ChargeableBanksRequest, ChargesRequest
from kasuwa.methods.payment.wire_reply import ChargeableBank, ChargeableBanksReply, ChargesReply
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.terms.tariff import FeeClass, Tariff
from kasuwa.transactions.pricing import MOBILE_MONEY_CLASSES, card_class, choose_bearer, price_collection
from kasuwa.wire.fields import Amount

CARD_METHODS = ("card", "token")
MOBILE_MONEY_CURRENCIES = dict(sorted(MOBILE_MONEY_PROVIDERS.values()))


def check_card_number(merchant: Merchant, kind: str | None, card_no: str | None) -> str | None:
    return None if card_no is None or kind in (None, *CARD_METHODS) else "of card and token payments alone"


def method_of_card(card_no: str | None) -> str | None:
    return None if card_no is None else "card"


def check_country(
    merchant: Merchant, card_no: str | None, kind: str | None, currency: str | None, country: str | None
) -> str | None:
    return reason_at("country", money_faults(kind or method_of_card(card_no), country, currency))


def check_currency(
    merchant: Merchant, card_no: str | None, kind: str | None, country: str | None, currency: str | None
) -> str | None:
    return reason_at("currency", money_faults(kind or method_of_card(card_no), country, currency))


def check_limits(merchant: Merchant, currency: str | None, amount: Amount) -> str | None:
    return check_amount_limits(merchant, currency or HOME_CURRENCY, amount)


CHARGES_RULES = (
    require_one("card_no", "type", reason="required, or card_no"),
    FieldRule(("type", "card_no"), check_card_number),
    FieldRule(("card_no", "type", "currency", "country"), check_country),
    FieldRule(("card_no", "type", "country", "currency"), check_currency),
    FieldRule(("currency", "amount"), check_limits),
)


def money_faults(kind: str | None, country: str | None, currency: str | None) -> list[FieldError]:
    """Returns the errors of country and currency for a payment method. A payment that is refused has no price."""
    given_country, given_currency = country or HOME_COUNTRY, currency or HOME_CURRENCY
    if kind is None:
        return []
    if kind in CARD_METHODS:
        return card_money_faults(given_country, given_currency)
    if kind == "mobile_money":
        return mobile_money_faults(country, given_currency)
    return home_money_faults(given_country, given_currency)


def mobile_money_faults(country: str | None, currency: str) -> list[FieldError]:
    where = mobile_money_country(country, currency)
    if where not in MOBILE_MONEY_CURRENCIES:
        return [FieldError("country", "one of " + ", ".join(MOBILE_MONEY_CURRENCIES))]
    money = MOBILE_MONEY_CURRENCIES[where]
    return [] if currency == money else [FieldError("currency", f"{money} in {where}")]


def mobile_money_country(country: str | None, currency: str) -> str:
    """Returns the country of a mobile-money payment, derived from the currency if not given."""
    return country or next(
        (where for where, money in MOBILE_MONEY_CURRENCIES.items() if money == currency), HOME_COUNTRY
    )


def show_charges(request: ChargesRequest, merchant: Merchant, rails: Rails) -> ChargesReply:
    """Returns what a payment would cost. Payments use the same pricing function. Contract: #fees"""
    currency = str(request.currency or HOME_CURRENCY)
    bearer = choose_bearer(merchant.terms(Tariff), request.bearer)
    price = price_collection(merchant.terms(Tariff), choose_fee_class(request), currency, int(request.amount), bearer)
    return ChargesReply(data=show_price(price, currency, bearer))


def choose_fee_class(request: ChargesRequest) -> FeeClass:
    if request.card_no is not None:
        return card_class(find_bin(request.card_no).country)
    if request.type in CARD_METHODS:
        return "card_local"
    if request.type == "mobile_money":
        return MOBILE_MONEY_CLASSES[mobile_money_country(request.country, str(request.currency or HOME_CURRENCY))]
    return request.type  # type: ignore[return-value]


def list_chargeable(request: ChargeableBanksRequest, merchant: Merchant, rails: Rails) -> ChargeableBanksReply:
    banks = [ChargeableBank(bankname=bank.name, bankcode=bank.cbn_code or "") for bank in chargeable_banks()]
    return ChargeableBanksReply(data=banks)
