"""Plain reads of transfers. No writes; merchant_id in every WHERE."""

from typing import Any

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.purpose import subject_in
from kasuwa.core.reading import Reader, ReplyReader
from kasuwa.core.references import is_reference, row_key
from kasuwa.core.transactions import FAILED, transaction_key
from kasuwa.methods.disburse.rules.bulk_transfer import (
    BATCH_ORDERS_DECODER,
    BATCH_PREFIX,
    CONFLICT,
    BatchOrder,
    batch_key,
)
from kasuwa.methods.disburse.rules.transfer import KIND
from kasuwa.methods.disburse.wire import BatchLine, VerifyReply, VerifyRequest

UNKNOWN_REFERENCE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference")

# By orderRef first, then by txnRef, then the newest disbursement of a loan by its id.
# Contract: disburse#verify, loans#request
VERIFY_COLUMNS = "t.status, t.txn_ref, t.order_ref, t.amount, t.fee, t.vat, t.message, t.detail"
VERIFY = f"""
    select {VERIFY_COLUMNS}, 1 as place, t.key from transaction t where t.key = $1 and t.merchant_id = $2
    union all
    select {VERIFY_COLUMNS}, 2, t.key from transaction t
    where t.merchant_id = $2 and t.txn_ref = $3 and t.kind = any($4)
    union all
    select {VERIFY_COLUMNS}, 3, t.key from loan l
        join transaction t on t.merchant_id = l.merchant_id and t.txn_ref = l.transfer
    where l.merchant_id = $2 and l.key = $5
    order by place, key limit 1
"""
# Transfers, and cash-outs that were paid over the counter.
KINDS = [KIND, "cashout"]
OF_BATCH = f"select {VERIFY_COLUMNS} from transaction t where t.merchant_id = $1 and t.txn_ref = any($2)"
BATCH = "select detail from transfer_batch where key = $1 and merchant_id = $2"

BATCH_MESSAGES = {
    "successful": "Every order is successful",
    "failed": "Every order failed",
    "processing": "Some orders are still open; verify later",
    "partial": "Every order has ended: some are successful, others failed",
    "conflict": "Every order was in conflict; nothing was sent",
}


async def verify_transfer(request: VerifyRequest, merchant: Merchant, reader: ReplyReader) -> VerifyReply | Refusal:
    """By orderRef first; a text with a right check letter may be a txnRef or a batchRef as well.

    Contract: disburse#verify
    """
    named = request.txn_ref or request.order_ref
    said = named or request.batch_ref or ""
    if not said.startswith(BATCH_PREFIX):
        return await verify_by_reference(said, merchant, reader) or UNKNOWN_REFERENCE
    async with reader.snapshot() as snapshot:
        found = await verify_by_reference(said, merchant, snapshot) if named is not None else None
        return found or await verify_batch(said, merchant, snapshot)


async def verify_by_reference(said: str, merchant: Merchant, reader: Reader) -> VerifyReply | None:
    """Returns None if no transfer has this reference. A text without a right check letter is no txnRef."""
    merchant_id = merchant.merchant_id
    key, loan_key = transaction_key(merchant_id, KIND, said), row_key(merchant_id, "loan", said)
    row = await reader.fetchrow(VERIFY, key, merchant_id, said if is_reference(said) else "", KINDS, loan_key)
    if row is None:
        return None
    *columns, detail, _, _ = row
    return VerifyReply(status=200, **show_transfer(*columns), **subject_in(detail))


def show_transfer(
    status: str, txn_ref: str, order_ref: str, amount: int, fee: int, vat: int, message: str
) -> dict[str, Any]:
    """A transfer that has failed costs nothing. (Contract: disburse#verify)"""
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
    """Call it in a snapshot: it reads the bulk and its transfers."""
    batch = await reader.fetchrow(BATCH, batch_key(merchant.merchant_id, batch_ref), merchant.merchant_id)
    if batch is None:
        return UNKNOWN_REFERENCE
    orders = BATCH_ORDERS_DECODER.decode(batch[0])
    wanted = [order.txn_ref for order in orders if order.txn_ref is not None]
    rows = await reader.fetch(OF_BATCH, merchant.merchant_id, wanted)
    transfers = {row[1]: tuple(row)[:-1] for row in rows}
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
