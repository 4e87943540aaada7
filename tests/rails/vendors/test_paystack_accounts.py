"""Dedicated accounts at Paystack, against its twin: customers, opening, refusals, lost answers, receipts."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from typing import Any

import msgspec
import pytest

from kasuwa.core.references import movement_reference, rail_key
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.accounts import AccountOrder
from kasuwa.rails.ports.orders import NoAnswer, Unavailable
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.paystack_accounts import PaystackAccountRules
from kasuwa.rails.twins.server import FaultKind, Twin
from kasuwa.rails.vendors.paystack.accounts import PaystackAccounts, PaystackAccountTerms, read_account, read_receipt
from kasuwa.rails.vendors.paystack.transfers import PaystackKeys
from tests.rails.vendors.adapters import FAULTS_OF_ORDERS, Observed, twin_of

KEYS = PaystackKeys("sk_test_1")
TERMS = PaystackAccountTerms("08031234567", "pay.example.com", "test-bank")
KEY = rail_key(12, movement_reference("PA", 123_456_789, date(2026, 1, 5)))
OTHER_KEY = rail_key(13, movement_reference("PA", 123_456_789, date(2026, 1, 5)))
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
PATH = "/dedicated_account"


def order(**changes: Any) -> AccountOrder:
    return msgspec.structs.replace(AccountOrder(KEY, "Ada Obi", "ada@example.com", "035"), **changes)


class VendorHarness:
    """The adapter and its vendor."""

    def __init__(self, twin: Twin, rules: PaystackRules, transport: Any, terms: PaystackAccountTerms) -> None:
        self.twin = twin
        self.rules: PaystackAccountRules = rules.accounts
        self.rail = PaystackAccounts(transport, twin.url, KEYS, "test", terms, Observed())

    @property
    def opened(self) -> int:
        return sum(customer.account is not None for customer in self.rules.customers.values())

    def pay_into(self, number: str, amount: int = 150_000) -> str:
        self.rules.pay_into(number, amount)
        return list(self.rules.payments)[-1]


def at_paystack(work: Callable[[VendorHarness], Awaitable[Any]], terms: PaystackAccountTerms = TERMS) -> Any:
    async def run() -> Any:
        rules = PaystackRules()
        async with twin_of(rules) as (twin, transport):
            return await work(VendorHarness(twin, rules, transport, terms))

    return asyncio.run(run())


# --- opening ---------------------------------------------------------------------------------------------------


def test_account_is_opened_for_a_customer_of_its_own() -> None:
    async def work(harness: VendorHarness) -> None:
        answer = await harness.rail.open(order())
        assert (answer.status, answer.facts["bank_name"]) == (orders.SUCCESSFUL, "Test Bank")
        assert answer.facts["account_name"] == "KASUWA/ADA OBI"
        other = await harness.rail.open(order(key=OTHER_KEY))
        assert other.facts["account_number"] != answer.facts["account_number"]
        [first, _] = harness.rules.customers.values()
        assert first.email == "kz12-gp-pa-123456789-" + KEY[-9:].lower() + "@pay.example.com"
        assert (first.first_name, first.last_name, first.phone) == ("Ada", "Obi", "08031234567")

    at_paystack(work)


def test_second_opening_looks_first_and_opens_nothing() -> None:
    async def work(harness: VendorHarness) -> None:
        first = await harness.rail.open(order())
        assert await harness.rail.open(order()) == first
        assert await harness.rail.query(order()) == first
        posted = [request for request in harness.twin.requests if (request.method, request.path) == ("POST", PATH)]
        assert (len(posted), harness.opened) == (1, 1)

    at_paystack(work)


def test_account_that_is_assigned_later_is_in_progress_until_then() -> None:
    async def work(harness: VendorHarness) -> None:
        harness.rules.holds_assignments = True
        assert (await harness.rail.open(order())).status == orders.PROCESSING
        assert (await harness.rail.query(order())).status == orders.PROCESSING
        harness.rules.assign(next(iter(harness.rules.customers)))
        assert (await harness.rail.query(order())).status == orders.SUCCESSFUL

    at_paystack(work)


def test_unknown_customer_and_customer_without_account_are_not_found() -> None:
    async def work(harness: VendorHarness) -> None:
        assert (await harness.rail.query(order())).status == orders.NOT_FOUND
        harness.twin.add_fault("drop", PATH, count=2)
        with pytest.raises(Unavailable):
            await harness.rail.open(order())
        with pytest.raises(Unavailable):
            await harness.rail.query(order())
        assert (await harness.rail.query(order())).status == orders.NOT_FOUND
        assert (await harness.rail.open(order())).status == orders.SUCCESSFUL
        assert harness.opened == 1

    at_paystack(work)


@pytest.mark.parametrize(
    ("name", "status", "notice"),
    [
        ("Ada Refused", orders.FAILED, "wants a customer's identity"),
        ("Ada Vague", orders.NOT_FOUND, "does not open an account"),
    ],
)
def test_refusals(name: str, status: str, notice: str) -> None:
    answer = at_paystack(lambda harness: harness.rail.open(order(name=name)))
    assert (answer.status, notice in answer.notice) == (status, True)


def test_form_that_the_vendor_refuses_fails_with_a_notice() -> None:
    terms = msgspec.structs.replace(TERMS, bank="no-bank")
    answer = at_paystack(lambda harness: harness.rail.open(order()), terms)
    assert (answer.status, answer.message) == (orders.FAILED, "Preferred bank is invalid")
    assert "refused the form" in answer.notice


@pytest.mark.parametrize(
    ("name", "terms"), [("Ada Limited", TERMS), ("Ada Obi", msgspec.structs.replace(TERMS, email_domain="nodomain"))]
)
def test_trouble_with_our_account_is_the_operators(name: str, terms: PaystackAccountTerms) -> None:
    with pytest.raises(Unavailable) as caught:
        at_paystack(lambda harness: harness.rail.open(order(name=name)), terms)
    assert "paystack" in caught.value.notice


def test_owner_with_one_name_is_taken() -> None:
    assert at_paystack(lambda harness: harness.rail.open(order(name="Ada"))).status == orders.SUCCESSFUL


@pytest.mark.parametrize("fault", FAULTS_OF_ORDERS)
def test_lost_answer_is_asked_after_and_one_account_is_opened(fault: FaultKind) -> None:
    error, is_done = FAULTS_OF_ORDERS[fault]

    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault(fault, PATH, method="POST")
        with pytest.raises(error):
            await harness.rail.open(order())
        if fault != "too_many":
            assert (await harness.rail.query(order())).status == (orders.SUCCESSFUL if is_done else orders.NOT_FOUND)
            assert (await harness.rail.open(order())).status == orders.SUCCESSFUL
            assert harness.opened == 1

    at_paystack(work)


def test_lost_answer_to_the_customer_means_that_nothing_was_opened() -> None:
    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault("lose", "/customer")
        with pytest.raises(Unavailable):
            await harness.rail.open(order())
        assert (len(harness.rules.customers), harness.opened) == (1, 0)
        assert (await harness.rail.open(order())).status == orders.SUCCESSFUL
        assert len(harness.rules.customers) == 1

    at_paystack(work)


@pytest.mark.parametrize(
    "changes",
    [{"account_number": None}, {"bank": None}, {"id": "x"}, {"currency": "USD"}, {"customer": {"email": "o@x.co"}}],
)
def test_account_that_was_not_ordered_is_unreadable(changes: dict[str, Any]) -> None:
    row = {"id": 1, "account_number": "9960000000", "bank": {"name": "Wema"}, "assigned": True, "currency": "NGN"}
    assert read_account({**row, **changes}, order(), "a@pay.example.com").status == orders.UNREADABLE


def test_closed_account_is_not_found_again() -> None:
    async def work(harness: VendorHarness) -> None:
        opened = await harness.rail.open(order())
        closing = order(facts=opened.facts)
        assert (await harness.rail.close(closing)).status == orders.SUCCESSFUL
        assert (await harness.rail.query(order())).status == orders.NOT_FOUND
        unknown = order(facts={**opened.facts, "rail_id": "5"})
        assert (await harness.rail.close(unknown)).status == orders.SUCCESSFUL

    at_paystack(work)


# --- receipts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kobo", [1, 99, 2**53])
def test_receipt_is_fetched_exactly(kobo: int) -> None:
    async def work(harness: VendorHarness) -> None:
        number = (await harness.rail.open(order())).facts["account_number"]
        receipt = await harness.rail.find_receipt(harness.pay_into(number, kobo))
        assert receipt is not None
        assert (receipt.amount, receipt.currency, receipt.status) == (kobo, "NGN", orders.SUCCESSFUL)
        assert (receipt.account_number, receipt.sender_name) == (number, "CHIDI EZE")

    at_paystack(work)


def read(**changes: Any) -> str | None:
    data = {
        "reference": "17000",
        "domain": "live",
        "status": "success",
        "amount": 100,
        "currency": "NGN",
        "channel": "dedicated_nuban",
        "metadata": {"receiver_account_number": "9960000000"},
        **changes,
    }
    found = read_receipt(data, "17000", "live")
    return None if found is None else found.status


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("success", orders.SUCCESSFUL),
        ("failed", orders.FAILED),
        ("reversed", orders.FAILED),
        ("abandoned", orders.FAILED),
        ("pending", orders.PROCESSING),
        ("ongoing", orders.PROCESSING),
        ("processing", orders.PROCESSING),
        ("queued", orders.PROCESSING),
        ("enchanted", orders.UNREADABLE),
    ],
)
def test_statuses_of_receipts(word: str, status: str) -> None:
    assert read(status=word) == status


@pytest.mark.parametrize(
    "changes", [{"amount": 0}, {"amount": "100"}, {"amount": True}, {"reference": "other"}, {"domain": "test"}]
)
def test_receipt_that_cannot_be_trusted_is_unreadable(changes: dict[str, Any]) -> None:
    assert read(**changes) == orders.UNREADABLE


def test_other_payments_are_no_receipts() -> None:
    assert read(channel="card") is None
    assert at_paystack(lambda harness: harness.rail.find_receipt("nobody")) is None


def test_unclear_answer_about_a_receipt_is_no_answer() -> None:
    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault("bad_gateway", "/transaction")
        with pytest.raises(Unavailable):
            await harness.rail.find_receipt("17000")
        harness.twin.add_fault("page", "/transaction")
        with pytest.raises(NoAnswer):
            await harness.rail.find_receipt("17000")

    at_paystack(work)


def test_all_pages_of_receipts_of_one_account_are_listed() -> None:
    async def work(harness: VendorHarness) -> None:
        opened = await harness.rail.open(order())
        expected = {harness.pay_into(opened.facts["account_number"]) for _ in range(130)}
        harness.pay_into("9999999999")
        assert set(await harness.rail.list_receipts(order(facts=opened.facts), SINCE)) == expected
        assert await harness.rail.list_receipts(order(facts=opened.facts), datetime(2126, 1, 1, tzinfo=UTC)) == []

    at_paystack(work)
