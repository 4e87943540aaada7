"""Pages of what a merchant sells: customers, invoices, tickets and checkouts; and the logo that payers see."""

from base64 import b64encode
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.mail.test_http import wait_for
from tests.pages.pdf_text import read_pdf_pages
from tests.payer_pages import pay_on_page
from tests.running import Deployment
from tests.webhooks.event_log import wait_until

pytestmark = pytest.mark.xdist_group("console")

PNG_HEAD = b"\x89PNG\r\n\x1a\n" + bytes(4) + b"IHDR"
PNG = PNG_HEAD + (64).to_bytes(4) + (32).to_bytes(4) + bytes(20)
HUGE_PNG = PNG_HEAD + (30_000).to_bytes(4) * 2 + bytes(20)
BUYER = {"fullname": "Adaeze Obiora", "email": "adaeze@example.com"}


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


def key_of(page: str, name: str) -> str:
    return page.partition(f'href="/{name}/')[2].partition('"')[0]


def make_invoice(shop: MerchantClient, **fields: Any) -> Any:
    person: Any = {"name": BUYER["fullname"], "email": BUYER["email"]}
    customer = shop.put("resources", request="customer", **person).body["data"]["customer_id"]
    body: Any = shop.put("resources", request="invoice", customer_id=customer, **fields).body
    assert body["status"] == 200, body
    return body["data"]


def test_an_invoice_is_made_for_a_customer_shown_and_voided(owner: Visitor, shop: MerchantClient) -> None:
    assert "None yet" in owner.get("/customers").words
    assert owner.post("/customers/new/create", name="Ada Obi", email="ada").http == 422
    assert owner.post("/customers/new/create", name="Ada Obi", email="ada@example.com").http == 200
    customer = key_of(owner.get("/customers").text, "customers")
    items = {"items.0.description": "Fabric", "items.0.amount": "12500.00", "items.0.quantity": "2"}
    wrong = owner.post(f"/customers/{customer}/invoice", **items, vat="700")
    assert (wrong.http, "at most 100" in wrong.words) == (422, True)
    second = {"items.2.description": "Tailoring", "items.2.amount": "8000.00"}
    assert owner.post(f"/customers/{customer}/invoice", **items, **second, discount="1000").http == 303
    page = owner.get("/invoices")
    assert ("INV-000001" in page.words, "32,000.00" in page.words) == (True, True)
    invoice = key_of(page.text, "invoices")
    shown = owner.get(f"/invoices/{invoice}")
    for text in ("Fabric", "Tailoring", "/pay/invoice/", "Void the invoice"):
        assert text in shown.words
    assert "32,000.00" in owner.get(f"/customers/{customer}").words
    assert owner.post(f"/invoices/{invoice}/void", confirmed="yes").http == 303
    assert "Void the invoice" not in owner.get(f"/invoices/{invoice}").words
    [line] = shop.put("resources", inquire="invoice").body["data"]
    assert (line["status"], line["customer_id"]) == ("void", customer)
    [entry] = [line for line in owner.get("/settings/trail").words.splitlines() if "void the invoice" in line][:1]
    assert entry


def test_an_invoice_that_was_paid_in_part_cannot_be_voided_on_its_page(owner: Visitor, shop: MerchantClient) -> None:
    goods = {"items": [{"description": "Fabric", "quantity": 2, "amount": "12500.00"}], "charge_user": "parts"}
    invoice = make_invoice(shop, **goods, date_due=shop.now()[:10])
    path = f"/invoices/{invoice['invoice_id']}"
    assert "Void the invoice" in owner.get(path).words
    pay_on_page(shop, invoice["link"], {"amount": "10000.00"})
    assert "Void the invoice" not in owner.get(path).words
    shop.put("sandbox", action="advance", days=2)
    page = owner.get(path).words
    assert ("overdue" in page, "Void the invoice" in page) == (True, False)


def test_an_invoice_says_to_whom_it_was_sent_and_what_became_of_it(owner: Visitor, shop: MerchantClient) -> None:
    goods: Any = {"items": [{"description": "Fabric", "quantity": 1, "amount": "12500.00"}]}
    invoice, other = make_invoice(shop, **goods), make_invoice(shop, **goods)
    path = f"/invoices/{invoice['invoice_id']}"
    assert "It was not sent from here yet" in owner.get(path).words
    sent = shop.put("resources", request="invoice_send", invoice_id=invoice["invoice_id"]).body["data"]
    wait_for(shop, sent["mail_id"], "sent")
    page = owner.get(path)
    assert f'href="/mails/{sent["mail_id"]}"' in page.text
    table = page.words.partition("What State To Time")[2]
    assert table.startswith(f" Invoice sent {BUYER['email']}")
    assert "It was not sent from here yet" in owner.get(f"/invoices/{other['invoice_id']}").words


def test_the_page_of_an_invoice_leads_to_its_file(owner: Visitor, shop: MerchantClient) -> None:
    items = [{"description": "Fabric", "quantity": 1, "amount": "12500.00"}]
    invoice = make_invoice(shop, items=items)
    page = owner.get(f"/invoices/{invoice['invoice_id']}").text
    address = page.partition('/invoice.pdf"')[0].rpartition('href="')[2] + "/invoice.pdf"
    file = shop.connection.send("GET", urlsplit(address).path)
    assert (file.http, file.headers["content-type"]) == (200, "application/pdf")


def test_the_file_of_an_invoice_has_grouped_amounts_and_dates_in_words(shop: MerchantClient) -> None:
    items = [{"description": "Fabric", "quantity": 1000, "amount": "23.00"}]
    invoice = make_invoice(shop, items=items, vat="7.5", date_due="2099-01-05")
    file = shop.connection.send("GET", f"{urlsplit(invoice['link']).path}/invoice.pdf")
    [drawn] = read_pdf_pages(file.raw)
    for text in ("23,000.00", "24,725.00", "1,000", "Due: 5 January 2099"):
        assert text in drawn, text
    assert "24725.00" not in drawn


def test_tickets_are_put_on_sale_admitted_and_taken_off(owner: Visitor, shop: MerchantClient) -> None:
    assert "None yet" in owner.get("/tickets").words
    kinds = {"ticket_data.0.name": "Regular", "ticket_data.0.amount": "5000.00", "ticket_data.0.quantity": "2"}
    made = owner.post("/tickets/new/create", title="Jazz Night", **kinds)
    assert (made.http, "/pay/link/" in made.words) == (200, True)
    sale = key_of(owner.get("/tickets").text, "tickets")
    [link] = shop.put("resources", inquire="ticket").body["data"]
    pay_on_page(shop, link["link"], {**BUYER, "count_0": "1"})
    [ticket] = shop.put("resources", inquire="ticket", link_id=sale).body["data"]
    shown = owner.get(f"/tickets/{sale}")
    assert (ticket["code"] in shown.words, "Adaeze Obiora" in shown.words, "Stop selling" in shown.words) == (True,) * 3
    other = shop.put("resources", request="ticket", title="Other", ticket_data=[{"name": "A", "amount": 100}]).body
    refused = owner.post(f"/tickets/{other['data']['link_id']}/admit", code=ticket["code"])
    assert (refused.http, "sold by another of your links" in refused.words) == (422, True)
    assert owner.post(f"/tickets/{sale}/admit", code=ticket["code"]).http == 303
    assert owner.post(f"/tickets/{sale}/admit", code=ticket["code"]).http == 422
    assert owner.post(f"/tickets/{sale}/close").http == 303
    assert "Sell again" in owner.get(f"/tickets/{sale}").words
    page = shop.connection.send("GET", urlsplit(link["link"]).path).raw.decode()
    assert 'name="count_0"' not in page


def test_a_checkout_is_listed_and_shown_with_its_payment(owner: Visitor, shop: MerchantClient) -> None:
    assert "None yet" in owner.get("/checkouts").words
    opened = shop.put("payment", action="checkout", amount="1500.00", customer_txnref="cart-78").body
    reference = quote(opened["txnRef"], safe="")
    assert ("cart-78" in owner.get("/checkouts").words, key_of(owner.get("/checkouts").text, "checkouts")) == (
        True,
        reference,
    )
    shown = owner.get(f"/checkouts/{reference}")
    assert (opened["checkoutURL"] in shown.words, "open" in shown.words) == (True, True)
    assert owner.get("/checkouts/nonsense").http == 404


def test_a_reader_sees_sales_and_no_forms_and_a_stranger_nothing(
    deployment: Deployment, shop: MerchantClient, owner: Visitor
) -> None:
    body = shop.put("resources", request="ticket", title="Jazz", ticket_data=[{"name": "A", "amount": 100}]).body
    reader = sign_in_as(deployment, "merchant:read-only", shop.mid)
    other = deployment.open_shop()
    other.connection.close()
    stranger = sign_in_as(deployment, "merchant:owner", other.mid)
    path = f"/tickets/{body['data']['link_id']}"
    assert (reader.get(path).http, "Stop selling" in reader.get(path).words) == (200, False)
    assert reader.post(f"{path}/close").http == 403
    assert (stranger.get(path).http, stranger.post(f"{path}/close").http) == (404, 404)


def test_a_logo_is_uploaded_shown_to_payers_and_removed(
    deployment: Deployment, shop: MerchantClient, owner: Visitor
) -> None:
    url = shop.put("payment", action="checkout", amount="1500.00").body["checkoutURL"]
    owner.get("/settings")
    for wrong, reason in ((b"GIF89a", "PNG or JPEG"), (PNG + bytes(32 * 1024), "at most 32 KiB"), (HUGE_PNG, "pixels")):
        refused = owner.upload("/settings/logo", "logo", wrong)
        assert (refused.http, reason in refused.words) == (422, True)
    assert owner.post("/settings/logo").http == 422
    assert owner.upload("/settings/logo", "logo", PNG).http == 303
    picture = f"data:image/png;base64,{b64encode(PNG).decode()}"
    assert picture in owner.get("/settings").text
    wait_until("payers see the logo", lambda: picture in shop.connection.send("GET", urlsplit(url).path).raw.decode())
    reader = sign_in_as(deployment, "merchant:read-only", shop.mid)
    reader.get("/settings")
    assert reader.post("/settings/logo", remove="yes").http == 403
    assert owner.post("/settings/logo", remove="yes").http == 303
    assert picture not in owner.get("/settings").text
    assert "changed the logo" in owner.get("/settings/trail").words
