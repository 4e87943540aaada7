"""The page of transfers that wait for approval: one by one, and each bulk as a line. Contract: keys#approvals"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

from starlette.responses import Response

from kasuwa.console.kit.csv_text import csv_line
from kasuwa.console.kit.exports import BATCH_ROWS, csv_response, join_lines
from kasuwa.console.kit.values import format_minor_units
from kasuwa.console.kit.visit import CONFIRMED_FIELD, NotFound, Visit
from kasuwa.console.merchant import waiting_reads
from kasuwa.console.merchant.batch_pages import batch_path, find_name
from kasuwa.console.merchant.waiting_reads import FIRST_PLACE, MAX_BULKS, Place, WaitingTransfer
from kasuwa.core.banks import bank_names
from kasuwa.core.calendar import EARLIEST, NEVER, lagos_text
from kasuwa.core.money import format_minor
from kasuwa.methods.disburse.model import BATCH_PREFIX
from kasuwa.methods.disburse.rules.approve import UNKNOWN_REFERENCE
from kasuwa.methods.resources.store import show_wallet
from kasuwa.methods.resources.wire import WalletRequest

PATH = "/transfers/waiting"
PAGE_ROWS = 50
VERDICTS = {"approve": "approved a transfer", "reject": "rejected a transfer"}
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
        wallets = (await show_wallet(WalletRequest(), visit.merchant, reader)).data
    shared = {
        "wallet": wallets[0] if wallets else None,
        "sums": sums,
        "bulks": bulks,
        "max_bulks": MAX_BULKS,
        **make_page(PATH, transfers, after),
    }
    return visit.render("waiting_transfers.html", status, **{**shared, **values})


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


# --- deciding -------------------------------------------------------------------------------------------------------


async def decide_transfer(visit: Visit) -> Response:
    """Approves or rejects a transfer as the signed-in person. Raises NotFound for a bulk, which asks first."""
    verdict, reference = visit.path_parameter("verdict"), visit.path_parameter("ref")
    if verdict not in VERDICTS or reference.startswith(BATCH_PREFIX):
        raise NotFound
    bulk = visit.form_text("bulk")[:100]  # of an order: its form is on the page of its bulk
    back = batch_path(bulk) if bulk.startswith(BATCH_PREFIX) else PATH
    await ask_about_transfer(visit, verdict, reference, back)
    reply = await visit.run_action("disburse", {"action": verdict, "txnRef": reference}, VERDICTS[verdict])
    if reply.message == UNKNOWN_REFERENCE.message:
        raise NotFound
    if not reply.is_success:
        return await show_waiting(visit, 422, faults={"": reply.message})
    return visit.redirect(back, reply.message)


async def ask_about_transfer(visit: Visit, verdict: str, reference: str, back: str) -> None:
    """Raises ConfirmationRequired, unless this transfer was confirmed. The bank is asked for the account's name. One
    that does not wait any more is left to the action, which says what became of it."""
    waiting = await waiting_reads.find_transfer(visit.reader, visit.merchant, reference)
    if waiting is None:
        return
    amount = f"NGN {format_minor_units(waiting.amount)}"
    bank = bank_names().get(waiting.bank_code, waiting.bank_code)
    is_answered = visit.form_text(CONFIRMED_FIELD) == reference
    name = "" if is_answered else await find_name(visit, waiting.bank_code, waiting.account_number)
    narration = f" for “{waiting.narration}”" if waiting.narration else ""
    facts = f"{amount} to {name}, {bank} {waiting.account_number}{narration}, made by {waiting.requested_by}."
    outcome = (
        "It is sent to the bank at once and cannot be called back."
        if verdict == "approve"
        else "It fails, and its money is released. This cannot be undone."
    )
    title = f"{verdict.capitalize()} {amount}"
    visit.ask_first(f"{title}?", f"{facts} {outcome}", title, back, answer=reference)


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
