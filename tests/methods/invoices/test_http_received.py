"""Money received outside over HTTP, and what invoices show of their merchant: on page, file and console."""

from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from tests.console.visitor import PageReply, Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.invoices.test_http import made, register, show
from tests.pages.pdf_text import read_pdf_pages
from tests.running import Deployment
from tests.webhooks.event_log import wait_until


def record(shop: MerchantClient, invoice_id: str, **fields: Any) -> Any:
    given = {"amount": "400.00", "method": "bank", "reference": "teller 7", **fields}
    return shop.put("resources", request="invoice_received", invoice_id=invoice_id, **given).body


def test_money_received_outside_pays_an_invoice_and_leaves_the_wallet_alone(shop: MerchantClient) -> None:
    invoice, before = made(shop), shop.wallet()
    part = record(shop, invoice["invoice_id"])
    assert [part["message"], part["data"]["status"], part["data"]["paid"]] == [
        "Payment Recorded",
        "partly_paid",
        "400.00",
    ]
    rest = record(shop, invoice["invoice_id"], amount=part["data"]["outstanding"], reference="teller 8", method="cash")
    assert rest["data"]["status"] == "paid"
    assert [one["method"] for one in show(shop, invoice["invoice_id"])["received"]] == ["bank", "cash"]
    assert (shop.wallet(), show(shop, invoice["invoice_id"])["payments"]) == (before, [])


def test_a_record_is_taken_back_under_its_reference(shop: MerchantClient) -> None:
    invoice = made(shop)
    record(shop, invoice["invoice_id"])
    fields = {"invoice_id": invoice["invoice_id"], "reference": "teller 7"}
    undone = shop.put("resources", request="invoice_not_received", **fields).body
    assert (undone["message"], undone["data"]["status"]) == ("Record Taken Back", "unpaid")
    wrong = shop.put("resources", request="invoice_not_received", **{**fields, "reference": "teller 9"}).body
    assert (wrong["status"], wrong["code"]) == (104, "received_not_found")


def test_of_several_records_at_once_no_more_than_is_due_is_counted(
    shop: MerchantClient, deployment: Deployment
) -> None:
    invoice = made(shop)

    def send(number: int) -> int:
        with deployment.connect() as wire:
            reply = record(
                MerchantClient(wire, shop.mid, shop.key),
                invoice["invoice_id"],
                amount=invoice["total"],
                reference=f"R{number}",
            )
            return int(reply["status"])

    with ThreadPoolExecutor(3) as pool:
        assert sorted(pool.map(send, range(3))) == [104, 104, 200]
    assert show(shop, invoice["invoice_id"])["paid"] == invoice["total"]


# --- page and file ----------------------------------------------------------------------------------------------------


def make_logo() -> bytes:
    out = BytesIO()
    Image.new("RGB", (40, 20), "#1a5c4a").save(out, "PNG")
    return out.getvalue()


def test_page_and_file_show_the_business_and_write_numbers_and_days_as_people_do(
    deployment: Deployment, shop: MerchantClient
) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    owner.get("/settings")
    written = {"address": "12 Broad <b>Street</b>, Lagos", "tin": "01234567-0001"}
    assert owner.post("/settings/business", **written).place == "/settings"
    owner.get("/settings")
    assert owner.upload("/settings/logo", "logo", make_logo()).place == "/settings"
    record_made = made(shop, date_due="2099-03-05")
    path = record_made["link"].partition("/pay/")[1] + record_made["link"].partition("/pay/")[2]
    wait_until("the settings are in force", lambda: b"01234567-0001" in shop.connection.send("GET", path).raw)
    page = shop.connection.send("GET", path).raw.decode()
    assert "12 Broad &lt;b&gt;Street&lt;/b&gt;, Lagos" in page
    assert "due 5 March 2099" in page
    assert "25,000.00" in page
    file = shop.connection.send("GET", f"{path}/invoice.pdf").raw
    [words] = read_pdf_pages(file)
    for text in ("12 Broad <b>Street</b>, Lagos", "TIN: 01234567-0001", "Due: 5 March 2099", "25,000.00"):
        assert text in words
    assert b"/Image" in file


@pytest.mark.parametrize("fields", [{"tin": "01 23"}, {"tin": "x" * 31}, {"address": "a" * 301}])
def test_what_is_no_tin_or_address_is_refused(deployment: Deployment, shop: MerchantClient, fields: Any) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    owner.get("/settings")
    assert owner.post("/settings/business", **{"address": "", "tin": "", **fields}).http == 422


# --- the console ------------------------------------------------------------------------------------------------------


def fill_in(visitor: Visitor, **fields: str) -> PageReply:
    visitor.get("/invoices")
    items = {"items.0.description": "Fabric", "items.0.quantity": "2", "items.0.amount": "12,362.50"}
    return visitor.post("/invoices/new/create", **{**items, **fields})


def test_the_customer_of_an_invoice_is_entered_by_name_or_address(deployment: Deployment, shop: MerchantClient) -> None:
    customer_id = register(shop, name="Ngozi Eze", email="ngozi@example.com")
    finance = sign_in_as(deployment, "merchant:finance", shop.mid)
    wait_until("the name is found", lambda: shop.put("resources", inquire="customer", search="Ngozi Eze").body["data"])
    for text in ("ngozi eze", "ngozi@example.com", customer_id):
        assert fill_in(finance, customer_id=text).place.startswith("/invoices/IN")
    found = shop.put("resources", inquire="invoice").body["data"]
    assert [(one["customer_id"], one["total"]) for one in found] == [(customer_id, "24725.00")] * 3


def test_a_name_that_nobody_or_several_have_makes_no_invoice(deployment: Deployment, shop: MerchantClient) -> None:
    for n in range(2):
        register(shop, name="Bola Ade", email=f"bola{n}@example.com")

    def find() -> list[Any]:
        return list(shop.put("resources", inquire="customer", search="Bola Ade").body["data"])

    wait_until("both are found", lambda: len(find()) == 2)
    finance = sign_in_as(deployment, "merchant:finance", shop.mid)
    several, nobody = fill_in(finance, customer_id="Bola Ade"), fill_in(finance, customer_id="Chidi Nobody")
    assert (several.http, "bola1@example.com" in several.words) == (422, True)
    assert (nobody.http, "add the customer first" in nobody.words) == (422, True)
    assert shop.put("resources", inquire="invoice").body["data"] == []


def test_the_total_is_worked_out_before_the_invoice_is_made(deployment: Deployment, shop: MerchantClient) -> None:
    finance = sign_in_as(deployment, "merchant:finance", shop.mid)
    further = {"items.9.description": "Buttons", "items.9.amount": "100", "vat": "7.5", "preview": "yes"}
    page = fill_in(finance, customer_id="somebody", **further)
    assert (page.http, "Total NGN 26,686.88. Items 24,825.00, VAT 1,861.88." in page.words) == (200, True)
    assert 'value="Buttons"' in page.text
    assert "cannot be worked out yet" in fill_in(finance, **{"items.0.amount": "x", "preview": "yes"}).words
    assert shop.put("resources", inquire="invoice").body["data"] == []


def test_money_received_is_recorded_on_the_page_of_the_invoice(deployment: Deployment, shop: MerchantClient) -> None:
    invoice = made(shop)
    finance, path = sign_in_as(deployment, "merchant:finance", shop.mid), f"/invoices/{invoice['invoice_id']}"
    assert "Record money received" in finance.get(path).words
    fields = {"amount": "33,000.00", "method": "cash", "reference": "R 12", "received_on": ""}
    asked = finance.post(f"{path}/received", **fields)
    assert "Nothing is added to your wallet" in asked.words
    assert finance.post(f"{path}/received", **fields, confirmed="yes").place == path
    assert show(shop, invoice["invoice_id"])["status"] == "paid"
    assert "R 12" in finance.get(path).words
