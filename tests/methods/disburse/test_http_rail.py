"""Transfers as the bank answers them: magic accounts, the scenario header, faults, re-queries.
Contract: #states, disburse#transfer

Every merchant here has a clock that stands still but for `advance`, so nothing ends before the test says so.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from kasuwa.core.reference_tables import load_reference_data
from tests.merchant_client import MerchantClient, Wallet
from tests.running import Deployment

OPENING = 1_000_000_000
COST = 151_075
START = "2026-01-05T09:30:00+01:00"

OPEN = Wallet(OPENING, OPENING - COST, COST)
AFTER = {"successful": Wallet(OPENING - COST, OPENING - COST, 0), "failed": Wallet(OPENING, OPENING, 0)}

NEVER_ENDING = "0000009900"
PENDING_ACCOUNT = "0000000020"

# Ages at which an unknown outcome is asked after. (Contract: disburse#transfer)
REQUERY_TIMES = [5, 30, 120, 600, 1800, 3600, 7200, 10800]

MAGIC_ACCOUNTS = load_reference_data("magic_values")["accounts"]["list"]


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=START)


@pytest.mark.parametrize("magic", MAGIC_ACCOUNTS, ids=lambda magic: magic["account"])
def test_a_magic_account_ends_as_its_table_says(shop: MerchantClient, magic: dict[str, Any]) -> None:
    sent = shop.transfer(accountnumber=magic["account"])
    assert sent["status"] == 200
    if magic["after_seconds"]:
        assert sent["txnStatus"] == "pending"
        assert shop.wallet() == OPEN
        shop.advance(seconds=magic["after_seconds"] - 1)
        assert shop.status_of(sent["orderRef"]) == "pending"
        shop.advance(seconds=1)
    else:
        assert sent["txnStatus"] == magic["final"]
    assert shop.status_of(sent["orderRef"]) == magic["final"]
    assert shop.wallet() == AFTER[magic["final"]]


@pytest.mark.parametrize(("account", "final"), [("0000000010", "successful"), ("0000000517", "failed")])
def test_an_account_can_be_processing_first(shop: MerchantClient, account: str, final: str) -> None:
    sent = shop.transfer(accountnumber=account)
    assert sent["txnStatus"] == "processing"
    assert shop.wallet() == OPEN
    shop.advance(seconds=5)
    assert shop.status_of(sent["orderRef"]) == final
    assert shop.wallet() == AFTER[final]


@pytest.mark.parametrize("account", [NEVER_ENDING, PENDING_ACCOUNT, "0000000523"])
def test_some_magic_accounts_end_only_by_a_call_back(shop: MerchantClient, account: str) -> None:
    sent = shop.transfer(accountnumber=account)
    shop.advance(days=2)
    assert shop.status_of(sent["orderRef"]) == "pending"
    assert shop.wallet() == OPEN
    shop.put("sandbox", action="settle", orderRef=sent["orderRef"], outcome="failed")
    assert shop.status_of(sent["orderRef"]) == "failed"
    assert shop.wallet() == AFTER["failed"]


def test_verify_does_not_end_a_transfer(shop: MerchantClient) -> None:
    sent = shop.transfer(accountnumber="0000000900")
    for _ in range(10):
        assert shop.status_of(sent["txnRef"]) == "pending"
    assert shop.transfer(accountnumber="0000000900", orderRef=sent["orderRef"])["txnStatus"] == "pending"


def test_an_unknown_outcome_is_queried_at_each_scheduled_time_and_at_no_other(shop: MerchantClient) -> None:
    shop.transfer(accountnumber=NEVER_ENDING)
    passed = 0
    for query_age in REQUERY_TIMES:
        assert shop.advance(seconds=query_age - passed - 1)["ran"] == {}, query_age
        assert shop.advance(seconds=1)["ran"] == {"disburse": 1}, query_age
        passed = query_age


# --- final is final -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [("successful", "failed"), ("failed", "successful")])
def test_a_contradiction_of_a_final_state_changes_nothing_and_is_noted(
    shop: MerchantClient, deployment: Deployment, first: str, second: str
) -> None:
    sent = shop.transfer(accountnumber=PENDING_ACCOUNT)
    reply = shop.put("sandbox", action="settle", txnRef=sent["txnRef"], outcome=first).body
    before = shop.verify(sent["txnRef"])
    assert (reply["status"], reply["txnStatus"], reply["txnRef"]) == (200, first, sent["txnRef"])
    again = shop.put("sandbox", action="settle", txnRef=sent["txnRef"], outcome=second).body
    assert again["txnStatus"] == first
    assert shop.verify(sent["txnRef"]) == before
    assert shop.advance(days=2)["ran"] == {}
    assert shop.wallet() == AFTER[first]
    notices = deployment.fetch(
        "select n.reference, n.message from operator_notice n join merchant m using (merchant_id) where m.mid = $1",
        shop.mid,
    )
    assert [row["reference"] for row in notices] == [sent["txnRef"]]
    assert second in notices[0]["message"]


def test_contradictory_call_backs_at_once_leave_one_outcome(shop: MerchantClient, deployment: Deployment) -> None:
    references = [shop.transfer(accountnumber=PENDING_ACCOUNT)["txnRef"] for _ in range(5)]

    def settle(given: tuple[str, str]) -> tuple[str, str]:
        with deployment.connect() as wire:
            one = MerchantClient(wire, shop.mid, shop.key)
            body = one.put("sandbox", action="settle", txnRef=given[0], outcome=given[1]).body
        return given[0], body["txnStatus"]

    with ThreadPoolExecutor(12) as pool:
        result = list(pool.map(settle, [(ref, end) for ref in references for end in ("successful", "failed") * 2]))
    assert set(result) == {(reference, shop.status_of(reference)) for reference in references}
    taken = COST * sum(shop.status_of(reference) == "successful" for reference in references)
    assert shop.wallet() == Wallet(OPENING - taken, OPENING - taken, 0)


def test_the_same_call_back_twice_is_no_contradiction(shop: MerchantClient, deployment: Deployment) -> None:
    sent = shop.transfer(accountnumber=PENDING_ACCOUNT)
    for _ in range(2):
        shop.put("sandbox", action="settle", txnRef=sent["txnRef"], outcome="successful")
    notices = deployment.fetch(
        "select 1 from operator_notice n join merchant m using (merchant_id) where m.mid = $1", shop.mid
    )
    assert notices == []


# --- told by a header ---------------------------------------------------------------------------------------


def transfer_with(shop: MerchantClient, scenario: str, **fields: Any) -> Any:
    return shop.transfer(headers={"x-sandbox-scenario": scenario}, **fields)


@pytest.mark.parametrize(
    ("scenario", "first", "seconds", "final"),
    [
        ("rr=00", "successful", 0, "successful"),
        ("rr=05", "failed", 0, "failed"),
        ("rr=91", "pending", 5, "failed"),
        ("rr=09", "pending", 5, "successful"),
        ("delay=0", "failed", 0, "failed"),
        ("delay=5", "pending", 5, "failed"),
        ("rr=00;delay=5", "pending", 5, "successful"),
        ("rr=51; delay=20", "pending", 30, "failed"),
        ("rr=00;delay=60;webhook=dup", "pending", 120, "successful"),
        ("http=timeout;rr=00", "processing", 5, "successful"),
        ("http=500;rr=00", "processing", 5, "successful"),
        ("http=timeout", "processing", 5, "failed"),
        ("http=reset;rr=00", "processing", 86_400, "failed"),
        ("webhook=late:5", "failed", 0, "failed"),
    ],
)
def test_a_scenario_overrides_the_account_for_one_request(
    shop: MerchantClient, scenario: str, first: str, seconds: int, final: str
) -> None:
    sent = transfer_with(shop, scenario, accountnumber="0000000500")
    assert sent["txnStatus"] == first
    if seconds:
        shop.advance(seconds=seconds - 1)
        assert shop.status_of(sent["orderRef"]) not in AFTER
        shop.advance(seconds=1)
    assert shop.status_of(sent["orderRef"]) == final
    assert shop.wallet() == AFTER[final]
    assert shop.transfer(accountnumber="0000000500")["txnStatus"] == "failed"


def test_an_unreadable_answer_is_status_201_and_stays_pending(shop: MerchantClient) -> None:
    http, body = shop.put(
        "disburse",
        headers={"x-sandbox-scenario": "rr=ZZ"},
        action="transfer",
        amount="1500.00",
        bankcode="058",
        accountnumber="0000000000",
        orderRef="unreadable",
    )
    assert (http, body["status"], body["txnStatus"]) == (200, 201, "pending")
    assert shop.wallet() == OPEN
    assert shop.advance(seconds=5)["ran"] == {"disburse": 1}
    assert shop.status_of("unreadable") == "pending"


@pytest.mark.parametrize("scenario", ["rr=0", "rr=000", "delay=-1", "delay=x", "http=boom", "nonsense", "rr", "é"])
def test_a_scenario_that_cannot_be_read_is_refused(shop: MerchantClient, scenario: str) -> None:
    body = transfer_with(shop, scenario)
    assert body["status"] == 104
    assert [fault["field"] for fault in body["errors"]] == ["x-sandbox-scenario"]
    assert shop.wallet() == Wallet(OPENING, OPENING, 0)


# --- told by a fault ----------------------------------------------------------------------------------------


def plan(shop: MerchantClient, kind: str, **fields: Any) -> None:
    http, body = shop.put("sandbox", action="fault", **{"rail": "bank", "kind": kind, **fields})
    assert (http, body["status"]) == (200, 200), body


@pytest.mark.parametrize(
    ("kind", "first", "seconds", "final"),
    [
        ("timeout", "processing", 5, "successful"),
        ("reset", "processing", 86_400, "failed"),
        ("unavailable", "processing", 5, "successful"),
        ("decline", "failed", 0, "failed"),
    ],
)
def test_a_fault_strikes_the_next_call_and_ends_as_written(
    shop: MerchantClient, kind: str, first: str, seconds: int, final: str
) -> None:
    plan(shop, kind)
    sent = shop.transfer()
    assert sent["txnStatus"] == first
    if seconds:
        assert shop.wallet() == OPEN
        shop.advance(seconds=seconds - 1)
        assert shop.status_of(sent["orderRef"]) not in AFTER
        shop.advance(seconds=1)
    assert shop.status_of(sent["orderRef"]) == final
    assert shop.wallet() == AFTER[final]
    assert shop.transfer()["txnStatus"] == "successful"


def test_a_fault_strikes_as_often_as_planned(shop: MerchantClient) -> None:
    plan(shop, "decline", times=2)
    assert [shop.transfer()["txnStatus"] for _ in range(3)] == ["failed", "failed", "successful"]


def test_faults_strike_in_the_order_they_were_planned_and_each_its_own_rail(shop: MerchantClient) -> None:
    plan(shop, "decline", rail="card", times=9)
    plan(shop, "decline")
    plan(shop, "timeout")
    assert [shop.transfer()["txnStatus"] for _ in range(3)] == ["failed", "processing", "successful"]


def test_a_fault_strikes_the_orders_of_a_bulk_one_by_one(shop: MerchantClient) -> None:
    plan(shop, "decline", times=2)
    shop.bulk([{"amount": "1", "bankcode": "058", "accountnumber": "0000000000", "orderRef": ref} for ref in "abc"])
    shop.advance(seconds=0)
    assert [shop.status_of(ref) for ref in "abc"] == ["failed", "failed", "successful"]


def test_a_probability_of_nothing_never_strikes_and_of_one_always(shop: MerchantClient) -> None:
    plan(shop, "decline", times=3, probability=0)
    assert {shop.transfer()["txnStatus"] for _ in range(3)} == {"successful"}
    plan(shop, "decline", times=3, probability=1)
    assert {shop.transfer()["txnStatus"] for _ in range(3)} == {"failed"}


def test_the_scenario_header_precedes_a_fault_and_does_not_use_it_up(shop: MerchantClient) -> None:
    plan(shop, "decline")
    assert transfer_with(shop, "rr=00")["txnStatus"] == "successful"
    assert shop.transfer()["txnStatus"] == "failed"


def test_events_follow_business_time_in_order(shop: MerchantClient, deployment: Deployment) -> None:
    for name, delay in (("third", 100), ("second", 20), ("first", 5)):
        transfer_with(shop, f"rr=00;delay={delay}", orderRef=name)
    assert shop.advance(minutes=10)["ran"] == {"disburse": 6}
    rows = deployment.fetch(
        "select t.order_ref, e.at - t.created_at from event e join merchant m using (merchant_id)"
        " join transaction t on t.merchant_id = e.merchant_id and t.txn_ref = e.reference"
        " where m.mid = $1 order by e.seq",
        shop.mid,
    )
    ends = [("first", 5), ("second", 30), ("third", 120)]
    assert [tuple(row) for row in rows] == [(name, timedelta(seconds=age)) for name, age in ends]
