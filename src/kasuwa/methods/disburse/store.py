"""Plain reads of transfers. No writes; merchant_id in every WHERE."""

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import Reader
from kasuwa.core.references import is_reference
from kasuwa.core.transactions import transaction_key
from kasuwa.methods.disburse.decide import KIND
from kasuwa.methods.disburse.wire import VerifyReply, VerifyRequest

UNKNOWN_REFERENCE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference")

VERIFY_COLUMNS = "select status, txn_ref, order_ref, amount, fee, vat, message from transaction"
BY_ORDER_REF = f"{VERIFY_COLUMNS} where key = $1 and merchant_id = $2"
BY_TXN_REF = f"{VERIFY_COLUMNS} where merchant_id = $1 and txn_ref = $2 and kind = $3"


async def verify_transfer(request: VerifyRequest, merchant: Merchant, reader: Reader) -> VerifyReply | Refusal:
    """By orderRef first; a text with a right check letter may be a txnRef as well. (D29)"""
    key = transaction_key(merchant.merchant_id, KIND, request.txn_ref)
    row = await reader.fetchrow(BY_ORDER_REF, key, merchant.merchant_id)
    if row is None and is_reference(request.txn_ref):
        row = await reader.fetchrow(BY_TXN_REF, merchant.merchant_id, request.txn_ref, KIND)
    if row is None:
        return UNKNOWN_REFERENCE
    status, txn_ref, order_ref, amount, fee, vat, message = row
    return VerifyReply(
        txn_status=status,
        txn_ref=txn_ref,
        order_ref=order_ref,
        amount=format_minor(amount),
        fee=format_minor(fee),
        vat=format_minor(vat),
        message=message,
    )
