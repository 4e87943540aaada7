"""What the guarantees of a loan hold on their savings: less as the principal is repaid, more if that is taken back.

A guarantee holds its amount in the proportion in which the principal is not repaid, rounded up, and never more than its
amount without what was called of it. A repayment only releases. A repayment that is reversed has released parts held
again, as far as the savings have them: what they do not have is recorded as short, and is not taken from what comes
into them later. Principal that was written off is not repaid: it stays guaranteed.

Contract: loans#guarantees
"""

from collections import Counter

import msgspec

from kasuwa.core.codes import INSUFFICIENT_FUNDS
from kasuwa.core.decision import Effects, HeldAmount, LoadedRows, Needs, NeedsMore, PostingGroup, Refusal
from kasuwa.core.references import account_key
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.loans.guarantee_model import (
    LoanGuarantee,
    find_guarantees,
    need_guarantees,
    need_pledged_accounts,
)
from kasuwa.methods.loans.model import Loan, LoanInstallment, need_installments

PLEDGE_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS, "The savings do not cover the amount", error_code="savings_insufficient"
)


def need_secured_loan(loan: Loan) -> Needs:
    """Returns the installments of a loan, its client and its guarantees."""
    return Needs((*need_installments(loan).rows, *need_guarantees(loan).rows))


def count_unpaid_principal(lines: tuple[LoanInstallment, ...]) -> int:
    """Returns the principal of a loan that was paid out and is not repaid, with what was written off. What
    was capitalized counts as repaid last: its guarantors did not answer for it."""
    unpaid = sum(line.principal - line.paid_principal - line.pending - line.pending_tax for line in lines)
    return max(0, unpaid - sum(line.capitalized.total for line in lines))


def compute_hold(guarantee: LoanGuarantee, unpaid: int) -> int:
    """Returns what a guarantee should hold while `unpaid` of the principal is not repaid."""
    return min(guarantee.amount - guarantee.called, compute_share(guarantee, unpaid))


def compute_share(guarantee: LoanGuarantee, unpaid: int) -> int:
    """Returns the part of a guarantee's amount that `unpaid` is of its principal."""
    if guarantee.released_at is not None:
        return 0
    return -(-guarantee.amount * min(unpaid, guarantee.base) // guarantee.base)


def hold_what_there_is(guarantee: LoanGuarantee, wanted: int, again: int, available: int) -> LoanGuarantee:
    """Returns the guarantee that holds what is wanted of it: what it held, and of `again` as much as is available."""
    held = min(wanted, guarantee.held + max(0, min(again, available)))
    return msgspec.structs.replace(guarantee, held=held, short=wanted - held)


def release_holds(
    loan: Loan, unpaid: int, rows: LoadedRows, guarantees: tuple[LoanGuarantee, ...] | None = None
) -> Effects | NeedsMore:
    """Releases what the guarantees of a loan need not hold any more. `guarantees` are those of the decision so far, if
    it changes them."""
    stored = find_guarantees(loan, rows) if guarantees is None else guarantees
    if stored is None:
        return NeedsMore(need_guarantees(loan))
    changed = tuple(hold_what_there_is(one, compute_hold(one, unpaid), 0, 0) for one in stored)
    return move_holds(loan, stored, changed, rows)


def restore_holds(loan: Loan, unpaid_before: int, unpaid: int, rows: LoadedRows) -> Effects | NeedsMore:
    """Holds what the guarantees of a loan should hold after its history has changed: less, or again the parts of what
    is not repaid any more."""
    stored = find_guarantees(loan, rows)
    if stored is None:
        return NeedsMore(need_guarantees(loan))
    needs = need_pledged_accounts(loan.merchant_id, stored)
    if not all(rows.is_loaded(key) for _, key in needs.rows):
        return NeedsMore(needs)
    changed, taken = [], Counter[str]()
    for one in stored:
        account = rows.get(Account, account_key(loan.merchant_id, chart.savings(one.savings_id)))
        available = 0 if account is None else account.available
        again = compute_share(one, unpaid) - compute_share(one, unpaid_before)
        restored = hold_what_there_is(one, compute_hold(one, unpaid), again, available - taken[one.savings_id])
        taken[one.savings_id] += restored.held - one.held
        changed.append(restored)
    return move_holds(loan, stored, tuple(changed), rows)


def move_holds(
    loan: Loan, before: tuple[LoanGuarantee, ...], after: tuple[LoanGuarantee, ...], rows: LoadedRows
) -> Effects | NeedsMore:
    """Returns the changed guarantees, and the groups that hold more or less. What is released goes first."""
    moved = [(was, now) for was, now in zip(before, after, strict=True) if was.held != now.held]
    needs = need_pledged_accounts(loan.merchant_id, (now for _, now in moved))
    if not all(rows.is_loaded(key) for _, key in needs.rows):
        return NeedsMore(needs)
    groups = []
    for was, now in sorted(moved, key=lambda pair: pair[1].held - pair[0].held):
        account, more = chart.savings(now.savings_id), now.held - was.held
        held = HeldAmount(account, abs(more))
        groups.append(
            PostingGroup(
                now.guarantee_id,
                PLEDGE_INSUFFICIENT,
                holds=held if more > 0 else None,
                releases=held if more < 0 else None,
            )
        )
    changed = tuple(row for row in after if row != rows.get(LoanGuarantee, row.key))
    return Effects(groups=tuple(groups), rows=changed)


def need_pledged(loan: Loan, rows: LoadedRows) -> Needs:
    """Returns the accounts of the savings that guarantee a loan, whose guarantees are loaded."""
    return need_pledged_accounts(loan.merchant_id, find_guarantees(loan, rows) or ())
