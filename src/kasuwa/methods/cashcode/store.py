"""Reads cashcodes for verify. Never writes; every WHERE has the merchant_id."""

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import Reader
from kasuwa.methods.cashcode.model import KIND, cashcode_key
from kasuwa.methods.cashcode.rules.finish import UNKNOWN_ORDER
from kasuwa.methods.cashcode.wire import OrderRequest, VerifyReply
from kasuwa.transactions.transactions import FAILED, transaction_key

BY_ORDER_REF = """
    select t.status, c.state, t.amount, c.paid, t.fee, t.vat, c.channel, c.expires_at, t.message
    from transaction t join cashcode c on c.merchant_id = t.merchant_id and c.key = $3
    where t.key = $1 and t.merchant_id = $2
"""


async def verify_code(request: OrderRequest, merchant: Merchant, reader: Reader) -> VerifyReply | Refusal:
    merchant_id = merchant.merchant_id
    keys = transaction_key(merchant_id, KIND, request.order_ref), cashcode_key(merchant_id, request.order_ref)
    row = await reader.fetchrow(BY_ORDER_REF, keys[0], merchant_id, keys[1])
    if row is None:
        return UNKNOWN_ORDER
    status, state, amount, paid, fee, vat, channel, expires_at, message = row
    return VerifyReply(
        order_ref=request.order_ref,
        txn_status=status,
        state=state,
        amount=format_minor(amount),
        paid=format_minor(paid),
        # A code that ended without being redeemed costs nothing.
        fee=format_minor(0 if status == FAILED else fee),
        vat=format_minor(0 if status == FAILED else vat),
        channel=channel,
        expires_at=utc_text(expires_at),
        message=message,
    )
