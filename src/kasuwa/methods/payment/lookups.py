"""Look-ups answered from memory: what a payment costs, and whom it can be taken from."""

from kasuwa.core.cards import bin_of
from kasuwa.core.decision import Fault, Merchant, Refusal, refuse_fields
from kasuwa.core.money import format_minor
from kasuwa.core.pricing import MOBILE_MONEY_CLASSES, bearer_of, card_class, price_collection
from kasuwa.core.tariff import FeeClass
from kasuwa.methods.payment.decide import amount_fits
from kasuwa.methods.payment.decide_ask import HOME
from kasuwa.methods.payment.decide_types import chargeable_banks
from kasuwa.methods.payment.wire import ChargeableBanksRequest, ChargesRequest
from kasuwa.methods.payment.wire_reply import ChargeableBank, ChargeableBanksReply, Charges, ChargesReply
from kasuwa.rails.ports import Rails


def show_charges(request: ChargesRequest, merchant: Merchant, rails: Rails) -> ChargesReply | Refusal:
    """Exactly what a payment then costs: both ask the same function. (D13)"""
    currency = str(request.currency or "NGN")
    fault = amount_fits(merchant, currency, request.amount)
    if fault is not None:
        return refuse_fields(Fault("amount", fault))
    fee_class = class_of(request)
    if isinstance(fee_class, Refusal):
        return fee_class
    bearer = bearer_of(merchant.tariff, request.bearer)
    price = price_collection(merchant.tariff, fee_class, currency, int(request.amount), bearer)
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


def class_of(request: ChargesRequest) -> FeeClass | Refusal:
    if request.card_no is not None:
        return card_class(bin_of(request.card_no).country)
    if request.type is None:
        return refuse_fields(Fault("type", "required, or card_no"))
    if request.type in ("card", "token"):
        return "card_local"
    if request.type == "mobile_money":
        found = MOBILE_MONEY_CLASSES.get(request.country or HOME)
        return found or refuse_fields(Fault("country", "one of " + ", ".join(MOBILE_MONEY_CLASSES)))
    return request.type  # type: ignore[return-value]


def list_chargeable(request: ChargeableBanksRequest, merchant: Merchant, rails: Rails) -> ChargeableBanksReply:
    banks = [ChargeableBank(bankname=bank.name, bankcode=bank.cbn_code or "") for bank in chargeable_banks()]
    return ChargeableBanksReply(data=banks)
