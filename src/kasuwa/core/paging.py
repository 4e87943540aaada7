"""Which part of a list is asked for: the fields that every list's request has. Spec silent: D8"""

from typing import Any

import msgspec

from kasuwa.core.fields import DEFAULT_LIMIT, Limit, Offset


class Paged(msgspec.Struct, kw_only=True):
    """`limits` is read as `limit`."""

    offset: Offset | None = None
    limit: Limit | None = None
    limits: Limit | None = None

    @property
    def window(self) -> tuple[int, int]:
        """Where to begin, and how many."""
        return self.offset or 0, self.limit or self.limits or DEFAULT_LIMIT


# The most that a page of a list may be, in bytes: one that would be longer has fewer lines. Spec silent: D8
MOST_PAGE_BYTES = 1024 * 1024


def is_page(reply: Any) -> bool:
    """Whether a reply is a page of a list that can be cut: of what was asked for, or of the event feed."""
    return isinstance(getattr(reply, "data", None), list) and (hasattr(reply, "limit") or hasattr(reply, "more"))


def shorten(reply: Any, lines: int) -> Any:
    """A page with its first lines alone, which says so: `limit` is what was served, so that `offset` + `limit` is where
    the next page begins; the feed goes on after its last line. Spec silent: D8"""
    kept = reply.data[:lines]
    if hasattr(reply, "limit"):
        return msgspec.structs.replace(reply, data=kept, limit=lines)
    return msgspec.structs.replace(reply, data=kept, last=kept[-1].sequence, more=True)
