"""A repayment of a loan out of its client's savings, for standing orders and automatic collection.

It is taken as a cash-out is: thrift debts were repaid before it, and interest is forfeited before maturity. It never
closes the savings. Contract: investments#standing-orders, loans#auto-repay
"""

import msgspec

from kasuwa.core.decision import Context, Effects, NeedsMore, Posting, PostingGroup
from kasuwa.ledger import chart
from kasuwa.methods.investments.model import WALLET, SavingsChanges
from kasuwa.methods.investments.rules.cash_out import forfeit_early
from kasuwa.methods.loans.model import MORE_THAN_OWED, Loan, LoanInstallment
from kasuwa.methods.loans.rules import repay
from kasuwa.methods.loans.rules.loan_position import LoanPosition
from kasuwa.transactions.transactions import (
    SUCCESSFUL,
    FinalTransaction,
    NewTransaction,
    TransactionOutcome,
    begin_transaction,
    end_transaction,
)

METHOD = "savings"


class SavingsRepayment(msgspec.Struct, frozen=True):
    """A repayment that the savings cover."""

    transaction: FinalTransaction
    group: PostingGroup
    effects: Effects  # on the loan, without the group and without the rows of the savings
    after: LoanPosition


class SavingsPayer(msgspec.Struct, frozen=True):
    """The savings that pay, and what pays by them."""

    savings_id: str
    reference: str  # of the standing order or automatic collection: the repayment's own reference
    message: str


def repay_from_savings(
    payer: SavingsPayer,
    loan: Loan,
    stored: tuple[LoanInstallment, ...],
    before: LoanPosition,
    amount: int,
    changes: SavingsChanges,
    context: Context,
) -> SavingsRepayment | NeedsMore:
    """Returns the repayment. The postings of `changes` so far are thrift debts, which go first. `before` is today's
    position of the loan, of which `stored` are the installments."""
    credited = repay.apply_repayment(loan, stored, before, amount, context, changes.seen)
    if isinstance(credited, NeedsMore):
        return credited
    debts = tuple(changes.posts)
    forfeit_early(changes, payer.savings_id, amount)
    txn_ref = repay.new_reference(context)
    detail = {"loan_id": loan.loan_id}
    row = begin_transaction(context, NewTransaction(kind=repay.KIND, txn_ref=txn_ref, amount=amount, detail=detail))
    ending = end_transaction(
        context,
        msgspec.structs.replace(row, order_ref=payer.reference),
        TransactionOutcome(
            status=SUCCESSFUL,
            message=payer.message,
            method=METHOD,
            scenario=context.scenario,
            event_fields={"loan_id": loan.loan_id, "customer_txnref": payer.reference},
        ),
    )
    take = Posting(chart.savings(payer.savings_id), WALLET, amount, "savings cash-out")
    postings = (*debts, take, *credited.effects.posts)
    act = repay.record_repayment(loan, txn_ref, before.day, amount, context)
    effects = Effects(rows=(credited.client, act))
    effects.add(credited.effects)
    return SavingsRepayment(
        ending, PostingGroup(txn_ref, MORE_THAN_OWED, postings=postings), effects, credited.result.after
    )
