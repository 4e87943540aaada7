"""Exports and erasure of open checkouts and personalized accounts, which have no hash of the customer's address."""

from functools import partial
from typing import Any

import msgspec

from kasuwa.methods.checkout.store import iterate_open_checkouts
from kasuwa.methods.resources.store import iterate_accounts
from tests.merchant_client import MerchantClient
from tests.methods.checkout.payer import Payer, open_checkout, verify
from tests.running import Deployment
from tests.sealed_rows import open_everything

ADA: dict[str, Any] = {"name": "Ada Obi", "email": "ada@example.com"}
BOLA: dict[str, Any] = {"name": "Bola Ade", "email": "bola@example.com"}


def open_account(shop: MerchantClient, reference: str, **person: Any) -> Any:
    body = shop.put("resources", request="personalized-accounts", reference=reference, **person).body
    assert body["status"] == 200, body
    return body["data"]


def names_of_accounts(shop: MerchantClient) -> dict[str, str]:
    lines = shop.put("resources", inquire="accounts").body["data"]
    return {line["reference"]: line["accountName"] for line in lines}


def test_open_checkouts_and_accounts_are_exported_and_erased(shop: MerchantClient, deployment: Deployment) -> None:
    customer_id = shop.put("resources", request="customer", **ADA).body["data"]["customer_id"]
    begun = open_checkout(shop, meta={"basket": "of Ada"})
    other = open_checkout(shop, user={"firstname": "Bola", "email": "bola@example.com"})
    open_account(shop, "one", **ADA, bvn="22212345678")
    open_account(shop, "two", **{**ADA, "email": "ADA@example.com"})
    open_account(shop, "three", **BOLA)
    shop.put("resources", request="close_personalized_account", reference="two")
    records = msgspec.json.decode(deployment.run_command("customer", "export", shop.mid, customer_id))["records"]
    assert [(row["txn_ref"], row["fullname"]) for row in records["checkout"]] == [(begun["txnRef"], "Ada Obi")]
    accounts = [(row["reference"], row["state"], row["name"]) for row in records["personalized_account"]]
    assert sorted(accounts) == [("one", "open", "Ada Obi"), ("two", "closed", "Ada Obi")]
    deployment.run_command("customer", "erase", shop.mid, customer_id, "--yes")
    assert names_of_accounts(shop) == {"one": "", "two": "", "three": "Bola Ade"}
    texts = str(open_everything(deployment, shop.mid))
    assert [word for word in ("Ada Obi", "ada@", "ADA@", "of Ada", "22212345678") if word in texts] == []
    assert "bola@example.com" in texts
    # The checkout can still be paid, by a payer who gives a name and an address.
    payer = Payer(shop, begun["checkoutURL"], deployment.port)
    payer.pay_by_card(auth="PIN", fullname="Chi Eze", email="chi@example.com")
    payer.send("pin", pin="1234")
    payer.close()
    paid = verify(shop, begun["txnRef"])
    assert (paid["txnStatus"], paid["email"]) == ("successful", "chi@example.com")
    assert verify(shop, other["txnRef"])["txnStatus"] == "pending"
    assert deployment.broken_invariants([shop.mid]) == []


def test_checkouts_and_accounts_are_read_in_pages(shop: MerchantClient, deployment: Deployment) -> None:
    begun = [open_checkout(shop)["txnRef"] for _ in range(3)]
    for reference in ("one", "two", "three"):
        open_account(shop, reference, **ADA)
    [[merchant_id]] = deployment.fetch("select merchant_id from merchant where mid = $1", shop.mid)

    async def read(iterate: Any, connection: Any) -> list[Any]:
        return [row async for row in iterate(merchant_id, connection, page_size=2)]

    checkouts = deployment.run_on_connection(partial(read, iterate_open_checkouts))
    assert [row.txn_ref for row in checkouts] == begun
    accounts = deployment.run_on_connection(partial(read, iterate_accounts))
    assert sorted(row.reference for row in accounts) == ["one", "three", "two"]
