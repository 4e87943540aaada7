"""The biller of the test environment: it sells what its data lists, and every magic reference does what its table
says. A bill's whole story is followed as the worker would live it."""

import asyncio
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kasuwa.core.reference_tables import load_reference_data
from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.methods.bills.model import QUERY, SEND
from kasuwa.methods.bills.steps import call_biller, fetch_delivery
from kasuwa.rails.catalogue.catalogue import check_edition
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.all_rails import NOT_CONFIGURED, Rails
from kasuwa.rails.ports.orders import (
    RAIL_SILENT,
    RAIL_UNAVAILABLE,
    Answer,
    BillOrder,
    CustomerAnswer,
    CustomerQuery,
    LookupDeclined,
    NoAnswer,
    Unavailable,
    UnreadableAnswer,
)
from kasuwa.rails.routing.orders import RoutedBiller
from kasuwa.rails.sandbox.biller import SAMPLE_PAYCODES, SandboxBiller, first_edition
from kasuwa.transactions.transactions import FAILED, FINAL, PENDING, SUCCESSFUL
from tests.methods.bills.payments import AIRTIME, EXAM, PREPAID, SentBill
from tests.rails.no_rails import no_rails
from tests.rule_context import context

DAY = 24 * 3600
SENT_AT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
BILLER = SandboxBiller()
SANDBOX = Rails(bank=NOT_CONFIGURED, biller=BILLER)
MAGIC = load_reference_data("magic_values")

# When and how a bill ends that is paid for a reference with these last figures. None: it never does by itself.
BILLS = {
    "00": (0, SUCCESSFUL),
    "01": (0, SUCCESSFUL),
    "07": (0, FAILED),
    "08": (0, SUCCESSFUL),
    "09": (5, SUCCESSFUL),
    "06": (5, FAILED),
    "16": (0, FAILED),
    "30": (5, FAILED),
    "68": (5, SUCCESSFUL),
    "13": (0, FAILED),
    "99": (None, PENDING),
}
PHONES = {
    "00": (0, SUCCESSFUL),
    "09": (5, SUCCESSFUL),
    "06": (5, FAILED),
    "51": (0, FAILED),
    "17": (0, FAILED),
    "68": (DAY, FAILED),
    "91": (5, FAILED),
    "99": (None, PENDING),
}


def call(rails: Rails, sent: SentBill, age: float) -> Answer:
    """Calls the biller as the stepper does: a rail that is unavailable or silent gives an answer too."""
    try:
        return asyncio.run(call_biller(rails, sent.job, sent.row.created_at + timedelta(seconds=age), None))
    except Unavailable:
        return RAIL_UNAVAILABLE
    except NoAnswer:
        return RAIL_SILENT


def follow(name: str, reference: str, scenario: Scenario = NO_SCENARIO, rails: Rails = SANDBOX) -> list[Any]:
    """The story of a bill until it is final or three days old: age, what was done, what it became."""
    sent, age = SentBill.new(name, context(scenario=scenario), reference=reference), 0.0
    story = []
    while age <= 3 * DAY:
        decision = sent.receive_answer(call(rails, sent, age), age)
        story.append((age, sent.job.kind, decision.reply.txn_status))
        if decision.reply.txn_status in FINAL:
            break
        sent = sent.after(decision)
        age = (sent.job.due - sent.row.created_at) / timedelta(seconds=1)
    return story


def check_story(story: list[Any], after: int | None, status: str) -> None:
    age, _, last = story[-1]
    assert last == status
    assert age == (3 * DAY if after is None else after)
    assert {kind for _, kind, _ in story[1:]} <= {QUERY, SEND}


def test_the_tables_are_the_ones_tested_here() -> None:
    assert set(BILLS) == set(MAGIC["bills"]["rr"])
    assert set(PHONES) == set(MAGIC["phones"]["rr"])


@pytest.mark.parametrize("zeros", [6, 8, 11])
@pytest.mark.parametrize("code", BILLS)
def test_a_bill_for_a_magic_reference_ends_as_and_when_its_table_says(code: str, zeros: int) -> None:
    check_story(follow(PREPAID, "0" * zeros + code), *BILLS[code])


@pytest.mark.parametrize("prefix", ["080000000", "02400000", "07000000"], ids=["NG", "GH", "KE"])
@pytest.mark.parametrize("code", PHONES)
def test_airtime_for_a_magic_phone_ends_as_and_when_its_table_says(code: str, prefix: str) -> None:
    check_story(follow(AIRTIME, prefix + code), *PHONES[code])


@pytest.mark.parametrize(
    ("scenario", "age", "status"),
    [
        (Scenario(http="timeout"), 5, SUCCESSFUL),
        (Scenario(http="500"), 5, SUCCESSFUL),
        (Scenario(http="reset"), DAY, FAILED),
        (Scenario(http="unavailable"), 5, SUCCESSFUL),
        (Scenario(rr="05"), 0, FAILED),
        (Scenario(rr="91"), 5, FAILED),
        (Scenario(rr="96"), 5, FAILED),
        (Scenario(rr="25"), DAY, FAILED),
        (Scenario(delay=6), 30, SUCCESSFUL),
        (Scenario(delay=600, rr="16"), 600, FAILED),
        (Scenario(rr="68"), 5, SUCCESSFUL),
    ],
    ids=str,
)
def test_a_scenario_overrides_the_reference_and_ends_at_the_next_query(
    scenario: Scenario, age: int, status: str
) -> None:
    for reference in ("45012345678", "0000000016"):
        if scenario.rr is not None or reference == "45012345678":
            check_story(follow(PREPAID, reference, scenario), age, status)


def test_an_answer_nobody_can_read_stays_open() -> None:
    assert {status for _, _, status in follow(PREPAID, "45012345678", Scenario(rr="ZZ"))} == {PENDING}


def test_only_the_first_call_sends_unless_it_was_refused_before_anything_was_done() -> None:
    assert [kind for _, kind, _ in follow(PREPAID, "0000000009")] == [SEND, QUERY]
    assert [kind for _, kind, _ in follow(PREPAID, "0000000030")] == [SEND, SEND]


def test_where_there_is_no_biller_nothing_is_known_for_ever() -> None:
    story = follow(PREPAID, "45012345678", rails=Rails(bank=NOT_CONFIGURED, biller=RoutedBiller(no_rails("bills"))))
    assert {(kind, status) for _, kind, status in story} == {(SEND, PENDING)}


class Recorder(SandboxBiller):
    """A biller that was never reached, or answered somebody who died: it notes what it is asked."""

    def __init__(self, known: Answer) -> None:
        self.known = known
        self.calls: list[str] = []

    async def query(self, order: BillOrder) -> Answer:
        self.calls.append(f"query {order.key}")
        return self.known

    async def pay(self, order: BillOrder) -> Answer:
        self.calls.append(f"pay {order.key}")
        return await super().pay(order)


@pytest.mark.parametrize(
    ("claims", "known", "verbs"),
    [
        (1, RAIL_SILENT, ["pay"]),
        (2, RAIL_SILENT, ["query"]),
        (2, Answer(orders.NOT_FOUND, "25", "No such order"), ["query", "pay"]),
    ],
)
def test_a_job_taken_over_from_the_dead_is_asked_after_before_it_is_sent(
    claims: int, known: Answer, verbs: list[str]
) -> None:
    sent, biller = SentBill.new(), Recorder(known)
    sent.job.claims = claims
    call(Rails(bank=NOT_CONFIGURED, biller=biller), sent, 25.0)
    assert biller.calls == [f"{verb} {sent.job.merchant_id} {sent.row.txn_ref}" for verb in verbs]


# --- what it delivers -------------------------------------------------------------------------------------------


def order(fulfilment: str, key: str = "7 GP|BP|1", amount: int = 500_000) -> BillOrder:
    return BillOrder(key, "ikeja-electric", "x", fulfilment, "45012345678", amount, "NGN", SENT_AT, 60)


def goods(fulfilment: str, key: str = "7 GP|BP|1") -> Mapping[str, str]:
    paid, asked = (asyncio.run(verb(order(fulfilment, key))) for verb in (BILLER.pay, BILLER.query))
    assert paid == asked
    assert paid.facts == asyncio.run(BILLER.reprint(order(fulfilment, key)))
    return paid.facts


def test_a_prepaid_meter_gets_a_token_of_twenty_digits_and_its_units() -> None:
    facts = goods("electricity_token")
    assert re.fullmatch(r"[0-9]{20}", facts["token"])
    assert facts["units"] == "23.89"
    tokens = {goods("electricity_token", f"7 GP|BP|{n}")["token"] for n in range(200)}
    assert len(tokens) == 200
    assert {len(token) for token in tokens} == {20}


def test_an_exam_gets_a_pin_and_a_receipt_nothing() -> None:
    assert re.fullmatch(r"[0-9]{12}", goods("pin")["pin"])
    for fulfilment in ("receipt", "topup", "subscription", "wallet_credit", "certificate"):
        assert goods(fulfilment) == {}


@pytest.mark.parametrize("name", [PREPAID, EXAM])
def test_a_call_back_of_success_brings_the_goods_along(name: str) -> None:
    sent = SentBill.new(name)
    answer = Answer(orders.SUCCESSFUL, "00", "Approved")
    delivery = asyncio.run(fetch_delivery(SANDBOX, sent.job, answer))
    assert delivery.facts
    assert delivery == call(SANDBOX, sent, 0).__class__(answer.status, answer.code, answer.message, delivery.facts)
    assert delivery.facts == call(SANDBOX, sent, 0).facts
    failed = Answer(orders.FAILED, "05", "Do not honour")
    assert asyncio.run(fetch_delivery(SANDBOX, sent.job, failed)) is failed


# --- customers --------------------------------------------------------------------------------------------------


def customer(reference: str, scenario: Scenario = NO_SCENARIO, *, required: bool = True) -> CustomerAnswer:
    return asyncio.run(BILLER.find_customer(CustomerQuery("ikeja-electric", "x", reference, required, scenario)))


def test_a_customer_always_has_the_same_name_and_others_have_others() -> None:
    names = {customer(f"450{n:08d}").name for n in range(200)}
    assert customer("45012345678") == customer("45012345678")
    assert len(names) > 50


@pytest.mark.parametrize("reference", ["08031234567", "08000000000", "00000000", "00000008", "00000016"])
def test_where_there_is_no_name_query_nobody_is_named(reference: str) -> None:
    assert customer(reference, required=False) == CustomerAnswer("")
    assert customer(reference, Scenario(rr="08"), required=False) == CustomerAnswer("")


def test_without_a_name_query_the_biller_is_unknown_to_late_and_silent_all_the_same() -> None:
    assert customer("00000007", required=False) == CustomerAnswer(None)
    with pytest.raises(Unavailable):
        customer("00000030", required=False)
    with pytest.raises(NoAnswer):
        customer("00000068", required=False)


@pytest.mark.parametrize("code", ["00", "01", "06", "09", "13", "16", "99"])
def test_most_magic_references_are_somebodys(code: str) -> None:
    assert customer(f"000000{code}") == CustomerAnswer(f"SANDBOX {code} CUSTOMER")


def test_an_unknown_customer_a_mismatch_an_outage_and_a_timeout_differ() -> None:
    assert customer("00000007") == CustomerAnswer(None)
    assert customer("00000008").is_name_mismatch
    for outage in ("00000030", "08000000091"):
        with pytest.raises(Unavailable):
            customer(outage)
    with pytest.raises(NoAnswer):
        customer("00000068")
    with pytest.raises(NoAnswer):
        customer("45012345678", Scenario(http="timeout"))
    for http in ("reset", "500", "unavailable"):
        for reference in ("45012345678", "00000068"):
            with pytest.raises(Unavailable):
                customer(reference, Scenario(http=http))


@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize("reference", ["45012345678", "00000000", "00000007"])
def test_a_lookup_with_a_failing_scenario_says_nothing_of_the_customer(reference: str, required: bool) -> None:
    for rr, words in (("05", "Do not honour"), ("16", "Refused"), ("25", "Unable to locate record")):
        with pytest.raises(LookupDeclined, match=words):
            customer(reference, Scenario(rr=rr), required=required)
    for rr, error in (("ZZ", UnreadableAnswer), ("09", NoAnswer), ("97", NoAnswer), ("96", Unavailable)):
        with pytest.raises(error):
            customer(reference, Scenario(rr=rr), required=required)
    for rr in ("00", "01", "08"):
        assert customer(reference, Scenario(rr=rr), required=required).name is not None


# --- what it sells ------------------------------------------------------------------------------------------------


def test_its_sheet_can_be_sold_from_and_is_what_its_data_lists() -> None:
    sheet = first_edition()
    check_edition(sheet)
    listed = load_reference_data("billers")["data"]
    assert [item.paycode for item in sheet.items] == [row["paycode"] for row in listed["items"]]
    assert {item.name: item.fulfilment for item in sheet.items if item.bills_id == 14} == {
        "IKEDC Prepaid": "electricity_token",
        "IKEDC Postpaid": "receipt",
    }


def test_each_edition_has_new_paycodes_and_the_same_one_always_the_same() -> None:
    editions = [asyncio.run(BILLER.fetch_catalogue(edition)) for edition in (1, 2, 3)]
    assert asyncio.run(BILLER.fetch_catalogue(2)) == editions[1]
    codes = [{item.paycode for item in sheet.items} for sheet in editions]
    assert all(len(found) == 218 for found in codes)
    # The code that public clients print is in all of them.
    assert set.intersection(*codes) == SAMPLE_PAYCODES
    assert len(set.union(*codes)) == 3 * 217 + 1
    assert {len(code) for found in codes for code in found} == {15}
