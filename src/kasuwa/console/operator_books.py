"""The operator's pages about books: trial balance and statements down to the posting."""

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
        shop = await find_merchant_in_path(visit, reader)
        accounts = await operator_reads.list_accounts(reader, shop.merchant_id)
    sums: Counter[str] = Counter()
    for account in accounts:
        sums[account.currency] += account.posted
    return visit.render("operator_books.html", shop=shop, accounts=accounts, sums=dict(sums))


async def show_statement(visit: Visit) -> Response:
    name, before = visit.path_parameter("name"), parse_int(visit.query.get("before", ""), MAX_SEQUENCE)
    async with visit.snapshot() as reader:
        shop = await find_merchant_in_path(visit, reader)
        account = await operator_reads.find_account(reader, shop.merchant_id, name)
        postings = await operator_reads.list_statement(reader, shop.merchant_id, name, before)
    if account is None:
        raise NotFound
    shown = postings[:PAGE_ROWS]
    here = f"/operator/merchants/{shop.mid}/accounts/{quote(name, safe='')}"
    more = f"{here}?before={shown[-1].seq}" if len(postings) > PAGE_ROWS else ""
    newest = here if before != MAX_SEQUENCE else ""
    told: dict[str, Any] = {"account": account, "postings": shown, "more": more, "newest": newest}
    return visit.render("operator_statement.html", shop=shop, **told)


async def show_posting(visit: Visit) -> Response:
    """One posting, those of its group, and the story of the transaction it belongs to."""
    seq = parse_int(visit.path_parameter("seq"), 0)
    async with visit.snapshot() as reader:
        shop = await find_merchant_in_path(visit, reader)
        merchant = await visit.services.merchant_directory.get_by_id(shop.merchant_id)
        group = await operator_reads.list_posting_group(reader, shop.merchant_id, seq)
        if not group:
            raise NotFound
        row = await store.find_transaction(reader, merchant, group[0].reference)
        story = [] if row is None else await visit.services.read_timeline(reader, row)
    return visit.render("operator_posting.html", shop=shop, seq=seq, group=group, row=row, story=story)
