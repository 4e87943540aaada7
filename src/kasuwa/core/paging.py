"""Which part of a list is asked for: the fields that every list's request has. Spec silent: D8"""

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
