"""Rules of what a borrower owes a guarantor: it is paid into the guarantor's savings, or the guarantor waives it.

Contract: loans#call
"""

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
    refuse_fields,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.clients.model import Client, adjust_open_accounts, client_key
from kasuwa.methods.guarantees.wire import PayGuarantorReply, PayGuarantorRequest
from kasuwa.methods.investments.model import (
    WALLET,
    WALLET_INSUFFICIENT,
    SavingsChanges,
    has_unseen_rows,
    need_savings,
)
from kasuwa.methods.investments.rules.dry_run import wallet_available
from kasuwa.methods.investments.rules.savings import (
    DEPOSIT,
    DEPOSIT_REFERENCE_TYPE,
    SavingsMovement,
    receive_deposit,
    record_movement,
)
from kasuwa.methods.loans.guarantee_model import (
    LENDING_GUARANTORS,
    UNKNOWN_GUARANTEE,
    LoanGuarantee,
    guarantee_key,
    make_guarantee_record,
)
from kasuwa.methods.loans.model import Loan, find_installments, loan_key, need_installments
from kasuwa.methods.loans.rules.loan_event import LoanNotice, tell_of_loan
from kasuwa.methods.loans.rules.loan_position import compute_position

NOTHING_OWED = Refusal(
    INVALID_REQUEST, "The borrower owes nothing for this guarantee", error_code="nothing_owed_to_guarantor"
)


def need_claim(request: PayGuarantorRequest, merchant: Merchant) -> Needs:
    key, wallet = guarantee_key(merchant.merchant_id, request.guarantee_id), account_key(merchant.merchant_id, WALLET)
    return Needs(((LoanGuarantee, key), (Account, wallet)), (WALLET, LENDING_GUARANTORS))


def decide_claim(
    request: PayGuarantorRequest, context: Context, rows: LoadedRows
) -> Decision[PayGuarantorReply] | Refusal | NeedsMore:
    """Takes off what a borrower owes a guarantor. The borrower's money is in the wallet already, or the guarantor
    waives it."""
    amount = int(request.amount)
    guarantee = rows.get(LoanGuarantee, guarantee_key(context.merchant.merchant_id, request.guarantee_id))
    if guarantee is None:
        return UNKNOWN_GUARANTEE
    if not guarantee.owed:
        return NOTHING_OWED
    if amount > guarantee.owed:
        return refuse_fields(FieldError("amount", f"at most {format_minor(guarantee.owed)}, which is owed"))
    needs = need_parties(guarantee)
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    changes, is_paid = SavingsChanges(context, rows), request.payment_method == "wallet"
    if is_paid and wallet_available(changes) < amount:
        return WALLET_INSUFFICIENT
    repaid = msgspec.structs.replace(guarantee, owed=guarantee.owed - amount)
    reply = PayGuarantorReply(
        message="Guarantor Repaid" if is_paid else "Claim Waived",
        amount=format_minor(amount),
        data=make_guarantee_record(repaid),
    )
    if request.dry_run:
        reply.message, reply.dry_run = DRY_RUN_MESSAGE, True
        return Decision(reply=reply)
    notice = None if is_paid else tell_of_waiver(guarantee, amount, context, rows)
    if isinstance(notice, NeedsMore):
        return notice
    decision = book_claim(repaid, amount, is_paid, reply, changes, context)
    if notice is None or isinstance(decision, NeedsMore):
        return decision
    decision.rows += (notice.loan,)
    decision.add(notice.effects)
    return decision


def tell_of_waiver(guarantee: LoanGuarantee, amount: int, context: Context, rows: LoadedRows) -> LoanNotice | NeedsMore:
    """Returns the loan with the event of a waived claim. One that is paid has the event of its deposit."""
    loan = rows.get(Loan, loan_key(guarantee.merchant_id, guarantee.loan_id))
    assert loan is not None, "a guarantee is of a loan"
    installments = find_installments(loan, rows)
    if installments is None:
        return NeedsMore(need_installments(loan))
    position = compute_position(loan, installments, lagos_day(context.now))
    return tell_of_loan(loan, "guarantor_waived", position, context, amount=amount)


def need_parties(guarantee: LoanGuarantee) -> Needs:
    """Returns the loan, the borrower, the guarantor's savings, and the account of what is owed."""
    merchant_id = guarantee.merchant_id
    loan = (Loan, loan_key(merchant_id, guarantee.loan_id))
    borrower = (Client, client_key(merchant_id, guarantee.borrower_id))
    needs = need_savings(merchant_id, (guarantee.savings_id,), loan, borrower)
    return Needs(needs.rows, (*needs.accounts, chart.guarantor(guarantee.guarantee_id)))


def book_claim(
    repaid: LoanGuarantee,
    amount: int,
    is_paid: bool,
    reply: PayGuarantorReply,
    changes: SavingsChanges,
    context: Context,
) -> Decision[PayGuarantorReply] | NeedsMore:
    savings_id, decision = repaid.savings_id, Decision(reply=reply, rows=(repaid,))
    more = receive_deposit(changes, savings_id, amount) if is_paid else None
    if not repaid.owed:
        changes.count_claim(savings_id, -1)
        if not is_paid:
            changes.close_emptied((savings_id,))
        borrower = changes.seen.get(Client, client_key(repaid.merchant_id, repaid.borrower_id))
        assert borrower is not None, "a guarantee is of a loan of a client"
        decision.rows += (adjust_open_accounts(borrower, -1),)
    more = more or changes.missing_clients()
    if more is not None:
        return more
    kind = "guarantor repaid" if is_paid else "claim of a guarantor waived"
    settle = Posting(chart.guarantor(repaid.guarantee_id), LENDING_GUARANTORS, amount, kind)
    decision.rows += changes.rows
    if not is_paid:
        group = PostingGroup(repaid.guarantee_id, WALLET_INSUFFICIENT, postings=(settle,))
        decision.groups = (group,)
        return decision
    movement = SavingsMovement(
        kind=DEPOSIT,
        reference_type=DEPOSIT_REFERENCE_TYPE,
        amount=amount,
        savings_id=savings_id,
        method="wallet",
        message="Guarantor Repaid",
    )
    end = record_movement(context, movement)
    bring = Posting(WALLET, chart.savings(savings_id), amount, "savings deposit")
    group = PostingGroup(end.row.txn_ref, WALLET_INSUFFICIENT, postings=(bring, *changes.posts, settle))
    reply.txn_ref = end.row.txn_ref
    decision.groups, decision.rows = (group,), (end.row, *decision.rows)
    decision.jobs, decision.events, decision.numbers_used = end.jobs, (end.event,), 1
    return decision
