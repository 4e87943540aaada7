"""Transfers at Monnify, against its twin: tokens, statuses and refusals, lost answers, and call-backs."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any

import msgspec
import pytest

from kasuwa.core.banks import bank_of_code
from kasuwa.core.references import movement_reference, rail_key, wire_reference
from kasuwa.doctor.rails import examine_banks
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.callbacks import CallbackRefused
from kasuwa.rails.ports.orders import LookupDeclined, NameAnswer, NameEnquiry, NoAnswer, TransferOrder, Unavailable
from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.server import FaultKind, Twin
from kasuwa.rails.vendor_rails import VendorRails
from kasuwa.rails.vendors.client import VendorMonitor, VendorReply
from kasuwa.rails.vendors.monnify.session import LOG_IN, MonnifyKeys
from kasuwa.rails.vendors.monnify.transfers import SEND, MonnifyBank, clean_narration, make_callbacks, read_transfer
from kasuwa.settings.settings import read_settings
from tests.rails.banks import GTBANK, OPAY_CODE, UNION
from tests.rails.vendors.adapters import FAULTS_OF_ORDERS, Observed, twin_of

KEYS = MonnifyKeys("MK_TEST_1", "secret-1", "8016472829")
REFERENCE = movement_reference("FD", 123_456_789, date(2026, 1, 5))
KEY = rail_key(12, REFERENCE)


def order(account: str = "0123456784", **changes: Any) -> TransferOrder:
    found = TransferOrder(KEY, 150_000, "NGN", GTBANK, account, "Ada Stores", "Invoice 1042")
    return msgspec.structs.replace(found, **changes)


class VendorHarness:
    """The adapter and its vendor. `now` is the adapter's clock."""

    def __init__(self, twin: Twin, rules: MonnifyRules, transport: Any, keys: MonnifyKeys) -> None:
        self.twin = twin
        self.rules = rules
        self.now = 0.0
        self.rail = MonnifyBank(transport, twin.url, keys, Observed(), lambda: self.now)


def at_monnify(work: Callable[[VendorHarness], Awaitable[Any]], keys: MonnifyKeys = KEYS) -> Any:
    async def run() -> Any:
        rules = MonnifyRules()
        async with twin_of(rules) as (twin, transport):
            return await work(VendorHarness(twin, rules, transport, keys))

    return asyncio.run(run())


# --- tokens ----------------------------------------------------------------------------------------------------


def test_one_token_serves_many_calls_until_it_is_old() -> None:
    async def work(harness: VendorHarness) -> None:
        await asyncio.gather(*(harness.rail.query(order()) for _ in range(5)))
        assert harness.twin.count(LOG_IN) == 1
        harness.now = 3599 * 0.9 - 1
        await harness.rail.query(order())
        assert harness.twin.count(LOG_IN) == 1
        harness.now += 2
        await harness.rail.query(order())
        assert harness.twin.count(LOG_IN) == 2

    at_monnify(work)


def test_token_that_ends_during_an_order_is_renewed_and_it_is_sent_once() -> None:
    async def work(harness: VendorHarness) -> None:
        await harness.rail.find_account_name(NameEnquiry(GTBANK, "0123456784"))
        harness.rules.end_token()
        assert (await harness.rail.transfer(order())).status == orders.PROCESSING
        assert harness.twin.count(LOG_IN) == 2
        assert len(harness.rules.transfers) == 1

    at_monnify(work)


def test_wrong_keys_tell_the_operator_and_show_nothing() -> None:
    keys = MonnifyKeys("MK_TEST_1", "very-secret", "8016472829")

    async def work(harness: VendorHarness) -> None:
        with pytest.raises(Unavailable) as caught:
            await harness.rail.transfer(order())
        assert "check the keys" in caught.value.notice
        assert "very-secret" not in f"{caught.value!r} {caught.value.notice} {keys!r}"

    at_monnify(work, keys)


# --- transfers -------------------------------------------------------------------------------------------------


def test_transfer_is_sent_once_and_ends_by_a_query() -> None:
    async def work(harness: VendorHarness) -> None:
        assert (await harness.rail.transfer(order())).status == orders.PROCESSING
        ended = await harness.rail.query(order())
        assert (ended.status, ended.code) == (orders.SUCCESSFUL, "00")
        [paid] = harness.rules.transfers.values()
        assert (paid.reference, str(paid.amount)) == (wire_reference(KEY), "1500.00")
        [sent] = [request.body for request in harness.twin.requests if request.path == SEND]
        assert (sent["async"], sent["destinationAccountName"], sent["narration"]) == (True, "ADA OBI", "Invoice 1042")

    at_monnify(work)


@pytest.mark.parametrize(
    ("account", "status", "code", "has_notice"),
    [
        ("0123456701", orders.PROCESSING, "09", False),
        ("0123456702", orders.FAILED, "05", False),
        ("0123456703", orders.UNKNOWN, "09", True),
        ("0123456705", orders.UNREADABLE, None, False),
        ("0123456709", orders.FAILED, "07", False),
        ("0123456799", orders.NOT_FOUND, None, False),
    ],
)
def test_outcomes(account: str, status: str, code: str | None, has_notice: bool) -> None:
    answer = at_monnify(lambda harness: harness.rail.transfer(order(account)))
    assert (answer.status, answer.code, bool(answer.notice)) == (status, code, has_notice)


def test_code_of_one_bank_with_the_name_of_another_is_refused() -> None:
    """The vendor's 305 is OPay; ours is Summit Bank."""

    async def work(harness: VendorHarness) -> None:
        answer = await harness.rail.transfer(order(bank=OPAY_CODE))
        assert (answer.status, answer.code) == (orders.FAILED, "16")
        assert harness.rules.transfers == {}

    at_monnify(work)


@pytest.mark.parametrize("tells_nip_codes", [True, False])
@pytest.mark.parametrize(
    ("nip_code", "code"), [("000013", "058"), ("000016", "011"), ("100004", "305"), ("000014", "044")]
)
def test_the_largest_banks_are_paid_whichever_list_the_vendor_gives(
    tells_nip_codes: bool, nip_code: str, code: str
) -> None:
    async def work(harness: VendorHarness) -> None:
        harness.rules.tells_nip_codes = tells_nip_codes
        answer = await harness.rail.transfer(order(bank=bank_of_code(nip_code)))
        assert answer.status == orders.PROCESSING
        [sent] = [seen.body for seen in harness.twin.requests if seen.path == SEND]
        assert sent["destinationBankCode"] == code
        assert bank_of_code(nip_code).name not in await harness.rail.list_unmapped_banks()

    at_monnify(work)


@pytest.mark.parametrize("tells_nip_codes", [True, False])
def test_banks_that_cannot_be_paid_are_listed_with_the_largest_first(tells_nip_codes: bool) -> None:
    async def work(harness: VendorHarness) -> None:
        harness.rules.tells_nip_codes = tells_nip_codes
        missing = await harness.rail.list_unmapped_banks()
        assert missing[:4] == ["Zenith Bank", "United Bank for Africa", "Moniepoint Microfinance Bank", "PalmPay"]
        found = str(examine_banks("monnify", missing))
        assert found.startswith(
            f"warn   monnify: {len(missing)} banks cannot be paid there, the largest are Zenith Bank"
        )

    at_monnify(work)


def test_the_rails_of_a_process_log_in_once() -> None:
    async def run() -> None:
        rules = MonnifyRules()
        async with twin_of(rules) as (twin, transport):
            environment = {
                "KASUWA_MONNIFY_BASE_URL": twin.url,
                "KASUWA_MONNIFY_API_KEY": "MK_TEST_1",
                "KASUWA_MONNIFY_SECRET_KEY": "secret-1",
                "KASUWA_MONNIFY_WALLET_ACCOUNT": "8016472829",
                "KASUWA_MONNIFY_CONTRACT_CODE": "4934121686",
                "KASUWA_RAIL_LOOPBACK": "on",
            }
            monitor = VendorMonitor(Observed())
            made = VendorRails(read_settings(environment), transport, DatabaseClock(), lambda name: monitor)
            bank, accounts = made.make_monnify(), made.accounts()["monnify"]()
            feeds = made.feeds()["monnify"]()
            calls = (bank.balance(), accounts.find_receipt("MNFY|1"), feeds.find_settlement("STL-1"), bank.balance())
            await asyncio.gather(*calls)
            assert twin.count(LOG_IN) == 1
            rules.end_token()
            await asyncio.gather(bank.balance(), accounts.find_receipt("MNFY|1"), feeds.find_settlement("STL-1"))
            assert twin.count(LOG_IN) == 2

    asyncio.run(run())


@pytest.mark.parametrize("fault", FAULTS_OF_ORDERS)
def test_lost_answer_then_query(fault: FaultKind) -> None:
    expected, is_paid = FAULTS_OF_ORDERS[fault]

    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault(fault, SEND)
        with pytest.raises((Unavailable, NoAnswer)) as caught:
            await harness.rail.transfer(order())
        assert type(caught.value) is expected
        assert len(harness.rules.transfers) == is_paid
        if fault != "too_many":
            asked = await harness.rail.query(order())
            assert asked.status == (orders.SUCCESSFUL if is_paid else orders.NOT_FOUND)

    at_monnify(work)


@pytest.mark.parametrize("path", [LOG_IN, "/api/v1/banks", "/api/v1/disbursements/account/validate"])
@pytest.mark.parametrize("fault", ["lose", "page", "bad_gateway"])
def test_trouble_before_the_money_call_means_that_nothing_was_sent(path: str, fault: FaultKind) -> None:
    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault(fault, path)
        with pytest.raises(Unavailable):
            await harness.rail.transfer(order())
        assert harness.rules.transfers == {}

    at_monnify(work)


def test_used_reference_is_looked_up_and_paid_once() -> None:
    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault("lose", SEND)
        with pytest.raises(NoAnswer):
            await harness.rail.transfer(order())
        assert (await harness.rail.transfer(order())).status == orders.SUCCESSFUL
        assert len(harness.rules.transfers) == 1

    at_monnify(work)


def test_equal_transfer_within_two_minutes_waits() -> None:
    async def work(harness: VendorHarness) -> None:
        await harness.rail.transfer(order())
        with pytest.raises(Unavailable) as caught:
            await harness.rail.transfer(order(key=rail_key(13, REFERENCE)))
        assert caught.value.retry_after == 120

    at_monnify(work)


def test_short_wallet_tells_the_operator_and_nothing_is_done() -> None:
    async def work(harness: VendorHarness) -> None:
        harness.rules.balance *= 0
        with pytest.raises(Unavailable) as caught:
            await harness.rail.transfer(order())
        assert "fund it" in caught.value.notice
        assert harness.rules.transfers == {}

    at_monnify(work)


@pytest.mark.parametrize(("amount", "written"), [(1, "0.01"), (99, "0.99"), (2**53, "90071992547409.92")])
def test_amounts_are_exact_on_the_wire(amount: int, written: str) -> None:
    async def work(harness: VendorHarness) -> None:
        harness.rules.balance *= 10**9
        await harness.rail.transfer(order(amount=amount))
        [paid] = harness.rules.transfers.values()
        assert str(paid.amount) == written

    at_monnify(work)


def reply(**body: Any) -> VendorReply:
    return VendorReply(200, {"requestSuccessful": True, "responseMessage": "success", "responseBody": body})


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"status": "COMPLETED", "amount": "1500.00"}, orders.SUCCESSFUL),
        ({"status": "SUCCESS"}, orders.SUCCESSFUL),
        ({"status": "REVERSED"}, orders.FAILED),
        ({"status": "EXPIRED"}, orders.FAILED),
        ({"status": "AWAITING_PROCESSING"}, orders.PROCESSING),
        ({"status": "IN_PROGRESS"}, orders.PROCESSING),
        ({"status": "PENDING_BATCH_AUTHORIZATION"}, orders.UNKNOWN),
        ({"status": "OTP_EMAIL_DISPATCH_FAILED"}, orders.UNKNOWN),
        ({"status": "success"}, orders.UNREADABLE),
        ({"status": "SUCCESS", "amount": 1500.01}, orders.UNREADABLE),
        ({"status": "SUCCESS", "amount": "x"}, orders.UNREADABLE),
        ({"status": "SUCCESS", "reference": "other"}, orders.UNREADABLE),
        ({}, orders.UNREADABLE),
    ],
)
def test_statuses(body: dict[str, Any], status: str) -> None:
    assert read_transfer(reply(**body), order()).status == status


@pytest.mark.parametrize(
    ("words", "code"), [("Invalid account number", "07"), ("Unknown bank code", "16"), ("amount is too low", "05")]
)
def test_refusals_of_the_order_itself(words: str, code: str) -> None:
    refusal = VendorReply(400, {"requestSuccessful": False, "responseMessage": words, "responseCode": "99"})
    answer = at_monnify(lambda harness: harness.rail._judge_refusal(refusal, order()))
    assert (answer.status, answer.code) == (orders.FAILED, code)


def test_query_that_is_refused_for_another_reason_says_nothing() -> None:
    async def work(harness: VendorHarness) -> None:
        refusal = VendorReply(400, {"requestSuccessful": False, "responseMessage": "Oops", "responseCode": "99"})

        async def refuse(*given: Any, **more: Any) -> VendorReply:
            return refusal

        harness.rail._call = refuse  # type: ignore[method-assign]
        with pytest.raises(Unavailable):
            await harness.rail.query(order())

    at_monnify(work)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [("Rent: May & June", "Rent May June"), ("", "Transfer"), ("x" * 200, "x" * 100), ("₦€", "Transfer")],
)
def test_narrations(text: str, cleaned: str) -> None:
    assert clean_narration(text) == cleaned


# --- names -----------------------------------------------------------------------------------------------------


def test_names() -> None:
    async def work(harness: VendorHarness) -> None:
        assert await harness.rail.find_account_name(NameEnquiry(GTBANK, "0123456784")) == NameAnswer("ADA OBI")
        unknown = await harness.rail.find_account_name(NameEnquiry(GTBANK, "0123456709"))
        assert unknown.name is None
        with pytest.raises(LookupDeclined):
            await harness.rail.find_account_name(NameEnquiry(UNION, "0123456784"))

    at_monnify(work)


# --- call-backs ------------------------------------------------------------------------------------------------


def find_order(body: bytes, signature: str | None) -> str | None:
    return make_callbacks(KEYS).find_order("", {"monnify-signature": signature}.get, body)


def test_signed_callback_names_its_order() -> None:
    event = {"eventType": "FAILED_DISBURSEMENT", "eventData": {"reference": wire_reference(KEY)}}
    body, headers = MonnifyRules().sign(event)
    assert find_order(body, headers["monnify-signature"]) == KEY
    for changed, signature in ((body + b" ", headers["monnify-signature"]), (body, None), (body, "00")):
        with pytest.raises(CallbackRefused):
            find_order(changed, signature)


def test_unsigned_callback_is_accepted_only_if_that_is_allowed() -> None:
    body, headers = MonnifyRules().sign({"eventType": "FAILED_DISBURSEMENT", "eventData": {"reference": "other"}})
    tolerant = make_callbacks(KEYS, is_optional=True)
    assert tolerant.find_order("", lambda _: None, body) is None
    assert tolerant.find_order("", headers.get, body) is None
    with pytest.raises(CallbackRefused):
        tolerant.find_order("", lambda _: "00", body)


def test_two_factor_authentication_is_known_from_the_last_transfer() -> None:
    async def work(harness: VendorHarness) -> None:
        assert await harness.rail.uses_two_factor() is None
        await harness.rail.transfer(order())
        assert await harness.rail.uses_two_factor() is False
        harness.rules.has_two_factor = True
        assert await harness.rail.uses_two_factor() is True

    at_monnify(work)


@pytest.mark.parametrize(
    "event",
    [
        {"eventType": "SUCCESSFUL_TRANSACTION", "eventData": {"reference": wire_reference(KEY)}},
        {"eventType": "FAILED_DISBURSEMENT", "eventData": {"reference": "other"}},
        {"eventType": 7},
        [],
    ],
)
def test_callback_of_nobody_names_no_order(event: Any) -> None:
    body, headers = MonnifyRules().sign(event)
    assert find_order(body, headers["monnify-signature"]) is None
