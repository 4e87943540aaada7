"""Look-ups answered from memory: what a payment costs, and whom it can be taken from."""

from kasuwa.core.action import Rule
from kasuwa.core.cards import bin_of
from kasuwa.core.decision import Merchant
from kasuwa.core.fields import Amount
from kasuwa.core.merchant import outside_limits
from kasuwa.core.money import format_minor
from kasuwa.core.pricing import MOBILE_MONEY_CLASSES, bearer_of, card_class, price_collection
from kasuwa.core.tariff import FeeClass
from kasuwa.methods.payment.decide_ask import HOME, HOME_CURRENCY
from kasuwa.methods.payment.decide_types import chargeable_banks
from kasuwa.methods.payment.wire import ChargeableBanksRequest, ChargesRequest
from kasuwa.methods.payment.wire_reply import ChargeableBank, ChargeableBanksReply, Charges, ChargesReply
from kasuwa.rails.ports import Rails


def names_a_way(merchant: Merchant, card_no: str | None, kind: str | None) -> str | None:
    return "required, or card_no" if card_no is None and kind is None else None


def has_wallets(merchant: Merchant, card_no: str | None, kind: str | None, country: str | None) -> str | None:
    is_known = card_no is not None or kind != "mobile_money" or (country or HOME) in MOBILE_MONEY_CLASSES
    return None if is_known else "one of " + ", ".join(MOBILE_MONEY_CLASSES)


def fits_currency(merchant: Merchant, currency: str | None, amount: Amount) -> str | None:
    return outside_limits(merchant, currency or HOME_CURRENCY, amount)


CHARGES_RULES = (
    Rule(("card_no", "type"), names_a_way),
    Rule(("card_no", "type", "country"), has_wallets),
    Rule(("currency", "amount"), fits_currency),
)


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
    if request.type in ("card", "token"):
        return "card_local"
    if request.type == "mobile_money":
        return MOBILE_MONEY_CLASSES[request.country or HOME]
    return request.type  # type: ignore[return-value]


def list_chargeable(request: ChargeableBanksRequest, merchant: Merchant, rails: Rails) -> ChargeableBanksReply:
    banks = [ChargeableBank(bankname=bank.name, bankcode=bank.cbn_code or "") for bank in chargeable_banks()]
    return ChargeableBanksReply(data=banks)
