"""The search of the header: anything that has a reference, and people, records and transactions by names, titles,
numbers, addresses and amounts. Also colleagues, and transfers that wait for approval."""

from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from kasuwa.authority.roles import CAN_MANAGE_USERS
from kasuwa.console.kit.people import (
    MAX_FOUND,
    NO_COUNTERPARTY,
    SHORTEST_NAME,
    FoundPeople,
    find_invoice,
    find_payments,
    find_people,
    find_records,
    parse_amount,
    read_counterparties,
)
from kasuwa.console.kit.visit import Visit
from kasuwa.console.merchant.transaction_page import record_path, related_path
from kasuwa.console.merchant.transactions import FoundTransactions, find_transactions, search_requests
from kasuwa.console.merchant.waiting_reads import WaitingTransfer, find_waiting
from kasuwa.people.users import ConsoleUser, list_users
from kasuwa.postgres.connection_pool import Connection
from kasuwa.projections.record_words import FoundRecord

MAX_TEXT_LENGTH = 100
# Transfers that wait for approval which one search shows, the oldest.
MAX_WAITING = 20
# The API calls the object of these kinds by another id than its page does.
BY_OWN_REFERENCE = {"personalized_account": "accounts"}


async def search_everything(visit: Visit) -> Response:
    """Redirects to what has the reference, or lists the people and transactions that a text finds."""
    text = visit.query.get("q", "").strip()[:MAX_TEXT_LENGTH]
    people, transactions, parties, path = FoundPeople([], []), FoundTransactions(), {}, ""
    records: list[FoundRecord] = []
    members: list[ConsoleUser] = []
    waiting: list[WaitingTransfer] = []
    if text:
        async with visit.snapshot() as reader:
            invoice = await find_invoice(visit, reader, text)
            path = f"/invoices/{invoice}" if invoice else await find_exact(visit, text)
            if not path:
                people = await find_people(visit, text)
                payments = await find_payments(visit, reader, text)
                records = await find_records(visit, reader, text, people.references)
                requests = search_requests({"inquire": "transactions"}, text, people, payments)
                transactions = await find_transactions(visit, requests, "")
                members = await find_members(visit, reader, text)
                if len(text) >= SHORTEST_NAME:
                    waiting = await find_waiting(reader, visit.merchant, text.split(), parse_amount(text), MAX_WAITING)
                parties = await read_counterparties(visit, reader, transactions.lines)
    if path:
        return visit.redirect(path)
    lines = [(line, parties.get(line["txnRef"], NO_COUNTERPARTY)) for line in transactions.lines]
    linked = [(record, record_path(record.page, record.reference)) for record in records]
    values: dict[str, Any] = {
        "people": people,
        "members": members,
        "records": linked,
        "waiting": waiting,
        "lines": lines,
    }
    return visit.render("search.html", text=text, **values)


async def find_members(visit: Visit, connection: Connection, text: str) -> list[ConsoleUser]:
    """Returns the people of the merchant whose address has a text in it, if the user may see them."""
    if visit.user.role not in CAN_MANAGE_USERS or len(text) < SHORTEST_NAME:
        return []
    return await list_users(connection, visit.user.mid, "", MAX_FOUND, text)


async def find_exact(visit: Visit, text: str) -> str:
    """Returns the path of the page of what has a reference, or nothing."""
    reply = await visit.call_action("resources", inquire="transaction", reference=text)
    if not reply.is_success:
        return ""
    record = reply.body["data"]
    if record["kind"] in BY_OWN_REFERENCE and record["orderRef"]:
        return f"/{BY_OWN_REFERENCE[record['kind']]}/{quote(record['orderRef'], safe='')}"
    if record["kind"] == "settlement":
        return f"/settlements/{quote(record['reference'], safe='')}"
    if record["kind"] == "group_loan":
        # It is shown in the page of its group.
        record = next(one for one in record["related"] if one["kind"] == "group")
    return related_path(record["kind"], record["reference"])
