"""The catalogue and its customers over HTTP: pull and resolve. (Contract: bills#pay)"""

import gzip
from collections.abc import Callable
from typing import Any

import pytest

from kasuwa.core.reference_tables import load_reference_data
from tests.merchant_client import MerchantClient, without_codes

LISTED = load_reference_data("billers")["data"]
CATEGORIES = [row["code"] for row in LISTED["categories"]]
BILLS = {row["id"]: row for row in LISTED["bills"]}
PREPAID, AIRTIME, DSTV = "IfuR3XxiIpxqbZQ", "yz6wTBdzaYv7oLX", "r7avwDutdk2YX75"


def pull(shop: MerchantClient, **chosen: Any) -> Any:
    return shop.put("bills", action="pull", **chosen).body


def resolve(shop: MerchantClient, reference: str, paycode: str = PREPAID, scenario: str | None = None) -> Any:
    headers = None if scenario is None else {"x-sandbox-scenario": scenario}
    return shop.put("bills", headers=headers, action="resolve", paycode=paycode, reference=reference).body


# --- pull -------------------------------------------------------------------------------------------------------


def test_the_whole_catalogue_is_what_the_rail_lists(shop: MerchantClient) -> None:
    body = pull(shop)
    assert set(body) == {"status", "data"}
    assert body["status"] == 200
    assert body["data"] == LISTED


def test_every_part_links_to_the_next_and_has_its_shape(shop: MerchantClient) -> None:
    found = pull(shop)["data"]
    assert {bill["category"] for bill in found["bills"]} <= {category["code"] for category in found["categories"]}
    assert {item["bills_id"] for item in found["items"]} == {bill["id"] for bill in found["bills"]}
    for item in found["items"]:
        assert isinstance(item["amount"], str)
        assert isinstance(item["discount"], int | float)
        assert isinstance(item["fee"], int | float)
        assert item["require_name_query"] in (0, 1)
        assert not isinstance(item["require_name_query"], bool)


def test_a_category_brings_its_bills_and_their_items_and_nothing_else(shop: MerchantClient) -> None:
    for code in CATEGORIES:
        ids = {bill["id"] for bill in LISTED["bills"] if bill["category"] == code}
        assert pull(shop, category=code)["data"] == {
            "categories": [row for row in LISTED["categories"] if row["code"] == code],
            "bills": [row for row in LISTED["bills"] if row["id"] in ids],
            "items": [row for row in LISTED["items"] if row["bills_id"] in ids],
        }


def test_a_bill_brings_its_category_and_its_items(shop: MerchantClient) -> None:
    for bills_id, bill in BILLS.items():
        expected = {
            "categories": [row for row in LISTED["categories"] if row["code"] == bill["category"]],
            "bills": [bill],
            "items": [row for row in LISTED["items"] if row["bills_id"] == bills_id],
        }
        assert pull(shop, bills_id=bills_id)["data"] == expected
    assert pull(shop, bills_id=14, category="electricity") == pull(shop, bills_id=14)


@pytest.mark.parametrize(
    ("chosen", "field"),
    [
        ({"category": "nothing"}, "category"),
        ({"category": "x" * 101}, "category"),
        ({"category": 3}, "category"),
        ({"bills_id": 999}, "bills_id"),
        ({"bills_id": 0}, "bills_id"),
        ({"bills_id": "fourteen"}, "bills_id"),
        ({"bills_id": 14, "category": "tv"}, "bills_id"),
        ({"bills_id": 999, "category": "nothing"}, "category bills_id"),
        ({"bills_id": 14, "category": "nothing"}, "category"),
        ({"bills_id": "x", "category": "nothing"}, "bills_id category"),
        ({"bills_id": 999, "category": 3}, "category bills_id"),
        ({"bills_id": 14, "category": 3}, "category"),
        ({"bills_id": "14", "category": "tv"}, "bills_id"),
        ({"bills_id": "14", "category": "nothing"}, "category"),
    ],
)
def test_a_selection_that_matches_nothing_is_status_104(
    shop: MerchantClient, chosen: dict[str, Any], field: str
) -> None:
    body = pull(shop, **chosen)
    assert (body["status"], [fault["field"] for fault in body["errors"]]) == (104, field.split())


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"paycode": "nope", "reference": ""}, "reference paycode"),
        ({"paycode": "nope"}, "reference paycode"),
        ({"paycode": "", "reference": "45012345678"}, "paycode"),
        ({"paycode": 7, "reference": ""}, "paycode reference"),
        ({"paycode": "nope", "reference": "x"}, "paycode"),
        ({"paycode": PREPAID, "reference": "x"}, "reference"),
    ],
)
def test_a_resolve_names_every_fault_at_once(shop: MerchantClient, fields: dict[str, Any], named: str) -> None:
    body = shop.put("bills", action="resolve", **fields).body
    assert (body["status"], [fault["field"] for fault in body["errors"]]) == (104, named.split())


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        ("gzip", True),
        ("gzip, deflate, br", True),
        ("deflate, GZIP;q=0.8", True),
        ("gzip;q=0", False),
        ("gzip; q=0.00, identity", False),
        ("br, deflate", False),
        ("identity", False),
        ("", False),
    ],
)
def test_a_pull_is_compressed_if_the_client_accepts_it(shop: MerchantClient, accepted: str, packed: bool) -> None:
    asked = {"action": "pull"}
    reply = shop.send_fields("bills", asked, headers={"accept-encoding": accepted})
    assert reply.headers["vary"] == "accept-encoding"
    assert reply.headers.get("content-encoding") == ("gzip" if packed else None)
    raw = gzip.decompress(reply.raw) if packed else reply.raw
    assert raw == shop.send_fields("bills", asked).raw
    refused = shop.send_fields("bills", {**asked, "category": "none"}, headers={"accept-encoding": accepted})
    assert "content-encoding" not in refused.headers


def test_a_pull_uses_up_no_fault_of_the_biller(shop: MerchantClient) -> None:
    shop.put("sandbox", action="fault", rail="biller", kind="unavailable")
    assert pull(shop)["status"] == 200
    assert resolve(shop, "45012345678")["status"] == 204
    assert resolve(shop, "45012345678")["status"] == 200


def test_the_same_bytes_again_are_checked_like_the_first(
    shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    """The body of a pull is remembered; who asks, where and how is not."""
    body = b'{"action":"pull","bills_id":14}'
    first = shop.send("bills", body)
    assert shop.send("bills", body).raw == open_shop().send("bills", body).raw == first.raw
    assert shop.send("bills", body, headers={"key": "wrong"}).body["status"] == 101
    assert shop.send("bills", body, headers={"x-sandbox-scenario": "nonsense"}).body["status"] == 104
    assert shop.send("disburse", body).body["status"] == 102


# --- resolve ----------------------------------------------------------------------------------------------------


def test_a_customer_is_resolved_to_a_name(shop: MerchantClient) -> None:
    body = resolve(shop, "45012345678")
    assert body == {
        "status": 200,
        "message": "Customer found",
        "custName": body["custName"],
        "reference": "45012345678",
        "paycode": PREPAID,
    }
    assert body["custName"]
    assert resolve(shop, "45012345678") == body


@pytest.mark.parametrize("phone", ["08031234567", "08000000000", "00000008"])
def test_without_a_name_query_the_name_is_empty(shop: MerchantClient, phone: str) -> None:
    body = resolve(shop, phone, AIRTIME)
    assert (body["status"], body["custName"]) == (200, "")
    assert "no name query" in body["message"]


@pytest.mark.parametrize(
    ("paycode", "reference", "field"),
    [
        (PREPAID, "123", "reference"),
        (AIRTIME, "45012345678", "reference"),
        (DSTV, "12121212123", "reference"),
        ("nothing", "45012345678", "paycode"),
        ("", "45012345678", "paycode"),
        (PREPAID, "", "reference"),
    ],
)
def test_a_malformed_resolve_is_status_104(shop: MerchantClient, paycode: str, reference: str, field: str) -> None:
    body = resolve(shop, reference, paycode)
    assert (body["status"], [fault["field"] for fault in body["errors"]]) == (104, [field])


def test_every_outcome_has_its_magic_reference(shop: MerchantClient) -> None:
    assert resolve(shop, "0000000001")["custName"] == "SANDBOX 01 CUSTOMER"
    unknown = resolve(shop, "0000000007")
    assert (unknown["status"], unknown["errors"][0]["field"]) == (104, "reference")
    flagged = resolve(shop, "0000000008")
    assert (flagged["status"], flagged["mismatch"]) == (200, True)
    outage, late = resolve(shop, "0000000030"), resolve(shop, "0000000068")
    assert (outage["status"], late["status"]) == (204, 204)
    assert outage["message"] != late["message"]
    assert resolve(shop, "08000000091", AIRTIME)["status"] == 204


@pytest.mark.parametrize(("paycode", "reference"), [(PREPAID, "45012345678"), (AIRTIME, "08031234567")])
def test_a_biller_that_declines_says_nothing_of_the_customer(
    shop: MerchantClient, paycode: str, reference: str
) -> None:
    declined = {"status": 204, "message": "The biller declined: Do not honour"}
    shop.put("sandbox", action="fault", rail="biller", kind="decline")
    assert without_codes(resolve(shop, reference, paycode)) == declined
    assert without_codes(resolve(shop, reference, paycode, scenario="rr=05")) == declined
    assert resolve(shop, reference, paycode, scenario="rr=ZZ")["status"] == 201
    assert resolve(shop, reference, paycode)["status"] == 200


def test_only_a_call_of_the_biller_uses_up_a_planned_fault(shop: MerchantClient) -> None:
    shop.put("sandbox", action="fault", rail="biller", kind="unavailable")
    assert resolve(shop, "45012345678", "nope")["status"] == 104
    assert resolve(shop, "x")["status"] == 104
    assert resolve(shop, "45012345678")["status"] == 204
    assert resolve(shop, "45012345678")["status"] == 200


def test_a_scenario_strikes_one_question(shop: MerchantClient) -> None:
    assert resolve(shop, "45012345678", scenario="rr=07")["status"] == 104
    assert resolve(shop, "45012345678", scenario="http=timeout")["status"] == 204
    assert resolve(shop, "45012345678", scenario="http=unavailable")["status"] == 204
    assert resolve(shop, "45012345678")["status"] == 200
