"""What a collection costs and what it settles: the one place where its price is made, so that what `charges`
answers and what a payment then costs cannot differ (Contract: #fees).
"""

import msgspec

from kasuwa.core.money import fraction_of, minor_of, percent_of
from kasuwa.core.tariff import Bearer, BearerWord, CollectionFee, FeeClass, Tariff

HOME_COUNTRY = "NG"
# The tariff's flat figures are in its own currency: elsewhere the percentage stands alone. Contract: #fees
TARIFF_CURRENCY = "NGN"

MOBILE_MONEY_CLASSES: dict[str, FeeClass] = {
    "GH": "mobile_money_gh",
    "KE": "mobile_money_ke",
    "NG": "mobile_money_ng",
}


class Price(msgspec.Struct, frozen=True):
    """One collection in minor units: the payer pays `charged`, the merchant gets `settled`, and what lies between
    is fee and VAT. `amount` is what was asked for: equal to `charged` where the merchant bears the fee, to
    `settled` where the customer does.
    """

    amount: int
    fee: int
    vat: int
    charged: int
    settled: int


def card_class(issuer_country: str | None) -> FeeClass:
    """A card whose issuer is not known is taken for one of ours. Contract: resources#banks"""
    return "card_local" if issuer_country in (None, HOME_COUNTRY) else "card_international"


def bearer_of(tariff: Tariff, requested: BearerWord | None) -> Bearer:
    """Who pays the fee: as the request says, else as the merchant's tariff does."""
    return "customer" if (requested or tariff.bearer_default) == "customer" else "merchant"


def price_collection(tariff: Tariff, fee_class: FeeClass, currency: str, amount: int, bearer: Bearer) -> Price:
    charged = gross_up_amount(tariff, fee_class, currency, amount) if bearer == "customer" else amount
    fee, vat = fee_and_vat(tariff, fee_class, currency, charged)
    return Price(amount=amount, fee=fee, vat=vat, charged=charged, settled=charged - fee - vat)


def gross_up_amount(tariff: Tariff, fee_class: FeeClass, currency: str, amount: int) -> int:
    """The smallest gross that settles at least the amount, found exactly.

    Such a gross is at least amount + its own cost, and a cost never falls as the gross grows: rounding, waiver and
    cap included. So the smallest is the first fixed point of gross = amount + cost(gross), and going up from the
    amount cannot step over it. It is soon reached: each step is about the cost's part of the one before, at most a
    half (MOST_OF_A_PAYMENT); where a flat fee takes all there is, each is at least the amount.
    """
    gross = amount
    while True:
        enough = amount + sum(fee_and_vat(tariff, fee_class, currency, gross))
        if enough == gross:
            return gross
        gross = enough


def fee_and_vat(tariff: Tariff, fee_class: FeeClass, currency: str, charged: int) -> tuple[int, int]:
    """The fee is rounded first, then VAT is taken on the rounded fee, rounded likewise; together never more than
    what is charged. Contract: #fees
    """
    fee = calculate_collection_fee(tariff.collection.of_class(fee_class), currency, charged)
    fee = min(fee, largest_fee(charged, tariff.vat_percent_on_fees))
    return fee, percent_of(fee, tariff.vat_percent_on_fees)


def calculate_collection_fee(rule: CollectionFee, currency: str, charged: int) -> int:
    fee = percent_of(charged, rule.percent)
    if currency != TARIFF_CURRENCY:
        return fee
    if rule.flat_waived_below is None or charged >= minor_of(rule.flat_waived_below):
        fee += minor_of(rule.flat)
    return fee if rule.cap is None else min(fee, minor_of(rule.cap))


def largest_fee(charged: int, vat_percent: str) -> int:
    """The largest fee that with its VAT is not above what is charged.

    With VAT n/d: fee + floor(fee × n/d + 1/2) ≤ charged  ⇔  2 × fee × (d + n) < (2 × charged + 1) × d.
    """
    numerator, denominator = fraction_of(vat_percent)
    return -(-(2 * charged + 1) * denominator // (2 * (denominator + numerator))) - 1
