"""Paystack: lists in pages. `meta` tells how many pages and rows there are, or the cursor of the next page."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import msgspec

from kasuwa.rails.ports.orders import UnreadableAnswer
from kasuwa.rails.vendors.client import VendorReply
from kasuwa.rails.vendors.pages import Page, read_pages

PAGE_SIZE = "100"
# The vendor's documents call the size of a page by two names. A parameter that the vendor does not know is ignored.
SIZE_NAMES = {"/transaction": ("per_page", "perPage")}

LookUp = Callable[[str, dict[str, str]], Awaitable[VendorReply]]


def list_rows(look_up: LookUp, path: str, query: Mapping[str, str]) -> AsyncIterator[dict[str, Any]]:
    """Yields every row of a list. Raises UnreadableAnswer if it is not as documented."""
    sizes = dict.fromkeys(SIZE_NAMES.get(path, ("perPage",)), PAGE_SIZE)
    by_cursor = "use_cursor" in query

    async def read(number: int, cursor: str) -> Page:
        place = {"next": cursor} if cursor else {} if by_cursor else {"page": str(number + 1)}
        return read_page(await look_up(path, {**query, **sizes, **place}), path, number, by_cursor=by_cursor)

    return read_pages(read, identify)


def read_page(reply: VendorReply, path: str, number: int, *, by_cursor: bool) -> Page:
    rows, meta = reply.body.get("data"), reply.body.get("meta")
    if reply.status >= 300 or not reply.body["status"] or not isinstance(rows, list):
        raise UnreadableAnswer(f"the list of {path} has another form than documented")
    if not all(isinstance(row, dict) for row in rows):
        raise UnreadableAnswer(f"a row of {path} has another form than documented")
    meta = meta if isinstance(meta, dict) else {}
    if by_cursor:
        following = meta.get("next")
        return Page(rows, has_more=False, cursor=following if isinstance(following, str) else "")
    pages = read_count(meta.get("pageCount"))
    return Page(rows, None if pages is None else number + 1 < pages, read_count(meta.get("total")))


def read_count(value: Any) -> int | None:
    """Returns a number of pages or rows, which the vendor writes as a number or as a text."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def identify(row: dict[str, Any]) -> bytes:
    """Returns what tells a row from others: the vendor's number of it, or all that it says."""
    return msgspec.json.encode(row.get("id", row))
