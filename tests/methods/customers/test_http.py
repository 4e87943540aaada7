"""Customers over HTTP, and the commands that export and erase them. (Contract: resources#customers)"""

from functools import partial
from typing import Any

import msgspec
import pytest

from kasuwa.privacy import customer_rows
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import MASTERCARD_OK, PaymentClient, card
from tests.running import Deployment
from tests.sealed_rows import open_everything
from tests.walk.bounds import CUSTOMER_CARDS, CUSTOMER_PAYMENTS


def register(shop: MerchantClient, **fields: Any) -> Any:
    body = shop.put("resources", request="customer", **{"name": "Ada Obi", "email": "ada@example.com", **fields}).body
    assert body["status"] == 200, body
    return body["data"]


def listed(shop: MerchantClient, **fields: Any) -> list[str]:
    return [line["name"] for line in shop.put("resources", inquire="customer", **fields).body["data"]]


def detail(shop: MerchantClient, customer_id: str) -> Any:
    body = shop.put("resources", inquire="customer_detail", customer_id=customer_id).body
    assert body["status"] == 200, body
    return body["data"]


def test_one_address_is_one_customer_and_fields_are_brought_up_to_date(shop: MerchantClient) -> None:
    first = register(shop, phone="08031234567", address="12 Marina Road")
    again = register(shop, email="ADA@example.com", name="Ada Eze")
    assert again == {**first, "name": "Ada Eze", "email": "ADA@example.com"}
    assert listed(shop) == ["Ada Eze"]
    other = register(shop, email="bola@example.com", name="Bola Ade")
    assert other["customer_id"] != first["customer_id"]


def test_customers_are_listed_newest_first_and_searched(shop: MerchantClient) -> None:
    for name, email in (("Ada Obi", "ada@example.com"), ("Adébáyọ̀ Ojo", "bayo@example.com"), ("Chi Obi", "chi@x.ng")):
        register(shop, name=name, email=email, phone=f"080312345{len(name):02d}")
    assert listed(shop) == ["Chi Obi", "Adébáyọ̀ Ojo", "Ada Obi"]
    assert listed(shop, search="obi") == ["Chi Obi", "Ada Obi"]
    assert listed(shop, search="OBI chi") == ["Chi Obi"]
    assert listed(shop, search="adebay") == ["Adébáyọ̀ Ojo"]
    assert listed(shop, search="BAYO@example.com") == ["Adébáyọ̀ Ojo"]
    assert listed(shop, search="+234 803 123 4507") == ["Chi Obi", "Ada Obi"]
    assert listed(shop, search="ayo") == listed(shop, search="@") == listed(shop, search="--") == []
    page = shop.put("resources", inquire="customer", offset=1, limit=1).body
    assert (page["total"], page["offset"], page["limit"], len(page["data"])) == (3, 1, 1, 1)


def test_payments_belong_to_the_customer_also_from_before(shop: MerchantClient) -> None:
    payments = PaymentClient(shop)
    user = {"email": "Ada@Example.com"}
    first = payments.paid(user=user, amount="100.00")
    payments.paid(MASTERCARD_OK, user=user, amount="200.00", country="US", currency="USD")
    payments.paid(user={"email": "other@example.com"})
    payments.initiate(card(), user=user, amount="55.00")
    payments.refund(first["txnRef"], "30.00")
    found = detail(shop, register(shop)["customer_id"])
    assert [line["amount"] for line in found["transactions"]] == ["55.00", "200.00", "100.00"]
    assert found["totals"] == [
        {"currency": "NGN", "payments": 1, "paid": "100.00", "refunded": "30.00", "failed": 0, "open": 1},
        {"currency": "USD", "payments": 1, "paid": "200.00", "refunded": "0.00", "failed": 0, "open": 0},
    ]
    assert sorted(line["card"][:6] for line in found["cards"]) == ["411111", "512345"]
    assert first["cardToken"] not in str(found)


def test_an_address_that_only_the_charge_step_brings_counts(shop: MerchantClient) -> None:
    payments, given = PaymentClient(shop), card(auth="PIN")
    begun = payments.initiate(given, user=None)
    assert payments.charge(begun, given)["txnStatus"] == "successful"
    assert len(detail(shop, register(shop)["customer_id"])["transactions"]) == 1


def test_an_unknown_customer_is_refused(shop: MerchantClient) -> None:
    body = shop.put("resources", inquire="customer_detail", customer_id="CUnobody").body
    assert (body["status"], body["message"]) == (104, "Invalid Customer Reference")
    body = shop.put("resources", request="customer", name=" ", email="nobody", phone="12").body
    assert {error["field"] for error in body["errors"]} == {"name", "email", "phone"}


def test_a_customer_can_be_found_exported_and_erased(shop: MerchantClient, deployment: Deployment) -> None:
    payments = PaymentClient(shop)
    user = {"firstname": "Adaeze", "lastname": "Obiora", "email": "adaeze@example.com", "ip": "198.51.100.7"}
    paid = payments.paid(user=user, is_recurring=True, recurrent={"frequency": "daily", "value": "09"})
    kept = payments.paid(user={"email": "other@example.com"})
    record = register(shop, name="Adaeze Obiora", email="adaeze@example.com", address="Secret Street")
    customer_id = record["customer_id"]
    billed: dict[str, Any] = {
        "customer_id": customer_id,
        "items": [{"name": "Lace", "amount": 5}],
        "note": "Secret note",
    }
    invoice = shop.put("resources", request="invoice", **billed).body["data"]
    assert deployment.run_command("customer", "find", shop.mid, "ADAEZE@example.com").split() == [customer_id]
    exported = msgspec.json.decode(deployment.run_command("customer", "export", shop.mid, customer_id))
    assert exported["customer"] == record
    assert [row["txn_ref"] for row in exported["records"]["transaction"]] == [paid["txnRef"]]
    assert exported["records"]["payment"][0]["ip"] == "198.51.100.7"
    assert len(exported["records"]["saved_card"]) == 1
    assert [row["first_payment"] for row in exported["records"]["plan"]] == [paid["txnRef"]]
    [of_invoice] = exported["records"]["invoice"]
    assert (of_invoice["number"], of_invoice["customer"]["address"]) == (invoice["number"], "Secret Street")
    assert of_invoice["link"] == ""
    assert paid["cardToken"] not in str(exported)
    deployment.run_command("customer", "erase", shop.mid, customer_id, "--yes")
    assert payments.verify(paid["txnRef"])["email"] == ""
    assert payments.charge_token(paid["cardToken"])["status"] == 104
    assert payments.verify(kept["txnRef"])["email"] == "other@example.com"
    left = detail(shop, customer_id)
    assert (left["name"], left["email"], left["transactions"], left["totals"]) == (None, None, [], [])
    assert listed(shop) == []
    left_invoice = shop.put("resources", inquire="invoice", invoice_id=invoice["invoice_id"]).body["data"]
    assert left_invoice == {**invoice, "customer": None, "note": None}
    texts = {"ciphertexts": str(open_everything(deployment, shop.mid))}
    for table in ("customer", "transaction", "payment", "payment_plan", "saved_card", "invoice"):
        rows = deployment.fetch(
            f'select to_json(t)::text from "{table}" t join merchant m using (merchant_id) where m.mid = $1', shop.mid
        )
        texts[table] = str(rows)
    words = ("Adaeze", "adaeze", "Secret", "198.51.100.7")
    assert [(table, word) for table, text in texts.items() for word in words if word in text] == []
    deployment.run_command("customer", "erase", shop.mid, customer_id, "--yes")
    assert "email" in deployment.run_refused_command("customer", "find", shop.mid, "adaeze@example.com")


def test_erasing_again_erases_what_was_paid_since(
    shop: MerchantClient, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    payments = PaymentClient(shop)
    user = {"firstname": "Ada", "email": "ada@example.com"}
    customer_id = register(shop)["customer_id"]
    deployment.run_command("customer", "erase", shop.mid, customer_id, "--yes")
    others = [payments.paid(user={"email": f"{name}@example.com"}) for name in ("bola", "chi", "dayo")]
    later = payments.paid(user=user)
    exported = msgspec.json.decode(deployment.run_command("customer", "export", shop.mid, customer_id))
    assert [row["txn_ref"] for row in exported["records"]["transaction"]] == [later["txnRef"]]
    # The hash is also found if the customers who paid take several pages.
    monkeypatch.setattr(customer_rows, "PAGE_SIZE", 1)
    [(merchant_id, key)] = deployment.fetch("select merchant_id, key from customer where customer_id = $1", customer_id)
    for sought, is_found in ((bytes(key), True), (b"nobody", False)):
        look = partial(customer_rows.find_payer_hash, merchant_id=merchant_id, key=sought)
        assert (deployment.run_on_connection(look) is not None) == is_found
    deployment.run_command("customer", "erase", shop.mid, customer_id, "--yes")
    assert payments.verify(later["txnRef"])["email"] == ""
    assert payments.charge_token(later["cardToken"])["status"] == 104
    assert [payments.verify(paid["txnRef"])["email"] for paid in others] == [
        f"{name}@example.com" for name in ("bola", "chi", "dayo")
    ]
    exported = msgspec.json.decode(deployment.run_command("customer", "export", shop.mid, customer_id))
    assert exported["records"] == {}


INSTALLMENTS = {"payment_schedule": {"30-01-2026": 20, "28-02-2026": 40, "30-03-2026": 40}, "total": "1500.00"}


def test_erasing_a_customer_ends_plans_on_cards_of_other_addresses(open_shop: Any, deployment: Deployment) -> None:
    shop = open_shop(now="2026-01-30T08:00:00+01:00")
    payments = PaymentClient(shop)
    user = {"firstname": "Ada", "email": "ada@example.com"}
    token = payments.paid(user={"email": "old@example.com"})["cardToken"]
    begun = payments.charge_token(token, amount="300.00", user=user, installment=INSTALLMENTS)
    assert begun["txnStatus"] == "successful"
    payments.paid(user=user, is_recurring=True, recurrent={"frequency": "daily", "value": "09"})
    [recurrent] = shop.put("resources", inquire="recurrents").body
    shop.put("resources", inquire="recurrent", id=recurrent["id"], status="stop")
    deployment.run_command("customer", "erase", shop.mid, register(shop)["customer_id"], "--yes")
    assert deployment.broken_invariants([shop.mid]) == []
    shop.advance(until="2026-04-15T00:00:00+01:00")
    [plan] = shop.put("resources", inquire="installments").body
    assert (plan["state"], plan["paid"], plan["next_charge"]) == ("cancelled", "300.00", None)
    resumed = shop.put("resources", inquire="installments", id=plan["id"], status="resume").body
    assert resumed["message"] == "This installment plan is cancelled and cannot be changed any more"
    started = shop.put("resources", inquire="recurrent", id=recurrent["id"], status="start").body
    assert (started["status"], started["message"]) == (104, "This recurrent payment is over")
    assert payments.charge_token(token)["txnStatus"] == "successful", "the card of the other address stays"


def test_a_customer_is_shown_with_the_newest_20_payments_and_cards(shop: MerchantClient) -> None:
    payments, customer_id = PaymentClient(shop), register(shop)["customer_id"]
    for number in range(CUSTOMER_PAYMENTS.most + 1):
        payments.paid(user={"email": "ada@example.com"}, amount=f"{number + 1}00.00")
        for count, shown in CUSTOMER_PAYMENTS.sides:
            if count == number + 1:
                lines = [line["amount"] for line in detail(shop, customer_id)["transactions"]]
                assert lines == [f"{count - place}00.00" for place in range(shown)]
        for count, shown in CUSTOMER_CARDS.sides:
            if count == number + 1:
                assert len(detail(shop, customer_id)["cards"]) == shown
