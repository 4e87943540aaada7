"""Our balances with vendors: exact in minor units, whatever form the vendor writes them in."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from kasuwa.rails.ports.orders import FundedRail, UnreadableAnswer
from kasuwa.rails.twins.dojah import DojahRules
from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.server import VendorRules
from kasuwa.rails.twins.vtpass import VtpassRules
from kasuwa.rails.vendors.amounts import read_balance, read_major
from kasuwa.rails.vendors.dojah import DojahIdentity, DojahKeys
from kasuwa.rails.vendors.monnify.session import MonnifyKeys
from kasuwa.rails.vendors.monnify.transfers import MonnifyBank
from kasuwa.rails.vendors.paystack.transfers import PaystackBank, PaystackKeys
from kasuwa.rails.vendors.vtpass.bills import VtpassBiller, VtpassKeys
from tests.rails.vendors.adapters import Observed, twin_of


def make_rail(rules: VendorRules, transport: Any, url: str) -> FundedRail:
    match rules:
        case PaystackRules():
            return PaystackBank(transport, url, PaystackKeys("sk_test_1"), "test", Observed())
        case MonnifyRules():
            return MonnifyBank(transport, url, MonnifyKeys("MK_TEST_1", "secret-1", "8016472829"), Observed())
        case VtpassRules():
            keys = VtpassKeys("api-1", "PK_1", "SK_1")
            return VtpassBiller(transport, url, keys, "08039999999", Observed(), rules.now)
    return DojahIdentity(transport, url, DojahKeys("app-1", "test_sk_1"), Observed())


@pytest.mark.parametrize(
    ("rules", "kobo"),
    [
        (PaystackRules(), 10_000_000_00),
        (MonnifyRules(), 10_000_000_00),
        (VtpassRules(), 1_000_000_00),
        (DojahRules(), 5_000_50),
    ],
)
def test_balance_is_in_minor_units_by_currency(rules: VendorRules, kobo: int) -> None:
    async def run() -> Any:
        async with twin_of(rules) as (twin, transport):
            return await make_rail(rules, transport, twin.url).balance()

    assert asyncio.run(run()) == {"NGN": kobo}


@pytest.mark.parametrize(
    ("value", "minor"),
    [
        (Decimal("0.01"), 1),
        ("0.99", 99),
        (30, 3000),
        ("30.000", 3000),
        (Decimal(2**53) / 100, 2**53),
        ("30.001", None),
        ("-1", None),
        (" 1", None),
        ("1e3", None),
        (True, None),
        (1.5, None),
        (None, None),
    ],
)
def test_amounts_in_major_units_are_read_exactly(value: Any, minor: int | None) -> None:
    assert read_major(value) == minor


def test_balance_with_parts_of_a_kobo_is_rounded_down() -> None:
    assert (read_balance("10.999"), read_balance(Decimal("-0.001")), read_balance(7)) == (1099, -1, 700)
    with pytest.raises(UnreadableAnswer):
        read_balance({"amount": 1})
