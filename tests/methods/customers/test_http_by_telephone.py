"""Customers without an email address over HTTP: known by the telephone number, reached by text messages.

Contract: resources#customers
"""

from typing import Any

import msgspec

from tests.merchant_client import MerchantClient
from tests.methods.mail.test_http import list_mails, send
from tests.payer_pages import pay_on_page
from tests.running import Deployment
from tests.sealed_rows import open_everything

ITEMS: Any = [{"name": "Lace", "amount": "5000.00"}]


def register(shop: MerchantClient, **fields: Any) -> Any:
    return shop.put("resources", request="customer", **{"name": "Adaeze Obiora", **fields}).body


def test_one_number_is_one_customer_and_another_one_than_that_of_an_address(shop: MerchantClient) -> None:
    first = register(shop, phone="0803 123 4567")
    assert (first["status"], first["data"]["email"]) == (200, None)
    again = register(shop, phone="+234 803 123 4567", address="12 Marina Road")
    assert (again["message"], again["data"]["customer_id"]) == ("Customer updated", first["data"]["customer_id"])
    other = register(shop, phone="08031234567", email="ada@example.com")
    assert other["data"]["customer_id"] != first["data"]["customer_id"]
    found = shop.put("resources", inquire="customer", search="08031234567").body["data"]
    assert {line["email"] for line in found} == {None, "ada@example.com"}


def test_who_has_neither_or_a_number_of_no_known_country_is_refused(shop: MerchantClient) -> None:
    for fields, reason in (({}, "required, or a telephone number"), ({"phone": "0241234567"}, "country's code")):
        body = register(shop, **fields)
        assert body["status"] == 104
        assert reason in str(body["errors"])
    assert shop.put("resources", inquire="customer").body["total"] == 0


def test_an_invoice_is_sent_and_paid_by_telephone_and_all_of_it_is_erased(
    shop: MerchantClient, deployment: Deployment
) -> None:
    deployment.change_settings(shop.mid, mail={"receipts": True, "sms": True})
    customer_id = register(shop, phone="0803 123 4567")["data"]["customer_id"]
    invoice = shop.put("resources", request="invoice", customer_id=customer_id, items=ITEMS).body["data"]
    assert invoice["customer"] == {"name": "Adaeze Obiora", "email": None, "phone": "0803 123 4567", "address": None}
    assert send(shop, invoice["invoice_id"])["message"] == "Invoice Sent"
    pay_on_page(shop, invoice["link"], {})
    sent = [(line["purpose"], line["channel"], line["to"]) for line in list_mails(shop)]
    assert sorted(sent) == [("invoice", "sms", "+2348031234567"), ("payment_receipt", "sms", "+2348031234567")]
    shown = shop.put("resources", inquire="customer_detail", customer_id=customer_id).body["data"]
    [payment] = shown["transactions"]
    assert (payment["customer_txnref"], shown["totals"][0]["paid"]) == (invoice["number"], "5000.00")
    with_address = register(shop, phone="08031234567", email="ada@example.com")["data"]["customer_id"]
    found = deployment.run_command("customer", "find", shop.mid, "0803-123-4567").split()
    assert found == [customer_id, with_address], "one person may be two customers"
    records = msgspec.json.decode(deployment.run_command("customer", "export", shop.mid, customer_id))["records"]
    assert [row["txn_ref"] for row in records["transaction"]] == [payment["txnRef"]]
    for one in found:
        deployment.run_command("customer", "erase", shop.mid, one, "--yes")
    texts = str(open_everything(deployment, shop.mid))
    assert [word for word in ("Adaeze", "803 123", "8031234567") if word in texts] == []
