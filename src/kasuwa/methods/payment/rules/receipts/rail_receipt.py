"""Books money that a rail received on an account, once by the rail's own reference.

    into an open account        a successful payment, as inbound_transfer.py books it
    into any other, or another currency
                                rail:debit → suspense:inbound, and a notice to the operator

Money in suspense is assigned or returned by two operators (suspense.py).
Contract: resources#personalized-accounts
"""

import msgspec

from kasuwa.core.decision import (
    Context,
    Decision,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    OperatorNotice,
    Posting,
    PostingGroup,
    Refusal,
)
from kasuwa.core.money import format_minor
from kasuwa.ledger import chart
from kasuwa.methods.payment.model import WALLET_INSUFFICIENT, rail_account
from kasuwa.methods.payment.rules.check_request import HOME_CURRENCY
from kasuwa.methods.payment.rules.receipts.inbound_transfer import (
    ArrivedTransfer,
    accounts_of_transfer,
    receive_personalized,
)
from kasuwa.transactions.inbound_accounts import (
    PAYABLE,
    ArrivedReceipt,
    InboundReceipt,
    PersonalizedAccountRow,
    personalized_key,
    receipt_key,
)


def need_receipt_rows(receipt: ArrivedReceipt, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    known = (InboundReceipt, receipt_key(merchant_id, receipt.rail, receipt.rail_reference))
    if not receipt.account_reference:
        return Needs((known,), accounts_of_suspense(receipt))
    account = (PersonalizedAccountRow, personalized_key(merchant_id, receipt.account_reference))
    return Needs((known, account), (*accounts_of_transfer(), *accounts_of_suspense(receipt)))


def accounts_of_suspense(receipt: ArrivedReceipt) -> tuple[str, str]:
    return rail_account("bank_transfer", receipt.currency), chart.suspense(receipt.currency)


def decide_receipt(receipt: ArrivedReceipt, context: Context, rows: LoadedRows) -> Decision[InboundReceipt] | NeedsMore:
    """Books a receipt. The reply is the row that stands: this one, or that of an earlier booking."""
    merchant_id = context.merchant.merchant_id
    key = receipt_key(merchant_id, receipt.rail, receipt.rail_reference)
    known = rows.get(InboundReceipt, key)
    if known is not None:
        return Decision(reply=known)
    account = None
    if receipt.account_reference:
        account = rows.get(PersonalizedAccountRow, personalized_key(merchant_id, receipt.account_reference))
    row = InboundReceipt(
        key=key,
        merchant_id=merchant_id,
        rail=receipt.rail,
        rail_reference=receipt.rail_reference,
        account_number=receipt.account_number or ("" if account is None else account.account_number),
        amount=receipt.amount,
        currency=receipt.currency,
        txn_ref="",
        booked_at=context.now,
        rail_account=receipt.rail_account,
    )
    if account is None or account.state not in PAYABLE or receipt.currency != HOME_CURRENCY:
        return keep_in_suspense(row)
    arrived = ArrivedTransfer(receipt.amount, receipt.sender_name, receipt.rail, receipt.rail_reference)
    paid = receive_personalized(receipt.account_reference, arrived, context, rows)
    assert not isinstance(paid, Refusal), "the account was found to be open"
    if isinstance(paid, NeedsMore):
        return paid
    booked = msgspec.structs.replace(row, txn_ref=paid.reply.txn_ref)
    decision: Decision = msgspec.structs.replace(paid, rows=(*paid.rows, booked))
    decision.reply = booked
    return decision


def keep_in_suspense(row: InboundReceipt) -> Decision[InboundReceipt]:
    rail = rail_account("bank_transfer", row.currency)
    posting = Posting(rail, chart.suspense(row.currency), row.amount, "received for nobody known")
    message = (
        f"{row.currency} {format_minor(row.amount)} came into account {row.account_number or 'unknown'} at {row.rail}, "
        "which is nobody's open account: it is in suspense:inbound; assign or return it on the page Approvals"
    )
    return Decision(
        reply=row,
        rows=(row,),
        groups=(PostingGroup(f"{row.rail} {row.rail_reference}"[:100], WALLET_INSUFFICIENT, postings=(posting,)),),
        notices=(OperatorNotice(row.rail_reference, message),),
    )
