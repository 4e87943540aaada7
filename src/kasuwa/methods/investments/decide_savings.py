"""The rules of savings: opened and deposited into. Cash-outs are in decide_cashout.py, postings in decide.py."""

from decimal import Decimal

import msgspec

from kasuwa.core.accrual import MOST_ANNUAL_PERCENT, PARTS_PER_PERCENT, annual_parts, posting_date
from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, Decision, Group, Merchant, More, Needs, Post, Refusal, Seen
from kasuwa.core.money import format_minor
from kasuwa.core.purpose import Errand
from kasuwa.core.references import account_key, movement_reference, opaque_id
from kasuwa.core.rotation import repay
from kasuwa.core.transactions import SUCCESSFUL, Ending, Transaction, begin_transaction, end_transaction
from kasuwa.ledger.chart import Account
from kasuwa.methods.clients.decide import UNKNOWN_CLIENT, Client, client_key, count_account, refuse_inactive
from kasuwa.methods.investments.decide import (
    CLOSED,
    CURRENCY,
    NO_LINKS,
    PENDING,
    SAVINGS_CLOSED,
    SAVINGS_SHORT,
    UNKNOWN_SAVINGS,
    WALLET,
    WALLET_SHORT,
    Links,
    Savings,
    Sheet,
    need_repayments,
    need_savings,
    record_of,
    savings_key,
    set_links,
    unseen,
)
from kasuwa.methods.investments.decide_forecast import NOTHING_CHANGED, repaid_of, show_deposit, show_payment
from kasuwa.methods.investments.decide_interest import enrol
from kasuwa.methods.investments.wire import (
    CreateSavingsRequest,
    DepositReply,
    DepositRequest,
    SavingsReply,
    ValidateDeposit,
    ValidateReply,
)
from kasuwa.methods.payment.decide import DETAIL, UNKNOWN_REFERENCE, Payment, payment_key
from kasuwa.methods.payment.decide_collect import collect, decide_validate, need_collect, told_of_payer

# A term of fifty years: longer ones are a slip of the pen.
LONGEST_PERIOD = 600
DEFAULT_TAX_RATE = "10"  # Spec silent: D34

DEPOSIT = "deposit"
DEPOSIT_LETTERS = "SD"

# What payments for savings are made for: decide_errands.py.
DEPOSIT_PURPOSE = "savings-deposit"


def period_fits(merchant: Merchant, period: int) -> str | None:
    return None if 1 <= period <= LONGEST_PERIOD else f"a number of months from 1 to {LONGEST_PERIOD}"


def rate_fits(merchant: Merchant, frequency: str, rate: str) -> str | None:
    """Contract: investments#rate"""
    if annual_parts(rate, frequency) <= MOST_ANNUAL_PERCENT * PARTS_PER_PERCENT:
        return None
    return f"a rate that comes to at most {MOST_ANNUAL_PERCENT} percent a year"


def tax_fits(merchant: Merchant, tax_rate: str | None) -> str | None:
    return None if tax_rate is None or Decimal(tax_rate) <= 100 else "a percentage from 0 to 100"


# --- opening ------------------------------------------------------------------------------------------------


def need_opening(request: CreateSavingsRequest, merchant: Merchant) -> Needs:
    return Needs(((Client, client_key(merchant.merchant_id, request.client_id)),))


def decide_opening(request: CreateSavingsRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    client = seen.get(Client, client_key(context.merchant.merchant_id, request.client_id))
    if client is None:
        return UNKNOWN_CLIENT
    refusal = refuse_inactive(client)
    if refusal is not None:
        return refusal
    savings = open_savings(request, context)
    enrolled = enrol(savings.savings_id, savings.opened_on, context, seen)
    if isinstance(enrolled, More):
        return enrolled
    rows, job = enrolled
    record = record_of(savings, 0, 0, [], savings.opened_on)
    if request.dry_run:
        record.savings_id = None
        return Decision(reply=SavingsReply(message=NOTHING_CHANGED, data=record, dry_run=True))
    return Decision(
        reply=SavingsReply(message="Savings Created", data=record),
        rows=(savings, count_account(client, 1), *rows),
        jobs=() if job is None else (job,),
        numbers=1,
    )


def open_savings(request: CreateSavingsRequest, context: Context) -> Savings:
    merchant_id, today = context.merchant.merchant_id, lagos_day(context.now)
    savings_id = opaque_id("SV", context.entropy)
    settings, period = request.interest_settings, int(request.period)
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
        matures_on=posting_date(today, period),
        state=PENDING,
        accrued=0,
        accrued_rest=0,
        counted_to=today,
        months=0,
        due_interest=0,
        due_tax=0,
        detail=NO_LINKS,
    )


# --- a deposit ----------------------------------------------------------------------------------------------


def need_deposit(request: DepositRequest, merchant: Merchant) -> Needs:
    wallet = account_key(merchant.merchant_id, WALLET)
    paying = need_collect(request.payment_method, request, merchant)
    needs = need_savings(merchant.merchant_id, (request.savings_id,), (Account, wallet), *paying.rows)
    return Needs(needs.rows, (*needs.accounts, *paying.accounts, WALLET))


def currency_fits(merchant: Merchant, currency: str | None) -> str | None:
    return None if currency in (None, CURRENCY) else f"savings are kept in {CURRENCY}"


def decide_deposit(request: DepositRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    savings = seen.get(Savings, savings_key(context.merchant.merchant_id, request.savings_id))
    if savings is None:
        return UNKNOWN_SAVINGS
    if savings.state == CLOSED:
        return SAVINGS_CLOSED
    if request.payment_method == "wallet":
        return bring_from_wallet(request, savings, context, seen)
    errand = Errand(DEPOSIT_PURPOSE, savings.savings_id, **told_of_payer(request))
    amount = int(request.amount)
    begun = collect(request.payment_method, request, amount, errand, context, seen, state="validated")
    if not request.dry_run or not isinstance(begun, Decision):
        return begun
    sheet = Sheet(context, seen)
    more = receive(sheet, savings.savings_id, amount)
    if more is not None:
        return more
    [row] = [row for row in begun.rows if isinstance(row, Transaction)]
    return show_payment(sheet, savings, row, request.payment_method)


def bring_from_wallet(
    request: DepositRequest, savings: Savings, context: Context, seen: Seen
) -> Decision | Refusal | More:
    amount, sheet = int(request.amount), Sheet(context, seen)
    more = receive(sheet, savings.savings_id, amount)
    if more is not None:
        return more
    if request.dry_run:
        return show_deposit(sheet, savings, amount)
    account = sheet.account(savings.savings_id)
    bring = Post(WALLET, account.name, amount, "savings deposit")
    ending = end_at_once(
        context,
        DEPOSIT,
        DEPOSIT_LETTERS,
        amount,
        savings,
        "wallet",
        "Deposit Successful",
        request.customer_txnref,
        told_of_payer(request),
    )
    return Decision(
        reply=DepositReply(
            message=ending.row.message,
            txn_ref=ending.row.txn_ref,
            txn_status="successful",
            savings_id=savings.savings_id,
            balance=format_minor(account.available + amount - repaid_of(sheet)),
        ),
        groups=(Group(ending.row.txn_ref, WALLET_SHORT, posts=(bring, *sheet.posts)),),
        rows=(ending.row, *sheet.rows),
        jobs=ending.jobs,
        events=(ending.event,),
        numbers=1,
    )


def decide_validation(request: ValidateDeposit, context: Context, seen: Seen) -> Decision | Refusal | More:
    """The payer's code for a deposit; a payment for anything else is not known here."""
    payment = seen.get(Payment, payment_key(context.merchant.merchant_id, request.txn_ref))
    errand = None if payment is None else DETAIL.decode(payment.detail).errand
    if errand is None or errand.purpose != DEPOSIT_PURPOSE:
        return UNKNOWN_REFERENCE
    brought = decide_validate(request, context, seen)
    if not request.dry_run or not isinstance(brought, Decision):
        return brought
    return Decision(reply=ValidateReply(txn_ref=request.txn_ref, message=NOTHING_CHANGED, dry_run=True))


def receive(sheet: Sheet, savings_id: str, amount: int) -> More | None:
    """Money arrives, and what is owed in thrift plans goes on to its creditors."""
    sheet.arrive(savings_id)
    return settle_debts(sheet, savings_id, amount)


def settle_debts(sheet: Sheet, savings_id: str, money: int) -> More | None:
    """Pays thrift debts out of money in the savings, the oldest first: the postings are on the sheet then. Returns what
    must be seen first."""
    savings = sheet.open(savings_id)
    repayments, left = repay(max(0, money), savings.links.debts)
    needs = need_repayments(sheet.merchant_id, repayments)
    if unseen(needs, sheet.seen):
        return More(needs)
    if repayments:
        set_links(savings, Links(savings.links.plans, left))
        sheet.repay(savings_id, repayments)
    return sheet.missing()


def debt_groups(sheet: Sheet, savings_id: str) -> tuple[Group, ...]:
    """The postings of debts that were settled, as a group of their own."""
    return (Group(savings_id, SAVINGS_SHORT, posts=tuple(sheet.posts)),) if sheet.posts else ()


def end_at_once(
    context: Context,
    kind: str,
    letters: str,
    amount: int,
    savings: Savings,
    method: str,
    message: str,
    customer_txnref: str | None = None,
    told_of_payer: dict[str, str] | None = None,
) -> Ending:
    """A movement within the books: no rail, so it is final with the commit that makes it. Its key is made of its own
    reference, because a customer_txnref may be used more than once. `told_of_payer` is kept with it, and its event does
    not carry it."""
    txn_ref = movement_reference(letters, context.permutation(context.number), lagos_day(context.now))
    belongs = {"savings_id": savings.savings_id}
    row = begin_transaction(context, kind, txn_ref, amount, detail={**belongs, **(told_of_payer or {})})
    if customer_txnref is None:
        return end_transaction(context, row, SUCCESSFUL, None, message, method, context.scenario, told=belongs)
    row = msgspec.structs.replace(row, order_ref=customer_txnref)
    told = {**belongs, "customer_txnref": customer_txnref}
    return end_transaction(context, row, SUCCESSFUL, None, message, method, context.scenario, told=told)
