"""What payments, transfers and cashcodes are made for: deposits and cash-outs of savings. What became of them comes
here. (D34)"""

from kasuwa.core.decision import Context, Merchant, More, Needs, Seen
from kasuwa.core.money import format_minor
from kasuwa.core.purpose import NOTHING_MORE, Addition, Purpose
from kasuwa.core.transactions import SUCCESSFUL, Transaction
from kasuwa.ledger import chart
from kasuwa.methods.investments.decide import CLOSED, Sheet, need_savings
from kasuwa.methods.investments.decide_cashout import CASHOUT_PURPOSE, take
from kasuwa.methods.investments.decide_forecast import repaid_of
from kasuwa.methods.investments.decide_savings import DEPOSIT_PURPOSE, debt_groups, receive, settle_debts
from kasuwa.methods.investments.wire import CashoutReply


def need_purpose(merchant: Merchant, savings_id: str) -> Needs:
    return need_savings(merchant.merchant_id, (savings_id,))


def end_cashout(row: Transaction, savings_id: str, context: Context, seen: Seen) -> Addition | More:
    """The bank has answered on a cash-out, or its cashcode has ended. What was paid leaves the savings only now, under
    the hold that was made for it."""
    sheet = Sheet(context, seen)
    available = sheet.account(savings_id).available
    if not row.is_final:
        return Addition(reply=reply_cashout(row, savings_id, available))
    if row.status == SUCCESSFUL:
        take(sheet, savings_id, row.amount)
        more = sheet.missing()
        return more or Addition(reply=reply_cashout(row, savings_id, available), rows=sheet.rows)
    # The money comes back. Debts that arose meanwhile are settled from it before it can be taken out again. (D35)
    available += row.amount
    more = settle_debts(sheet, savings_id, available)
    if more is not None:
        return more
    reply = reply_cashout(row, savings_id, available - repaid_of(sheet))
    if not sheet.posts:
        return Addition(reply=reply)
    return Addition(reply=reply, groups=debt_groups(sheet, savings_id), rows=sheet.rows)


def tell_cashout(row: Transaction, savings_id: str, context: Context, seen: Seen) -> CashoutReply:
    return reply_cashout(row, savings_id, Sheet(context, seen).account(savings_id).available)


def reply_cashout(row: Transaction, savings_id: str, balance: int) -> CashoutReply:
    return CashoutReply(
        message=row.message,
        txn_ref=row.txn_ref,
        txn_status=row.status,
        savings_id=savings_id,
        balance=format_minor(balance),
    )


def end_deposit(row: Transaction, savings_id: str, context: Context, seen: Seen) -> Addition | More:
    """A payment into savings has ended. The payment itself brings its amount whole into the savings; debts go on. If
    the savings were closed meanwhile, what is left of it can be refunded."""
    sheet = Sheet(context, seen)
    if row.status != SUCCESSFUL:
        return NOTHING_MORE
    was_closed = sheet.open(savings_id).state == CLOSED
    more = receive(sheet, savings_id, row.amount)
    if more is not None:
        return more
    surplus = row.amount - repaid_of(sheet) if was_closed else 0
    return Addition(posts=tuple(sheet.posts), rows=sheet.rows, surplus=surplus)


def end_deposit_refund(savings_id: str, amount: int, context: Context, seen: Seen) -> Addition | More:
    """A deposit that came after the savings were closed has been refunded: they are closed again when it was all."""
    sheet = Sheet(context, seen)
    take(sheet, savings_id, amount)
    return sheet.missing() or Addition(rows=sheet.rows)


def deposit_account(savings_id: str, currency: str) -> str:
    return chart.savings(savings_id)


CASHED_OUT = Purpose(CASHOUT_PURPOSE, need_purpose, end_cashout, tell=tell_cashout)
DEPOSITED = Purpose(DEPOSIT_PURPOSE, need_purpose, end_deposit, deposit_account, end_refund=end_deposit_refund)
