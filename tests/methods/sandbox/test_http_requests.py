"""The request log over HTTP: what it has of each request, what it leaves out, and how it is read and followed."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.running import Deployment

RAW = "select string_agg(encode(sealed, 'escape'), ' ') from request_record where mid = $1"


def read_log(shop: MerchantClient, **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = shop.send_fields("sandbox", {"action": "requests", **fields}).body
    assert body["status"] == 200, body
    return body


def test_a_request_and_its_reply_are_in_the_log_at_once(shop: MerchantClient) -> None:
    reply = shop.transfer(orderRef="logged-1", amount="1500.00")
    [entry] = read_log(shop)["data"]
    assert (entry["path"], entry["action"], entry["http_status"], entry["result"]) == (
        "/disburse",
        "transfer",
        200,
        200,
    )
    assert json.loads(entry["request_body"])["orderRef"] == "logged-1"
    # The token of the receipt's address lets everyone see it.
    masked = reply["receiptURL"].rpartition("/")[0] + "/***"
    assert json.loads(entry["reply_body"]) == {**reply, "receiptURL": masked}


def test_refused_requests_are_in_the_log_with_their_faults(shop: MerchantClient) -> None:
    shop.transfer()
    shop.put("disburse", action="transfer", amount="x")
    shop.put("disburse", action="tarnsfer")
    entries = read_log(shop, refused=True)["data"]
    assert [entry["result"] for entry in entries] == [102, 104]
    assert "did you mean" in entries[0]["reply_body"]
    assert json.loads(entries[1]["request_body"]) == {"action": "transfer", "amount": "x"}


def test_secrets_are_neither_in_the_log_nor_in_its_table(shop: MerchantClient, deployment: Deployment) -> None:
    card = {"card_no": "5123450000000008", "expiry_month": "12", "expiry_year": "30", "ccv": "739", "pin": "7391"}
    shop.put("payment", action="charge", paymentType="card", card=card, note="5123450000000008")
    [entry] = read_log(shop)["data"]
    for text in (entry["request_body"], entry["reply_body"]):
        assert "5123450000000008" not in text
        assert "739" not in text
    assert json.loads(entry["request_body"])["card"] == dict.fromkeys(card, "***")
    [[stored]] = deployment.fetch(RAW, shop.mid)
    assert "charge" not in stored


def test_the_log_is_searched_by_any_text_of_both_bodies(shop: MerchantClient) -> None:
    shop.transfer(orderRef="search-me-1")
    shop.transfer(orderRef="other-1", narration="SEARCH-ME too")
    shop.transfer(orderRef="other-2")
    found = read_log(shop, search="search-me")["data"]
    assert [json.loads(entry["request_body"])["orderRef"] for entry in found] == ["other-1", "search-me-1"]
    assert read_log(shop, search="nothing like it")["data"] == []


def test_the_log_is_read_page_by_page_and_followed_in_order(shop: MerchantClient) -> None:
    for number in range(5):
        shop.transfer(orderRef=f"page-{number}")
    first = read_log(shop, limit=2)
    second = read_log(shop, limit=2, before=first["last"])
    third = read_log(shop, limit=2, before=second["last"])
    assert [first["more"], second["more"], third["more"]] == [True, True, False]
    pages = [*first["data"], *second["data"], *third["data"]]
    assert order_refs(pages) == [f"page-{number}" for number in (4, 3, 2, 1, 0)]
    after = read_log(shop, after=pages[-1]["number"], limit=3)
    assert order_refs(after["data"]) == ["page-1", "page-2", "page-3"]
    assert (after["more"], after["last"]) == (True, after["data"][-1]["number"])
    nothing = read_log(shop, after=pages[0]["number"])
    assert (nothing["data"], nothing["last"], nothing["more"]) == ([], pages[0]["number"], False)


@pytest.mark.parametrize("wanted", [{"search": "follow-me"}, {"refused": True}])
def test_following_goes_on_behind_requests_that_do_not_match(shop: MerchantClient, wanted: dict[str, Any]) -> None:
    for number in range(3):
        shop.transfer(orderRef=f"other-{number}")
    newest = read_log(shop, limit=1)["last"]
    nothing = read_log(shop, after=0, **wanted)
    assert (nothing["data"], nothing["last"], nothing["more"]) == ([], newest, False)
    for number in range(3):
        shop.transfer(orderRef=f"follow-me-{number}", amount="nothing")
    shop.transfer(orderRef="other-3")
    begun = read_log(shop, after=nothing["last"], limit=2, **wanted)
    assert order_refs(begun["data"]) == ["follow-me-0", "follow-me-1"]
    assert (begun["last"], begun["more"]) == (begun["data"][-1]["number"], True)
    ended = read_log(shop, after=begun["last"], limit=2, **wanted)
    assert order_refs(ended["data"]) == ["follow-me-2"]
    assert (ended["last"], ended["more"]) == (read_log(shop, limit=1)["last"], False)
    assert ended["last"] > ended["data"][-1]["number"]


def order_refs(entries: list[dict[str, Any]]) -> list[str]:
    return [json.loads(entry["request_body"])["orderRef"] for entry in entries]


def test_a_merchant_sees_its_own_requests_alone(open_shop: Callable[..., MerchantClient]) -> None:
    shop, other = open_shop(), open_shop()
    shop.transfer(orderRef="mine")
    other.transfer(orderRef="theirs")
    assert order_refs(read_log(shop)["data"]) == ["mine"]


def test_reading_the_log_and_a_reset_leave_it_as_it_is(shop: MerchantClient) -> None:
    shop.transfer(orderRef="before")
    read_log(shop)
    assert shop.send_fields("sandbox", {"action": "reset"}).body["status"] == 200
    assert [entry["action"] for entry in read_log(shop)["data"]] == ["reset", "transfer"]


def test_a_long_reply_is_named_by_its_length(shop: MerchantClient) -> None:
    shop.put("bills", action="pull")
    [entry] = read_log(shop)["data"]
    assert entry["reply_body"].startswith("[")
    assert entry["reply_body"].endswith(" bytes]")
