"""The end of a card charge that collects a loan: the repayment as of every payment, and what the collection does next.

It takes the place of the rules of repayments by payments. A payment that collects nothing ends as it does without them.
A charge that succeeds after the loan was repaid otherwise becomes the client's credit, as every overpaid repayment.

Contract: loans#auto-repay
"""

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, LoadedRows, Merchant, Needs, NeedsMore
from kasuwa.methods.auto_repay.rules.attempts import (
    Attempt,
    EndedAttempt,
    count_collected,
    record_attempt,
    record_collected,
    record_declined,
    tell_of_failure,
    tell_of_success,
)
from kasuwa.methods.auto_repay.rules.dates import (
    MIN_RUN_INTERVAL,
    Decline,
    find_first,
    make_run,
)
from kasuwa.methods.loans.auto_repay_model import (
    ACTIVE,
    COLLECTED,
    DECLINED,
    ENDED,
    AutoRepayment,
    LoanCollection,
    auto_repayment_key,
    collection_key,
    halt,
    need_auto_repayment,
)
from kasuwa.methods.loans.model import OWING_STATES, Loan, LoanInstallment, find_installments, loan_key, need_loan
from kasuwa.methods.loans.rules.loan_position import LoanPosition, compute_position
from kasuwa.methods.loans.rules.plan_collection import plan_day
from kasuwa.methods.loans.rules.repay import end_repayment
from kasuwa.methods.loans.rules.reverse import REPAYMENT_PURPOSE_RULES
from kasuwa.methods.payment.rules.plans.scheduled_charges import retry_classes
from kasuwa.transactions.purpose import TransactionEffects
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction


def need_repayment(merchant: Merchant, loan_id: str) -> Needs:
    loan, auto = need_loan(merchant, loan_id), need_auto_repayment(merchant.merchant_id, loan_id)
    return Needs((*loan.rows, *auto.rows), loan.accounts)


def end_collected_repayment(
    row: Transaction, loan_id: str, context: Context, rows: LoadedRows
) -> TransactionEffects | NeedsMore:
    """Ends a repayment by a payment, and if it was a charge of the automatic collection, plans what follows."""
    effects = end_repayment(row, loan_id, context, rows)
    if isinstance(effects, NeedsMore) or not row.is_final:
        return effects
    auto = rows.get(AutoRepayment, auto_repayment_key(context.merchant.merchant_id, loan_id))
    if auto is None or auto.charging != row.txn_ref:
        return effects
    key = collection_key(auto.merchant_id, auto.loan_id, auto.attempts)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((LoanCollection, key),)))
    recorded = rows.get(LoanCollection, key)
    assert recorded is not None, "a charge in progress is the newest attempt"
    idle = msgspec.structs.replace(auto, charging="")
    attempt = Attempt(idle, recorded.amount, recorded.number, row.txn_ref, recorded)
    ended = end_attempt(attempt, row, find_position_after(effects, loan_id, context, rows), context)
    effects.rows += (ended.auto,)
    effects.jobs += (make_run(ended.auto),) if ended.auto.next_at is not None else ()
    effects.add(ended.effects)
    return effects


def find_position_after(effects: TransactionEffects, loan_id: str, context: Context, rows: LoadedRows) -> LoanPosition:
    """Returns today's position of a loan with the effects of a repayment."""
    stored_loan = rows.get(Loan, loan_key(context.merchant.merchant_id, loan_id))
    assert stored_loan is not None
    loan = next((row for row in effects.rows if isinstance(row, Loan)), stored_loan)
    changed = {row.key: row for row in effects.rows if isinstance(row, LoanInstallment)}
    stored = find_installments(loan, rows)
    assert stored is not None, "the end of the repayment has loaded them"
    return compute_position(loan, tuple(changed.get(line.key, line) for line in stored), lagos_day(context.now))


def end_attempt(attempt: Attempt, row: Transaction, after: LoanPosition, context: Context) -> EndedAttempt:
    auto, earliest = attempt.auto, context.now + MIN_RUN_INTERVAL
    if auto.state == ACTIVE and after.loan.state not in OWING_STATES:
        auto = halt(auto, ENDED)
    why = None if row.status == SUCCESSFUL else read_decline(row)
    if auto.state == ACTIVE and auto.tries:
        if why is None:
            return record_collected(attempt, after, earliest, context)
        return record_declined(attempt, after, why, earliest, context)
    # It was stopped, paused or agreed on anew meanwhile, or the loan was closed: the charge decides nothing any more.
    if auto.state == ACTIVE:
        auto = plan_day(auto, find_first(after, auto.hour, context.now), earliest)
    if why is None:
        _, recorded = record_attempt(attempt, COLLECTED, context)
        reason = auto.reason
        counted = msgspec.structs.replace(count_collected(auto, attempt.amount), reason=reason)
        return tell_of_success(counted, recorded, after, context)
    _, recorded = record_attempt(attempt, DECLINED, context)
    return tell_of_failure(auto, recorded, why, "missed" if auto.state == ACTIVE else "paused", context)


def read_decline(row: Transaction) -> Decline:
    """Returns why a charge failed, by the class of its code. Contract: payment#recurrent"""
    is_soft = retry_classes().get(row.code or "") == "soft"
    return Decline("card_declined", row.message, is_soft)


COLLECTED_PURPOSE_RULES = msgspec.structs.replace(
    REPAYMENT_PURPOSE_RULES, needs=need_repayment, on_answer=end_collected_repayment
)
