"""Invoices paid on their page over HTTP, also by several payers at once. (Contract: resources#invoice-payments)"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from kasuwa.ledger.counted_amounts import COUNTED_AMOUNT
from tests.merchant_client import MerchantClient
from tests.methods.invoices.test_http import events_of, invoice, made, show
from tests.methods.payment.payment_client import PaymentClient
from tests.payer_pages import hidden_fields, open_payment, pay_by_card, pay_on_page, post_form
from tests.running import Deployment
from tests.simulate.processes import wait_until
from tests.walk.bounds import INVOICE_ATTEMPT_SECONDS


def test_an_invoice_is_paid_in_parts_on_its_page(shop: MerchantClient) -> None:
    record = made(shop, charge_user="parts", vat=7.5, note="Thank you <b>Ada</b>", date_due="2099-01-01")
    path = urlsplit(record["link"]).path
    page = shop.connection.send("GET", path)
    html = page.raw.decode()
    for text in (record["number"], "Fabric", "2 × 12,500.00", "35,475.00", "Ada Obi", "VAT (7.5 %)", "&lt;b&gt;Ada"):
        assert text in html
    assert (page.http, page.headers["cache-control"]) == (200, "no-store")
    refused = shop.connection.send("POST", path, b"amount=35475.01", {})
    assert (refused.http, "At most 35475.00" in refused.raw.decode()) == (200, True)
    pay_on_page(shop, record["link"], {"amount": "10,000"})
    pay_on_page(shop, record["link"], {"amount": "25475.00"})
    shown = show(shop, record["invoice_id"])
    assert (shown["status"], shown["paid"], shown["outstanding"]) == ("paid", "35475.00", "0.00")
    assert [(line["amount"], line["method"]) for line in shown["payments"]] == [
        ("25475.00", "card"),
        ("10000.00", "card"),
    ]
    assert events_of(shop, record["invoice_id"]) == [
        ("unpaid", "pending", "0.00"),
        ("partly_paid", "pending", "10000.00"),
        ("paid", "successful", "35475.00"),
    ]
    detail = shop.put("resources", inquire="customer_detail", customer_id=record["customer_id"]).body["data"]
    assert [line["customer_txnref"] for line in detail["transactions"]] == [record["number"]] * 2
    found = shop.put("resources", inquire="transaction", reference=record["invoice_id"]).body["data"]
    assert (found["kind"], found["orderRef"], found["state"]) == ("invoice", record["number"], "paid")
    assert [line["kind"] for line in found["related"]] == ["checkout"] * 2
    after = shop.connection.send("POST", path, b"amount=1", {}).raw.decode()
    assert "This invoice is paid already" in after
    assert "<form" not in after


def test_an_unpaid_invoice_is_found_by_its_number(shop: MerchantClient) -> None:
    record = made(shop)
    found = shop.put("resources", inquire="transaction", reference=record["number"]).body["data"]
    assert (found["kind"], found["reference"], found["state"]) == ("invoice", record["invoice_id"], "unpaid")
    for unknown in ("INV-000002", "INV-1", "INV-0000001", "inv-000001"):
        assert shop.put("resources", inquire="transaction", reference=unknown).body["status"] == 104


def test_a_refund_leaves_the_invoice_paid_and_is_shown(shop: MerchantClient) -> None:
    record = made(shop)
    pay_on_page(shop, record["link"], {})
    [payment] = show(shop, record["invoice_id"])["payments"]
    PaymentClient(shop).refund(payment["txnRef"], "3000.00")
    shown = show(shop, record["invoice_id"])
    assert (shown["status"], shown["paid"], shown["refunded"]) == ("paid", "33000.00", "3000.00")
    assert shown["payments"][0]["refunded"] == "3000.00"
    assert "Refunded" in shop.connection.send("GET", urlsplit(record["link"]).path).raw.decode()


def test_what_is_refunded_counts_for_the_price_as_what_is_paid_does(
    shop: MerchantClient, deployment: Deployment
) -> None:
    charge: dict[str, Any] = {"inquire": "charges", "card_no": "411111", "amount": "1000.00"}
    before = shop.put("resources", **charge).body
    deployment.run_command("merchant", "set", shop.mid, "--tariff", '{"bearer_default":"customer"}')
    wait_until("the payer bears the fee", lambda: shop.put("resources", **charge).body != before)
    record = made(shop)
    pay_on_page(shop, record["link"], {})
    [payment] = show(shop, record["invoice_id"])["payments"]
    charged = PaymentClient(shop).verify(payment["txnRef"])["chargedAmount"]
    assert charged > 33_000
    PaymentClient(shop).refund(payment["txnRef"], "32999.99")
    assert show(shop, record["invoice_id"])["refunded"] == "32999.99"
    PaymentClient(shop).refund(payment["txnRef"], f"{charged - 32999.99:.2f}")
    shown = show(shop, record["invoice_id"])
    assert (shown["paid"], shown["refunded"], shown["payments"][0]["refunded"]) == ("33000.00",) * 3
    customer: dict[str, Any] = {"inquire": "customer_detail", "customer_id": record["customer_id"]}
    detail = shop.put("resources", **customer).body["data"]
    assert [(one["paid"], one["refunded"]) for one in detail["totals"]] == [("33000.00", "33000.00")]
    assert [(one["paid"], one["refunded"]) for one in detail["invoices"]] == [("33000.00", "33000.00")]
    # The overview counts the same: what refunds paid back of prices.
    counted = deployment.fetch(
        f"select sum({COUNTED_AMOUNT}), sum(t.amount) from transaction t join merchant m using (merchant_id)"
        " where m.mid = $1 and t.kind = 'refund'",
        shop.mid,
    )
    assert [int(one) for one in counted[0]] == [3_300_000, round(charged * 100)]


def test_payers_at_once_never_pay_more_than_the_total(shop: MerchantClient, deployment: Deployment) -> None:
    """Six payers want 10,000.00 each of 33,000.00: what each attempt reserves cannot be paid by another."""
    record = made(shop, charge_user="parts")

    def pay(number: int) -> bool:
        with deployment.connect() as wire:
            path = open_payment(wire, record["link"], {"amount": "10000.00"})
            return bool(path) and "Payment successful" in pay_by_card(wire, path)

    with ThreadPoolExecutor(6) as payers:
        paid = sum(payers.map(pay, range(6)))
    shown = show(shop, record["invoice_id"])
    assert 1 <= paid <= 3
    assert (shown["paid"], len(shown["payments"])) == (f"{paid}0000.00", paid)
    pay_on_page(shop, record["link"], {"amount": shown["outstanding"]})
    assert show(shop, record["invoice_id"])["status"] == "paid"


def test_an_attempt_that_is_left_gives_its_part_back(shop: MerchantClient) -> None:
    shop.put("sandbox", action="freeze")
    record = made(shop)
    path = open_payment(shop.connection, record["link"], {})
    page = shop.connection.send("GET", f"{path}/bank_transfer").raw.decode()
    assert record["number"] in page
    assert post_form(shop.connection, path, hidden_fields(page, "pay")).http == 303
    passed = 0
    for seconds, is_within in INVOICE_ATTEMPT_SECONDS.sides:
        shop.advance(seconds=seconds - passed)
        passed = seconds
        changed = invoice(shop, customer_id=record["customer_id"], invoice_id=record["invoice_id"])
        is_busy = changed["message"] == "The invoice is being paid; try again when that payment has ended"
        assert is_busy == is_within, (seconds, changed)
    voided = shop.put("resources", inquire="invoice", invoice_id=record["invoice_id"], status="void").body
    assert voided["data"]["status"] == "void"
    page = shop.connection.send("POST", urlsplit(record["link"]).path, b"", {}).raw.decode()
    assert "canceled by the merchant" in page


def test_the_file_of_an_invoice_is_a_pdf_and_a_wrong_address_finds_nothing(shop: MerchantClient) -> None:
    items = [{"name": f"Item {n} " + "long words " * 12, "amount": 100} for n in range(100)]
    record = made(shop, items=items, note="Ọlá ✓", discount="10.00")
    path = urlsplit(record["link"]).path
    file = shop.connection.send("GET", f"{path}/invoice.pdf")
    assert (file.http, file.raw[:5], file.headers["content-type"]) == (200, b"%PDF-", "application/pdf")
    assert file.headers["content-disposition"] == f'attachment; filename="invoice-{record["number"]}.pdf"'
    assert file.raw == shop.connection.send("GET", f"{path}/invoice.pdf").raw
    for wrong in (path[:-1] + ("0" if path[-1] != "0" else "1"), "/pay/invoice/x", f"{path}/other.pdf"):
        assert shop.connection.send("GET", wrong).http == 404
    assert shop.connection.send("PUT", path, b"").http == 405
