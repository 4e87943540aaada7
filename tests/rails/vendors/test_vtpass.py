"""Bills at VTpass, against its twin: every code and status, lost answers, midnight, and what is delivered."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.references import movement_reference, rail_key
from kasuwa.rails.catalogue.catalogue import GIVES_PIN, GIVES_TOKEN, check_edition
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.callbacks import CallbackRefused
from kasuwa.rails.ports.orders import (
    Answer,
    BillOrder,
    CustomerAnswer,
    CustomerQuery,
    LookupDeclined,
    NoAnswer,
    Unavailable,
    UnreadableAnswer,
)
from kasuwa.rails.twins.server import FaultKind, Twin
from kasuwa.rails.twins.vtpass import VtpassRules
from kasuwa.rails.vendors.client import VendorReply
from kasuwa.rails.vendors.vtpass.bills import (
    VtpassBiller,
    VtpassCallbacks,
    VtpassKeys,
    make_request_id,
    parse_request_id,
    read_customer,
)
from tests.rails.vendors.adapters import FAULTS_OF_ORDERS, Observed, twin_of

# Half past eleven in the evening, in Lagos.
SENT_AT = datetime(2026, 1, 5, 22, 30, tzinfo=UTC)
KEYS = VtpassKeys("api-1", "PK_1", "SK_1")
OPERATOR_PHONE = "08039999999"
KEY = rail_key(12, movement_reference("BP", 123_456_789, SENT_AT.date()))
METER = "45012345678"


def order(**changes: Any) -> BillOrder:
    bill = BillOrder(KEY, "ikeja-electric", "ikeja-electric/prepaid", GIVES_TOKEN, METER, 500_000, "NGN", SENT_AT)
    return msgspec.structs.replace(bill, **changes)


AIRTIME = order(biller="mtn", paycode="mtn/", fulfillment="topup", reference="08031234567", amount=10_000)


class VendorHarness:
    """The adapter and its vendor, with one clock."""

    def __init__(self, twin: Twin, rules: VtpassRules, rail: VtpassBiller) -> None:
        self.twin = twin
        self.rules = rules
        self.rail = rail


def at_vtpass(
    work: Callable[[VendorHarness], Awaitable[Any]], keys: VtpassKeys = KEYS, later: timedelta = timedelta()
) -> Any:
    """Runs `work`. `later` is how long after the order's first sending it is."""

    async def run() -> Any:
        rules = VtpassRules(now=lambda: SENT_AT + later)
        async with twin_of(rules) as (twin, transport):
            rail = VtpassBiller(transport, twin.url, keys, OPERATOR_PHONE, Observed(), rules.now)
            return await work(VendorHarness(twin, rules, rail))

    return asyncio.run(run())


# --- the request_id ----------------------------------------------------------------------------------------------


def test_request_id_is_made_of_the_first_sending_and_reads_back() -> None:
    request_id = make_request_id(order())
    assert request_id.startswith("20260105233012gpbp123456789")
    assert request_id.isalnum()
    assert parse_request_id(request_id) == KEY


@pytest.mark.parametrize("text", ["", "202601052330", "20260105233x12gpbp12345678920260105x", "hello"])
def test_other_request_ids_are_not_ours(text: str) -> None:
    assert parse_request_id(text) is None


# --- paying ------------------------------------------------------------------------------------------------------


async def pay(harness: VendorHarness) -> Answer:
    return await harness.rail.pay(order())


def test_prepaid_meter_gets_its_token() -> None:
    async def work(harness: VendorHarness) -> None:
        paid = await harness.rail.pay(order())
        assert (paid.status, paid.code) == (orders.SUCCESSFUL, "00")
        assert len(paid.facts["token"]) == 20
        assert paid.facts["units"] == "79.9"
        assert await harness.rail.query(order()) == paid
        assert await harness.rail.reprint(order()) == paid.facts
        [bill] = harness.rules.bills.values()
        assert (bill.request_id, bill.customer, bill.amount) == (make_request_id(order()), METER, 5000)
        [sent] = [request.body for request in harness.twin.requests if request.path == "/pay"]
        assert (sent["phone"], sent["variation_code"]) == (OPERATOR_PHONE, "prepaid")

    at_vtpass(work)


@pytest.mark.parametrize(
    ("phone", "sent_as"),
    [("+2348031234567", "08031234567"), ("", OPERATOR_PHONE), ("+233201234567", OPERATOR_PHONE)],
)
def test_bill_has_the_telephone_number_of_its_customer(phone: str, sent_as: str) -> None:
    async def work(harness: VendorHarness) -> None:
        await harness.rail.pay(order(phone=phone))
        assert [request.body["phone"] for request in harness.twin.requests] == [sent_as]

    at_vtpass(work)


def test_airtime_goes_to_the_phone() -> None:
    async def work(harness: VendorHarness) -> None:
        assert (await harness.rail.pay(AIRTIME)).status == orders.SUCCESSFUL
        [sent] = [request.body for request in harness.twin.requests]
        del sent["request_id"]
        assert sent == {"serviceID": "mtn", "amount": 100, "phone": "08031234567"}

    at_vtpass(work)


def test_examination_pin() -> None:
    async def work(harness: VendorHarness) -> None:
        bill = order(
            biller="waec", paycode="waec/waecdirect", fulfillment=GIVES_PIN, reference="08031234567", amount=90_000
        )
        assert (await harness.rail.pay(bill)).facts == {"pin": "Serial WRN182135587 PIN 373820665258"}

    at_vtpass(work)


def test_television_subscription() -> None:
    async def work(harness: VendorHarness) -> None:
        bill = order(
            biller="dstv", paycode="dstv/dstv-padi", fulfillment="topup", reference="1212121212", amount=185_000
        )
        assert (await harness.rail.pay(bill)).status == orders.SUCCESSFUL

    at_vtpass(work)


@pytest.mark.parametrize(("customer", "status"), [("45000000016", orders.FAILED), ("45000000040", orders.FAILED)])
def test_refused_bills(customer: str, status: str) -> None:
    answer = at_vtpass(lambda harness: harness.rail.pay(order(reference=customer)))
    assert answer.status == status


def test_pending_bill_ends_when_the_vendor_settles_it() -> None:
    async def work(harness: VendorHarness) -> None:
        bill = order(reference="45000000201")
        assert (await harness.rail.pay(bill)).status == orders.PROCESSING
        assert (await harness.rail.query(bill)).status == orders.PROCESSING
        with pytest.raises(Unavailable):
            await harness.rail.reprint(bill)
        harness.rules.settle(make_request_id(bill), "delivered")
        assert (await harness.rail.query(bill)).status == orders.SUCCESSFUL

    at_vtpass(work)


def test_token_that_follows_later() -> None:
    async def work(harness: VendorHarness) -> None:
        bill = order(reference="45000000777")
        paid = await harness.rail.pay(bill)
        assert (paid.status, paid.facts) == (orders.SUCCESSFUL, {})
        assert "token" in (await harness.rail.query(bill)).facts

    at_vtpass(work)


def test_undocumented_code_is_unreadable() -> None:
    assert at_vtpass(lambda harness: harness.rail.pay(order(reference="45000000500"))).status == orders.UNREADABLE


def test_part_of_a_naira_is_never_sent() -> None:
    async def work(harness: VendorHarness) -> None:
        answer = await harness.rail.pay(order(amount=500_001))
        assert (answer.status, answer.code) == (orders.FAILED, "13")
        assert harness.twin.requests == []

    at_vtpass(work)


@pytest.mark.parametrize("amount", [100, 99_900, 2**53 // 100 * 100])
def test_amounts_are_exact_on_the_wire(amount: int) -> None:
    async def work(harness: VendorHarness) -> None:
        harness.rules.services = {
            "mtn": msgspec.structs.replace(harness.rules.services["mtn"], least="1", most=str(10**18))
        }
        harness.rules.balance = 10**18
        answer = await harness.rail.pay(msgspec.structs.replace(AIRTIME, amount=amount))
        assert answer.status == orders.SUCCESSFUL
        [bill] = harness.rules.bills.values()
        assert bill.amount * 100 == amount

    at_vtpass(work)


# --- lost answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS_OF_ORDERS)
def test_lost_answer_then_query(fault: FaultKind) -> None:
    expected, is_sold = FAULTS_OF_ORDERS[fault]

    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault(fault, "/pay")
        with pytest.raises((Unavailable, NoAnswer)) as caught:
            await harness.rail.pay(order())
        assert type(caught.value) is expected
        assert len(harness.rules.bills) == is_sold
        if fault == "too_many":
            assert isinstance(caught.value, Unavailable)
            assert caught.value.retry_after == 7
            return
        asked = await harness.rail.query(order())
        assert asked.status == (orders.SUCCESSFUL if is_sold else orders.NOT_FOUND)
        assert len(harness.rules.bills) == is_sold

    at_vtpass(work)


def test_unreachable_vendor_has_nothing() -> None:
    async def work(harness: VendorHarness) -> None:
        await harness.twin.stop()
        with pytest.raises(Unavailable):
            await harness.rail.pay(order())
        with pytest.raises(Unavailable):
            await harness.rail.query(order())

    at_vtpass(work)


def test_used_request_id_is_looked_up_and_sold_once() -> None:
    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault("lose", "/pay")
        with pytest.raises(NoAnswer):
            await harness.rail.pay(order())
        assert (await harness.rail.pay(order())).status == orders.SUCCESSFUL
        assert len(harness.rules.bills) == 1
        assert harness.twin.count("/requery") == 1

    at_vtpass(work)


def test_nothing_is_sent_after_midnight() -> None:
    async def work(harness: VendorHarness) -> None:
        answer = await harness.rail.pay(order())
        assert (answer.status, answer.code) == (orders.FAILED, "96")
        assert harness.twin.count("/pay") == 0
        assert harness.twin.count("/requery") == 1

    at_vtpass(work, later=timedelta(minutes=31))


def test_bill_that_was_sold_before_midnight_is_found_after_it() -> None:
    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault("lose", "/pay")
        with pytest.raises(NoAnswer):
            await harness.rail.pay(order())
        harness.rules.now = lambda: SENT_AT + timedelta(hours=1)
        late = VtpassBiller(
            harness.rail._client._transport, harness.twin.url, KEYS, OPERATOR_PHONE, Observed(), harness.rules.now
        )
        assert (await late.pay(order())).status == orders.SUCCESSFUL
        assert len(harness.rules.bills) == 1

    at_vtpass(work)


def test_vendor_with_another_day_fails_the_bill_and_tells_the_operator() -> None:
    async def work(harness: VendorHarness) -> None:
        harness.rules.now = lambda: SENT_AT + timedelta(days=1)
        answer = await harness.rail.pay(order())
        assert answer.status == orders.FAILED
        assert "clock" in answer.notice

    at_vtpass(work)


def test_second_bill_of_a_customer_within_half_a_minute_waits() -> None:
    async def work(harness: VendorHarness) -> None:
        await harness.rail.pay(order())
        second = order(key=rail_key(12, movement_reference("BP", 5, SENT_AT.date())))
        with pytest.raises(Unavailable) as caught:
            await harness.rail.pay(second)
        assert caught.value.retry_after == 30

    at_vtpass(work)


def test_wrong_keys_tell_the_operator_and_show_nothing() -> None:
    keys = VtpassKeys("api-1", "PK_1", "SK_secret")

    async def work(harness: VendorHarness) -> None:
        with pytest.raises(Unavailable) as caught:
            await harness.rail.pay(order())
        assert "check the keys" in caught.value.notice
        assert "SK_secret" not in f"{caught.value!r} {caught.value.notice} {keys!r}"

    at_vtpass(work, keys)


# --- customers and the catalogue -----------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["000", "020"])
def test_customers(code: Any) -> None:
    async def work(harness: VendorHarness) -> None:
        harness.rules.confirming_code = code
        query = CustomerQuery("ikeja-electric", "ikeja-electric/prepaid", METER, True)
        assert await harness.rail.find_customer(query) == CustomerAnswer("TESTMETER1")
        wrong = msgspec.structs.replace(query, reference="45012345699")
        assert await harness.rail.find_customer(wrong) == CustomerAnswer(None)
        nameless = msgspec.structs.replace(query, is_name_required=False)
        assert await harness.rail.find_customer(nameless) == CustomerAnswer("")
        assert harness.twin.count("/merchant-verify") == 2
        unknown = msgspec.structs.replace(query, paycode="nobody/prepaid")
        with pytest.raises(LookupDeclined):
            await harness.rail.find_customer(unknown)

    at_vtpass(work)


def test_customers_of_television_are_asked_for_without_a_type() -> None:
    async def work(harness: VendorHarness) -> None:
        query = CustomerQuery("dstv", "dstv/dstv-padi", "1212121212", True)
        assert await harness.rail.find_customer(query) == CustomerAnswer("TESTMETER1")
        assert harness.twin.requests[-1].body == {"serviceID": "dstv", "billersCode": "1212121212"}

    at_vtpass(work)


@pytest.mark.parametrize("reply", ["pay", "query"])
def test_a_reply_without_a_status_neither_delivers_nor_fails_a_bill(reply: str) -> None:
    async def work(harness: VendorHarness) -> None:
        harness.rules.tells_status = reply == "query"
        answer = await harness.rail.pay(order())
        harness.rules.tells_status = False
        answer = await harness.rail.query(order()) if reply == "query" else answer
        assert answer.status == orders.UNREADABLE

    at_vtpass(work)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"code": "030"}, Unavailable),
        ({"code": "087"}, Unavailable),
        ({"code": "555"}, UnreadableAnswer),
        ({"code": "000", "content": {}}, UnreadableAnswer),
        ({"code": "000", "content": "x"}, UnreadableAnswer),
    ],
)
def test_customer_look_ups_that_say_nothing(body: dict[str, Any], expected: type[Exception]) -> None:
    with pytest.raises(expected):
        read_customer(VendorReply(200, body))


def test_catalogue() -> None:
    edition = at_vtpass(lambda harness: harness.rail.fetch_catalogue(1))
    check_edition(edition)
    assert [category.code for category in edition.categories] == [
        "airtime",
        "data",
        "tv-subscription",
        "electricity-bill",
        "education",
    ]
    items = {item.paycode: item for item in edition.items}
    # Left out: a service with a percentage fee, a price in kobo, and a category that we do not sell.
    assert sorted(items) == [
        "dstv/dstv-padi",
        "etisalat/",
        "ikeja-electric/postpaid",
        "ikeja-electric/prepaid",
        "mtn-data/mtn-10mb-100",
        "mtn/",
        "waec/waecdirect",
    ]
    assert (items["mtn/"].amount, items["mtn-data/mtn-10mb-100"].amount) == ("0", "100.00")
    assert items["ikeja-electric/prepaid"].fulfilment == GIVES_TOKEN
    assert items["ikeja-electric/postpaid"].fulfilment == "topup"
    assert items["waec/waecdirect"].fulfilment == GIVES_PIN
    billers = {biller.slug: biller for biller in edition.billers}
    assert (billers["mtn"].least, billers["mtn"].most, billers["mtn"].amount_step) == (5_000, 50_000_000, 100)


def test_catalogue_is_the_same_in_every_edition() -> None:
    async def work(harness: VendorHarness) -> None:
        assert await harness.rail.fetch_catalogue(1) == await harness.rail.fetch_catalogue(2)

    at_vtpass(work)


@pytest.mark.parametrize("path", ["/service-categories", "/services", "/service-variations"])
@pytest.mark.parametrize("fault", ["page", "bad_gateway"])
def test_catalogue_that_cannot_be_read_as_a_whole_is_not_taken(path: str, fault: FaultKind) -> None:
    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault(fault, path)
        with pytest.raises((Unavailable, NoAnswer)):
            await harness.rail.fetch_catalogue(1)

    at_vtpass(work)


# --- call-backs ----------------------------------------------------------------------------------------------------

SECRET = "a-secret-of-twenty-four-or-more"


def find_order(path: str, body: bytes) -> str | None:
    return VtpassCallbacks(SECRET).find_order(path, lambda name: None, body)


def test_callback_names_its_order() -> None:
    body = msgspec.json.encode({"type": "transaction-update", "data": {"requestId": make_request_id(order())}})
    assert find_order(SECRET, body) == KEY


@pytest.mark.parametrize("path", ["", "other", SECRET + "x", SECRET[:-1]])
def test_callback_without_the_secret_is_refused(path: str) -> None:
    with pytest.raises(CallbackRefused):
        find_order(path, b"{}")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b'{"type":"\xff"}',
        b'{"type":"variations-update","serviceID":"mtn"}',
        b'{"type":"transaction-update","data":{"requestId":7}}',
        b'{"type":"transaction-update","data":{"requestId":"202601052330somebody"}}',
    ],
)
def test_callback_of_nobody_names_no_order(body: bytes) -> None:
    assert find_order(SECRET, body) is None
