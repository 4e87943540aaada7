"""Answers to orders of the `Issuer` port, and how an order is read: shared by its rules.

Orders are idempotent by their key: a second order with the same key gets the first answer.
"""

from kasuwa.core.decision import Context, Decision, LoadedRows, Needs, NeedsMore
from kasuwa.core.token_index import TokenIndexEntry, own_token_key
from kasuwa.methods.virtualcard.rules.declines import AuthorizationRequest, response_code_meanings
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.issuer import PurchaseOrder
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction

# The kind of order keys in the token index, by which the status of an order can be queried.
ORDER_KEY = "issuer order"

DUPLICATE = "94"
INVALID = "13"
NO_SUCH_CARD = "14"
NO_SUCH_ORDER = "25"


def make_answer(row: Transaction) -> Answer:
    status = orders.SUCCESSFUL if row.status == SUCCESSFUL else orders.FAILED
    return Answer(status, row.code, row.message, {"txnRef": row.txn_ref})


def answer_code(code: str, status: str = orders.FAILED) -> Answer:
    return Answer(status, code, response_code_meanings()[code])


def read_order(order: PurchaseOrder) -> AuthorizationRequest:
    return AuthorizationRequest(
        amount=order.amount,
        currency=order.currency,
        merchant_name=order.merchant_name,
        category=order.category,
        cvv=order.cvv,
        expiry=order.expiry,
        merchant_id=order.merchant_id,
        country=order.country,
        channel=order.channel,
    )


def refuse_used_key(key: str, context: Context, rows: LoadedRows) -> Decision | NeedsMore | None:
    """Returns the answer to an order under a key that another order has, of whatever kind. None if the key is new."""
    place = own_token_key(context, ORDER_KEY, key)
    if not rows.is_loaded(place):
        return NeedsMore(Needs(((TokenIndexEntry, place),)))
    return None if rows.get(TokenIndexEntry, place) is None else Decision(reply=answer_code(DUPLICATE))
