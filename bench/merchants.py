"""The merchants of a run: created, funded and given a webhook through the API, as a developer would."""

import http.client
import json
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from bench.results import MeasurementFailed
from bench.server import environment

# Enough for every measurement of a run on one hot wallet, within the 15 digits that an amount may have.
FULL_WALLET = Decimal("9000000000.00")

# The largest amount that a transaction may have by default, if funding is held to it. Paid in 200 times it
# lasts a hot wallet for a run, and 5 times one of a hundred.
LARGEST_AMOUNT = Decimal("10000000.00")
HOT_WALLET_FUNDINGS = 200
SPREAD_WALLET_FUNDINGS = 5

# The discard port: no server listens, so a delivery costs the worker one refused connection.
WEBHOOK_URL = "http://127.0.0.1:9/"


class Merchant(NamedTuple):
    mid: str
    key: str


# The demo merchant of the test environment.
DEMO = Merchant("GP0000001", "123456789")


def send_request(
    port: int, path: str, merchant: Merchant, body: Mapping[str, object], *, seconds: float = 30.0
) -> dict[str, Any]:
    """Sends one request on a connection of its own: this is set-up, not load."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        headers = {"mid": merchant.mid, "key": merchant.key, "Content-Type": "application/json"}
        connection.request("PUT", path, json.dumps(body), headers)
        reply: dict[str, Any] = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError) as fault:
        raise MeasurementFailed(f"{path} {body.get('action')}: {fault!r}") from fault
    finally:
        connection.close()
    return reply


def send_expecting(
    port: int, path: str, merchant: Merchant, body: Mapping[str, object], status: int = 200
) -> dict[str, Any]:
    """Returns the reply, which must have this status."""
    reply = send_request(port, path, merchant, body)
    if reply.get("status") != status:
        raise MeasurementFailed(f"{path} {body.get('action')} answered {json.dumps(reply)[:200]}")
    return reply


def make_merchant(port: int, dsn: str, fundings: int = HOT_WALLET_FUNDINGS) -> Merchant:
    """Creates a merchant with a full wallet and a webhook at which no server listens."""
    reply = send_expecting(port, "/sandbox", DEMO, {"action": "new_merchant", "name": "Bench"})
    merchant = Merchant(reply["mid"], reply["key"])
    fund_wallet(port, merchant, fundings)
    set_webhook(port, merchant, dsn)
    return merchant


def fund_wallet(port: int, merchant: Merchant, fundings: int) -> None:
    """Funds a wallet at once, or in pieces if the transaction limit applies to funding too. Contract: #rates"""
    if send_request(port, "/sandbox", merchant, funding(FULL_WALLET)).get("status") == 200:
        return
    for _ in range(fundings):
        send_expecting(port, "/sandbox", merchant, funding(LARGEST_AMOUNT))


def funding(amount: Decimal) -> dict[str, str]:
    return {"action": "fund_wallet", "currency": "NGN", "amount": str(amount)}


def set_webhook(port: int, merchant: Merchant, dsn: str) -> None:
    """Sets the webhook through the sandbox, which is quick; if that is refused, by the command line."""
    reply = send_request(port, "/sandbox", merchant, {"action": "webhook", "url": WEBHOOK_URL})
    if reply.get("status") == 200:
        return
    command = [sys.executable, "-m", "kasuwa", "merchant", "set", merchant.mid, "--webhook-url", WEBHOOK_URL]
    done = subprocess.run(command, env=environment(dsn), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MeasurementFailed(f"no webhook for {merchant.mid}: {json.dumps(reply)[:200]}; {done.stderr[-300:]}")


def save_card(port: int, merchant: Merchant) -> str:
    """Returns the token of an approved card. CVV 100 makes the sandbox ask for a PIN, so that one charge completes."""
    card = {
        "card_no": "4111111111111111",
        "expiry_month": "12",
        "expiry_year": f"{datetime.now(UTC).year % 100 + 3:02d}",
        "ccv": "100",
        "pin": "1234",
    }
    body = {"action": "initiate", "paymentType": "card", "card": card, "amount": "100.00"}
    opened = send_expecting(port, "/payment", merchant, body, status=202)
    again = {"action": "charge", "txnRef": opened.get("txnRef"), "auth_type": opened.get("apply_auth")}
    charged = send_expecting(port, "/payment", merchant, {**body, **again})
    token = charged.get("cardToken")
    if not isinstance(token, str):
        raise MeasurementFailed(f"a charge without a cardToken: {json.dumps(charged)[:200]}")
    return token


def make_payments(port: int, merchant: Merchant, token: str, count: int) -> list[str]:
    """Returns references of successful payments, to be verified."""
    body = {"action": "charge", "paymentType": "token", "token": token, "amount": "100.00"}
    return [str(send_expecting(port, "/payment", merchant, body)["txnRef"]) for _ in range(count)]
