"""Rows of every kind that has a ciphertext, and the vault that opens them."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

import asyncpg

from kasuwa.core.vault import Vault
from kasuwa.merchants.endpoints import add_endpoint, roll_secret
from kasuwa.methods.sealed_columns import SEALED_PLACES
from kasuwa.privacy.vault_keys import open_vault
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import read_settings
from tests.merchant_client import MerchantClient
from tests.methods.clients.enrollment import BVN, OTHER_BVN, create, enroll
from tests.methods.disputes.dispute_client import file_of, open_dispute
from tests.methods.investments import savers
from tests.methods.investments.savers import invest, open_savings
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment

PAYER = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
METER: dict[str, Any] = {"action": "pay", "paycode": "IfuR3XxiIpxqbZQ", "reference": "45012345678"}


def make_two_of_each(shop: MerchantClient, deployment: Deployment) -> None:
    for number, bvn in enumerate((BVN, OTHER_BVN)):
        enroll(shop, bvn=bvn, phone=f"0803123456{number}")
        payer = {"ip": f"102.89.2.{number}", "fingerprint": "f0", "meta": {"till": number}}
        invest(
            shop,
            "deposit",
            savings_id=open_savings(shop, savers.enroll(shop)),
            payment_method="wallet",
            amount=10,
            **payer,
        )
        create(shop, bvn="22222222241", verify=True)
        payee: dict[str, Any] = {
            "name": "Ada Obi",
            "reference": f"payee-{number}",
            "email": "ada@example.com",
            "bvn": bvn,
        }
        shop.put("resources", request="personalized-accounts", **payee)
        customer = shop.put("resources", request="customer", name="Ada Obi", email=f"ada{number}@example.com").body
        items = [{"name": "Fabric", "amount": 500}]
        made = shop.put("resources", request="invoice", customer_id=customer["data"]["customer_id"], items=items).body
        sent = shop.put("resources", request="invoice_send", invoice_id=made["data"]["invoice_id"]).body
        assert sent["status"] == 200, sent
        card = CardClient(shop)
        evidence = {"explanation": f"It never came, {number}"}
        disputed = card.ask("dispute", id=card.buy("5.00")["txnRef"], reason="not received", evidence=evidence)
        assert disputed["status"] == 200, disputed
        bill = shop.put("bills", **METER, amount=f"{number + 5}000.00", orderRef=f"bill-{number}").body
        assert bill["token"]
        shop.transfer(headers={"idempotency-key": f"key-{number}"})
        payments = PaymentClient(shop)
        payments.paid(is_recurring=True, recurrent={"frequency": "daily", "value": "12"})
        payments.pay(action="checkout", amount="1500.00", user=PAYER)
        payments.pay(action="charge", paymentType="bank_transfer", amount="1500.00", user=PAYER)
        opened = open_dispute(payments, payments.paid()["txnRef"])["data"]["dispute_id"]
        proof = {"explanation": "delivered", "files": [file_of(b"%PDF-1.4")]}
        payments.pay(action="dispute_respond", dispute_id=opened, evidence=proof)
    deployment.run_command("merchant", "roll-key", shop.mid)
    for _ in range(2):
        deployment.run_command("merchant", "roll-secret", shop.mid)
    [(merchant_id,)] = deployment.fetch("select merchant_id from merchant where mid = $1 and current", shop.mid)
    deployment.run_on_connection(partial(add_endpoints, deployment, merchant_id))


async def add_endpoints(deployment: Deployment, merchant_id: int, connection: Any) -> None:
    """Adds two webhook endpoints that have a secret and one before it."""
    vault = await read_vault(deployment)
    for number in range(2):
        url = f"http://127.0.0.1:9/{number}"
        endpoint_id, _ = await add_endpoint(connection, vault, merchant_id, url, ["no such kind"], "a test")
        await roll_secret(connection, vault, merchant_id, endpoint_id, timedelta(days=1))


async def read_vault(deployment: Deployment) -> Vault:
    connection = await asyncpg.connect(deployment.dsn)
    try:
        return await open_vault(connection, load_secret_key(read_settings({}, data=deployment.directory)))
    finally:
        await connection.close()


def open_everything(deployment: Deployment, mid: str | None = None) -> dict[Any, bytes]:
    """Returns what every ciphertext of the database holds, or those of a merchant. Raises UnsealError if one does not
    open."""
    vault, opened = asyncio.run(read_vault(deployment)), {}
    columns = [column for column in SEALED_PLACES.columns if mid is None or column.is_of_merchant]
    of_mid = "true" if mid is None else "merchant_id in (select merchant_id from merchant where mid = $1)"
    for column in columns:
        merchant = "merchant_id" if column.is_of_merchant else "0"
        names = ", ".join(("", *column.named_by))
        for row_id, merchant_id, sealed, *named in deployment.fetch(
            f"select {column.row_id}, {merchant}, {column.ciphertext_sql}{names} from {column.table}"
            f" where length({column.ciphertext_sql}) > 0 and {of_mid}",
            *(() if mid is None else (mid,)),
        ):
            place = column.place(*named)
            opened[column.name, row_id, merchant_id] = vault.unseal(merchant_id, place, sealed)
    return opened
