"""Rules of the payments of standing orders.

The job of an order is the same for all its dates, and each run gives it a later due time: a job whose due time differs
from that of its row was run before and does nothing. Each date is computed from the first one, so a worker that was
down for a week pays what it would have paid.

Savings that do not cover a payment are tried again by the retry schedule of recurrent payments, but not beyond the next
date. Nothing is paid in part. Contract: investments#standing-orders
"""

from datetime import timedelta

import msgspec

from kasuwa.core.calendar import lagos_day, lagos_moment
from kasuwa.core.decision import (
    Context,
    Decision,
    Effects,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
)
from kasuwa.core.references import account_key
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.clients.model import client_key
from kasuwa.methods.investments.model import (
    CLOSED,
    SAVINGS_INSUFFICIENT,
    WALLET,
    Savings,
    SavingsChanges,
    has_unseen_rows,
    is_dormant,
    need_savings,
    savings_key,
)
from kasuwa.methods.investments.rules.cash_out import forfeit_early
from kasuwa.methods.investments.rules.dry_run import total_repaid
from kasuwa.methods.investments.rules.repay_loan import METHOD, SavingsPayer, repay_from_savings
from kasuwa.methods.investments.rules.savings import (
    DEPOSIT,
    DEPOSIT_REFERENCE_TYPE,
    SavingsMovement,
    receive_deposit,
    record_movement,
    repay_thrift_debts,
)
from kasuwa.methods.investments.thrift_model import ThriftPlan, thrift_plan_key
from kasuwa.methods.loans.model import OWING_STATES, UNDISBURSED_STATES, Loan, find_installments, loan_key, need_loan
from kasuwa.methods.loans.model import need_installments as need_loan_installments
from kasuwa.methods.loans.rules.loan_position import compute_position
from kasuwa.methods.standing_orders.model import ACTIVE, ENDED, LOAN, THRIFT, StandingOrder
from kasuwa.methods.standing_orders.rules.manage import is_over, stop_order, tell_of_order
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.loan_schedule import sum_amounts
from kasuwa.transactions.schedule import next_retry
from kasuwa.transactions.transactions import FinalTransaction

# Keeps the due times of two runs of an order's job distinct, because a run is recognized by its due time.
MIN_RUN_INTERVAL = timedelta(seconds=1)

# Why an order ends or a payment fails, as its record and its event say.
SOURCE_CLOSED = "the savings that pay are closed"
TARGET_CLOSED = "the savings that were paid are closed"
LOAN_CLOSED = "the loan is {state}"
PLAN_OVER = "the thrift plan is {state}"
DORMANT = "the savings that pay are dormant"
SHORT = "the savings do not cover the amount"


class Payment(msgspec.Struct, frozen=True):
    """A payment of an order that can be made."""

    transaction: FinalTransaction
    amount: int
    group: PostingGroup
    effects: Effects  # on the loan that is paid, without the group
    last_because: str = ""  # why there is none after it; "" if there is


def need_payment(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    wallet = account_key(merchant.merchant_id, WALLET)
    return Needs(((Job, job.key), (StandingOrder, job.subject), (Account, wallet)), (WALLET,))


def decide_payment(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    current, order = rows.get(Job, job.key), rows.get(StandingOrder, job.subject)
    if current is None or current.due != job.due or order is None or order.state != ACTIVE:
        return Decision()
    needs = need_parties(order, context.merchant)
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    reason = find_end(order, rows)
    if reason:
        return end_order(order, reason, current, context)
    loan = rows.get(Loan, loan_key(order.merchant_id, order.target)) if order.pays == LOAN else None
    if loan is not None and loan.state in UNDISBURSED_STATES:
        # Nothing is owed yet: the date passes without a payment.
        return go_on(pass_date(order, current), current)
    changes = SavingsChanges(context, rows)
    if is_dormant(changes.load_savings(order.savings_id), changes.today, context.merchant):
        return fail_date(order, current, DORMANT, context)
    available = changes.account(order.savings_id).available
    more = repay_thrift_debts(changes, order.savings_id, available)
    if more is not None:
        return more
    available -= total_repaid(changes)
    paid = (
        pay_savings(order, available, changes, context)
        if loan is None
        else pay_loan(order, loan, available, changes, context)
    )
    if isinstance(paid, NeedsMore):
        return paid
    if paid is None:
        return fail_date(order, current, SHORT, context)
    return record_payment(order, current, paid, changes, context)


# --- what an order needs --------------------------------------------------------------------------------------


def need_parties(order: StandingOrder, merchant: Merchant) -> Needs:
    """Returns the savings that pay, and what is paid."""
    merchant_id = order.merchant_id
    savings = (order.savings_id, order.target_savings) if order.target_savings else (order.savings_id,)
    needs = need_savings(merchant_id, savings)
    if order.pays == LOAN:
        loan = need_loan(merchant, order.target)
        return Needs((*needs.rows, *loan.rows), (*needs.accounts, *loan.accounts, WALLET))
    if order.pays == THRIFT:
        return Needs((*needs.rows, (ThriftPlan, thrift_plan_key(merchant_id, order.target))), needs.accounts)
    return needs


def find_end(order: StandingOrder, rows: LoadedRows) -> str:
    """Returns why an order has nothing more to pay, or ""."""
    merchant_id = order.merchant_id
    if is_closed(order.savings_id, merchant_id, rows):
        return SOURCE_CLOSED
    if order.pays == LOAN:
        loan = rows.get(Loan, loan_key(merchant_id, order.target))
        assert loan is not None, "a loan is not deleted"
        return "" if loan.state in OWING_STATES | UNDISBURSED_STATES else LOAN_CLOSED.format(state=loan.state)
    if is_closed(order.target_savings, merchant_id, rows):
        return TARGET_CLOSED
    if order.pays != THRIFT:
        return ""
    plan = rows.get(ThriftPlan, thrift_plan_key(merchant_id, order.target))
    assert plan is not None, "a plan is not deleted"
    return PLAN_OVER.format(state=plan.state) if is_over(plan) else ""


def is_closed(savings_id: str, merchant_id: int, rows: LoadedRows) -> bool:
    savings = rows.get(Savings, savings_key(merchant_id, savings_id))
    assert savings is not None, "savings are not deleted"
    return savings.state == CLOSED


# --- paying ---------------------------------------------------------------------------------------------------


def pay_savings(
    order: StandingOrder, available: int, changes: SavingsChanges, context: Context
) -> Payment | NeedsMore | None:
    """Returns the payment, or None if the savings are short."""
    if available < order.amount:
        return None
    debts = tuple(changes.posts)
    forfeit_early(changes, order.savings_id, order.amount)
    more = receive_deposit(changes, order.target_savings, order.amount)
    if more is not None:
        return more
    movement = SavingsMovement(
        kind=DEPOSIT,
        reference_type=DEPOSIT_REFERENCE_TYPE,
        amount=order.amount,
        savings_id=order.target_savings,
        method=METHOD,
        message="Standing Order Paid",
        customer_txnref=order.order_id,
    )
    ending = record_movement(context, movement)
    accounts = chart.savings(order.savings_id), chart.savings(order.target_savings)
    move = Posting(*accounts, order.amount, "savings deposit")
    group = PostingGroup(
        ending.row.txn_ref, SAVINGS_INSUFFICIENT, postings=(*debts, move, *changes.posts[len(debts) :])
    )
    return Payment(ending, order.amount, group, Effects())


def pay_loan(
    order: StandingOrder, loan: Loan, available: int, changes: SavingsChanges, context: Context
) -> Payment | NeedsMore | None:
    """Returns the repayment, of what the loan owes at most, or None if the savings are short."""
    rows = changes.seen
    stored = find_installments(loan, rows)
    if stored is None or not rows.is_loaded(client_key(loan.merchant_id, loan.client_id)):
        return NeedsMore(need_loan_installments(loan))
    before = compute_position(loan, stored, lagos_day(context.now))
    amount = min(order.amount, sum_amounts(before.payoff).total)
    if available < amount:
        return None
    payer = SavingsPayer(order.savings_id, order.order_id, "Standing Order Paid")
    paid = repay_from_savings(payer, loan, stored, before, amount, changes, context)
    if isinstance(paid, NeedsMore):
        return paid
    after = paid.after.loan.state
    last_because = "" if after in OWING_STATES else LOAN_CLOSED.format(state=after)
    return Payment(paid.transaction, amount, paid.group, paid.effects, last_because)


def record_payment(
    order: StandingOrder, job: Job, paid: Payment, changes: SavingsChanges, context: Context
) -> Decision:
    """Returns the decision of a payment, with the next date of the order."""
    counted = msgspec.structs.replace(order, payments=order.payments + 1, paid=order.paid + paid.amount, reason="")
    decision = Decision(
        groups=(paid.group,),
        rows=(paid.transaction.row, *changes.rows),
        jobs=paid.transaction.jobs,
        events=(paid.transaction.event,),
        numbers_used=1,
    )
    decision.add(paid.effects)
    if paid.last_because:
        over = msgspec.structs.replace(counted, dates=counted.dates + 1)
        decision.add(end_order(over, paid.last_because, job, context))
    else:
        decision.add(go_on(pass_date(counted, job), job))
    return decision


# --- dates ------------------------------------------------------------------------------------------------------


def pass_date(order: StandingOrder, job: Job) -> StandingOrder:
    """Returns an order whose date is over. If the next one has passed already, it follows at once."""
    over = msgspec.structs.replace(order, dates=order.dates + 1, is_retry=False)
    return msgspec.structs.replace(over, next_at=max(lagos_moment(over.next_due, 0), job.due + MIN_RUN_INTERVAL))


def go_on(order: StandingOrder, job: Job) -> Decision:
    """Returns the decision that runs the job again when the order says."""
    assert order.next_at is not None, "an active order has a next date"
    return Decision(rows=(order,), jobs=(msgspec.structs.replace(job, attempt=job.attempt + 1, due=order.next_at),))


def fail_date(order: StandingOrder, job: Job, reason: str, context: Context) -> Decision:
    """Tries a payment again that the savings did not cover, or gives its date up. Both have an event."""
    due, following = (lagos_moment(order.find_date(order.dates + number), 0) for number in (1, 2))
    again = next_retry(due, context.now, following)
    failed = msgspec.structs.replace(order, reason=reason)
    if again is None:
        step, failed = "missed", pass_date(msgspec.structs.replace(failed, missed=order.missed + 1), job)
    else:
        step, failed = "failed", msgspec.structs.replace(failed, next_at=again, is_retry=True)
    counted, report = tell_of_order(failed, step, context)
    decision = go_on(counted, job)
    decision.add(Effects(events=(report.event,), jobs=report.jobs))
    return decision


def end_order(order: StandingOrder, reason: str, job: Job, context: Context) -> Decision:
    ended, report = tell_of_order(stop_order(order, ENDED, reason), "ended", context)
    return Decision(rows=(ended,), jobs=report.jobs, jobs_done=(job,), events=(report.event,))
