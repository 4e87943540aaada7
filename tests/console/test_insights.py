"""Success by method, bank and category: groups, charts, the page and its file."""

from typing import Any

import pytest

from kasuwa.console.insights.breakdowns import (
    MAX_GROUPS,
    OTHERS,
    category_name,
    draw_outcomes,
    group_outcomes,
    group_spend,
)
from kasuwa.console.insights.store import CategorySum, OutcomeCount
from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")


def test_outcomes_are_counted_apart_and_open_ones_are_in_no_rate() -> None:
    counts = [
        OutcomeCount("card", "successful", "", 2),
        OutcomeCount("card", "failed", "51", 1),
        OutcomeCount("card", "failed", "expired", 1),
        OutcomeCount("card", "pending", "", 4),
        OutcomeCount("card", "processing", "", 1),
    ]
    [group] = group_outcomes(counts, str.capitalize)
    assert (group.name, group.successful, group.failed, group.expired, group.open) == ("Card", 2, 1, 1, 5)
    assert group.success_rate == "50.0 %"


def test_the_largest_groups_come_first_and_the_rest_are_one() -> None:
    counts = [OutcomeCount(f"b{number:02}", "successful", "", number) for number in range(1, MAX_GROUPS + 4)]
    groups = group_outcomes(counts, str)
    assert [group.successful for group in groups] == [11, 10, 9, 8, 7, 6, 5, 4, 6]
    assert (groups[-1].name, group_outcomes([OutcomeCount("", "failed", "", 1)], str)[0].name) == (OTHERS, OTHERS)


def test_every_bar_has_its_name_below_it() -> None:
    chart = draw_outcomes("By bank", group_outcomes([OutcomeCount("a", "failed", "", 1)], str))
    assert "a: 0 successful, 1 failed, 0 expired, 0 open" in chart
    assert '<div class="axis-x all" aria-hidden="true"><span>a</span></div>' in chart


def test_spend_is_by_currency_and_the_home_currency_is_first() -> None:
    sums = [
        CategorySum("5411", "USD", 2, 900),
        CategorySum("", "NGN", 1, 100),
        CategorySum("5812", "USD", 1, 1000),
    ]
    (home, naira, _), (foreign, dollars, total) = group_spend(sums)
    assert (home, foreign, total) == ("NGN", "USD", "19.00")
    assert [(line.name, line.amount) for line in dollars] == [("Restaurants (5812)", 1000), ("Groceries (5411)", 900)]
    assert [line.name for line in naira] == ["No category"]


def test_many_categories_end_with_the_sum_of_the_others() -> None:
    sums = [CategorySum(str(1000 + number), "NGN", 1, number) for number in range(1, MAX_GROUPS + 3)]
    [(_, lines, _)] = group_spend(sums)
    assert (lines[-1].name, lines[-1].count, lines[-1].amount) == (OTHERS, 2, 3)
    assert category_name("0001") == "Category 0001"


def test_the_page_and_its_file_show_methods_banks_and_categories(deployment: Deployment, shop: MerchantClient) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    assert "Nobody paid in this period" in owner.get("/insights").words
    PaymentClient(shop).paid()
    shop.transfer()
    shop.transfer(accountnumber="0000005100")
    fields: dict[str, Any] = {"merchant_name": "Shoprite", "category": "5411"}
    assert CardClient(shop).buy("12.00", **fields)["txnStatus"] == "successful"
    page = owner.get("/insights")
    assert "Card: 1 successful, 0 failed" in page.text
    assert "Guaranty Trust Bank: 1 successful, 1 failed" in page.text
    assert "Groceries (5411) 1 USD 12.00" in page.words
    lines = owner.get("/insights.csv").text.splitlines()
    assert "payments by method,Card,,1,0,0,0,100.0 %," in lines
    assert "payouts by bank,Guaranty Trust Bank,,1,1,0,0,50.0 %," in lines
    assert "card spend by category,Groceries (5411),USD,1,,,,,12.00" in lines
    assert "Nobody paid in this period" in owner.get("/insights?from=2020-01-01&to=2020-01-31").words
    assert owner.get("/insights?from=x").http == 200
