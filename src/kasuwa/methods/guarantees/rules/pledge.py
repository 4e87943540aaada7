"""Rules of pledging savings for a loan, and of releasing them. What is held meanwhile is in
methods/loans/rules/guarantor_holds.py.

Contract: loans#guarantees
"""

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    HeldAmount,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    PostingGroup,
    Refusal,
    refuse_fields,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.ledger import chart
from kasuwa.methods.clients.model import UNKNOWN_CLIENT, Client, client_key, refuse_inactive
from kasuwa.methods.guarantees.wire import GuaranteeReply, PledgeRequest, ReleaseGuaranteeRequest
from kasuwa.methods.investments.model import (
    CLOSED,
    SAVINGS_CLOSED,
    SAVINGS_DORMANT,
    UNKNOWN_SAVINGS,
    Savings,
    SavingsChanges,
    is_dormant,
    need_savings,
    savings_key,
)
from kasuwa.methods.investments.rules.dry_run import total_repaid
from kasuwa.methods.investments.rules.savings import debt_groups, repay_thrift_debts
from kasuwa.methods.loans.guarantee_model import (
    MAX_GUARANTEES,
    UNKNOWN_GUARANTEE,
    LoanGuarantee,
    guarantee_key,
    make_guarantee_id,
    make_guarantee_record,
    need_pledged_accounts,
)
from kasuwa.methods.loans.model import (
    OWING_STATES,
    UNDISBURSED_STATES,
    UNKNOWN_LOAN,
    Loan,
    find_installments,
    loan_key,
    need_loan,
    refuse_in_state,
)
from kasuwa.methods.loans.rules.guarantor_holds import (
    PLEDGE_INSUFFICIENT,
    count_unpaid_principal,
    need_secured_loan,
)

# Refusals, in order of precedence: unknown loan, its state, unknown client and savings, and these.
OWN_LOAN = refuse_fields(FieldError("client_id", "another client than the borrower", "guarantor_is_borrower"))
NOT_THE_GUARANTORS = refuse_fields(FieldError("savings_id", "not savings of this client", "not_the_owner"))
TOO_MANY = Refusal(
    INVALID_REQUEST,
    f"The loan has {MAX_GUARANTEES} guarantees already, which is the most",
    error_code="too_many_guarantees",
)
NOTHING_TO_GUARANTEE = Refusal(
    INVALID_REQUEST,
    "All of the principal that was lent is repaid: what is left was capitalized, and nobody guarantees that",
    error_code="nothing_to_guarantee",
)
RELEASED = Refusal(INVALID_REQUEST, "This guarantee was released already", error_code="guarantee_released")


# --- pledging -----------------------------------------------------------------------------------------------


def need_pledge(request: PledgeRequest, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    loan = need_loan(merchant, request.loan_id)
    needs = need_savings(merchant_id, (request.savings_id,), (Client, client_key(merchant_id, request.client_id)))
    return Needs((*loan.rows, *needs.rows), (*loan.accounts, *needs.accounts))


def decide_pledge(
    request: PledgeRequest, context: Context, rows: LoadedRows
) -> Decision[GuaranteeReply] | Refusal | NeedsMore:
    """Holds a part of a client's savings for the loan of another. Thrift debts of the savings are repaid first, as
    before every cash-out."""
    merchant_id, amount = context.merchant.merchant_id, int(request.amount)
    loan = rows.get(Loan, loan_key(merchant_id, request.loan_id))
    if loan is None:
        return UNKNOWN_LOAN
    if loan.state not in OWING_STATES | UNDISBURSED_STATES:
        return refuse_in_state(loan.state, "guaranteed")
    refusal = refuse_guarantor(request, loan, context, rows)
    if refusal is not None:
        return refusal
    unpaid = find_unpaid(loan, rows)
    if isinstance(unpaid, NeedsMore):
        return unpaid
    if not unpaid:
        return NOTHING_TO_GUARANTEE
    changes = SavingsChanges(context, rows)
    available = changes.account(request.savings_id).available
    more = repay_thrift_debts(changes, request.savings_id, available)
    if more is not None:
        return more
    if available - total_repaid(changes) < amount:
        return PLEDGE_INSUFFICIENT
    counted = msgspec.structs.replace(loan, guarantees=loan.guarantees + 1)
    guarantee = make_guarantee(request, counted, unpaid, context)
    reply = GuaranteeReply(message="Savings Pledged", data=make_guarantee_record(guarantee))
    if request.dry_run:
        reply.message, reply.dry_run, reply.data.guarantee_id = DRY_RUN_MESSAGE, True, None
        return Decision(reply=reply)
    held = HeldAmount(chart.savings(request.savings_id), amount)
    return Decision(
        reply=reply,
        groups=(
            *debt_groups(changes, request.savings_id),
            PostingGroup(guarantee.guarantee_id, PLEDGE_INSUFFICIENT, holds=held),
        ),
        rows=(counted, guarantee, *(changes.rows if changes.posts else ())),
        numbers_used=1,
    )


def refuse_guarantor(request: PledgeRequest, loan: Loan, context: Context, rows: LoadedRows) -> Refusal | None:
    """Returns why these savings cannot guarantee the loan, or None."""
    client = rows.get(Client, client_key(loan.merchant_id, request.client_id))
    if client is None:
        return UNKNOWN_CLIENT
    inactive = refuse_inactive(client)
    if inactive is not None:
        return inactive
    if client.client_id == loan.client_id:
        return OWN_LOAN
    savings = rows.get(Savings, savings_key(loan.merchant_id, request.savings_id))
    if savings is None:
        return UNKNOWN_SAVINGS
    if savings.client_id != client.client_id:
        return NOT_THE_GUARANTORS
    if savings.state == CLOSED:
        return SAVINGS_CLOSED
    if is_dormant(savings, lagos_day(context.now), context.merchant):
        return SAVINGS_DORMANT
    return TOO_MANY if loan.guarantees >= MAX_GUARANTEES else None


def find_unpaid(loan: Loan, rows: LoadedRows) -> int | NeedsMore:
    """Returns the principal of a loan that is not repaid: all of it before it is paid out."""
    if loan.disbursed_at is None:
        return loan.amount
    lines = find_installments(loan, rows)
    return NeedsMore(need_secured_loan(loan)) if lines is None else count_unpaid_principal(lines)


def make_guarantee(request: PledgeRequest, loan: Loan, unpaid: int, context: Context) -> LoanGuarantee:
    """Returns the newest guarantee of a loan, which counts it already."""
    guarantee_id = make_guarantee_id(loan.loan_id, loan.guarantees)
    return LoanGuarantee(
        key=guarantee_key(loan.merchant_id, guarantee_id),
        merchant_id=loan.merchant_id,
        guarantee_id=guarantee_id,
        number=context.number,
        loan_id=loan.loan_id,
        n=loan.guarantees,
        borrower_id=loan.client_id,
        client_id=request.client_id,
        savings_id=request.savings_id,
        amount=int(request.amount),
        base=unpaid,
        held=int(request.amount),
        created_at=context.now,
    )


# --- releasing ----------------------------------------------------------------------------------------------


def need_release(request: ReleaseGuaranteeRequest, merchant: Merchant) -> Needs:
    return Needs(((LoanGuarantee, guarantee_key(merchant.merchant_id, request.guarantee_id)),))


def decide_release(
    request: ReleaseGuaranteeRequest, context: Context, rows: LoadedRows
) -> Decision[GuaranteeReply] | Refusal | NeedsMore:
    """Releases what a guarantee holds. It holds nothing again, whatever becomes of the loan."""
    guarantee = rows.get(LoanGuarantee, guarantee_key(context.merchant.merchant_id, request.guarantee_id))
    if guarantee is None:
        return UNKNOWN_GUARANTEE
    if guarantee.released_at is not None:
        return RELEASED
    needs = need_pledged_accounts(guarantee.merchant_id, (guarantee,))
    if not all(rows.is_loaded(key) for _, key in needs.rows):
        return NeedsMore(needs)
    released = msgspec.structs.replace(guarantee, held=0, short=0, released_at=context.now)
    reply = GuaranteeReply(message="Guarantee Released", data=make_guarantee_record(released))
    if request.dry_run:
        reply.message, reply.dry_run = DRY_RUN_MESSAGE, True
        return Decision(reply=reply)
    held = HeldAmount(chart.savings(guarantee.savings_id), guarantee.held)
    group = PostingGroup(guarantee.guarantee_id, PLEDGE_INSUFFICIENT, releases=held)
    return Decision(reply=reply, groups=(group,) if guarantee.held else (), rows=(released,))
