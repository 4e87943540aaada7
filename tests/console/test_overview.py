"""The overview over HTTP and in the browser: figures of daily totals, ranges, comparison, and the first steps."""

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from kasuwa.projections import daily_totals
from kasuwa.rails.sandbox.bank import person_name
from tests.browser import BROWSER_GROUP, OpenPage, browser, open_page
from tests.console.visitor import Visitor, browser_state_of, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import MASTERCARD_OK, PaymentClient
from tests.running import Deployment

__all__ = ["browser", "open_page"]
pytestmark = BROWSER_GROUP

SHORT = "The beneficiary's bank: No sufficient funds"


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


def count_everything(deployment: Deployment, shop: MerchantClient) -> None:
    """Counts all events of the merchant, as the worker does every few seconds."""

    async def work(connection: Any) -> None:
        find = "select last_event_seq, merchant_id from merchant_state join merchant using (merchant_id) where mid = $1"
        last, merchant_id = await connection.fetchrow(find, shop.mid)
        mark = "select event_seq from daily_total_mark where merchant_id = $1"
        while (await connection.fetchval(mark, merchant_id) or 0) < last:
            await daily_totals.count_next(connection)

    deployment.run_on_connection(work)


def kept_totals(deployment: Deployment, shop: MerchantClient) -> list[tuple[Any, ...]]:
    """Returns status, count, amount and reason of what is counted."""
    query = """select status, count, amount, reason from daily_total join merchant using (merchant_id)
        where mid = $1 order by status"""
    return [tuple(row) for row in deployment.fetch(query, shop.mid)]


def test_the_overview_shows_money_in_out_and_refunded_apart(owner: Visitor, shop: MerchantClient) -> None:
    payments = PaymentClient(shop)
    paid = payments.paid(amount="5000.00")
    shop.put("payment", action="refund", txnRef=paid["txnRef"], amount="1000.00")
    shop.transfer(amount="1500.00")
    shop.transfer(accountnumber="0000005100")
    shop.transfer(accountnumber="0000000020")
    page = owner.get("/?days=1").words
    assert "Money in NGN 5,000.00 1 transaction ▲" not in page  # the mark is drawn by the style sheet
    assert "Money in NGN 5,000.00 1 transaction none in the period before" in page
    assert "Money out NGN 1,500.00 1 transaction" in page
    assert "Refunded NGN 1,000.00 1 transaction" in page
    assert "Success rate of payments 100.0 % 1 of 1 payments that ended All transactions Successful 3 Failed 1" in page
    assert "No sufficient funds 1 100.0 %" in page


def test_transfers_are_listed_with_the_name_on_the_account(owner: Visitor, shop: MerchantClient) -> None:
    sent = shop.transfer(bankcode="000013", accountnumber="0123456785")["txnRef"]
    name = person_name("000013", "0123456785")
    for path in ("/", "/transactions", "/transactions.csv"):
        page = owner.get(path)
        assert (name in page.text, sent in page.text) == (True, True), path


def test_the_figures_of_the_charts_can_be_exported(owner: Visitor, shop: MerchantClient) -> None:
    payments = PaymentClient(shop)
    paid = payments.paid(amount="5000.00")
    shop.put("payment", action="refund", txnRef=paid["txnRef"], amount="1000.00")
    shop.transfer(amount="1500.00")
    shop.transfer(accountnumber="0000005100")
    payments.paid(MASTERCARD_OK, amount="200.00", country="US", currency="USD")
    page = owner.get("/?days=7")
    link = unescape(page.text.partition('href="/overview.csv?')[2].partition('"')[0])
    header, *lines = owner.get(f"/overview.csv?{link}").text.splitlines()
    assert header == "from,currency,in,out,refunded,successful,failed,expired,open"
    today = shop.now()[:10]
    assert lines == [f"{today},NGN,5000.00,1500.00,1000.00,3,1,0,0", f"{today},USD,200.00,0.00,0.00,1,0,0,0"]
    assert owner.get("/overview.csv?from=2020-01-01&to=2020-01-31").text.splitlines() == [header]


def test_figures_are_the_same_before_and_after_they_are_counted(
    deployment: Deployment, owner: Visitor, shop: MerchantClient
) -> None:
    """The page adds what is not counted yet. A day passes in between, and an open transfer ends after it."""
    left = shop.transfer(amount="20.50", accountnumber="0000000020")["txnRef"]
    shop.transfer(amount="1500.00")
    count_everything(deployment, shop)
    shop.put("sandbox", action="advance", days=2)
    shop.transfer(amount="3.00")
    uncounted = owner.get("/").words
    count_everything(deployment, shop)
    assert owner.get("/").words.partition("Balances")[2] == uncounted.partition("Balances")[2]
    assert "Money out NGN 1,503.00 2 transactions" in uncounted
    assert "Money out NGN 3.00 1 transaction" in owner.get("/?days=1").words
    shop.put("sandbox", action="settle", txnRef=left, outcome="successful")
    assert "Money out NGN 1,523.50 3 transactions" in owner.get("/").words
    shop.put("sandbox", action="advance", days=29)
    page = owner.get("/").words
    assert "Money out NGN 3.00 1 transaction 100 % less than the period before" in page


def test_one_step_counts_several_merchants_each_for_itself(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step of three events ends within the second merchant; counting goes on from there."""
    shop, another_shop = open_shop(), open_shop()
    monkeypatch.setattr(daily_totals, "MAX_EVENTS_PER_STEP", 3)
    for merchant, amounts in ((shop, ("10.00", "20.00")), (another_shop, ("5.00", "6.00", "7.00"))):
        for amount in amounts:
            merchant.transfer(amount=amount)
        merchant.transfer(accountnumber="0000005100", amount="1.00")
    count_everything(deployment, shop)
    count_everything(deployment, another_shop)
    assert kept_totals(deployment, shop) == [("failed", 1, 100, SHORT), ("successful", 2, 3000, "")]
    assert kept_totals(deployment, another_shop) == [
        ("failed", 1, 100, SHORT),
        ("successful", 3, 1800, ""),
    ]


def test_an_expired_payment_is_not_counted_as_failed(owner: Visitor, shop: MerchantClient) -> None:
    shop.put("cashcode", action="generate", amount="500.00", pin="2580", channel="ATM", orderRef="cash")
    shop.put("sandbox", action="advance", days=3)
    assert "Failed 0 Expired 1 Open 0" in owner.get("/").words


def test_a_range_of_days_can_be_chosen(owner: Visitor, shop: MerchantClient) -> None:
    shop.transfer()
    assert "No transactions in this period" in owner.get("/?from=2001-01-01&to=2001-01-31").words
    wrong = owner.get("/?from=tomorrow")
    assert (wrong.http, "Enter both days as YYYY-MM-DD" in wrong.words) == (200, True)
    for days in ("1", "7", "30", "90", "365"):
        assert "Money out NGN" in owner.get(f"/?days={days}").words


def test_a_merchant_without_transactions_sees_the_first_steps(
    deployment: Deployment, owner: Visitor, shop: MerchantClient
) -> None:
    page = owner.get("/").words
    assert f"mid: {shop.mid}" in page
    assert "Set your webhook URL to do" in page
    shop.put("sandbox", action="webhook", url="http://127.0.0.1:9/nobody")
    assert "Set your webhook URL done" in owner.get("/").words
    reader = sign_in_as(deployment, "merchant:read-only", shop.mid)
    assert "Create a key" not in reader.get("/").words
    shop.transfer()
    assert "Money out" in owner.get("/").words


def test_the_overview_says_if_events_are_still_being_counted(
    deployment: Deployment, owner: Visitor, shop: MerchantClient
) -> None:
    """The mark is set back in a transaction of its own, so that more events seem uncounted than a page counts."""
    shop.transfer()
    count_everything(deployment, shop)
    merchant = "select merchant_id from merchant where mid = $1 and current"
    behind = f"update daily_total_mark set event_seq = -10000 where merchant_id = ({merchant})"
    deployment.fetch(behind, shop.mid)
    try:
        assert "still being counted" in owner.get("/").words
    finally:
        last = f"update daily_total_mark set event_seq = 1 where merchant_id = ({merchant})"
        deployment.fetch(last, shop.mid)


def test_bars_show_their_values_when_pointed_at_and_by_arrow_keys(
    deployment: Deployment, shop: MerchantClient, open_page: OpenPage, browser: Browser
) -> None:
    shop.transfer(amount="1500.00")
    state = browser_state_of(deployment, "merchant:owner", shop.mid)
    page = open_page(storage_state=state, base_url=f"http://127.0.0.1:{deployment.console_port}")
    page.goto("/?days=7")
    values = page.locator(".chart-values").first
    bars = page.locator("svg.bars").first.locator("g.bar")
    bars.last.hover()
    expect(values).to_contain_text("NGN 1,500.00 out")
    bars.first.focus()
    expect(values).to_contain_text("NGN 0.00 out")
    page.keyboard.press("End")
    expect(values).to_contain_text("NGN 1,500.00 out")
    page.keyboard.press("ArrowLeft")
    expect(values).to_contain_text("NGN 0.00 out")


def test_daily_totals_count_every_transaction_once_for_all_merchants(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shops = [open_shop(), open_shop()]
    for shop in shops:
        shop.transfer(amount="7.00")
        shop.transfer(accountnumber="0000005100")
        count_everything(deployment, shop)
        count_everything(deployment, shop)
    totals = """
        select t.status, t.rail, t.reason <> '', t.count, t.amount from daily_total t
        join merchant m using (merchant_id) where m.mid = $1 order by t.status
    """
    for shop in shops:
        assert [tuple(row) for row in deployment.fetch(totals, shop.mid)] == [
            ("failed", "sandbox", True, 1, 150_000),
            ("successful", "sandbox", False, 1, 700),
        ]
    sums = "select coalesce(sum(count), 0) from daily_total where merchant_id {} 0"
    [[everybody]], [[each]] = deployment.fetch(sums.format("=")), deployment.fetch(sums.format("<>"))
    assert everybody == each >= 4
