"""What needs somebody: at the top of a merchant's overview, and on the operator's home."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from kasuwa.console.kit.figures import rank_reasons
from kasuwa.console.merchant.attention import list_matters
from kasuwa.console.merchant.attention_reads import MAX_COUNTED, EndingKey, OverdueInvoices, WaitingMatters
from kasuwa.console.merchant.waiting_reads import WaitingSums
from kasuwa.console.operator.home import FLOAT_DAYS, find_short_floats
from kasuwa.projections.daily_totals import DailyTotal
from kasuwa.rails.watch.records import RailBalance
from kasuwa.webhooks.health import FailingEndpoint
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

NOW = datetime(2026, 3, 31, 9, tzinfo=UTC)
TODAY = date(2026, 3, 31)
NOTHING = WaitingMatters(0, None, [], 0, 0, [])
NO_TRANSFERS = WaitingSums(0, 0, 0, 0, 0)


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


def test_nothing_is_listed_if_nothing_waits(owner: Visitor, shop: MerchantClient) -> None:
    assert list_matters(NO_TRANSFERS, NOTHING, [], NOW) == []
    shop.transfer()
    assert "Needs you" not in owner.get("/").words


def test_every_kind_of_matter_has_its_line() -> None:
    matters = WaitingMatters(
        2, NOW + timedelta(hours=40), [OverdueInvoices("NGN", 1, 500_00)], MAX_COUNTED, 1, [EndingKey("till", NOW)]
    )
    endpoints = [FailingEndpoint(1, "", NOW, None), FailingEndpoint(2, "", NOW, NOW)]
    lines = list_matters(WaitingSums(1, 100_00, 1, 3, 4500_00), matters, endpoints, NOW)
    assert [(line.text, line.path) for line in lines] == [
        ("4 transfers wait for approval", "/transfers/waiting"),
        ("2 disputes need a response", "/disputes?state=needs_response"),
        ("Your webhook endpoint does not accept events", "/events?state=failed"),
        ("Webhook endpoint 2 was disabled", "/settings/endpoints"),
        ("1 invoice is overdue", "/invoices?status=overdue"),
        ("1,000+ loans are late", "/loans?state=active_in_arrears"),
        ("1 plan is paused", "/recurrents"),
        ("API key “till” expires", "/settings/keys"),
    ]
    assert [line.detail for line in lines][:2] == ["NGN 4,600.00", "the first has 40 hours left"]
    assert lines[4].detail == "NGN 500.00 outstanding"


@pytest.mark.parametrize(
    ("minutes", "text"),
    [(59, "less than an hour left"), (60, "1 hour left"), (119, "1 hour left"), (120, "2 hours left")],
)
def test_the_time_that_a_dispute_has_left_is_in_whole_hours(minutes: int, text: str) -> None:
    matters = WaitingMatters(1, NOW + timedelta(minutes=minutes), [], 0, 0, [])
    [line] = list_matters(NO_TRANSFERS, matters, [], NOW)
    assert line.detail == text


def test_the_overview_names_what_waits(owner: Visitor, shop: MerchantClient) -> None:
    paid = PaymentClient(shop).paid(amount="5000.00")
    shop.put("sandbox", action="dispute", txnRef=paid["txnRef"], reason="fraudulent", hours=30)
    customer: Any = shop.put("resources", request="customer", name="Ada Obi", email="ada@example.com").body
    person: Any = {"customer_id": customer["data"]["customer_id"], "date_due": shop.now()[:10]}
    goods: Any = {"items": [{"description": "Cloth", "quantity": 1, "amount": "250.00"}]}
    assert shop.put("resources", request="invoice", **person, **goods).body["status"] == 200
    shop.put("sandbox", action="payout_policy", approve_above="1000.00")
    shop.transfer(amount="1500.00")
    shop.put("sandbox", action="advance", hours=26)
    page = owner.get("/").words
    assert "Needs you" in page
    assert "1 transfer waits for approval NGN 1,500.00" in page
    assert "1 dispute needs a response 3 hours left" in page
    assert "1 invoice is overdue NGN 250.00 outstanding" in page


def test_a_key_that_ends_soon_is_named(owner: Visitor, shop: MerchantClient) -> None:
    shop.transfer()
    for name, days in (("brief", 3), ("long", 30)):
        ends = datetime.now(UTC) + timedelta(days=days)
        made = shop.put("sandbox", action="new_key", name=name, expires_at=ends.isoformat()).body
        assert made["status"] == 200
    page = owner.get("/").words
    assert "API key “brief” expires" in page
    assert "API key “long” expires" not in page


def test_what_waits_at_another_merchant_is_not_shown(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop, other = open_shop(), open_shop()
    shop.transfer()
    other.put("sandbox", action="payout_policy", approve_above="1000.00")
    other.transfer(amount="1500.00")
    assert "Needs you" not in sign_in_as(deployment, "merchant:owner", shop.mid).get("/").words
    assert "Needs you" in sign_in_as(deployment, "merchant:owner", other.mid).get("/").words


def test_the_latest_transactions_say_who_and_how(owner: Visitor, shop: MerchantClient) -> None:
    PaymentClient(shop).paid(amount="5000.00")
    shop.transfer()
    latest = owner.get("/").words.partition("Latest transactions")[2]
    assert "Who and how" in latest
    assert "Guaranty Trust Bank 0000000000" in latest
    assert "••••" in latest


def failed(count: int, code: str, reason: str) -> DailyTotal:
    return DailyTotal(TODAY, "transfer", "NGN", "failed", "", code, reason, count, 0)


def test_reasons_with_one_code_are_one_reason_under_the_most_frequent_words() -> None:
    totals = [failed(2, "51", "Insufficient Funds"), failed(3, "51", "No sufficient funds"), failed(1, "91", "No bank")]
    assert [(reason.text, reason.count, reason.share) for reason in rank_reasons(totals, 8)] == [
        ("No sufficient funds", 5, "83.3 %"),
        ("No bank", 1, "16.7 %"),
    ]


def test_codes_of_one_rail_alone_do_not_join_different_reasons() -> None:
    totals = [failed(2, "failed", "Declined"), failed(1, "failed", "Stolen card"), failed(1, "", "declined")]
    assert [(reason.text, reason.count) for reason in rank_reasons(totals, 8)] == [("Declined", 3), ("Stolen card", 1)]


# --- operators ------------------------------------------------------------------------------------------------------


def spent(day: date, amount: int, rail: str = "vendor") -> DailyTotal:
    return DailyTotal(day, "transfer", "NGN", "successful", rail, "", "", 1, amount)


def balance(amount: int, is_low: bool = False) -> RailBalance:
    return RailBalance("vendor", "NGN", amount, is_low, NOW)


@pytest.mark.parametrize(
    ("amount", "today", "is_short"), [(100, 0, False), (99, 0, True), (60, 40, False), (0, 100, False)]
)
def test_a_float_is_short_if_the_rest_of_an_average_day_exceeds_it(amount: int, today: int, is_short: bool) -> None:
    days = [spent(TODAY - timedelta(days=n), 100) for n in range(1, FLOAT_DAYS + 1)]
    others = [spent(TODAY - timedelta(days=1), 10_000, "another")]
    short = find_short_floats([balance(amount)], [*days, *others, spent(TODAY, today)], TODAY)
    assert bool(short) == is_short


def test_a_float_below_its_least_is_short() -> None:
    [short] = find_short_floats([balance(500, is_low=True)], [], TODAY)
    assert (short.amount, short.expected) == (500, 0)


def test_the_home_page_of_operators_counts_stuck_orders(deployment: Deployment, shop: MerchantClient) -> None:
    shop.transfer(accountnumber="0000000020")
    shop.put("sandbox", action="advance", hours=5)
    page = sign_in_as(deployment, "operator:admin").get("/operator/home")
    figure = page.words.partition("Stuck orders ")[2].partition(" ")[0]
    assert int(figure.replace(",", "")) >= 1
    for title in ("Unidentified receipts", "Floats that will not last the day"):
        assert title in page.words
