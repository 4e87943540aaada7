"""Settlements over HTTP: their lines add up to the wallet's movement; reserves are released, payouts are made."""

from decimal import Decimal
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.disputes.dispute_client import open_dispute
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment

LINES = ("gross", "fee", "vat", "split", "refunds", "disputes", "reserve")
START = "2026-01-05T09:30:00+01:00"


@pytest.fixture
def client(deployment: Deployment, open_shop: Any) -> PaymentClient:
    return PaymentClient(open_shop(now=START))


def minor_of(text: str) -> int:
    return int(Decimal(text) * 100)


def settlements(shop: MerchantClient, **fields: Any) -> list[Any]:
    reply = shop.put("resources", inquire="settlements", **fields).body
    assert reply["status"] == 200, reply
    for one in reply["data"]:
        assert sum(minor_of(one[line]) for line in LINES) == minor_of(one["net"])
    return list(reply["data"])


def net_of(shop: MerchantClient, currency: str = "NGN") -> int:
    return sum(minor_of(one["net"]) for one in settlements(shop, currency=currency))


def split_to(shop: MerchantClient) -> str:
    payee: dict[str, Any] = {"name": "Bola Ade", "bankcode": "058", "accountnumber": "0000000000"}
    return str(shop.put("sandbox", action="beneficiary", **payee).body["ref_code"])


@pytest.mark.parametrize("others", [0, 1])
def test_payments_that_leave_nothing_are_in_the_settlement_of_their_later_day(
    client: PaymentClient, deployment: Deployment, others: int
) -> None:
    shop = client.shop
    deployment.run_command("merchant", "set", shop.mid, "--settlement-days", "1")
    ref_code, start = split_to(shop), shop.wallet().balance
    shop.advance(hours=1)
    client.paid(amount="1000.00", split=[{"ref_code": ref_code, "percentage": "100"}])
    for _ in range(others):
        client.paid(amount="1000.00")
    shop.advance(days=2)
    [found] = settlements(shop)
    fee, vat = (1 + others) * 15, (1 + others) * Decimal("1.13")
    assert (found["day"], found["state"], found["gross"]) == ("2026-01-06", "settled", f"{(1 + others) * 1000}.00")
    assert (found["fee"], found["vat"], found["split"]) == (f"-{fee}.00", f"-{vat}", "-983.87")
    assert minor_of(found["net"]) == shop.wallet().balance - start
    one = shop.put("resources", inquire="settlement", settlement_id=found["settlement_id"]).body["data"]
    assert {line["kind"] for line in one["lines"]} == {"gross", "fee", "vat", "split"}


def test_all_lines_add_up_to_the_movement_of_the_wallet(client: PaymentClient, deployment: Deployment) -> None:
    shop = client.shop
    deployment.run_command("merchant", "set", shop.mid, "--reserve", '{"percent": "10", "days": 3}')
    start = shop.wallet().balance
    paid = client.paid(split=[{"ref_code": split_to(shop), "share": "200.00"}])
    client.refund(paid["txnRef"], "300.00")
    lost = open_dispute(client, client.paid()["txnRef"], amount="500.00")["data"]["dispute_id"]
    open_dispute(client, client.paid()["txnRef"], amount="100.00")
    client.pay(action="dispute_respond", dispute_id=lost, accept=True)
    [today] = settlements(shop)
    assert (today["settlement_id"], today["state"], today["gross"]) == ("ST20260105NGN", "open", "4500.00")
    assert (today["split"], today["refunds"], today["reserve"]) == ("-200.00", "-300.00", "-450.00")
    assert today["disputes"] == f"-{500 + 1500 + 112.5:.2f}"
    assert shop.wallet().balance - start == net_of(shop)
    shop.transfer(amount="50.00")
    shop.advance(days=4)
    found = settlements(shop)
    assert [(one["day"], one["state"]) for one in found] == [("2026-01-08", "settled"), ("2026-01-05", "settled")]
    assert found[0]["reserve"] == found[0]["net"] == "450.00"
    # The transfer with its fee is no line of a settlement.
    assert shop.wallet().balance - start + 5_000 + 1_000 + 75 == net_of(shop)
    detail = shop.put("resources", inquire="settlement", settlement_id="ST20260105NGN").body["data"]
    assert {line["kind"]: line["count"] for line in detail["lines"]}["gross"] == 3
    events = [line["payload"] for line in shop.put("resources", inquire="events").body["data"]]
    assert [one["step"] for one in events if one["kind"] == "settlement"] == ["released"]


def test_a_settlement_of_a_later_day_shows_what_it_consists_of(client: PaymentClient, deployment: Deployment) -> None:
    shop = client.shop
    deployment.run_command(
        "merchant", "set", shop.mid, "--settlement-days", "1", "--reserve", '{"percent": "5", "days": 10}'
    )
    start = shop.wallet().balance
    client.paid(amount="1000.00")
    client.paid(amount="2000.00", split=[{"ref_code": split_to(shop), "percentage": "50"}])
    assert settlements(shop) == []
    shop.advance(days=1)
    [settled] = settlements(shop)
    assert (settled["day"], settled["gross"], settled["reserve"]) == ("2026-01-06", "3000.00", "-150.00")
    assert shop.wallet().balance - start == minor_of(settled["net"]) > 0
    event = shop.put("resources", inquire="events").body["data"][0]["payload"]
    assert (event["kind"], event["step"], event["chargedAmount"]) == ("settlement", "settled", settled["net"])
    shop.advance(days=10)
    assert shop.wallet().balance - start == net_of(shop)


def test_a_schedule_pays_the_wallet_out_with_the_ordinary_fee(client: PaymentClient) -> None:
    shop = client.shop
    account: dict[str, Any] = {"bankcode": "058", "accountnumber": "0000000000"}
    invalid: tuple[tuple[dict[str, Any], str], ...] = (
        ({"frequency": "daily"}, "bankcode"),
        ({"frequency": "above", **account}, "least"),
        ({"frequency": "daily", "bankcode": "999", "accountnumber": "0000000000"}, "bankcode"),
        ({"frequency": "daily", "bankcode": "058"}, "accountnumber"),
    )
    for fields, fault in invalid:
        refused = shop.put("resources", request="payout_schedule", **fields).body
        assert fault in [one["field"] for one in refused["errors"]], (fields, refused)
    made = shop.put("resources", request="payout_schedule", frequency="weekly", least="1000.00", **account).body
    assert made["data"]["next_payout"] == "2026-01-12T08:00:00.000Z"
    before = shop.wallet().balance
    shop.advance(until="2026-01-12T09:01:00+01:00")
    left = shop.wallet().balance
    assert before - left <= 1_000_000_000 + 5_375, "one transfer, at most the limit of one"
    read = shop.put("resources", inquire="payout_schedule").body["data"]
    assert read["next_payout"] == "2026-01-19T08:00:00.000Z"
    assert shop.verify(read["last_payout"])["txnStatus"] == "successful"
    [settlement] = settlements(shop)
    assert settlement["net"] == "0.00"
    assert minor_of(settlement["paid_out"]) < 0
    off = shop.put("resources", request="payout_schedule", frequency="off").body["data"]
    assert (off["frequency"], off["next_payout"]) == ("off", None)
    shop.advance(days=14)
    assert shop.wallet().balance == left


def test_too_small_a_balance_and_a_failed_payout_wait_for_the_next_day(client: PaymentClient) -> None:
    shop = client.shop
    while shop.wallet().balance > 1_000_000:
        part = min(shop.wallet().balance - 500_000, 999_900_000)
        shop.transfer(amount=f"{part / 100:.2f}")
    account: dict[str, Any] = {"bankcode": "058", "accountnumber": "0000000000"}
    shop.put("resources", request="payout_schedule", frequency="above", least="9000.00", **account)
    before = shop.wallet().balance
    shop.advance(days=1)
    assert shop.wallet().balance == before < 900_000
    shop.put("sandbox", action="fund_wallet", currency="NGN", amount="9000.00")
    shop.put("sandbox", action="fault", rail="bank", kind="decline", times=1)
    shop.advance(days=1)
    assert shop.wallet() == (before + 900_000, before + 900_000, 0)
    shop.advance(days=1)
    assert shop.wallet().balance < 3_000


@pytest.mark.parametrize(
    "settlement_id",
    ["ST20260105NGN", "ST20260230NGN", "ST20260105EUR", "GP1", "ST00010101NGN", "ST99991231NGN", "ST89991231NGN"],
)
def test_a_day_without_movements_has_no_settlement(client: PaymentClient, settlement_id: str) -> None:
    found = client.shop.put("resources", inquire="settlement", settlement_id=settlement_id).body
    assert (found["status"], found["message"]) == (104, "Invalid Settlement Reference")
    assert client.shop.put("resources", inquire="transaction", reference=settlement_id).body["status"] == 104
    wrong: dict[str, Any] = {"from": "2026-02-01", "to": "2026-01-01"}
    assert client.shop.put("resources", inquire="settlements", **wrong).body["errors"][0]["field"] == "to"
