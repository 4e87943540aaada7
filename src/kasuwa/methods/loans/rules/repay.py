"""Rules of a repayment: from the wallet, or by a payment made for the loan.

The method `wallet` records money that the merchant has already received: only the loan's accounts change. Any other
method collects a payment first. Its whole amount is credited to the loan when it succeeds; the merchant bears the fee.

Contract: loans#repay
"""

from datetime import date
from typing import Final

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    OperatorNotice,
    Posting,
    PostingGroup,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.core.money import format_minor
from kasuwa.core.references import movement_reference
from kasuwa.methods.clients.model import (
    Client,
    adjust_credit,
    adjust_open_accounts,
    adjust_pending_payments,
    client_key,
)
from kasuwa.methods.loans.guarantee_model import LoanGuarantee
from kasuwa.methods.loans.model import (
    CURRENCY,
    LENDING_OVERPAID,
    MORE_THAN_OWED,
    OWING_STATES,
    REPAID,
    REPAYABLE_STATES,
    REPAYMENT_ACT,
    REPAYMENT_PURPOSE,
    UNKNOWN_LOAN,
    Loan,
    LoanAct,
    LoanInstallment,
    capital_posts,
    changed_installments,
    charge_posts,
    count_act,
    credit_posts,
    find_installments,
    loan_account,
    loan_key,
    need_loan,
    record_act,
    recovery_posts,
    refuse_in_state,
    repayment_posts,
    waiver_posts,
)
from kasuwa.methods.loans.rules.guarantor_holds import (
    count_unpaid_principal,
    need_secured_loan,
    release_holds,
)
from kasuwa.methods.loans.rules.loan_position import LoanPosition, RepaymentResult, allocate_repayment, compute_position
from kasuwa.methods.loans.rules.loan_record import explain_repayment, make_allocation, make_loan_record
from kasuwa.methods.loans.rules.origination import arrears_check_jobs, change_state, reschedule_arrears_check
from kasuwa.methods.loans.rules.provision import release_provision
from kasuwa.methods.loans.wire import RepayReply, RepayRequest, ValidateRepayment
from kasuwa.methods.payment.rules.collect import collect_payment, need_collect, payer_metadata, validate_for_purpose
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.terms.loan_schedule import LoanAmounts, sum_amounts
from kasuwa.transactions.purpose import TransactionEffects, TransactionPurpose, seal_payer_field
from kasuwa.transactions.transactions import (
    SUCCESSFUL,
    FinalTransaction,
    NewTransaction,
    Transaction,
    TransactionOutcome,
    begin_transaction,
    end_transaction,
)

KIND = "repayment"
WALLET_METHOD: Final = "wallet"


# --- effects on the loan --------------------------------------------------------------------------------------------


def penalty_posts(stored_lines: tuple[LoanInstallment, ...], position: LoanPosition) -> tuple[Posting, ...]:
    """Returns the postings of what time alone has changed since the installments were stored: penalties, late charges,
    and interest that has become principal."""
    capital = sum_amounts(line.capitalized for line in position.lines)
    capital -= sum_amounts(line.capitalized for line in stored_lines)
    added = {
        part: sum(getattr(line, part) for line in position.lines) - sum(getattr(line, part) for line in stored_lines)
        for part in ("penalty", "charge", "vat")
    }
    loan_id = position.loan.loan_id
    return (*charge_posts(loan_id, LoanAmounts(**added), "for lateness"), *capital_posts(loan_id, capital))


class AppliedRepayment(msgspec.Struct, frozen=True):
    """A repayment with its effects. The client is not among their rows, because it may change further."""

    result: RepaymentResult
    client: Client  # with its counts after the repayment
    effects: TransactionEffects

    @property
    def loan(self) -> Loan:
        return self.result.after.loan


def apply_repayment(
    loan: Loan,
    installments: tuple[LoanInstallment, ...],
    before: LoanPosition,
    amount: int,
    context: Context,
    loaded_rows: LoadedRows,
    guarantees: tuple[LoanGuarantee, ...] | None = None,
) -> AppliedRepayment | NeedsMore:
    """Allocates a repayment. `before` is today's position of the loan, of which `installments` are stored. If the
    repayment closes the loan, the arrears check ends and the client is released. `guarantees` are those that the
    decision has changed already, if it has."""
    done = allocate_repayment(before, amount)
    return apply_result(loan, installments, before, done, context, loaded_rows, guarantees)


def apply_result(
    loan: Loan,
    installments: tuple[LoanInstallment, ...],
    before: LoanPosition,
    done: RepaymentResult,
    context: Context,
    loaded_rows: LoadedRows,
    guarantees: tuple[LoanGuarantee, ...] | None = None,
) -> AppliedRepayment | NeedsMore:
    """Returns the effects of a repayment that was allocated."""
    released = release_holds(loan, count_unpaid_principal(done.after.lines), loaded_rows, guarantees)
    if isinstance(released, NeedsMore):
        return released
    after = done.after.loan
    client = adjust_credit(find_client(loan, loaded_rows), done.excess)
    if after.state != loan.state:
        after = change_state(after, context, after.state)
    rows: tuple[Row, ...] = changed_installments(installments, done.after.lines, context.now)
    jobs_done: tuple[Job, ...] = ()
    if after.state not in OWING_STATES and loan.state in OWING_STATES:
        after = msgspec.structs.replace(after, closed_at=context.now)
        client, jobs_done = adjust_open_accounts(client, -1), arrears_check_jobs(loan, loaded_rows)
    provided = release_provision(count_act(after))
    after = provided.loan
    paid = sum_amounts(done.paid)
    posts = (
        *penalty_posts(installments, before),
        *charge_posts(loan.loan_id, done.added, "by the schedule computed anew"),
        *repayment_posts(loan.loan_id, paid - done.recovered, done.kind),
        *recovery_posts(done.recovered),
        *waiver_posts(loan.loan_id, done.waived, "not used"),
        *credit_posts(loan.loan_id, done.excess),
        *provided.posts,
    )
    position = msgspec.structs.replace(done.after, loan=after)
    jobs = () if jobs_done else reschedule_arrears_check(position, context, loaded_rows)
    result = msgspec.structs.replace(done, after=position)
    effects = TransactionEffects(posts=posts, rows=(after, *rows), jobs=jobs, jobs_done=jobs_done)
    effects.add(released)
    return AppliedRepayment(result, client, effects)


def record_repayment(loan: Loan, txn_ref: str, day: date, amount: int, context: Context) -> LoanAct:
    """Returns the act of a repayment. `loan` is as it was before."""
    return record_act(loan, REPAYMENT_ACT, day, context.now, txn_ref, amount)


def find_client(loan: Loan, rows: LoadedRows) -> Client:
    """Returns the client of a loan, which `need_installments` loads."""
    client = rows.get(Client, client_key(loan.merchant_id, loan.client_id))
    assert client is not None
    return client


# --- request ----------------------------------------------------------------------------------------------------------


def check_currency(merchant: Merchant, currency: str | None) -> str | None:
    return None if currency in (None, CURRENCY) else f"must be {CURRENCY}, the currency of the loan"


def need_repay(request: RepayRequest, merchant: Merchant) -> Needs:
    loan = need_loan(merchant, request.loan_id)
    if request.payment_method == WALLET_METHOD:
        return loan
    payer = need_collect(request.payment_method, request, merchant)
    return Needs((*loan.rows, *payer.rows), (*loan.accounts, *payer.accounts))


def decide_repay(
    request: RepayRequest, context: Context, rows: LoadedRows
) -> Decision[RepayReply] | Refusal | NeedsMore:
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, request.loan_id))
    if loan is None:
        return UNKNOWN_LOAN
    if loan.state not in REPAYABLE_STATES:
        return refuse_in_state(loan.state, "repaid")
    installments = find_installments(loan, rows)
    if installments is None:
        return NeedsMore(need_secured_loan(loan))
    before = compute_position(loan, installments, lagos_day(context.now))
    most = sum_amounts(before.payoff).total + (before.lost.total if loan.state in OWING_STATES else 0)
    if not most:
        return refuse_in_state(loan.state, "repaid: all of it was recovered")
    amount = before.default_repayment if request.amount is None else int(request.amount)
    if amount > most:
        return refuse_fields(FieldError("amount", f"at most {format_minor(most)}, which closes the loan today"))
    credited = apply_repayment(loan, installments, before, amount, context, rows)
    if isinstance(credited, NeedsMore):
        return credited
    paid: Decision | Refusal | NeedsMore
    if request.payment_method == WALLET_METHOD:
        paid = repay_from_wallet(request, credited, amount, context)
        txn_ref = new_reference(context)
        paid.rows = (*paid.rows, record_repayment(loan, txn_ref, before.day, amount, context))
    else:
        purpose = TransactionPurpose(REPAYMENT_PURPOSE, loan.loan_id, **payer_metadata(request))
        paid = collect_payment(request.payment_method, request, amount, purpose, context, rows)
        if isinstance(paid, Decision):
            # The client does not leave before the payment has ended.
            paid.rows = (*paid.rows, adjust_pending_payments(find_client(loan, rows), 1))
    if request.dry_run and isinstance(paid, Decision):
        return reply_repay_dry_run(request, before, credited, paid, context)
    return paid


def reply_repay_dry_run(
    request: RepayRequest, before: LoanPosition, credited: AppliedRepayment, paid: Decision, context: Context
) -> Decision:
    """Returns the dry-run reply of a repayment, with the cost of collecting it. Drops the rest of its decision."""
    row = paid.rows[0]
    assert isinstance(row, Transaction)
    reply = reply_repay(credited, row.amount, context)
    reply.message = "This is what the repayment would do; nothing was changed"
    reply.payment_method = request.payment_method
    reply.dry_run = True
    reply.explained = explain_repayment(before, credited.result, request.amount, row)
    return Decision(reply=reply)


def repay_from_wallet(request: RepayRequest, credited: AppliedRepayment, amount: int, context: Context) -> Decision:
    """Returns the decision of a repayment with money that is already in the wallet; it is final with its commit."""
    row = new_repayment(amount, context, request)
    event_fields = {"loan_id": request.loan_id}
    event_fields |= (
        {"order_ref": row.order_ref} if request.customer_txnref is None else {"customer_txnref": row.order_ref}
    )
    end = end_transaction(
        context,
        row,
        TransactionOutcome(
            status=SUCCESSFUL,
            message="Repayment Successful",
            method=WALLET_METHOD,
            scenario=context.scenario,
            event_fields=event_fields,
        ),
    )
    decision = Decision(
        reply=reply_repay(credited, amount, context, end),
        groups=(PostingGroup(end.row.txn_ref, MORE_THAN_OWED, postings=credited.effects.posts),),
        rows=(end.row, credited.client),
        jobs=end.jobs,
        events=(end.event,),
        numbers_used=1,
    )
    decision.add(credited.effects)
    return decision


def new_reference(context: Context) -> str:
    return movement_reference("LR", context.permutation(context.number), lagos_day(context.now))


def new_repayment(amount: int, context: Context, request: RepayRequest) -> Transaction:
    """Returns the transaction of a wallet repayment. Its key is derived from its own reference, because a
    customer_txnref may be used more than once."""
    txn_ref = new_reference(context)
    detail = {"loan_id": request.loan_id, **seal_payer_field(context, txn_ref, payer_metadata(request))}
    row = begin_transaction(context, NewTransaction(kind=KIND, txn_ref=txn_ref, amount=amount, detail=detail))
    if request.customer_txnref is None:
        return row
    return msgspec.structs.replace(row, order_ref=request.customer_txnref)


def reply_repay(
    credited: AppliedRepayment, amount: int, context: Context, end: FinalTransaction | None = None
) -> RepayReply:
    position = credited.result.after
    reply = RepayReply(
        message="Loan Repaid" if credited.loan.state == REPAID else "Repayment Successful",
        charged_amount=format_minor(amount),
        currency=CURRENCY,
        payment_method=WALLET_METHOD,
        loan_id=credited.loan.loan_id,
        allocation=make_allocation(credited.result.paid),
        data=make_loan_record(position.loan, position.lines, context.now),
    )
    if end is not None:
        reply.txn_ref, reply.txn_status = end.row.txn_ref, "successful"
    return reply


# --- repayment by a payment -------------------------------------------------------------------------------------------


def decide_validation(
    request: ValidateRepayment, context: Context, rows: LoadedRows
) -> Decision[PaymentReply] | Refusal:
    """Submits the payer's code for a repayment."""
    return validate_for_purpose(request, REPAYMENT_PURPOSE, context, rows)


def end_repayment(row: Transaction, loan_id: str, context: Context, rows: LoadedRows) -> TransactionEffects | NeedsMore:
    """Credits the loan with a successful payment, whatever its state is by now. An amount above the payoff is kept as
    the client's credit, and an operator is notified. Contract: loans#overpaid"""
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, loan_id))
    assert loan is not None
    if not row.is_final:
        return TransactionEffects()
    installments = find_installments(loan, rows)
    if installments is None or not rows.is_loaded(client_key(loan.merchant_id, loan.client_id)):
        return NeedsMore(need_secured_loan(loan))
    if row.status != SUCCESSFUL:
        return TransactionEffects(rows=(adjust_pending_payments(find_client(loan, rows), -1),))
    if loan.state not in REPAYABLE_STATES:
        client = adjust_credit(adjust_pending_payments(find_client(loan, rows), -1), row.amount)
        notices = (overpayment_notice(row, loan_id, row.amount),)
        act = record_repayment(loan, row.txn_ref, lagos_day(context.now), row.amount, context)
        return TransactionEffects(
            posts=credit_posts(loan_id, row.amount),
            rows=(client, count_act(loan), act),
            notices=notices,
            surplus=row.amount,
        )
    before = compute_position(loan, installments, lagos_day(context.now))
    credited = apply_repayment(loan, installments, before, row.amount, context, rows)
    if isinstance(credited, NeedsMore):
        return credited
    excess = credited.result.excess
    effects = credited.effects
    act = record_repayment(loan, row.txn_ref, before.day, row.amount, context)
    effects.rows += (adjust_pending_payments(credited.client, -1), act)
    effects.notices += (overpayment_notice(row, loan_id, excess),) if excess else ()
    effects.surplus = excess
    return effects


def end_credit_refund(loan_id: str, amount: int, context: Context, rows: LoadedRows) -> TransactionEffects | NeedsMore:
    """Removes a refunded amount from the client's credit."""
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, loan_id))
    assert loan is not None
    key = client_key(loan.merchant_id, loan.client_id)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((Client, key),)))
    post = Posting(loan_account("credit", loan_id), LENDING_OVERPAID, amount, "paid back")
    return TransactionEffects(posts=(post,), rows=(adjust_credit(find_client(loan, rows), -amount),))


def overpayment_notice(row: Transaction, loan_id: str, excess: int) -> OperatorNotice:
    return OperatorNotice(
        row.txn_ref, f"{format_minor(excess)} was paid beyond what was owed on loan {loan_id}: refund it to the client"
    )
