"""Splits, settlement and payouts over HTTP."""

from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment

NOW = "2026-01-05T09:30:00+01:00"  # a Monday


@pytest.fixture
def client(open_shop: Any) -> PaymentClient:
    return PaymentClient(open_shop(now=NOW))


def beneficiary(shop: MerchantClient, name: str = "Bola", account: str = "0000000000") -> str:
    made = shop.put("sandbox", action="beneficiary", name=name, bankcode="058", accountnumber=account).body
    return str(made["ref_code"])


def balances(deployment: Deployment, shop: MerchantClient, kind: str) -> dict[str, int]:
    query = """select a.name, a.posted from account a join merchant m using (merchant_id)
        where m.mid = $1 and m.current and a.name like $2"""
    return {name.split(":")[1]: posted for name, posted in deployment.fetch(query, shop.mid, f"{kind}:%")}


def test_parts_are_the_beneficiaries_and_the_rest_the_merchants(client: PaymentClient, deployment: Deployment) -> None:
    first, second = beneficiary(client.shop), beneficiary(client.shop, "Chidi")
    before = client.shop.wallet().balance
    split = [{"ref_code": first, "percentage": "33.33"}, {"ref_code": second, "share": "100.00"}]
    done = client.paid(split=split, amount="1000.00")
    settled = 100_000 - 1_500 - 113
    part = (settled * 3333 + 5000) // 10_000
    assert done["txnStatus"] == "successful"
    assert balances(deployment, client.shop, "beneficiary") == {first: part, second: 10_000}
    assert client.shop.wallet().balance - before == settled - part - 10_000


def test_parts_are_paid_out_daily_to_their_bank_accounts(client: PaymentClient, deployment: Deployment) -> None:
    ref_code = beneficiary(client.shop)
    for _ in range(2):
        client.paid(split=[{"ref_code": ref_code, "fixed": "100.00"}])
    client.shop.advance(until="2026-01-06T08:59:00+01:00")
    assert balances(deployment, client.shop, "beneficiary") == {ref_code: 20_000}
    assert client.shop.advance(minutes=2)["ran"]["payout"] == 1
    assert balances(deployment, client.shop, "beneficiary") == {ref_code: 0}
    payouts = [
        line["payload"]
        for line in client.shop.put("resources", inquire="events").body["data"]
        if line["kind"] == "transfer"
    ]
    assert [(one["txnStatus"], one["chargedAmount"]) for one in payouts] == [("successful", "200.00")]


def test_a_payout_that_fails_is_tried_again_the_next_day(client: PaymentClient, deployment: Deployment) -> None:
    ref_code = beneficiary(client.shop)
    client.paid(split=[{"ref_code": ref_code, "share": "100.00"}])
    client.shop.put("sandbox", action="fault", rail="bank", kind="decline", times=1)
    client.shop.advance(until="2026-01-06T10:00:00+01:00")
    assert balances(deployment, client.shop, "beneficiary") == {ref_code: 10_000}
    client.shop.advance(days=1)
    assert balances(deployment, client.shop, "beneficiary") == {ref_code: 0}


@pytest.mark.parametrize(
    ("split", "field"),
    [
        ([{"ref_code": "RSnobody", "share": "1.00"}], "split.0.ref_code"),
        ([{"ref_code": "HERE"}], "split.0"),
        ([{"ref_code": "HERE", "share": "1.00", "percentage": "1"}], "split.0"),
        ([{"ref_code": "HERE", "share": "2000.00"}], "split"),
        ([{"ref_code": "HERE", "percentage": "101"}], "split.0"),
        ([{"ref_code": "HERE", "share": "1.00"}, {"ref_code": "HERE", "share": "1.00"}], "split"),
    ],
)
def test_an_invalid_split_is_refused(client: PaymentClient, split: list[dict[str, str]], field: str) -> None:
    here = beneficiary(client.shop)
    result = [{**part, "ref_code": part["ref_code"].replace("HERE", here)} for part in split]
    refused = client.initiate({**CARD}, split=result)
    assert field in [fault["field"] for fault in refused["errors"]]


def test_a_split_without_parts_is_refused(client: PaymentClient) -> None:
    [fault] = client.initiate({**CARD}, split=[])["errors"]
    assert fault == {"field": "split", "reason": "at least one part, at most 50", "code": "field_invalid"}


CARD = {"card_no": "4111110000000013", "expiry_month": "12", "expiry_year": "30", "ccv": "100", "pin": "1234"}


def test_money_settles_on_a_later_business_day_where_the_merchant_asks_for_it(
    client: PaymentClient, deployment: Deployment
) -> None:
    deployment.run_command("merchant", "set", client.shop.mid, "--settlement-days", "2")
    ref_code = beneficiary(client.shop)
    client.shop.advance(until="2026-04-02T12:00:00+01:00")  # Good Friday and Easter Monday follow
    before = client.shop.wallet().balance
    for _ in range(2):
        client.paid(amount="1000.00", split=[{"ref_code": ref_code, "share": "100.00"}])
    rest = 2 * (100_000 - 1_500 - 113 - 10_000)
    assert client.shop.wallet().balance == before
    assert balances(deployment, client.shop, "settling") == {"20260408": rest}
    client.shop.advance(until="2026-04-08T08:59:00+01:00")
    assert client.shop.wallet().balance == before
    assert client.shop.advance(minutes=2)["ran"]["settlement"] == 1
    assert client.shop.wallet().balance == before + rest
    assert balances(deployment, client.shop, "settling") == {"20260408": 0}
    assert balances(deployment, client.shop, "beneficiary") == {ref_code: 20_000}
    client.shop.advance(days=1)
    assert balances(deployment, client.shop, "beneficiary") == {ref_code: 0}
