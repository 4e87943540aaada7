"""Collections at Paystack, against its twin: every status and refusal, lost answers, saved cards, refunds."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.rails.ports import orders
from kasuwa.rails.ports.callbacks import CallbackRefused
from kasuwa.rails.ports.orders import CardSecrets, NoAnswer, Unavailable
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.server import FaultKind
from kasuwa.rails.vendors.client import VendorReply
from kasuwa.rails.vendors.paystack.refunds import read_refund
from kasuwa.rails.vendors.paystack.transfers import PaystackKeys, make_callbacks
from tests.rails.vendors.adapters import FAULTS_OF_ORDERS
from tests.rails.vendors.collections import (
    DOMAIN,
    EMAIL,
    KEY,
    REFERENCE,
    REFUND_KEY,
    REFUND_REFERENCE,
    PaystackHarness,
    at_paystack,
    order,
    refund_order,
    token_order,
)

OTHER_STATUSES = [
    ("abandoned", orders.UNKNOWN, "09"),
    ("ongoing", orders.UNKNOWN, "09"),
    ("pending", orders.PROCESSING, None),
    ("processing", orders.PROCESSING, None),
    ("queued", orders.PROCESSING, None),
    ("failed", orders.FAILED, "05"),
    ("reversed", orders.FAILED, "05"),
    ("enchanted", orders.UNREADABLE, None),
]


# --- the page for cards ------------------------------------------------------------------------------------------


def test_card_is_paid_on_the_page_and_saved() -> None:
    async def work(harness: PaystackHarness) -> None:
        begun = await harness.rail.begin(order(return_url="https://shop.example.com/back"), None)
        assert (begun.status, begun.facts["auth"]) == (orders.CHALLENGE, "redirect")
        assert begun.facts["url"].startswith("https://checkout.paystack.com/pay/")
        waiting = await harness.rail.query(order(session=begun.facts["session"]), None)
        assert (waiting.status, waiting.code) == (orders.UNKNOWN, "09")
        harness.rules.pay(REFERENCE)
        paid = await harness.rail.query(order(session=begun.facts["session"]), None)
        assert (paid.status, paid.code) == (orders.SUCCESSFUL, "00")
        assert paid.card is not None
        assert paid.card.token is not None
        assert (paid.card.mask, paid.card.type) == ("408408******4081", "visa")
        assert (paid.card.token.vendor, paid.card.token.email) == ("paystack", f"{REFERENCE}@{DOMAIN}")
        [sent] = [seen for seen in harness.twin.requests if seen.path == "/transaction/initialize"]
        assert sent.body == {
            "email": f"{REFERENCE}@{DOMAIN}",
            "amount": 150_000,
            "currency": "NGN",
            "reference": REFERENCE,
            "channels": ["card"],
            "callback_url": "https://shop.example.com/back",
        }

    at_paystack(work)


def test_card_numbers_are_never_sent() -> None:
    async def work(harness: PaystackHarness) -> None:
        with pytest.raises(Unavailable):
            await harness.rail.begin(order(), CardSecrets("5123450000000008", "12", "30"))
        with pytest.raises(Unavailable):
            await harness.rail.charge(order(step=orders.CHARGE), CardSecrets("5123450000000008", "12", "30"))
        assert harness.twin.requests == []

    at_paystack(work)


def test_lost_page_fails_because_nobody_was_shown_it() -> None:
    async def work(harness: PaystackHarness) -> None:
        harness.twin.add_fault("lose", "/transaction/initialize")
        with pytest.raises(NoAnswer):
            await harness.rail.begin(order(), None)
        found = await harness.rail.query(order(), None)
        assert (found.status, found.message) == (orders.FAILED, "The payment page could not be opened")
        assert (await harness.rail.begin(order(), None)).status == orders.FAILED  # the reference is used
        assert len(harness.rules.payments) == 1

    at_paystack(work)


@pytest.mark.parametrize(("status", "expected", "code"), OTHER_STATUSES)
def test_every_status_of_a_payment(status: str, expected: str, code: str | None) -> None:
    async def work(harness: PaystackHarness) -> None:
        begun = await harness.rail.begin(order(), None)
        harness.rules.payments[REFERENCE].status = status
        found = await harness.rail.query(order(session=begun.facts["session"]), None)
        assert (found.status, found.code) == (expected, code)

    at_paystack(work)


@pytest.mark.parametrize(("field", "value"), [("amount", 149_999), ("currency", "GHS")])
def test_success_of_another_sum_is_unreadable_with_a_notice(field: str, value: Any) -> None:
    async def work(harness: PaystackHarness) -> None:
        begun = await harness.rail.begin(order(), None)
        harness.rules.pay(REFERENCE)
        ordered = order(session=begun.facts["session"], **{field: value})
        found = await harness.rail.query(ordered, None)
        assert (found.status, bool(found.notice)) == (orders.UNREADABLE, True)

    at_paystack(work)


def test_answer_of_another_mode_or_reference_is_unreadable() -> None:
    async def work(harness: PaystackHarness) -> None:
        await harness.pay_card()
        for change in ({"domain": "live"}, {"reference": "kz12-gp00000000120260105a"}):
            data = harness.rules.describe(harness.rules.payments[REFERENCE]) | change
            reply = VendorReply(200, {"status": True, "message": "", "data": data})
            found = harness.rail._read_transaction(reply, order())
            assert (found.status, bool(found.notice)) == (orders.UNREADABLE, True)

    at_paystack(work)


def test_unknown_reference_is_not_found_and_other_refusals_are_no_verdict() -> None:
    async def work(harness: PaystackHarness) -> None:
        assert (await harness.rail.query(order(), None)).status == orders.NOT_FOUND
        harness.rules.access.secret_key = "sk_test_2"  # type: ignore[attr-defined]
        with pytest.raises(Unavailable) as raised:
            await harness.rail.query(order(), None)
        assert "keys" in raised.value.notice

    at_paystack(work)


@pytest.mark.parametrize("fault", FAULTS_OF_ORDERS)
def test_faults_of_a_begin(fault: FaultKind) -> None:
    raised, is_done = FAULTS_OF_ORDERS[fault]

    async def work(harness: PaystackHarness) -> None:
        harness.twin.add_fault(fault, "/charge")
        with pytest.raises(raised):
            await harness.rail.begin(order("ussd", provider="gtb"), None)
        assert len(harness.rules.payments) == is_done
        if fault != "too_many":
            found = await harness.rail.query(order("ussd", provider="gtb"), None)
            assert found.status == (orders.CHALLENGE if is_done else orders.NOT_FOUND)

    at_paystack(work)


@pytest.mark.parametrize("amount", [50_00, 50_01, 50_99, 9_007_199_254_740_992])
def test_amounts_are_exact_on_the_wire_and_back(amount: int) -> None:
    answer = at_paystack(lambda harness: harness.pay_card(amount=amount))
    assert answer.status == orders.SUCCESSFUL


def test_amount_below_the_vendors_least_is_declined_with_its_words() -> None:
    answer = at_paystack(lambda harness: harness.rail.begin(order(amount=1), None))
    assert (answer.status, answer.code, answer.message) == (orders.FAILED, "13", "Invalid Amount Sent")


def test_currency_that_is_not_switched_on_raises_a_notice() -> None:
    async def work(harness: PaystackHarness) -> None:
        with pytest.raises(Unavailable) as raised:
            await harness.rail.begin(order(currency="ZAR"), None)
        assert raised.value.notice

    at_paystack(work)


# --- direct charges --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("account", "status", "auth"),
    [
        ("0123456701", orders.CHALLENGE, "OTP"),
        ("0123456702", orders.FAILED, None),
        ("0123456703", orders.CHALLENGE, "redirect"),
        ("0123456704", orders.PROCESSING, None),
        ("0123456705", orders.UNREADABLE, None),
        ("0123456706", orders.FAILED, None),
    ],
)
def test_what_a_bank_asks_of_its_customer(account: str, status: str, auth: str | None) -> None:
    ordered = order("account", payer=account, provider="058")
    answer = at_paystack(lambda harness: harness.rail.begin(ordered, None))
    assert (answer.status, answer.facts.get("auth")) == (status, auth)


def test_bank_that_the_vendor_does_not_serve_fails_before_anything_is_sent() -> None:
    async def work(harness: PaystackHarness) -> None:
        answer = await harness.rail.begin(order("account", payer="0123456701", provider="999"), None)
        assert (answer.status, answer.code) == (orders.FAILED, "16")
        assert harness.twin.requests == []

    at_paystack(work)


def test_codes_of_an_account_wrong_right_and_refused_by_the_payer() -> None:
    async def work(harness: PaystackHarness) -> None:
        begun = await harness.rail.begin(order("account", payer="0123456701", provider="058"), None)
        sent = order("account", payer="0123456701", step=orders.VALIDATE, session=begun.facts["session"])
        assert (await harness.rail.validate(sent, "999999")).status == orders.WRONG_CODE
        assert (await harness.rail.query(sent, None)).status == orders.CHALLENGE
        declined = await harness.rail.validate(sent, None)
        assert (declined.status, declined.code) == (orders.FAILED, "17")
        assert (await harness.rail.validate(sent, "123456")).status == orders.SUCCESSFUL
        assert (await harness.rail.validate(sent, None)).status == orders.SUCCESSFUL  # the payer declines too late

    at_paystack(work)


def test_lost_code_is_asked_after_and_not_sent_again() -> None:
    async def work(harness: PaystackHarness) -> None:
        begun = await harness.rail.begin(order("account", payer="0123456701", provider="058"), None)
        sent = order("account", payer="0123456701", step=orders.VALIDATE, session=begun.facts["session"])
        harness.twin.add_fault("lose", "/charge/submit_otp")
        with pytest.raises(NoAnswer):
            await harness.rail.validate(sent, "123456")
        assert (await harness.rail.query(sent, None)).status == orders.SUCCESSFUL
        assert harness.twin.count("/charge/submit_otp") == 1

    at_paystack(work)


def test_transfer_gets_an_account_also_if_the_answer_was_lost() -> None:
    async def work(harness: PaystackHarness) -> None:
        harness.twin.add_fault("lose", "/charge")
        with pytest.raises(NoAnswer):
            await harness.rail.begin(order("bank_transfer"), None)
        early = await harness.rail.query(order("bank_transfer", age_seconds=5), None)
        assert (early.status, early.code) == (orders.UNKNOWN, None)
        found = await harness.rail.query(order("bank_transfer"), None)
        assert (found.status, found.facts["auth"], found.facts["bank_name"]) == (
            orders.CHALLENGE,
            "device",
            "Test Bank",
        )
        assert len(found.facts["account_number"]) == 10
        harness.rules.pay(REFERENCE, 149_999)
        shown = order("bank_transfer", session=found.facts["session"])
        assert (await harness.rail.query(shown, None)).status == orders.UNKNOWN  # the wrong sum went back
        harness.rules.pay(REFERENCE)
        assert (await harness.rail.query(shown, None)).status == orders.SUCCESSFUL

    at_paystack(work)


@pytest.mark.parametrize(
    ("changes", "sent"),
    [
        ({"method": "ussd", "provider": "zenith"}, {"ussd": {"type": "966"}}),
        (
            {"method": "mobile_money", "provider": "ghana", "network": "Vodafone", "payer": "0551234987"},
            {"mobile_money": {"phone": "0551234987", "provider": "vod"}},
        ),
        (
            {"method": "mobile_money", "provider": "mpesa", "payer": "0710000000"},
            {"mobile_money": {"phone": "0710000000", "provider": "mpesa"}},
        ),
    ],
)
def test_payers_are_asked_on_their_phones(changes: dict[str, str], sent: dict[str, Any]) -> None:
    currency = {"ghana": "GHS", "mpesa": "KES"}.get(changes["provider"], "NGN")

    async def work(harness: PaystackHarness) -> None:
        answer = await harness.rail.begin(order(currency=currency, payer_email=EMAIL, **changes), None)
        assert answer.status == orders.CHALLENGE
        assert bool(answer.facts.get("ussd_code")) == (changes["method"] == "ussd")
        [seen] = harness.twin.requests
        assert seen.body.items() >= {**sent, "email": EMAIL, "currency": currency}.items()

    at_paystack(work)


def test_network_that_nobody_knows_fails_before_anything_is_sent() -> None:
    ordered = order("mobile_money", provider="ghana", network="glo", currency="GHS")
    assert at_paystack(lambda harness: harness.rail.begin(ordered, None)).status == orders.FAILED


# --- saved cards ---------------------------------------------------------------------------------------------------


async def save_card(harness: PaystackHarness) -> tuple[str, str]:
    paid = await harness.pay_card(payer_email=EMAIL)
    assert paid.card is not None
    assert paid.card.token is not None
    return paid.card.token.token, paid.card.token.email


@pytest.mark.parametrize(
    ("status", "expected", "code"),
    [("success", orders.SUCCESSFUL, "00"), ("failed", orders.FAILED, "51"), ("processing", orders.PROCESSING, None)],
)
def test_saved_card_is_charged_with_its_own_address(status: str, expected: str, code: str | None) -> None:
    async def work(harness: PaystackHarness) -> None:
        token, email = await save_card(harness)
        harness.rules.token_status = status
        charged = await harness.rail.charge(token_order("paystack", token, email, payer_email="new@example.com"), None)
        assert (charged.status, charged.code, charged.card) == (expected, code, None)

    at_paystack(work)


def test_saved_card_of_another_address_is_declined() -> None:
    async def work(harness: PaystackHarness) -> None:
        token, _ = await save_card(harness)
        answer = await harness.rail.charge(token_order("paystack", token, "else@example.com"), None)
        assert (answer.status, "Email does not match" in answer.message) == (orders.FAILED, True)
        assert len(harness.rules.payments) == 1

    at_paystack(work)


def test_bank_that_wants_the_payer_of_a_saved_card_gets_a_page() -> None:
    async def work(harness: PaystackHarness) -> None:
        token, email = await save_card(harness)
        harness.rules.token_status = "paused"
        answer = await harness.rail.charge(token_order("paystack", token, email), None)
        assert (answer.status, answer.facts["auth"]) == (orders.CHALLENGE, "redirect")
        assert answer.facts["url"]

    at_paystack(work)


def test_lost_charge_of_a_saved_card_is_asked_after_and_charged_once() -> None:
    async def work(harness: PaystackHarness) -> None:
        token, email = await save_card(harness)
        ordered = token_order("paystack", token, email)
        harness.twin.add_fault("lose", "/transaction/charge_authorization")
        with pytest.raises(NoAnswer):
            await harness.rail.charge(ordered, None)
        assert (await harness.rail.query(ordered, None)).status == orders.SUCCESSFUL
        # Sent again, it is refused as a duplicate, and looked up.
        assert (await harness.rail.charge(ordered, None)).status == orders.SUCCESSFUL
        assert len(harness.rules.payments) == 2

    at_paystack(work)


def test_nothing_secret_is_shown_by_orders_and_answers() -> None:
    async def work(harness: PaystackHarness) -> None:
        token, email = await save_card(harness)
        answer = await harness.rail.query(order(session="known"), None)
        assert answer.card is not None
        assert token not in repr((token_order("paystack", token, email), answer))

    at_paystack(work)


# --- refunds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "expected", "code", "has_notice"),
    [
        ("processed", orders.SUCCESSFUL, "00", False),
        ("pending", orders.PROCESSING, "09", False),
        ("processing", orders.PROCESSING, "09", False),
        ("failed", orders.FAILED, "05", False),
        ("needs-attention", orders.UNKNOWN, "09", True),
        ("enchanted", orders.UNREADABLE, None, False),
    ],
)
def test_every_status_of_a_refund(status: str, expected: str, code: str | None, has_notice: bool) -> None:
    async def work(harness: PaystackHarness) -> None:
        await harness.pay_card()
        harness.rules.refund_status = status
        answer = await harness.rail.refund(refund_order())
        assert (answer.status, answer.code, bool(answer.notice)) == (expected, code, has_notice)
        assert harness.rules.refunds[0].note == REFUND_REFERENCE
        facts = {"refund_id": answer.facts["refund_id"]}
        assert (await harness.rail.query_refund(refund_order(rail_facts=facts))).status == expected

    at_paystack(work)


def test_lost_refund_is_found_by_its_note_and_sent_once() -> None:
    async def work(harness: PaystackHarness) -> None:
        await harness.pay_card()
        harness.twin.add_fault("lose", "/refund")
        with pytest.raises(Unavailable):  # the look before it was lost: nothing was sent
            await harness.rail.refund(refund_order(50_000))
        assert harness.rules.refunds == []
        harness.twin.add_fault("lose", "/refund", method="POST")
        with pytest.raises(NoAnswer):
            await harness.rail.refund(refund_order(50_000))
        # Sent again, it is found in the list.
        assert (await harness.rail.refund(refund_order(50_000))).status == orders.PROCESSING
        assert [refund.amount for refund in harness.rules.refunds] == [50_000]
        assert (await harness.rail.query_refund(refund_order(50_000))).status == orders.PROCESSING

    at_paystack(work)


def test_refund_that_is_not_listed_is_unknown_for_an_hour_and_never_sent_again() -> None:
    async def work(harness: PaystackHarness) -> None:
        await harness.pay_card()
        early = await harness.rail.query_refund(refund_order())
        assert (early.status, early.code) == (orders.UNKNOWN, None)
        late = await harness.rail.query_refund(msgspec.structs.replace(refund_order(), age_seconds=3601))
        assert (late.status, late.can_resend) == (orders.NOT_FOUND, False)
        assert harness.rules.refunds == []

    at_paystack(work)


def test_refund_is_found_behind_a_hundred_others() -> None:
    async def work(harness: PaystackHarness) -> None:
        await harness.pay_card()
        await harness.rail.refund(refund_order(50_000))
        harness.rules.refunds += [
            msgspec.structs.replace(harness.rules.refunds[0], id=number, note="") for number in range(150)
        ]
        found = await harness.rail.query_refund(refund_order(50_000))
        assert (found.status, found.facts["refund_id"]) == (orders.PROCESSING, "15000000")

    at_paystack(work)


def test_refund_above_the_payment_fails_and_one_without_balance_waits() -> None:
    async def work(harness: PaystackHarness) -> None:
        await harness.pay_card()
        above = await harness.rail.refund(refund_order(150_001))
        assert (above.status, above.code) == (orders.FAILED, "13")
        harness.rules.access.balance = 0
        with pytest.raises(Unavailable) as raised:
            await harness.rail.refund(refund_order())
        assert "fund it" in raised.value.notice

    at_paystack(work)


def test_refund_of_a_transfer_into_an_account_names_the_vendors_reference() -> None:
    async def work(harness: PaystackHarness) -> None:
        await harness.pay_card()
        [reference] = harness.rules.payments
        order = refund_order(50_000, rail_facts={orders.TRANSACTION_FACT: reference})
        order = msgspec.structs.replace(order, refund_of="12 another payment")
        assert (await harness.rail.refund(order)).status == orders.PROCESSING
        assert (await harness.rail.query_refund(order)).status == orders.PROCESSING
        assert [refund.amount for refund in harness.rules.refunds] == [50_000]

    at_paystack(work)


def test_refund_of_a_payment_that_nobody_knows_fails() -> None:
    answer = at_paystack(lambda harness: harness.rail.refund(refund_order()))
    assert (answer.status, answer.code) == (orders.FAILED, "25")


@pytest.mark.parametrize("wrong", [{"amount": "149999"}, {"currency": "USD"}])
def test_refund_of_another_amount_or_currency_is_unreadable(wrong: dict[str, str]) -> None:
    found = {"id": 1, "status": "processed", "amount": "150000", "currency": "NGN"}
    answer = read_refund({**found, **wrong}, refund_order())
    assert (answer.status, bool(answer.notice)) == (orders.UNREADABLE, True)
    assert read_refund(found, refund_order()).status == orders.SUCCESSFUL


def test_refund_is_looked_for_from_the_day_before_it_was_sent() -> None:
    async def work(harness: PaystackHarness) -> None:
        await harness.pay_card()
        await harness.rail.refund(refund_order())
        later = datetime.now(UTC) + timedelta(days=3)
        found = await harness.rail.query_refund(msgspec.structs.replace(refund_order(), sent_at=later))
        assert found.status == orders.UNKNOWN

    at_paystack(work)


# --- call-backs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "data", "key"),
    [
        ("charge.success", {"reference": REFERENCE, "channel": "card"}, KEY),
        ("charge.success", {"reference": REFERENCE, "channel": "dedicated_nuban"}, None),
        ("charge.success", {"reference": REFUND_REFERENCE, "channel": "card"}, None),
        ("charge.success", {"reference": "T123456"}, None),
        ("bank.transfer.rejected", {"reference": REFERENCE}, KEY),
        ("refund.processed", {"transaction_reference": REFERENCE, "merchant_note": REFUND_REFERENCE}, REFUND_KEY),
        ("refund.pending", {"transaction_reference": REFERENCE, "amount": "150000"}, KEY),
        ("refund.failed", {"transaction_reference": "T1", "merchant_note": None}, None),
        ("invoice.create", {"reference": REFERENCE}, None),
    ],
)
def test_call_backs_name_payments_and_refunds(event: str, data: dict[str, Any], key: str | None) -> None:
    body, headers = PaystackRules().sign({"event": event, "data": data})
    source = make_callbacks(PaystackKeys("sk_test_1"))
    assert source.find_order("", headers.get, body) == key
    with pytest.raises(CallbackRefused):
        source.find_order("", headers.get, body + b" ")
