"""The payments of a settlement: what it is made of, by transaction, on its page and as CSV.

Their sums are the lines of the settlement. They are read from the journal (methods/statements/settlements/store.py).
"""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from kasuwa.console.kit.csv_text import csv_line
from kasuwa.console.kit.exports import BATCH_ROWS, csv_response, join_lines
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant.events import parse_int
from kasuwa.core.calendar import lagos_moment, lagos_text
from kasuwa.core.money import format_minor
from kasuwa.core.reading import Reader
from kasuwa.methods.payment.settlement_model import pending_settlement_account
from kasuwa.methods.statements.settlements.model import LINES
from kasuwa.methods.statements.settlements.store import SettledTransaction, list_transactions
from kasuwa.transactions.settlements import parse_settlement_id

SHOWN_PAYMENTS = 50
CSV_HEADER = ("time", "reference", "kind", "orderRef", "currency", *LINES, "net")


async def list_part(
    visit: Visit, reader: Reader, settlement_id: str, after: int, limit: int
) -> list[SettledTransaction]:
    """Returns the transactions of a settlement after one. Raises NotFound if it is no reference of a settlement."""
    named = parse_settlement_id(settlement_id)
    if named is None:
        raise NotFound
    day, currency = named
    waiting = pending_settlement_account(lagos_moment(day), currency)
    return await list_transactions(visit.merchant.merchant_id, named, waiting, after, limit, reader)


def find_path(one: SettledTransaction) -> str:
    """Returns the path of its page, or nothing if it is not a transaction."""
    return "" if one.kind is None else f"/transactions/{quote(one.reference, safe='')}"


async def read_payments(visit: Visit, row: dict[str, Any]) -> dict[str, Any]:
    """Returns the part of the list that the settlement's page shows."""
    reader, settlement_id = visit.open_snapshot, row["settlement_id"]
    assert reader is not None, "the page is read in a snapshot"
    after = parse_int(visit.query.get("after", ""), 0)
    payments = await list_part(visit, reader, settlement_id, after, SHOWN_PAYMENTS + 1)
    path = f"/settlements/{settlement_id}"
    return {
        "payments": [(one, find_path(one)) for one in payments[:SHOWN_PAYMENTS]],
        "payments_path": f"{path}/payments.csv",
        "next_payments": f"{path}?after={payments[SHOWN_PAYMENTS - 1].number}#payments-title"
        if len(payments) > SHOWN_PAYMENTS
        else "",
        "first_payments": f"{path}#payments-title" if after else "",
    }


async def export_payments(visit: Visit) -> Response:
    """Sends all payments of a settlement as CSV. Raises NotFound if the merchant has no such settlement: any merchant
    could have one of the day."""
    if not await list_part(visit, visit.export_reader, visit.path_parameter("reference"), 0, 1):
        raise NotFound
    return csv_response(visit, "settlement-payments", stream_payments(visit))


async def stream_payments(visit: Visit) -> AsyncIterator[str]:
    """Yields the lines of the file. It is read part by part, so that it holds no snapshot while it is sent."""
    yield csv_line(CSV_HEADER)
    settlement_id, after = visit.path_parameter("reference"), 0
    while True:
        payments = await list_part(visit, visit.export_reader, settlement_id, after, BATCH_ROWS)
        yield await join_lines(csv_cells(one, settlement_id[-3:]) for one in payments)
        if len(payments) < BATCH_ROWS:
            return
        after = payments[-1].number


def csv_cells(one: SettledTransaction, currency: str) -> tuple[str, ...]:
    amounts = (format_minor(amount) for amount in (*(one.lines.get(line, 0) for line in LINES), one.net))
    return (lagos_text(one.at), one.reference, one.kind or "", one.order_ref or "", currency, *amounts)
