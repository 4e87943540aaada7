"""Reads of standing orders. No writes; every WHERE names the merchant_id."""

from kasuwa.core.decision import Merchant
from kasuwa.core.reading import ReplyReader
from kasuwa.methods.standing_orders.model import StandingOrder, make_order_record
from kasuwa.methods.standing_orders.wire import ListStandingOrdersRequest, StandingOrderListReply

COLUMNS = ", ".join(StandingOrder.__struct_fields__)
MATCHING = """
    merchant_id = $1 and ($2::text is null or client_id = $2) and ($3::text is null or savings_id = $3)
    and ($4::text is null or state = $4)
"""
ORDERS = f"select {COLUMNS} from standing_order where {MATCHING} order by number desc offset $5 limit $6"
COUNT_ORDERS = f"select count(*) from standing_order where {MATCHING}"


async def list_orders(
    request: ListStandingOrdersRequest, merchant: Merchant, reader: ReplyReader
) -> StandingOrderListReply:
    offset, limit = request.offset_and_limit
    chosen = merchant.merchant_id, request.client_id, request.savings_id, request.state
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(ORDERS, *chosen, offset, limit)
        [[total]] = await snapshot.fetch(COUNT_ORDERS, *chosen)
    records = [make_order_record(StandingOrder(*row)) for row in rows]
    return StandingOrderListReply(data=records, total=total, offset=offset, limit=limit)
