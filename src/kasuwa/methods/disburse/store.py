"""Plain reads of transfers. No writes; merchant_id in every WHERE."""

from typing import Any

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import Reader
from kasuwa.core.references import is_reference
from kasuwa.core.transactions import FAILED, transaction_key
from kasuwa.methods.disburse.decide import KIND
from kasuwa.methods.disburse.decide_bulk import BATCH_ORDERS, CONFLICT, BatchOrder, batch_key
from kasuwa.methods.disburse.wire import BatchLine, VerifyReply, VerifyRequest

UNKNOWN_REFERENCE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference")

VERIFY_COLUMNS = "select status, txn_ref, order_ref, amount, fee, vat, message from transaction"
BY_ORDER_REF = f"{VERIFY_COLUMNS} where key = $1 and merchant_id = $2"
BY_TXN_REF = f"{VERIFY_COLUMNS} where merchant_id = $1 and txn_ref = $2 and kind = $3"
BY_TXN_REFS = f"{VERIFY_COLUMNS} where merchant_id = $1 and txn_ref = any($2)"
BATCH = "select detail from transfer_batch where key = $1 and merchant_id = $2"

BATCH_MESSAGES = {
    "successful": "Every order is successful",
    "failed": "Every order failed",
    "processing": "Some orders are still open; verify later",
    "partial": "Every order has ended: some are successful, others failed",
    "conflict": "Every order was in conflict; nothing was sent",
}


async def verify_transfer(request: VerifyRequest, merchant: Merchant, reader: Reader) -> VerifyReply | Refusal:
    """By orderRef first; a text with a right check letter may be a txnRef or a batchRef as well. (D29)"""
    if request.txn_ref is None:
        return await verify_batch(request.batch_ref or "", merchant, reader)
    key = transaction_key(merchant.merchant_id, KIND, request.txn_ref)
    row = await reader.fetchrow(BY_ORDER_REF, key, merchant.merchant_id)
    if row is not None:
        return VerifyReply(status=200, **show_transfer(*row))
    if not is_reference(request.txn_ref):
        return UNKNOWN_REFERENCE
    row = await reader.fetchrow(BY_TXN_REF, merchant.merchant_id, request.txn_ref, KIND)
    if row is not None:
        return VerifyReply(status=200, **show_transfer(*row))
    return await verify_batch(request.txn_ref, merchant, reader)


def show_transfer(
    status: str, txn_ref: str, order_ref: str, amount: int, fee: int, vat: int, message: str
) -> dict[str, Any]:
    """A transfer that has failed costs nothing. (D29)"""
    is_charged = status != FAILED
    return {
        "txn_status": status,
        "txn_ref": txn_ref,
        "order_ref": order_ref,
        "amount": format_minor(amount),
        "fee": format_minor(fee if is_charged else 0),
        "vat": format_minor(vat if is_charged else 0),
        "message": message,
    }


# --- a bulk -------------------------------------------------------------------------------------------------


async def verify_batch(batch_ref: str, merchant: Merchant, reader: Reader) -> VerifyReply | Refusal:
    """Which orders a bulk has never changes, so reading them first and their transfers second is no torn read."""
    batch = await reader.fetchrow(BATCH, batch_key(merchant.merchant_id, batch_ref), merchant.merchant_id)
    if batch is None:
        return UNKNOWN_REFERENCE
    orders = BATCH_ORDERS.decode(batch[0])
    wanted = [order.txn_ref for order in orders if order.txn_ref is not None]
    rows = await reader.fetch(BY_TXN_REFS, merchant.merchant_id, wanted)
    transfers = {row[1]: row for row in rows}
    lines = [show_order(order, transfers) for order in orders]
    status = batch_status({line.txn_status for line in lines})
    return VerifyReply(
        status=200,
        txn_status=status,  # type: ignore[arg-type]
        batch_ref=batch_ref,
        message=BATCH_MESSAGES[status],
        data=lines,
    )


def show_order(order: BatchOrder, transfers: dict[str, Any]) -> BatchLine:
    if order.txn_ref is None:
        return BatchLine(order_ref=order.order_ref, txn_status="conflict", message=order.conflict or "")
    return BatchLine(**show_transfer(*transfers[order.txn_ref]))


def batch_status(statuses: set[str]) -> str:
    """One word for a whole bulk. Orders in conflict were not sent and count only where there is no other."""
    sent = statuses - {CONFLICT}
    if not sent:
        return CONFLICT
    if sent & {"pending", "processing"}:
        return "processing"
    return sent.pop() if len(sent) == 1 else "partial"
