"""Which part of a list is asked for: the fields that every list's request has. Contract: #lists"""

from functools import cache
from typing import Any, ClassVar

import msgspec

from kasuwa.core.fields import DEFAULT_LIMIT, MAX_PAGE_SIZE, Limit, Offset


class Paged(msgspec.Struct, kw_only=True):
    """`limits` is read as `limit`. `usual` is how many are answered where no limit is said."""

    default_limit: ClassVar[int] = DEFAULT_LIMIT

    offset: Offset | None = None
    limit: Limit | None = None
    limits: Limit | None = None

    @property
    def offset_and_limit(self) -> tuple[int, int]:
        """Where to begin, and how many."""
        return self.offset or 0, self.limit or self.limits or self.default_limit


class PagedArray(Paged, kw_only=True):
    """A list that is answered as a bare array, which cannot say how much it left out: as many as a page can hold.
    Contract: #lists"""

    default_limit: ClassVar[int] = MAX_PAGE_SIZE


# The most that a page of a list may be, in bytes: one that would be longer has fewer lines. Contract: #lists
MOST_PAGE_BYTES = 1024 * 1024


def is_page(reply: Any) -> bool:
    """Whether a reply is a page of a list that can be cut: a bare array, what was asked for, or the event feed."""
    kind: Any = type(reply)
    if not may_be_page(kind):
        return False
    return isinstance(reply, list) or isinstance(reply.data, list)


@cache
def may_be_page(kind: Any) -> bool:
    return issubclass(kind, list) or (hasattr(kind, "data") and (hasattr(kind, "limit") or hasattr(kind, "more")))


def truncate_page(reply: Any, lines: int) -> Any:
    """A page with its first lines alone, which says so: `limit` is what was served, so that `offset` + `limit` is where
    the next page begins; the feed goes on after its last line; a bare array is merely shorter. Contract: #lists"""
    if isinstance(reply, list):
        return reply[:lines]
    kept = reply.data[:lines]
    if hasattr(reply, "limit"):
        return msgspec.structs.replace(reply, data=kept, limit=lines)
    return msgspec.structs.replace(reply, data=kept, last=kept[-1].sequence, more=True)
