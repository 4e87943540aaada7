"""What the rows of transfers and bills say of the decisions that made them.

Their trail has each answer of the rail with its time, and their detail what was requested. So a transfer, of which
there are more than of anything else, needs no row of decision_input.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from kasuwa.core.money import format_minor
from kasuwa.engine.decision_inputs import RecordedInput
from kasuwa.methods.disburse.model import TRANSFER_DETAIL_DECODER
from kasuwa.projections.timeline import TRAIL
from kasuwa.rails.ports.orders import PROCESSING, RAIL_SILENT, RAIL_UNAVAILABLE, UNAVAILABLE, UNKNOWN
from kasuwa.transactions.transactions import FINAL, Transaction

PATHS = {"transfer": "disburse", "bill": "bills"}
# The kinds of the jobs that send and ask, by the step of the trail.
STEPS = {"sent": "send", "asked": "ask"}
STATUSES = {RAIL_UNAVAILABLE.message: UNAVAILABLE, RAIL_SILENT.message: UNKNOWN}
IN_PROGRESS = "09"


class Recorded(msgspec.Struct):
    """An input of a decision: a row of decision_input, or what other rows say."""

    number: int
    at: datetime
    kind: str
    name: str
    reference: str
    body: RecordedInput


def list_inputs(row: Transaction, *, is_opened: bool) -> Iterator[Recorded]:
    """Yields what a transaction was decided on. `is_opened` says that the request that opened it is recorded."""
    path = PATHS.get(row.kind)
    if path is None:
        return
    if row.kind == "transfer" and not is_opened and TRANSFER_DETAIL_DECODER.decode(row.detail).purpose is None:
        yield make_transfer(row)
    step = "send"
    for entry in TRAIL.decode(row.trail):
        if entry.step in STEPS:
            step = STEPS[entry.step]
            content: dict[str, Any] = {"status": STATUSES.get(entry.message, PROCESSING)}
            if content["status"] == PROCESSING:
                content["code"] = IN_PROGRESS
        elif entry.step in FINAL:
            content = {"status": entry.step, **({"code": row.code} if row.code else {})}
        else:
            continue
        yield Recorded(0, entry.at, "answer", f"{path}.{step}", row.txn_ref, RecordedInput(content))
        step = "ask"


def make_transfer(row: Transaction) -> Recorded:
    """Returns the request of a transfer. The replay has an account of its own in place of the beneficiary's."""
    content = {"amount": format_minor(row.amount), "bankcode": TRANSFER_DETAIL_DECODER.decode(row.detail).bank_code}
    if row.order_ref != row.txn_ref:
        content["orderRef"] = row.order_ref
    results = {"status": "200", "txnStatus": row.status, "txnRef": row.txn_ref, "orderRef": row.order_ref}
    body = RecordedInput(content, results, [row.txn_ref])
    return Recorded(-1, row.created_at, "request", "disburse.transfer", row.txn_ref, body)
