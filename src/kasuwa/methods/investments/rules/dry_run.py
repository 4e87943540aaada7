"""Replies to dry runs of deposits and cash-outs: each figure with its explanation. Nothing here changes any state."""

from kasuwa.core.decision import Context, Decision, Refusal
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key
from kasuwa.ledger.chart import Account
from kasuwa.methods.cashcode.rules import issue as cashcode
from kasuwa.methods.disburse.rules import transfer as disburse
from kasuwa.methods.investments.accrual import forfeit_interest, round_units, unpaid_interest
from kasuwa.methods.investments.model import (
    LAYERS_DECODER,
    SAVINGS_INSUFFICIENT,
    WALLET,
    WALLET_INSUFFICIENT,
    Savings,
    SavingsChanges,
)
from kasuwa.methods.investments.wire import CashoutReply, DepositReply
from kasuwa.methods.payment import model as payment
from kasuwa.terms.tariff import Tariff, calculate_cashcode_fees, calculate_transfer_fees
from kasuwa.transactions.transactions import Transaction
from kasuwa.wire.explain_fees import explain_fees
from kasuwa.wire.interest_wire import DryRunFigure

CASHOUT_METHOD_TEXTS = {
    "cash": "to the wallet: the merchant pays it over the counter",
    "transfer": "to the client's bank account",
    "cashcode": "held for a code that draws it from a cash machine; it returns if the code ends unused",
}
# The channel of cash-outs by cashcode. Contract: investments#cashout
CASHCODE_CHANNEL = "ATM"


def wallet_available(changes: SavingsChanges) -> int:
    """Returns the wallet's available balance. A dry run posts nothing, so the ledger cannot refuse it."""
    wallet = changes.seen.get(Account, account_key(changes.merchant_id, WALLET))
    return 0 if wallet is None else wallet.available


def total_repaid(changes: SavingsChanges) -> int:
    """Returns the sum of the debt repayments collected so far. Nothing else may be among `posts` yet."""
    return sum(post.amount for post in changes.posts)


def dry_run_wallet_deposit(changes: SavingsChanges, savings: Savings, amount: int) -> Decision | Refusal:
    if wallet_available(changes) < amount:
        return WALLET_INSUFFICIENT
    brought = DryRunFigure("amount", format_minor(amount), "from the wallet into the savings, without a fee")
    return reply_deposit_dry_run(changes, savings, amount, [brought])


def dry_run_payment_deposit(
    changes: SavingsChanges, savings: Savings, row: Transaction, method: str
) -> Decision | Refusal:
    """Replies what a deposit by a payment would bring if it succeeds, and what it would cost the merchant."""
    if wallet_available(changes) < row.fee + row.vat:
        return payment.WALLET_INSUFFICIENT
    figures = [
        DryRunFigure("amount", format_minor(row.amount), f"by {method}, whole into the savings"),
        DryRunFigure("fee", format_minor(row.fee), "from the wallet, by the collection tariff"),
        DryRunFigure("VAT", format_minor(row.vat), "on the fee, from the wallet"),
    ]
    return reply_deposit_dry_run(changes, savings, row.amount, figures)


def reply_deposit_dry_run(
    changes: SavingsChanges, savings: Savings, amount: int, brought: list[DryRunFigure]
) -> Decision:
    available = changes.account(savings.savings_id).available
    balance = format_minor(available + amount - total_repaid(changes))
    figures = [
        DryRunFigure("balance", format_minor(available), "in the savings now"),
        *brought,
        *(
            DryRunFigure("thrift debt", format_minor(post.amount), f"first of all to {post.credit}")
            for post in changes.posts
        ),
        DryRunFigure("balance after", balance, "the balance and the amount, less thrift debts"),
    ]
    return Decision(reply=DepositReply(message=DRY_RUN_MESSAGE, balance=balance, dry_run=True, explained=figures))


def dry_run_cashout(
    changes: SavingsChanges, savings: Savings, amount: int, method: str, context: Context
) -> Decision | Refusal:
    account = changes.account(savings.savings_id)
    if account.available < amount:
        return SAVINGS_INSUFFICIENT
    balance = format_minor(account.available - total_repaid(changes) - amount)
    figures = [
        DryRunFigure("balance", format_minor(account.available), "in the savings now"),
        *(
            DryRunFigure("thrift debt", format_minor(post.amount), f"first of all to {post.credit}")
            for post in changes.posts
        ),
        DryRunFigure("amount", format_minor(amount), CASHOUT_METHOD_TEXTS[method]),
        *interest_figures(changes, changes.load_savings(savings.savings_id), amount),
    ]
    if method != "cash":
        tariff = context.merchant.terms(Tariff)
        is_transfer = method == "transfer"
        charge = (
            calculate_transfer_fees(tariff, amount)
            if is_transfer
            else calculate_cashcode_fees(tariff, CASHCODE_CHANNEL)
        )
        if wallet_available(changes) < charge.total:
            return disburse.FEE_INSUFFICIENT if is_transfer else cashcode.FEE_INSUFFICIENT
        figures += explain_fees(charge, method, tariff.vat_percent_on_fees)
    figures.append(DryRunFigure("balance after", balance, "the balance less the amount and thrift debts"))
    return Decision(reply=CashoutReply(message=DRY_RUN_MESSAGE, balance=balance, dry_run=True, explained=figures))


def interest_figures(changes: SavingsChanges, savings: Savings, amount: int) -> list[DryRunFigure]:
    since = savings.posted_on
    earned = f"{savings.rate}% {savings.frequency}, by the day on each end-of-day balance since {since}"
    lost, why = 0, "nothing is lost after maturity"
    if changes.today < savings.matures_on:
        broken = max(0, amount - savings.unlocked)
        _, lost = forfeit_interest(
            savings.accrual, savings.terms, LAYERS_DECODER.decode(savings.layers), broken, changes.today
        )
        why = f"what {format_minor(broken)} earned since {since}: the money that came last goes first"
    return [
        DryRunFigure("accrued interest", format_minor(unpaid_interest(savings.accrual)), earned),
        DryRunFigure("forfeited interest", format_minor(round_units(lost)), why),
    ]
