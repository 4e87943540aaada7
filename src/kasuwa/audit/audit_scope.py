"""The merchants that each query of an audit is about."""

from typing import Any

from kasuwa.postgres.layout import find_layout

# The operator's audit trail has the number 0.
EVERY_MERCHANT = "select 0::bigint as merchant_id union all select merchant_id from merchant order by merchant_id"


async def split_scope(connection: Any, merchants: list[int] | None) -> list[list[int] | None]:
    """Returns the merchants of each query: all at once, or one by one if a query may not span them."""
    if find_layout(connection).spans_merchants:
        return [merchants]
    if merchants is None:
        merchants = [row[0] for row in await connection.fetch(EVERY_MERCHANT)]
    return [[merchant_id] for merchant_id in merchants]
