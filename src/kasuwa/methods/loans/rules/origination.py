"""Rules of a loan until it is paid out: request, approval, rejection, cancellation and disbursement.

The states are in model.py. The approval starts the disbursement as an ordinary transfer (methods/disburse) and the
request waits for its result like any transfer request. If the wallet does not cover it, the approval is refused with
status 301 (insufficient funds) and nothing changes.

Contract: loans#request, loans#process
"""

from datetime import date

import msgspec

from kasuwa.core.banks import check_account_number
from kasuwa.core.calendar import lagos_day, lagos_moment
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    make_job,
    refuse_fields,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.error_codes import BELOW_PAYOFF, DAY_IN_THE_PAST
from kasuwa.core.money import LARGEST_AMOUNT, format_minor
from kasuwa.core.references import account_key, job_key, opaque_id
from kasuwa.ledger.chart import Account
from kasuwa.methods.clients.model import (
    NO_BANK_ACCOUNT,
    UNKNOWN_CLIENT,
    BankAccount,
    Client,
    adjust_open_accounts,
    client_key,
    kyc_tier,
    read_bank_account,
    refuse_inactive,
)
from kasuwa.methods.disburse.model import WALLET, TransferDetail
from kasuwa.methods.disburse.rules.payout_checks import CheckedPayout, ClientLimits, check_client_payout
from kasuwa.methods.disburse.rules.transfer import WALLET_INSUFFICIENT, NewTransfer, begin_transfer
from kasuwa.methods.loans.model import (
    ACTIVE,
    APPROVED,
    CURRENCY,
    DISBURSEMENT_PURPOSE,
    DISBURSING,
    LOAN_PREFIX,
    OWING_STATES,
    PENDING_APPROVAL,
    REJECTED,
    UNKNOWN_LOAN,
    WITHDRAWN,
    Loan,
    LoanInstallment,
    charge_posts,
    find_installments,
    loan_key,
    need_installments,
    need_loan,
    refuse_in_state,
    repayment_posts,
)
from kasuwa.methods.loans.rules.agreed_charges import read_charges
from kasuwa.methods.loans.rules.agreed_grace import find_first_due_fault, read_grace
from kasuwa.methods.loans.rules.charge_lines import deducted_parts
from kasuwa.methods.loans.rules.explain_schedule import explain_schedule
from kasuwa.methods.loans.rules.guarantor_holds import release_holds
from kasuwa.methods.loans.rules.loan_position import LoanPosition, compute_position, make_installments
from kasuwa.methods.loans.rules.loan_record import make_loan_record
from kasuwa.methods.loans.rules.provision import next_check_on
from kasuwa.methods.loans.wire import LoanReply, LoanRequest, ProcessRequest
from kasuwa.terms.loan_charges import (
    AgreedTerms,
    charges_of_schedule,
    most_late_charges,
    write_terms,
)
from kasuwa.terms.loan_schedule import LendingSettings, ScheduledInstallment, make_schedule, parse_rate, sum_amounts
from kasuwa.terms.tariff import Tariff, calculate_transfer_fees
from kasuwa.transactions.purpose import TransactionEffects, TransactionPurpose
from kasuwa.transactions.requery import MAX_TRAIL_LENGTH
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction, begin_trail, extend_trail

# Enough for a year of daily or thirty years of monthly installments. Replies hold whole schedules, so they are bounded.
MAX_INSTALLMENTS = 366

CHECK_ARREARS = "loans.watch"
LANE = "loans"

# By requested status: the states from which it is allowed, the state it leads to, and its past participle in messages.
PROCESS_TRANSITIONS = {
    "approve": (frozenset({PENDING_APPROVAL, APPROVED}), DISBURSING, "approved"),
    "reject": (frozenset({PENDING_APPROVAL}), REJECTED, "rejected"),
    "cancel": (frozenset({PENDING_APPROVAL, APPROVED}), WITHDRAWN, "cancelled"),
}

DISBURSED_MESSAGE = "Loan Disbursed"
DISBURSING_MESSAGE = "The loan is approved and its disbursement is being processed"


# --- field rules ------------------------------------------------------------------------------------------------


def check_amount(merchant: Merchant, amount: int) -> str | None:
    """Returns an error if the amount is below the merchant's minimum. Loans have no maximum. Contract: loans#request"""
    least = merchant.limits[CURRENCY].min_amount
    return None if amount >= least else f"at least {format_minor(least)}"


def check_period(merchant: Merchant, period: int) -> str | None:
    return None if 1 <= period <= MAX_INSTALLMENTS else f"a number of installments from 1 to {MAX_INSTALLMENTS}"


def check_tax_rate(merchant: Merchant, tax_applied: bool | None, tax_rate: str | None) -> str | None:
    if tax_rate is None:
        return "required if tax_applied is true" if tax_applied else None
    return None if parse_rate(tax_rate) <= 1 else "a percentage from 0 to 100"


TOO_LARGE = refuse_fields(
    FieldError("amount", f"with its interest and tax, more than {format_minor(LARGEST_AMOUNT)}", "loan_too_large")
)
FIRST_DUE_PASSED = Refusal(
    INVALID_REQUEST,
    "The agreed first due date, {day}, has passed; cancel the loan and request it with another one",
    error_code="first_due_passed",
)
NOT_TO_TOP_UP = Refusal(
    INVALID_REQUEST,
    "The loan that this one tops up is {state} and owes nothing; cancel this one",
    error_code="nothing_to_top_up",
)
LOAN_OF_GROUP = Refusal(
    INVALID_REQUEST,
    "The loan is a part of the loan of a group; use process_group_loan",
    error_code="loan_of_group",
)
NOTHING_PAID_OUT = refuse_fields(
    FieldError(
        "charges", "the deducted charges leave less than the least amount of a loan to pay out", "nothing_to_pay_out"
    )
)


# --- request ----------------------------------------------------------------------------------------------------


def need_request(request: LoanRequest, merchant: Merchant) -> Needs:
    return need_borrower(request.client_id, merchant)


def need_borrower(client_id: str, merchant: Merchant) -> Needs:
    return Needs(((Client, client_key(merchant.merchant_id, client_id)),))


def find_borrower(client_id: str, context: Context, rows: LoadedRows) -> Client | Refusal:
    client = rows.get(Client, client_key(context.merchant.merchant_id, client_id))
    return UNKNOWN_CLIENT if client is None else refuse_inactive(client) or client


def decide_request(request: LoanRequest, context: Context, rows: LoadedRows) -> Decision[LoanReply] | Refusal:
    client = find_borrower(request.client_id, context, rows)
    if isinstance(client, Refusal):
        return client
    return offer_loan(make_loan(request, context), client, bool(request.dry_run), context)


def offer_loan(loan: Loan, client: Client, is_dry_run: bool, context: Context) -> Decision[LoanReply] | Refusal:
    """Returns the decision of a request for a loan, or its dry run."""
    lines = make_schedule(loan.terms, lagos_day(context.now))
    refusal = refuse_terms(loan, lines, context)
    if refusal is not None:
        return refusal
    if is_dry_run:
        reply = LoanReply(
            message="This is what the loan would be; nothing was changed",
            data=make_loan_record(loan, (), context.now, dry_run=True),
            dry_run=True,
            explained=explain_schedule(loan, lines, lagos_day(context.now), context.merchant.terms(Tariff)),
        )
        return Decision(reply=reply)
    reply = LoanReply(message="Loan Requested", data=make_loan_record(loan, (), context.now))
    return Decision(reply=reply, rows=(loan, adjust_open_accounts(client, 1)), numbers_used=1)


def refuse_terms(loan: Loan, lines: list[ScheduledInstallment], context: Context) -> Refusal | None:
    """Returns the refusal of charges and of a first due date that are not possible with the loan, and of a loan that is
    too large with them."""
    agreed, today = loan.agreed_terms, lagos_day(context.now)
    past = [
        FieldError(f"charges[{place}].due", "not before today", DAY_IN_THE_PAST)
        for place, charge in enumerate(agreed.charges)
        if charge.due is not None and charge.due < today
    ]
    past += find_first_due_fault(agreed.grace, today)
    if past:
        return refuse_fields(*past)
    if amount_paid_out(loan) < min(loan.amount, context.merchant.limits[CURRENCY].min_amount):
        return NOTHING_PAID_OUT
    charges = charges_of_schedule(agreed, loan.amount, lines, today)
    total = sum(line.total for line in lines) + sum(one.amount + one.vat for own in charges for one in own)
    return TOO_LARGE if total + most_late_charges(agreed, loan.amount, lines) > LARGEST_AMOUNT else None


def make_loan(request: LoanRequest, context: Context) -> Loan:
    """Returns the new loan. The merchant's lending settings are copied: later changes do not affect agreed loans."""
    merchant, lending = context.merchant, context.merchant.terms(LendingSettings)
    loan_id = opaque_id(LOAN_PREFIX, context.entropy)
    return Loan(
        key=loan_key(merchant.merchant_id, loan_id),
        merchant_id=merchant.merchant_id,
        loan_id=loan_id,
        number=context.number,
        client_id=request.client_id,
        state=PENDING_APPROVAL,
        amount=int(request.amount),
        rate=str(request.interest_settings.interest_rate),
        frequency=request.interest_settings.interest_frequency,
        period=int(request.period),
        method=request.method or lending.method,
        tax_applied=bool(request.tax_applied),
        tax_rate=str(request.tax_rate or "0"),
        tolerance_days=lending.tolerance_days,
        penalty_rate=lending.penalty_rate,
        transfer=None,
        aged_to=None,
        created_at=context.now,
        disbursed_at=None,
        closed_at=None,
        trail=begin_trail(context.now, "requested"),
        officer=request.officer or "",
        branch=request.branch or "",
        agreed=write_terms(AgreedTerms(read_charges(request.charges or ()), read_grace(request.grace))),
    )


# --- approve, reject, cancel ----------------------------------------------------------------------------------------


def need_process(request: ProcessRequest, merchant: Merchant) -> Needs:
    loan, wallet = need_loan(merchant, request.loan_id), account_key(merchant.merchant_id, WALLET)
    return Needs((*loan.rows, (Account, wallet)), (*loan.accounts, WALLET))


def decide_process(
    request: ProcessRequest, context: Context, rows: LoadedRows, *, is_of_group: bool = False
) -> Decision[LoanReply] | Refusal | NeedsMore:
    """Approves, rejects or cancels a loan. One of a group only with `is_of_group`, by the rules of groups."""
    merchant_id = context.merchant.merchant_id
    loan = rows.get(Loan, loan_key(merchant_id, request.loan_id))
    if loan is None:
        return UNKNOWN_LOAN
    if loan.group_loan_id and not is_of_group:
        return LOAN_OF_GROUP
    states, state, named = PROCESS_TRANSITIONS[request.status]
    if loan.state not in states:
        return refuse_in_state(loan.state, named)
    key = client_key(merchant_id, loan.client_id)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((Client, key),)))
    client = rows.get(Client, key)
    assert client is not None
    if state == DISBURSING:
        decision = approve(loan, client, context, rows)
        is_dry_run = request.dry_run and not isinstance(decision, NeedsMore)
        return dry_run_approval(decision, loan, context, rows) if is_dry_run else decision
    closed = msgspec.structs.replace(change_state(loan, context, state), closed_at=context.now)
    record = make_loan_record(closed, (), context.now)
    if request.dry_run:
        return Decision(reply=LoanReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True))
    released = release_holds(loan, 0, rows)
    if isinstance(released, NeedsMore):
        return released
    reply = LoanReply(message=f"Loan {named.capitalize()}", data=record)
    decision = Decision(reply=reply, rows=(closed, adjust_open_accounts(client, -1)))
    decision.add(released)
    return decision


def dry_run_approval(
    decision: Decision | Refusal | NeedsMore, loan: Loan, context: Context, rows: LoadedRows
) -> Decision | Refusal:
    """Returns the dry-run reply of an approval: the active loan if the transfer succeeds, and its cost to the wallet.

    No postings are applied in a dry run, so the wallet's balance is checked here instead of by the ledger.
    """
    if isinstance(decision, Refusal):
        return decision
    assert isinstance(decision, Decision)
    wallet = rows.get(Account, account_key(loan.merchant_id, WALLET))
    payoff = find_payoff(loan, context, rows)
    assert isinstance(payoff, int), "the approval has found it"
    amount = amount_paid_out(loan) - payoff
    today, tariff = lagos_day(context.now), context.merchant.terms(Tariff)
    if wallet is None or wallet.available < amount + calculate_transfer_fees(tariff, amount).total:
        return WALLET_INSUFFICIENT
    active = msgspec.structs.replace(loan, state=ACTIVE, disbursed_at=context.now, aged_to=today)
    return Decision(
        reply=LoanReply(
            message=DRY_RUN_MESSAGE,
            data=make_loan_record(active, make_installments(active, today), context.now),
            dry_run=True,
            explained=explain_schedule(loan, make_schedule(loan.terms, today), today, tariff, payoff),
        )
    )


def approve(
    loan: Loan, client: Client, context: Context, rows: LoadedRows, number: int | None = None
) -> Decision | Refusal | NeedsMore:
    """Holds the principal without deducted charges, and without the payoff of a loan that it tops up, and the fees on
    the wallet, and starts the transfer to the client's bank account. `number` is that of its reference."""
    refusal = refuse_inactive(client)
    if refusal is not None:
        return refusal
    passed = refuse_first_due(loan, lagos_day(context.now))
    if passed is not None:
        return passed
    account = read_bank_account(client, context.vault.unseal)
    if account is None or check_account_number(context.merchant, account.bank_code, account.account_number):
        return NO_BANK_ACCOUNT
    payoff = find_payoff(loan, context, rows)
    if not isinstance(payoff, int):
        return payoff
    amount = amount_paid_out(loan) - payoff
    least = context.merchant.limits[CURRENCY].min_amount
    if loan.agreed_terms.tops_up and amount < least:
        whole = format_minor(loan.amount - amount + least)
        reason = f"at least {whole}: the payoff, the deducted charges and {format_minor(least)} to pay out"
        return refuse_fields(FieldError("amount", reason, BELOW_PAYOFF))
    order = make_disbursement_order(loan, account, context)
    limits = ClientLimits(client.client_id, kyc_tier(client))
    checked = check_client_payout(order, amount, limits, context, rows)
    if not isinstance(checked, CheckedPayout):
        return checked
    new = NewTransfer(order=order, amount=amount, reference_type="LD", checked=checked)
    decision = begin_transfer(new, context, context.number if number is None else number)
    transfer, *counters = decision.rows
    assert isinstance(transfer, Transaction)
    approved = msgspec.structs.replace(change_state(loan, context, DISBURSING), transfer=transfer.txn_ref)
    decision.reply = reply_disbursement(transfer, approved, (), DISBURSING_MESSAGE, context)
    decision.rows = (transfer, approved, *counters)
    decision.follow_up = decision.jobs[0]
    return decision


def refuse_first_due(loan: Loan, today: date) -> Refusal | None:
    """Returns the refusal of a loan that is to be paid out after its first due date."""
    first_due = loan.agreed_terms.grace.first_due
    return None if first_due is None or first_due > today else FIRST_DUE_PASSED.fill(day=first_due.isoformat())


def amount_paid_out(loan: Loan) -> int:
    """Returns the principal without deducted charges. The client receives it without the payoff of a loan topped up."""
    return loan.amount - deducted_parts(loan).total


def find_payoff(loan: Loan, context: Context, rows: LoadedRows) -> int | Refusal | NeedsMore:
    """Returns what pays off today the loan that another one tops up; 0 if it tops up none."""
    if not loan.agreed_terms.tops_up:
        return 0
    key = loan_key(loan.merchant_id, loan.agreed_terms.tops_up)
    if not rows.is_loaded(key):
        return NeedsMore(need_loan(context.merchant, loan.agreed_terms.tops_up))
    old = rows.get(Loan, key)
    assert old is not None
    if old.state not in OWING_STATES:
        return NOT_TO_TOP_UP.fill(state=old.state)
    lines = find_installments(old, rows)
    if lines is None:
        return NeedsMore(need_installments(old))
    return sum_amounts(compute_position(old, lines, lagos_day(context.now)).payoff).total


def make_disbursement_order(loan: Loan, account: BankAccount, context: Context) -> TransferDetail:
    purpose = TransactionPurpose(DISBURSEMENT_PURPOSE, loan.loan_id)
    narration = f"Loan {loan.loan_id}"
    return TransferDetail(account.bank_code, account.account_number, context.merchant.name, narration, WALLET, purpose)


def change_state(loan: Loan, context: Context, state: str, message: str = "") -> Loan:
    """Returns the loan in another state, with the change appended to its trail if that has room."""
    trail = loan.trail
    if len(trail) < MAX_TRAIL_LENGTH:
        trail = extend_trail(trail, context.now, state, message)
    return msgspec.structs.replace(loan, state=state, trail=trail)


# --- result of the disbursement -----------------------------------------------------------------------------------


def end_disbursement(row: Transaction, loan_id: str, context: Context, rows: LoadedRows) -> TransactionEffects:
    """Returns what the transfer's result does to the loan: activates it, or returns it to approved if it failed."""
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, loan_id))
    assert loan is not None
    assert loan.transfer == row.txn_ref, "one disbursement at a time"
    if not row.is_final:
        return TransactionEffects(reply=reply_disbursement(row, loan, (), DISBURSING_MESSAGE, context))
    if row.status == SUCCESSFUL:
        return activate_loan(row, loan, context)
    failed = change_state(loan, context, APPROVED, row.message)
    return TransactionEffects(reply=reply_disbursement(row, failed, (), failure_message(row), context), rows=(failed,))


def reply_disbursement(
    row: Transaction, loan: Loan, lines: tuple[LoanInstallment, ...], message: str, context: Context
) -> LoanReply:
    """Returns the reply with the loan and the status of its disbursement."""
    return LoanReply(
        message=message,
        txn_ref=row.txn_ref,
        txn_status=row.status,
        loan_id=loan.loan_id,
        data=make_loan_record(loan, lines, context.now),
    )


def failure_message(row: Transaction) -> str:
    return f"The disbursement failed ({row.message}); approve again to retry"


def reply_ended_disbursement(
    row: Transaction, loan_id: str, context: Context, rows: LoadedRows
) -> LoanReply | NeedsMore:
    """Returns the reply for a request that still waits while a callback has already ended the disbursement."""
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, loan_id))
    assert loan is not None
    installments = find_installments(loan, rows)
    if installments is None:
        return NeedsMore(need_installments(loan))
    message = DISBURSED_MESSAGE if row.status == SUCCESSFUL else failure_message(row)
    return reply_disbursement(row, loan, installments, message, context)


def begin_loan(loan: Loan, context: Context) -> LoanPosition:
    """Returns the position of a loan that is paid out now."""
    today = lagos_day(context.now)
    active = msgspec.structs.replace(change_state(loan, context, ACTIVE), disbursed_at=context.now, aged_to=today)
    return LoanPosition(active, make_installments(active, today), today)


def activate_loan(row: Transaction, loan: Loan, context: Context) -> TransactionEffects:
    """Activates a loan whose transfer succeeded: the schedule starts today and the client is charged with all of it."""
    position = begin_loan(loan, context)
    active = position.loan
    deducted = deducted_parts(loan)
    return TransactionEffects(
        reply=reply_disbursement(row, active, position.lines, DISBURSED_MESSAGE, context),
        posts=(
            *charge_posts(loan.loan_id, position.owed + deducted, "agreed"),
            *repayment_posts(loan.loan_id, deducted, "deducted"),
        ),
        rows=(active, *position.lines),
        jobs=schedule_arrears_check(position, context),
    )


def schedule_arrears_check(position: LoanPosition, context: Context) -> tuple[Job, ...]:
    """Returns the arrears check of the next day on which the loan changes by time alone; there is one per loan."""
    loan, day = position.loan, next_check_on(position, context)
    if day is None:
        return ()
    job = make_job(
        key=job_key(loan.key),
        merchant_id=loan.merchant_id,
        kind=CHECK_ARREARS,
        lane=LANE,
        reference=loan.loan_id,
        subject=loan.key,
        due=lagos_moment(day, 0),
    )
    return (job,)


def reschedule_arrears_check(position: LoanPosition, context: Context, rows: LoadedRows) -> tuple[Job, ...]:
    """Returns the arrears check if the loan has none and needs one, or with an earlier due time if the loan changes
    earlier than before. Else nothing."""
    job, day = rows.get(Job, job_key(position.loan.key)), next_check_on(position, context)
    if job is None:
        return schedule_arrears_check(position, context)
    if day is None or lagos_moment(day, 0) >= job.due:
        return ()
    return (msgspec.structs.replace(job, due=lagos_moment(day, 0)),)


def arrears_check_jobs(loan: Loan, rows: LoadedRows) -> tuple[Job, ...]:
    """Returns the pending arrears check of a loan, to be ended when the loan closes."""
    job = rows.get(Job, job_key(loan.key))
    return () if job is None else (job,)
