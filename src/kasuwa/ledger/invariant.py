"""What an invariant of the books is: a statement, and a query that returns where it is violated."""

import msgspec


class Invariant(msgspec.Struct, frozen=True):
    """A statement that must hold of the books."""

    description: str
    query: str  # returns (merchant_id, place) for each violation


# `$1` is null for all merchants, or the array of those to check.
ALL_MERCHANTS = "$1::bigint[] is null or "
SCOPE = f"({ALL_MERCHANTS}{{table}}merchant_id = any($1))"


def merchant_filter(alias: str = "") -> str:
    return SCOPE.format(table=f"{alias}." if alias else "")
