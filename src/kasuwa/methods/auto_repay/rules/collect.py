"""Rules of collecting a loan: what its job does when it is due.

The job of a loan is the same for all its days, and each run gives it a later due time: a run whose due time differs
from that of the row was made before and does nothing. An attempt takes what is due by then, as the loan says at that
time: what was paid meanwhile is not asked for again.

The money moves as for every repayment (methods/loans/model.py). Savings pay as by a standing order, and a card is
charged as by a recurrent payment: the run begins the payment and ends its job, and the end of the payment
(charge_end.py) plans what follows.

Contract: loans#auto-repay
"""

from datetime import datetime

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, Decision, Effects, Job, LoadedRows, Merchant, Needs, NeedsMore, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key
from kasuwa.ledger.chart import Account
from kasuwa.methods.auto_repay.rules.attempts import (
    Attempt,
    record_attempt,
    record_collected,
    record_declined,
)
from kasuwa.methods.auto_repay.rules.dates import (
    MIN_RUN_INTERVAL,
    Decline,
    collect_next,
    find_first,
    wait_for_payout,
)
from kasuwa.methods.clients.model import Client, adjust_pending_payments
from kasuwa.methods.investments.model import (
    CLOSED,
    WALLET,
    Savings,
    SavingsChanges,
    has_unseen_rows,
    is_dormant,
    need_savings,
    savings_key,
)
from kasuwa.methods.investments.rules.dry_run import total_repaid
from kasuwa.methods.investments.rules.repay_loan import SavingsPayer, repay_from_savings
from kasuwa.methods.investments.rules.savings import repay_thrift_debts
from kasuwa.methods.loans import auto_repay_model as model
from kasuwa.methods.loans.auto_repay_model import ACTIVE, ENDED, NOTICE, SAVINGS, TOKEN, AutoRepayment, halt
from kasuwa.methods.loans.model import (
    OWING_STATES,
    REPAYMENT_PURPOSE,
    UNDISBURSED_STATES,
    Loan,
    LoanInstallment,
    find_installments,
    loan_key,
    need_loan,
)
from kasuwa.methods.loans.rules import repay
from kasuwa.methods.loans.rules.auto_repay_record import compute_collected, expect_amount
from kasuwa.methods.loans.rules.guarantor_holds import need_secured_loan
from kasuwa.methods.loans.rules.loan_position import LoanPosition, compute_position
from kasuwa.methods.loans.rules.pause_collection import tell_of_collection
from kasuwa.methods.loans.rules.plan_collection import find_following, plan_day
from kasuwa.methods.loans.wire import RepayRequest
from kasuwa.methods.payment.model import CHARGE, SavedCard, find_chargeable_card, saved_card_key
from kasuwa.methods.payment.rules.begin import begin_payment
from kasuwa.methods.payment.rules.charge_card import build_token_order
from kasuwa.methods.payment.rules.collect import name_method_field
from kasuwa.methods.payment.wire import ChargeToken
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.purpose import TransactionPurpose
from kasuwa.transactions.transactions import Transaction
from kasuwa.wire.fields import Amount

DUE = "loan_due"

SAVINGS_CLOSED = Decline("savings_closed", "The savings that pay are closed", is_soft=False)
SAVINGS_DORMANT = Decline("savings_dormant", "The savings that pay are dormant")
SAVINGS_HELD = Decline("savings_held", "What the savings have is held, such as for a guarantee")
SAVINGS_SHORT = Decline("savings_short", "The savings do not cover the amount")
WALLET_SHORT = Decline("wallet_short", "The wallet does not have the amount")
CARD_ERASED = Decline("card_erased", "The saved card was erased", is_soft=False)


def need_run(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    wallet = account_key(merchant.merchant_id, WALLET)
    return Needs(((Job, job.key), (AutoRepayment, job.subject), (Account, wallet)), (WALLET,))


def decide_run(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    current, auto = rows.get(Job, job.key), rows.get(AutoRepayment, job.subject)
    if current is None or current.due != job.due or auto is None or auto.state != ACTIVE or auto.charging:
        return Decision()
    needs = need_parties(auto, context.merchant)
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    loan = rows.get(Loan, loan_key(auto.merchant_id, auto.loan_id))
    assert loan is not None, "a loan is not deleted"
    earliest = current.due + MIN_RUN_INTERVAL
    if loan.state in UNDISBURSED_STATES:
        return go_on(wait_for_payout(auto, max(context.now, current.due) + MIN_RUN_INTERVAL), current)
    if loan.state not in OWING_STATES:
        return Decision(rows=(halt(auto, ENDED),), jobs_done=(current,))
    stored = find_installments(loan, rows)
    needs = need_secured_loan(loan)
    if stored is None or has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    position = compute_position(loan, stored, lagos_day(context.now))
    if auto.due_on is None:
        return go_on(plan_day(auto, find_first(position, auto.hour, context.now), earliest), current)
    if auto.step == NOTICE:
        return tell_client(auto, position, current, earliest, context)
    if not compute_collected(position):
        return pass_day(auto, position, current, earliest)
    return collect(Run(auto, current, loan, stored, position, earliest), context, rows)


def need_parties(auto: AutoRepayment, merchant: Merchant) -> Needs:
    loan = need_loan(merchant, auto.loan_id)
    if auto.source == SAVINGS:
        saved = need_savings(auto.merchant_id, (auto.savings_id,))
        return Needs((*loan.rows, *saved.rows), (*loan.accounts, *saved.accounts, WALLET))
    if auto.source == TOKEN:
        card = (SavedCard, saved_card_key(auto.merchant_id, auto.card_token))
        return Needs((*loan.rows, card), loan.accounts)
    return loan


class Run(msgspec.Struct, frozen=True):
    """A run that collects: something is due."""

    auto: AutoRepayment
    job: Job
    loan: Loan
    stored: tuple[LoanInstallment, ...]
    position: LoanPosition
    earliest: datetime  # for the next run

    @property
    def amount(self) -> int:
        return compute_collected(self.position)


def go_on(auto: AutoRepayment, job: Job) -> Decision:
    """Returns the decision that runs the job again when the collection says, or ends it."""
    if auto.next_at is None:
        return Decision(rows=(auto,), jobs_done=(job,))
    return Decision(rows=(auto,), jobs=(msgspec.structs.replace(job, attempt=job.attempt + 1, due=auto.next_at),))


def tell_client(
    auto: AutoRepayment, position: LoanPosition, job: Job, earliest: datetime, context: Context
) -> Decision:
    """Writes the event that says what will be collected, unless nothing will be due on the day."""
    assert auto.due_on is not None
    amount = expect_amount(position, auto.due_on)
    if not amount:
        return pass_day(auto, position, job, earliest)
    fields = {
        "txn_status": "pending",
        "charged_amount": format_minor(0),
        "amount": format_minor(amount),
        "date": auto.due_on.isoformat(),
    }
    noted, event = tell_of_collection(collect_next(auto, earliest), DUE, context, fields)
    decision = go_on(noted, job)
    decision.add(Effects(events=(event.event,), jobs=event.jobs))
    return decision


def pass_day(auto: AutoRepayment, position: LoanPosition, job: Job, earliest: datetime) -> Decision:
    """Goes on with the next due date: nothing is due on this one."""
    assert auto.due_on is not None
    following = find_following(position, max(auto.due_on, position.day))
    return go_on(plan_day(msgspec.structs.replace(auto, misses=0, reason=""), following, earliest), job)


# --- by source --------------------------------------------------------------------------------------------------


def collect(run: Run, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    if run.auto.source == SAVINGS:
        return collect_from_savings(run, context, rows)
    if run.auto.source == TOKEN:
        return charge_token(run, context, rows)
    return collect_from_wallet(run, context, rows)


def decline(run: Run, why: Decline, context: Context) -> Decision:
    """Returns the decision of an attempt that failed before any money was asked for."""
    attempt = Attempt(run.auto, run.amount, context.number)
    declined = record_declined(attempt, run.position, why, run.earliest, context)
    decision = go_on(declined.auto, run.job)
    decision.numbers_used = 1
    decision.add(declined.effects)
    return decision


def collect_from_savings(run: Run, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Takes the amount out of the client's savings, whole or not at all. Thrift debts go first."""
    auto, changes = run.auto, SavingsChanges(context, rows)
    savings = rows.get(Savings, savings_key(auto.merchant_id, auto.savings_id))
    assert savings is not None, "savings are not deleted"
    if savings.state == CLOSED:
        return decline(run, SAVINGS_CLOSED, context)
    if is_dormant(changes.load_savings(auto.savings_id), changes.today, context.merchant):
        return decline(run, SAVINGS_DORMANT, context)
    account = changes.account(auto.savings_id)
    more = repay_thrift_debts(changes, auto.savings_id, account.available)
    if more is not None:
        return more
    available = account.available - total_repaid(changes)
    if available < run.amount:
        is_held = available + account.held >= run.amount
        return decline(run, SAVINGS_HELD if is_held else SAVINGS_SHORT, context)
    payer = SavingsPayer(auto.savings_id, auto.auto_repay_id, "Loan Collected")
    paid = repay_from_savings(payer, run.loan, run.stored, run.position, run.amount, changes, context)
    if isinstance(paid, NeedsMore):
        return paid
    decision = Decision(
        groups=(paid.group,),
        rows=(paid.transaction.row, *changes.rows),
        jobs=paid.transaction.jobs,
        events=(paid.transaction.event,),
        numbers_used=1,
    )
    decision.add(paid.effects)
    return book(run, decision, paid.transaction.row.txn_ref, paid.after, context)


def collect_from_wallet(run: Run, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Records a repayment out of money that the merchant has received already. The wallet must have it, because nobody
    looks whether it has come."""
    wallet = rows.get(Account, account_key(run.auto.merchant_id, WALLET))
    if wallet is None or wallet.available < run.amount:
        return decline(run, WALLET_SHORT, context)
    credited = repay.apply_repayment(run.loan, run.stored, run.position, run.amount, context, rows)
    if isinstance(credited, NeedsMore):
        return credited
    request = RepayRequest(
        loan_id=run.loan.loan_id, payment_method=repay.WALLET_METHOD, customer_txnref=run.auto.auto_repay_id
    )
    decision = repay.repay_from_wallet(request, credited, run.amount, context)
    decision.reply = None
    txn_ref = repay.new_reference(context)
    decision.rows += (repay.record_repayment(run.loan, txn_ref, run.position.day, run.amount, context),)
    return book(run, decision, txn_ref, credited.result.after, context)


def book(run: Run, decision: Decision, txn_ref: str, after: LoanPosition, context: Context) -> Decision:
    """Adds to the decision of a repayment that it was collected, and what follows."""
    attempt = Attempt(run.auto, run.amount, context.number, txn_ref)
    collected = record_collected(attempt, after, run.earliest, context)
    decision.add(go_on(collected.auto, run.job))
    decision.add(collected.effects)
    return decision


def charge_token(run: Run, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Charges the saved card. The payment's own job calls the rail, and its end plans what follows."""
    auto = run.auto
    if find_chargeable_card(auto.merchant_id, auto.card_token, rows) is None:
        return decline(run, CARD_ERASED, context)
    request = ChargeToken(
        token=auto.card_token, amount=Amount(run.amount), bearer="merchant", customer_txnref=auto.auto_repay_id
    )
    order = build_token_order(request, context, rows)
    if isinstance(order, Refusal):
        return decline(run, Decline("card_refused", name_method_field(order).message), context)
    purpose = TransactionPurpose(REPAYMENT_PURPOSE, auto.loan_id)
    detail = msgspec.structs.replace(order.detail, purpose=purpose)
    order = msgspec.structs.replace(order, detail=detail, attempt=auto.tries + 1)
    decision = begin_payment(order, context, CHARGE)
    charged = decision.rows[0]
    assert isinstance(charged, Transaction)
    attempt = Attempt(auto, run.amount, context.number, charged.txn_ref)
    charging, recorded = record_attempt(attempt, model.CHARGING, context)
    client = repay.find_client(run.loan, rows)
    assert isinstance(client, Client)
    # The client does not leave before the payment has ended.
    decision.rows += (
        msgspec.structs.replace(charging, charging=charged.txn_ref, next_at=None),
        recorded,
        adjust_pending_payments(client, 1),
    )
    decision.jobs_done += (run.job,)
    decision.reply, decision.follow_up = None, None  # nobody waits for the charge: a worker makes it
    return decision
