"""The pages of transfers that wait for approval: one by one, and bulks with what they pay. Contract: keys#approvals"""

import asyncio
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from kasuwa.console.kit.csv_text import csv_line
from kasuwa.console.kit.exports import BATCH_ROWS, csv_response, join_lines
from kasuwa.console.kit.values import format_minor_units
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant import waiting_reads
from kasuwa.console.merchant.waiting_reads import FIRST_PLACE, MAX_BULKS, Place, WaitingBulk, WaitingTransfer
from kasuwa.core.calendar import EARLIEST, NEVER, lagos_text
from kasuwa.core.money import format_minor
from kasuwa.methods.disburse.model import BATCH_PREFIX
from kasuwa.methods.disburse.rules.approve import UNKNOWN_REFERENCE

PATH = "/transfers/waiting"
PAGE_ROWS = 50
# Questions to the bank about names of accounts that are asked at a time.
LOOKUPS_AT_ONCE = 10
VERDICTS = {"approve": "approved a transfer", "reject": "rejected a transfer"}
BULK_VERDICTS = {"approve": "approved a bulk", "reject": "rejected a bulk"}
CSV_HEADER = (
    "txnRef",
    "orderRef",
    "batchRef",
    "amount",
    "bank_code",
    "account_number",
    "sender_name",
    "narration",
    "created",
    "expires",
    "made_by",
    "reasons",
)


# --- lists ----------------------------------------------------------------------------------------------------------


async def show_waiting(visit: Visit, status: int = 200, **values: Any) -> Response:
    """Lists bulks as one line each, and the other transfers page by page."""
    after = read_place(visit)
    async with visit.snapshot() as reader:
        sums = await waiting_reads.read_sums(reader, visit.merchant)
        bulks = await waiting_reads.list_bulks(reader, visit.merchant)
        transfers = await waiting_reads.list_singles(reader, visit.merchant, after, PAGE_ROWS + 1)
    shared = {"sums": sums, "bulks": bulks, "max_bulks": MAX_BULKS, **make_page(PATH, transfers, after)}
    return visit.render("waiting_transfers.html", status, **{**shared, **values})


async def show_bulk(visit: Visit, status: int = 200, **values: Any) -> Response:
    """Shows what a bulk pays: its sum, and its orders page by page. Raises NotFound if none of them waits."""
    reference, after = visit.path_parameter("batch_ref"), read_place(visit)
    async with visit.snapshot() as reader:
        bulk = await waiting_reads.find_bulk(reader, visit.merchant, reference)
        transfers = await waiting_reads.list_orders(reader, visit.merchant, reference, after, PAGE_ROWS + 1)
    if bulk is None:
        raise NotFound
    page = make_page(bulk_path(reference), transfers, after)
    return visit.render("waiting_bulk.html", status, **{"bulk": bulk, "account_names": {}, **page, **values})


def bulk_path(batch_ref: str) -> str:
    return f"{PATH}/bulk/{quote(batch_ref, safe='')}"


def make_page(path: str, transfers: Sequence[WaitingTransfer], after: Place) -> dict[str, Any]:
    """Returns the transfers of a page, and the addresses of the next and the first one."""
    shown = list(transfers[:PAGE_ROWS])
    has_more = len(transfers) > PAGE_ROWS
    return {
        "transfers": shown,
        "after": "" if after == FIRST_PLACE else encode_place(after),
        "next_url": f"{path}?after={encode_place((shown[-1].created_at, shown[-1].key))}" if has_more else "",
        "first_url": path if after != FIRST_PLACE else "",
    }


def encode_place(place: Place) -> str:
    return urlsafe_b64encode(f"{place[0].isoformat()} ".encode() + place[1]).decode()


def read_place(visit: Visit) -> Place:
    """Returns the place of the list that the query names, or the first one."""
    try:
        at, key = urlsafe_b64decode(visit.query.get("after", "")[:200]).split(b" ", 1)
        moment = datetime.fromisoformat(at.decode())
    except ValueError:
        return FIRST_PLACE
    is_known = moment.tzinfo is not None and EARLIEST <= moment <= NEVER
    return (moment, key) if is_known else FIRST_PLACE


async def look_up_names(visit: Visit) -> Response:
    """Shows the page of a bulk with the names of its accounts, which the bank is asked for."""
    reference, after = visit.path_parameter("batch_ref"), read_place(visit)
    orders = await waiting_reads.list_orders(visit.reader, visit.merchant, reference, after, PAGE_ROWS)
    accounts = list(dict.fromkeys((order.bank_code, order.account_number) for order in orders))
    names: dict[tuple[str, str], str] = {}
    for first in range(0, len(accounts), LOOKUPS_AT_ONCE):
        some = accounts[first : first + LOOKUPS_AT_ONCE]
        names |= dict(zip(some, await asyncio.gather(*(find_name(visit, *one) for one in some)), strict=True))
    return await show_bulk(visit, account_names=names)


async def find_name(visit: Visit, bank_code: str, account_number: str) -> str:
    request = {"inquire": "accountname", "accountnumber": account_number, "bankcode": bank_code}
    reply = await visit.run_action("resources", request)
    return str(reply.body["data"]["account_name"]) if reply.is_success else f"not known: {reply.message}"


# --- deciding -------------------------------------------------------------------------------------------------------


async def decide_transfer(visit: Visit) -> Response:
    """Approves or rejects a transfer as the signed-in person. Raises NotFound for a bulk, which asks first."""
    verdict, reference = visit.path_parameter("verdict"), visit.path_parameter("ref")
    if verdict not in VERDICTS or reference.startswith(BATCH_PREFIX):
        raise NotFound
    reply = await visit.run_action("disburse", {"action": verdict, "txnRef": reference}, VERDICTS[verdict])
    if reply.message == UNKNOWN_REFERENCE.message:
        raise NotFound
    if not reply.is_success:
        return await show_waiting(visit, 422, faults={"": reply.message})
    # The form of an order is on the page of its bulk, as long as others of it wait.
    bulk = await waiting_reads.find_bulk(visit.reader, visit.merchant, visit.form_text("bulk")[:100])
    return visit.redirect(PATH if bulk is None else bulk_path(bulk.batch_ref), reply.message)


async def decide_bulk(visit: Visit) -> Response:
    """Approves or rejects all orders of a bulk that wait, once the user has confirmed their number and sum.

    The confirmation is for that number and sum: if an order was decided meanwhile, the user is asked again."""
    verdict, reference = visit.path_parameter("verdict"), visit.path_parameter("batch_ref")
    bulk = await waiting_reads.find_bulk(visit.reader, visit.merchant, reference)
    if verdict not in BULK_VERDICTS or bulk is None:
        raise NotFound
    ask_about_bulk(visit, verdict, bulk)
    reply = await visit.run_action("disburse", {"action": verdict, "txnRef": reference}, BULK_VERDICTS[verdict])
    if not reply.is_success:
        return await show_bulk(visit, 422, faults={"": reply.message})
    return visit.redirect(PATH, f"{reply.message}, NGN {format_minor_units(bulk.total)}.")


def ask_about_bulk(visit: Visit, verdict: str, bulk: WaitingBulk) -> None:
    """Raises ConfirmationRequired, unless this number and sum were confirmed."""
    total, transfers = f"NGN {format_minor_units(bulk.total)}", count_text(bulk.count, "transfer")
    accounts = count_text(bulk.beneficiaries, "account")
    facts = f"Bulk {bulk.batch_ref}, made by {bulk.requested_by}: {transfers} to {accounts}, together {total}."
    largest = f"The largest is NGN {format_minor_units(bulk.largest)}."
    if verdict == "approve":
        consequence = f"{facts} {largest} They are sent to the bank at once and cannot be called back."
    else:
        consequence = f"{facts} They fail, and their money is released. This cannot be undone."
    question = f"{verdict.capitalize()} {transfers} of {total}?"
    label = f"{verdict.capitalize()} {total}"
    visit.ask_first(question, consequence, label, bulk_path(bulk.batch_ref), answer=f"{bulk.count} {bulk.total}")


def count_text(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# --- export ---------------------------------------------------------------------------------------------------------


async def export_waiting(visit: Visit) -> Response:
    return csv_response(visit, "waiting-transfers", stream_waiting(visit))


async def stream_waiting(visit: Visit) -> AsyncIterator[str]:
    yield csv_line(CSV_HEADER)
    async for page in waiting_reads.iterate_waiting(visit.export_reader, visit.merchant, BATCH_ROWS):
        yield await join_lines(csv_cells(one) for one in page)


def csv_cells(one: WaitingTransfer) -> tuple[str, ...]:
    return (
        one.txn_ref,
        one.order_ref,
        one.batch_ref or "",
        format_minor(one.amount),
        one.bank_code,
        one.account_number,
        one.sender_name,
        one.narration,
        lagos_text(one.created_at),
        lagos_text(one.expires_at),
        one.requested_by,
        "; ".join(one.reasons),
    )
