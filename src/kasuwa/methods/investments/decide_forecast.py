"""What `dry_run` answers: every figure of what would happen and how it came about. Nothing here changes anything."""

from kasuwa.core.accrual import forfeit, posting_date, round_units, unpaid
from kasuwa.core.decision import Context, Decision, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key
from kasuwa.core.tariff import Charge, charge_cashcode, charge_transfer
from kasuwa.core.terms import Figure
from kasuwa.core.transactions import Transaction
from kasuwa.ledger.chart import Account
from kasuwa.methods.cashcode import decide as cashcode
from kasuwa.methods.disburse import decide as disburse
from kasuwa.methods.investments.decide import LAYERS, SAVINGS_SHORT, WALLET, WALLET_SHORT, Savings, Sheet
from kasuwa.methods.investments.wire import CashoutReply, DepositReply
from kasuwa.methods.payment import decide as payment

NOTHING_CHANGED = "Nothing was changed: this is what would happen"

WAYS = {
    "cash": "to the wallet: the merchant pays it over the counter",
    "transfer": "to the client's bank account",
    "cashcode": "held for a code that draws it from a cash machine; it returns if the code ends unused",
}
# Where a cash-out by cashcode is paid. Spec silent: D34
CASHCODE_CHANNEL = "ATM"


def wallet_available(sheet: Sheet) -> int:
    """Where a decision moves money the ledger refuses; a forecast moves none and must look itself."""
    wallet = sheet.seen.get(Account, account_key(sheet.merchant_id, WALLET))
    return 0 if wallet is None else wallet.available


def repaid_of(sheet: Sheet) -> int:
    """What goes on to creditors of what has arrived."""
    return sum(post.amount for post in sheet.posts)


def show_deposit(sheet: Sheet, savings: Savings, amount: int) -> Decision | Refusal:
    if wallet_available(sheet) < amount:
        return WALLET_SHORT
    brought = Figure("amount", format_minor(amount), "from the wallet into the savings, without a fee")
    return forecast_deposit(sheet, savings, amount, [brought])


def show_payment(sheet: Sheet, savings: Savings, row: Transaction, method: str) -> Decision | Refusal:
    """A payment that would begin: what it would bring if it succeeds, and what it would cost the merchant."""
    if wallet_available(sheet) < row.fee + row.vat:
        return payment.WALLET_SHORT
    figures = [
        Figure("amount", format_minor(row.amount), f"by {method}, whole into the savings"),
        Figure("fee", format_minor(row.fee), "from the wallet, by the collection tariff"),
        Figure("VAT", format_minor(row.vat), "on the fee, from the wallet"),
    ]
    return forecast_deposit(sheet, savings, row.amount, figures)


def forecast_deposit(sheet: Sheet, savings: Savings, amount: int, brought: list[Figure]) -> Decision:
    available = sheet.account(savings.savings_id).available
    balance = format_minor(available + amount - repaid_of(sheet))
    figures = [
        Figure("balance", format_minor(available), "in the savings now"),
        *brought,
        *(Figure("thrift debt", format_minor(post.amount), f"first of all to {post.credit}") for post in sheet.posts),
        Figure("balance after", balance, "the balance and the amount, less thrift debts"),
    ]
    return Decision(reply=DepositReply(message=NOTHING_CHANGED, balance=balance, dry_run=True, explained=figures))


def show_cashout(sheet: Sheet, savings: Savings, amount: int, method: str, context: Context) -> Decision | Refusal:
    account = sheet.account(savings.savings_id)
    if account.available < amount:
        return SAVINGS_SHORT
    balance = format_minor(account.available - repaid_of(sheet) - amount)
    figures = [
        Figure("balance", format_minor(account.available), "in the savings now"),
        *(Figure("thrift debt", format_minor(post.amount), f"first of all to {post.credit}") for post in sheet.posts),
        Figure("amount", format_minor(amount), WAYS[method]),
        *interest_figures(sheet, sheet.open(savings.savings_id), amount),
    ]
    if method != "cash":
        tariff = context.merchant.tariff
        is_transfer = method == "transfer"
        charge = charge_transfer(tariff, amount) if is_transfer else charge_cashcode(tariff, CASHCODE_CHANNEL)
        if wallet_available(sheet) < charge.total:
            return disburse.FEE_SHORT if is_transfer else cashcode.FEE_SHORT
        figures += charge_figures(charge, method, tariff.vat_percent_on_fees)
    figures.append(Figure("balance after", balance, "the balance less the amount and thrift debts"))
    return Decision(reply=CashoutReply(message=NOTHING_CHANGED, balance=balance, dry_run=True, explained=figures))


def charge_figures(charge: Charge, method: str, vat_percent: str) -> list[Figure]:
    figures = [
        Figure("fee", format_minor(charge.fee), f"from the wallet, by the {method} tariff"),
        Figure("VAT", format_minor(charge.vat), f"{vat_percent}% on the fee"),
    ]
    if charge.duty:
        figures.append(Figure("stamp duty", format_minor(charge.duty), "from the wallet"))
    return figures


def interest_figures(sheet: Sheet, savings: Savings, amount: int) -> list[Figure]:
    since = posting_date(savings.opened_on, savings.months)
    earned = f"{savings.rate}% {savings.frequency}, by the day on each end-of-day balance since {since}"
    lost, why = 0, "nothing is lost after maturity"
    if sheet.today < savings.matures_on:
        _, lost = forfeit(savings.meter, savings.terms, LAYERS.decode(savings.layers), amount, sheet.today)
        why = f"what {format_minor(amount)} earned since {since}: the money that came last goes first"
    return [
        Figure("accrued interest", format_minor(unpaid(savings.meter)), earned),
        Figure("forfeited interest", format_minor(round_units(lost)), why),
    ]
