"""Reads bills for verify. Never writes; every WHERE has the merchant_id."""

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import ActionReader
from kasuwa.methods.bills.model import DELIVERY_DECODER, NO_DELIVERY, voucher_aad
from kasuwa.methods.bills.wire import VerifyReply, VerifyRequest
from kasuwa.transactions.transactions import FAILED

UNKNOWN_REFERENCE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference", error_code="transaction_not_found")

# Finds a bill by txnRef or orderRef. If it is the txnRef of one bill and the orderRef of another, the txnRef wins, if
# the request does not have it as `orderRef`.
BILL = """
    select t.status, t.txn_ref, t.order_ref, t.amount, t.fee, t.vat, t.message, v.sealed,
        (t.detail ->> 'commission')::bigint
    from transaction t left join bill_voucher v on v.merchant_id = t.merchant_id and v.txn_ref = t.txn_ref
    where t.merchant_id = $1 and t.kind = 'bill' and (t.order_ref = $2 or t.txn_ref = $2)
    order by case when $3 then t.order_ref = $2 else t.txn_ref = $2 end desc, t.key limit 1
"""


async def verify_bill(request: VerifyRequest, merchant: Merchant, reader: ActionReader) -> VerifyReply | Refusal:
    is_own = request.txn_ref is None
    row = await reader.fetchrow(BILL, merchant.merchant_id, request.txn_ref or request.order_ref, is_own)
    if row is None:
        return UNKNOWN_REFERENCE
    status, txn_ref, order_ref, amount, fee, vat, message, sealed, commission = row
    is_charged = status != FAILED
    delivery = NO_DELIVERY
    if sealed is not None:
        delivery = DELIVERY_DECODER.decode(reader.unseal(merchant.merchant_id, voucher_aad(txn_ref), sealed))
    return VerifyReply(
        status=200,
        txn_status=status,
        txn_ref=txn_ref,
        order_ref=order_ref,
        amount=format_minor(amount),
        fee=format_minor(fee if is_charged else 0),
        vat=format_minor(vat if is_charged else 0),
        commission=format_minor(commission if is_charged else 0),
        message=message,
        token=delivery.token,
        units=delivery.units,
        pin=delivery.pin,
    )
