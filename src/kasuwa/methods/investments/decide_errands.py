"""What payments, transfers and cashcodes are made for: deposits and cash-outs of savings. What became of them comes
here. (D34)"""

from kasuwa.core.decision import Context, Merchant, More, Needs, Row, Seen
from kasuwa.core.money import format_minor
from kasuwa.core.purpose import NOTHING_MORE, Addition, Purpose
from kasuwa.core.transactions import SUCCESSFUL, Transaction
from kasuwa.ledger import chart
from kasuwa.methods.investments.decide import Sheet, need_savings
from kasuwa.methods.investments.decide_cashout import CASHOUT_PURPOSE, take
from kasuwa.methods.investments.decide_savings import DEPOSIT_PURPOSE, receive
from kasuwa.methods.investments.wire import CashoutReply


def need_purpose(merchant: Merchant, savings_id: str) -> Needs:
    return need_savings(merchant.merchant_id, (savings_id,))


def end_cashout(row: Transaction, savings_id: str, context: Context, seen: Seen) -> Addition | More:
    """The bank has answered on a cash-out, or its cashcode has ended. What was paid leaves the savings only now, under
    the hold that was made for it."""
    sheet = Sheet(context, seen)
    account = sheet.account(savings_id)
    available = account.available
    rows: tuple[Row, ...] = ()
    if row.status == SUCCESSFUL:
        take(sheet, savings_id, row.amount)
        more = sheet.missing()
        if more is not None:
            return more
        rows = sheet.rows
    elif row.is_final:
        available += row.amount
    return Addition(reply=reply_cashout(row, available), rows=rows)


def tell_cashout(row: Transaction, savings_id: str, context: Context, seen: Seen) -> CashoutReply:
    return reply_cashout(row, Sheet(context, seen).account(savings_id).available)


def reply_cashout(row: Transaction, balance: int) -> CashoutReply:
    return CashoutReply(message=row.message, txn_ref=row.txn_ref, txn_status=row.status, balance=format_minor(balance))


def end_deposit(row: Transaction, savings_id: str, context: Context, seen: Seen) -> Addition | More:
    """A payment into savings has ended. The payment itself brings its amount whole into the savings; debts go on."""
    sheet = Sheet(context, seen)
    if row.status != SUCCESSFUL:
        return NOTHING_MORE
    more = receive(sheet, savings_id, row.amount)
    if more is not None:
        return more
    return Addition(posts=tuple(sheet.posts), rows=sheet.rows)


def deposit_account(savings_id: str, currency: str) -> str:
    return chart.savings(savings_id)


CASHED_OUT = Purpose(CASHOUT_PURPOSE, need_purpose, end_cashout, tell=tell_cashout)
DEPOSITED = Purpose(DEPOSIT_PURPOSE, need_purpose, end_deposit, deposit_account)
