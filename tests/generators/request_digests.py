"""What requests are recognized by when they are repeated, in tests/data/request_digests.json.

`python -m tests.generators.request_digests` adds the requests that the file lacks, and never changes one that it has: a
repeat may reach another version than the first request did.
"""

from pathlib import Path
from typing import Any

import msgspec

from kasuwa.api.idempotency_key import HEADER, read_claim
from kasuwa.core.action import Write
from kasuwa.core.vault import Vault
from kasuwa.engine.idempotency import IdempotencyClaim
from kasuwa.methods.bills.rules import pay_bill
from kasuwa.methods.cashcode.rules import issue
from kasuwa.methods.disburse.rules import transfer
from kasuwa.wire.decoding import decode
from tests.rule_context import context
from tests.walk.rows import ACTION_ROWS, ActionRow

FILE = Path(__file__).parents[1] / "data" / "request_digests.json"
COMMENT = (
    "A digest that differs from the one here makes every repeat after an upgrade fail, though the money has moved. "
    "Do not change a digest of this file. An optional field that a request gained counts only if it is sent: its "
    "default must be None. If a digest must change all the same, accept the one before as well for 24 hours after "
    "the upgrade, as long as replies are stored, and add the new one beside it. Digests by orderRef are stored for "
    "good and never change."
)
VAULT = Vault(bytes(32))

Json = dict[str, Any]

REPEATABLE = [row for row in ACTION_ROWS if isinstance(row.action, Write) and row.action.accepts_idempotency_key]
# Requests whose repeats are recognized by their orderRef.
ORDERS = {
    "disburse-transfer": transfer.digest_request,
    "bills-pay": pay_bill.digest_request,
    "cashcode-generate": issue.digest_request,
}


def find_row(title: str) -> ActionRow:
    return next(row for row in ACTION_ROWS if row.title == title)


def read_request(row: ActionRow, body: Json) -> Any:
    assert isinstance(row.action, Write)
    return decode(row.action.request, msgspec.json.encode(body), (), context().merchant)


def digest_under_key(title: str, body: Json) -> str:
    """Returns the key of the record under an Idempotency-Key, and the digest of the request that the record has."""
    row, merchant = find_row(title), context().merchant
    assert isinstance(row.action, Write)
    headers = {HEADER: "a key"}
    claim = read_claim(row.method, row.action, read_request(row, body), merchant, headers, VAULT)
    assert isinstance(claim, IdempotencyClaim)
    return f"{claim.key.hex()} {claim.request_digest.hex()}"


def digest_of_order(title: str, body: Json) -> str:
    """Returns the digest that the transaction of an order has."""
    made = msgspec.structs.replace(context(), digest=VAULT.digest)
    return ORDERS[title](read_request(find_row(title), body), made).hex()  # type: ignore[operator]


def add_missing(recorded: Json) -> Json:
    keys, orders = dict(recorded.get("keys", {})), dict(recorded.get("orders", {}))
    for row in REPEATABLE:
        if row.title not in keys:
            keys[row.title] = {"body": row.example, "digest": digest_under_key(row.title, row.example)}
    for title in ORDERS:
        if title not in orders:
            body = find_row(title).example
            orders[title] = {"body": body, "digest": digest_of_order(title, body)}
    return {"what to do": COMMENT, "keys": keys, "orders": orders}


def main() -> None:
    recorded = msgspec.json.decode(FILE.read_bytes()) if FILE.exists() else {}
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(add_missing(recorded)), indent=1) + b"\n")
    print(f"written to {FILE}")


if __name__ == "__main__":
    main()
