"""The wallet page: the statement of a wallet with its running balance, page by page and as files."""

import html

import pytest

from kasuwa.console.money.wallet import PAGE_ROWS
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


def test_the_statement_shows_movements_with_the_balance_after_each(owner: Visitor, shop: MerchantClient) -> None:
    sent = shop.transfer(amount="1500.00")
    wallet = shop.wallet()
    page = owner.get("/wallet")
    assert page.http == 200
    assert sent["txnRef"] in page.words
    assert "−1,500.00" in page.words
    balance = f"{wallet.balance // 100:,}.{wallet.balance % 100:02d}"
    assert f"Closing balance NGN {balance}" in page.words
    assert page.words.count(balance) >= 2, "also after the last movement"


def test_a_long_statement_is_shown_page_by_page(owner: Visitor, shop: MerchantClient) -> None:
    for number in range(PAGE_ROWS // 3 + 2):
        shop.transfer(amount="10.00", orderRef=f"n{number}")
    first = owner.get("/wallet")
    assert "Next page" in first.words
    following = html.unescape(first.text.partition('">Next page</a>')[0].rpartition('href="')[2])
    second = owner.get(following)
    assert (second.http, "First page" in second.words) == (200, True)
    assert second.words.partition("Balance ")[2] != first.words.partition("Balance ")[2]


def test_days_without_movements_say_so_and_wrong_days_are_named(owner: Visitor, shop: MerchantClient) -> None:
    assert "Nothing moved in this wallet" in owner.get("/wallet?from=2001-01-01&to=2001-01-31").words
    wrong = owner.get("/wallet?from=yesterday")
    assert (wrong.http, 'id="fault-from"' in wrong.text) == (422, True)
    assert owner.get("/wallet?from=2026-02-01&to=2026-01-01").http == 422
    assert owner.get("/wallet?cursor=nonsense").http == 422


@pytest.mark.parametrize(("ending", "kind"), [("csv", "text/csv; charset=utf-8"), ("pdf", "application/pdf")])
def test_the_statement_can_be_had_as_a_file(owner: Visitor, shop: MerchantClient, ending: str, kind: str) -> None:
    shop.transfer(amount="1500.00")
    opened = owner.get(f"/wallet.{ending}")
    assert opened.http == 303
    file = shop.connection.send("GET", "/statements/" + opened.place.rpartition("/statements/")[2])
    assert (file.http, file.headers["content-type"]) == (200, kind)


def test_a_file_of_wrong_days_leads_back_to_the_page(owner: Visitor) -> None:
    opened = owner.get("/wallet.csv?from=yesterday")
    assert opened.http == 303
    assert owner.get(opened.place).http == 422
