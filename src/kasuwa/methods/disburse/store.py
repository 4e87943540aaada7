"""Reads transfers and bulks for verify. Never writes; every WHERE has the merchant_id."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from kasuwa.core.calendar import utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.core.references import is_reference, row_key
from kasuwa.methods.disburse.model import (
    BATCH_ORDERS_DECODER,
    BATCH_PREFIX,
    CONFLICT,
    KIND,
    TRANSFER_DETAIL_DECODER,
    BatchOrder,
    TransferDetail,
    batch_key,
)
from kasuwa.methods.disburse.payout_model import APPROVAL_DETAIL_DECODER
from kasuwa.methods.disburse.receipts import make_receipt_url
from kasuwa.methods.disburse.wire import ApprovalLine, BatchLine, VerifyReply, VerifyRequest
from kasuwa.transactions.purpose import subject_in
from kasuwa.transactions.transactions import FAILED, SUCCESSFUL, transaction_key

UNKNOWN_REFERENCE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference", error_code="transaction_not_found")

# Finds a transfer by orderRef first, then by txnRef, then the disbursement of a loan by the id of the loan.
# Contract: disburse#verify, loans#request
VERIFY_COLUMNS = "t.status, t.txn_ref, t.order_ref, t.amount, t.fee, t.vat, t.message, t.detail"
FOUND_COLUMNS = f"{VERIFY_COLUMNS}, t.kind"
FOUND = f"""
    select {FOUND_COLUMNS}, case when $6 then 1 else 3 end as place, t.key from transaction t
    where t.key = $1 and t.merchant_id = $2
    union all
    select {FOUND_COLUMNS}, 2, t.key from transaction t
    where t.merchant_id = $2 and t.txn_ref = $3 and t.kind = any($4)
    union all
    select {FOUND_COLUMNS}, 4, t.key from loan l
        join transaction t on t.merchant_id = l.merchant_id and t.txn_ref = l.transfer
    where l.merchant_id = $2 and l.key = $5
    order by place, key limit 1
"""
VERIFY = f"""
    select {FOUND_COLUMNS}, a.state, a.detail, a.expires_at, a.decided_by, a.decided_at from ({FOUND}) t
    left join transfer_approval a on a.merchant_id = $2 and a.txn_ref = t.txn_ref
"""
# Transfers, and cash-outs that were paid in cash over the counter.
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


async def verify_transfer(request: VerifyRequest, merchant: Merchant, reader: ActionReader) -> VerifyReply | Refusal:
    """Finds a transfer by its txnRef or orderRef, or a bulk by its batchRef.

    A merchant may use one of our references as the orderRef of another transfer. Ours wins, unless the request has the
    text as `orderRef`. Contract: disburse#verify
    """
    transfer_ref = request.txn_ref or request.order_ref
    reference = transfer_ref or request.batch_ref or ""
    is_own = request.txn_ref is None and request.order_ref is not None
    if not reference.startswith(BATCH_PREFIX):
        return await verify_by_reference(reference, is_own, merchant, reader, reader) or UNKNOWN_REFERENCE
    async with reader.snapshot() as snapshot:
        bulk = None if is_own else await verify_batch(reference, merchant, snapshot)
        if transfer_ref is None or isinstance(bulk, VerifyReply):
            return bulk or UNKNOWN_REFERENCE
        transfer = await verify_by_reference(reference, is_own, merchant, snapshot, reader)
        return transfer or bulk or await verify_batch(reference, merchant, snapshot)


async def verify_by_reference(
    reference: str, is_own: bool, merchant: Merchant, reader: Reader, services: ActionReader
) -> VerifyReply | None:
    """Returns None if no transfer has this reference. Only a text with a valid check letter is tried as a txnRef.

    `is_own` prefers the transfer whose orderRef it is. `services` makes the address of its receipt.
    """
    merchant_id = merchant.merchant_id
    key, loan_key = transaction_key(merchant_id, KIND, reference), row_key(merchant_id, "loan", reference)
    txn_ref = reference if is_reference(reference) else ""
    row = await reader.fetchrow(VERIFY, key, merchant_id, txn_ref, KINDS, loan_key, is_own)
    if row is None:
        return None
    columns, detail, kind, approval = row[:7], row[7], row[8], show_approval(*row[9:])
    status, txn_ref, *_ = columns
    receipt = (
        make_receipt_url(services.public_url, merchant.shown_number, txn_ref, services.digest)
        if (kind, status) == (KIND, SUCCESSFUL)
        else UNSET
    )
    shown = show_transfer(*columns)
    return VerifyReply(status=200, **shown, **subject_in(detail), approval=approval, receipt_url=receipt)


def show_approval(
    state: Any, detail: str | None, expires_at: datetime, decided_by: str, decided_at: datetime | None
) -> ApprovalLine | UnsetType:
    """Returns the approval of a transfer. Unset if it had none, and all columns are null."""
    if detail is None:
        return UNSET
    decoded = APPROVAL_DETAIL_DECODER.decode(detail)
    return ApprovalLine(
        state=state,
        reasons=decoded.reasons,
        requested_by=decoded.maker.label,
        expires_at=utc_text(expires_at),
        decided_by=decided_by or UNSET,
        decided_at=UNSET if decided_at is None else utc_text(decided_at),
    )


def show_transfer(
    status: str, txn_ref: str, order_ref: str, amount: int, fee: int, vat: int, message: str
) -> dict[str, Any]:
    """Returns the fields of one transfer. Fee and VAT of a failed one are zero: it costs nothing.

    Contract: disburse#verify
    """
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


# --- receipts -----------------------------------------------------------------------------------------------

PAID = """
    select txn_ref, amount, currency, detail, final_at, facts_sealed,
        exists (select 1 from rail_reversal where merchant_id = $1 and txn_ref = $2)
    from transaction where merchant_id = $1 and txn_ref = $2 and kind = 'transfer' and status = 'successful'
"""


class PaidTransfer(msgspec.Struct, frozen=True):
    """A successful transfer, as its receipt shows it."""

    txn_ref: str
    amount: int
    currency: str
    order: TransferDetail
    paid_at: datetime
    facts_sealed: bytes | None
    is_returned: bool  # the rail sent the money back since, and the books have it


async def find_paid_transfer(merchant_id: int, txn_ref: str, reader: Reader) -> PaidTransfer | None:
    """Returns a successful transfer, or None."""
    row = await reader.fetchrow(PAID, merchant_id, txn_ref)
    if row is None:
        return None
    reference, amount, currency, detail, *rest = row
    return PaidTransfer(reference, amount, currency, TRANSFER_DETAIL_DECODER.decode(detail), *rest)


# --- a bulk -------------------------------------------------------------------------------------------------


async def verify_batch(batch_ref: str, merchant: Merchant, reader: Reader) -> VerifyReply | Refusal:
    """Call it within a snapshot: it reads the bulk and then its transfers."""
    batch = await reader.fetchrow(BATCH, batch_key(merchant.merchant_id, batch_ref), merchant.merchant_id)
    if batch is None:
        return UNKNOWN_REFERENCE
    orders = BATCH_ORDERS_DECODER.decode(batch[0])
    txn_refs = [order.txn_ref for order in orders if order.txn_ref is not None]
    rows = await reader.fetch(OF_BATCH, merchant.merchant_id, txn_refs)
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
    """Returns the status of a whole bulk. Orders in conflict count only if there are no others: nothing was sent."""
    order_statuses = statuses - {CONFLICT}
    if not order_statuses:
        return CONFLICT
    if order_statuses & {"pending", "processing"}:
        return "processing"
    return order_statuses.pop() if len(order_statuses) == 1 else "partial"
