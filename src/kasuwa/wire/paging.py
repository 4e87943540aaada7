"""Paging: the fields that every list request has, and truncation of pages that are too large. Contract: #lists"""

from functools import cache
from typing import Any, ClassVar

import msgspec

from kasuwa.wire.fields import DEFAULT_LIMIT, MAX_PAGE_SIZE, Limit, Offset


class Paged(msgspec.Struct, kw_only=True):
    """The paging fields of a list request."""

    default_limit: ClassVar[int] = DEFAULT_LIMIT  # records returned if the request names no limit

    offset: Offset | None = None
    "Number of records to skip. Default 0."
    limit: Limit | None = None
    "Largest number of records to return. Default 50. A page of more than 1 MiB has fewer."
    limits: Limit | None = None
    "Another spelling of `limit`, which counts if both are sent."

    @property
    def offset_and_limit(self) -> tuple[int, int]:
        """The effective offset and limit."""
        return self.offset or 0, self.limit or self.limits or self.default_limit


class PagedArray(Paged, kw_only=True):
    """Paging of a list whose reply is a bare array.

    It cannot say that records were left out, so by default it returns as many as a page may have. Contract: #lists
    """

    default_limit: ClassVar[int] = MAX_PAGE_SIZE

    limit: Limit | None = None
    "Largest number of records to return. Default 200. An array of more than 1 MiB has fewer."


# Largest page of a list, in bytes. A larger page is truncated to fewer records. Contract: #lists
MAX_PAGE_BYTES = 1024 * 1024


def is_page(reply: Any) -> bool:
    """Returns whether a reply is a page that can be truncated: a bare array, a page with a limit, or one of a log."""
    kind: Any = type(reply)
    if not may_be_page(kind):
        return False
    return isinstance(reply, list) or isinstance(reply.data, list)


@cache
def may_be_page(kind: Any) -> bool:
    return issubclass(kind, list) or (hasattr(kind, "data") and (hasattr(kind, "limit") or hasattr(kind, "placed_by")))


def truncate_page(reply: Any, lines: int) -> Any:
    """Returns a page with its first records alone.

    Its `limit` becomes the number of records, so that the next page begins at `offset` + `limit`. A log continues
    after the last record. A bare array is only shortened. Contract: #lists
    """
    if isinstance(reply, list):
        return reply[:lines]
    records = reply.data[:lines]
    if hasattr(reply, "limit"):
        return msgspec.structs.replace(reply, data=records, limit=lines)
    return msgspec.structs.replace(reply, data=records, last=getattr(records[-1], reply.placed_by), more=True)
