"""Rules of opening savings, of deposits, and of repaying thrift debts. Postings are listed in model.py.

Contract: investments#savings, investments#deposit
"""

from collections.abc import Mapping
from decimal import Decimal

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import (
    Context,
    Decision,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key, movement_reference, opaque_id
from kasuwa.ledger.chart import Account
from kasuwa.methods.clients.model import UNKNOWN_CLIENT, Client, add_savings, client_key, refuse_inactive
from kasuwa.methods.clients.rules.check_limits import check_deposit
from kasuwa.methods.investments.accrual import MAX_ANNUAL_PERCENT, PARTS_PER_PERCENT, annual_parts, posting_date
from kasuwa.methods.investments.model import (
    CLOSED,
    CURRENCY,
    NO_LAYERS,
    NO_ROLLOVER,
    NO_THRIFT_LINKS,
    PENDING,
    SAVINGS_CLOSED,
    SAVINGS_INSUFFICIENT,
    UNKNOWN_SAVINGS,
    WALLET,
    WALLET_INSUFFICIENT,
    Savings,
    SavingsChanges,
    ThriftLinks,
    has_unseen_rows,
    is_dormant,
    make_savings_record,
    need_repayments,
    need_savings,
    savings_key,
    set_thrift_links,
)
from kasuwa.methods.investments.rules.dry_run import (
    dry_run_payment_deposit,
    dry_run_wallet_deposit,
    total_repaid,
)
from kasuwa.methods.investments.rules.post_interest import add_to_interest_batch
from kasuwa.methods.investments.thrift import repay
from kasuwa.methods.investments.wire import (
    CreateSavingsRequest,
    DepositReply,
    DepositRequest,
    SavingsReply,
    ValidateDeposit,
)
from kasuwa.methods.payment.rules.collect import collect_payment, need_collect, payer_metadata, validate_for_purpose
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.transactions.purpose import TransactionPurpose, seal_payer_field
from kasuwa.transactions.transactions import (
    SUCCESSFUL,
    FinalTransaction,
    NewTransaction,
    Transaction,
    TransactionOutcome,
    begin_transaction,
    end_transaction,
)

# Fifty years; a longer term is taken for a typing error.
LONGEST_PERIOD = 600
DEFAULT_TAX_RATE = "10"  # Contract: investments#savings

DEPOSIT = "deposit"
WALLET_METHOD = "wallet"
DEPOSIT_REFERENCE_TYPE = "SD"

# Purpose of payments made for deposits (purposes.py).
DEPOSIT_PURPOSE = "savings-deposit"


def check_period(merchant: Merchant, period: int | None) -> str | None:
    if period is None or 1 <= period <= LONGEST_PERIOD:
        return None
    return f"a number of months from 1 to {LONGEST_PERIOD}"


def rate_fits(merchant: Merchant, frequency: str, rate: str) -> str | None:
    """Returns an error if the rate is above the highest annual rate. Contract: investments#rate"""
    if annual_parts(rate, frequency) <= MAX_ANNUAL_PERCENT * PARTS_PER_PERCENT:
        return None
    return f"a rate that comes to at most {MAX_ANNUAL_PERCENT} percent a year"


def check_tax_rate(merchant: Merchant, tax_rate: str | None) -> str | None:
    return None if tax_rate is None or Decimal(tax_rate) <= 100 else "a percentage from 0 to 100"


# --- opening ------------------------------------------------------------------------------------------------


def need_opening(request: CreateSavingsRequest, merchant: Merchant) -> Needs:
    return Needs(((Client, client_key(merchant.merchant_id, request.client_id)),))


def decide_opening(
    request: CreateSavingsRequest, context: Context, loaded_rows: LoadedRows
) -> Decision[SavingsReply] | Refusal | NeedsMore:
    client = loaded_rows.get(Client, client_key(context.merchant.merchant_id, request.client_id))
    if client is None:
        return UNKNOWN_CLIENT
    refusal = refuse_inactive(client)
    if refusal is not None:
        return refusal
    savings = open_savings(request, context)
    enrolled = add_to_interest_batch(savings, context, loaded_rows)
    if isinstance(enrolled, NeedsMore):
        return enrolled
    rows, job = enrolled
    record = make_savings_record(savings, 0, 0, [], savings.opened_on)
    if request.dry_run:
        record.savings_id = None
        return Decision(reply=SavingsReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True))
    return Decision(
        reply=SavingsReply(message="Savings Created", data=record),
        rows=(savings, add_savings(client, savings.savings_id), *rows),
        jobs=() if job is None else (job,),
        numbers_used=1,
    )


def open_savings(request: CreateSavingsRequest, context: Context) -> Savings:
    merchant_id, today = context.merchant.merchant_id, lagos_day(context.now)
    savings_id = opaque_id("SV", context.entropy)
    settings, term_days = request.interest_settings, int(request.term_days or 0)
    # That of a fixed deposit counts its terms.
    period = 1 if term_days else int(request.period or 0)
    return Savings(
        key=savings_key(merchant_id, savings_id),
        merchant_id=merchant_id,
        savings_id=savings_id,
        number=context.number,
        client_id=request.client_id,
        name=request.name,
        rate=str(settings.interest_rate),
        frequency=settings.interest_frequency,
        annual=annual_parts(settings.interest_rate, settings.interest_frequency),
        tax_applied=bool(request.tax_applied),
        tax_rate=str(request.tax_rate or DEFAULT_TAX_RATE),
        period=period,
        opened_at=context.now,
        opened_on=today,
        matures_on=posting_date(today, period, term_days),
        state=PENDING,
        accrued=0,
        accrued_rest=0,
        counted_to=today,
        months=0,
        due_interest=0,
        due_tax=0,
        detail=NO_THRIFT_LINKS,
        last_balance=0,
        layers=NO_LAYERS,
        pending_deposits=0,
        receivable=0,
        moved_on=today,
        term_days=term_days,
        rollover=request.rollover or NO_ROLLOVER,
    )


# --- deposits -----------------------------------------------------------------------------------------------


def need_deposit(request: DepositRequest, merchant: Merchant) -> Needs:
    wallet = account_key(merchant.merchant_id, WALLET)
    paying = need_collect(request.payment_method, request, merchant)
    needs = need_savings(merchant.merchant_id, (request.savings_id,), (Account, wallet), *paying.rows)
    return Needs(needs.rows, (*needs.accounts, *paying.accounts, WALLET))


def check_currency(merchant: Merchant, currency: str | None) -> str | None:
    return None if currency in (None, CURRENCY) else f"savings are kept in {CURRENCY}"


def decide_deposit(
    request: DepositRequest, context: Context, rows: LoadedRows
) -> Decision[DepositReply] | Refusal | NeedsMore:
    savings = rows.get(Savings, savings_key(context.merchant.merchant_id, request.savings_id))
    if savings is None:
        return UNKNOWN_SAVINGS
    if savings.state == CLOSED:
        return SAVINGS_CLOSED
    beyond = check_deposit(savings.client_id, int(request.amount), context, rows)
    if beyond is not None:
        return beyond
    if request.payment_method == WALLET_METHOD:
        return deposit_from_wallet(request, savings, context, rows)
    purpose = TransactionPurpose(DEPOSIT_PURPOSE, savings.savings_id, **payer_metadata(request))
    amount = int(request.amount)
    decision = collect_payment(
        request.payment_method, request, amount, purpose, context, rows, otp_reply_state="validated"
    )
    if not isinstance(decision, Decision):
        return decision
    changes = SavingsChanges(context, rows)
    if not request.dry_run:
        return await_deposit(decision, changes, savings.savings_id)
    more = receive_deposit(changes, savings.savings_id, amount)
    if more is not None:
        return more
    [row] = [row for row in decision.rows if isinstance(row, Transaction)]
    return dry_run_payment_deposit(changes, savings, row, request.payment_method)


def await_deposit(decision: Decision, changes: SavingsChanges, savings_id: str) -> Decision | NeedsMore:
    """Adds to the begin of a payment that the savings await it. It keeps them open until it has ended."""
    changes.count_deposit(savings_id, 1)
    more = changes.missing_clients()
    if more is not None:
        return more
    decision.rows = (*decision.rows, *changes.rows)
    return decision


def deposit_from_wallet(
    request: DepositRequest, savings: Savings, context: Context, rows: LoadedRows
) -> Decision | Refusal | NeedsMore:
    amount, changes = int(request.amount), SavingsChanges(context, rows)
    # Whoever has a key sends it, without the client: one party must not reactivate savings.
    # Contract: investments#dormancy
    if not is_dormant(savings, changes.today, context.merchant):
        changes.record_own_movement(savings.savings_id)
    more = receive_deposit(changes, savings.savings_id, amount)
    if more is not None:
        return more
    if request.dry_run:
        return dry_run_wallet_deposit(changes, savings, amount)
    account = changes.account(savings.savings_id)
    bring = Posting(WALLET, account.name, amount, "savings deposit")
    movement = SavingsMovement(
        kind=DEPOSIT,
        reference_type=DEPOSIT_REFERENCE_TYPE,
        amount=amount,
        savings_id=savings.savings_id,
        method=WALLET_METHOD,
        message="Deposit Successful",
        customer_txnref=request.customer_txnref,
        payer_metadata=payer_metadata(request),
    )
    ending = record_movement(context, movement)
    return Decision(
        reply=DepositReply(
            message=ending.row.message,
            txn_ref=ending.row.txn_ref,
            txn_status="successful",
            charged_amount=format_minor(amount),
            currency=CURRENCY,
            payment_method=WALLET_METHOD,
            savings_id=savings.savings_id,
            balance=format_minor(account.available + amount - total_repaid(changes)),
        ),
        groups=(PostingGroup(ending.row.txn_ref, WALLET_INSUFFICIENT, postings=(bring, *changes.posts)),),
        rows=(ending.row, *changes.rows),
        jobs=ending.jobs,
        events=(ending.event,),
        numbers_used=1,
    )


def decide_validation(request: ValidateDeposit, context: Context, rows: LoadedRows) -> Decision[PaymentReply] | Refusal:
    """Submits the payer's code for a deposit."""
    return validate_for_purpose(request, DEPOSIT_PURPOSE, context, rows)


def receive_deposit(changes: SavingsChanges, savings_id: str, amount: int) -> NeedsMore | None:
    """Activates savings that receive money and repays their thrift debts from it. Returns NeedsMore or None."""
    changes.activate_savings(savings_id)
    return repay_thrift_debts(changes, savings_id, amount)


def repay_thrift_debts(changes: SavingsChanges, savings_id: str, money: int) -> NeedsMore | None:
    """Adds the repayments of thrift debts, oldest first and up to `money`, to the changes.

    Returns NeedsMore if rows are missing, else None. Contract: investments#debts
    """
    savings = changes.load_savings(savings_id)
    repayments, open_debts = repay(max(0, money), savings.thrift_links.debts)
    needs = need_repayments(changes.merchant_id, repayments)
    if has_unseen_rows(needs, changes.seen):
        return NeedsMore(needs)
    if repayments:
        set_thrift_links(savings, ThriftLinks(savings.thrift_links.plans, open_debts))
        changes.repay_debts(savings_id, repayments)
    return changes.missing_clients()


def need_debt_repayments(changes: SavingsChanges, received: Mapping[str, int]) -> NeedsMore | None:
    """Returns NeedsMore for the rows of all thrift debts that several savings repay out of what they receive, at once.
    None if they are loaded."""
    repayments = [
        repaid
        for savings_id, money in received.items()
        for repaid in repay(money, changes.load_savings(savings_id).thrift_links.debts)[0]
    ]
    needs = need_repayments(changes.merchant_id, repayments)
    return NeedsMore(needs) if has_unseen_rows(needs, changes.seen) else None


def debt_groups(changes: SavingsChanges, savings_id: str) -> tuple[PostingGroup, ...]:
    """Returns the debt repayments as a posting group of their own, or nothing if there are none."""
    return (PostingGroup(savings_id, SAVINGS_INSUFFICIENT, postings=tuple(changes.posts)),) if changes.posts else ()


class SavingsMovement(msgspec.Struct, frozen=True, kw_only=True):
    """A deposit or cash-out within the ledger, without a rail."""

    kind: str  # of the transaction
    reference_type: str  # first letters of its txnRef
    amount: int
    savings_id: str
    method: str
    message: str
    customer_txnref: str | None = None
    payer_metadata: dict[str, str] = {}  # stored with the transaction, encrypted; not sent in its event


def record_movement(context: Context, movement: SavingsMovement) -> FinalTransaction:
    """Returns the transaction of a movement without a rail; it is final with its commit.

    Its key is derived from its own reference, because a customer_txnref may be used more than once.
    """
    txn_ref = movement_reference(movement.reference_type, context.permutation(context.number), lagos_day(context.now))
    event_fields = {"savings_id": movement.savings_id}
    detail = {**event_fields, **seal_payer_field(context, txn_ref, movement.payer_metadata)}
    row = begin_transaction(
        context, NewTransaction(kind=movement.kind, txn_ref=txn_ref, amount=movement.amount, detail=detail)
    )
    if movement.customer_txnref is not None:
        row = msgspec.structs.replace(row, order_ref=movement.customer_txnref)
        event_fields["customer_txnref"] = movement.customer_txnref
    return end_transaction(
        context,
        row,
        TransactionOutcome(
            status=SUCCESSFUL,
            message=movement.message,
            method=movement.method,
            scenario=context.scenario,
            event_fields=event_fields,
        ),
    )
