"""Money that arrives: settlements of later days, on the overview and on the list of settlements."""

from datetime import date, timedelta

import pytest

from kasuwa.console.money.arrivals import sum_arrivals
from kasuwa.methods.statements.settlements.store import Arrival
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

WEDNESDAY = date(2026, 4, 1)


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


def test_arrivals_are_summed_for_tomorrow_the_week_and_all_days() -> None:
    amounts = {0: 1, 1: 20, 4: 300, 5: 4_000}  # Sunday is four days after Wednesday
    arrivals = [Arrival(WEDNESDAY + timedelta(days=n), "NGN", amount) for n, amount in amounts.items()]
    money = sum_arrivals([*arrivals, Arrival(WEDNESDAY + timedelta(days=1), "NGN", 5)], WEDNESDAY)
    [sums] = money.sums
    assert (sums.currency, sums.tomorrow, sums.this_week, sums.total) == ("NGN", 25, 326, 4_326)
    assert [one.amount for one in money.days] == [1, 25, 300, 4_000]


def test_currencies_are_summed_apart() -> None:
    money = sum_arrivals([Arrival(WEDNESDAY, "USD", 7), Arrival(WEDNESDAY, "NGN", 3)], WEDNESDAY)
    assert [(sums.currency, sums.tomorrow, sums.total) for sums in money.sums] == [("NGN", 0, 3), ("USD", 0, 7)]


def test_a_payment_that_settles_later_is_shown_until_it_has_arrived(
    deployment: Deployment, owner: Visitor, shop: MerchantClient
) -> None:
    PaymentClient(shop).paid(amount="100.00")
    assert "Money that arrives" not in owner.get("/").words, "it is in the wallet at once"
    deployment.run_command("merchant", "set", shop.mid, "--settlement-days", "1")
    before = shop.wallet().balance
    PaymentClient(shop).paid(amount="5000.00")
    assert shop.wallet().balance == before
    for path in ("/", "/settlements"):
        page = owner.get(path).words
        assert "Money that arrives" in page, path
        assert "in the next two weeks" in page, path
    shop.put("sandbox", action="advance", days=7)
    assert shop.wallet().balance > before
    assert "Money that arrives" not in owner.get("/").words
