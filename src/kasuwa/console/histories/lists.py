"""The lists of bills and of cashcodes, which the API finds by their references only."""

from kasuwa.console.histories import store
from kasuwa.console.histories.wire import BillLine, BillsReply, CashcodeLine, CashcodesReply
from kasuwa.console.merchant.store import PAGE_ROWS
from kasuwa.console.merchant.wire import PageRequest
from kasuwa.core.action import Read
from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Merchant
from kasuwa.core.money import format_minor
from kasuwa.core.reading import ReplyReader
from kasuwa.methods.bills.model import BILL_DETAIL_DECODER
from kasuwa.methods.cashcode.model import KIND as CASHCODE

BILL = "bill"


async def list_bills(request: PageRequest, merchant: Merchant, reader: ReplyReader) -> BillsReply:
    offset, limit = request.offset or 0, request.limit or PAGE_ROWS
    async with reader.snapshot() as connection:
        rows, total = await store.list_of_kind(connection, merchant, BILL, offset, limit)

    def show(row: store.KindLine) -> BillLine:
        detail = BILL_DETAIL_DECODER.decode(row.detail)
        return BillLine(
            txn_ref=row.txn_ref,
            order_ref=row.order_ref,
            txn_status=row.status,
            amount=format_minor(row.amount),
            currency=row.currency,
            charges=format_minor(row.charges),
            biller=detail.biller,
            item=detail.item,
            customer=detail.reference,
            message=row.message,
            created_at=utc_text(row.created_at),
        )

    return BillsReply(data=await reader.make_lines(show, rows), total=total, offset=offset, limit=limit)


async def list_cashcodes(request: PageRequest, merchant: Merchant, reader: ReplyReader) -> CashcodesReply:
    offset, limit = request.offset or 0, request.limit or PAGE_ROWS
    async with reader.snapshot() as connection:
        rows, total = await store.list_of_kind(connection, merchant, CASHCODE, offset, limit)
        known = await store.read_cashcodes(connection, merchant, [row.order_ref for row in rows])
    lines = [
        CashcodeLine(
            order_ref=row.order_ref,
            txn_ref=row.txn_ref,
            state=code.state,
            amount=format_minor(row.amount),
            paid=format_minor(code.paid),
            charges=format_minor(row.charges),
            currency=row.currency,
            channel=code.channel,
            created_at=utc_text(row.created_at),
            expires_at=utc_text(code.expires_at),
        )
        for row in rows
        if (code := known.get(row.txn_ref)) is not None
    ]
    return CashcodesReply(data=lines, total=total, offset=offset, limit=limit)


ACTIONS = (
    Read(
        name="bills",
        request=PageRequest,
        reply=BillsReply,
        read=list_bills,
        summary="All bills that were paid",
        example={"action": "bills"},
    ),
    Read(
        name="cashcodes",
        request=PageRequest,
        reply=CashcodesReply,
        read=list_cashcodes,
        summary="All cashcodes",
        example={"action": "cashcodes"},
    ),
)
