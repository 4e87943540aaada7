"""`freeze` of `PUT /sandbox` over HTTP: stops a clock and lets it run again; and the options of new merchants."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tests.merchant_client import MerchantClient, Wallet
from tests.webhooks.inbox import running_inbox

PROCESSING_ACCOUNT = "0000000010"


def clock_of(shop: MerchantClient) -> datetime:
    return datetime.fromisoformat(shop.now())


def test_a_frozen_clock_stands_still_and_an_advance_moves_it(shop: MerchantClient) -> None:
    http, body = shop.put("sandbox", action="freeze")
    assert (http, body) == (200, {"status": 200, "now": body["now"]})
    assert [shop.now() for _ in range(3)] == [body["now"]] * 3
    shop.advance(hours=2)
    assert clock_of(shop) - datetime.fromisoformat(body["now"]) == timedelta(hours=2)


def test_a_clock_that_runs_again_goes_on_from_where_it_stood(shop: MerchantClient) -> None:
    shop.put("sandbox", action="freeze")
    shop.advance(days=3)
    stood = clock_of(shop)
    http, body = shop.put("sandbox", action="freeze", frozen=False)
    assert (http, datetime.fromisoformat(body["now"])) == (200, stood)
    first, second = clock_of(shop), clock_of(shop)
    assert stood <= first <= second
    assert abs(second - datetime.now(UTC) - timedelta(days=3)) < timedelta(hours=1)


def test_freezing_twice_and_running_twice_change_nothing(shop: MerchantClient) -> None:
    first, second = (shop.put("sandbox", action="freeze").body for _ in range(2))
    assert first == second
    shop.put("sandbox", action="freeze", frozen=False)
    running = clock_of(shop)
    again = shop.put("sandbox", action="freeze", frozen=False).body
    assert datetime.fromisoformat(again["now"]) >= running


def test_what_is_scheduled_waits_for_an_advance_of_a_frozen_clock(shop: MerchantClient) -> None:
    order = shop.transfer(accountnumber=PROCESSING_ACCOUNT)
    assert order["txnStatus"] == "processing"
    shop.put("sandbox", action="freeze")
    verify = {"action": "verify", "txnRef": order["txnRef"]}
    assert shop.send_fields("disburse", verify).body["txnStatus"] == "processing"
    shop.advance(minutes=1)
    assert shop.send_fields("disburse", verify).body["txnStatus"] == "successful"


def test_frozen_must_be_true_or_false(shop: MerchantClient) -> None:
    body = shop.put("sandbox", action="freeze", frozen="later").body
    assert (body["status"], [fault["field"] for fault in body["errors"]]) == (104, ["frozen"])


# --- options of new merchants -----------------------------------------------------------------------------------------


def test_a_new_merchant_with_a_balance_has_that_in_its_one_wallet(open_shop: Callable[..., MerchantClient]) -> None:
    assert open_shop(balance="50000.00").wallets() == {"NGN": Wallet(5_000_000, 5_000_000, 0)}
    empty = open_shop(balance=0)
    assert empty.transfer()["status"] == 301
    assert empty.put("sandbox", action="audit").body["data"] == []


def test_a_new_merchant_with_a_webhook_gets_its_events_there(open_shop: Callable[..., MerchantClient]) -> None:
    with running_inbox() as inbox:
        shop = open_shop(webhook=inbox.url)
        order = shop.transfer()
        shop.advance(seconds=1)
        assert [post.payload["txnRef"] for post in inbox.requests] == [order["txnRef"]]


def test_a_new_merchant_with_a_webhook_that_cannot_be_used_is_not_made(shop: MerchantClient) -> None:
    for url in ("not a url", "ftp://example.com/", "http://10.0.0.1/events"):
        body = shop.put("sandbox", action="new_merchant", webhook=url).body
        assert (body["status"], [fault["field"] for fault in body["errors"]]) == (104, ["webhook"]), url
    body = shop.put("sandbox", action="new_merchant", balance="-1").body
    assert (body["status"], [fault["field"] for fault in body["errors"]]) == (104, ["balance"])
