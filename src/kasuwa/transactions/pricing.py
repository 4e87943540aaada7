"""The price of a collection: its fee, VAT and settled amount.

Collections are priced only here, so the `charges` resource and a payment cannot differ. Transfers, cards and cashcodes
are priced in terms/tariff.py. Contract: #fees
"""

import msgspec

from kasuwa.core.money import compute_percent, convert_to_minor, parse_percent
from kasuwa.terms.tariff import Bearer, BearerWord, CollectionFee, FeeClass, Tariff

HOME_COUNTRY = "NG"
# Flat fees and caps apply in this currency alone. Other currencies pay the percentage. Contract: #fees
TARIFF_CURRENCY = "NGN"

MOBILE_MONEY_CLASSES: dict[str, FeeClass] = {
    "GH": "mobile_money_gh",
    "KE": "mobile_money_ke",
    "NG": "mobile_money_ng",
}


class Price(msgspec.Struct, frozen=True):
    """The price of one collection, in minor units."""

    amount: int  # as requested: the charged amount if the merchant bears the fee, else the settled amount
    fee: int
    vat: int  # on the fee
    charged: int  # paid by the payer
    settled: int  # received by the merchant: charged - fee - vat


def card_class(issuer_country: str | None) -> FeeClass:
    """Returns the fee class of a card. A card of unknown issuer counts as local. Contract: resources#card"""
    return "card_local" if issuer_country in (None, HOME_COUNTRY) else "card_international"


def choose_bearer(tariff: Tariff, requested: BearerWord | None) -> Bearer:
    """Returns who pays the fee: as requested, else by the default of the merchant's tariff."""
    return "customer" if (requested or tariff.bearer_default) == "customer" else "merchant"


def price_collection(tariff: Tariff, fee_class: FeeClass, currency: str, amount: int, bearer: Bearer) -> Price:
    charged = gross_up_amount(tariff, fee_class, currency, amount) if bearer == "customer" else amount
    fee, vat = fee_and_vat(tariff, fee_class, currency, charged)
    return Price(amount=amount, fee=fee, vat=vat, charged=charged, settled=charged - fee - vat)


def gross_up_amount(tariff: Tariff, fee_class: FeeClass, currency: str, amount: int) -> int:
    """Returns the smallest gross amount that settles at least `amount`.

    The cost never falls as the gross grows, with rounding, waiver and cap included. So the result is the smallest
    fixed point of gross = amount + cost(gross), and iterating upward from `amount` cannot step over it. The iteration
    converges fast: each step is at most about half of the one before (MAX_FEE_SHARE). While a flat fee takes the
    whole payment, each step is at least `amount`.
    """
    gross = amount
    while True:
        enough = amount + sum(fee_and_vat(tariff, fee_class, currency, gross))
        if enough == gross:
            return gross
        gross = enough


def fee_and_vat(tariff: Tariff, fee_class: FeeClass, currency: str, charged: int) -> tuple[int, int]:
    """Returns the fee and its VAT. VAT is taken on the rounded fee. Together they never exceed the charged amount.

    Contract: #fees
    """
    fee = calculate_collection_fee(tariff.collection.of_class(fee_class), currency, charged)
    fee = min(fee, largest_fee(charged, tariff.vat_percent_on_fees))
    return fee, compute_percent(fee, tariff.vat_percent_on_fees)


def calculate_collection_fee(rule: CollectionFee, currency: str, charged: int) -> int:
    """Returns the fee of a charged amount by its rule, before VAT."""
    fee = compute_percent(charged, rule.percent)
    if currency != TARIFF_CURRENCY:
        return fee
    if rule.flat_waived_below is None or charged >= convert_to_minor(rule.flat_waived_below):
        fee += convert_to_minor(rule.flat)
    return fee if rule.cap is None else min(fee, convert_to_minor(rule.cap))


def largest_fee(charged: int, vat_percent: str) -> int:
    """Returns the largest fee that together with its VAT does not exceed the charged amount.

    With VAT n/d: fee + floor(fee × n/d + 1/2) ≤ charged  ⇔  2 × fee × (d + n) < (2 × charged + 1) × d.
    """
    numerator, denominator = parse_percent(vat_percent)
    return -(-(2 * charged + 1) * denominator // (2 * (denominator + numerator))) - 1
