"""Bulk transfers over HTTP: each order stands alone. (D7, D9, D28)"""

import re
import time
from collections.abc import Callable
from typing import Any

import msgspec

from tests.shop import Shop, Wallet

OPENING = 1_000_000_000
START = "2026-01-05T09:30:00+01:00"
PATIENCE_SECONDS = 60.0
BATCH_REF = re.compile(r"GP\|[A-Z]{2}\|[0-9]{9}\|[0-9]{8}[A-Z]")


def order(order_ref: str | None, **fields: Any) -> dict[str, Any]:
    said = {"amount": "1500.00", "bankcode": "058", "accountnumber": "0000000000", "orderRef": order_ref, **fields}
    return {name: value for name, value in said.items() if value is not None}


def spent(amount: int) -> Wallet:
    return Wallet(OPENING - amount, OPENING - amount, 0)


def test_a_bulk_answers_one_line_for_each_order(open_shop: Callable[..., Shop]) -> None:
    shop = open_shop(now=START)
    http, body = shop.put("disburse", action="transfer", type="bulk", data=[order("a"), order("b")])
    assert http == 200
    assert body == {"status": 202, "batchRef": body["batchRef"], "message": body["message"], "data": body["data"]}
    assert BATCH_REF.fullmatch(body["batchRef"])
    assert [set(line) for line in body["data"]] == [{"orderRef", "txnRef", "txnStatus", "message"}] * 2
    assert [(line["orderRef"], line["txnStatus"]) for line in body["data"]] == [
        ("a", "processing"),
        ("b", "processing"),
    ]
    shop.advance(seconds=0)
    for line in body["data"]:
        found = shop.verify(line["orderRef"])
        assert (found["txnRef"], found["txnStatus"]) == (line["txnRef"], "successful")
    assert shop.wallet() == spent(2 * 151_075)


def wait_until_nothing_is_held(shop: Shop) -> None:
    """The worker takes the orders up by itself; a test that waits in vain fails by what it asserts next."""
    until = time.monotonic() + PATIENCE_SECONDS
    while shop.wallet().held and time.monotonic() < until:
        time.sleep(0.05)


def test_orders_of_a_bulk_are_sent_without_being_looked_at(shop: Shop) -> None:
    shop.bulk([order("a"), order("b", accountnumber="0000000500")])
    wait_until_nothing_is_held(shop)
    assert (shop.status_of("a"), shop.status_of("b")) == ("successful", "failed")
    assert shop.wallet() == spent(151_075)


def test_bad_orders_fail_with_their_reason_and_the_others_go(open_shop: Callable[..., Shop]) -> None:
    shop = open_shop(now=START)
    orders = [
        order("first"),
        order("no bank", bankcode="999"),
        order("two faults", amount="-1", accountnumber="5"),
        "not an object",
        order(None, amount="x"),
        order(7),  # type: ignore[arg-type]
        order("last"),
    ]
    lines = shop.bulk(orders)["data"]
    assert [line["txnStatus"] for line in lines] == ["processing", *["failed"] * 5, "processing"]
    assert [line.get("orderRef") for line in lines] == ["first", "no bank", "two faults", None, None, None, "last"]
    assert ["txnRef" in line for line in lines] == [True, *[False] * 5, True]
    assert lines[1]["message"].startswith("bankcode: ")
    assert "amount: " in lines[2]["message"]
    assert "accountnumber: " in lines[2]["message"]
    assert all(line["message"] for line in lines)
    shop.advance(seconds=0)
    assert shop.verify("no bank")["status"] == 104
    assert shop.wallet() == spent(2 * 151_075)


def test_a_reference_twice_in_one_bulk_is_a_repeat_of_the_first(open_shop: Callable[..., Shop]) -> None:
    shop = open_shop(now=START)
    lines = shop.bulk([order("twice"), order("twice"), order("twice", amount="1.00")])["data"]
    assert lines[0] == lines[1]
    assert (lines[2]["orderRef"], lines[2]["txnStatus"], "txnRef" in lines[2]) == ("twice", "failed", False)
    shop.advance(seconds=0)
    assert shop.status_of("twice") == "successful"
    assert shop.wallet() == spent(151_075)


def test_a_reference_used_before_the_bulk_is_a_repeat_too(open_shop: Callable[..., Shop]) -> None:
    shop = open_shop(now=START)
    first = shop.transfer(orderRef="before")
    lines = shop.bulk([order("before"), order("before ", amount="2.00"), order("new")])["data"]
    assert (lines[0]["txnRef"], lines[0]["txnStatus"]) == (first["txnRef"], "successful")
    other = shop.bulk([order("before", amount="2.00")])["data"][0]
    assert (other["txnStatus"], "txnRef" in other) == ("failed", False)
    shop.advance(seconds=0)
    assert shop.wallet() == spent(2 * 151_075 + 1_275)


def test_the_same_bulk_again_moves_nothing(open_shop: Callable[..., Shop]) -> None:
    shop = open_shop(now=START)
    first = shop.bulk([order("a"), order("b")])["data"]
    again = shop.bulk([order("a"), order("b")])["data"]
    assert [line["txnRef"] for line in again] == [line["txnRef"] for line in first]
    shop.advance(seconds=0)
    assert shop.wallet() == spent(2 * 151_075)


def test_orders_without_a_reference_get_one_each(open_shop: Callable[..., Shop]) -> None:
    shop = open_shop(now=START)
    lines = shop.bulk([order(None), order(None)])["data"]
    assert lines[0]["orderRef"] != lines[1]["orderRef"]
    shop.advance(seconds=0)
    assert [shop.verify(line["orderRef"])["txnRef"] for line in lines] == [line["txnRef"] for line in lines]
    assert shop.wallet() == spent(2 * 151_075)


def test_an_order_the_wallet_does_not_cover_fails_and_those_after_it_go(open_shop: Callable[..., Shop]) -> None:
    shop = open_shop(now=START)
    orders = [order("fits", amount="9000000.00"), order("does not", amount="2000000.00"), order("fits too")]
    lines = shop.bulk(orders)["data"]
    assert [line["txnStatus"] for line in lines] == ["processing", "failed", "processing"]
    assert "txnRef" not in lines[1]
    assert "wallet" in lines[1]["message"]
    shop.advance(seconds=0)
    assert shop.verify("does not")["status"] == 104
    assert shop.wallet() == spent(900_005_375 + 151_075)


def test_a_thousand_orders_go_and_one_more_is_refused_whole(open_shop: Callable[..., Shop]) -> None:
    shop = open_shop(now=START)
    orders = [order(f"order {n}", amount="100.00") for n in range(1001)]
    refused = shop.bulk(orders)
    assert refused["status"] == 104
    assert [fault["field"] for fault in refused["errors"]] == ["data"]
    assert shop.wallet() == spent(0)
    taken = shop.bulk(orders[:1000])
    assert taken["status"] == 202
    assert {line["txnStatus"] for line in taken["data"]} == {"processing"}
    assert len({line["txnRef"] for line in taken["data"]}) == 1000
    wait_until_nothing_is_held(shop)
    assert [shop.status_of(f"order {n}") for n in (0, 499, 999)] == ["successful"] * 3
    assert shop.verify("order 1000")["status"] == 104
    assert shop.wallet() == spent(1000 * 11_075)


def test_a_bulk_needs_a_list_of_orders(shop: Shop) -> None:
    wrong: Any
    for wrong in ({}, {"data": []}, {"data": None}, {"data": {}}, {"data": "x"}, {"data": 5}):
        body = shop.put("disburse", action="transfer", type="bulk", **wrong).body
        assert body["status"] == 104, wrong
        assert [fault["field"] for fault in body["errors"]] == ["data"], wrong


def test_a_bulk_of_a_megabyte_is_read_and_more_is_not(shop: Shop) -> None:
    body = msgspec.json.encode({"action": "transfer", "type": "bulk", "data": [order("small")], "filling": ""})
    most = body.replace(b'""', b'"' + b"x" * (1024 * 1024 - len(body)) + b'"')
    assert len(most) == 1024 * 1024
    assert shop.send("disburse", most).body["status"] == 202
    heard = shop.send("disburse", most + b" ")
    assert (heard.http, heard.body["status"]) == (413, 103)
