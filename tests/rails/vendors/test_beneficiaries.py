"""The name on the account of a transfer: each vendor looks it up before it sends, it is kept with the order, and a
vendor that knows another name sends nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any

import msgspec
import pytest

from kasuwa.core.banks import Bank, all_banks, bank_of_code
from kasuwa.core.references import movement_reference, rail_key
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import BENEFICIARY_NAME, BankRail, NoAnswer, TransferOrder, Unavailable
from kasuwa.rails.routing.beneficiaries import OTHER_BENEFICIARY, are_names_of_one
from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.server import FaultKind, Twin
from kasuwa.rails.vendors.monnify.session import MonnifyKeys
from kasuwa.rails.vendors.monnify.transfers import MonnifyBank
from kasuwa.rails.vendors.paystack.transfers import PaystackBank, PaystackKeys
from tests.rails.banks import GTBANK
from tests.rails.vendors.adapters import FAULTS_OF_ORDERS, Observed, twin_of

KEY = rail_key(12, movement_reference("FD", 123_456_789, date(2026, 1, 5)))
ORDER = TransferOrder(KEY, 150_000, "NGN", GTBANK, "0123456784", "Ada Stores", "Invoice 1042")
MONEY_CALLS = {"paystack": "/transfer", "monnify": "/api/v2/disbursements/single"}


def at_vendor(vendor: str, work: Callable[[BankRail, Twin, Any], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        rules: Any = PaystackRules() if vendor == "paystack" else MonnifyRules()
        async with twin_of(rules) as (twin, transport):
            rail: BankRail
            if vendor == "paystack":
                rail = PaystackBank(transport, twin.url, PaystackKeys("sk_test_1"), "test", Observed())
            else:
                keys = MonnifyKeys("MK_TEST_1", "secret-1", "8016472829")
                rail = MonnifyBank(transport, twin.url, keys, Observed())
            return await work(rail, twin, rules)

    return asyncio.run(run())


@pytest.mark.parametrize("vendor", MONEY_CALLS)
def test_answer_tells_the_name_that_was_looked_up(vendor: str) -> None:
    async def work(rail: BankRail, twin: Twin, rules: Any) -> None:
        answer = await rail.transfer(ORDER)
        assert answer.facts[BENEFICIARY_NAME] == "ADA OBI"

    at_vendor(vendor, work)


@pytest.mark.parametrize("fault", FAULTS_OF_ORDERS)
@pytest.mark.parametrize("vendor", MONEY_CALLS)
def test_name_is_kept_also_if_no_answer_comes(vendor: str, fault: FaultKind) -> None:
    async def work(rail: BankRail, twin: Twin, rules: Any) -> None:
        if vendor == "paystack":
            assert isinstance(rail, PaystackBank)
            await rail._find_recipient("058", ORDER)
        twin.add_fault(fault, MONEY_CALLS[vendor])
        with pytest.raises((Unavailable, NoAnswer)) as caught:
            await rail.transfer(ORDER)
        error = caught.value
        recorded = (
            orders.record_unavailable(error) if isinstance(error, Unavailable) else orders.record_silence(error)  # type: ignore[arg-type]
        )
        assert recorded.facts == {BENEFICIARY_NAME: "ADA OBI"}

    at_vendor(vendor, work)


@pytest.mark.parametrize("vendor", MONEY_CALLS)
def test_account_of_another_name_than_before_is_not_paid(vendor: str) -> None:
    async def work(rail: BankRail, twin: Twin, rules: Any) -> None:
        assert await rail.transfer(msgspec.structs.replace(ORDER, beneficiary_name="CHIDI EZE")) == OTHER_BENEFICIARY
        assert rules.transfers == {}
        same = msgspec.structs.replace(ORDER, beneficiary_name="Obi, Ada Chidinma")
        assert (await rail.transfer(same)).status == orders.PROCESSING
        assert len(rules.transfers) == 1

    at_vendor(vendor, work)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("ADA OBI", "Obi Ada", True),
        ("ADA OBI", "ADA CHIDINMA OBI", True),
        ("ADA STORES LTD", "Ada Stores Limited", True),
        ("ADA OBI", "CHIDI OBI", False),
        ("ADA OBI", "CHIDI EZE", False),
        ("", "ADA OBI", False),
        ("A. B.", "A. B.", False),
    ],
)
def test_names_of_one_person_differ_in_order_and_middle_names(first: str, second: str, expected: bool) -> None:
    assert are_names_of_one(first, second) is expected
    assert are_names_of_one(second, first) is expected


# --- banks -----------------------------------------------------------------------------------------------------------


def test_every_code_of_a_bank_leads_to_the_same_bank() -> None:
    assert bank_of_code("058") is bank_of_code("000013") is GTBANK
    assert (GTBANK.cbn_code, GTBANK.nip_code) == ("058", "000013")


def test_bank_of_an_open_order_is_found_also_after_it_was_closed() -> None:
    closed = [bank for bank in all_banks() if bank.status == "closed"]
    for bank in closed:
        code = bank.nip_code or bank.cbn_code
        assert code is not None
        assert code in (bank_of_code(code).nip_code, bank_of_code(code).cbn_code)
    assert bank_of_code("999999") == Bank(None, "999999", "", None, "", "")
    assert bank_of_code("99999") == Bank("99999", None, "", None, "", "")
