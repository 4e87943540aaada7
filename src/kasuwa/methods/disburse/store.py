"""Plain reads of transfers. No writes; merchant_id in every WHERE."""

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.purpose import subject_in
from kasuwa.core.reading import Reader
from kasuwa.core.references import is_reference, row_key
from kasuwa.core.transactions import transaction_key
from kasuwa.methods.disburse.decide import KIND
from kasuwa.methods.disburse.wire import VerifyReply, VerifyRequest

UNKNOWN_REFERENCE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference")

# By orderRef first, then by txnRef, then the newest disbursement of a loan by its id. (D29, D33)
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


async def verify_transfer(request: VerifyRequest, merchant: Merchant, reader: Reader) -> VerifyReply | Refusal:
    """A text without a right check letter is no txnRef."""
    merchant_id, said = merchant.merchant_id, request.txn_ref
    key, loan_key = transaction_key(merchant_id, KIND, said), row_key(merchant_id, "loan", said)
    row = await reader.fetchrow(VERIFY, key, merchant_id, said if is_reference(said) else "", KINDS, loan_key)
    if row is None:
        return UNKNOWN_REFERENCE
    status, txn_ref, order_ref, amount, fee, vat, message, detail, *_ = row
    return VerifyReply(
        txn_status=status,
        txn_ref=txn_ref,
        order_ref=order_ref,
        amount=format_minor(amount),
        fee=format_minor(fee),
        vat=format_minor(vat),
        message=message,
        **subject_in(detail),
    )
