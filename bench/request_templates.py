"""The requests of the load as bytes: one template per merchant, with a gap for the reference.

Both load generators use them: wrk, for which they are written to a Lua file, and the paced client.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.merchants import Merchant

# The run's name (four characters), the thread's letter, a number of nine digits: load.lua makes the same.
REFERENCE_WIDTH = 14
REFERENCE_PLACEHOLDER = "#" * REFERENCE_WIDTH

# The delivery job is written, as in production, and falls due tomorrow: deliveries are measured separately.
DELAYED_WEBHOOK_HEADER = "x-sandbox-scenario: webhook=late:86400\r\n"
GZIP_HEADER = "Accept-Encoding: gzip\r\n"


@dataclass(frozen=True)
class RequestTemplate:
    """A complete HTTP request. If it has a gap for the reference, `suffix` is what follows it."""

    prefix: str
    suffix: str | None

    def render(self, run: str, thread: str, number: int) -> bytes:
        """Returns the bytes to send. `run` has four characters, `thread` one."""
        if self.suffix is None:
            return self.prefix.encode()
        return f"{self.prefix}{run}{thread}{number:09d}{self.suffix}".encode()


def transfers(merchants: Iterable[Merchant]) -> list[RequestTemplate]:
    """Transfers to account 0000000000, which the sandbox bank pays at once."""
    body = {
        "action": "transfer",
        "amount": "100.00",
        "bankcode": "058",
        "accountnumber": "0000000000",
        "sender_name": "Bench",
        "narration": "bench",
        "orderRef": REFERENCE_PLACEHOLDER,
    }
    return [make_put_request("/disburse", merchant, body) for merchant in merchants]


def token_charges(merchant: Merchant, token: str) -> list[RequestTemplate]:
    """Charges of one saved card."""
    body = {
        "action": "charge",
        "paymentType": "token",
        "token": token,
        "amount": "100.00",
        "user": {"firstname": "Bench", "lastname": "Load", "email": "bench@example.com"},
        "customer_txnref": REFERENCE_PLACEHOLDER,
    }
    return [make_put_request("/payment", merchant, body)]


def verifications(merchant: Merchant, references: Iterable[str]) -> list[RequestTemplate]:
    """Verifications of each reference in turn."""
    return [
        make_put_request("/payment", merchant, {"action": "verify", "txnRef": reference}) for reference in references
    ]


def pulls(merchant: Merchant) -> list[RequestTemplate]:
    """The whole catalogue of bills, with the headers of common clients: the largest reply, and the same for
    everyone."""
    return [make_put_request("/bills", merchant, {"action": "pull"}, GZIP_HEADER)]


def plain_pulls(merchant: Merchant) -> list[RequestTemplate]:
    return [make_put_request("/bills", merchant, {"action": "pull"}, "")]


def make_put_request(
    path: str, merchant: Merchant, body: Mapping[str, object], header: str = DELAYED_WEBHOOK_HEADER
) -> RequestTemplate:
    """Returns the request, split in two at the gap if it has one."""
    text = json.dumps(body, separators=(",", ":"))
    head = (
        f"PUT {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nmid: {merchant.mid}\r\nkey: {merchant.key}\r\n"
        f"{header}"
        f"Content-Type: application/json\r\nContent-Length: {len(text.encode())}\r\n\r\n"
    )
    before, gap, after = (head + text).partition(REFERENCE_PLACEHOLDER)
    return RequestTemplate(before, after if gap else None)


def write_lua(orders: Iterable[RequestTemplate], path: Path) -> None:
    """Writes a list of lists. An ASCII string of JSON is also one of Lua."""
    lines = [json.dumps([order.prefix] if order.suffix is None else [order.prefix, order.suffix]) for order in orders]
    path.write_text("return {\n" + "".join("{" + line[1:-1] + "},\n" for line in lines) + "}\n")
