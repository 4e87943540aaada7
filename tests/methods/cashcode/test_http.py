"""Cashcodes over HTTP: the wallet to the kobo, references and repeats, every end, and a hundred tellers.

Contract: cashcode#generate
"""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, Wallet, new_reference, without_codes
from tests.running import Deployment
from tests.walk.bounds import DRAWN

OPENING = 1_000_000_000
START = "2026-01-05T09:30:00+01:00"
# 5,000.00 by a cash machine: fee 100.00 and VAT 7.50.
COST = 510_750

UNKNOWN = {"status": 104, "message": "Invalid Order Reference"}


def generate(shop: MerchantClient, *, headers: dict[str, str] | None = None, **fields: Any) -> Any:
    ordinary = {"amount": "5000.00", "pin": "2580", "channel": "ATM", "orderRef": new_reference("cash")}
    return shop.put("cashcode", headers=headers, action="generate", **{**ordinary, **fields}).body


def redeem(shop: MerchantClient, code: str, **fields: Any) -> Any:
    ordinary = {"pin": "2580", "amount": "5000.00", "channel": "ATM"}
    return shop.put("sandbox", action="redeem_cashcode", cashcode=code, **{**ordinary, **fields}).body


def verify(shop: MerchantClient, order_ref: str) -> Any:
    return shop.put("cashcode", action="verify", orderRef=order_ref).body


def cancel(shop: MerchantClient, order_ref: str) -> Any:
    return shop.put("cashcode", action="cancel", orderRef=order_ref).body


def held(amount: int) -> Wallet:
    return Wallet(OPENING, OPENING - amount, amount)


def spent(amount: int) -> Wallet:
    return Wallet(OPENING - amount, OPENING - amount, 0)


# --- one code -----------------------------------------------------------------------------------------------


def test_a_code_is_generated_verified_and_paid(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    made = generate(shop, orderRef="cash-1", life_time="60")
    code = made.pop("cashcode")
    assert made == {
        "status": 200,
        "orderRef": "cash-1",
        "amount": "5000.00",
        "channel": "ATM",
        "expires_at": "2026-01-05T09:30:00.000Z",
        "txnStatus": "pending",
        "message": "Cashcode generated; it is shown this once",
    }
    assert shop.wallet() == held(COST)
    active = {
        "status": 200,
        "orderRef": "cash-1",
        "txnStatus": "pending",
        "state": "active",
        "amount": "5000.00",
        "paid": "0.00",
        "fee": "100.00",
        "vat": "7.50",
        "channel": "ATM",
        "expires_at": "2026-01-05T09:30:00.000Z",
        "message": "Cashcode generated; it is shown this once",
    }
    assert verify(shop, "cash-1") == active
    assert redeem(shop, code)["txnStatus"] == "successful"
    paid = {"txnStatus": "successful", "state": "redeemed", "paid": "5000.00", "message": "Cash was paid"}
    assert verify(shop, "cash-1") == active | paid
    assert shop.wallet() == spent(COST)
    assert without_codes(redeem(shop, code)) == {"status": 104, "message": "This cashcode was used"}
    shop.advance(days=2)
    assert verify(shop, "cash-1") == active | paid


@pytest.mark.parametrize("channel", ["POS", "WEB"])
def test_a_terminal_draws_up_to_the_amount(shop: MerchantClient, channel: str) -> None:
    for amount, is_within in DRAWN.sides:
        made = generate(shop, channel=channel)
        drawn = redeem(shop, made["cashcode"], channel=channel, amount=amount)
        assert drawn["status"] == (200 if is_within else 104), amount


@pytest.mark.parametrize("channel", ["POS", "WEB"])
def test_a_terminal_draws_a_part_and_the_rest_returns(shop: MerchantClient, channel: str) -> None:
    made = generate(shop, channel=channel)
    assert shop.wallet() == held(500_000)
    drawn = redeem(shop, made["cashcode"], channel=channel, amount="1234.56")
    assert (drawn["amount"], drawn["returned"]) == ("1234.56", "3765.44")
    assert shop.wallet() == spent(123_456)
    assert verify(shop, made["orderRef"])["paid"] == "1234.56"


@pytest.mark.parametrize("outcome", ["successful", "failed"])
def test_no_call_back_ends_a_code_and_none_is_recorded(
    shop: MerchantClient, deployment: Deployment, outcome: str
) -> None:
    made = generate(shop)
    reply = shop.put("sandbox", action="settle", orderRef=made["orderRef"], outcome=outcome).body
    assert without_codes(reply) == {"status": 104, "message": "No rail decides this one, so no call-back can end it"}
    assert verify(shop, made["orderRef"])["state"] == "active"
    notices = "select count(*) from operator_notice n join merchant m using (merchant_id) where m.mid = $1"
    assert deployment.fetch(notices, shop.mid)[0][0] == 0
    assert cancel(shop, made["orderRef"])["status"] == 200
    assert shop.put("sandbox", action="settle", orderRef=made["orderRef"], outcome=outcome).body["status"] == 200


def test_a_wallet_that_is_short_is_refused_and_nothing_is_kept(shop: MerchantClient) -> None:
    assert generate(shop, orderRef="much", amount="9999892.51")["status"] == 301
    assert without_codes(verify(shop, "much")) == UNKNOWN
    assert shop.wallet() == held(0)
    assert generate(shop, orderRef="much", amount="9999892.50")["status"] == 200
    assert shop.wallet() == Wallet(OPENING, 0, OPENING)


# --- repeats ------------------------------------------------------------------------------------------------


def test_a_repeat_by_order_ref_or_key_moves_nothing_and_shows_no_code(shop: MerchantClient) -> None:
    key = {"idempotency-key": "once"}
    first = generate(shop, headers=key, orderRef="twice")
    repeated = {name: value for name, value in first.items() if name != "cashcode"}
    assert generate(shop, orderRef="twice") == repeated
    assert generate(shop, headers=key, orderRef="twice") == repeated
    assert generate(shop, orderRef="twice", pin="2581")["status"] == 104
    assert shop.wallet() == held(COST)
    redeem(shop, first["cashcode"])
    assert generate(shop, orderRef="twice")["txnStatus"] == "successful"


def test_a_transfer_may_have_the_same_order_ref(shop: MerchantClient) -> None:
    assert shop.transfer(orderRef="both")["status"] == 200
    assert generate(shop, orderRef="both")["status"] == 200


# --- how it ends otherwise ------------------------------------------------------------------------------------


def test_three_wrong_pins_lock_it_and_its_money_is_back(shop: MerchantClient) -> None:
    made = generate(shop)
    answers = [redeem(shop, made["cashcode"], pin="0000") for _ in range(4)]
    assert [answer["status"] for answer in answers] == [203, 203, 203, 104]
    assert without_codes(redeem(shop, made["cashcode"])) == {"status": 104, "message": "This cashcode is locked"}
    assert (verify(shop, made["orderRef"])["state"], shop.wallet()) == ("locked", held(0))


def test_expiry_comes_by_business_time(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    made = generate(shop)
    shop.advance(minutes=1439)
    assert verify(shop, made["orderRef"])["state"] == "active"
    assert shop.advance(minutes=1)["ran"] == {"cashcode": 1}
    assert (verify(shop, made["orderRef"])["state"], shop.wallet()) == ("expired", held(0))
    assert without_codes(redeem(shop, made["cashcode"])) == {"status": 104, "message": "This cashcode has expired"}
    assert cancel(shop, made["orderRef"])["status"] == 104


def test_cancel_gives_the_money_back(shop: MerchantClient) -> None:
    made = generate(shop)
    done = cancel(shop, made["orderRef"])
    assert (done["status"], done["state"], done["txnStatus"]) == (200, "cancelled", "failed")
    assert cancel(shop, made["orderRef"]) == done
    assert shop.wallet() == held(0)
    assert without_codes(redeem(shop, made["cashcode"])) == {"status": 104, "message": "This cashcode was cancelled"}


def test_each_end_has_one_event_found_by_its_order_ref(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    codes = {way: generate(shop, orderRef=way) for way in ("paid", "cancelled", "locked", "expired")}
    redeem(shop, codes["paid"]["cashcode"])
    cancel(shop, "cancelled")
    for _ in range(3):
        redeem(shop, codes["locked"]["cashcode"], pin="0000")
    shop.advance(days=1)
    for way in codes:
        [line] = shop.put("resources", inquire="events", txnRef=way).body["data"]
        expected = ("successful", "5000.00") if way == "paid" else ("failed", "0.00")
        payload = line["payload"]
        assert (payload["txnStatus"], payload["chargedAmount"]) == expected
        assert (payload["txnRef"], payload["orderRef"], payload["paymentMethod"]) == (way, way, "cashcode")
    story = shop.put("sandbox", action="explain", orderRef="paid").body["data"]
    assert [line["what"] for line in story] == ["requested", "hold", "successful", *["posting"] * 3, "event"]


# --- guessing, and many at once ----------------------------------------------------------------------------------


def test_guessing_codes_is_bounded_for_each_merchant(open_shop: Callable[..., MerchantClient]) -> None:
    shop, other = open_shop(now=START), open_shop(now=START)
    made = generate(shop)
    assert without_codes(redeem(other, made["cashcode"])) == {"status": 104, "message": "Invalid Cashcode"}
    for n in range(20):
        assert without_codes(redeem(shop, f"{n:010d}")) == {"status": 104, "message": "Invalid Cashcode"}
    blocked = redeem(shop, made["cashcode"])
    assert (blocked["status"], blocked["message"][:14]) == (104, "Too many tries")
    theirs = generate(other)
    assert redeem(other, theirs["cashcode"])["status"] == 200
    shop.advance(minutes=10)
    assert redeem(shop, made["cashcode"])["status"] == 200


def all_at_once(
    deployment: Deployment, shop: MerchantClient, asked: list[Callable[[MerchantClient], Any]]
) -> list[Any]:
    def ask(one: Callable[[MerchantClient], Any]) -> Any:
        with deployment.connect() as wire:
            return one(MerchantClient(wire, shop.mid, shop.key))

    with ThreadPoolExecutor(len(asked)) as pool:
        return list(pool.map(ask, asked))


def test_of_a_hundred_tellers_at_once_one_is_paid(shop: MerchantClient, deployment: Deployment) -> None:
    code = generate(shop)["cashcode"]
    answers = all_at_once(deployment, shop, [lambda teller: redeem(teller, code)] * 100)
    assert Counter(answer["status"] for answer in answers) == {200: 1, 104: 99}
    assert {answer["message"] for answer in answers} == {"Cash was paid", "This cashcode was used"}
    assert shop.wallet() == spent(COST)


def test_redeem_cancel_and_wrong_pins_at_once_end_it_once(shop: MerchantClient, deployment: Deployment) -> None:
    for _ in range(5):
        before = shop.wallet().balance
        made = generate(shop)
        code, order_ref = made["cashcode"], made["orderRef"]
        asked: list[Callable[[MerchantClient], Any]] = [
            *[lambda teller, code=code: redeem(teller, code)] * 4,
            *[lambda teller, code=code: redeem(teller, code, pin="0000")] * 4,
            *[lambda owner, order_ref=order_ref: cancel(owner, order_ref)] * 4,
        ]
        answers = all_at_once(deployment, shop, asked)
        paid = [answer for answer in answers if answer.get("txnStatus") == "successful"]
        state = verify(shop, order_ref)["state"]
        assert len(paid) == (state == "redeemed")
        assert state in ("redeemed", "cancelled", "locked")
        assert shop.wallet().balance == before - (COST if paid else 0)
        assert shop.wallet().held == 0


# --- crossings ----------------------------------------------------------------------------------------------


def test_a_pin_that_differs_in_its_last_digit_alone_draws_nothing(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    code = generate(shop, orderRef="cash-1")["cashcode"]
    assert redeem(shop, code, pin="2581")["status"] == 203
    assert shop.wallet() == held(COST)
    assert redeem(shop, code, pin="2580")["txnStatus"] == "successful"


def test_a_dry_run_of_a_code_tells_what_it_holds_and_gives_back(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    shown = generate(shop, orderRef="cash-1", dry_run=True)
    assert (shown["dry_run"], shown["orderRef"], "cashcode" in shown) == (True, "cash-1", False)
    assert [(figure["what"], figure["amount"]) for figure in shown["explained"]] == [
        ("amount", "5000.00"),
        ("fee", "100.00"),
        ("VAT", "7.50"),
        ("held", "5107.50"),
    ]
    assert (shop.wallet(), without_codes(verify(shop, "cash-1"))) == (spent(0), UNKNOWN)
    generate(shop, orderRef="cash-1")
    assert generate(shop, orderRef="cash-1", dry_run=True)["explained"] == []
    ended = shop.put("cashcode", action="cancel", orderRef="cash-1", dry_run=True).body
    assert [(figure["what"], figure["amount"]) for figure in ended["explained"]] == [
        ("state after", "cancelled"),
        ("released", "5107.50"),
    ]
    assert shop.wallet() == held(COST)
    for dry_run in (True, False):
        assert generate(shop, amount="9999999.00", dry_run=dry_run)["status"] == 301
        assert generate(shop, amount="1.00", orderRef="cash-1", dry_run=dry_run)["status"] == 104


def test_cash_in_another_currency_is_refused(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    refused = generate(shop, currency="USD")
    assert (refused["status"], [fault["field"] for fault in refused["errors"]]) == (104, ["currency"])
    assert shop.wallet() == spent(0)
    assert generate(shop, currency="NGN", dry_run=False)["txnStatus"] == "pending"


def test_a_code_that_was_not_used_shows_no_fee(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    generate(shop, orderRef="cash-1")
    cancel(shop, "cash-1")
    found = verify(shop, "cash-1")
    assert (found["txnStatus"], found["fee"], found["vat"]) == ("failed", "0.00", "0.00")


def test_a_code_is_paid_up_to_the_second_it_expires_and_not_after(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    first, second = (generate(shop, orderRef=name, life_time=5)["cashcode"] for name in ("first", "second"))
    shop.advance(seconds=299)
    assert redeem(shop, first)["txnStatus"] == "successful"
    shop.advance(seconds=1)
    assert redeem(shop, second)["status"] == 104
    assert [verify(shop, name)["state"] for name in ("first", "second")] == ["redeemed", "expired"]
    assert shop.wallet() == spent(COST)


def test_a_code_that_expires_while_it_is_redeemed_ends_once(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    """Tellers draw while business time passes the expiry: whoever is first decides, and the other finds it ended."""
    shop = open_shop(now=START)
    codes = {name: generate(shop, orderRef=name, life_time=5)["cashcode"] for name in map(str, range(8))}

    def draw(name: str) -> bool:
        with deployment.connect() as wire:
            return bool(redeem(MerchantClient(wire, shop.mid, shop.key), codes[name])["status"] == 200)

    def expire() -> None:
        with deployment.connect() as wire:
            MerchantClient(wire, shop.mid, shop.key).advance(minutes=6)

    with ThreadPoolExecutor(4) as pool:
        expiring = pool.submit(expire)
        drawn = dict(zip(codes, pool.map(draw, codes), strict=True))
        expiring.result()
    states = {name: verify(shop, name)["state"] for name in codes}
    assert states == {name: "redeemed" if paid else "expired" for name, paid in drawn.items()}
    assert shop.wallet() == spent(COST * sum(drawn.values()))
