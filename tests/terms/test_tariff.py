"""Fees of transfers and cashcodes: worked examples of the tariff, and a merchant's overrides."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.money import convert_to_minor, format_minor
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.merchants.merchant_settings import MerchantSettings, make_merchant
from kasuwa.terms.tariff import (
    FeeBreakdown,
    Tariff,
    calculate_cashcode_fees,
    calculate_transfer_fees,
    merge_overrides,
    read_tariff,
)

DUTY_ON = {"transfer": {"stamp_duty": {"default_on": True}}}
WORKED: list[dict[str, str]] = load_reference_data("tariffs")["worked_transfer_with_stamp_duty"]


@pytest.mark.parametrize("example", WORKED, ids=lambda example: example["amount"])
def test_a_worked_example_with_stamp_duty_comes_out_to_the_kobo(example: dict[str, str]) -> None:
    amount = convert_to_minor(example["amount"])
    charge = calculate_transfer_fees(read_tariff(DUTY_ON), amount)
    assert format_minor(charge.fee) == example["fee"]
    assert format_minor(charge.vat) == example["vat"]
    assert format_minor(charge.duty) == example["stamp_duty"]
    assert format_minor(amount + charge.total) == example["wallet_debit"]


@pytest.mark.parametrize("example", WORKED, ids=lambda example: example["amount"])
def test_without_stamp_duty_only_fee_and_vat_come_on_top(example: dict[str, str]) -> None:
    charge = calculate_transfer_fees(read_tariff(), convert_to_minor(example["amount"]))
    assert charge == FeeBreakdown(convert_to_minor(example["fee"]), convert_to_minor(example["vat"]), 0)
    assert charge.total == charge.fee + charge.vat


def test_there_are_examples_on_both_sides_of_every_step() -> None:
    assert {example["fee"] for example in WORKED} == {"10.00", "25.00", "50.00"}
    assert {example["stamp_duty"] for example in WORKED} == {"0.00", "50.00"}


@pytest.mark.parametrize(
    ("override", "amount", "expected"),
    [
        ({"vat_percent_on_fees": "0"}, "100", FeeBreakdown(1000, 0, 0)),
        ({"vat_percent_on_fees": "10"}, "5000.01", FeeBreakdown(2500, 250, 0)),
        ({"transfer": {"bands": [{"up_to": None, "fee": "0"}]}}, "1000000", FeeBreakdown(0, 0, 0)),
        (
            {"transfer": {"bands": [{"up_to": "10", "fee": "1"}, {"up_to": None, "fee": "3"}]}},
            "10",
            FeeBreakdown(100, 8, 0),
        ),
        (
            {"transfer": {"bands": [{"up_to": "10", "fee": "1"}, {"up_to": None, "fee": "3"}]}},
            "10.01",
            FeeBreakdown(300, 23, 0),
        ),
        ({"transfer": {"stamp_duty": {"default_on": True, "amount": "7"}}}, "10000", FeeBreakdown(2500, 188, 700)),
        ({"transfer": {"stamp_duty": {"default_on": True, "threshold": "1"}}}, "1", FeeBreakdown(1000, 75, 5000)),
    ],
)
def test_a_merchants_overrides_replace_the_defaults(
    override: dict[str, Any], amount: str, expected: FeeBreakdown
) -> None:
    settings_of_one = MerchantSettings(tariff=override)
    merchant = make_merchant(1, "GP0000001", "Ada Stores", "test", settings_of_one)
    assert calculate_transfer_fees(merchant.terms(Tariff), convert_to_minor(amount)) == expected


def test_one_merchants_figures_leave_anothers_alone() -> None:
    before = read_tariff()
    read_tariff({"vat_percent_on_fees": "99", "transfer": {"bands": [{"up_to": None, "fee": "99"}]}})
    assert read_tariff() == before
    assert load_reference_data("tariffs")["vat_percent_on_fees"] == "7.5"


def test_objects_are_merged_and_everything_else_is_replaced() -> None:
    default = {"a": {"b": 1, "c": [1, 2]}, "d": {"e": 1}}
    assert merge_overrides(default, {"a": {"c": [3]}, "d": 5, "f": {}}) == {"a": {"b": 1, "c": [3]}, "d": 5, "f": {}}
    assert default == {"a": {"b": 1, "c": [1, 2]}, "d": {"e": 1}}


@pytest.mark.parametrize(
    "override",
    [
        {"vat_percent_on_fees": 7.5},
        {"transfer": None},
        {"transfer": {"bands": [{"up_to": None}]}},
        {"transfer": {"stamp_duty": {"default_on": "yes"}}},
    ],
)
def test_figures_of_the_wrong_kind_are_refused_when_they_are_read(override: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        read_tariff(override)


@pytest.mark.parametrize(
    "override",
    [
        {"vat_percent_on_fees": "-7.5"},
        {"vat_percent_on_fees": "NaN"},
        {"vat_percent_on_fees": "half"},
        {"transfer": {"bands": []}},
        {"transfer": {"bands": [{"up_to": "5000", "fee": "10"}]}},
        {"transfer": {"bands": [{"up_to": None, "fee": "ten"}]}},
        {"transfer": {"bands": [{"up_to": "5k", "fee": "10"}, {"up_to": None, "fee": "20"}]}},
        {"transfer": {"stamp_duty": {"amount": "-50"}}},
    ],
)
def test_transfer_fees_that_cannot_be_charged_are_refused_when_set(
    override: dict[str, Any],
) -> None:
    """If they were accepted, every transfer of the merchant would get status 204 (error)."""
    with pytest.raises((ValueError, msgspec.ValidationError)):
        make_merchant(1, "GP0000001", "Ada Stores", "test", MerchantSettings(tariff=override))


@given(st.integers(min_value=1, max_value=10**15 - 1), st.booleans())
def test_every_amount_has_fees(amount: int, duty_on: bool) -> None:
    charge = calculate_transfer_fees(read_tariff(DUTY_ON if duty_on else None), amount)
    assert charge.fee in (1000, 2500, 5000)
    assert charge.duty == (5000 if duty_on and amount >= 1_000_000 else 0)
    assert (charge.fee * 75 + 500) // 1000 == charge.vat


@pytest.mark.parametrize(("channel", "charge"), [("ATM", FeeBreakdown(10_000, 750, 0)), ("POS", FeeBreakdown(0, 0, 0))])
def test_a_cashcode_costs_by_its_channel(channel: str, charge: FeeBreakdown) -> None:
    assert calculate_cashcode_fees(read_tariff(), channel) == charge


def test_a_cashcode_fee_that_is_no_figure_is_refused_when_it_is_set() -> None:
    with pytest.raises(ValueError, match="not a figure"):
        read_tariff({"cashcode": {"WEB": "free"}})
