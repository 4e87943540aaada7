"""Look-ups answered from memory: what a payment costs, and whom it can be taken from."""

from kasuwa.core.action import Rule, one_of
from kasuwa.core.cards import bin_of
from kasuwa.core.decision import Fault, Merchant
from kasuwa.core.fields import Amount
from kasuwa.core.merchant import outside_limits
from kasuwa.core.money import format_minor
from kasuwa.core.pricing import MOBILE_MONEY_CLASSES, bearer_of, card_class, price_collection
from kasuwa.core.tariff import FeeClass
from kasuwa.methods.payment.decide_ask import HOME, HOME_CURRENCY, card_money_faults, home_money_faults, reason_at
from kasuwa.methods.payment.decide_types import PROVIDERS, chargeable_banks
from kasuwa.methods.payment.wire import ChargeableBanksRequest, ChargesRequest
from kasuwa.methods.payment.wire_reply import ChargeableBank, ChargeableBanksReply, Charges, ChargesReply
from kasuwa.rails.ports import Rails

CARDS = ("card", "token")
WALLET_MONEY = dict(sorted(PROVIDERS.values()))


def has_a_card(merchant: Merchant, kind: str | None, card_no: str | None) -> str | None:
    return None if card_no is None or kind in (None, *CARDS) else "of card and token payments alone"


def way_of(card_no: str | None) -> str | None:
    return None if card_no is None else "card"


def fits_country(
    merchant: Merchant, card_no: str | None, kind: str | None, currency: str | None, country: str | None
) -> str | None:
    return reason_at("country", money_faults(kind or way_of(card_no), country, currency))


def fits_currency(
    merchant: Merchant, card_no: str | None, kind: str | None, country: str | None, currency: str | None
) -> str | None:
    return reason_at("currency", money_faults(kind or way_of(card_no), country, currency))


def fits_limits(merchant: Merchant, currency: str | None, amount: Amount) -> str | None:
    return outside_limits(merchant, currency or HOME_CURRENCY, amount)


CHARGES_RULES = (
    one_of("card_no", "type", reason="required, or card_no"),
    Rule(("type", "card_no"), has_a_card),
    Rule(("card_no", "type", "currency", "country"), fits_country),
    Rule(("card_no", "type", "country", "currency"), fits_currency),
    Rule(("currency", "amount"), fits_limits),
)


def money_faults(kind: str | None, country: str | None, currency: str | None) -> list[Fault]:
    """What a payment of this kind has against a country and a currency: what is always refused has no price."""
    where, money = country or HOME, currency or HOME_CURRENCY
    if kind is None:
        return []
    if kind in CARDS:
        return card_money_faults(where, money)
    return wallet_money_faults(country, money) if kind == "mobile_money" else home_money_faults(where, money)


def wallet_money_faults(country: str | None, currency: str) -> list[Fault]:
    where = wallet_country(country, currency)
    if where not in WALLET_MONEY:
        return [Fault("country", "one of " + ", ".join(WALLET_MONEY))]
    money = WALLET_MONEY[where]
    return [] if currency == money else [Fault("currency", f"{money} in {where}")]


def wallet_country(country: str | None, currency: str) -> str:
    """Each country's wallets hold its own currency, so that one says the other."""
    return country or next((where for where, money in WALLET_MONEY.items() if money == currency), HOME)


def show_charges(request: ChargesRequest, merchant: Merchant, rails: Rails) -> ChargesReply:
    """Exactly what a payment then costs: both ask the same function. (D13)"""
    currency = str(request.currency or HOME_CURRENCY)
    bearer = bearer_of(merchant.tariff, request.bearer)
    price = price_collection(merchant.tariff, class_of(request), currency, int(request.amount), bearer)
    return ChargesReply(
        data=Charges(
            amount=format_minor(price.amount),
            fee=format_minor(price.fee),
            vat=format_minor(price.vat),
            total_charge=format_minor(price.charged),
            settled=format_minor(price.settled),
            currency=currency,
            bearer=bearer,
        )
    )


def class_of(request: ChargesRequest) -> FeeClass:
    if request.card_no is not None:
        return card_class(bin_of(request.card_no).country)
    if request.type in CARDS:
        return "card_local"
    if request.type == "mobile_money":
        return MOBILE_MONEY_CLASSES[wallet_country(request.country, str(request.currency or HOME_CURRENCY))]
    return request.type  # type: ignore[return-value]


def list_chargeable(request: ChargeableBanksRequest, merchant: Merchant, rails: Rails) -> ChargeableBanksReply:
    banks = [ChargeableBank(bankname=bank.name, bankcode=bank.cbn_code or "") for bank in chargeable_banks()]
    return ChargeableBanksReply(data=banks)
