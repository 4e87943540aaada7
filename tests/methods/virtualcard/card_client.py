"""HTTP client of one virtual card: create, read, spend."""

from typing import Any

from tests.merchant_client import MerchantClient

BILLING: dict[str, Any] = {
    "address": "12 Marina Road",
    "name": "Ada Obi",
    "city": "Lagos",
    "state": "Lagos State",
    "postal_code": 101241,
}


class CardClient:
    """One card of a merchant. `data` is the reply of its creation."""

    def __init__(self, shop: MerchantClient, **fields: Any) -> None:
        self.shop = shop
        request = {"billing": BILLING, "amount": 100, "currency": "USD", "country": "NG", **fields}
        http, body = shop.put("virtualcard", action="create", **request)
        assert (http, body["status"], body["message"]) == (200, 200, "Created Successfully"), body
        self.data: dict[str, Any] = body["card_data"]
        self.reference = str(self.data["reference"])

    def ask(self, action: str, **fields: Any) -> Any:
        return self.shop.put("virtualcard", action=action, reference=self.reference, **fields).body

    def get(self, **fields: Any) -> Any:
        return self.ask("get", **fields)["card_data"]

    @property
    def balance(self) -> int:
        """The balance in minor units."""
        return int(self.get()["balance"].replace(",", "").replace(".", ""))

    @property
    def state(self) -> str:
        return str(self.get()["status"])

    def records(self, **fields: Any) -> list[Any]:
        body = self.ask("transactions", **fields)
        assert (body["status"], body["reference"]) == (200, self.reference), body
        return list(body["data"])

    def record_summaries(self, **fields: Any) -> list[tuple[str, float, float, str]]:
        """Returns the records in short, newest first."""
        return [(r["narration"], r["amount"], r["fee"], r["status"]) for r in self.records(**fields)]

    def buy(self, amount: str, *, headers: dict[str, str] | None = None, **fields: Any) -> Any:
        named = {} if "cardpan" in fields else {"reference": self.reference}
        return self.shop.put(
            "sandbox", action="card_purchase", amount=amount, headers=headers, **{**named, **fields}
        ).body

    def refund(self, txn_ref: str, **fields: Any) -> Any:
        return self.shop.put("sandbox", action="card_refund", txnRef=txn_ref, **fields).body
