"""Collections at Monnify, against its twin: every status and refusal, lost answers, saved cards, refunds."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest

from kasuwa.core.references import rail_key
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.callbacks import CallbackRefused
from kasuwa.rails.ports.orders import CardSecrets, NoAnswer, Unavailable
from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.server import FaultKind
from kasuwa.rails.vendors.monnify.collection import (
    BEGIN,
    CHARGE_TOKEN,
    OPEN_ACCOUNT,
    REFUND,
    read_minor,
    read_payment,
    read_refund,
)
from kasuwa.rails.vendors.monnify.session import MonnifyKeys
from kasuwa.rails.vendors.monnify.transfers import make_callbacks
from tests.rails.vendors.adapters import FAULTS_OF_ORDERS
from tests.rails.vendors.collections import (
    DOMAIN,
    EMAIL,
    KEY,
    REFERENCE,
    REFUND_KEY,
    REFUND_REFERENCE,
    MonnifyHarness,
    at_monnify,
    order,
    refund_order,
    token_order,
)


def test_card_is_paid_on_the_page_and_saved() -> None:
    async def work(harness: MonnifyHarness) -> None:
        begun = await harness.rail.begin(order(return_url="https://shop.example.com/back"), None)
        assert (begun.status, begun.facts["auth"]) == (orders.CHALLENGE, "redirect")
        assert begun.facts["url"].startswith("https://sandbox.sdk.monnify.com/checkout/")
        shown = order(session=begun.facts["session"])
        waiting = await harness.rail.query(shown, None)
        assert (waiting.status, waiting.code) == (orders.PROCESSING, "09")
        harness.rules.pay(REFERENCE)
        paid = await harness.rail.query(shown, None)
        assert (paid.status, paid.code, paid.facts["rail_id"]) == (orders.SUCCESSFUL, "00", begun.facts["session"])
        assert paid.card is not None
        assert paid.card.token is not None
        assert (paid.card.mask, paid.card.token.email) == ("539983******1111", f"{REFERENCE}@{DOMAIN}")
        assert paid.card.token.token not in repr(paid)
        [sent] = [seen for seen in harness.twin.requests if seen.path == BEGIN]
        assert (sent.body["paymentMethods"], sent.body["redirectUrl"]) == (["CARD"], "https://shop.example.com/back")

    at_monnify(work)


def test_card_numbers_are_never_sent() -> None:
    async def work(harness: MonnifyHarness) -> None:
        for call in (harness.rail.begin, harness.rail.charge):
            with pytest.raises(Unavailable):
                await call(order(), CardSecrets("5123450000000008", "12", "30"))
        with pytest.raises(Unavailable):
            await harness.rail.validate(order(), "123456")
        assert harness.twin.requests == []

    at_monnify(work)


@pytest.mark.parametrize(
    ("status", "expected", "code"),
    [
        ("PENDING", orders.PROCESSING, "09"),
        ("PARTIALLY_PAID", orders.UNKNOWN, None),
        ("FAILED", orders.FAILED, "05"),
        ("CANCELLED", orders.FAILED, "17"),
        ("ABANDONED", orders.FAILED, "05"),
        ("EXPIRED", orders.FAILED, "05"),
        ("REVERSED", orders.FAILED, "05"),
        ("ENCHANTED", orders.UNREADABLE, None),
    ],
)
def test_every_status_of_a_payment(status: str, expected: str, code: str | None) -> None:
    async def work(harness: MonnifyHarness) -> None:
        begun = await harness.rail.begin(order(), None)
        harness.rules.fail(REFERENCE, status)
        found = await harness.rail.query(order(session=begun.facts["session"]), None)
        assert (found.status, found.code) == (expected, code)

    at_monnify(work)


def test_transfer_gets_an_account_and_less_than_the_amount_goes_back() -> None:
    async def work(harness: MonnifyHarness) -> None:
        begun = await harness.rail.begin(order("bank_transfer"), None)
        assert (begun.status, begun.facts["auth"], begun.facts["bank_name"]) == (
            orders.CHALLENGE,
            "device",
            "Wema bank",
        )
        shown = order("bank_transfer", session=begun.facts["session"])
        harness.rules.pay(REFERENCE, Decimal("1499.99"))
        assert (await harness.rail.query(shown, None)).status == orders.PROCESSING
        harness.rules.pay(REFERENCE)
        assert (await harness.rail.query(shown, None)).status == orders.SUCCESSFUL

    at_monnify(work)


def test_too_much_is_a_success_with_its_excess() -> None:
    async def work(harness: MonnifyHarness) -> None:
        begun = await harness.rail.begin(order("bank_transfer"), None)
        harness.rules.pay(REFERENCE, Decimal("1700.50"))
        found = await harness.rail.query(order("bank_transfer", session=begun.facts["session"]), None)
        assert (found.status, found.facts["excess"], bool(found.notice)) == (orders.SUCCESSFUL, "20050", True)

    at_monnify(work)


@pytest.mark.parametrize("path", [BEGIN, OPEN_ACCOUNT])
def test_lost_answers_of_a_transfer_lead_to_the_same_account(path: str) -> None:
    async def work(harness: MonnifyHarness) -> None:
        harness.twin.add_fault("lose", path)
        with pytest.raises(NoAnswer):
            await harness.rail.begin(order("bank_transfer"), None)
        found = await harness.rail.query(order("bank_transfer"), None)
        assert (found.status, found.facts["auth"]) == (orders.CHALLENGE, "device")
        again = await harness.rail.begin(order("bank_transfer"), None)  # refused as a duplicate, and looked up
        assert again.facts == found.facts
        assert len(harness.rules.payments) == 1

    at_monnify(work)


@pytest.mark.parametrize("fault", FAULTS_OF_ORDERS)
def test_faults_of_a_begin(fault: FaultKind) -> None:
    raised, is_done = FAULTS_OF_ORDERS[fault]

    async def work(harness: MonnifyHarness) -> None:
        harness.twin.add_fault(fault, BEGIN)
        with pytest.raises(raised):
            await harness.rail.begin(order(), None)
        assert len(harness.rules.payments) == is_done
        if fault != "too_many":
            # Nobody was shown the page of a lost answer.
            found = await harness.rail.query(order(), None)
            assert found.status == (orders.FAILED if is_done else orders.NOT_FOUND)

    at_monnify(work)


def test_token_that_expires_in_the_middle_is_renewed_and_the_order_sent_once() -> None:
    async def work(harness: MonnifyHarness) -> None:
        await harness.rail.query(order(), None)
        harness.bank.end_token()
        assert (await harness.rail.begin(order("bank_transfer"), None)).status == orders.CHALLENGE
        assert harness.twin.count("/api/v1/auth/login") == 2
        assert len(harness.rules.payments) == 1

    at_monnify(work)


def test_contract_that_the_vendor_refuses_raises_a_notice() -> None:
    async def work(harness: MonnifyHarness) -> None:
        harness.rules.contract_code = "1"
        with pytest.raises(Unavailable) as raised:
            await harness.rail.begin(order(), None)
        assert "KASUWA_MONNIFY_CONTRACT_CODE" in raised.value.notice

    at_monnify(work)


def test_refused_form_fails_with_the_vendors_words() -> None:
    answer = at_monnify(lambda harness: harness.rail.begin(order(amount=100), None))
    assert (answer.status, answer.message) == (orders.FAILED, "amount or currency is not valid")
    assert at_monnify(lambda harness: harness.rail.begin(order("qrpay"), None)).status == orders.FAILED


@pytest.mark.parametrize("amount", [20_00, 20_01, 20_99, 9_007_199_254_740_992])
def test_amounts_are_exact_on_the_wire_and_back(amount: int) -> None:
    async def work(harness: MonnifyHarness) -> None:
        begun = await harness.rail.begin(order(amount=amount), None)
        harness.rules.pay(REFERENCE)
        found = await harness.rail.query(order(amount=amount, session=begun.facts["session"]), None)
        assert found.status == orders.SUCCESSFUL
        assert "excess" not in found.facts

    at_monnify(work)


def test_payment_of_another_amount_currency_or_reference_is_unreadable() -> None:
    paid = {"paymentStatus": "PAID", "amountPaid": "1500.00", "paymentReference": REFERENCE, "currency": "NGN"}
    assert read_payment(paid, order()).status == orders.SUCCESSFUL
    for change in (
        {"amountPaid": "1499.99"},
        {"amountPaid": "1500.01"},
        {"amountPaid": None},
        {"amountPaid": "1500.001"},
        {"currency": "USD"},
        {"paymentReference": "kz12-gp00000000120260105a"},
    ):
        answer = read_payment({**paid, **change}, order())
        assert (answer.status, bool(answer.notice)) == (orders.UNREADABLE, True)
    assert [read_minor(value) for value in ("0.01", 30, "30.00", Decimal("0.99"), "NaN", "", "x")] == [
        1,
        3000,
        3000,
        99,
        None,
        None,
        None,
    ]


# --- saved cards ---------------------------------------------------------------------------------------------------


async def save_card(harness: MonnifyHarness) -> tuple[str, str]:
    paid = await harness.pay_card()
    assert paid.card is not None
    assert paid.card.token is not None
    return paid.card.token.token, paid.card.token.email


@pytest.mark.parametrize(
    ("status", "expected", "code"),
    [("PAID", orders.SUCCESSFUL, "00"), ("FAILED", orders.FAILED, "05"), ("PENDING", orders.PROCESSING, "09")],
)
def test_saved_card_is_charged_with_its_own_address(status: str, expected: str, code: str) -> None:
    async def work(harness: MonnifyHarness) -> None:
        token, email = await save_card(harness)
        harness.rules.token_status = status
        charged = await harness.rail.charge(token_order("monnify", token, email, payer_email=EMAIL), None)
        assert (charged.status, charged.code) == (expected, code)

    at_monnify(work)


def test_saved_card_of_another_address_is_declined() -> None:
    async def work(harness: MonnifyHarness) -> None:
        token, _ = await save_card(harness)
        answer = await harness.rail.charge(token_order("monnify", token, EMAIL), None)
        assert (answer.status, answer.code) == (orders.FAILED, "14")

    at_monnify(work)


def test_lost_charge_of_a_saved_card_is_asked_after_and_charged_once() -> None:
    async def work(harness: MonnifyHarness) -> None:
        token, email = await save_card(harness)
        ordered = token_order("monnify", token, email)
        harness.twin.add_fault("lose", CHARGE_TOKEN)
        with pytest.raises(NoAnswer):
            await harness.rail.charge(ordered, None)
        assert (await harness.rail.query(ordered, None)).status == orders.SUCCESSFUL
        assert (await harness.rail.charge(ordered, None)).status == orders.SUCCESSFUL
        assert len(harness.rules.payments) == 2
        unknown = msgspec.structs.replace(ordered, key=rail_key(99, "GP12345678920260105A"))
        assert (await harness.rail.query(unknown, None)).status == orders.NOT_FOUND

    at_monnify(work)


# --- refunds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("COMPLETED", orders.SUCCESSFUL),
        ("IN_PROGRESS", orders.PROCESSING),
        ("FAILED", orders.FAILED),
        ("ENCHANTED", orders.UNREADABLE),
    ],
)
def test_every_status_of_a_refund(status: str, expected: str) -> None:
    async def work(harness: MonnifyHarness) -> None:
        paid = await harness.pay_card()
        harness.rules.refund_status = status
        ordered = refund_order(50_000, rail_facts=dict(paid.facts))
        assert (await harness.rail.refund(ordered)).status == expected
        assert (await harness.rail.query_refund(ordered)).status == expected
        assert list(harness.rules.refunds) == [REFUND_REFERENCE]

    at_monnify(work)


@pytest.mark.parametrize(
    ("refusal", "code"), [("R1", "25"), ("R2", "05"), ("R3", "13"), ("R12", "13"), ("R4", "13"), ("R6", "05")]
)
def test_refused_refunds_fail(refusal: str, code: str) -> None:
    async def work(harness: MonnifyHarness) -> None:
        await harness.pay_card()
        harness.rules.refund_code = refusal
        answer = await harness.rail.refund(refund_order())
        assert (answer.status, answer.code) == (orders.FAILED, code)

    at_monnify(work)


@pytest.mark.parametrize(("refusal", "has_notice"), [("R5", True), ("R10", True), ("R11", False)])
def test_refunds_wait_for_our_wallet_and_for_banks(refusal: str, has_notice: bool) -> None:
    async def work(harness: MonnifyHarness) -> None:
        await harness.pay_card()
        harness.rules.refund_code = refusal
        with pytest.raises(Unavailable) as raised:
            await harness.rail.refund(refund_order())
        assert bool(raised.value.notice) == has_notice

    at_monnify(work)


def test_lost_refund_is_found_by_its_reference_and_paid_once() -> None:
    async def work(harness: MonnifyHarness) -> None:
        await harness.pay_card()
        missing = await harness.rail.query_refund(refund_order())
        assert (missing.status, missing.can_resend) == (orders.NOT_FOUND, True)
        harness.twin.add_fault("lose", REFUND)
        with pytest.raises(NoAnswer):
            await harness.rail.refund(refund_order(50_000))
        assert (await harness.rail.query_refund(refund_order(50_000))).status == orders.PROCESSING
        assert (await harness.rail.refund(refund_order(50_000))).status == orders.PROCESSING  # R9, and looked up
        assert len(harness.rules.refunds) == 1
        harness.rules.refund_code = "99"
        assert (await harness.rail.refund(refund_order(50_000))).status == orders.PROCESSING

    at_monnify(work)


def test_refund_of_another_amount_is_unreadable() -> None:
    found = {"refundStatus": "COMPLETED", "refundAmount": "1499.99", "refundReference": REFUND_REFERENCE}
    answer = read_refund(found, refund_order())
    assert (answer.status, bool(answer.notice)) == (orders.UNREADABLE, True)


# --- call-backs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "data", "key"),
    [
        ("SUCCESSFUL_TRANSACTION", {"paymentReference": REFERENCE, "product": {"type": "WEB_SDK"}}, KEY),
        ("SUCCESSFUL_TRANSACTION", {"paymentReference": REFERENCE, "product": {"type": "RESERVED_ACCOUNT"}}, None),
        ("SUCCESSFUL_TRANSACTION", {"paymentReference": REFUND_REFERENCE}, None),
        ("REJECTED_PAYMENT", {"paymentReference": REFERENCE, "paymentSourceInformation": []}, KEY),
        ("SUCCESSFUL_REFUND", {"refundReference": REFUND_REFERENCE}, REFUND_KEY),
        ("FAILED_REFUND", {"refundReference": REFUND_REFERENCE}, REFUND_KEY),
        ("SETTLEMENT", {"paymentReference": REFERENCE}, None),
    ],
)
def test_call_backs_name_payments_and_refunds(kind: str, data: dict[str, Any], key: str | None) -> None:
    body, headers = MonnifyRules().sign({"eventType": kind, "eventData": data})
    source = make_callbacks(MonnifyKeys("MK_TEST_1", "secret-1", "8016472829"))
    assert source.find_order("", headers.get, body) == key
    with pytest.raises(CallbackRefused):
        source.find_order("", headers.get, body + b" ")
