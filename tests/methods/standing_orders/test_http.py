"""Standing orders over HTTP, on real PostgreSQL: savings that pay loans and other savings."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, to_minor_units
from tests.methods.clients.enrollment import update
from tests.methods.investments.savers import NOW, balance, cash_out, enroll, invest, make_deposit, open_savings
from tests.methods.loans.lending_client import LendingClient
from tests.running import Deployment

NO_INTEREST = {"interestRate": "0", "interestFrequency": "annualized"}


@pytest.fixture
def bank(open_shop: Callable[..., MerchantClient]) -> LendingClient:
    return open_bank(open_shop)


def open_bank(open_shop: Callable[..., MerchantClient]) -> LendingClient:
    shop = open_shop(now=NOW)
    return LendingClient(shop.connection, shop.mid, shop.key)


def save(bank: LendingClient, client_id: str, deposit: str | None = None) -> str:
    return open_savings(bank, client_id, deposit, interestSettings=NO_INTEREST)


def lend(bank: LendingClient, client_id: str, **terms: Any) -> str:
    free = {"interestSettings": {"interestRate": "0", "interestFrequency": "every_month"}, "amount": 1000, "period": 4}
    loan_id = bank.request(client_id, **{**free, **terms})["data"]["loan_id"]
    return str(loan_id)


def order(bank: LendingClient, source: str, target: str, amount: str = "300.00", **fields: Any) -> Any:
    request = {"from": source, "to": target, "amount": amount, "frequency": "every_month"}
    return invest(bank, "standing_order", **{**request, "from_date": bank.now()[:10], **fields})


def read_wallet(bank: LendingClient) -> int:
    lines = bank.put("resources", inquire="wallet").body["data"]
    [balance] = [line["balance"] for line in lines if line["currency"] == "NGN"]
    return to_minor_units(balance)


def list_orders(bank: LendingClient, **fields: Any) -> list[Any]:
    return list(invest(bank, "list_standing_orders", **fields)["data"])


def list_events(bank: LendingClient, reference: str) -> list[Any]:
    return [line["payload"] for line in bank.put("resources", inquire="events", txnRef=reference).body["data"]]


def test_an_order_repays_a_loan_and_ends_with_it(bank: LendingClient) -> None:
    client_id = enroll(bank)
    source, loan_id = save(bank, client_id, "5000.00"), lend(bank, client_id)
    bank.loans("process", loan_id=loan_id, status="approve")
    made = order(bank, source, loan_id, from_date="2026-02-05")
    order_id = made["data"]["order_id"]
    assert (made["message"], made["data"]["pays"]) == ("Standing Order Created", "loan")
    before = read_wallet(bank)
    bank.advance(days=31 + 28 + 31)
    assert balance(bank, source) == 500_000 - 90_000
    assert read_wallet(bank) == before + 90_000
    bank.advance(days=31)
    loan = bank.view(loan_id)
    assert (loan["state"], balance(bank, source)) == ("closed_repaid", 400_000)
    [line] = list_orders(bank, client_id=client_id)
    assert (line["state"], line["payments"], line["paid"], line["next_date"]) == ("ended", 4, "1000.00", None)
    assert line["reason"] == "the loan is closed_repaid"
    [ended] = list_events(bank, order_id)[:1]
    assert (ended["kind"], ended["step"], ended["to"]) == ("standing_order", "ended", loan_id)
    repayments = [
        event for event in bank.put("resources", inquire="event_feed").body["data"] if "repayment" in str(event)
    ]
    assert [event["payload"]["customer_txnref"] for event in repayments if event["kind"] == "repayment"] == [
        order_id
    ] * 4


def test_dates_before_a_loan_is_paid_out_pass(bank: LendingClient) -> None:
    client_id = enroll(bank)
    source, loan_id = save(bank, client_id, "5000.00"), lend(bank, client_id)
    order(bank, source, loan_id)
    bank.advance(days=32)
    [line] = list_orders(bank)
    assert (line["payments"], line["missed"], line["next_date"]) == (0, 0, "2026-03-05")
    assert bank.loans("process", loan_id=loan_id, status="approve")["data"]["state"] == "active"
    bank.advance(days=28)
    assert list_orders(bank)[0]["paid"] == "300.00"


def test_an_order_of_a_written_off_loan_ends(bank: LendingClient) -> None:
    client_id = enroll(bank)
    source, loan_id = save(bank, client_id, "5000.00"), lend(bank, client_id)
    bank.loans("process", loan_id=loan_id, status="approve")
    order(bank, source, loan_id, from_date="2026-02-05")
    bank.loans("write_off", loan_id=loan_id, reason="gone")
    bank.advance(days=31)
    assert (list_orders(bank)[0]["state"], balance(bank, source)) == ("ended", 500_000)
    refused = order(bank, source, loan_id)
    assert (refused["status"], refused["code"]) == (104, "loan_state")


def test_a_reversed_payment_of_a_loan_is_owed_again(bank: LendingClient) -> None:
    client_id = enroll(bank)
    source, loan_id = save(bank, client_id, "5000.00"), lend(bank, client_id)
    bank.loans("process", loan_id=loan_id, status="approve")
    order(bank, source, loan_id, "1000.00")
    bank.advance(seconds=1)
    assert bank.view(loan_id)["state"] == "closed_repaid"
    [payment] = [e for e in bank.put("resources", inquire="event_feed").body["data"] if e["kind"] == "repayment"]
    reversed_ = bank.loans("reverse", txnRef=payment["txnRef"], reason="by mistake")
    assert (reversed_["status"], bank.view(loan_id)["state"]) == (200, "active")
    assert [line["state"] for line in list_orders(bank)] == ["ended"]


def test_a_short_order_is_tried_again_and_has_an_event(bank: LendingClient) -> None:
    client_id = enroll(bank)
    source, target = save(bank, client_id, "100.00"), save(bank, client_id)
    order_id = order(bank, source, target)["data"]["order_id"]
    bank.advance(seconds=1)
    [line] = list_orders(bank, savings_id=source, state="active")
    assert (line["is_retry"], line["next_date"]) == (True, "2026-01-06")
    [failed] = list_events(bank, order_id)
    assert (failed["step"], failed["txnStatus"], failed["next_date"]) == ("failed", "failed", "2026-01-06")
    make_deposit(bank, source, "250.00")
    bank.advance(days=1)
    assert (balance(bank, source), balance(bank, target)) == (5_000, 30_000)
    lines = invest(bank, "statement", savings_id=source)["data"]
    assert (lines[0]["narration"], lines[0]["amount"]) == ("savings deposit", "-300.00")


def test_a_client_leaves_when_orders_are_all_that_is_left(bank: LendingClient) -> None:
    client_id = enroll(bank)
    source, target = save(bank, client_id, "500.00"), save(bank, client_id, "1.00")
    order(bank, source, target, from_date="2026-02-05")
    assert update(bank, client_id, status="exited")["status"] == 104
    cash_out(bank, source, client_id, "500.00")
    cash_out(bank, target, client_id, "1.00")
    assert update(bank, client_id, status="exited")["status"] == 200
    bank.advance(days=31)
    assert [line["state"] for line in list_orders(bank)] == ["ended"]


def test_a_restored_snapshot_pays_as_before(bank: LendingClient) -> None:
    client_id = enroll(bank)
    source, target = save(bank, client_id, "500.00"), save(bank, client_id)
    order(bank, source, target, "100.00", from_date="2026-01-10")
    assert bank.put("sandbox", action="snapshot", name="before").body["status"] == 200
    bank.advance(days=6)
    assert balance(bank, target) == 10_000
    assert bank.put("sandbox", action="restore", name="before").body["status"] == 200
    assert (balance(bank, target), list_orders(bank)[0]["payments"]) == (0, 0)
    bank.advance(days=6)
    assert (balance(bank, target), list_orders(bank)[0]["payments"]) == (10_000, 1)


def test_an_order_is_changed_over_http(bank: LendingClient, deployment: Deployment) -> None:
    client_id = enroll(bank)
    source, target = save(bank, client_id, "500.00"), save(bank, client_id)
    order_id = order(bank, source, target, "100.00", from_date="2026-01-10")["data"]["order_id"]
    paused = invest(bank, "change_standing_order", order_id=order_id, change="pause")
    assert paused["message"] == "Standing Order Paused"
    bank.advance(days=10)
    assert balance(bank, target) == 0
    resumed = invest(bank, "change_standing_order", order_id=order_id, change="resume")
    assert resumed["data"]["next_date"] == "2026-02-10"
    assert invest(bank, "change_standing_order", order_id=order_id, change="cancel")["data"]["state"] == "cancelled"
    jobs = deployment.fetch("select 1 from scheduled_job where reference = $1", order_id)
    assert jobs == []


def test_a_merchant_does_not_reach_another_ones_orders(
    bank: LendingClient, open_shop: Callable[..., MerchantClient]
) -> None:
    client_id = enroll(bank)
    source, target = save(bank, client_id, "500.00"), save(bank, client_id)
    order_id = order(bank, source, target, from_date="2026-02-05")["data"]["order_id"]
    other = open_bank(open_shop)
    mine = save(other, enroll(other), "100.00")
    assert order(other, source, mine)["code"] == "savings_not_found"
    assert order(other, mine, target)["message"] == "to: a savings_id, loan_id or thrift_id of yours"
    refused = invest(other, "change_standing_order", order_id=order_id, change="cancel")
    assert (refused["status"], refused["code"]) == (104, "standing_order_not_found")
    assert list_orders(other) == []
