"""The payments into a personalized account."""

from typing import Any

from kasuwa.console.histories import store
from kasuwa.console.histories.lines import make_lines, sum_successful
from kasuwa.console.histories.store import MAX_SHOWN
from kasuwa.console.kit.people import Counterparty, read_counterparties
from kasuwa.console.kit.visit import Visit
from kasuwa.console.merchant.events import parse_int

PAGE_ROWS = 50


async def read_account_payments(visit: Visit, row: dict[str, Any]) -> dict[str, Any]:
    """Returns the part of the payments that the page shows, each with its sender, and their sums."""
    reader, reference = visit.open_snapshot, str(row["reference"])
    assert reader is not None, "the page is read in a snapshot"
    payments = await store.list_account_payments(reader, visit.merchant, reference)
    start = min(parse_int(visit.query.get("start", ""), 0), max(len(payments) - 1, 0))
    shown = make_lines(payments[start : start + PAGE_ROWS])
    senders = await read_counterparties(visit, reader, [{**line, "kind": "payment"} for line in shown])
    following = start + PAGE_ROWS
    return {
        "payments": [(line, senders.get(line["txnRef"], Counterparty())) for line in shown],
        "payment_count": len(payments),
        "is_limited": len(payments) >= MAX_SHOWN,
        "received": sum_successful(payments),
        "next_payments": f"?start={following}#payments-title" if following < len(payments) else "",
        "first_payments": "?#payments-title" if start else "",
    }
