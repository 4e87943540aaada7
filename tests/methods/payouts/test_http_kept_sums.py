"""Settlements over HTTP are the same wherever the mark of their sums is."""

from typing import Any

import pytest

from tests.kept_sums import count_postings, sum_up_to
from tests.methods.disputes.dispute_client import open_dispute
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.payouts.test_http_settlements import START, split_to
from tests.running import Deployment


@pytest.fixture
def client(deployment: Deployment, open_shop: Any) -> PaymentClient:
    """A merchant with every line of settlements, on several days and in two currencies."""
    client = PaymentClient(open_shop(now=START))
    shop = client.shop
    account: dict[str, Any] = {"bankcode": "058", "accountnumber": "0000000000"}
    shop.put("resources", request="payout_schedule", frequency="daily", least="1000.00", **account)
    deployment.run_command("merchant", "set", shop.mid, "--reserve", '{"percent": "10", "days": 3}')
    paid = client.paid(split=[{"ref_code": split_to(shop), "share": "200.00"}])
    client.refund(paid["txnRef"], "300.00")
    client.paid(amount="20.00", currency="USD")
    lost = open_dispute(client, client.paid()["txnRef"], amount="500.00")["data"]["dispute_id"]
    client.pay(action="dispute_respond", dispute_id=lost, accept=True)
    deployment.run_command("merchant", "set", shop.mid, "--settlement-days", "1")
    for _ in range(2):
        client.paid(amount="2000.00", split=[{"ref_code": split_to(shop), "percentage": "50"}])
        client.paid(amount="30.00", currency="USD")
        shop.advance(days=1)
    shop.advance(days=3)
    client.paid(amount="700.00")
    return client


def read_everything(client: PaymentClient) -> list[Any]:
    """Returns the list, the list of one currency and of one day, and each settlement with its lines."""
    shop = client.shop
    days: dict[str, Any] = {"from": "2026-01-06", "to": "2026-01-06"}
    lists: tuple[dict[str, Any], ...] = ({}, {"currency": "USD"}, days)
    replies = [shop.put("resources", inquire="settlements", **fields).body for fields in lists]
    names = [one["settlement_id"] for one in replies[0]["data"]]
    details = [shop.put("resources", inquire="settlement", settlement_id=name).body for name in names]
    return [*replies, *details]


def test_kept_sums_up_to_any_posting_change_no_settlement(client: PaymentClient, deployment: Deployment) -> None:
    mid = client.shop.mid
    expected = read_everything(client)
    kinds = {line["kind"] for one in expected[3:] for line in one["data"]["lines"]}
    assert kinds == {"gross", "fee", "vat", "split", "refunds", "disputes", "reserve", "paid_out"}
    assert {one["data"]["currency"] for one in expected[3:]} == {"NGN", "USD"}
    for last in range(1, count_postings(deployment, mid) + 1):
        sum_up_to(deployment, mid, last)
        assert read_everything(client) == expected, last


def test_postings_after_the_mark_are_added_to_kept_sums(client: PaymentClient, deployment: Deployment) -> None:
    shop = client.shop
    deployment.run_command("merchant", "set", shop.mid, "--settlement-days", "0")
    client.paid(amount="50.00")
    sum_up_to(deployment, shop.mid, count_postings(deployment, shop.mid))
    before = gross_of_today(client)
    client.paid(amount="1000.00")
    assert (before, gross_of_today(client)) == ("50.00", "1050.00")


def gross_of_today(client: PaymentClient) -> Any:
    found = client.shop.put("resources", inquire="settlements", currency="NGN").body["data"][0]
    assert found["state"] == "open"
    return found["gross"]
