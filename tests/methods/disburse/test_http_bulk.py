"""Bulk transfers over HTTP: each order is accepted or refused on its own."""

import re
import time
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.merchant_client import MerchantClient, Wallet, without_codes
from tests.running import Deployment
from tests.walk.bounds import BULK_BODY, BULK_ORDERS

OPENING = 1_000_000_000
START = "2026-01-05T09:30:00+01:00"
PATIENCE_SECONDS = 60.0
BATCH_REF = re.compile(r"GP\|[A-Z]{2}\|[0-9]{9}\|[0-9]{8}[A-Z]")


def order(order_ref: str | None, **fields: Any) -> dict[str, Any]:
    request = {"amount": "1500.00", "bankcode": "058", "accountnumber": "0000000000", "orderRef": order_ref, **fields}
    return {name: value for name, value in request.items() if value is not None}


def spent(amount: int) -> Wallet:
    return Wallet(OPENING - amount, OPENING - amount, 0)


def test_a_bulk_answers_one_line_for_each_order(open_shop: Callable[..., MerchantClient]) -> None:
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


def wait_until_nothing_is_held(shop: MerchantClient) -> None:
    """Waits until the worker has processed the orders. After a timeout the test's own assertion fails."""
    until = time.monotonic() + PATIENCE_SECONDS
    while shop.wallet().held and time.monotonic() < until:
        time.sleep(0.05)


def test_orders_of_a_bulk_are_sent_without_a_verify_request(shop: MerchantClient) -> None:
    shop.bulk([order("a"), order("b", accountnumber="0000000500")])
    wait_until_nothing_is_held(shop)
    assert (shop.status_of("a"), shop.status_of("b")) == ("successful", "failed")
    assert shop.wallet() == spent(151_075)


def test_bad_orders_fail_with_their_reason_and_the_others_go(open_shop: Callable[..., MerchantClient]) -> None:
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
    assert [lines[n]["orderRef"] for n in (0, 1, 2, 6)] == ["first", "no bank", "two faults", "last"]
    assert [lines[n]["orderRef"] for n in (3, 4, 5)] == [lines[n]["txnRef"] for n in (3, 4, 5)]
    assert lines[1]["message"].startswith("bankcode: ")
    assert "amount: " in lines[2]["message"]
    assert "accountnumber: " in lines[2]["message"]
    assert all(line["message"] for line in lines)
    shop.advance(seconds=0)
    assert shop.wallet() == spent(2 * 151_075)


def test_every_refused_order_of_a_bulk_is_a_failed_transfer_that_verify_knows(
    open_shop: Callable[..., MerchantClient],
) -> None:
    shop = open_shop(now=START)
    orders = [order("no bank", bankcode="999"), order("short", amount="10000000.00"), order(None, amount="x"), 5]
    body = shop.bulk(orders)
    assert body["status"] == 202
    assert body["message"].startswith("No order of this bulk was accepted: 4 failed")
    for line, amount in zip(body["data"], ("1500.00", "10000000.00", "0.00", "0.00"), strict=True):
        for reference in (line["orderRef"], line["txnRef"]):
            assert shop.verify(reference) == {
                "status": 200,
                "txnStatus": "failed",
                "txnRef": line["txnRef"],
                "orderRef": line["orderRef"],
                "amount": amount,
                "fee": "0.00",
                "vat": "0.00",
                "message": line["message"],
            }
    events = shop.put("resources", inquire="events").body["data"]
    assert {event["txnRef"] for event in events} == {line["txnRef"] for line in body["data"]}
    assert shop.wallet() == spent(0)


def test_a_refused_order_sent_again_stays_refused_and_a_new_orderref_goes(
    open_shop: Callable[..., MerchantClient],
) -> None:
    shop = open_shop(now=START)
    big = order("big", amount="10000000.00")
    (first,) = shop.bulk([big])["data"]
    assert "under a new orderRef" in first["message"]
    shop.put("sandbox", action="fund_wallet", currency="NGN", amount="1000.00")
    assert shop.bulk([big])["data"] == [first]
    (corrected,) = shop.bulk([order("big", amount="1.00")])["data"]
    assert (corrected["txnStatus"], "txnRef" in corrected) == ("conflict", False)
    assert shop.status_of("big") == "failed"
    assert shop.bulk([{**big, "orderRef": "big again"}])["data"][0]["txnStatus"] == "processing"


def test_a_reference_twice_in_one_bulk_is_a_conflict_of_the_second(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    body = shop.bulk([order("twice"), order("twice"), order("twice", amount="1.00")])
    lines = body["data"]
    assert [line["txnStatus"] for line in lines] == ["processing", "conflict", "conflict"]
    assert ["txnRef" in line for line in lines] == [True, False, False]
    assert body["message"].startswith("Bulk transfer accepted in part: 1 of 3 orders; 0 failed, 2 in conflict")
    shop.advance(seconds=0)
    assert shop.status_of("twice") == "successful"
    assert shop.wallet() == spent(151_075)


def test_a_reference_used_before_with_another_content_is_a_conflict(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    first = shop.transfer(orderRef="before")
    lines = shop.bulk([order("before"), order("before ", amount="2.00"), order("new")])["data"]
    assert (lines[0]["txnRef"], lines[0]["txnStatus"]) == (first["txnRef"], "successful")
    other = shop.bulk([order("before", amount="2.00")])["data"][0]
    assert (other["txnStatus"], "txnRef" in other) == ("conflict", False)
    assert shop.status_of("before") == "successful"
    shop.advance(seconds=0)
    assert shop.wallet() == spent(2 * 151_075 + 1_275)


def test_a_later_bulk_with_a_changed_order_says_conflict_and_verify_tells_the_first(
    open_shop: Callable[..., MerchantClient],
) -> None:
    shop = open_shop(now=START)
    shop.bulk([order("a"), order("b", accountnumber="0000000500")])
    shop.advance(seconds=0)
    later = shop.bulk([order("a", amount="2.00"), order("b", amount="2.00", accountnumber="0000000500"), order("c")])
    assert [line["txnStatus"] for line in later["data"]] == ["conflict", "conflict", "processing"]
    assert (shop.status_of("a"), shop.status_of("b")) == ("successful", "failed")
    shop.advance(seconds=0)
    assert shop.wallet() == spent(2 * 151_075)


def test_a_bulk_with_a_conflict_replays_its_reply_under_its_idempotency_key(
    open_shop: Callable[..., MerchantClient],
) -> None:
    shop = open_shop(now=START)
    fields = {
        "action": "transfer",
        "type": "bulk",
        "data": [order("twice"), order("twice"), order("x", bankcode="999")],
    }
    key = {"idempotency-key": "bulk-1"}
    first = shop.send_fields("disburse", fields, headers=key)
    shop.advance(seconds=0)
    again = shop.send_fields("disburse", fields, headers=key)
    assert again.body == first.body
    assert [line["txnStatus"] for line in first.body["data"]] == ["processing", "conflict", "failed"]
    assert shop.wallet() == spent(151_075)
    changed = shop.send_fields("disburse", {**fields, "data": [order("other")]}, headers=key)
    assert changed.body["status"] == 104


def test_a_bulk_repeated_while_the_rail_is_away_sends_each_order_once(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    shop.put("sandbox", action="fault", rail="bank", kind="unavailable", times=2)
    orders = [order("a"), order("b"), order("bad", bankcode="999")]
    first = shop.bulk(orders)["data"]
    shop.advance(seconds=1)
    again = shop.bulk(orders)["data"]
    assert [line["txnRef"] for line in again] == [line["txnRef"] for line in first]
    assert [line["txnStatus"] for line in again] == ["processing", "processing", "failed"]
    shop.advance(minutes=1)
    assert [line["txnStatus"] for line in shop.bulk(orders)["data"]] == ["successful", "successful", "failed"]
    assert shop.wallet() == spent(2 * 151_075)


# --- a bulk by its batchRef -------------------------------------------------------------------------------------


def test_a_bulk_is_verified_by_its_batchref(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    earlier = shop.transfer(orderRef="earlier")
    orders = [
        order("a"),
        order("b", accountnumber="0000000500"),
        order("a"),
        order("c", bankcode="9"),
        order("earlier"),
    ]
    sent = shop.bulk(orders)
    found = shop.verify(sent["batchRef"])
    assert (found["status"], found["batchRef"], found["txnStatus"]) == (200, sent["batchRef"], "processing")
    shop.advance(seconds=0)
    found = shop.put("disburse", action="verify", batchRef=sent["batchRef"]).body
    assert found == shop.verify(sent["batchRef"])
    assert found["txnStatus"] == "partial"
    lines = found["data"]
    assert [line["orderRef"] for line in lines] == ["a", "b", "a", "c", "earlier"]
    assert [line["txnStatus"] for line in lines] == ["successful", "failed", "conflict", "failed", "successful"]
    assert [line.get("txnRef") for line in lines] == [line.get("txnRef") for line in sent["data"]]
    assert lines[4]["txnRef"] == earlier["txnRef"]
    assert [line.get("fee") for line in lines] == ["10.00", "0.00", None, "0.00", "10.00"]


def test_the_state_of_a_whole_bulk_follows_from_its_orders(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    good = shop.bulk([order("a"), order("b")])["batchRef"]
    bad = shop.bulk([order("c", accountnumber="0000000500"), order("d", bankcode="999")])["batchRef"]
    clash = shop.bulk([order("a", amount="2.00")])["batchRef"]
    shop.advance(seconds=0)
    assert [shop.status_of(ref) for ref in (good, bad, clash)] == ["successful", "failed", "conflict"]


def test_a_reference_of_ours_wins_over_another_transfers_order_ref(shop: MerchantClient) -> None:
    first = shop.transfer(orderRef="first", amount="10.00")
    other = shop.transfer(orderRef=first["txnRef"], amount="20.00")
    assert shop.verify(first["txnRef"])["amount"] == "10.00"
    found = shop.put("resources", inquire="transaction", reference=first["txnRef"]).body["data"]
    assert found["amount"] == "10.00"
    own = shop.put("disburse", action="verify", orderRef=first["txnRef"]).body
    assert (own["txnRef"], own["amount"]) == (other["txnRef"], "20.00")
    batch = shop.bulk([order("a")])["batchRef"]
    hidden = shop.transfer(orderRef=batch, amount="30.00")
    assert shop.verify(batch)["batchRef"] == batch
    assert shop.put("disburse", action="verify", orderRef=batch).body["txnRef"] == hidden["txnRef"]


def test_another_merchants_batchref_is_unknown(open_shop: Callable[..., MerchantClient]) -> None:
    shop, other = open_shop(now=START), open_shop(now=START)
    batch = shop.bulk([order("a")])["batchRef"]
    unknown = {"status": 104, "message": "Invalid Transaction Reference"}
    assert without_codes(other.verify(batch)) == unknown
    assert without_codes(other.put("disburse", action="verify", batchRef=batch).body) == unknown
    assert without_codes(other.put("disburse", action="verify", batchRef="nothing").body) == unknown


# --- the rest ---------------------------------------------------------------------------------------------------


def test_the_same_bulk_again_moves_nothing(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    first = shop.bulk([order("a"), order("b")])["data"]
    again = shop.bulk([order("a"), order("b")])["data"]
    assert [line["txnRef"] for line in again] == [line["txnRef"] for line in first]
    shop.advance(seconds=0)
    assert shop.wallet() == spent(2 * 151_075)


def test_orders_without_a_reference_get_one_each(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    lines = shop.bulk([order(None), order(None)])["data"]
    assert lines[0]["orderRef"] != lines[1]["orderRef"]
    shop.advance(seconds=0)
    assert [shop.verify(line["orderRef"])["txnRef"] for line in lines] == [line["txnRef"] for line in lines]
    assert shop.wallet() == spent(2 * 151_075)


def test_an_order_the_wallet_does_not_cover_fails_and_those_after_it_go(
    open_shop: Callable[..., MerchantClient],
) -> None:
    shop = open_shop(now=START)
    orders = [order("fits", amount="9000000.00"), order("does not", amount="2000000.00"), order("fits too")]
    lines = shop.bulk(orders)["data"]
    assert [line["txnStatus"] for line in lines] == ["processing", "failed", "processing"]
    assert "wallet" in lines[1]["message"]
    shop.advance(seconds=0)
    assert shop.status_of("does not") == "failed"
    assert shop.wallet() == spent(900_005_375 + 151_075)


def test_a_thousand_orders_go_and_one_more_is_refused_whole(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    orders = [order(f"order {n}", amount="100.00") for n in range(1001)]
    taken = dict[str, Any]()
    for size, is_within in sorted(BULK_ORDERS.sides, reverse=True):
        # The same orders again, one less, are answered with what became of them.
        reply = shop.bulk(orders[:size])
        assert reply["status"] == (202 if is_within else 104), size
        if is_within:
            taken = taken or reply
        else:
            assert [fault["field"] for fault in reply["errors"]] == ["data"]
            assert shop.wallet() == spent(0)
    assert {line["txnStatus"] for line in taken["data"]} == {"processing"}
    assert len({line["txnRef"] for line in taken["data"]}) == 1000
    wait_until_nothing_is_held(shop)
    assert [shop.status_of(f"order {n}") for n in (0, 499, 999)] == ["successful"] * 3
    assert shop.verify("order 1000")["status"] == 104
    assert shop.wallet() == spent(1000 * 11_075)


def test_a_bulk_needs_a_list_of_orders(shop: MerchantClient) -> None:
    wrong: Any
    for wrong in ({}, {"data": []}, {"data": None}, {"data": {}}, {"data": "x"}, {"data": 5}):
        body = shop.put("disburse", action="transfer", type="bulk", **wrong).body
        assert body["status"] == 104, wrong
        assert [fault["field"] for fault in body["errors"]] == ["data"], wrong


def test_a_bulk_of_a_megabyte_is_read_and_more_is_not(shop: MerchantClient) -> None:
    for size, is_within in BULK_BODY.sides:
        body = msgspec.json.encode({"action": "transfer", "type": "bulk", "data": [order(f"{size}")], "filling": ""})
        body = body.replace(b'""', b'"' + b"x" * (size - len(body)) + b'"')
        assert len(body) == size
        reply = shop.send("disburse", body)
        assert (reply.http == 413, reply.body["status"]) == (not is_within, 202 if is_within else 103), size


@pytest.mark.parametrize("text", ["Bulk", "BULK", " bulk "])
def test_the_type_bulk_in_other_capitals_is_refused_with_its_spelling(shop: MerchantClient, text: str) -> None:
    body = shop.put("disburse", action="transfer", type=text, data=[order("a")]).body
    fault = {"field": "type", "reason": "must be written exactly as bulk", "code": "field_not_a_choice", "value": text}
    assert (body["status"], body["errors"]) == (104, [fault])
    assert "type: must be written exactly as bulk" in body["message"]
    assert shop.put("disburse", action="verify", txnRef="a").body["status"] == 104


def test_a_bulk_and_its_orders_are_verified_by_their_own_names(shop: MerchantClient) -> None:
    sent = shop.put("disburse", action="transfer", type="bulk", data=[order("a")]).body
    shop.advance(seconds=0)
    by_name = shop.put("disburse", action="verify", orderRef="a").body
    assert by_name == shop.put("disburse", action="verify", txnRef="a").body
    assert by_name["orderRef"] == "a"
    assert shop.put("disburse", action="verify", batchRef=sent["batchRef"]).body["data"][0]["orderRef"] == "a"
    [fault] = without_codes(shop.put("disburse", action="verify").body["errors"])
    assert fault == {"field": "txnRef", "reason": "required, or orderRef, or batchRef"}


MISSPELLED = {"amuont": "1.00", "bankcod": "058", "acountnumber": "0", **{f"amounx{n}": 1 for n in range(40)}}
LONG_BULKS: dict[str, dict[str, Any]] = {
    "good orders": {"amount": "1.00", "bankcode": "058", "accountnumber": "0000000000", "narration": "x" * 60},
    "orders with every field at fault": {"amount": "-1", "bankcode": "999", "accountnumber": "x", "currency": "USD"},
    "orders whose fields are misspelled": MISSPELLED,
}


@pytest.mark.parametrize("order", LONG_BULKS.values(), ids=LONG_BULKS)
def test_a_thousand_orders_do_not_hold_up_others(shop: MerchantClient, deployment: Deployment, order: Any) -> None:
    """A step of the event loop that takes too long is a complaint."""
    deployment.new_stderr()
    sent = shop.put("disburse", action="transfer", type="bulk", data=[order] * 1000)
    assert len(sent.body["data"]) == 1000
    verified = shop.put("disburse", action="verify", txnRef=sent.body["batchRef"])
    assert len(verified.body["data"]) == 1000
    assert deployment.new_stderr() == ""


def test_the_orders_of_a_bulk_count_against_the_rate_limit(deployment: Deployment) -> None:
    mid, key, _ = (line.split()[1] for line in deployment.run_command("merchant", "add", "Ada Stores").splitlines())
    deployment.run_command("merchant", "set", mid, "--rate", "1,20")
    with deployment.connect() as wire:
        shop = MerchantClient(wire, mid, key)
        sent = shop.send_fields("disburse", {"action": "transfer", "type": "bulk", "data": [order(None)] * 900})
        again = shop.send_fields("resources", {"inquire": "wallet"})
    assert (sent.http, sent.body["status"]) == (200, 202)
    assert again.http == 429
    assert int(again.headers["retry-after"]) > 800


def test_the_reply_to_a_thousand_bad_orders_is_limited_and_verify_tells_the_rest(shop: MerchantClient) -> None:
    orders = [{**LONG_BULKS["orders with every field at fault"], "orderRef": f"{n}"} for n in range(1000)]
    sent = shop.send_fields("disburse", {"action": "transfer", "type": "bulk", "data": orders})
    lines = sent.body["data"]
    assert len(sent.raw) < 192 * 1024
    assert [line["txnStatus"] for line in lines] == ["failed"] * 1000
    assert lines[0]["message"].startswith("amount: digits")
    assert lines[-1]["message"] == "amount, currency, accountnumber, bankcode: not valid; verify tells why"
    assert shop.put("disburse", action="verify", txnRef="999").body["message"] == lines[0]["message"]
