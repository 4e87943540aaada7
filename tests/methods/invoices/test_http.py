"""Invoices over HTTP: made, changed, listed, shown, voided, overdue. (Contract: resources#invoices)"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, without_codes
from tests.running import Deployment

ITEMS = [{"description": "Fabric", "quantity": 2, "amount": "12500.00"}, {"name": "Tailoring", "price": 8000}]


def register(shop: MerchantClient, **fields: Any) -> str:
    body = shop.put("resources", request="customer", **{"name": "Ada Obi", "email": "ada@example.com", **fields}).body
    return str(body["data"]["customer_id"])


def invoice(shop: MerchantClient, **fields: Any) -> Any:
    return shop.put("resources", request="invoice", **{"items": ITEMS, **fields}).body


def made(shop: MerchantClient, **fields: Any) -> Any:
    body = invoice(shop, **{"customer_id": register(shop), **fields})
    assert body["status"] == 200, body
    return body["data"]


def show(shop: MerchantClient, invoice_id: str) -> Any:
    return shop.put("resources", inquire="invoice", invoice_id=invoice_id).body["data"]


def listed(shop: MerchantClient, **fields: Any) -> list[str]:
    return [line["number"] for line in shop.put("resources", inquire="invoice", **fields).body["data"]]


def events_of(shop: MerchantClient, invoice_id: str) -> list[tuple[str, str, str]]:
    lines = shop.put("resources", inquire="events", txnRef=invoice_id).body["data"]
    payloads = [line["payload"] for line in reversed(lines)]
    assert [line["object_sequence"] for line in reversed(lines)] == list(range(1, len(lines) + 1))
    assert all(payload["txnRef"] == payload["invoice_id"] == invoice_id for payload in payloads)
    return [(payload["invoiceStatus"], payload["txnStatus"], payload["chargedAmount"]) for payload in payloads]


def test_an_invoice_shows_every_amount(shop: MerchantClient) -> None:
    record = made(
        shop, discount_type="percentage", discount=10, vat="7.5", shipping=1500, note="Thanks", charge_user="yes"
    )
    amounts = [record[name] for name in ("subtotal", "discount", "vat", "shipping", "total", "paid", "outstanding")]
    assert amounts == ["33000.00", "3300.00", "2227.50", "1500.00", "33427.50", "0.00", "33427.50"]
    assert (record["number"], record["status"], record["charge_user"]) == ("INV-000001", "unpaid", "parts")
    assert [(line["description"], line["quantity"], line["total"]) for line in record["items"]] == [
        ("Fabric", 2, "25000.00"),
        ("Tailoring", 1, "8000.00"),
    ]
    assert record["customer"]["name"] == "Ada Obi"
    assert show(shop, record["invoice_id"]) == record
    assert events_of(shop, record["invoice_id"]) == [("unpaid", "pending", "0.00")]


@pytest.mark.parametrize(
    "item",
    [
        {"description": "Fabric", "quantity": 3, "amount": "100.00"},
        {"name": "Fabric", "qty": "3", "unit_cost": 100},
        {"name": "Fabric", "qty": 3.0, "price": "100.0", "amount": None, "description": ""},
    ],
)
def test_items_have_synonyms(shop: MerchantClient, item: Any) -> None:
    [line] = made(shop, items=[item])["items"]
    assert line == {"description": "Fabric", "quantity": 3, "amount": "100.00", "total": "300.00"}


def test_the_due_date_comes_in_two_forms(shop: MerchantClient) -> None:
    shop.put("sandbox", action="freeze")
    assert (
        made(shop, date_due="2099-03-05")["date_due"] == made(shop, date_due="05-03-2099")["date_due"] == "2099-03-05"
    )
    refused = invoice(shop, customer_id=register(shop), date_due="2001-03-05")
    assert [fault["field"] for fault in refused["errors"]] == ["date_due"]


def test_every_fault_of_an_invoice_is_named(shop: MerchantClient) -> None:
    faulty = invoice(
        shop,
        customer_id="",
        items=[{"qty": 0}, {"name": "x", "amount": 1, "quantity": 1_000_001}],
        date_due="31-02-2026",
        discount_type="half",
        vat=101,
        charge_user="maybe",
        currency="EUR",
    )
    fields = {fault["field"] for fault in faulty["errors"]}
    assert fields == {"customer_id", "items", "date_due", "discount_type", "vat", "charge_user", "currency"}
    [of_items] = [fault["reason"] for fault in faulty["errors"] if fault["field"] == "items"]
    for part in ("0.description: required", "0.quantity: 1 to", "0.amount: required", "1.quantity: 1 to"):
        assert part in of_items
    customer_id = register(shop)
    for fields_sent, field in (
        ({"discount": "33000.01"}, "discount"),
        ({"items": [{"name": "x", "amount": "0.50"}]}, "items"),
        ({"items": [{"name": "x", "amount": "10000000.01"}]}, "items"),
        ({"customer_id": "CUnobody"}, "customer_id"),
    ):
        refused = invoice(shop, **{"customer_id": customer_id, **fields_sent})
        assert (refused["status"], [fault["field"] for fault in refused["errors"]]) == (104, [field]), refused
    assert listed(shop) == []


def test_a_discount_of_false_is_none(shop: MerchantClient) -> None:
    """A public client sends it for an invoice without a discount."""
    customer_id = register(shop)
    made = invoice(shop, customer_id=customer_id, discount=False)
    assert (made["status"], made["data"]["discount"]) == (200, "0.00")
    refused = invoice(shop, customer_id=customer_id, discount=True)
    assert [fault["field"] for fault in refused["errors"]] == ["discount"]


def test_numbers_have_no_holes_under_concurrency(shop: MerchantClient, deployment: Deployment) -> None:
    customer_id = register(shop)

    def make_three(n: int) -> list[str]:
        with deployment.connect() as wire:
            client = MerchantClient(wire, shop.mid, shop.key)
            bad = invoice(client, customer_id=customer_id, discount="1000000")
            assert bad["status"] == 104
            return [invoice(client, customer_id=customer_id)["data"]["number"] for _ in range(3)]

    with ThreadPoolExecutor(4) as pool:
        numbers = [number for batch in pool.map(make_three, range(4)) for number in batch]
    assert sorted(numbers) == [f"INV-{n:06d}" for n in range(1, 13)]
    assert listed(shop) == sorted(numbers, reverse=True)


def test_an_unpaid_invoice_is_changed_under_its_number_and_link(shop: MerchantClient) -> None:
    first = made(shop, note="First", date_due="2099-01-01")
    changed = made(shop, invoice_id=first["invoice_id"], items=[{"name": "Lace", "amount": 500}])
    same = ("invoice_id", "number", "link", "customer_id", "created_at")
    assert [changed[name] for name in same] == [first[name] for name in same]
    assert (changed["total"], changed["note"], changed["date_due"]) == ("500.00", None, None)
    assert events_of(shop, first["invoice_id"]) == [("unpaid", "pending", "0.00")] * 2
    unknown = invoice(shop, customer_id=first["customer_id"], invoice_id="INnothing")
    assert (unknown["status"], unknown["message"]) == (104, "Invalid Invoice Reference")
    assert listed(shop) == [first["number"]]


def test_a_void_invoice_stays_void(shop: MerchantClient) -> None:
    record = made(shop)
    invoice_id = record["invoice_id"]
    voided = shop.put("resources", inquire="invoice", invoice_id=invoice_id, status="void").body
    assert (voided["data"]["status"], voided["data"]["outstanding"]) == ("void", "0.00")
    again = shop.put("resources", inquire="invoice", invoice_id=invoice_id, status="void").body
    assert again == voided
    refused = invoice(shop, customer_id=record["customer_id"], invoice_id=invoice_id)
    assert (refused["status"], refused["message"]) == (104, "The invoice is void")
    assert events_of(shop, invoice_id) == [("unpaid", "pending", "0.00"), ("void", "failed", "0.00")]
    wrong = shop.put("resources", inquire="invoice", invoice_id=invoice_id, status="VOID").body
    assert without_codes(wrong["errors"]) == [{"field": "status", "reason": "must be written exactly as void"}]


def test_an_invoice_is_overdue_from_the_day_after_its_due_date(shop: MerchantClient) -> None:
    shop.put("sandbox", action="freeze")
    today = shop.now()[:10]
    record = made(shop, date_due=today)
    other = made(shop, date_due=today)
    shop.put("resources", inquire="invoice", invoice_id=other["invoice_id"], status="void")
    shop.advance(until=f"{today}T23:59:59+01:00")
    assert show(shop, record["invoice_id"])["status"] == "unpaid"
    assert shop.advance(seconds=2)["ran"] == {"invoices": 1}
    assert show(shop, record["invoice_id"])["status"] == "overdue"
    assert show(shop, other["invoice_id"])["status"] == "void"
    assert events_of(shop, record["invoice_id"]) == [("unpaid", "pending", "0.00"), ("overdue", "pending", "0.00")]
    renewed = made(shop, invoice_id=record["invoice_id"], date_due="2099-01-01")
    assert renewed["status"] == "unpaid"
    assert listed(shop, status="overdue") == []


def test_invoices_are_listed_by_state_and_customer(shop: MerchantClient) -> None:
    first, second = made(shop), made(shop)
    bola = register(shop, name="Bola Ade", email="bola@example.com")
    third = made(shop, customer_id=bola)
    shop.put("resources", inquire="invoice", invoice_id=second["invoice_id"], status="void")
    assert listed(shop) == [third["number"], second["number"], first["number"]]
    assert listed(shop, status="void") == [second["number"]]
    assert listed(shop, status="unpaid", customer_id=bola) == [third["number"]]
    page = shop.put("resources", inquire="invoice", offset=1, limit=1).body
    assert (page["total"], [line["number"] for line in page["data"]]) == (3, [second["number"]])
    # An empty identifier counts as absent.
    assert len(listed(shop, invoice_id="")) == 3


def test_another_merchants_customer_and_invoice_are_unknown(open_shop: Any) -> None:
    ours, theirs = open_shop(), open_shop()
    record = made(theirs)
    refused = invoice(ours, customer_id=record["customer_id"])
    assert [fault["field"] for fault in refused["errors"]] == ["customer_id"]
    for fields in ({}, {"status": "void"}):
        reply = ours.put("resources", inquire="invoice", invoice_id=record["invoice_id"], **fields).body
        assert (reply["status"], reply["message"]) == (104, "Invalid Invoice Reference")
    assert show(theirs, record["invoice_id"]) == record
