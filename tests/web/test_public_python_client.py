"""Every call of a public Python client of this API, version 1.0.0, with the bodies and headers that it sends.

The client's package is named `src`, so that it is not installed: the table below has each of its methods with the body
that the method builds, absent arguments as null, as the client sends them. (Contract: #requests)
"""

from typing import Any

import msgspec
import pytest

from tests.merchant_client import MerchantClient, new_reference

# The client misspells the name of one header and sends no other type of content.
CLIENT_HEADERS = {"accept": "application/json", "content_type": "application/json", "content-type": "application/json"}

AIRTIME = "lAApm6OBmRmp3cQ"
# Calls that cannot work as the client means them: what our refusal says, and why.
BROKEN = {
    "purchaseBill": (
        "resolve pays nothing: send action pay",
        "it sends the action resolve with an amount: accepted, its caller would believe that the bill was paid",
    ),
}

Call = tuple[str, str, dict[str, Any]]


def bulk_order(number: int) -> dict[str, Any]:
    return {
        "amount": "1000",
        "accountnumber": "0000000000",
        "bankcode": "058",
        "sender_name": f"Sender {number}",
        "narration": "Salary",
        "orderRef": new_reference("bulk"),
    }


def link_fields(**fields: Any) -> dict[str, Any]:
    return {
        "title": "Cooking class",
        "description": "Saturday",
        "amount": 5000,
        "currency": "NGN",
        "payer_bears_fees": True,
        "accept_number": False,
        "custom_link": None,
        "redirect_url": None,
        "custom_message": None,
        "notification_email": "shop@example.com",
        "frequency": None,
        **fields,
    }


def invoice_fields(customer_id: str, **fields: Any) -> dict[str, Any]:
    return {
        "request": "invoice",
        "invoice_id": None,
        "currency": "NGN",
        "customer_id": customer_id,
        "date_due": "2099-12-31",
        "discount_type": None,
        "discount": 0,
        "shipping": 500,
        "vat": 7.5,
        "note": "Thank you",
        "charge_user": True,
        "items": [{"description": "Fabric", "qty": 2, "unit_cost": 1500}],
        **fields,
    }


def calls_without_objects() -> list[Call]:
    """Returns the calls that name nothing which an earlier call has made."""
    return [
        ("bvnValidation", "resources", {"inquire": "bvn", "bvn": "12345678901"}),
        ("supportedChargeableBanks", "resources", {"inquire": "supported_chargable_banks"}),
        ("bankList", "resources", {"inquire": "banks"}),
        (
            "verifyAccountName",
            "resources",
            {"inquire": "accountname", "accountnumber": "0040000008", "bankcode": "058", "bankname": "GTBank"},
        ),
        (
            "personalizedAccount",
            "resources",
            {
                "request": "personalized-accounts",
                "name": "Ada Obi",
                "reference": new_reference("payee"),
                "email": "ada@example.com",
                "bvn": "12345678901",
                "bank": "providus",
            },
        ),
        ("getCustomers", "resources", {"inquire": "customer"}),
        ("getBillCategory", "bills", {"action": "pull"}),
        ("getBillCategory with a category", "bills", {"action": "pull", "category": "airtime"}),
        ("resolveBill", "bills", {"action": "resolve", "paycode": AIRTIME, "reference": "08031234567"}),
        (
            "purchaseBill",
            "bills",
            {
                "action": "resolve",
                "paycode": AIRTIME,
                "reference": "08031234567",
                "amount": 500,
                "orderRef": None,
            },
        ),
        ("createPaymentLink", "resources", {"request": "paylink", **link_fields(type="one_time")}),
        (
            "createPaymentLink recurring",
            "resources",
            {"request": "paylink", **link_fields(type="recurring", frequency="monthly", payer_bears_fees="yes")},
        ),
        (
            "createTicket",
            "resources",
            {
                "request": "ticket",
                **link_fields(type="one_time", accept_number=1),
                "ticket_data": [{"name": "Regular", "amount": 2000}, {"name": "VIP", "amount": 9000, "quantity": 20}],
            },
        ),
    ]


def send(shop: MerchantClient, method: str, body: dict[str, Any]) -> Any:
    """Sends a body as the client does, and reads the reply as it does: JSON if HTTP is 200."""
    received = shop.send(method, msgspec.json.encode(body), headers=CLIENT_HEADERS)
    assert received.http == 200, received.body
    return received.body


def is_accepted(body: Any) -> bool:
    """The list of banks is a bare object, and look-ups of accounts and persons say `success`."""
    return body.get("status", 200) in (200, 202, "success")


@pytest.mark.parametrize("call", calls_without_objects(), ids=lambda call: call[0])
def test_a_call_of_the_client_is_accepted(shop: MerchantClient, call: Call) -> None:
    name, method, body = call
    reply = send(shop, method, body)
    if name in BROKEN:
        assert (reply["status"], BROKEN[name][0] in reply["message"]) == (104, True), BROKEN[name][1]
    else:
        assert is_accepted(reply), (name, reply)


def test_calls_that_name_earlier_objects_are_accepted(shop: MerchantClient) -> None:
    customer = {"request": "customer", "address": "12 Marina", "email": "ada@example.com", "name": "Ada Obi"}
    made = send(shop, "resources", {**customer, "phone": "08031234567"})
    customer_id = made["data"]["customer_id"]
    detail = send(shop, "resources", {"inquire": "customer_detail", "customer_id": customer_id})
    assert detail["data"]["name"] == "Ada Obi"
    invoice = send(shop, "resources", invoice_fields(customer_id))
    assert (invoice["status"], invoice["data"]["total"]) == (200, "3725.00")
    changes = {"invoice_id": invoice["data"]["invoice_id"], "discount_type": "percentage", "discount": "10"}
    changed = send(shop, "resources", invoice_fields(customer_id, **changes, date_due="31-12-2099"))
    assert (changed["data"]["total"], changed["data"]["number"]) == ("3402.50", invoice["data"]["number"])
    category = send(shop, "bills", {"action": "pull"})
    bill_id = category["data"]["bills"][0]["id"]
    assert send(shop, "bills", {"action": "pull", "bills_id": bill_id})["status"] == 200


def test_transfers_of_the_client_are_made_and_verified(shop: MerchantClient) -> None:
    order = {**bulk_order(1), "action": "transfer"}
    sent = send(shop, "disburse", order)
    assert (sent["status"], sent["txnStatus"]) == (200, "successful")
    for reference in (sent["txnRef"], order["orderRef"]):
        assert send(shop, "disburse", {"action": "verify", "txnRef": reference})["txnStatus"] == "successful"
    bulk = send(shop, "disburse", {"action": "transfer", "type": "bulk", "data": [bulk_order(2), bulk_order(3)]})
    assert bulk["status"] in (200, 202)
    order_ref = new_reference("airtime")
    paid = shop.put(
        "bills", action="pay", paycode=AIRTIME, reference="08031234567", amount=500, orderRef=order_ref
    ).body
    assert send(shop, "bills", {"action": "verify", "txnRef": paid["txnRef"]})["status"] == 200


def test_the_table_has_every_method_of_the_client() -> None:
    named = {name.partition(" ")[0] for name, _, _ in calls_without_objects()}
    elsewhere = {
        *("createCustomer", "getCustomerDetail", "getBillById", "verifyBillPurchase", "transfer"),
        *("verifySingleTransfer", "bulkTransfer", "invoice"),
    }
    assert len(named | elsewhere) == 19
    assert set(BROKEN) <= named
