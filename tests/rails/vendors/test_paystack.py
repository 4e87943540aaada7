"""Transfers at Paystack, against its twin: every status and refusal, lost answers, duplicates, and call-backs."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from datetime import date
from hashlib import sha512
from typing import Any

import msgspec
import pytest

from kasuwa.core.banks import banks_by_code
from kasuwa.core.references import movement_reference, rail_key, wire_reference
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.callbacks import CallbackRefused
from kasuwa.rails.ports.orders import LookupDeclined, NameAnswer, NameEnquiry, NoAnswer, TransferOrder, Unavailable
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.server import FaultKind, Twin
from kasuwa.rails.vendors.bank_codes import VendorBank, map_banks
from kasuwa.rails.vendors.client import VendorReply
from kasuwa.rails.vendors.paystack.transfers import (
    EXCEPTIONS,
    PaystackBank,
    PaystackKeys,
    Recipient,
    make_callbacks,
    read_bank,
    read_transfer,
)
from tests.rails.banks import GTBANK, UNION
from tests.rails.vendors.adapters import FAULTS_OF_ORDERS, Observed, twin_of

KEYS = PaystackKeys("sk_test_1")
REFERENCE = movement_reference("FD", 123_456_789, date(2026, 1, 5))
KEY = rail_key(12, REFERENCE)


def order(account: str = "0123456784", **changes: Any) -> TransferOrder:
    found = TransferOrder(KEY, 150_000, "NGN", GTBANK, account, "Ada Stores", "Invoice 1042")
    return msgspec.structs.replace(found, **changes)


class VendorHarness:
    """The adapter and its vendor."""

    def __init__(self, twin: Twin, rules: PaystackRules, rail: PaystackBank) -> None:
        self.twin = twin
        self.rules = rules
        self.rail = rail


def at_paystack(work: Callable[[VendorHarness], Awaitable[Any]], keys: PaystackKeys = KEYS) -> Any:
    async def run() -> Any:
        rules = PaystackRules()
        async with twin_of(rules) as (twin, transport):
            return await work(VendorHarness(twin, rules, PaystackBank(transport, twin.url, keys, "test", Observed())))

    return asyncio.run(run())


# --- transfers -------------------------------------------------------------------------------------------------


def test_transfer_is_sent_once_and_ends_by_a_query() -> None:
    async def work(harness: VendorHarness) -> None:
        assert (await harness.rail.transfer(order())).status == orders.PROCESSING
        ended = await harness.rail.query(order())
        assert (ended.status, ended.code) == (orders.SUCCESSFUL, "00")
        [paid] = harness.rules.transfers.values()
        assert (paid.reference, paid.amount, paid.recipient) == (wire_reference(KEY), 150_000, "RCP_0580123456784")

    at_paystack(work)


def test_recipient_and_banks_are_looked_up_once() -> None:
    async def work(harness: VendorHarness) -> None:
        for number in range(3):
            await harness.rail.transfer(order(key=rail_key(number + 1, REFERENCE)))
        assert [harness.twin.count(path) for path in ("/bank", "/bank/resolve", "/transferrecipient", "/transfer")] == [
            3,
            1,
            1,
            3,
        ]

    at_paystack(work)


@pytest.mark.parametrize(
    ("account", "status", "code", "has_notice"),
    [
        ("0123456701", orders.PROCESSING, "09", False),
        ("0123456702", orders.FAILED, "05", False),
        ("0123456703", orders.UNKNOWN, "09", True),
        ("0123456704", orders.FAILED, "05", True),
        ("0123456705", orders.UNREADABLE, None, False),
        ("0123456709", orders.FAILED, "07", False),
    ],
)
def test_outcomes(account: str, status: str, code: str | None, has_notice: bool) -> None:
    answer = at_paystack(lambda harness: harness.rail.transfer(order(account)))
    assert (answer.status, answer.code, bool(answer.notice)) == (status, code, has_notice)


def test_bank_that_cannot_be_mapped_is_refused_before_anything_is_sent() -> None:
    async def work(harness: VendorHarness) -> None:
        answer = await harness.rail.transfer(order(bank=UNION))
        assert (answer.status, answer.code) == (orders.FAILED, "16")
        assert harness.twin.count("/transfer") == 0

    at_paystack(work)


@pytest.mark.parametrize("fault", FAULTS_OF_ORDERS)
def test_lost_answer_then_query(fault: FaultKind) -> None:
    expected, is_paid = FAULTS_OF_ORDERS[fault]

    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault(fault, "/transfer")  # also the first call whose path begins so
        harness.rail._recipients["058", "0123456784"] = Recipient("RCP_0580123456784", "ADA OBI")
        harness.rules.recipients["RCP_0580123456784"] = ("058", "0123456784")
        with pytest.raises((Unavailable, NoAnswer)) as caught:
            await harness.rail.transfer(order())
        assert type(caught.value) is expected
        assert len(harness.rules.transfers) == is_paid
        if fault != "too_many":
            asked = await harness.rail.query(order())
            assert asked.status == (orders.SUCCESSFUL if is_paid else orders.NOT_FOUND)

    at_paystack(work)


@pytest.mark.parametrize("path", ["/bank", "/bank/resolve", "/transferrecipient"])
@pytest.mark.parametrize("fault", ["lose", "page", "bad_gateway", "too_many"])
def test_trouble_before_the_money_call_means_that_nothing_was_sent(path: str, fault: FaultKind) -> None:
    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault(fault, path)
        with pytest.raises(Unavailable):
            await harness.rail.transfer(order())
        assert harness.rules.transfers == {}

    at_paystack(work)


def test_used_reference_is_looked_up_and_paid_once() -> None:
    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault("lose", "/transfer", 1)
        harness.rail._recipients["058", "0123456784"] = Recipient("RCP_0580123456784", "ADA OBI")
        harness.rules.recipients["RCP_0580123456784"] = ("058", "0123456784")
        with pytest.raises(NoAnswer):
            await harness.rail.transfer(order())
        assert (await harness.rail.transfer(order())).status == orders.SUCCESSFUL
        assert len(harness.rules.transfers) == 1

    at_paystack(work)


@pytest.mark.parametrize(("narration", "sender"), [("", ""), (" ", " "), ("", "Ada Stores"), (" ", "Ada Stores")])
def test_a_transfer_without_a_narration_names_the_sender_or_gives_no_reason(narration: str, sender: str) -> None:
    async def work(harness: VendorHarness) -> None:
        answer = await harness.rail.transfer(order(narration=narration, sender_name=sender))
        assert answer.status == orders.PROCESSING
        assert harness.twin.requests[-1].body.get("reason", "") == sender.strip()

    at_paystack(work)


def test_recipient_that_the_vendor_forgot_is_made_again() -> None:
    async def work(harness: VendorHarness) -> None:
        await harness.rail.transfer(order())
        harness.rules.recipients.clear()
        second = order(key=rail_key(13, REFERENCE))
        assert (await harness.rail.transfer(second)).status == orders.PROCESSING
        assert len(harness.rules.transfers) == 2

    at_paystack(work)


def test_short_balance_tells_the_operator_and_nothing_is_done() -> None:
    async def work(harness: VendorHarness) -> None:
        harness.rules.balance = 0
        with pytest.raises(Unavailable) as caught:
            await harness.rail.transfer(order())
        assert "fund it" in caught.value.notice
        assert harness.rules.transfers == {}

    at_paystack(work)


def test_wrong_key_tells_the_operator_and_shows_nothing() -> None:
    keys = PaystackKeys("sk_test_secret")

    async def work(harness: VendorHarness) -> None:
        with pytest.raises(Unavailable) as caught:
            await harness.rail.query(order())
        assert "check the keys" in caught.value.notice
        assert "sk_test_secret" not in f"{caught.value!r} {caught.value.notice} {keys!r}"

    at_paystack(work, keys)


@pytest.mark.parametrize("amount", [1, 99, 2**53])
def test_amounts_are_exact_on_the_wire(amount: int) -> None:
    async def work(harness: VendorHarness) -> None:
        harness.rules.balance = 2**60
        await harness.rail.transfer(order(amount=amount))
        [paid] = harness.rules.transfers.values()
        assert paid.amount == amount
        assert (await harness.rail.query(order(amount=amount))).status == orders.SUCCESSFUL

    at_paystack(work)


REFUSALS: dict[str, tuple[int, dict[str, Any], str | type[Exception]]] = {
    "fraud": (400, {"message": "This recipient is on our fraud list"}, orders.FAILED),
    "form": (400, {"message": "Amount is invalid", "type": "validation_error"}, orders.FAILED),
    "bank error": (400, {"message": "An unspecified error occurred"}, orders.NOT_FOUND),
    "api error": (400, {"message": "Oops", "type": "api_error", "code": "unknown"}, orders.NOT_FOUND),
    "starter": (400, {"message": "You cannot initiate third party payouts as a starter business"}, Unavailable),
    "refused with 200": (200, {"message": "Could not process"}, orders.NOT_FOUND),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_of_an_order_that_the_vendor_does_not_know(name: str) -> None:
    http, body, expected = REFUSALS[name]

    async def work(harness: VendorHarness) -> None:
        reply = VendorReply(http, {"status": False, **body})
        if expected is Unavailable:
            with pytest.raises(Unavailable) as caught:
                await harness.rail._judge_refusal(reply, order())
            assert caught.value.notice
        else:
            assert (await harness.rail._judge_refusal(reply, order())).status == expected

    at_paystack(work)


DATA = {"status": "success", "amount": 150_000, "currency": "NGN", "reference": wire_reference(KEY), "domain": "test"}


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, orders.SUCCESSFUL),
        ({"status": "reversed"}, orders.FAILED),
        ({"status": "abandoned"}, orders.FAILED),
        ({"status": "rejected"}, orders.FAILED),
        ({"status": "received"}, orders.UNKNOWN),
        ({"status": "queued"}, orders.UNREADABLE),
        ({"status": None}, orders.UNREADABLE),
        ({"amount": 150_001}, orders.UNREADABLE),
        ({"currency": "GHS"}, orders.UNREADABLE),
        ({"reference": "somebody-elses"}, orders.UNREADABLE),
        ({"domain": "live"}, orders.UNREADABLE),
    ],
)
def test_statuses(change: dict[str, Any], status: str) -> None:
    reply = VendorReply(200, {"status": True, "message": "", "data": DATA | change})
    assert read_transfer(reply, order(), "test").status == status


# --- names and banks -------------------------------------------------------------------------------------------


def test_names() -> None:
    async def work(harness: VendorHarness) -> None:
        assert await harness.rail.find_account_name(NameEnquiry(GTBANK, "0123456784")) == NameAnswer("ADA OBI")
        unknown = await harness.rail.find_account_name(NameEnquiry(GTBANK, "0123456709"))
        assert unknown.name is None
        with pytest.raises(LookupDeclined):
            await harness.rail.find_account_name(NameEnquiry(UNION, "0123456784"))

    at_paystack(work)


@pytest.mark.parametrize(
    ("words", "message"),
    [(None, "The bank could not pay"), ("", "The bank could not pay"), ("Account is dormant", "Account is dormant")],
)
def test_the_reason_of_a_failed_transfer_is_the_banks_and_never_our_narration(words: Any, message: str) -> None:
    async def work(harness: VendorHarness) -> None:
        harness.rules.bank_words = words
        await harness.rail.transfer(order("0123456702"))
        found = await harness.rail.query(order("0123456702"))
        assert (found.status, found.message) == (orders.FAILED, message)

    at_paystack(work)


def test_banks_are_mapped_by_what_identifies_them() -> None:
    listed = [
        VendorBank("Anything", "058", "000013"),
        VendorBank("UBA Plc", "033"),
        VendorBank("Something else", "044"),
        VendorBank("OPay Digital Services", "999992"),
    ]
    mapped = map_banks(listed, EXCEPTIONS)
    banks = banks_by_code()
    assert mapped == {banks["058"]: "058", banks["033"]: "033", banks["100004"]: "999992"}


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"name": "X", "code": 44},
        {"name": "X", "code": "044", "active": False},
        {"name": "X", "code": "044", "is_deleted": True},
        {"name": "X", "code": "044", "supports_transfer": False},
    ],
)
def test_banks_that_cannot_be_paid_are_left_out(row: Any) -> None:
    assert read_bank(row) is None


def test_banks_that_the_vendor_does_not_list_are_named() -> None:
    unmapped = at_paystack(lambda harness: harness.rail.list_unmapped_banks())
    assert unmapped
    assert "Access bank" not in unmapped


def test_last_list_of_banks_stays_when_the_next_cannot_be_read() -> None:
    async def run() -> None:
        now = [0.0]
        async with twin_of(PaystackRules()) as (twin, transport):
            rail = PaystackBank(transport, twin.url, KEYS, "test", Observed(), lambda: now[0])
            assert await rail._banks.find_code(GTBANK) == "058"
            now[0] = 100_000.0
            twin.add_fault("bad_gateway", "/bank")
            assert await rail._banks.find_code(GTBANK) == "058"

    asyncio.run(run())


# --- call-backs ------------------------------------------------------------------------------------------------

NOT_UTF8 = b'{"event":"transfer.success","data":{"reference":"\xff"}}'


def find_order(body: bytes, signature: str | None, path: str = "") -> str | None:
    return make_callbacks(KEYS).find_order(path, {"x-paystack-signature": signature}.get, body)


def test_signed_callback_names_its_order() -> None:
    body, headers = PaystackRules().sign({"event": "transfer.success", "data": {"reference": wire_reference(KEY)}})
    assert find_order(body, headers["x-paystack-signature"]) == KEY
    for changed, signature, path in (
        (body + b" ", headers["x-paystack-signature"], ""),
        (body, headers["x-paystack-signature"][:-1] + "0x"[headers["x-paystack-signature"][-1] == "0"], ""),
        (body, None, ""),
        (body, "", ""),
        (body, "é", ""),
        (body, headers["x-paystack-signature"], "more"),
    ):
        with pytest.raises(CallbackRefused):
            find_order(changed, signature, path)


def test_a_signed_callback_that_is_not_utf8_names_no_order() -> None:
    signature = hmac.new(KEYS.secret_key.encode(), NOT_UTF8, sha512).hexdigest()
    assert find_order(NOT_UTF8, signature) is None


@pytest.mark.parametrize(
    "event",
    [
        {"event": "charge.success", "data": {"reference": wire_reference(KEY)}},
        {"event": "transfer.success", "data": {"reference": "somebody-elses"}},
        {"event": "transfer.success", "data": {"reference": 7}},
        {"event": "transfer.success"},
        [],
    ],
)
def test_callback_of_nobody_names_no_order(event: Any) -> None:
    body, headers = PaystackRules().sign(event)
    assert find_order(body, headers["x-paystack-signature"]) is None
