"""A merchant with records of every kind, and the paths of their pages."""

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from kasuwa.console.routes import ConsolePage
from tests.merchant_client import MerchantClient
from tests.methods.investments import savers
from tests.methods.loans.lending_client import LendingClient
from tests.methods.payment.payment_client import PaymentClient, card
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment

PREPAID = "IfuR3XxiIpxqbZQ"

# A vendor in trouble, as a process would publish it.
RAIL_IN_TROUBLE = """
    insert into rail_health values ('host worker 1', 'sandbox', 8, 41.5, true,
        array['A microfinance bank with a long name', 'Zenith Bank'],
        '[{"at":1767605400,"call":"GET /api/v2/disbursements/single/summary","outcome":"not sent"}]',
        now() + interval '1 day')
    on conflict (process, rail) do nothing
"""
RAIL_BALANCE = """
    insert into rail_balance values ('sandbox', 'NGN', 123456789012, true, now() + interval '1 day')
    on conflict (rail, currency) do nothing
"""


class SampleMerchant:
    """`records` has a reference of each kind; `told` says what the other names in paths stand for."""

    def __init__(self, deployment: Deployment) -> None:
        self.shop = deployment.open_shop(name="Ada Stores")
        self.mid = self.shop.mid
        with self.shop.connection:
            self.shop.put("sandbox", action="webhook", url="http://127.0.0.1:9/nobody")
            self.reference = self.shop.transfer(narration="Invoice 1042")["txnRef"]
            self.shop.transfer(accountnumber="0000005100")
            self.shop.transfer(accountnumber="0000000020", orderRef="open")
            self.records = make_records(self.shop)
            self.shop.put("sandbox", action="advance", days=1)
            self.shop.put("sandbox", action="settle", txnRef=self.reference, outcome="failed")
        deployment.fetch(RAIL_IN_TROUBLE)
        deployment.fetch(RAIL_BALANCE)
        self.path_values = {
            "ref": self.reference,
            "transaction_form": "refund",
            "seq": "1",
            "method": "disburse",
            "action": "transfer",
            "mid": self.mid,
            "name": "wallet:main:NGN",
            "token": "nonsense",
        }

    def path_of(self, path: str) -> str:
        """Returns the path of a route, filled with this merchant's objects."""
        values = {**self.path_values, "reference": self.records.get(path.split("/")[1], "")}
        for name, value in values.items():
            path = path.replace("{" + name + "}", quote(value, safe=""))
        assert "{" not in path, f"{path}: say here what it shows"
        return path


def belongs_to_merchant(page: ConsolePage) -> bool:
    """Whether its path names something that belongs to one merchant; the operator sees those of all."""
    named = any("{" + name + "}" in page.path for name in ("ref", "seq", "reference"))
    return named and not page.path.startswith("/operator")


def make_records(shop: MerchantClient) -> dict[str, str]:
    bank, lending = LendingClient(shop.connection, shop.mid, shop.key), PaymentClient(shop)
    given = card(auth="PIN")
    begun = lending.initiate(given, is_recurring=True, recurrent={"frequency": "daily", "value": "09"})
    lending.charge(begun, given)
    today = datetime.fromisoformat(shop.now())
    later = {f"{today + timedelta(days=30 * n):%d-%m-%Y}": share for n, share in ((1, 60), (2, 40))}
    lending.paid(amount=None, installment={"payment_schedule": later, "total": "1000.00"})
    client, other = bank.client(), bank.client()
    bank.lend()
    savings = savers.open_savings(shop, client, "700.00")
    thrift = savers.make_plan(shop, 3)
    savers.join(shop, thrift, savings)
    split = shop.put("sandbox", action="beneficiary", name="Bola Ade", bankcode="058", accountnumber="0000000000").body
    shop.put("cashcode", action="generate", amount="5000.00", pin="2580", channel="ATM", orderRef="cash-1")
    bill: dict[str, Any] = {"paycode": PREPAID, "reference": "45012345678", "amount": "5000.00", "orderRef": "bill-1"}
    return {
        "clients": other,
        "loans": bank.request(client)["data"]["loan_id"],
        "savings": savings,
        "thrift": thrift,
        "cards": CardClient(shop).reference,
        "cashcodes": "cash-1",
        "bills": str(shop.put("bills", action="pay", **bill).body["txnRef"]),
        "beneficiaries": str(split["ref_code"]),
        "links": str(shop.put("resources", request="paylink", title="Cooking class").body["data"]["link_id"]),
        "recurrents": newest(shop, "recurrents"),
        "instalments": newest(shop, "installments"),
    }


def newest(shop: MerchantClient, kind: str) -> str:
    body: Any = shop.put("resources", inquire=kind).body
    return str((body if isinstance(body, list) else body["data"])[0]["id"])
