"""The page of a bulk transfer: what it pays, how far it is, and what can be done with it.

Orders that wait are approved or rejected together, and failed ones are sent again, each after the user has confirmed
number and sum. Contract: disburse#bulk, keys#approvals
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from kasuwa.console.kit.csv_text import csv_line
from kasuwa.console.kit.exports import csv_response
from kasuwa.console.kit.values import format_minor_units
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant import batch_reads, waiting_reads
from kasuwa.console.merchant.batch_reads import Batch, BatchLine, next_reference, of_state
from kasuwa.console.merchant.transfers import check_order, show_retry_form
from kasuwa.console.merchant.waiting_reads import WaitingBulk
from kasuwa.core.decision import Merchant
from kasuwa.core.money import format_minor
from kasuwa.methods.disburse.receipts import open_facts

PATH = "/transfers/batches"
PAGE_ROWS = 50
# Questions to the bank about names of accounts that are asked at a time.
LOOKUPS_AT_ONCE = 10
VERDICTS = {"approve": "approved a bulk", "reject": "rejected a bulk"}
CSV_HEADER = (
    "orderRef",
    "txnRef",
    "state",
    "message",
    "amount",
    "charges",
    "bank_code",
    "account_number",
    "sender_name",
    "narration",
)


def batch_path(batch_ref: str) -> str:
    return f"{PATH}/{quote(batch_ref, safe='')}"


async def show_batch(visit: Visit, status: int = 200, **values: Any) -> Response:
    """Shows a bulk: its sums, and its orders page by page, of one state if the query names it. Raises NotFound if there
    is none."""
    reference = visit.path_parameter("batch_ref")
    async with visit.snapshot() as reader:
        batch = await batch_reads.find_batch(reader, visit.merchant, reference)
        waiting = None if batch is None else await waiting_reads.find_bulk(reader, visit.merchant, reference)
    if batch is None:
        raise NotFound
    state, start = visit.query.get("state", ""), read_start(visit)
    chosen = of_state(batch.lines, state)
    shown = chosen[start : start + PAGE_ROWS]
    shared: dict[str, Any] = {
        "batch": batch,
        "path": batch_path(reference),
        "waiting": waiting,
        "state": state,
        "shown": shown,
        "chosen_count": len(chosen),
        "start": start,
        "next_url": f"?{place_query(state, start + PAGE_ROWS)}" if len(chosen) > start + PAGE_ROWS else "",
        "first_url": f"?{place_query(state, 0)}" if start else "",
        "names_query": place_query(state, start),
    }
    names = {**read_names(visit, shown), **values.pop("account_names", {})}
    shared = {**shared, "account_names": names, "unnamed": any(is_unnamed(line, names) for line in shown)}
    return visit.render("batch.html", status, **{**shared, **values})


def read_names(visit: Visit, lines: list[BatchLine]) -> dict[tuple[str, str], str]:
    """Returns the names that the rail reported of accounts to which orders were paid."""
    merchant_id, unseal = visit.merchant.merchant_id, visit.services.vault.unseal
    names = {
        (line.bank_code, line.account_number): open_facts(merchant_id, line.txn_ref, line.facts_sealed, unseal).name
        for line in lines
    }
    return {account: name for account, name in names.items() if name}


def is_unnamed(line: BatchLine, names: dict[tuple[str, str], str]) -> bool:
    return bool(line.account_number) and (line.bank_code, line.account_number) not in names


def read_start(visit: Visit) -> int:
    """Returns the number of orders before the page that the query names."""
    text = visit.query.get("from", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 4 else 0


def place_query(state: str, start: int) -> str:
    return f"from={start}&state={quote(state, safe='')}"


async def look_up_names(visit: Visit) -> Response:
    """Shows the page of a bulk with the names of its accounts, which the bank is asked for."""
    reference = visit.path_parameter("batch_ref")
    async with visit.snapshot() as reader:
        batch = await batch_reads.find_batch(reader, visit.merchant, reference)
    if batch is None:
        raise NotFound
    start = read_start(visit)
    shown = of_state(batch.lines, visit.query.get("state", ""))[start : start + PAGE_ROWS]
    accounts = list(dict.fromkeys((line.bank_code, line.account_number) for line in shown if line.account_number))
    names: dict[tuple[str, str], str] = {}
    for first in range(0, len(accounts), LOOKUPS_AT_ONCE):
        some = accounts[first : first + LOOKUPS_AT_ONCE]
        names |= dict(zip(some, await asyncio.gather(*(find_name(visit, *one) for one in some)), strict=True))
    return await show_batch(visit, account_names=names)


async def find_name(visit: Visit, bank_code: str, account_number: str) -> str:
    request = {"inquire": "accountname", "accountnumber": account_number, "bankcode": bank_code}
    reply = await visit.run_action("resources", request)
    return str(reply.body["data"]["account_name"]) if reply.is_success else f"not known: {reply.message}"


# --- deciding -------------------------------------------------------------------------------------------------------


async def decide_batch(visit: Visit) -> Response:
    """Approves or rejects all orders of a bulk that wait, once the user has confirmed their number and sum.

    The confirmation is for that number and sum: if an order was decided meanwhile, the user is asked again."""
    verdict, reference = visit.path_parameter("verdict"), visit.path_parameter("batch_ref")
    bulk = await waiting_reads.find_bulk(visit.reader, visit.merchant, reference)
    if verdict not in VERDICTS or bulk is None:
        raise NotFound
    ask_about_batch(visit, verdict, bulk)
    reply = await visit.run_action("disburse", {"action": verdict, "txnRef": reference}, VERDICTS[verdict])
    if not reply.is_success:
        return await show_batch(visit, 422, faults={"": reply.message})
    return visit.redirect(batch_path(reference), f"{reply.message}, NGN {format_minor_units(bulk.total)}.")


def ask_about_batch(visit: Visit, verdict: str, bulk: WaitingBulk) -> None:
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
    visit.ask_first(question, consequence, label, batch_path(bulk.batch_ref), answer=f"{bulk.count} {bulk.total}")


def count_text(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# --- sending failed orders again ------------------------------------------------------------------------------------


async def retry_failed(visit: Visit) -> Response:
    """Sends the failed orders of a bulk again, as a bulk of their own, once the user has confirmed their number and
    sum. Each gets an orderRef that follows from its first one, so that no order is sent again twice."""
    reference = visit.path_parameter("batch_ref")
    async with visit.snapshot() as reader:
        batch = await batch_reads.find_batch(reader, visit.merchant, reference)
    if batch is None:
        raise NotFound
    orders = list_valid_orders(batch, visit.merchant)
    if not orders:
        return await show_batch(visit, 422, faults={"": "No failed order of this bulk can be sent again."})
    ask_about_retry(visit, batch, [line for line, _ in orders])
    data = [order for _, order in orders]
    request = {"action": "transfer", "type": "bulk", "data": data}
    reply = await visit.run_action("disburse", request, "sent failed orders again")
    if reply.is_error:
        return show_retry_form(visit, reply, f"{batch_path(reference)}/retry", dict(confirmed_fields(visit)))
    if not reply.is_success:
        return await show_batch(visit, 422, faults={"": reply.message})
    return visit.redirect(batch_path(reply.body["batchRef"]), reply.message)


def confirmed_fields(visit: Visit) -> list[tuple[str, str]]:
    return [("confirmed", visit.form_text("confirmed"))]


def list_valid_orders(batch: Batch, merchant: Merchant) -> list[tuple[BatchLine, dict[str, str]]]:
    """Returns the failed orders that can be sent again, each with its request. Invalid ones would fail again."""
    orders = [(line, make_order(line)) for line in batch.retryable]
    return [(line, order) for line, order in orders if not isinstance(check_order(order, merchant), tuple)]


def make_order(line: BatchLine) -> dict[str, str]:
    fields = {
        "amount": format_minor(line.amount),
        "bankcode": line.bank_code,
        "accountnumber": line.account_number,
        "sender_name": line.sender_name,
        "narration": line.narration,
        "orderRef": next_reference(line.order_ref),
    }
    return {name: value for name, value in fields.items() if value}


def ask_about_retry(visit: Visit, batch: Batch, lines: list[BatchLine]) -> None:
    """Raises ConfirmationRequired, unless this number and sum were confirmed."""
    amount = sum(line.amount for line in lines)
    total, transfers = f"NGN {format_minor_units(amount)}", count_text(len(lines), "failed transfer")
    others = len(batch.retryable) - len(lines)
    rest = f" {count_text(others, 'order')} with invalid fields cannot be sent again." if others else ""
    consequence = (
        f"{transfers} of the bulk {batch.batch_ref}, together {total}, are sent again as a new bulk. Each gets a new"
        f" orderRef, such as {next_reference(lines[0].order_ref)}.{rest}"
    )
    visit.ask_first(
        f"Send {transfers} of {total} again?",
        consequence,
        f"Send {total} again",
        batch_path(batch.batch_ref),
        answer=f"{len(lines)} {amount}",
    )


# --- export ---------------------------------------------------------------------------------------------------------


async def export_batch(visit: Visit) -> Response:
    """Returns all orders of a bulk as CSV. Raises NotFound if there is none."""
    async with visit.snapshot() as reader:
        batch = await batch_reads.find_batch(reader, visit.merchant, visit.path_parameter("batch_ref"))
    if batch is None:
        raise NotFound
    return csv_response(visit, "bulk-transfer", stream_batch(batch))


async def stream_batch(batch: Batch) -> AsyncIterator[str]:
    yield csv_line(CSV_HEADER)
    for first in range(0, len(batch.lines), PAGE_ROWS):
        yield "".join(csv_line(csv_cells(line)) for line in batch.lines[first : first + PAGE_ROWS])
        await asyncio.sleep(0)


def csv_cells(line: BatchLine) -> tuple[str, ...]:
    return (
        line.order_ref,
        line.txn_ref,
        line.state,
        line.message,
        format_minor(line.amount),
        format_minor(line.charges),
        line.bank_code,
        line.account_number,
        line.sender_name,
        line.narration,
    )
