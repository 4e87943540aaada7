"""Reads of shares, redemptions and dividends. No writes; every WHERE names the merchant_id."""

from typing import Any

from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.reading import ActionReader, Reader, ReplyReader
from kasuwa.methods.clients.model import PAYEE_DETAIL_DECODER, Unsealer, detail_aad, format_full_name
from kasuwa.methods.shares.model import (
    UNKNOWN_CLASS,
    Dividend,
    ShareClass,
    Shareholding,
    ShareRedemption,
    class_key,
    make_class_record,
    make_dividend_record,
    make_holding_record,
    make_redemption_record,
)
from kasuwa.methods.shares.wire import (
    DividendListReply,
    HoldingListReply,
    HoldingRecord,
    ListDividendsRequest,
    ListRedemptionsRequest,
    ListShareClassesRequest,
    ListShareholdersRequest,
    RedemptionListReply,
    ShareClassListReply,
    ShareClassRecord,
)

CLASS_COLUMNS = ", ".join(f"c.{name}" for name in ShareClass.__struct_fields__)
HOLDING_COLUMNS = ", ".join(f"h.{name}" for name in Shareholding.__struct_fields__)
REDEMPTION_COLUMNS = ", ".join(ShareRedemption.__struct_fields__)
DIVIDEND_COLUMNS = ", ".join(Dividend.__struct_fields__)

CLASS = f"select {CLASS_COLUMNS} from share_class c where c.merchant_id = $1 and c.key = $2"
CLASSES = f"""
    select {CLASS_COLUMNS} from share_class c where c.merchant_id = $1 order by c.number desc offset $2 limit $3
"""
COUNT_CLASSES = "select count(*) from share_class where merchant_id = $1"

MATCHING_HOLDINGS = """
    h.merchant_id = $1 and ($2::text is null or h.class_id = $2) and ($3::text is null or h.client_id = $3)
"""
HOLDINGS = f"""
    select p.detail_sealed, {CLASS_COLUMNS}, {HOLDING_COLUMNS} from shareholding h
    join share_class c on c.merchant_id = h.merchant_id and c.class_id = h.class_id
    join client p on p.merchant_id = h.merchant_id and p.client_id = h.client_id
    where {MATCHING_HOLDINGS} order by c.number desc, h.position offset $4 limit $5
"""
COUNT_HOLDINGS = f"select count(*) from shareholding h where {MATCHING_HOLDINGS}"

MATCHING_REDEMPTIONS = "merchant_id = $1 and ($2::text is null or class_id = $2) and ($3::text is null or state = $3)"
REDEMPTIONS = f"""
    select {REDEMPTION_COLUMNS} from share_redemption where {MATCHING_REDEMPTIONS}
    order by number desc offset $4 limit $5
"""
COUNT_REDEMPTIONS = f"select count(*) from share_redemption where {MATCHING_REDEMPTIONS}"

MATCHING_DIVIDENDS = "merchant_id = $1 and ($2::text is null or class_id = $2)"
DIVIDENDS = f"""
    select {DIVIDEND_COLUMNS} from dividend where {MATCHING_DIVIDENDS} order by number desc offset $3 limit $4
"""
COUNT_DIVIDENDS = f"select count(*) from dividend where {MATCHING_DIVIDENDS}"


async def list_classes(
    request: ListShareClassesRequest, merchant: Merchant, reader: ReplyReader
) -> ShareClassListReply:
    offset, limit = request.offset_and_limit
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(CLASSES, merchant.merchant_id, offset, limit)
        [[total]] = await snapshot.fetch(COUNT_CLASSES, merchant.merchant_id)
    records = [make_class_record(ShareClass(*row)) for row in rows]
    return ShareClassListReply(data=records, total=total, offset=offset, limit=limit)


async def read_class(class_id: str, merchant_id: int, reader: Reader) -> ShareClassRecord | None:
    row = await reader.fetchrow(CLASS, merchant_id, class_key(merchant_id, class_id))
    return None if row is None else make_class_record(ShareClass(*row))


async def list_shareholders(
    request: ListShareholdersRequest, merchant: Merchant, reader: ActionReader
) -> HoldingListReply | Refusal:
    merchant_id, (offset, limit) = merchant.merchant_id, request.offset_and_limit
    chosen = merchant_id, request.class_id, request.client_id
    async with reader.snapshot() as snapshot:
        if request.class_id is not None and await read_class(request.class_id, merchant_id, snapshot) is None:
            return UNKNOWN_CLASS
        rows = await snapshot.fetch(HOLDINGS, *chosen, offset, limit)
        [[total]] = await snapshot.fetch(COUNT_HOLDINGS, *chosen)
    lines = await reader.make_lines(lambda row: holding_line(row, reader.unseal), rows)
    return HoldingListReply(data=lines, total=total, offset=offset, limit=limit)


async def read_register(
    class_id: str, merchant_id: int, limit: int, reader: Reader, unseal: Unsealer
) -> list[HoldingRecord]:
    """Returns the register of a class, with names."""
    rows = await reader.fetch(HOLDINGS, merchant_id, class_id, None, 0, limit)
    return [holding_line(row, unseal) for row in rows]


def holding_line(row: Any, unseal: Unsealer) -> HoldingRecord:
    sealed, *columns = row
    width = len(ShareClass.__struct_fields__)
    share_class, holding = ShareClass(*columns[:width]), Shareholding(*columns[width:])
    if sealed is None:
        return make_holding_record(holding, share_class)
    detail = unseal(holding.merchant_id, detail_aad(holding.client_id), bytes(sealed))
    return make_holding_record(holding, share_class, format_full_name(PAYEE_DETAIL_DECODER.decode(detail)))


async def list_redemptions(
    request: ListRedemptionsRequest, merchant: Merchant, reader: ReplyReader
) -> RedemptionListReply:
    offset, limit = request.offset_and_limit
    chosen = merchant.merchant_id, request.class_id, request.state
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(REDEMPTIONS, *chosen, offset, limit)
        [[total]] = await snapshot.fetch(COUNT_REDEMPTIONS, *chosen)
    records = [make_redemption_record(ShareRedemption(*row)) for row in rows]
    return RedemptionListReply(data=records, total=total, offset=offset, limit=limit)


async def list_dividends(request: ListDividendsRequest, merchant: Merchant, reader: ReplyReader) -> DividendListReply:
    offset, limit = request.offset_and_limit
    chosen = merchant.merchant_id, request.class_id
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(DIVIDENDS, *chosen, offset, limit)
        [[total]] = await snapshot.fetch(COUNT_DIVIDENDS, *chosen)
    records = [make_dividend_record(Dividend(*row)) for row in rows]
    return DividendListReply(data=records, total=total, offset=offset, limit=limit)
