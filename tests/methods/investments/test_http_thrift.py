"""Thrift over HTTP, on real PostgreSQL: a plan from its first member to its last pot."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from kasuwa.methods.investments.store import MAX_PLANS_SHOWN
from tests.merchant_client import MerchantClient
from tests.methods.investments.savers import (
    NOW,
    balance,
    enroll,
    invest,
    join,
    make_deposit,
    make_plan,
    members_of,
    open_savings,
    view,
)
from tests.running import Deployment

NOTHING = {"interestRate": "0", "interestFrequency": "annualized"}


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=NOW)


def savers(shop: MerchantClient, *deposits: str | None) -> list[str]:
    return [open_savings(shop, enroll(shop), deposit, interestSettings=NOTHING) for deposit in deposits]


def test_a_plan_runs_by_the_month_and_everyone_receives_once(shop: MerchantClient) -> None:
    members = savers(shop, "300.00", "300.00", "300.00")
    thrift_id = make_plan(shop, 3, start_date="2026-01-31")
    places = [join(shop, thrift_id, savings_id)["data"] for savings_id in members]
    assert [place["payout_date"] for place in places] == ["2026-01-31", "2026-02-28", "2026-03-31"]
    assert view(shop, members[0])["plans"] == [thrift_id]
    assert shop.advance(until="2026-01-31T00:00:00+01:00")["ran"] == {"thrift": 1}
    assert [balance(shop, savings_id) for savings_id in members] == [50_000, 20_000, 20_000]
    [event] = shop.put("resources", inquire="events", txnRef=thrift_id).body["data"]
    assert event["payload"] == {
        "kind": "thrift_payout",
        "status": 200,
        "txnStatus": "successful",
        "txnRef": thrift_id,
        "chargedAmount": "300.00",
        "currency": "NGN",
        "paymentMethod": "wallet",
        "endpoint": "test",
        "thrift_id": thrift_id,
        "savings_id": members[0],
        "client_id": view(shop, members[0])["client_id"],
        "cycle": 1,
        "cycles": 3,
        "owed": "0.00",
        "repaid": "0.00",
    }
    [plan] = invest(shop, "list_plans")["data"]
    assert plan == {
        "thrift_id": thrift_id,
        "name": "Esusu",
        "amount": "100.00",
        "frequency": "every_month",
        "start_date": "2026-01-31",
        "member_required": 3,
        "members": 3,
        "state": "running",
        "cycle": 1,
        "next_date": "2026-02-28",
    }
    assert invest(shop, "cancel_plan", thrift_id=thrift_id)["status"] == 104
    shop.advance(until="2026-03-31T00:00:00+01:00")
    assert [balance(shop, savings_id) for savings_id in members] == [30_000] * 3
    assert {(line["contributed"], line["received"], line["owed"]) for line in members_of(shop, thrift_id)} == {
        ("300.00", "300.00", "0.00")
    }
    [plan] = invest(shop, "list_plans", limits=1)["data"]
    assert (plan["state"], plan["cycle"], plan["next_date"]) == ("completed", 3, None)


def test_who_is_short_owes_it_and_pays_it_from_the_next_deposit(shop: MerchantClient) -> None:
    members = savers(shop, "300.00", "300.00", "30.00")
    thrift_id = make_plan(shop, 3)
    for savings_id in members:
        join(shop, thrift_id, savings_id)
    shop.advance(days=2)
    assert members_of(shop, thrift_id)[0]["received"] == "0.00"
    shop.advance(days=1)
    assert [line["owed"] for line in members_of(shop, thrift_id)] == ["0.00", "0.00", "70.00"]
    assert make_deposit(shop, members[2], "100.00")["balance"] == "30.00"
    assert [line["received"] for line in members_of(shop, thrift_id)] == ["300.00", "0.00", "0.00"]
    assert balance(shop, members[0]) == 50_000


def test_a_plan_that_begins_today_begins_by_itself(shop: MerchantClient) -> None:
    members = savers(shop, "100.00", "100.00")
    thrift_id = make_plan(shop, 2)
    for savings_id in members:
        join(shop, thrift_id, savings_id)
    shop.advance(seconds=0)
    assert members_of(shop, thrift_id)[0]["received"] == "200.00"


def test_a_cancelled_plan_lets_its_members_go(shop: MerchantClient) -> None:
    members = savers(shop, "100.00", "100.00")
    thrift_id = make_plan(shop, 2, start_date="2026-02-01")
    for savings_id in members:
        join(shop, thrift_id, savings_id)
    assert join(shop, thrift_id, members[0])["status"] == 104
    assert invest(shop, "cancel_plan", thrift_id=thrift_id)["data"]["state"] == "cancelled"
    assert view(shop, members[0])["plans"] == []
    shop.advance(days=40)
    assert [balance(shop, savings_id) for savings_id in members] == [10_000, 10_000]
    assert invest(shop, "cancel_plan", thrift_id=thrift_id)["status"] == 104


def test_concurrent_subscriptions_get_distinct_positions(shop: MerchantClient, deployment: Deployment) -> None:
    ada = enroll(shop)
    members = [open_savings(shop, ada, interestSettings=NOTHING) for _ in range(6)]
    thrift_id = make_plan(shop, 4, start_date="2026-02-01")

    def ask(savings_id: str) -> int:
        with deployment.connect() as wire:
            return int(join(MerchantClient(wire, shop.mid, shop.key), thrift_id, savings_id)["status"])

    with ThreadPoolExecutor(12) as crowd:
        statuses = list(crowd.map(ask, members * 2))
    assert sorted(statuses) == [104] * 8 + [200] * 4
    lines = members_of(shop, thrift_id)
    assert [line["position"] for line in lines] == [1, 2, 3, 4]
    assert len({line["savings_id"] for line in lines}) == 4


# --- very many plans --------------------------------------------------------------------------------------------------


def test_savings_in_very_many_plans_name_the_newest_and_count_all(shop: MerchantClient, deployment: Deployment) -> None:
    savings = open_savings(shop, enroll(shop), "700.00")
    made = [make_plan(shop, 3) for _ in range(MAX_PLANS_SHOWN + 5)]
    for thrift_id in made:
        assert join(shop, thrift_id, savings)["status"] == 200
    shown = view(shop, savings)
    assert (shown["plans"], shown["plans_total"]) == (made[5:], MAX_PLANS_SHOWN + 5)
    assert shop.put("investments", action="cancel_plan", thrift_id=made[-1]).body["status"] == 200
    [listed] = shop.put("investments", action="list_savings").body["data"]
    assert (listed["plans"], listed["plans_total"]) == (made[4:-1], MAX_PLANS_SHOWN + 4)
