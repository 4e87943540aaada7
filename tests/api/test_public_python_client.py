"""Every call of a public Python client of this API, version 1.0.0, made by the client itself. (Contract: #requests)"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.public_client import PublicClient, running_client
from tests.merchant_client import MerchantClient, new_reference
from tests.running import Deployment

AIRTIME = "lAApm6OBmRmp3cQ"
PHONE = "08031234567"
# Calls that cannot work as the client means them: the client's method, and what our refusal says.
BROKEN = {"purchaseBill": "resolve pays nothing: send action pay"}


@pytest.fixture
def client(shop: MerchantClient, deployment: Deployment) -> Iterator[PublicClient]:
    with running_client(shop, f"http://127.0.0.1:{deployment.port}/") as running:
        yield running


def accepted(client: PublicClient, name: str, *arguments: Any) -> Any:
    """Calls a method whose call must be accepted. The list of banks is a bare object, and look-ups say `success`."""
    reply = client.call(name, *arguments)
    assert isinstance(reply, dict), (name, reply)
    assert reply.get("status", 200) in (200, 202, "success"), (name, reply)
    return reply


def call_lookups(client: PublicClient) -> None:
    assert accepted(client, "bvnValidation", "12345678901")["data"]["bvn"] == "12345678901"
    assert accepted(client, "supportedChargeableBanks")
    assert "058" in accepted(client, "bankList")
    assert accepted(client, "verifyAccountName", "0040000008", "058", "GTBank")["data"]["account_name"] == "CHIDI EZE"


def call_customers(client: PublicClient) -> None:
    account = accepted(
        client, "personalizedAccount", "Ada Obi", "ada@example.com", "12345678901", new_reference("payee")
    )
    assert len(account["data"]["accountNumber"]) == 10
    made = accepted(client, "createCustomer", "Ada Obi", "ada@example.com", PHONE, "12 Marina Road")
    customer_id = made["data"]["customer_id"]
    [line] = accepted(client, "getCustomers")["data"]
    assert line["customer_id"] == customer_id
    items = [{"description": "Fabric", "qty": 2, "unit_cost": 1500}]
    invoice = accepted(client, "invoice", customer_id, True, 500, 7.5, "2099-12-31", 0, items, "Thank you")["data"]
    assert invoice["total"] == "3725.00"
    terms = (customer_id, True, 500, 7.5, "31-12-2099", "10", items, "Thanks", "percentage", invoice["invoice_id"])
    changed = accepted(client, "invoice", *terms)["data"]
    assert (changed["total"], changed["number"]) == ("3402.50", invoice["number"])
    detail = accepted(client, "getCustomerDetail", customer_id)["data"]
    assert (detail["name"], detail["invoices"][0]["outstanding"]) == ("Ada Obi", "3402.50")


def call_bills(client: PublicClient, shop: MerchantClient) -> None:
    categories = accepted(client, "getBillCategory")
    assert accepted(client, "getBillCategory", "airtime")["data"]
    assert accepted(client, "getBillById", categories["data"]["bills"][0]["id"])["data"]
    assert accepted(client, "resolveBill", AIRTIME, PHONE)
    refused = client.call("purchaseBill", AIRTIME, 500, PHONE, new_reference("airtime"))
    assert (refused["status"], BROKEN["purchaseBill"] in refused["message"]) == (104, True)
    # The client cannot pay a bill, so that one of the API is verified.
    order: dict[str, Any] = {
        "paycode": AIRTIME,
        "reference": PHONE,
        "amount": 500,
        "orderRef": new_reference("airtime"),
    }
    paid = shop.put("bills", action="pay", **order).body
    assert accepted(client, "verifyBillPurchase", paid["txnRef"])["txnRef"] == paid["txnRef"]


def call_transfers(client: PublicClient) -> None:
    order_ref = new_reference("order")
    sent = accepted(client, "transfer", 1000, "0000000000", "058", "Ada", order_ref, "Salary")
    assert sent["txnStatus"] == "successful"
    for reference in (sent["txnRef"], order_ref):
        assert accepted(client, "verifySingleTransfer", reference)["txnStatus"] == "successful"
    orders = [
        {
            "amount": "1000",
            "accountnumber": "0000000000",
            "bankcode": "058",
            "sender_name": f"Sender {number}",
            "narration": "Salary",
            "orderRef": new_reference("bulk"),
        }
        for number in (1, 2)
    ]
    assert accepted(client, "bulkTransfer", orders)["batchRef"]


def call_links(client: PublicClient) -> None:
    link = ("Cooking class", "Saturday", 5000)
    switches = (True, False, "shop@example.com")
    assert accepted(client, "createPaymentLink", *link, "one_time", *switches)["data"]["amount"] == "5000.00"
    recurring = ("yes", "no", "shop@example.com", None, None, None, "monthly")
    assert accepted(client, "createPaymentLink", *link, "recurring", *recurring)["data"]["type"] == "recurring"
    kinds = [{"name": "Regular", "amount": 2000}, {"name": "VIP", "amount": 9000, "quantity": 20}]
    sale = accepted(client, "createTicket", "Jazz Night", "Saturday", 0, "one_time", 1, 1, "shop@example.com", kinds)
    assert [kind["quantity"] for kind in sale["data"]["ticket_data"]] == [None, 20]


def test_every_call_of_the_client_is_accepted(client: PublicClient, shop: MerchantClient) -> None:
    call_lookups(client)
    call_customers(client)
    call_bills(client, shop)
    call_transfers(client)
    call_links(client)
    assert client.called == client.list_methods()


def test_a_wrong_key_is_answered_as_the_client_expects(shop: MerchantClient, deployment: Deployment) -> None:
    stranger = MerchantClient(shop.connection, shop.mid, "0" * len(shop.key))
    with running_client(stranger, f"http://127.0.0.1:{deployment.port}/") as client:
        refused = client.call("bankList")
    assert refused == {"code": 401, "status": "error", "message": "Ensure merchant key and merchant id is provided"}
