"""Steps of disputes over HTTP."""

from base64 import b64encode
from typing import Any

from tests.methods.payment.payment_client import PaymentClient

# What a dispute of 1,500.00 takes: amount, fee and VAT.
TOTAL = 150_000 + 150_000 + 11_250


def open_dispute(client: PaymentClient, txn_ref: str, **fields: Any) -> Any:
    request = {"action": "dispute", "txnRef": txn_ref, "reason": "fraudulent", **fields}
    return client.shop.put("sandbox", **request).body


def dispute_of(client: PaymentClient, opened: Any) -> Any:
    return client.pay(action="dispute", dispute_id=opened["data"]["dispute_id"])["data"]


def events_of(client: PaymentClient, dispute_id: str) -> list[str]:
    lines = client.shop.put("resources", inquire="events", txnRef=dispute_id).body["data"]
    return [line["payload"]["step"] for line in reversed(lines)]


def file_of(content: bytes) -> dict[str, str]:
    return {"name": "receipt.pdf", "content": b64encode(content).decode()}
