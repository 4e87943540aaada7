"""Effects on savings of payments, transfers and cashcodes that were made for deposits and cash-outs.

Contract: investments#deposit, investments#cashout
"""

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, LoadedRows, Merchant, Needs, NeedsMore
from kasuwa.core.money import format_minor
from kasuwa.ledger import chart
from kasuwa.methods.clients.rules.check_limits import find_excess
from kasuwa.methods.investments.model import SavingsChanges, need_savings
from kasuwa.methods.investments.rules.cash_out import CASHOUT_PURPOSE, withdraw_savings
from kasuwa.methods.investments.rules.dry_run import total_repaid
from kasuwa.methods.investments.rules.hold_deposit import SUSPENSE, hold_deposit, on_taken
from kasuwa.methods.investments.rules.savings import DEPOSIT_PURPOSE, debt_groups, receive_deposit, repay_thrift_debts
from kasuwa.methods.investments.wire import CashoutReply
from kasuwa.transactions.purpose import SUBJECT_DETAIL_DECODER, PurposeRules, TransactionEffects
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction


def need_purpose(merchant: Merchant, savings_id: str) -> Needs:
    return need_savings(merchant.merchant_id, (savings_id,))


def end_cashout(
    row: Transaction, savings_id: str, context: Context, rows: LoadedRows
) -> TransactionEffects | NeedsMore:
    """Applies the result of a cash-out by transfer or cashcode. The savings row changes only now; until then the
    amount was held."""
    changes = SavingsChanges(context, rows)
    available = changes.account(savings_id).available
    if not row.is_final:
        return TransactionEffects(reply=reply_cashout(row, savings_id, available))
    if row.status == SUCCESSFUL:
        changes.record_own_movement(savings_id)
        withdraw_savings(changes, savings_id, row.amount)
        more = changes.missing_clients()
        return more or TransactionEffects(reply=reply_cashout(row, savings_id, available), rows=changes.rows)
    # The hold is released. Debts that arose meanwhile are repaid from it before it can be taken out again.
    # Contract: investments#debts
    available += row.amount
    uncount_spent(changes, row)
    more = repay_thrift_debts(changes, savings_id, available)
    if more is not None:
        return more
    reply = reply_cashout(row, savings_id, available - total_repaid(changes))
    if not changes.posts:
        return TransactionEffects(reply=reply, rows=changes.clients)
    return TransactionEffects(reply=reply, groups=debt_groups(changes, savings_id), rows=changes.rows)


def uncount_spent(changes: SavingsChanges, row: Transaction) -> None:
    """Takes a cash-out that failed on the day on which it was counted off what its client was paid out."""
    purpose = SUBJECT_DETAIL_DECODER.decode(row.detail).purpose
    if purpose is not None and purpose.spent_by and lagos_day(row.created_at) == changes.today:
        changes.count_spent(purpose.spent_by, -row.amount)


def reply_ended_cashout(row: Transaction, savings_id: str, context: Context, rows: LoadedRows) -> CashoutReply:
    return reply_cashout(row, savings_id, SavingsChanges(context, rows).account(savings_id).available)


def reply_cashout(row: Transaction, savings_id: str, balance: int) -> CashoutReply:
    return CashoutReply(
        message=row.message,
        txn_ref=row.txn_ref,
        txn_status=row.status,
        savings_id=savings_id,
        balance=format_minor(balance),
    )


def end_deposit(
    row: Transaction, savings_id: str, context: Context, rows: LoadedRows
) -> TransactionEffects | NeedsMore:
    """Applies the result of a payment for a deposit. The payment's own postings credit the savings with the whole
    amount; debts are repaid from it. What is above the limits of the client's tier is held instead. A failed one closes
    savings that were emptied meanwhile and have matured."""
    if not row.is_final:
        return TransactionEffects()
    changes = SavingsChanges(context, rows)
    if row.status == SUCCESSFUL:
        savings = changes.load_savings(savings_id)
        excess = find_excess(savings.client_id, row.amount, context, rows, SUSPENSE)
        if excess:
            return excess if isinstance(excess, NeedsMore) else hold_deposit(row, savings, excess, context, rows)
    changes.count_deposit(savings_id, -1)
    more = None
    if row.status == SUCCESSFUL:
        changes.record_own_movement(savings_id)
        more = receive_deposit(changes, savings_id, row.amount)
    else:
        changes.close_emptied((savings_id,))
    more = more or changes.missing_clients()
    return more or TransactionEffects(posts=tuple(changes.posts), rows=changes.rows)


def deposit_account(savings_id: str, currency: str) -> str:
    return chart.savings(savings_id)


CASHOUT_PURPOSE_RULES = PurposeRules(CASHOUT_PURPOSE, need_purpose, end_cashout, final_reply=reply_ended_cashout)
DEPOSIT_PURPOSE_RULES = PurposeRules(DEPOSIT_PURPOSE, need_purpose, end_deposit, deposit_account, on_taken=on_taken)
