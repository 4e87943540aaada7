"""Reserved accounts at Monnify, against its twin: opening, refusals, lost answers, receipts."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from kasuwa.core.references import movement_reference, rail_key, wire_reference
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.accounts import AccountOrder
from kasuwa.rails.ports.orders import NoAnswer, Unavailable
from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.monnify_accounts import MonnifyAccountRules
from kasuwa.rails.twins.server import FaultKind, Twin
from kasuwa.rails.vendors.client import VendorReply
from kasuwa.rails.vendors.monnify.accounts import RESERVE, MonnifyAccounts, read_account, read_receipt
from kasuwa.rails.vendors.monnify.session import LOG_IN, MonnifyKeys
from tests.rails.vendors.adapters import FAULTS_OF_ORDERS, Observed, twin_of

KEYS = MonnifyKeys("MK_TEST_1", "secret-1", "8016472829", "4934121686")
KEY = rail_key(12, movement_reference("PA", 123_456_789, date(2026, 1, 5)))
SINCE = datetime(2026, 1, 1, tzinfo=UTC)


def order(**changes: Any) -> AccountOrder:
    found = AccountOrder(KEY, "Ada Obi", "ada@example.com", "035", "22212345678")
    return msgspec.structs.replace(found, **changes)


class VendorHarness:
    """The adapter and its vendor."""

    def __init__(self, twin: Twin, rules: MonnifyRules, transport: Any, keys: MonnifyKeys) -> None:
        self.twin = twin
        self.bank: MonnifyRules = rules
        self.rules: MonnifyAccountRules = rules.accounts
        self.rail = MonnifyAccounts(transport, twin.url, keys, Observed())

    def pay_into(self, number: str, amount: str = "1500.00") -> str:
        self.rules.pay_into(number, Decimal(amount))
        return list(self.rules.payments)[-1]


def at_monnify(work: Callable[[VendorHarness], Awaitable[Any]], keys: MonnifyKeys = KEYS) -> Any:
    async def run() -> Any:
        rules = MonnifyRules()
        async with twin_of(rules) as (twin, transport):
            return await work(VendorHarness(twin, rules, transport, keys))

    return asyncio.run(run())


# --- opening ---------------------------------------------------------------------------------------------------


def test_account_is_opened_at_the_preferred_bank() -> None:
    answer = at_monnify(lambda harness: harness.rail.open(order()))
    assert (answer.status, answer.code) == (orders.SUCCESSFUL, "00")
    assert answer.facts == {
        "account_number": "6010000000",
        "bank_name": "Wema bank",
        "bank_code": "035",
        "account_name": "Ada Obi",
    }


def test_account_of_a_bank_that_the_vendor_has_not_is_at_its_first() -> None:
    answer = at_monnify(lambda harness: harness.rail.open(order(bank_code="058")))
    assert answer.facts["bank_name"] == "Moniepoint Microfinance Bank"


def test_second_opening_returns_the_first_account() -> None:
    async def work(harness: VendorHarness) -> None:
        first = await harness.rail.open(order())
        assert await harness.rail.open(order()) == first
        assert await harness.rail.query(order()) == first
        assert len(harness.rules.accounts) == 1

    at_monnify(work)


def test_token_that_ends_is_renewed_and_the_account_opened_once() -> None:
    async def work(harness: VendorHarness) -> None:
        await harness.rail.query(order())
        harness.bank.end_token()
        assert (await harness.rail.open(order())).status == orders.SUCCESSFUL
        assert (harness.twin.count(LOG_IN), len(harness.rules.accounts)) == (2, 1)

    at_monnify(work)


@pytest.mark.parametrize(
    ("bvn", "status", "words", "has_notice"),
    [
        ("22212345601", orders.FAILED, "Invalid BVN supplied", False),
        ("22212345602", orders.NOT_FOUND, "Something went wrong", True),
        ("", orders.FAILED, "BVN or NIN is required", False),
    ],
)
def test_refusals(bvn: str, status: str, words: str, has_notice: bool) -> None:
    answer = at_monnify(lambda harness: harness.rail.open(order(bvn=bvn)))
    assert (answer.status, answer.message, bool(answer.notice)) == (status, words, has_notice)


@pytest.mark.parametrize(
    ("bvn", "keys"), [("22212345603", KEYS), ("22212345678", msgspec.structs.replace(KEYS, contract_code="1"))]
)
def test_trouble_with_our_contract_is_the_operators(bvn: str, keys: MonnifyKeys) -> None:
    with pytest.raises(Unavailable) as caught:
        at_monnify(lambda harness: harness.rail.open(order(bvn=bvn)), keys)
    assert "opens no accounts for us" in caught.value.notice


@pytest.mark.parametrize("fault", FAULTS_OF_ORDERS)
def test_lost_answer_is_asked_after_and_one_account_is_opened(fault: FaultKind) -> None:
    error, is_done = FAULTS_OF_ORDERS[fault]

    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault(fault, RESERVE)
        with pytest.raises(error):
            await harness.rail.open(order())
        if fault != "too_many":
            found = await harness.rail.query(order())
            assert found.status == (orders.SUCCESSFUL if is_done else orders.NOT_FOUND)
            assert (await harness.rail.open(order())).status == orders.SUCCESSFUL
        assert len(harness.rules.accounts) == (0 if fault == "too_many" else 1)

    at_monnify(work)


def test_query_that_is_not_answered_says_nothing_of_the_account() -> None:
    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault("bad_gateway", RESERVE)
        with pytest.raises(Unavailable):
            await harness.rail.query(order())
        harness.twin.add_fault("page", RESERVE)
        with pytest.raises(NoAnswer):
            await harness.rail.query(order())

    at_monnify(work)


@pytest.mark.parametrize(
    "changes",
    [
        {"accountReference": "kz13-gp-pa-123456789-20260105x"},
        {"currencyCode": "USD"},
        {"status": "ENCHANTED"},
        {"accounts": []},
        {"accounts": [{"accountNumber": 5}]},
    ],
)
def test_account_that_was_not_ordered_is_unreadable(changes: dict[str, Any]) -> None:
    accounts = [{"bankCode": "035", "bankName": "Wema bank", "accountNumber": "6010000000", "accountName": "Ada"}]
    body = {"accountReference": wire_reference(KEY), "status": "ACTIVE", "accounts": accounts, **changes}
    assert read_account(VendorReply(200, {"responseBody": body}), order()).status == orders.UNREADABLE


def test_closing_twice_is_harmless() -> None:
    async def work(harness: VendorHarness) -> None:
        await harness.rail.open(order())
        for _ in range(2):
            assert (await harness.rail.close(order())).status == orders.SUCCESSFUL
        assert harness.rules.accounts == {}

    at_monnify(work)


def test_nothing_of_the_owner_is_in_the_order_as_text() -> None:
    assert repr(order()) == f"AccountOrder({KEY})"


# --- receipts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("naira", "kobo"), [("0.01", 1), ("0.99", 99), (f"{2**53 / 100:.2f}", 2**53)])
def test_receipt_is_fetched_exactly(naira: str, kobo: int) -> None:
    async def work(harness: VendorHarness) -> None:
        opened = await harness.rail.open(order())
        reference = harness.pay_into(opened.facts["account_number"], naira)
        receipt = await harness.rail.find_receipt(reference)
        assert receipt is not None
        assert (receipt.amount, receipt.currency, receipt.status) == (kobo, "NGN", orders.SUCCESSFUL)
        assert (receipt.account_key, receipt.sender_name, receipt.reference) == (KEY, "CHIDI EZE", reference)

    at_monnify(work)


def test_receipt_into_another_number_of_the_account_names_the_same_account() -> None:
    async def work(harness: VendorHarness) -> None:
        await harness.rail.open(order())
        receipt = await harness.rail.find_receipt(harness.pay_into("7010000000"))
        assert receipt is not None
        assert receipt.account_key == KEY

    at_monnify(work)


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("PAID", orders.SUCCESSFUL),
        ("OVERPAID", orders.SUCCESSFUL),
        ("PENDING", orders.PROCESSING),
        ("PARTIALLY_PAID", orders.PROCESSING),
        ("FAILED", orders.FAILED),
        ("CANCELLED", orders.FAILED),
        ("ABANDONED", orders.FAILED),
        ("EXPIRED", orders.FAILED),
        ("REVERSED", orders.FAILED),
        ("ENCHANTED", orders.UNREADABLE),
    ],
)
def test_statuses_of_receipts(word: str, status: str) -> None:
    assert read({"paymentStatus": word}) == status


@pytest.mark.parametrize(
    "changes", [{"amountPaid": "1500.001"}, {"amountPaid": None}, {"amountPaid": 0}, {"transactionReference": "other"}]
)
def test_receipt_that_cannot_be_trusted_is_unreadable(changes: dict[str, Any]) -> None:
    assert read(changes) == orders.UNREADABLE


def read(changes: dict[str, Any]) -> str | None:
    body = {
        "transactionReference": "MNFY|1",
        "amountPaid": "1500.00",
        "paymentStatus": "PAID",
        "product": {"type": "RESERVED_ACCOUNT", "reference": wire_reference(KEY)},
        **changes,
    }
    found = read_receipt(VendorReply(200, {"responseBody": body}), "MNFY|1")
    return None if found is None else found.status


def test_other_payments_are_no_receipts() -> None:
    assert read({"product": {"type": "WEB_SDK", "reference": wire_reference(KEY)}}) is None
    assert read({"product": None}) is None
    assert at_monnify(lambda harness: harness.rail.find_receipt("MNFY|nobody")) is None


def test_all_pages_of_receipts_are_listed() -> None:
    async def work(harness: VendorHarness) -> None:
        opened = await harness.rail.open(order())
        expected = {harness.pay_into(opened.facts["account_number"]) for _ in range(130)}
        assert set(await harness.rail.list_receipts(order(facts=opened.facts), SINCE)) == expected
        harness.twin.add_fault("page", "/api/v1/bank-transfer")
        with pytest.raises(NoAnswer):
            await harness.rail.list_receipts(order(facts=opened.facts), SINCE)

    at_monnify(work)
