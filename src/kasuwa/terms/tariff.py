"""The tariff: fees as typed data, and the fees with VAT of transfers, cards and cashcodes. Contract: #fees

Figures are amounts in major units or percentages, as text. Fees of collections are calculated in
transactions/pricing.py.
"""

import re
from fractions import Fraction
from typing import Any, Literal

import msgspec

from kasuwa.core.money import compute_percent, convert_to_minor, parse_percent
from kasuwa.core.reference_tables import load_reference_data

PERCENTAGE = re.compile(r"[0-9]{1,2}(\.[0-9]{1,4})?|100", re.ASCII)
# Largest share of a payment that its fee and VAT may take. Above a half, a customer who bears the fee would pay more
# than twice the price. At the whole, nothing would be settled.
MAX_FEE_SHARE = Fraction(1, 2)

# Who pays a collection's fee: the merchant, out of the settled amount, or the customer, on top of the price.
# `account` is an older spelling of `merchant`. Contract: #fees
Bearer = Literal["merchant", "customer"]
BearerWord = Literal["merchant", "customer", "account"]

FeeClass = Literal[
    "card_local",
    "card_international",
    "account",
    "ussd",
    "phone",
    "qrpay",
    "bank_transfer",
    "mobile_money_gh",
    "mobile_money_ke",
    "mobile_money_ng",
]


class Band(msgspec.Struct, frozen=True):
    """One step of the transfer tariff."""

    up_to: str | None  # largest amount that pays this fee; None in the last band
    fee: str


class StampDuty(msgspec.Struct, frozen=True):
    threshold: str
    amount: str
    default_on: bool = False


class TransferTariff(msgspec.Struct, frozen=True):
    bands: tuple[Band, ...]
    stamp_duty: StampDuty


class CollectionFee(msgspec.Struct, frozen=True):
    """The fee of a collection: a percentage and a flat part."""

    percent: str
    flat: str = "0"
    flat_waived_below: str | None = None  # payments below this amount do not pay the flat part
    cap: str | None = None  # largest fee


class CollectionTariff(msgspec.Struct, frozen=True):
    """The fee of each FeeClass, under its name. A saved card pays the class of its card."""

    card_local: CollectionFee
    card_international: CollectionFee
    account: CollectionFee
    ussd: CollectionFee
    phone: CollectionFee
    qrpay: CollectionFee
    bank_transfer: CollectionFee
    mobile_money_gh: CollectionFee
    mobile_money_ke: CollectionFee
    mobile_money_ng: CollectionFee

    def of_class(self, fee_class: FeeClass) -> CollectionFee:
        fee: CollectionFee = getattr(self, fee_class)
        return fee


class FundingFee(msgspec.Struct, frozen=True):
    """The fee of funding a card: flat for small amounts, else a percentage of the whole amount."""

    flat: str
    percent_above: str
    up_to: str | None = None  # largest amount that pays the flat fee; None: every amount does


class CardTariff(msgspec.Struct, frozen=True):
    """The fees and limits of virtual cards of one currency."""

    issuance: str
    monthly: str
    fund: FundingFee
    withdraw: str
    terminate: str
    min_initial: str  # smallest first funding
    max_balance: str


class VirtualCardTariff(msgspec.Struct, frozen=True, rename="upper"):
    usd: CardTariff
    ngn: CardTariff

    def of_currency(self, currency: str) -> CardTariff:
        return self.usd if currency == "USD" else self.ngn


class CashcodeTariff(msgspec.Struct, frozen=True, rename="upper"):
    """The fee of a cashcode by the channel that pays it."""

    atm: str
    pos: str
    web: str


class DisputeTariff(msgspec.Struct, frozen=True, rename="upper"):
    """The fee of a dispute that is not won, by the currency of the payment."""

    ngn: str
    usd: str
    ghs: str
    kes: str

    def of_currency(self, currency: str) -> str:
        fee: str = getattr(self, currency.lower())
        return fee


class Tariff(msgspec.Struct, frozen=True):
    vat_percent_on_fees: str
    bearer_default: BearerWord
    collection: CollectionTariff
    transfer: TransferTariff
    virtual_card: VirtualCardTariff
    cashcode: CashcodeTariff
    dispute: DisputeTariff


class FeeBreakdown(msgspec.Struct, frozen=True):
    """The fees added to an amount, in minor units."""

    fee: int
    vat: int
    duty: int

    @property
    def total(self) -> int:
        return self.fee + self.vat + self.duty


NO_FEES = FeeBreakdown(0, 0, 0)


def merge_overrides(default: dict[str, Any], override: dict[str, Any]) -> dict[str, Any]:
    """Returns the default tariff with a merchant's overrides merged in, object by object."""
    result = dict(default)
    for name, value in override.items():
        below = result.get(name)
        both = isinstance(value, dict) and isinstance(below, dict)
        result[name] = merge_overrides(below, value) if both else value  # type: ignore[arg-type]
    return result


def read_tariff(override: dict[str, Any] | None = None) -> Tariff:
    """Returns the tariff with a merchant's overrides. Raises ValueError if a figure is invalid."""
    tariff = msgspec.convert(merge_overrides(load_reference_data("tariffs"), override or {}), Tariff)
    if not PERCENTAGE.fullmatch(tariff.vat_percent_on_fees):
        raise ValueError(f"vat_percent_on_fees is no percentage: {tariff.vat_percent_on_fees!r}")
    bands, stamp = tariff.transfer.bands, tariff.transfer.stamp_duty
    ends = [convert_to_minor(band.up_to) for band in bands if band.up_to is not None]
    if not bands or bands[-1].up_to is not None or len(ends) != len(bands) - 1 or ends != sorted(set(ends)):
        raise ValueError("transfer bands must rise, and the last must have no end")
    cash = tariff.cashcode
    for figure in (*(band.fee for band in bands), stamp.amount, stamp.threshold, cash.atm, cash.pos, cash.web):
        convert_to_minor(figure)
    for figure in msgspec.structs.astuple(tariff.dispute):
        convert_to_minor(figure)
    check_collection(tariff)
    for card in (tariff.virtual_card.usd, tariff.virtual_card.ngn):
        check_card(card)
    return tariff


def check_collection(tariff: Tariff) -> None:
    with_vat = 1 + Fraction(*parse_percent(tariff.vat_percent_on_fees))
    for name in CollectionTariff.__struct_fields__:
        fee: CollectionFee = getattr(tariff.collection, name)
        if not PERCENTAGE.fullmatch(fee.percent):
            raise ValueError(f"the percent of {name} is no percentage: {fee.percent!r}")
        if Fraction(*parse_percent(fee.percent)) * with_vat > MAX_FEE_SHARE:
            raise ValueError(f"the fee of {name} with its VAT takes more than half of a payment")
        for figure in (fee.flat, fee.flat_waived_below, fee.cap):
            if figure is not None:
                convert_to_minor(figure)


def check_card(card: CardTariff) -> None:
    if not PERCENTAGE.fullmatch(card.fund.percent_above):
        raise ValueError(f"percent_above is no percentage: {card.fund.percent_above!r}")
    figures = (card.issuance, card.monthly, card.fund.flat, card.fund.up_to or "0", card.withdraw, card.terminate)
    for figure in figures:
        convert_to_minor(figure)
    if convert_to_minor(card.min_initial) > convert_to_minor(card.max_balance):
        raise ValueError("min_initial must not be above max_balance")


def calculate_transfer_fees(tariff: Tariff, amount: int) -> FeeBreakdown:
    """Returns the fees of a transfer. VAT is taken on the rounded fee. Contract: #fees"""
    fee = next(
        convert_to_minor(b.fee) for b in tariff.transfer.bands if b.up_to is None or amount <= convert_to_minor(b.up_to)
    )
    vat = compute_percent(fee, tariff.vat_percent_on_fees)
    stamp = tariff.transfer.stamp_duty
    due = stamp.default_on and amount >= convert_to_minor(stamp.threshold)
    return FeeBreakdown(fee=fee, vat=vat, duty=convert_to_minor(stamp.amount) if due else 0)


def calculate_flat_fees(tariff: Tariff, figure: str) -> FeeBreakdown:
    """Returns a flat fee of the tariff with its VAT. Contract: #fees"""
    fee = convert_to_minor(figure)
    return FeeBreakdown(fee=fee, vat=compute_percent(fee, tariff.vat_percent_on_fees), duty=0)


def calculate_funding_fees(tariff: Tariff, currency: str, amount: int) -> FeeBreakdown:
    """Returns the fees of funding a virtual card with an amount. Contract: virtualcard#fees"""
    rule = tariff.virtual_card.of_currency(currency).fund
    is_flat = rule.up_to is None or amount <= convert_to_minor(rule.up_to)
    fee = convert_to_minor(rule.flat) if is_flat else compute_percent(amount, rule.percent_above)
    return FeeBreakdown(fee=fee, vat=compute_percent(fee, tariff.vat_percent_on_fees), duty=0)


def calculate_cashcode_fees(tariff: Tariff, channel: str) -> FeeBreakdown:
    """Returns the fees of a cashcode by its channel. Contract: #fees"""
    cash = tariff.cashcode
    return calculate_flat_fees(tariff, {"ATM": cash.atm, "POS": cash.pos, "WEB": cash.web}[channel])


def calculate_dispute_fees(tariff: Tariff, currency: str) -> FeeBreakdown:
    """Returns the fee of a dispute with its VAT, in the currency of the payment. Contract: payment#disputes"""
    return calculate_flat_fees(tariff, tariff.dispute.of_currency(currency))
