"""Rules of cash-outs: in cash, by transfer and by cashcode. The postings are listed in model.py.

Cash is final with its commit. A transfer or a cashcode holds the money on the savings and is completed by the rules of
methods/disburse or methods/cashcode; its effects on the savings are in purposes.py.

Contract: investments#cashout
"""

import msgspec

from kasuwa.core.codes import INSUFFICIENT_FUNDS
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
    refuse_fields,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.keyring import derive
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.cashcode.rules import issue as cashcode
from kasuwa.methods.clients.model import (
    NO_BANK_ACCOUNT,
    BankAccount,
    Client,
    client_key,
    kyc_tier,
    read_bank_account,
)
from kasuwa.methods.clients.rules.check_limits import check_spending
from kasuwa.methods.disburse.model import TransferDetail
from kasuwa.methods.disburse.rules import transfer as disburse
from kasuwa.methods.disburse.rules.payout_checks import CheckedPayout, ClientLimits, check_client_payout
from kasuwa.methods.investments.accrual import forfeit_interest
from kasuwa.methods.investments.model import (
    CLOSED,
    CURRENCY,
    LAYERS_DECODER,
    SAVINGS_CLOSED,
    SAVINGS_DORMANT,
    SAVINGS_INSUFFICIENT,
    UNKNOWN_SAVINGS,
    WALLET,
    Savings,
    SavingsChanges,
    is_dormant,
    need_savings,
    savings_key,
    set_accrual,
)
from kasuwa.methods.investments.rules.dry_run import CASHCODE_CHANNEL, dry_run_cashout, total_repaid
from kasuwa.methods.investments.rules.savings import SavingsMovement, debt_groups, record_movement, repay_thrift_debts
from kasuwa.methods.investments.wire import (
    CashcodeReply,
    CashcodeRequest,
    CashoutFields,
    CashoutReply,
    CashoutRequest,
)
from kasuwa.terms.client_tiers import TierTerms
from kasuwa.transactions.purpose import TransactionPurpose
from kasuwa.transactions.transactions import SUCCESSFUL

# Refusals, in order of precedence: unknown savings, not the owner, closed savings, no bank account, dormant savings.
DEBTS_FIRST = Refusal(
    INSUFFICIENT_FUNDS,
    "The savings do not cover the amount: {owed} goes to thrift debts first",
    error_code="savings_insufficient",
)
NOT_THE_OWNER = refuse_fields(FieldError("client_id", "not the owner of these savings", "not_the_owner"))

CLOSED_EMPTY = "The savings were empty and are closed"

CASH_OUT = "cashout"
CASH_OUT_REFERENCE_TYPE = "CO"

# Purpose of transfers and cashcodes made for cash-outs (purposes.py).
CASHOUT_PURPOSE = "savings-cashout"

PIN_DIGITS = 4


def read_savings_id(request: CashoutFields) -> str:
    return request.savings_id or request.saving_id or ""


def check_max_amount(merchant: Merchant, amount: int) -> str | None:
    """Returns an error if the amount is above the merchant's maximum. The minimum is checked in prepare_cashout,
    because a balance below it may be taken out whole."""
    most = merchant.limits[CURRENCY].max_amount
    return None if amount <= most else f"at most {format_minor(most)}"


def check_same_savings(merchant: Merchant, saving_id: str | None, savings_id: str | None) -> str | None:
    differ = saving_id is not None and savings_id is not None and saving_id != savings_id
    return "not the same as saving_id" if differ else None


def need_cashout(request: CashoutFields, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    wallet, client = account_key(merchant_id, WALLET), client_key(merchant_id, request.client_id)
    needs = need_savings(merchant_id, (read_savings_id(request),), (Client, client), (Account, wallet))
    return Needs(needs.rows, (*needs.accounts, WALLET))


def find_savings(request: CashoutFields, context: Context, rows: LoadedRows) -> Savings | Refusal:
    savings = rows.get(Savings, savings_key(context.merchant.merchant_id, read_savings_id(request)))
    if savings is None:
        return UNKNOWN_SAVINGS
    if savings.client_id != request.client_id:
        return NOT_THE_OWNER
    return SAVINGS_CLOSED if savings.state == CLOSED else savings


def prepare_cashout(
    request: CashoutFields, savings: Savings, context: Context, rows: LoadedRows
) -> SavingsChanges | Refusal | NeedsMore:
    """Repays thrift debts first and checks that the rest covers the cash-out. Contract: investments#debts"""
    changes = SavingsChanges(context, rows)
    if is_dormant(savings, changes.today, context.merchant):
        return SAVINGS_DORMANT
    available = changes.account(savings.savings_id).available
    least = context.merchant.limits[CURRENCY].min_amount
    if request.amount < least and request.amount != available:
        return refuse_fields(FieldError("amount", f"at least {format_minor(least)}, or the whole balance"))
    beyond = check_spending(savings.client_id, int(request.amount), context, rows)
    if beyond is not None:
        return beyond
    if context.merchant.terms(TierTerms).are_on:
        changes.count_spent(savings.client_id, int(request.amount))
    more = repay_thrift_debts(changes, savings.savings_id, available)
    if more is not None:
        return more
    owed = total_repaid(changes)
    if owed and available - owed < request.amount:
        return DEBTS_FIRST.fill(owed=format_minor(owed))
    return changes


def decide_cashout(
    request: CashoutRequest, context: Context, rows: LoadedRows
) -> Decision[CashoutReply] | Refusal | NeedsMore:
    savings = find_savings(request, context, rows)
    if isinstance(savings, Refusal):
        return savings
    if not request.amount:
        return close_empty(request, savings, context, rows)
    client = rows.get(Client, client_key(context.merchant.merchant_id, savings.client_id))
    assert client is not None
    account = read_bank_account(client, context.vault.unseal) if request.method == "transfer" else None
    if request.method == "transfer" and account is None:
        return NO_BANK_ACCOUNT
    changes = prepare_cashout(request, savings, context, rows)
    if not isinstance(changes, SavingsChanges):
        return changes
    if request.dry_run:
        return dry_run_cashout(changes, savings, int(request.amount), request.method, context)
    if account is not None:
        return send_cashout(changes, savings, int(request.amount), (client, account), context)
    return pay_cash(changes, savings, int(request.amount), context)


# --- amount zero: close empty savings -----------------------------------------------------------------------


def close_empty(
    request: CashoutFields, savings: Savings, context: Context, rows: LoadedRows
) -> Decision | Refusal | NeedsMore:
    """Closes savings that are empty, such as those without any deposit. No money moves, so there is no transaction,
    whatever the method. Contract: investments#close"""
    changes = SavingsChanges(context, rows)
    reason = changes.kept_open_by(savings.savings_id)
    if reason is not None:
        return refuse_fields(
            FieldError("amount", f"above zero: the savings cannot be closed by taking nothing, as {reason}")
        )
    reply = CashoutReply(message=CLOSED_EMPTY, savings_id=savings.savings_id, balance=format_minor(0))
    if request.dry_run:
        reply.message, reply.dry_run, reply.explained = DRY_RUN_MESSAGE, True, []
        return Decision(reply=reply)
    changes.close(savings.savings_id)
    more = changes.missing_clients()
    return more or Decision(reply=reply, rows=changes.rows)


# --- in cash ------------------------------------------------------------------------------------------------


def balance_after(changes: SavingsChanges, savings_id: str, amount: int) -> str:
    """Returns the balance of the reply, after the cash-out and the debts repaid before it."""
    return format_minor(changes.account(savings_id).available - total_repaid(changes) - amount)


def pay_cash(changes: SavingsChanges, savings: Savings, amount: int, context: Context) -> Decision:
    """Moves the amount to the wallet, because the merchant paid the client over the counter."""
    account = changes.account(savings.savings_id)
    changes.record_own_movement(savings.savings_id)
    withdraw_savings(changes, savings.savings_id, amount)
    movement = SavingsMovement(
        kind=CASH_OUT,
        reference_type=CASH_OUT_REFERENCE_TYPE,
        amount=amount,
        savings_id=savings.savings_id,
        method="cash",
        message="Cashout Successful",
    )
    ending = record_movement(context, movement)
    post = Posting(account.name, WALLET, amount, "savings cash-out")
    return Decision(
        reply=CashoutReply(
            message=ending.row.message,
            txn_ref=ending.row.txn_ref,
            txn_status=SUCCESSFUL,
            savings_id=savings.savings_id,
            balance=balance_after(changes, savings.savings_id, amount),
        ),
        groups=(
            *debt_groups(changes, savings.savings_id),
            PostingGroup(ending.row.txn_ref, SAVINGS_INSUFFICIENT, postings=(post,)),
        ),
        rows=(ending.row, *changes.rows),
        jobs=ending.jobs,
        events=(ending.event,),
        numbers_used=1,
    )


def withdraw_savings(changes: SavingsChanges, savings_id: str, amount: int) -> None:
    """Updates savings that money is taken from, once in a decision: the second time it would forfeit too little.
    Emptied savings are closed."""
    forfeit_early(changes, savings_id, amount)
    if changes.can_close(savings_id, leaving=amount):
        changes.close(savings_id)


def forfeit_early(changes: SavingsChanges, savings_id: str, amount: int) -> None:
    """Removes, before maturity, the interest that an amount which leaves the savings earned since the last posting.
    Unlocked interest of a fixed deposit goes first. Contract: investments#forfeit"""
    savings = changes.load_savings(savings_id)
    if changes.today < savings.matures_on:
        broken = max(0, amount - savings.unlocked)
        accrual, _ = forfeit_interest(
            savings.accrual, savings.terms, LAYERS_DECODER.decode(savings.layers), broken, changes.today
        )
        set_accrual(savings, accrual)


# --- by transfer --------------------------------------------------------------------------------------------


def send_cashout(
    changes: SavingsChanges, savings: Savings, amount: int, payee: tuple[Client, BankAccount], context: Context
) -> Decision | Refusal | NeedsMore:
    """Holds the amount and starts the transfer to the client's bank account. It is debited when the bank has paid."""
    client, account = payee
    order = TransferDetail(
        bank_code=account.bank_code,
        account_number=account.account_number,
        sender_name=context.merchant.name,
        narration=savings.name,
        source_account=chart.savings(savings.savings_id),
        purpose=make_purpose(savings, context),
    )
    limits = ClientLimits(client.client_id, kyc_tier(client))
    checked = check_client_payout(order, amount, limits, context, changes.seen)
    if not isinstance(checked, CheckedPayout):
        return checked
    new = disburse.NewTransfer(
        order=order,
        amount=amount,
        reference_type=CASH_OUT_REFERENCE_TYPE,
        insufficient_refusal=SAVINGS_INSUFFICIENT,
        checked=checked,
    )
    decision = disburse.begin_transfer(new, context, context.number)
    decision.follow_up = decision.jobs[0]
    transfer_reply = decision.reply
    decision.reply = CashoutReply(
        message=transfer_reply.message,
        txn_ref=transfer_reply.txn_ref,
        txn_status=transfer_reply.txn_status,
        savings_id=savings.savings_id,
        balance=balance_after(changes, savings.savings_id, amount),
    )
    prepend_debt_repayments(decision, changes, savings.savings_id)
    return decision


def prepend_debt_repayments(decision: Decision, changes: SavingsChanges, savings_id: str) -> None:
    """Adds the debt repayments to the decision, before its holds, and what the client was paid out today."""
    decision.groups = (*debt_groups(changes, savings_id), *decision.groups)
    decision.rows = (*decision.rows, *(changes.rows if changes.posts else changes.clients))


def make_purpose(savings: Savings, context: Context) -> TransactionPurpose:
    spent_by = savings.client_id if context.merchant.terms(TierTerms).are_on else ""
    return TransactionPurpose(CASHOUT_PURPOSE, savings.savings_id, spent_by=spent_by)


# --- by cashcode --------------------------------------------------------------------------------------------


def decide_cashcode(
    request: CashcodeRequest, context: Context, rows: LoadedRows
) -> Decision[CashcodeReply] | Refusal | NeedsMore:
    savings = find_savings(request, context, rows)
    if isinstance(savings, Refusal):
        return savings
    if not request.amount:
        return close_empty(request, savings, context, rows)
    changes = prepare_cashout(request, savings, context, rows)
    if not isinstance(changes, SavingsChanges):
        return changes
    if request.dry_run:
        return dry_run_cashout(changes, savings, int(request.amount), "cashcode", context)
    return issue_cashcode(request, changes, savings, context)


def issue_cashcode(
    request: CashcodeRequest, changes: SavingsChanges, savings: Savings, context: Context
) -> Decision | NeedsMore:
    """Holds the amount and issues a cashcode. It is debited when a machine has paid it and released if the code ends
    unused. Code and PIN are shown once, the PIN only if it was generated here. Contract: investments#cashout"""
    amount = int(request.amount)
    order = cashcode.CashcodeOrder(
        amount=amount,
        pin=request.pin or make_pin(context),
        channel=CASHCODE_CHANNEL,
        digest=b"",
        source_account=chart.savings(savings.savings_id),
        insufficient_refusal=SAVINGS_INSUFFICIENT,
        purpose=make_purpose(savings, context),
    )
    issued = cashcode.issue_code(order, context, changes.seen)
    if isinstance(issued, NeedsMore):
        return issued
    decision = issued.decision
    decision.replay_reply = CashcodeReply(
        message=issued.row.message,
        txn_ref=issued.row.txn_ref,
        savings_id=savings.savings_id,
        balance=balance_after(changes, savings.savings_id, amount),
    )
    made_pin = order.pin if request.pin is None else msgspec.UNSET
    decision.reply = msgspec.structs.replace(decision.replay_reply, cashcode=issued.code_digits, pin=made_pin)
    prepend_debt_repayments(decision, changes, savings.savings_id)
    return decision


def make_pin(context: Context) -> str:
    random_bytes = derive(context.entropy, "cash-out pin")
    return str(int.from_bytes(random_bytes[:16], "big") % 10**PIN_DIGITS).zfill(PIN_DIGITS)
