"""Inbound bank transfers, into the account number of a payment or into a personalized account.

Into a payment's own account number:

    exact amount  the payment succeeds
    too little    rail:debit → unapplied; the rest is awaited, and it is returned if the payment expires
    too much      the payment succeeds, the excess is returned
    too late      it is returned

What is returned is a refund of the payment with an event of its own, as at vendors (late_money.py).

Every transfer into a personalized account is a successful payment of its own, of any amount. One that is above the
limits of the client whom the account is for is held (methods/investments/rules/hold_deposit.py).
Contract: payment#bank-transfer, resources#personalized-accounts
"""

import msgspec

from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.core.references import job_key, rail_key
from kasuwa.core.token_index import TokenIndexEntry, own_token_key
from kasuwa.ledger import chart
from kasuwa.methods.clients.rules.check_limits import find_excess
from kasuwa.methods.payment.model import (
    CHARGE,
    KIND,
    WALLET_INSUFFICIENT,
    Payment,
    PaymentDetail,
    PaymentFacts,
    PaymentJobData,
    payment_key,
    rail_account,
    unapplied_account,
)
from kasuwa.methods.payment.rules.begin import PaymentOrder, make_payment, make_transaction
from kasuwa.methods.payment.rules.check_request import HOME_CURRENCY
from kasuwa.methods.payment.rules.finish import PaymentOutcome, end_payment, finish_accounts
from kasuwa.methods.payment.rules.on_rail_answer import EXPIRED_OUTCOME
from kasuwa.methods.payment.rules.receipts.late_money import PAID_LATE, PAID_TOO_MUCH, add_return, begin_return
from kasuwa.methods.payment.rules.receipts.reject_transfer import decide_rejection
from kasuwa.methods.payment.rules.replies import underpaid_message
from kasuwa.methods.payment.wire import PayAccountRequest
from kasuwa.methods.payment.wire_reply import InboundReply
from kasuwa.rails.ports.orders import TRANSACTION_FACT
from kasuwa.rails.ports.rejections import Rejection
from kasuwa.terms.tariff import Tariff
from kasuwa.transactions.inbound_accounts import (
    ACCOUNT,
    PAYABLE,
    PAYMENT,
    PERSONALIZED,
    PersonalizedAccountRow,
    personalized_key,
    read_owner,
)
from kasuwa.transactions.pricing import price_collection
from kasuwa.transactions.purpose import HELD_INBOUND, TransactionPurpose
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction, encode_text, extend_trail, transaction_key

UNKNOWN_ACCOUNT = refuse_fields(
    FieldError("accountNumber", "no customer was shown this account", "inbound_account_unknown")
)
ACCOUNT_CLOSED = refuse_fields(
    FieldError("accountNumber", "the account is closed: the bank returns the transfer", "inbound_account_closed")
)
ANY_SUM = refuse_fields(
    FieldError("rejected", "left out: a personalized account takes any sum", "rejected_not_applicable")
)
REJECTED = "Rejected; the money goes back to the payer"
REJECTION_REASON = "UNDER_PAYMENT"
RETURNED = "The payment is over; the money goes back to the payer"
PAID = PaymentOutcome(SUCCESSFUL, "00", "Approved or completed successfully")


def need_inbound(request: PayAccountRequest, merchant: Merchant) -> Needs:
    return Needs()


def decide_inbound(
    request: PayAccountRequest, context: Context, rows: LoadedRows
) -> Decision[InboundReply] | Refusal | NeedsMore:
    """Applies a transfer to the payment or personalized account that the token index names.

    Another merchant's account number is refused like an unknown one.
    """
    key = own_token_key(context, ACCOUNT, request.account_number)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((TokenIndexEntry, key),)))
    entry = rows.get(TokenIndexEntry, key)
    if entry is None or entry.merchant_id != context.merchant.merchant_id:
        return UNKNOWN_ACCOUNT
    target, _, reference = entry.reference.partition(" ")
    if target == PERSONALIZED and request.rejected:
        return ANY_SUM
    if target == PERSONALIZED:
        arrived = ArrivedTransfer(int(request.amount), request.sender_name or "")
        return receive_personalized(reference, arrived, context, rows)
    assert target == PAYMENT, target
    if request.rejected:
        return reject_transfer(reference, int(request.amount), context, rows)
    return receive_transfer(reference, int(request.amount), context, rows)


# --- into a payment's own account -----------------------------------------------------------------------------------


def receive_transfer(txn_ref: str, amount: int, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Applies a transfer into a payment's own account number, or returns it if the payment is over."""
    key = transaction_key(context.merchant.merchant_id, KIND, txn_ref)
    if not rows.is_loaded(key):
        return NeedsMore(need_receipt(txn_ref, context.merchant))
    row = rows.get(Transaction, key)
    payment = rows.get(Payment, payment_key(context.merchant.merchant_id, txn_ref))
    job = rows.get(Job, job_key(key))
    assert row is not None
    assert payment is not None
    if row.is_final or job is None:
        return return_late_transfer(row, payment, amount, context)
    if context.now > payment.expires_at:
        return end_late(row, payment, job, amount, context, rows)
    return apply_transfer(row, payment, job, amount, context, rows)


def reject_transfer(txn_ref: str, amount: int, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Records that the bank sent a transfer back, as a vendor's call-back would. Each one is another transfer."""
    key = transaction_key(context.merchant.merchant_id, KIND, txn_ref)
    if not rows.is_loaded(key):
        return NeedsMore(need_receipt(txn_ref, context.merchant))
    row = rows.get(Transaction, key)
    assert row is not None
    order_key = rail_key(context.merchant.merchant_id, txn_ref)
    rejection = Rejection(order_key, context.entropy.hex(), REJECTION_REASON, amount)
    decision: Decision = decide_rejection(rejection, context, rows)
    decision.reply = InboundReply(txn_status=row.status, txn_ref=row.txn_ref, message=REJECTED)  # type: ignore[arg-type]
    return decision


def need_receipt(txn_ref: str, merchant: Merchant) -> Needs:
    key = transaction_key(merchant.merchant_id, KIND, txn_ref)
    rows: tuple[tuple[type[Row], bytes], ...] = (
        (Transaction, key),
        (Payment, payment_key(merchant.merchant_id, txn_ref)),
        (Job, job_key(key)),
    )
    return Needs(rows, accounts_of_transfer())


def accounts_of_transfer() -> tuple[str, ...]:
    return finish_accounts(PaymentJobData(0, "bank_transfer", 0, HOME_CURRENCY))


def return_late_transfer(row: Transaction, payment: Payment, amount: int, context: Context) -> Decision:
    reason = PAID_TOO_MUCH if row.status == SUCCESSFUL else PAID_LATE
    decision = begin_return(row, payment, amount, reason, context)
    decision.reply = InboundReply(txn_status=row.status, txn_ref=row.txn_ref, message=RETURNED)  # type: ignore[arg-type]
    return decision


def end_late(
    row: Transaction, payment: Payment, job: Job, amount: int, context: Context, rows: LoadedRows
) -> Decision | NeedsMore:
    """Ends a payment whose time is over, before its job does, and returns the transfer that came too late."""
    decision = end_payment(row, payment, job, EXPIRED_OUTCOME, context, rows)
    if isinstance(decision, NeedsMore):
        return decision
    decision = add_return(decision, row, amount, PAID_LATE, context)
    decision.reply = InboundReply(txn_status="failed", txn_ref=row.txn_ref, message=RETURNED)
    return decision


def apply_transfer(
    row: Transaction, payment: Payment, job: Job, amount: int, context: Context, rows: LoadedRows
) -> Decision | NeedsMore:
    rail, unapplied = rail_account("bank_transfer", row.currency), unapplied_account(row.currency)
    excess = max(0, payment.received + amount - payment.charged)
    arrived = PostingGroup(
        row.txn_ref, WALLET_INSUFFICIENT, postings=(Posting(rail, unapplied, amount - excess, "inbound transfer"),)
    )
    updated = msgspec.structs.replace(payment, received=payment.received + amount - excess)
    if updated.received < payment.charged:
        message = underpaid_message(updated.received, payment.charged)
        pending = msgspec.structs.replace(row, trail=extend_trail(row.trail, context.now, "underpaid", message))
        reply = InboundReply(txn_status="pending", txn_ref=row.txn_ref, message=message)
        return Decision(reply=reply, groups=(arrived,), rows=(pending, updated))
    decision = end_payment(row, updated, job, PAID, context, rows)
    if isinstance(decision, NeedsMore):
        return decision
    decision.groups = (arrived, *decision.groups)
    decision = add_return(decision, row, excess, PAID_TOO_MUCH, context)
    message = "Paid" if not excess else "Paid; the excess goes back to the payer"
    decision.reply = InboundReply(txn_status="successful", txn_ref=row.txn_ref, message=message)
    return decision


# --- into a personalized account ------------------------------------------------------------------------------------


class ArrivedTransfer(msgspec.Struct, frozen=True):
    """A transfer that arrived: its amount in minor units, and who sent it."""

    amount: int
    sender_name: str = ""
    rail: str = ""  # that received it, if it is a vendor's
    rail_reference: str = ""  # the rail's own


def receive_personalized(
    reference: str, arrived: ArrivedTransfer, context: Context, rows: LoadedRows
) -> Decision[InboundReply] | Refusal | NeedsMore:
    """Books a transfer into a personalized account as a successful payment. One that is closed takes no transfers."""
    key = personalized_key(context.merchant.merchant_id, reference)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((PersonalizedAccountRow, key),), accounts_of_transfer()))
    account = rows.get(PersonalizedAccountRow, key)
    assert account is not None, "the token index entry and the account are written together"
    if account.state not in PAYABLE:
        return ACCOUNT_CLOSED
    excess: str | NeedsMore = ""
    if account.client_id:
        excess = find_excess(account.client_id, arrived.amount, context, rows, chart.suspense(HOME_CURRENCY))
    if isinstance(excess, NeedsMore):
        return excess
    order = build_personalized_order(account, arrived, context)
    if excess:
        order = hold_order(order, account.client_id)
    # A refund goes back through the account with the rail that the money came into.
    row = msgspec.structs.replace(
        make_transaction(order, context.number, context), rail_account=account.rail_account if arrived.rail else ""
    )
    payment = msgspec.structs.replace(make_payment(order, row, CHARGE, context), session=arrived.rail_reference)
    if arrived.rail:
        facts = PaymentFacts(rail={TRANSACTION_FACT: arrived.rail_reference})
        payment = msgspec.structs.replace(payment, facts=encode_text(facts))
    decision = end_payment(row, payment, None, PAID, context, rows)
    if isinstance(decision, NeedsMore):
        return decision
    message = f"Held: {excess}" if excess else "Paid"
    decision.reply = InboundReply(txn_status="successful", txn_ref=row.txn_ref, message=message)
    decision.numbers_used += 1
    return decision


def hold_order(order: PaymentOrder, client_id: str) -> PaymentOrder:
    """Returns the order of a transfer that is held: its purpose takes the whole amount, and there is no fee."""
    detail = msgspec.structs.replace(order.detail, purpose=TransactionPurpose(HELD_INBOUND, client_id))
    price = msgspec.structs.replace(order.price, fee=0, vat=0)
    return msgspec.structs.replace(order, detail=detail, price=price)


def build_personalized_order(
    account: PersonalizedAccountRow, arrived: ArrivedTransfer, context: Context
) -> PaymentOrder:
    """Builds the payment order of a transfer into a personalized account.

    No limit applies: the money has arrived. The merchant bears the fee, as the payer was not told to add one. The
    account's reference is the merchant's reference of all its payments.
    Contract: resources#personalized-accounts
    """
    owner = read_owner(account, context.vault.unseal)
    return PaymentOrder(
        method="bank_transfer",
        currency=HOME_CURRENCY,
        price=price_collection(
            context.merchant.terms(Tariff), "bank_transfer", HOME_CURRENCY, arrived.amount, "merchant"
        ),
        detail=PaymentDetail(
            fullname=arrived.sender_name or owner.name,
            email=owner.email,
            business_name=owner.name,
            provider=account.bank_name,
            inbound_account_number=account.account_number,
            account_reference=account.reference,
            vendor=arrived.rail,
        ),
        customer_txnref=account.reference,
    )
