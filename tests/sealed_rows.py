"""Rows of every kind that has a ciphertext, and the vault that opens them."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

import asyncpg

from kasuwa.core.vault import Vault
from kasuwa.db.migrate import open_vault
from kasuwa.db.webhook_endpoints import add_endpoint, roll_secret
from kasuwa.sealed_columns import SEALED_PLACES
from kasuwa.secret_key import secret_key_of
from kasuwa.settings import read_settings
from tests.merchant_client import MerchantClient
from tests.methods.clients.enrollment import BVN, OTHER_BVN, create, enroll
from tests.methods.disputes.dispute_client import file_of, open_dispute
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment

PAYER = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
METER: dict[str, Any] = {"action": "pay", "paycode": "IfuR3XxiIpxqbZQ", "reference": "45012345678"}


def make_two_of_each(shop: MerchantClient, deployment: Deployment) -> None:
    for number, bvn in enumerate((BVN, OTHER_BVN)):
        enroll(shop, bvn=bvn, phone=f"0803123456{number}")
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
        shop.put("resources", request="invoice", customer_id=customer["data"]["customer_id"], items=items)
        CardClient(shop)
        bill = shop.put("bills", **METER, amount=f"{number + 5}000.00", orderRef=f"bill-{number}").body
        assert bill["token"]
        shop.transfer(headers={"idempotency-key": f"key-{number}"})
        payments = PaymentClient(shop)
        payments.paid(is_recurring=True, recurrent={"frequency": "daily", "value": "12"})
        payments.pay(action="checkout", amount="1500.00", user=PAYER)
        payments.pay(action="charge", paymentType="bank_transfer", amount="1500.00", user=PAYER)
        opened = open_dispute(payments, payments.paid()["txnRef"])["data"]["dispute_id"]
        evidence = {"explanation": "delivered", "files": [file_of(b"%PDF-1.4")]}
        payments.pay(action="dispute_respond", dispute_id=opened, evidence=evidence)
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
        return await open_vault(connection, secret_key_of(read_settings({}, data=deployment.directory)))
    finally:
        await connection.close()


def unsealed_texts(deployment: Deployment, mid: str) -> list[str]:
    """Returns what is encrypted in the rows of a merchant, without its jobs."""
    vault = asyncio.run(read_vault(deployment))
    found = []
    for column in (column for column in SEALED_PLACES.columns if column.is_of_merchant):
        named = "".join(f", t.{name}" for name in column.named_by)
        query = (
            f"select t.merchant_id, t.{column.column}{named} from {column.table} t join merchant m using (merchant_id)"
        )
        rows = deployment.fetch(f"{query} where m.mid = $1 and length(t.{column.column}) > 0", mid)
        found += [
            vault.unseal(merchant_id, column.place(*names), sealed).decode(errors="replace")
            for merchant_id, sealed, *names in rows
        ]
    return found
