"""Savings over HTTP, on real PostgreSQL: a life of savings, cash-outs by rail, races, and what changes nothing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from kasuwa.core.money import LARGEST_AMOUNT
from kasuwa.methods.investments.accrual import annual_parts
from tests.merchant_client import MerchantClient, to_minor_units
from tests.methods.investments.savers import (
    DECLINES,
    NOW,
    WAITS,
    balance,
    cash_out,
    enroll,
    invest,
    make_deposit,
    open_savings,
    view,
)
from tests.methods.payment.payment_client import card
from tests.running import Deployment
from tests.walk.test_tenancy import everything_of

OPENING = 1_000_000_000


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=NOW)


def test_a_life_of_savings_from_opening_to_closing(shop: MerchantClient) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada, tax_applied=True, period=2)
    assert view(shop, savings_id) == {
        "savings_id": savings_id,
        "client_id": ada,
        "name": "School fees",
        "state": "pending",
        "balance": "0.00",
        "accrued_interest": "0.00",
        "interestSettings": {"interestRate": "36.5", "interestFrequency": "annualized"},
        "tax_applied": True,
        "tax_rate": "10",
        "period": 2,
        "opened_at": "2026-01-05T08:30:00.000Z",
        "matures_at": "2026-03-04T23:00:00.000Z",
        "plans": [],
        "plans_total": 0,
    }
    assert make_deposit(shop, savings_id, "1000.00")["balance"] == "1000.00"
    assert view(shop, savings_id)["state"] == "active"
    shop.advance(days=10)
    assert view(shop, savings_id)["accrued_interest"] == "10.00"
    assert shop.advance(until="2026-02-05T00:00:00+01:00")["ran"] == {"savings": 1}
    # 31 days' ends at a thousandth, less a tenth of it.
    assert balance(shop, savings_id) == 102_790
    [event] = shop.put("resources", inquire="events", txnRef=savings_id).body["data"]
    assert event["payload"] == {
        "kind": "savings",
        "status": 200,
        "txnStatus": "successful",
        "txnRef": savings_id,
        "chargedAmount": "27.90",
        "currency": "NGN",
        "paymentMethod": "wallet",
        "endpoint": "test",
        "savings_id": savings_id,
        "client_id": ada,
        "step": "interest_posted",
        "interest": "31.00",
        "tax": "3.10",
    }
    shop.advance(until="2026-03-05T00:00:00+01:00")
    # 28 days' ends: 2878.12 kobo is 28.78, its tax 2.88.
    record = view(shop, savings_id)
    assert (record["state"], record["balance"], record["accrued_interest"]) == ("matured", "1053.80", "0.00")
    taken = cash_out(shop, savings_id, ada, "1053.80", "transfer")
    assert (taken["status"], taken["txnStatus"], taken["balance"]) == (200, "successful", "0.00")
    assert view(shop, savings_id)["state"] == "closed"
    assert make_deposit(shop, savings_id, "5.00")["status"] == 104
    assert shop.put("clients", action="update", client_id=ada, status="exited").body["status"] == 200


def test_a_client_with_open_savings_stays_active(shop: MerchantClient) -> None:
    ada = enroll(shop)
    open_savings(shop, ada)
    assert shop.put("clients", action="update", client_id=ada, status="exited").body["status"] == 104


def test_lists_are_of_all_or_of_one_client_newest_first(shop: MerchantClient) -> None:
    ada, obi = enroll(shop), enroll(shop)
    found = [open_savings(shop, client, f"{n}.00") for n, client in enumerate((ada, obi, ada), 1)]
    listed = invest(shop, "list_savings")
    assert [line["savings_id"] for line in listed["data"]] == found[::-1]
    assert [line["balance"] for line in listed["data"]] == ["3.00", "2.00", "1.00"]
    assert (listed["total"], listed["offset"], listed["limit"]) == (3, 0, 50)
    of_ada = invest(shop, "list_savings", client_id=ada, offset=1, limit=1)
    assert ([line["savings_id"] for line in of_ada["data"]], of_ada["total"]) == ([found[0]], 2)
    assert invest(shop, "list_savings", client_id="CLnobody")["data"] == []


def test_wallet_and_savings_move_as_one_with_their_events(shop: MerchantClient, deployment: Deployment) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada)
    brought = make_deposit(shop, savings_id, "1000.00")
    assert shop.wallet().balance == OPENING - 100_000
    taken = cash_out(shop, savings_id, ada, "250.00")
    assert shop.wallet().balance == OPENING - 75_000
    rows = deployment.fetch(
        "select e.payload from event e join merchant m using (merchant_id) where m.mid = $1 order by e.seq", shop.mid
    )
    common = {"status": 200, "txnStatus": "successful", "endpoint": "test", "currency": "NGN", "savings_id": savings_id}
    assert [msgspec.json.decode(row[0]) for row in rows] == [
        common
        | {"txnRef": brought["txnRef"], "chargedAmount": "1000.00", "paymentMethod": "wallet", "kind": "deposit"},
        common | {"txnRef": taken["txnRef"], "chargedAmount": "250.00", "paymentMethod": "cash", "kind": "cashout"},
    ]


# --- by transfer --------------------------------------------------------------------------------------------


def test_a_pending_transfer_holds_the_savings_until_its_outcome(shop: MerchantClient) -> None:
    ada = enroll(shop, WAITS)
    savings_id = open_savings(shop, ada, "1000.00")
    taken = cash_out(shop, savings_id, ada, "400.00", "transfer")
    assert (taken["txnStatus"], taken["balance"]) == ("pending", "600.00")
    assert cash_out(shop, savings_id, ada, "600.01")["status"] == 301
    shop.put("sandbox", action="settle", txnRef=taken["txnRef"], outcome="successful")
    assert balance(shop, savings_id) == 60_000
    assert shop.wallet().held == 0
    assert shop.verify(taken["txnRef"])["txnStatus"] == "successful"


def test_a_transfer_that_fails_gives_everything_back(shop: MerchantClient) -> None:
    waiting, declined = enroll(shop, WAITS), enroll(shop, DECLINES)
    first, second = open_savings(shop, waiting, "1000.00"), open_savings(shop, declined, "1000.00")
    taken = cash_out(shop, first, waiting, "400.00", "transfer")
    shop.put("sandbox", action="settle", txnRef=taken["txnRef"], outcome="failed")
    assert cash_out(shop, second, declined, "400.00", "transfer")["txnStatus"] == "failed"
    assert (balance(shop, first), balance(shop, second)) == (100_000, 100_000)
    assert shop.wallet() == (OPENING - 200_000, OPENING - 200_000, 0)


def test_a_cash_out_whose_answer_is_lost_is_found_and_paid_once(shop: MerchantClient) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada, "1000.00")
    taken = cash_out(shop, savings_id, ada, "400.00", "transfer", headers={"x-sandbox-scenario": "http=timeout"})
    assert taken["txnStatus"] == "processing"
    shop.advance(seconds=5)
    assert shop.verify(taken["txnRef"])["txnStatus"] == "successful"
    assert balance(shop, savings_id) == 60_000


# --- by cashcode --------------------------------------------------------------------------------------------


def draw(shop: MerchantClient, taken: Any, pin: str, amount: str) -> Any:
    fields = {"cashcode": taken["cashcode"], "pin": pin, "amount": amount, "channel": "ATM"}
    return shop.put("sandbox", action="redeem_cashcode", **fields).body


def test_a_code_draws_cash_out_of_the_savings_and_its_fee_out_of_the_wallet(shop: MerchantClient) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada, "1000.00")
    taken = cash_out(shop, savings_id, ada, "400.00", "cashcode")
    assert set(taken) == {"status", "message", "txnRef", "savings_id", "balance", "cashcode", "pin"}
    assert (taken["status"], taken["balance"], balance(shop, savings_id)) == (200, "600.00", 60_000)
    assert shop.wallet() == (OPENING - 100_000, OPENING - 110_750, 10_750)
    assert draw(shop, taken, taken["pin"], "400.00")["txnStatus"] == "successful"
    assert balance(shop, savings_id) == 60_000
    assert shop.wallet() == (OPENING - 110_750, OPENING - 110_750, 0)
    verified = shop.put("cashcode", action="verify", orderRef=taken["txnRef"]).body
    assert (verified["state"], verified["paid"], verified["fee"]) == ("redeemed", "400.00", "100.00")
    [event] = shop.put("resources", inquire="events", txnRef=taken["txnRef"]).body["data"]
    assert (event["payload"]["txnRef"], event["payload"]["paymentMethod"]) == (taken["txnRef"], "cashcode")


def test_a_code_that_ends_unused_returns_to_the_savings(shop: MerchantClient) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada, "1000.00")
    expires, cancelled, locked = (cash_out(shop, savings_id, ada, "300.00", "cashcode", pin="2580") for _ in range(3))
    assert "pin" not in locked
    for _ in range(3):
        assert draw(shop, locked, "0000", "300.00")["status"] == 203
    assert balance(shop, savings_id) == 40_000
    assert shop.put("cashcode", action="cancel", orderRef=cancelled["txnRef"]).body["status"] == 200
    assert balance(shop, savings_id) == 70_000
    shop.advance(minutes=1440)
    assert draw(shop, expires, "2580", "300.00")["status"] == 104
    assert balance(shop, savings_id) == 100_000
    assert shop.wallet() == (OPENING - 100_000, OPENING - 100_000, 0)


def test_savings_that_a_code_empties_after_maturity_close(shop: MerchantClient) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada, "1000.00", period=1)
    shop.advance(days=31)
    taken = cash_out(shop, savings_id, ada, "1031.00", "cashcode", pin="2580")
    assert view(shop, savings_id)["state"] == "matured"
    assert draw(shop, taken, "2580", "1031.00")["status"] == 200
    assert view(shop, savings_id)["state"] == "closed"


def test_neither_code_nor_pin_is_shown_twice(shop: MerchantClient) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada, "1000.00")
    key = {"idempotency-key": "once"}
    first, again = (cash_out(shop, savings_id, ada, "400.00", "cashcode", headers=key) for _ in range(2))
    assert again == {name: first[name] for name in ("status", "message", "txnRef", "savings_id", "balance")}
    assert balance(shop, savings_id) == 60_000


# --- what changes nothing -------------------------------------------------------------------------------------


def test_a_dry_run_changes_not_a_row(shop: MerchantClient, deployment: Deployment) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada, "1000.00")
    shop.advance(days=3)
    before = everything_of(deployment, shop)
    for reply in (
        make_deposit(shop, savings_id, "5.00", dry_run=True),
        cash_out(shop, savings_id, ada, "5.00", dry_run=True),
        cash_out(shop, savings_id, ada, "5.00", "transfer", dry_run=True),
        cash_out(shop, savings_id, ada, "5.00", "cashcode", dry_run=True),
    ):
        assert (reply["status"], reply["dry_run"]) == (200, True)
        assert all(set(figure) == {"what", "amount", "how"} for figure in reply["explained"])
    after = everything_of(deployment, shop)
    assert {name for name in after if after[name] != before[name]} <= {"commit_mark"}


BAD: list[tuple[str, dict[str, Any], int]] = [
    ("create_savings", {"period": 0}, 104),
    ("create_savings", {"client_id": "CLnobody"}, 104),
    ("create_savings", {"interestSettings": {"interestRate": "x", "interestFrequency": "annualized"}}, 104),
    ("deposit", {"savings_id": "SVnobody"}, 104),
    ("deposit", {"amount": "0.10"}, 104),
    ("deposit", {"payment_method": "seashells"}, 104),
    ("deposit", {"amount": "10000000.00"}, 301),
    ("cashout", {"amount": "1000.01"}, 301),
    ("cashout", {"client_id": "CLnobody"}, 104),
    ("cashout", {"method": "pigeon"}, 104),
    ("cashout", {"method": "cashcode", "amount": "1000.01"}, 301),
    ("cashout", {"method": "cashcode", "pin": "12345"}, 104),
    ("cashout", {"method": "cashcode", "client_id": "CLnobody"}, 104),
    ("cashout", {"savings_id": None}, 104),
    ("create_plan", {"start_date": "2026-01-04"}, 104),
    ("create_plan", {"member_required": "1"}, 104),
    ("subscribe", {"thrift_id": "THnobody"}, 104),
    ("cancel_plan", {"thrift_id": "THnobody"}, 104),
    ("subscriptions", {"thrift_id": "THnobody"}, 104),
    ("view_savings", {"savings_id": "SVnobody"}, 104),
]


def test_everything_bad_is_refused_with_its_code_and_changes_nothing(
    shop: MerchantClient, deployment: Deployment
) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada, "1000.00")
    ordinary: dict[str, Any] = {
        "name": "x",
        "savings_id": savings_id,
        "client_id": ada,
        "interestSettings": {"interestRate": "1", "interestFrequency": "annualized"},
        "period": 1,
        "payment_method": "wallet",
        "method": "cash",
        "amount": "5.00",
        "start_date": "2026-01-05",
        "member_required": "2",
        "frequency": "every_week",
    }
    before = everything_of(deployment, shop)
    for action, wrong, code in BAD:
        body = invest(shop, action, **{**ordinary, **wrong})
        assert body["status"] == code, (action, wrong, body)
    assert everything_of(deployment, shop) == before


# --- at once --------------------------------------------------------------------------------------------------


def test_a_crowd_never_takes_out_more_than_there_is(shop: MerchantClient, deployment: Deployment) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada, "1000.00")

    def take(way: str) -> int:
        with deployment.connect() as wire:
            return int(cash_out(MerchantClient(wire, shop.mid, shop.key), savings_id, ada, "150.00", way)["status"])

    with ThreadPoolExecutor(12) as crowd:
        statuses = list(crowd.map(take, ["cash", "transfer", "cashcode"] * 4))
    assert sorted(statuses) == [200] * 6 + [301] * 6
    assert balance(shop, savings_id) == 10_000


def test_an_idempotency_key_takes_once(shop: MerchantClient) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada, "1000.00")
    replies = [cash_out(shop, savings_id, ada, "100.00", headers={"idempotency-key": "once"}) for _ in range(3)]
    assert replies[0] == replies[1] == replies[2]
    assert balance(shop, savings_id) == 90_000


# --- the largest figures ------------------------------------------------------------------------------------


def test_a_rate_of_more_than_1000_percent_a_year_is_refused_by_name(shop: MerchantClient) -> None:
    settings = {"interestRate": "1000", "interestFrequency": "every_day"}
    fields = {"name": "x", "client_id": enroll(shop), "period": 601, "interestSettings": settings}
    body = invest(shop, "create_savings", **fields)
    assert body["status"] == 104
    faults = {fault["field"]: fault["reason"] for fault in body["errors"]}
    assert set(faults) == {"interestSettings.interestRate", "period"}
    assert "1000 percent a year" in faults["interestSettings.interestRate"]


def test_savings_that_earn_all_the_money_there_can_be_do_not_stop_the_clock(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    """Savings of 1,000 % a day, as they could be opened before rates were bounded: within months they earn more than a
    column can hold."""
    shop = open_shop(now=NOW)
    assert shop.put("sandbox", action="fund_wallet", amount="999999900000000").body["status"] == 200
    savings_id = open_savings(shop, enroll(shop))
    daily = annual_parts("1000", "every_day")
    deployment.fetch("update savings set annual = $1, tax_applied = true where savings_id = $2", daily, savings_id)
    assert make_deposit(shop, savings_id, "10000000.00")["status"] == 200
    before = shop.wallet().balance
    shop.advance(days=250)
    shown = view(shop, savings_id)
    assert to_minor_units(shown["accrued_interest"]) == LARGEST_AMOUNT
    [taxed] = deployment.fetch("select sum(amount) from posting where credit = 'tax:withholding:NGN'")
    assert shop.wallet().balance + balance(shop, savings_id) < before + OPENING
    assert taxed[0] > 0


def test_dormant_savings_are_listed_and_reactivated_by_two_keys(shop: MerchantClient) -> None:
    client_id = enroll(shop)
    savings_id = open_savings(shop, client_id, "500.00", period=48)
    awake, ripe = (open_savings(shop, client_id, "500.00", period=months) for months in (48, 3))
    new, empty = (open_savings(shop, client_id, period=months) for months in (48, 1))
    shop.advance(days=200)
    for other in (awake, ripe):
        make_deposit(shop, other, "1.00")
    shop.advance(days=166)
    assert view(shop, savings_id)["state"] == "dormant"
    listed = {
        state: [line["savings_id"] for line in invest(shop, "list_savings", state=state)["data"]]
        for state in ("pending", "active", "matured", "dormant", "closed")
    }
    assert listed == {
        "pending": [new],
        "active": [awake],
        "matured": [ripe],
        "dormant": [savings_id],
        "closed": [empty],
    }
    assert invest(shop, "list_savings", state="dormant")["total"] == 1
    assert "dormant_since" not in view(shop, awake)
    refused = cash_out(shop, savings_id, client_id, "100.00")
    assert (refused["status"], refused["code"]) == (104, "savings_dormant")

    asked = invest(shop, "reactivate_savings", savings_id=savings_id, reason="came with her passport")
    assert asked["message"] == "The reactivation waits for the approval of another key or person"
    assert view(shop, savings_id)["waiting_reactivation"]["reason"] == "came with her passport"
    alone = invest(shop, "decide_reactivation", savings_id=savings_id, status="approve")
    assert (alone["status"], alone["code"]) == (104, "own_reactivation")
    made = shop.put("sandbox", action="new_key", name="board", scopes=["approve"]).body
    board = MerchantClient(shop.connection, shop.mid, made["key"])
    approved = invest(board, "decide_reactivation", savings_id=savings_id, status="approve")
    assert (approved["message"], approved["data"]["state"]) == ("Savings Reactivated", "active")
    events = shop.put("resources", inquire="events", txnRef=savings_id).body["data"]
    steps = [event["payload"]["approval"] for event in events if event["payload"]["kind"] == "reactivation"]
    assert steps == ["approved", "waiting"]
    assert cash_out(shop, savings_id, client_id, "100.00")["status"] == 200


def test_the_reason_of_a_reactivation_is_exported_and_erased(shop: MerchantClient, deployment: Deployment) -> None:
    client_id = enroll(shop)
    savings_id = open_savings(shop, client_id, "500.00", period=48)
    shop.advance(days=367)
    invest(shop, "reactivate_savings", savings_id=savings_id, reason="came with her passport")
    assert "came with her passport" in deployment.run_command("client", "export", shop.mid, client_id)
    assert "open loan or savings" in deployment.run_refused_command("client", "erase", shop.mid, client_id, "--yes")
    made = shop.put("sandbox", action="new_key", name="board", scopes=["approve"]).body
    board = MerchantClient(shop.connection, shop.mid, made["key"])
    assert invest(board, "decide_reactivation", savings_id=savings_id, status="approve")["status"] == 200
    closed = cash_out(shop, savings_id, client_id, view(shop, savings_id)["balance"])
    assert (closed["status"], view(shop, savings_id)["state"]) == (200, "closed")
    deployment.run_command("client", "erase", shop.mid, client_id, "--yes")
    detail = "select detail ->> 'reason', state from savings_reactivation where savings_id = $1"
    assert [tuple(row) for row in deployment.fetch(detail, savings_id)] == [("(erased)", "approved")]
    assert deployment.broken_invariants([shop.mid]) == []


def test_a_card_deposit_reactivates_dormant_savings(shop: MerchantClient) -> None:
    client_id = enroll(shop)
    savings_id = open_savings(shop, client_id, "500.00", period=48)
    shop.advance(days=367)
    assert view(shop, savings_id)["state"] == "dormant"
    fields = {"card": card(auth="PIN"), "ip": "102.89.2.1", "fingerprint": "f0e1d2c3"}
    paid = invest(shop, "deposit", savings_id=savings_id, payment_method="card", amount="10.00", **fields)
    assert paid["status"] == 200, paid
    assert view(shop, savings_id)["state"] == "active"


def test_dormancy_is_a_setting_of_the_merchant(shop: MerchantClient, deployment: Deployment) -> None:
    client_id = enroll(shop)
    savings_id = open_savings(shop, client_id, "500.00", period=48)
    deployment.run_command("merchant", "set", shop.mid, "--savings", '{"dormancy_months": 0}')
    shop.advance(days=800)
    assert view(shop, savings_id)["state"] == "active"
