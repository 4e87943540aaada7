"""Measures whole payments by a card with an OTP: the CPU time of each of their three requests.

wrk cannot send what depends on a reply before. So a few threads send all requests of one step, then all of the next:
what the client costs is not measured.
"""

import http.client
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from bench.cpu import CpuMeter
from bench.merchants import Merchant
from bench.results import CpuCost, MeasurementFailed

PAYMENTS = 2_000
CONNECTIONS = 32
# The security code of the test environment for a card whose bank asks for an OTP.
ASKS_FOR_OTP = "000"
RIGHT_OTP = "123456"


def measure_card_payments(port: int, merchant: Merchant, meter: CpuMeter) -> dict[str, CpuCost]:
    """Returns the CPU time of a payment in each step."""
    card = {
        "card_no": "4111111111111111",
        "expiry_month": "12",
        "expiry_year": f"{datetime.now(UTC).year % 100 + 3:02d}",
        "ccv": ASKS_FOR_OTP,
    }
    first = {"action": "initiate", "paymentType": "card", "card": card, "amount": "100.00"}
    costs: dict[str, CpuCost] = {}

    def run_step(name: str, bodies: Sequence[Mapping[str, Any]], status: int) -> list[str]:
        before = meter.read()
        references = send_all(port, merchant, bodies, status)
        costs[name] = meter.cost_since(before, len(bodies))
        return references

    references = run_step("initiate", [first] * PAYMENTS, 202)
    charges = [{**first, "action": "charge", "txnRef": reference, "auth_type": "OTP"} for reference in references]
    references = run_step("charge", charges, 202)
    codes = [{"action": "validate", "txnRef": reference, "otp": RIGHT_OTP} for reference in references]
    run_step("validate", codes, 200)
    return costs


def send_all(port: int, merchant: Merchant, bodies: Sequence[Mapping[str, Any]], status: int) -> list[str]:
    """Sends requests over a few connections, and returns the reference in each reply. All must have this status."""
    shares = [bodies[start::CONNECTIONS] for start in range(CONNECTIONS)]
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        sent = threads.map(lambda share: send_share(port, merchant, share, status), shares)
        return [reference for share in sent for reference in share]


def send_share(port: int, merchant: Merchant, bodies: Sequence[Mapping[str, Any]], status: int) -> list[str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30.0)
    headers = {"mid": merchant.mid, "key": merchant.key, "Content-Type": "application/json"}
    references = []
    try:
        for body in bodies:
            connection.request("PUT", "/payment", json.dumps(body), headers)
            reply = json.loads(connection.getresponse().read())
            if reply.get("status") != status:
                raise MeasurementFailed(f"{body['action']} answered {json.dumps(reply)[:200]}")
            references.append(str(reply["txnRef"]))
    except (OSError, http.client.HTTPException, ValueError) as fault:
        raise MeasurementFailed(f"card payments: {fault!r}") from fault
    finally:
        connection.close()
    return references
