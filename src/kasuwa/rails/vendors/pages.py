"""Reads the lists of vendors page by page, to their end.

The end is what the vendor's own marker says: the number of pages or rows, a cursor, `last`. A page that is shorter than
was asked for says nothing, because vendors have page sizes of their own. Without a marker the list is read until a page
is empty.

Rows may come and go while a list is read. One that was seen is not yielded again, and a list that has become shorter
is read once more from its beginning: rows of a later page may have moved to one that was read before. A marker that
promises pages without anything new is not followed for long.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from typing import Any

import msgspec
import structlog

from kasuwa.rails.ports.orders import UnreadableAnswer

log = structlog.get_logger("kasuwa.rails")

MOST_PAGES = 2_000
# How often a list is read from its beginning because it became shorter.
MOST_PASSES = 3
# Pages in a row without a new row after which a marker is not believed. Rows that were added meanwhile move others to
# later pages, so that one such page is possible in a list that does not end there.
MOST_REPEATS = 5


class Page(msgspec.Struct, frozen=True):
    """One page of a list."""

    rows: list[dict[str, Any]]
    has_more: bool | None = None  # by the vendor's marker; None if there is none
    total: int | None = None  # rows of the whole list, if the vendor tells it
    cursor: str = ""  # of the next page, in a list that has cursors


# Reads the page of a number, from 0, or of a cursor, "" for the first.
ReadPage = Callable[[int, str], Awaitable[Page]]


async def read_pages(read: ReadPage, identify: Callable[[dict[str, Any]], Hashable]) -> AsyncIterator[dict[str, Any]]:
    """Yields every row of a list once. `identify` returns what tells a row from others.

    Raises what `read` raises, and UnreadableAnswer for a list that does not end."""
    yielded: set[Hashable] = set()
    for _ in range(MOST_PASSES):
        known_keys: set[Hashable] = set()
        most, is_shorter = 0, False
        number, repeats, cursor = 0, 0, ""
        while True:
            if number >= MOST_PAGES:
                raise UnreadableAnswer("a list does not end")
            page = await read(number, cursor)
            keys = [identify(row) for row in page.rows]
            repeats = 0 if set(keys) - known_keys else repeats + 1
            known_keys.update(keys)
            for key, row in zip(keys, page.rows, strict=True):
                if key not in yielded:
                    yielded.add(key)
                    yield row
            is_shorter = is_shorter or (page.total is not None and page.total < most)
            most = max(most, page.total or 0)
            if not page.rows or not expects_more(page, len(known_keys)):
                break
            if repeats >= MOST_REPEATS:
                log.warning("the list of a vendor promises more than it has", pages=number + 1)
                break
            number, cursor = number + 1, page.cursor
        if not is_shorter:
            return


def expects_more(page: Page, row_count: int) -> bool:
    """Whether a list goes on after a page. A number of rows that was not reached counts more than a last page."""
    if page.cursor:
        return True
    if page.total is not None and row_count < page.total:
        return True
    return page.has_more is not False and (page.has_more is True or page.total is None)
