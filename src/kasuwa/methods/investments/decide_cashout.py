"""The rules of cash-outs: over the counter, by transfer and by cashcode. Postings are in decide.py.

Cash is final with its commit. A transfer and a cashcode hold the money on the savings and are ended by the slices that
they are borrowed from; what an end means for the savings is said in decide_errands.py.
"""

import msgspec

from kasuwa.core.accrual import forfeit
from kasuwa.core.codes import NOT_COVERED
from kasuwa.core.decision import (
    Context,
    Decision,
    Fault,
    Group,
    Merchant,
    More,
    Needs,
    Post,
    Refusal,
    Seen,
    refuse_fields,
)
from kasuwa.core.money import format_minor
from kasuwa.core.purpose import Errand
from kasuwa.core.references import account_key
from kasuwa.core.secrets import derive
from kasuwa.core.transactions import SUCCESSFUL
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.cashcode import decide as cashcode
from kasuwa.methods.clients.decide import NO_BANK_ACCOUNT, BankAccount, Client, bank_account_of, client_key
from kasuwa.methods.disburse import decide as disburse
from kasuwa.methods.investments.decide import (
    CLOSED,
    CURRENCY,
    LAYERS,
    SAVINGS_CLOSED,
    SAVINGS_SHORT,
    UNKNOWN_SAVINGS,
    WALLET,
    Savings,
    Sheet,
    need_savings,
    savings_key,
    set_meter,
)
from kasuwa.methods.investments.decide_forecast import CASHCODE_CHANNEL, NOTHING_CHANGED, repaid_of, show_cashout
from kasuwa.methods.investments.decide_savings import debt_groups, end_at_once, settle_debts
from kasuwa.methods.investments.wire import (
    CashcodeReply,
    CashcodeRequest,
    CashoutFields,
    CashoutReply,
    CashoutRequest,
)

# Refusals, in order of precedence: unknown savings, another's, closed ones, and a client without a bank account.
NOT_THE_OWNER = refuse_fields(Fault("client_id", "not the owner of these savings"))

CLOSED_EMPTY = "The savings were empty and are closed"

CASH_OUT = "cashout"
CASH_OUT_LETTERS = "CO"

# What transfers and cashcodes for savings are made for: decide_errands.py.
CASHOUT_PURPOSE = "savings-cashout"

PIN_DIGITS = 4


def said_savings(request: CashoutFields) -> str:
    return request.savings_id or request.saving_id or ""


def amount_is_not_too_much(merchant: Merchant, amount: int) -> str | None:
    """The smallest amount is judged where the balance is known: one below it can be taken out whole."""
    most = merchant.limits[CURRENCY].most
    return None if amount <= most else f"at most {format_minor(most)}"


def same_savings(merchant: Merchant, saving_id: str | None, savings_id: str | None) -> str | None:
    differ = saving_id is not None and savings_id is not None and saving_id != savings_id
    return "not the same as saving_id" if differ else None


def need_cashout(request: CashoutFields, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    wallet, client = account_key(merchant_id, WALLET), client_key(merchant_id, request.client_id)
    needs = need_savings(merchant_id, (said_savings(request),), (Client, client), (Account, wallet))
    return Needs(needs.rows, (*needs.accounts, WALLET))


def find_savings(request: CashoutFields, context: Context, seen: Seen) -> Savings | Refusal:
    savings = seen.get(Savings, savings_key(context.merchant.merchant_id, said_savings(request)))
    if savings is None:
        return UNKNOWN_SAVINGS
    if savings.client_id != request.client_id:
        return NOT_THE_OWNER
    return SAVINGS_CLOSED if savings.state == CLOSED else savings


def open_sheet(request: CashoutFields, savings: Savings, context: Context, seen: Seen) -> Sheet | Refusal | More:
    """A sheet with the member's thrift debts settled: they are paid before anything is taken out. Spec silent: D35"""
    sheet = Sheet(context, seen)
    available = sheet.account(savings.savings_id).available
    least = context.merchant.limits[CURRENCY].least
    if request.amount < least and request.amount != available:
        return refuse_fields(Fault("amount", f"at least {format_minor(least)}, or the whole balance"))
    more = settle_debts(sheet, savings.savings_id, available)
    if more is not None:
        return more
    owed = repaid_of(sheet)
    if owed and available - owed < request.amount:
        return Refusal(
            NOT_COVERED, f"The savings do not cover the amount: {format_minor(owed)} goes to thrift debts first"
        )
    return sheet


def decide_cashout(request: CashoutRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    savings = find_savings(request, context, seen)
    if isinstance(savings, Refusal):
        return savings
    if not request.amount:
        return close_empty(request, savings, context, seen)
    client = seen.get(Client, client_key(context.merchant.merchant_id, savings.client_id))
    assert client is not None
    account = bank_account_of(client, context.vault.open) if request.method == "transfer" else None
    if request.method == "transfer" and account is None:
        return NO_BANK_ACCOUNT
    sheet = open_sheet(request, savings, context, seen)
    if not isinstance(sheet, Sheet):
        return sheet
    if request.dry_run:
        return show_cashout(sheet, savings, int(request.amount), request.method, context)
    if account is not None:
        return send_out(sheet, savings, int(request.amount), account, context)
    return pay_cash(sheet, savings, int(request.amount), context)


# --- of nothing ---------------------------------------------------------------------------------------------


def close_empty(request: CashoutFields, savings: Savings, context: Context, seen: Seen) -> Decision | Refusal | More:
    """Closes savings that hold nothing, such as those that nothing was ever paid into. No money moves, so there is no
    transaction, whatever the method. Contract: investments#close"""
    sheet = Sheet(context, seen)
    why = sheet.kept_open_by(savings.savings_id)
    if why is not None:
        return refuse_fields(Fault("amount", f"above zero: the savings cannot be closed by taking nothing, as {why}"))
    reply = CashoutReply(message=CLOSED_EMPTY, savings_id=savings.savings_id, balance=format_minor(0))
    if request.dry_run:
        reply.message, reply.dry_run, reply.explained = NOTHING_CHANGED, True, []
        return Decision(reply=reply)
    sheet.close(savings.savings_id)
    more = sheet.missing()
    return more or Decision(reply=reply, rows=sheet.rows)


# --- in cash ------------------------------------------------------------------------------------------------


def left_after(sheet: Sheet, savings_id: str, amount: int) -> str:
    """The balance that a reply shows: without the amount, and without debts that were settled first."""
    return format_minor(sheet.account(savings_id).available - repaid_of(sheet) - amount)


def pay_cash(sheet: Sheet, savings: Savings, amount: int, context: Context) -> Decision:
    """The merchant paid it over the counter: its wallet gets it back."""
    account = sheet.account(savings.savings_id)
    take(sheet, savings.savings_id, amount)
    ending = end_at_once(context, CASH_OUT, CASH_OUT_LETTERS, amount, savings, "cash", "Cashout Successful")
    post = Post(account.name, WALLET, amount, "savings cash-out")
    return Decision(
        reply=CashoutReply(
            message=ending.row.message,
            txn_ref=ending.row.txn_ref,
            txn_status=SUCCESSFUL,
            savings_id=savings.savings_id,
            balance=left_after(sheet, savings.savings_id, amount),
        ),
        groups=(
            *debt_groups(sheet, savings.savings_id),
            Group(ending.row.txn_ref, SAVINGS_SHORT, posts=(post,)),
        ),
        rows=(ending.row, *sheet.rows),
        jobs=ending.jobs,
        events=(ending.event,),
        numbers=1,
    )


def take(sheet: Sheet, savings_id: str, amount: int) -> None:
    """Money leaves: before maturity what it earned since the last posting is lost, and what is emptied after it
    closes."""
    savings = sheet.open(savings_id)
    if sheet.today < savings.matures_on:
        meter, _ = forfeit(savings.meter, savings.terms, LAYERS.decode(savings.layers), amount, sheet.today)
        set_meter(savings, meter)
    if sheet.is_over(savings_id, leaving=amount):
        sheet.close(savings_id)


# --- by transfer --------------------------------------------------------------------------------------------


def send_out(sheet: Sheet, savings: Savings, amount: int, account: BankAccount, context: Context) -> Decision:
    """To the client's bank account: held now, and taken when the bank has paid it."""
    order = disburse.Order(
        bank_code=account.bank_code,
        account_number=account.account_number,
        sender_name=context.merchant.name,
        narration=savings.name,
        source=chart.savings(savings.savings_id),
        errand=Errand(CASHOUT_PURPOSE, savings.savings_id),
    )
    decision = disburse.send_money(
        order, amount, context, context.number, letters=CASH_OUT_LETTERS, short=SAVINGS_SHORT
    )
    decision.then = decision.jobs[0]
    sent = decision.reply
    decision.reply = CashoutReply(
        message=sent.message,
        txn_ref=sent.txn_ref,
        txn_status=sent.txn_status,
        savings_id=savings.savings_id,
        balance=left_after(sheet, savings.savings_id, amount),
    )
    settle_first(decision, sheet, savings.savings_id)
    return decision


def settle_first(decision: Decision, sheet: Sheet, savings_id: str) -> None:
    """Puts the debts that are paid before money is held into the decision."""
    if sheet.posts:
        decision.groups = (*debt_groups(sheet, savings_id), *decision.groups)
        decision.rows = (*decision.rows, *sheet.rows)


# --- by cashcode --------------------------------------------------------------------------------------------


def decide_cashcode(request: CashcodeRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    savings = find_savings(request, context, seen)
    if isinstance(savings, Refusal):
        return savings
    if not request.amount:
        return close_empty(request, savings, context, seen)
    sheet = open_sheet(request, savings, context, seen)
    if not isinstance(sheet, Sheet):
        return sheet
    if request.dry_run:
        return show_cashout(sheet, savings, int(request.amount), "cashcode", context)
    return hand_code(request, sheet, savings, context)


def hand_code(request: CashcodeRequest, sheet: Sheet, savings: Savings, context: Context) -> Decision | More:
    """Held now, and taken when a machine has paid it; a code that ends unused gives it back. Code and PIN are shown
    once, the PIN only where it was made here. Spec silent: D34"""
    amount = int(request.amount)
    order = cashcode.CashOrder(
        amount=amount,
        pin=request.pin or make_pin(context),
        channel=CASHCODE_CHANNEL,
        digest=b"",
        source=chart.savings(savings.savings_id),
        short=SAVINGS_SHORT,
        errand=Errand(CASHOUT_PURPOSE, savings.savings_id),
    )
    issued = cashcode.issue_code(order, context, sheet.seen)
    if isinstance(issued, More):
        return issued
    decision = issued.decision
    decision.repeat = CashcodeReply(
        message=issued.row.message,
        txn_ref=issued.row.txn_ref,
        savings_id=savings.savings_id,
        balance=left_after(sheet, savings.savings_id, amount),
    )
    made_pin = order.pin if request.pin is None else msgspec.UNSET
    decision.reply = msgspec.structs.replace(decision.repeat, cashcode=issued.shown, pin=made_pin)
    settle_first(decision, sheet, savings.savings_id)
    return decision


def make_pin(context: Context) -> str:
    luck = derive(context.entropy, "cash-out pin")
    return str(int.from_bytes(luck[:16], "big") % 10**PIN_DIGITS).zfill(PIN_DIGITS)
