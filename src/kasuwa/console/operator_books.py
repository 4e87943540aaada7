"""The operator's pages of a merchant's books: trial balance, account statement and posting."""

from collections import Counter
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from kasuwa.console import operator_reads, store
from kasuwa.console.events import MAX_SEQUENCE, parse_int
from kasuwa.console.operator_merchants import find_merchant_in_path
from kasuwa.console.store import PAGE_ROWS
from kasuwa.console.visit import NotFound, Visit


async def show_books(visit: Visit) -> Response:
    async with visit.snapshot() as reader:
        summary = await find_merchant_in_path(visit, reader)
        accounts = await operator_reads.list_accounts(reader, summary.merchant_id)
    sums: Counter[str] = Counter()
    for account in accounts:
        sums[account.currency] += account.posted
    return visit.render("operator_books.html", summary=summary, accounts=accounts, sums=dict(sums))


async def show_statement(visit: Visit) -> Response:
    name, before = visit.path_parameter("name"), parse_int(visit.query.get("before", ""), MAX_SEQUENCE)
    async with visit.snapshot() as reader:
        summary = await find_merchant_in_path(visit, reader)
        account = await operator_reads.find_account(reader, summary.merchant_id, name)
        postings = await operator_reads.list_statement(reader, summary.merchant_id, name, before)
    if account is None:
        raise NotFound
    shown = postings[:PAGE_ROWS]
    statement_url = f"/operator/merchants/{summary.mid}/accounts/{quote(name, safe='')}"
    next_url = f"{statement_url}?before={shown[-1].seq}" if len(postings) > PAGE_ROWS else ""
    first_url = statement_url if before != MAX_SEQUENCE else ""
    values: dict[str, Any] = {"account": account, "postings": shown, "next_url": next_url, "first_url": first_url}
    return visit.render("operator_statement.html", summary=summary, **values)


async def show_posting(visit: Visit) -> Response:
    """Shows a posting, the others of its group, and the timeline of its transaction."""
    seq = parse_int(visit.path_parameter("seq"), 0)
    async with visit.snapshot() as reader:
        summary = await find_merchant_in_path(visit, reader)
        merchant = await visit.services.merchant_directory.get_by_id(summary.merchant_id)
        group = await operator_reads.list_posting_group(reader, summary.merchant_id, seq)
        if not group:
            raise NotFound
        row = await store.find_transaction(reader, merchant, group[0].reference)
        timeline = [] if row is None else await visit.services.read_timeline(reader, row)
    return visit.render("operator_posting.html", summary=summary, seq=seq, group=group, row=row, timeline=timeline)
