"""Rows, states, accounts and postings of savings, and the changes that one decision makes to them.

States of savings (those of thrift plans are in thrift_model.py):

    pending ── first deposit ──▶ active ── maturity date ──▶ matured
       └──────────── emptied ──────┴───────── emptied ─────────┴──▶ closed

Active and matured savings whose client has not moved money of them for long are dormant: a state that is computed from
the last such movement and not stored. Nothing can be taken out of them until a payment for a deposit or two parties
(rules/reactivation.py) reactivate them. Contract: investments#dormancy

A fixed deposit that rolls over begins a new term at maturity and stays active, unless it is empty by then.

Savings stay open while a deposit to them is pending, thrift debts are owed to them, shares pay their dividends to them
or a borrower owes what was called of them as a guarantee (`kept_open_by`), so that no money comes for closed ones. They
never open again.

Postings, all in NGN; a client's money is on the account `savings:<savings_id>`:

    deposit       wallet → savings                      the amount (payments bring it from their own rail)
                  savings → savings of a creditor       thrift debts, before anything else (rules/savings.py)
    cash-out      savings → wallet                      by cash: the merchant paid it over the counter
                  savings → rail:bank                   by transfer, under a hold (the wallet pays the fee)
                  savings → rail:cash                   by cashcode, under a hold (the wallet pays the fee)
    interest      wallet → savings                      the interest of a month, once the wallet covers it
                  savings → tax:withholding             the tax on it
    thrift cycle  savings of each member → thrift:<id>  the contribution, or as much of it as there is
                  thrift:<id> → savings of recipient    the pot
                  savings of recipient → of creditors   the recipient's debts, out of the pot

A rule that changes the balance of savings must first accrue interest up to today on the old balance:
`SavingsChanges.load_savings` does it. Contract: investments#savings, investments#thrift
"""

from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from functools import cached_property, lru_cache
from typing import ClassVar

import msgspec

from kasuwa.core.calendar import add_months, lagos_day, lagos_moment, utc_text
from kasuwa.core.codes import INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import Context, LoadedRows, Merchant, Needs, NeedsMore, Posting, Refusal, Row
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key, row_key
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.clients.model import Client, adjust_pending_payments, client_key, count_spent, remove_savings
from kasuwa.methods.investments.accrual import (
    UNITS_PER_MINOR,
    AccrualState,
    DepositLayers,
    SavingsTerms,
    accrue_to,
    drop_posted_layers,
    unpaid_interest,
    update_layers,
)
from kasuwa.methods.investments.thrift import Debt, Repayment
from kasuwa.methods.investments.thrift_model import ThriftMember, thrift_member_key
from kasuwa.methods.investments.wire import SavingsRecord
from kasuwa.terms.savings import SavingsSettings
from kasuwa.wire.interest_wire import InterestReply

CURRENCY = "NGN"
WALLET = chart.wallet(CURRENCY)
WITHHOLDING = chart.tax("withholding", CURRENCY)

PENDING = "pending"
ACTIVE = "active"
MATURED = "matured"
DORMANT = "dormant"  # not stored: see dormant_from
CLOSED = "closed"

# What of a fixed deposit begins a new term when one ends. Contract: investments#fixed
NO_ROLLOVER = "none"
PRINCIPAL = "principal"
ALL = "all"

# Refusals, in order of precedence.
UNKNOWN_SAVINGS = Refusal(INVALID_REQUEST, "Invalid Savings Reference", error_code="savings_not_found")
UNKNOWN_PLAN = Refusal(INVALID_REQUEST, "Invalid Thrift Reference", error_code="thrift_plan_not_found")
SAVINGS_CLOSED = Refusal(INVALID_REQUEST, "The savings are closed", error_code="savings_closed")
SAVINGS_DORMANT = Refusal(
    INVALID_REQUEST,
    "The savings are dormant; a payment by the client reactivates them, or two parties do (reactivate_savings)",
    error_code="savings_dormant",
)
SAVINGS_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS, "The savings do not cover the amount", error_code="savings_insufficient"
)
WALLET_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS, "The wallet does not cover the amount; fund it and try again", error_code="insufficient_funds"
)


# --- rows -------------------------------------------------------------------------------------------------


class ThriftLinks(msgspec.Struct, frozen=True, omit_defaults=True):
    """A savings account's open thrift plans, and its debts in any thrift plan, oldest first."""

    plans: tuple[str, ...] = ()
    debts: tuple[Debt, ...] = ()


THRIFT_LINKS_DECODER: "msgspec.json.Decoder[ThriftLinks]" = msgspec.json.Decoder(ThriftLinks)
NO_THRIFT_LINKS = "{}"
NO_LAYERS = "[]"


class Savings(Row):
    """A savings account. Its balance is that of its ledger account; the row holds terms and accrued interest."""

    table: ClassVar[str] = "savings"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "state",
        "accrued",
        "accrued_rest",
        "counted_to",
        "months",
        "due_interest",
        "due_tax",
        "detail",
        "last_balance",
        "layers",
        "pending_deposits",
        "receivable",
        "period",
        "matures_on",
        "rollover",
        "unlocked",
        "reported_terms",
        "event_count",
        "holdings",
        "claims",
        "moved_on",
        "reactivations",
    )

    savings_id: str
    number: int  # the merchant's running number; lists are ordered by it
    client_id: str
    name: str
    rate: str  # interest in percent, per `frequency`
    frequency: str
    annual: int  # the same rate for a year, in the parts of methods/investments/accrual.py
    tax_applied: bool
    tax_rate: str  # percent of the interest
    period: int  # months until maturity; of a fixed deposit, its terms with the running one
    opened_at: datetime
    opened_on: date
    matures_on: date
    state: str
    accrued: int  # interest of the current month, in minor units
    accrued_rest: int  # and the fraction of a minor unit, in 1/UNITS_PER_MINOR
    counted_to: date  # day up to which interest is accrued
    months: int  # months or terms closed, whose interest is posted or due
    due_interest: int  # interest of closed months that is not posted yet
    due_tax: int  # and the tax on it
    detail: str  # ThriftLinks as JSON
    last_balance: int  # when the row was last written
    layers: str  # DepositLayers as JSON: deposits since the last interest posting
    pending_deposits: int  # payments for deposits that have not ended
    receivable: int  # thrift debts that others owe to these savings
    moved_on: date  # day of the last movement of the client's own, or on which the savings were reactivated
    term_days: int = 0  # of a fixed deposit; 0 for other savings
    rollover: str = NO_ROLLOVER  # of a fixed deposit: what begins a new term
    unlocked: int = 0  # interest of earlier terms that is not part of the running one; it earns nothing
    reported_terms: int = 0  # of a fixed deposit: the last term whose end an event has reported
    event_count: int = 0  # events of this account
    holdings: int = 0  # of shares, which pay their dividends into these savings
    claims: int = 0  # guarantees that were called on them and are owed to their client
    reactivations: int = 0  # number of its reactivations so far that were proposed (SavingsReactivation)

    @property
    def is_open(self) -> bool:
        return False

    @property
    def is_fixed(self) -> bool:
        return self.term_days > 0

    @property
    def rolls_over(self) -> bool:
        return self.rollover != NO_ROLLOVER

    @property
    def terms(self) -> SavingsTerms:
        tax_rate = self.tax_rate if self.tax_applied else None
        return SavingsTerms(self.annual, tax_rate, self.opened_on, self.period, self.term_days, self.rolls_over)

    @property
    def posted_on(self) -> date:
        """Returns the day on which interest was last due, or of the opening."""
        return self.terms.posting_date(self.months)

    @property
    def accrual(self) -> AccrualState:
        units = self.accrued * UNITS_PER_MINOR + self.accrued_rest
        return AccrualState(units, self.counted_to, self.months, self.due_interest, self.due_tax)

    @property
    def thrift_links(self) -> ThriftLinks:
        return THRIFT_LINKS_DECODER.decode(self.detail) if self.detail != NO_THRIFT_LINKS else ThriftLinks()


def set_accrual(savings: Savings, accrual: AccrualState) -> None:
    savings.accrued, savings.accrued_rest = divmod(accrual.accrued_units, UNITS_PER_MINOR)
    savings.counted_to, savings.months = accrual.accrued_to, accrual.months_closed
    savings.due_interest, savings.due_tax = accrual.due_interest, accrual.due_tax


LAYERS_DECODER: "msgspec.json.Decoder[DepositLayers]" = msgspec.json.Decoder(DepositLayers)


def accrue_interest(savings: Savings, posted: int, today: date) -> None:
    """Accrues interest up to today on `posted`, the balance held since the last accrual.

    The difference between `posted` and the balance when the row was last written was deposited or withdrawn by that
    write, which was on the day `counted_to`; it is added to the deposit layers. What left the savings of a fixed
    deposit was first its unlocked interest. One that rolls over is given the term that runs today.
    """
    earned_before = savings.last_balance - savings.unlocked
    savings.unlocked = count_unlocked(savings, posted)
    earning = posted - savings.unlocked
    layers = update_layers(LAYERS_DECODER.decode(savings.layers), earned_before, earning, savings.counted_to)
    set_accrual(savings, accrue_to(savings.accrual, savings.terms, earning, today))
    savings.layers = msgspec.json.encode(drop_posted_layers(layers, savings.terms, savings.accrual)).decode()
    savings.last_balance = posted
    if savings.rolls_over:
        savings.period = savings.months + 1
        savings.matures_on = savings.terms.matures_on


def count_unlocked(savings: Savings, posted: int) -> int:
    """Returns the unlocked interest that is left when the balance is `posted`."""
    return max(0, savings.unlocked - max(0, savings.last_balance - posted))


def set_thrift_links(savings: Savings, thrift_links: ThriftLinks) -> None:
    savings.detail = msgspec.json.encode(thrift_links).decode()


# Cached because a posting day computes the same few thousand keys three times within a batch.
@lru_cache(maxsize=8192)
def savings_key(merchant_id: int, savings_id: str) -> bytes:
    return row_key(merchant_id, "savings", savings_id)


class InterestBatch(Row):
    """Savings opened on the same day whose interest one job posts: all for months, or fixed deposits of one term."""

    table: ClassVar[str] = "interest_batch"
    mutable_columns: ClassVar[tuple[str, ...]] = ("opened", "members")

    opened_on: date
    sheet: int  # number of the batch within its day, from 0
    opened: int  # savings opened on this day in all batches; kept in batch 0 only
    members: str  # savings ids, separated by commas
    term_days: int = 0  # of fixed deposits; 0 for other savings

    @property
    def is_open(self) -> bool:
        return False

    @property
    def savings_ids(self) -> list[str]:
        return self.members.split(",") if self.members else []


def interest_batch_key(merchant_id: int, opened_on: date, batch_number: int, term_days: int = 0) -> bytes:
    term = f" {term_days}" if term_days else ""
    return row_key(merchant_id, "savings_round", f"{opened_on} {batch_number}{term}")


# --- needs --------------------------------------------------------------------------------------------------


def need_savings(merchant_id: int, references: Iterable[str], *more: tuple[type[Row], bytes]) -> Needs:
    """Returns savings with their ledger accounts: as rows, to accrue interest on the balance, and by name, to post.

    `references` may hold any text of a request. A text that cannot be a savings id needs no account.
    """
    rows: list[tuple[type[Row], bytes]] = []
    names = []
    for savings_id in references:
        rows.append((Savings, savings_key(merchant_id, savings_id)))
        if savings_id.isascii() and savings_id.isalnum():
            names.append(chart.savings(savings_id))
            rows.append((Account, account_key(merchant_id, names[-1])))
    return Needs((*rows, *more), tuple(names))


def has_unseen_rows(needs: Needs, rows: LoadedRows) -> bool:
    return not all(rows.is_loaded(key) for _, key in needs.rows)


def need_repayments(merchant_id: int, repayments: Iterable[Repayment]) -> Needs:
    """Returns the creditors' savings and, for each repayment, the member rows of debtor and creditor."""
    creditors: dict[str, None] = {}
    members: dict[tuple[type[Row], bytes], None] = {}
    for repaid in repayments:
        debt = repaid.debt
        creditors[debt.creditor] = None
        for position in (debt.debtor_position, debt.creditor_position):
            members[(ThriftMember, thrift_member_key(merchant_id, debt.thrift_id, position))] = None
    return need_savings(merchant_id, creditors, *members)


# --- changes of one decision ----------------------------------------------------------------------------------


class SavingsChanges:
    """Collects the rows and postings that one decision changes, each row once.

    Loading savings accrues their interest up to today on the balance before the decision.
    """

    def __init__(self, context: Context, rows: LoadedRows) -> None:
        self.merchant_id = context.merchant.merchant_id
        self.seen = rows
        self.posts: list[Posting] = []
        self._now = context.now
        self._savings: dict[str, Savings] = {}
        self._members: dict[bytes, ThriftMember] = {}
        self._closed: dict[str, list[str]] = {}
        self._pending_changes: Counter[str] = Counter()
        self._spent: Counter[str] = Counter()

    @cached_property
    def today(self) -> date:
        return lagos_day(self._now)

    @property
    def rows(self) -> tuple[Row, ...]:
        return (*self._savings.values(), *self._members.values(), *self.clients)

    def account(self, savings_id: str) -> Account:
        name = chart.savings(savings_id)
        account = self.seen.get(Account, account_key(self.merchant_id, name))
        return chart.open_account(self.merchant_id, name) if account is None else account

    def load_savings(self, savings_id: str) -> Savings:
        opened = self._savings.get(savings_id)
        if opened is None:
            savings = self.seen.get(Savings, savings_key(self.merchant_id, savings_id))
            assert savings is not None, savings_id
            opened = self._savings[savings_id] = msgspec.structs.replace(savings)
            accrue_interest(opened, self.account(savings_id).posted, self.today)
        return opened

    def load_member(self, thrift_id: str, position: int) -> ThriftMember:
        key = thrift_member_key(self.merchant_id, thrift_id, position)
        if key not in self._members:
            member = self.seen.get(ThriftMember, key)
            assert member is not None, (thrift_id, position)
            self._members[key] = msgspec.structs.replace(member)
        return self._members[key]

    def repay_debts(self, savings_id: str, repayments: Iterable[Repayment]) -> None:
        """Posts debt repayments to the creditors' savings and updates the member rows of both sides."""
        for repaid in repayments:
            debt = repaid.debt
            creditor = self.activate_savings(debt.creditor)
            creditor.receivable -= repaid.amount
            accounts = chart.savings(savings_id), chart.savings(debt.creditor)
            self.posts.append(Posting(*accounts, repaid.amount, "thrift debt"))
            debtor = self.load_member(debt.thrift_id, debt.debtor_position)
            debtor.owed -= repaid.amount
            debtor.contributed += repaid.amount
            self.load_member(debt.thrift_id, debt.creditor_position).received += repaid.amount

    def count_deposit(self, savings_id: str, by: int) -> None:
        """Counts a payment for a deposit that begins (1) or has ended (-1), for the savings and for their client."""
        savings = self.load_savings(savings_id)
        savings.pending_deposits += by
        self._pending_changes[savings.client_id] += by

    def count_spent(self, client_id: str, amount: int) -> None:
        """Counts what is paid out to a client for the limits by tier, below zero if a transfer or code has failed."""
        self._spent[client_id] += amount

    def count_holding(self, savings_id: str, by: int) -> None:
        """Counts a holding of shares that begins (1) or ceases (-1) to pay its dividends into savings."""
        self.load_savings(savings_id).holdings += by

    def count_claim(self, savings_id: str, by: int) -> None:
        """Counts a guarantee that begins (1) or ceases (-1) to be owed to the client of savings that paid for it."""
        self.load_savings(savings_id).claims += by

    def record_own_movement(self, savings_id: str) -> None:
        """Records that the client moved money of savings: they are not dormant any more."""
        self.load_savings(savings_id).moved_on = self.today

    # --- closing --------------------------------------------------------------------------------------------

    def can_close(self, savings_id: str, leaving: int | None = None) -> bool:
        """Returns whether savings close: emptied by a cash-out, or empty after maturity, and kept open by nothing else
        (`kept_open_by`). Held money counts as present.

        `leaving` is the amount of a cash-out whose posting is not among `posts`; None if there is no cash-out.
        Contract: investments#cashout
        """
        is_early = leaving is None and self.today < self.load_savings(savings_id).matures_on
        return not is_early and self.kept_open_by(savings_id, leaving or 0) is None

    def kept_open_by(self, savings_id: str, leaving: int = 0) -> str | None:
        """Returns the reason why savings cannot close after `leaving` is taken out of them, or None."""
        savings = self.load_savings(savings_id)
        reasons = {
            "they are closed": savings.state == CLOSED,
            "interest on them is not posted yet": unpaid_interest(savings.accrual) > 0,
            "they take part in a thrift plan": bool(savings.thrift_links.plans),
            "they owe thrift debts": bool(savings.thrift_links.debts),
            "thrift debts are owed to them": savings.receivable > 0,
            "a deposit to them is pending": savings.pending_deposits > 0,
            "shares pay their dividends to them": savings.holdings > 0,
            "a borrower owes what was called of them": savings.claims > 0,
            "they hold money": self._remaining_balance(savings_id) != leaving,
        }
        return next((reason for reason, applies in reasons.items() if applies), None)

    def _remaining_balance(self, savings_id: str) -> int:
        name = chart.savings(savings_id)
        moved = sum((post.credit == name) * post.amount - (post.debit == name) * post.amount for post in self.posts)
        return self.account(savings_id).posted + moved

    def close(self, savings_id: str) -> None:
        """Closes savings and takes them off the client's count of open accounts."""
        savings = self.load_savings(savings_id)
        savings.state = CLOSED
        self._closed.setdefault(savings.client_id, []).append(savings_id)

    def close_emptied(self, references: Iterable[str]) -> None:
        """Closes those of the savings that can close."""
        for savings_id in [one for one in references if self.can_close(one)]:
            self.close(savings_id)

    def activate_savings(self, savings_id: str) -> Savings:
        """Returns savings that receive money. Pending ones become active."""
        savings = self.load_savings(savings_id)
        if savings.state == PENDING:
            savings.state = ACTIVE
        return savings

    def missing_clients(self) -> NeedsMore | None:
        """Returns NeedsMore for clients whose counts change and who are not loaded, else None.

        Call it last, after all changes are made.
        """
        needs = Needs(tuple((Client, client_key(self.merchant_id, client_id)) for client_id in self._changed_clients()))
        return NeedsMore(needs) if has_unseen_rows(needs, self.seen) else None

    def _changed_clients(self) -> list[str]:
        changed = dict.fromkeys((*self._closed, *self._pending_changes, *self._spent))
        return [one for one in changed if one in self._closed or self._pending_changes[one] or self._spent[one]]

    @property
    def clients(self) -> tuple[Client, ...]:
        """Returns the clients whose counts change."""
        return tuple(self._count_client(client_id) for client_id in self._changed_clients())

    def _count_client(self, client_id: str) -> Client:
        client = self.seen.get(Client, client_key(self.merchant_id, client_id))
        assert client is not None, client_id
        counted = adjust_pending_payments(client, self._pending_changes[client_id])
        counted = count_spent(counted, self._spent[client_id], self.today)
        return remove_savings(counted, self._closed.get(client_id, ()))


# --- records of replies ---------------------------------------------------------------------------------------


def dormant_from(savings: Savings, months: int) -> date | None:
    """Returns the day from which savings are dormant if their client moves no money of them, or None if they are never.

    A fixed deposit is not dormant before its first term has ended. Contract: investments#dormancy
    """
    if not months or savings.state in (PENDING, CLOSED):
        return None
    since = max(savings.moved_on, savings.terms.posting_date(1)) if savings.is_fixed else savings.moved_on
    return add_months(since, months) + timedelta(days=1)


def is_dormant(savings: Savings, today: date, merchant: Merchant) -> bool:
    """Returns whether savings are dormant by the merchant's settings."""
    return state_on(savings, today, merchant.terms(SavingsSettings).dormancy_months) == DORMANT


def state_on(savings: Savings, today: date, dormancy_months: int = 0) -> str:
    """Returns the state on a day. Savings mature at midnight, even before the job has updated the row. A fixed deposit
    that rolls over does not mature. No job makes savings dormant: they are by their last movement."""
    dormant = dormant_from(savings, dormancy_months)
    if dormant is not None and today >= dormant:
        return DORMANT
    if savings.state != CLOSED and today >= savings.matures_on and not savings.rolls_over:
        return MATURED
    return savings.state


def make_savings_record(
    savings: Savings,
    posted: int,
    held: int,
    plans: list[str],
    today: date,
    plans_total: int = 0,
    dormancy_months: int = 0,
) -> SavingsRecord:
    """Returns the record of savings, which says nothing of dormancy without `dormancy_months`. `balance` is the
    available balance; interest is that accrued today, before tax. `plans` are the newest of `plans_total`.
    """
    unlocked = count_unlocked(savings, posted)
    accrual = accrue_to(savings.accrual, savings.terms, posted - unlocked, today)
    matures_on = savings.terms.posting_date(accrual.months_closed + 1) if savings.rolls_over else savings.matures_on
    dormant = dormant_from(savings, dormancy_months)
    return SavingsRecord(
        savings_id=savings.savings_id,
        client_id=savings.client_id,
        name=savings.name,
        state=state_on(savings, today, dormancy_months),  # type: ignore[arg-type]
        balance=format_minor(posted - held),
        accrued_interest=format_minor(unpaid_interest(accrual)),
        interest_settings=InterestReply(savings.rate, savings.frequency),  # type: ignore[arg-type]
        tax_applied=savings.tax_applied,
        tax_rate=savings.tax_rate,
        period=0 if savings.is_fixed else savings.period,
        opened_at=utc_text(savings.opened_at),
        matures_at=utc_text(lagos_moment(matures_on, 0)),
        plans=plans,
        plans_total=plans_total,
        term_days=savings.term_days if savings.is_fixed else msgspec.UNSET,
        rollover=savings.rollover if savings.is_fixed else msgspec.UNSET,  # type: ignore[arg-type]
        unlocked=format_minor(unlocked) if savings.is_fixed else msgspec.UNSET,
        dormant_since=dormant.isoformat() if dormant is not None and today >= dormant else msgspec.UNSET,
    )
