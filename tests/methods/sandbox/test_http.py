"""`PUT /sandbox` over HTTP: merchants, wallets, call-backs, clocks and faults."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, Wallet, without_codes
from tests.running import Deployment

START = "2026-01-05T09:30:00+01:00"
SHOWN = "2026-01-05T09:30:00.000+01:00"
PENDING_ACCOUNT = "0000000020"
UNKNOWN = {"status": 104, "message": "Invalid Transaction Reference"}


def fields_at_fault(body: Any) -> list[str]:
    assert body["status"] == 104, body
    return [fault["field"] for fault in body["errors"]]


# --- new_merchant -------------------------------------------------------------------------------------------


def test_a_new_merchant_has_a_mid_a_key_and_full_wallets(shop: MerchantClient) -> None:
    http, body = shop.put("sandbox", action="new_merchant", name="Ada Stores")
    assert http == 200
    assert body == {"status": 200, "mid": body["mid"], "key": body["key"]}
    assert body["mid"][:2] == "GP"
    assert len(body["mid"]) == 9
    assert body["mid"][2:].isdecimal()
    made = MerchantClient(shop.connection, body["mid"], body["key"])
    assert made.wallets() == {
        "NGN": Wallet(1_000_000_000, 1_000_000_000, 0),
        "USD": Wallet(1_000_000, 1_000_000, 0),
    }


def test_each_new_merchant_is_another(open_shop: Callable[..., MerchantClient]) -> None:
    shops = [open_shop() for _ in range(3)]
    assert len({shop.mid for shop in shops}) == 3
    assert len({shop.key for shop in shops}) == 3


def test_the_demo_merchant_is_there(deployment: Deployment) -> None:
    with deployment.connect() as wire:
        demo = MerchantClient(wire, "GP0000001", "123456789")
        assert demo.wallet() == Wallet(1_000_000_000, 1_000_000_000, 0)
        assert demo.wallet("USD") == Wallet(1_000_000, 1_000_000, 0)


@pytest.mark.parametrize(
    ("now", "shown"),
    [
        (START, SHOWN),
        ("2026-01-05T08:30:00Z", SHOWN),
        ("2026-01-05T09:30:00", SHOWN),
        ("2026-01-05", "2026-01-05T00:00:00.000+01:00"),
        ("2024-02-29T23:59:59.999+01:00", "2024-02-29T23:59:59.999+01:00"),
        ("1999-12-31T23:30:00Z", "2000-01-01T00:30:00.000+01:00"),
        ("2100-06-01T00:00:00Z", "2100-06-01T01:00:00.000+01:00"),
    ],
)
def test_with_now_a_clock_starts_there_and_stands_still(
    open_shop: Callable[..., MerchantClient], now: str, shown: str
) -> None:
    shop = open_shop(now=now)
    assert [shop.now() for _ in range(3)] == [shown] * 3
    assert shop.transfer()["txnRef"][16:24] == shown[:10].replace("-", "")
    assert shop.now() == shown


def test_a_clock_may_start_before_1970(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now="1950-01-01T12:00:00Z")
    assert shop.now() == "1950-01-01T13:00:00.000+01:00"
    assert shop.transfer().get("txnStatus") == "successful"


def test_without_now_a_clock_goes_with_the_wall(shop: MerchantClient) -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    first, second = (datetime.fromisoformat(shop.now()) for _ in range(2))
    assert before <= first <= second <= datetime.now(UTC)


def test_an_instant_that_cannot_be_read_is_refused(shop: MerchantClient) -> None:
    wrong: Any
    for wrong in ("yesterday", 5, "2026-13-01", "٢٠٢٦-01-01", True, {}, "2026-02-30T00:00:00Z"):
        assert fields_at_fault(shop.put("sandbox", action="new_merchant", now=wrong).body) == ["now"], wrong


# --- fund_wallet ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("currency", ["NGN", "USD", "GHS", "KES"])
def test_funding_credits_the_wallet_of_its_currency(shop: MerchantClient, currency: str) -> None:
    before = shop.wallets()
    http, body = shop.put("sandbox", action="fund_wallet", currency=currency, amount="12.34")
    assert (http, body) == (200, {"status": 200, "message": body["message"]})
    had = before.get(currency, Wallet(0, 0, 0))
    assert shop.wallets() == before | {currency: Wallet(had.balance + 1234, had.available + 1234, 0)}


def test_the_country_code_of_nigeria_is_read_as_its_currency(shop: MerchantClient) -> None:
    shop.put("sandbox", action="fund_wallet", currency="NG", amount="12.34")
    assert shop.wallet().balance == 1_000_001_234


def test_funding_refuses_what_is_no_money(shop: MerchantClient) -> None:
    before = shop.wallets()
    for wrong in ({"currency": "EUR", "amount": "1"}, {"currency": 5, "amount": "1"}):
        assert fields_at_fault(shop.put("sandbox", action="fund_wallet", **wrong).body) == ["currency"]
    for amount in ("-1", "0", "1.001", "x", None, 1e300):
        body = shop.put("sandbox", action="fund_wallet", currency="NGN", amount=amount).body
        assert fields_at_fault(body) == ["amount"], amount
    assert shop.wallets() == before


def test_a_wallet_holds_at_most_fifteen_digits(shop: MerchantClient) -> None:
    assert shop.put("sandbox", action="fund_wallet", amount="999999000000000").body["status"] == 200
    full = shop.wallet()
    http, body = shop.put("sandbox", action="fund_wallet", amount="999999000000000")
    assert (http, fields_at_fault(body)) == (200, ["amount"])
    assert shop.wallet() == full


# --- settle ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["txnRef", "orderRef"])
@pytest.mark.parametrize("outcome", ["successful", "failed"])
def test_settle_ends_what_is_open_by_either_reference(shop: MerchantClient, by: str, outcome: str) -> None:
    sent = shop.transfer(accountnumber=PENDING_ACCOUNT)
    http, body = shop.put("sandbox", action="settle", outcome=outcome, **{by: sent[by]})
    assert http == 200
    assert body == {"status": 200, "txnStatus": outcome, "txnRef": sent["txnRef"], "message": body["message"]}
    assert shop.status_of(sent["orderRef"]) == outcome


def test_settle_by_a_shared_reference_reaches_each_that_is_still_open(shop: MerchantClient) -> None:
    meter: dict[str, Any] = {"paycode": "IfuR3XxiIpxqbZQ", "reference": "00000099", "amount": "5000.00"}
    sent = shop.transfer(accountnumber="0000000020", orderRef="same")
    bill = shop.put("bills", action="pay", **meter, orderRef="same").body
    cash: dict[str, Any] = {"amount": "5000.00", "pin": "2580", "channel": "ATM"}
    assert shop.put("cashcode", action="generate", **cash, orderRef="same").body["status"] == 200
    replies = [shop.put("sandbox", action="settle", orderRef="same", outcome="failed").body for _ in range(2)]
    assert [line["txnRef"] for line in replies] == [bill["txnRef"], sent["txnRef"]]
    assert {line["txnStatus"] for line in replies} == {"failed"}
    assert shop.status_of("same") == shop.put("bills", action="verify", txnRef="same").body["txnStatus"] == "failed"
    over = shop.put("sandbox", action="settle", orderRef="same", outcome="successful").body
    assert (over["txnRef"], over["txnStatus"]) == (bill["txnRef"], "failed")


def test_settle_names_what_it_misses(shop: MerchantClient) -> None:
    sent = shop.transfer(accountnumber=PENDING_ACCOUNT)
    assert fields_at_fault(shop.put("sandbox", action="settle", orderRef="x").body) == ["outcome"]
    assert fields_at_fault(shop.put("sandbox", action="settle", orderRef="x", outcome="pending").body) == ["outcome"]
    assert fields_at_fault(shop.put("sandbox", action="settle", outcome="failed").body) == ["txnRef"]
    assert without_codes(shop.put("sandbox", action="settle", orderRef="never", outcome="failed").body) == UNKNOWN
    assert shop.status_of(sent["orderRef"]) == "pending"


@pytest.mark.parametrize(
    ("method", "fields", "named"),
    [
        ("sandbox", {"action": "settle", "outcome": "maybe"}, {"txnRef", "outcome"}),
        ("sandbox", {"action": "explain", "orderRef": 5}, {"orderRef"}),
        ("sandbox", {"action": "explain"}, {"txnRef"}),
        ("sandbox", {"action": "card_purchase", "amount": "x"}, {"reference", "amount"}),
        ("resources", {"request": "resend", "to": "x"}, {"event_id", "to"}),
    ],
)
def test_a_missing_reference_is_named_along_with_the_other_errors(
    shop: MerchantClient, method: str, fields: dict[str, Any], named: set[str]
) -> None:
    answered = shop.send_fields(method, fields).body
    assert (answered["status"], {fault["field"] for fault in answered["errors"]}) == (104, named)


def test_settle_does_not_reach_another_merchants_transactions(open_shop: Callable[..., MerchantClient]) -> None:
    one, other = open_shop(), open_shop()
    sent = one.transfer(accountnumber=PENDING_ACCOUNT)
    for by in ("txnRef", "orderRef"):
        assert without_codes(other.put("sandbox", action="settle", outcome="failed", **{by: sent[by]}).body) == UNKNOWN
    assert one.status_of(sent["orderRef"]) == "pending"


# --- clock and advance ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stretch", "shown"),
    [
        ({"seconds": 0}, SHOWN),
        ({"seconds": 5}, "2026-01-05T09:30:05.000+01:00"),
        ({"minutes": 90}, "2026-01-05T11:00:00.000+01:00"),
        ({"hours": 24}, "2026-01-06T09:30:00.000+01:00"),
        ({"days": 31}, "2026-02-05T09:30:00.000+01:00"),
        ({"days": 1, "hours": 1, "minutes": 1, "seconds": 1}, "2026-01-06T10:31:01.000+01:00"),
        ({"until": "2026-03-01T00:00:00Z"}, "2026-03-01T01:00:00.000+01:00"),
        ({"until": START}, SHOWN),
    ],
)
def test_advance_moves_business_time_forward(
    open_shop: Callable[..., MerchantClient], stretch: dict[str, Any], shown: str
) -> None:
    shop = open_shop(now=START)
    http, body = shop.put("sandbox", action="advance", **stretch)
    assert (http, body) == (200, {"status": 200, "now": shown, "ran": {}})
    assert shop.put("sandbox", action="clock").body == {"status": 200, "now": shown}


def test_time_never_goes_back(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    for wrong in (
        {},
        {"until": "2026-01-05T09:29:59+01:00"},
        {"seconds": -1},
        {"days": 10_000_000_000},
        {"hours": 1.5},
    ):
        assert shop.put("sandbox", action="advance", **wrong).body["status"] == 104, wrong
    assert shop.now() == SHOWN


def test_advance_runs_what_falls_due_and_says_how_much(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    first, second = shop.transfer(accountnumber="0000000900"), shop.transfer(accountnumber="0000009100")
    assert shop.advance(seconds=4)["ran"] == {}
    assert shop.advance(minutes=1)["ran"] == {"disburse": 2}
    assert [shop.status_of(sent["txnRef"]) for sent in (first, second)] == ["successful", "failed"]
    assert shop.advance(days=30)["ran"] == {}


def test_a_clock_that_goes_with_the_wall_can_be_moved_too(shop: MerchantClient) -> None:
    sent = shop.transfer(accountnumber="0000000900")
    before = datetime.fromisoformat(shop.now())
    moved = datetime.fromisoformat(shop.advance(hours=2)["now"])
    assert moved >= before + timedelta(hours=2)
    assert datetime.fromisoformat(shop.now()) >= moved
    assert shop.status_of(sent["txnRef"]) == "successful"


def test_advances_at_once_add_up(open_shop: Callable[..., MerchantClient], deployment: Deployment) -> None:
    shop = open_shop(now=START)
    for _ in range(5):
        shop.transfer(accountnumber="0000000900")

    def advance(_: int) -> int:
        with deployment.connect() as wire:
            return sum(MerchantClient(wire, shop.mid, shop.key).advance(seconds=10)["ran"].values())

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(advance, range(6))) == 5
    assert shop.now() == "2026-01-05T09:31:00.000+01:00"


def test_advancing_one_merchants_clock_leaves_others_alone(open_shop: Callable[..., MerchantClient]) -> None:
    one, other, third = open_shop(now=START), open_shop(now=START), open_shop(now="2030-01-01")
    sent = [shop.transfer(accountnumber="0000000900")["txnRef"] for shop in (one, other, third)]
    assert one.advance(days=1)["ran"] == {"disburse": 1}
    assert (other.now(), third.now()) == (SHOWN, "2030-01-01T00:00:00.000+01:00")
    assert one.status_of(sent[0]) == "successful"
    assert (other.status_of(sent[1]), third.status_of(sent[2])) == ("pending", "pending")


# --- faults ---------------------------------------------------------------------------------------------------


def test_a_fault_is_confirmed(shop: MerchantClient) -> None:
    http, body = shop.put("sandbox", action="fault", rail="bank", kind="timeout", times=3, probability=0.5)
    assert (http, body) == (200, {"status": 200, "message": body["message"]})


def test_a_fault_that_cannot_be_is_refused(shop: MerchantClient) -> None:
    right: dict[str, Any] = {"rail": "bank", "kind": "decline", "times": 1}
    for name, wrong in (
        ("rail", "post"),
        ("kind", "flood"),
        ("times", 0),
        ("times", "two"),
        ("probability", 1.5),
        ("probability", -1),
        ("probability", "often"),
    ):
        body = shop.put("sandbox", action="fault", **right | {name: wrong}).body
        assert fields_at_fault(body) == [name], wrong
    assert shop.transfer()["txnStatus"] == "successful"
