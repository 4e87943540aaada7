"""A settlement lists its payments on its page and as CSV, and they add up to its lines."""

import csv
import io
from typing import Any

import pytest

from kasuwa.console.money import settled_payments
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

LINES = ("gross", "fee", "vat", "split", "refunds", "disputes", "reserve", "net")


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


def list_settlements(shop: MerchantClient) -> list[dict[str, Any]]:
    body: Any = shop.put("resources", inquire="settlements").body
    return list(body["data"])


def read_file(owner: Visitor, settlement_id: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(owner.get(f"/settlements/{settlement_id}/payments.csv").text)))


def minor(text: str) -> int:
    return round(float(text) * 100)


def check_sums(settlement: dict[str, Any], rows: list[dict[str, str]]) -> None:
    for line in LINES:
        assert sum(minor(row[line]) for row in rows) == minor(settlement[line]), line


def test_an_empty_list_says_that_it_has_the_last_30_days_alone(owner: Visitor, shop: MerchantClient) -> None:
    PaymentClient(shop).paid()
    assert list_settlements(shop)
    shop.advance(days=40)
    assert "None in the last 30 days" in owner.get("/settlements").words


def test_payments_and_refunds_add_up_to_the_lines(owner: Visitor, shop: MerchantClient) -> None:
    payments = PaymentClient(shop)
    references = [payments.paid(amount=amount)["txnRef"] for amount in ("1500.00", "12345.67", "200.00")]
    refund: Any = shop.put("payment", action="refund", txnRef=references[0], amount="500.00").body
    shop.advance(seconds=0)
    shop.transfer(amount="100.00")
    [settlement] = list_settlements(shop)
    rows = read_file(owner, settlement["settlement_id"])
    check_sums(settlement, rows)
    assert [row["reference"] for row in rows if row["kind"] == "payment"] == references
    assert minor(settlement["refunds"]) == sum(minor(row["refunds"]) for row in rows) != 0
    assert [row["kind"] for row in rows if minor(row["refunds"])] == ["refund"], refund
    page = owner.get(f"/settlements/{settlement['settlement_id']}")
    for reference in references:
        assert reference in page.words
    assert "NGN 12,345.67" in page.words


def test_money_of_a_later_day_is_listed_with_that_day(
    deployment: Deployment, owner: Visitor, shop: MerchantClient
) -> None:
    deployment.run_command("merchant", "set", shop.mid, "--settlement-days", "1")
    payments = PaymentClient(shop)
    references = [payments.paid(amount=amount)["txnRef"] for amount in ("1500.00", "700.00")]
    shop.advance(days=5)
    [settlement] = [one for one in list_settlements(shop) if minor(one["gross"])]
    rows = read_file(owner, settlement["settlement_id"])
    assert [row["reference"] for row in rows] == references
    for line in LINES:
        assert sum(minor(row[line]) for row in rows) == minor(settlement[line]), line


def test_a_long_list_is_continued(owner: Visitor, shop: MerchantClient) -> None:
    payments = PaymentClient(shop)
    number = settled_payments.SHOWN_PAYMENTS + 1
    references = [payments.paid(amount="200.00")["txnRef"] for _ in range(number)]
    [settlement] = list_settlements(shop)
    first = owner.get(f"/settlements/{settlement['settlement_id']}")
    assert [one for one in references if one not in first.words] == references[-1:]
    [following] = [link for link in first.text.split('"') if "?after=" in link]
    last = owner.get(following.partition("#")[0])
    assert [one for one in references if one in last.words] == references[-1:]
    assert "First payments" in last.words


def test_another_merchants_settlement_lists_none_of_it(deployment: Deployment, shop: MerchantClient) -> None:
    PaymentClient(shop).paid(amount="1500.00")
    [settlement] = list_settlements(shop)
    stranger = deployment.open_shop()
    with stranger.connection:
        other = sign_in_as(deployment, "merchant:owner", stranger.mid)
        assert other.get(f"/settlements/{settlement['settlement_id']}").http == 404
        assert other.get(f"/settlements/{settlement['settlement_id']}/payments.csv").http == 404
        assert other.get("/settlements/nonsense/payments.csv").http == 404
