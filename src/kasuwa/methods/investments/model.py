"""The rows of savings and thrift, and what every rule here does alike.
Contract: investments#savings, investments#thrift

Postings (all in NGN; the client's money sits in `savings:<savings_id>`):

    deposit       wallet → savings                      the amount; other ways of paying bring it through their own rail
                  savings → savings of a creditor       thrift debts, first of all that arrives (decide_thrift.py)
    cash-out      savings → wallet                      by cash: the merchant paid it over the counter
                  savings → rail:bank                   by transfer, under a hold; its fee is the wallet's
                  savings → rail:cash                   by cashcode, under a hold; its fee is the wallet's
    interest      wallet → savings                      what a month earned, when the wallet covers it
                  savings → tax:withholding             the tax on it
    thrift cycle  savings of each member → thrift:<id>  the amount, or what there is of it
                  thrift:<id> → savings of the one      the pot
                  savings of the one → of creditors     debts, out of the pot

Whoever changes a savings account's balance first counts the interest up to today on the balance it had: `Sheet.open`.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime
from functools import cached_property, lru_cache
from typing import ClassVar

import msgspec

from kasuwa.core.accrual import (
    UNITS_PER_MINOR,
    AccrualState,
    DepositLayers,
    SavingsTerms,
    accrue_to,
    drop_posted_layers,
    unpaid,
    update_layers,
)
from kasuwa.core.calendar import lagos_day, lagos_moment, utc_text
from kasuwa.core.codes import INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import Context, LoadedRows, Needs, NeedsMore, Posting, Refusal, Row
from kasuwa.core.interest_wire import InterestReply
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key, row_key
from kasuwa.core.thrift import Debt, Repayment
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.clients.model import Client, adjust_open_accounts, client_key
from kasuwa.methods.investments.wire import SavingsRecord

CURRENCY = "NGN"
WALLET = chart.wallet(CURRENCY)
WITHHOLDING = chart.tax("withholding", CURRENCY)

PENDING = "pending"
ACTIVE = "active"
MATURED = "matured"
CLOSED = "closed"

# Refusals, in order of precedence.
UNKNOWN_SAVINGS = Refusal(INVALID_REQUEST, "Invalid Savings Reference")
UNKNOWN_PLAN = Refusal(INVALID_REQUEST, "Invalid Thrift Reference")
SAVINGS_CLOSED = Refusal(INVALID_REQUEST, "The savings are closed")
SAVINGS_INSUFFICIENT = Refusal(INSUFFICIENT_FUNDS, "The savings do not cover the amount")
WALLET_INSUFFICIENT = Refusal(INSUFFICIENT_FUNDS, "The wallet does not cover the amount; fund it and try again")


# --- rows -------------------------------------------------------------------------------------------------


class ThriftLinks(msgspec.Struct, frozen=True, omit_defaults=True):
    """What ties savings to thrift plans: the plans that are not over, and the debts in any, oldest first."""

    plans: tuple[str, ...] = ()
    debts: tuple[Debt, ...] = ()


THRIFT_LINKS_DECODER: "msgspec.json.Decoder[ThriftLinks]" = msgspec.json.Decoder(ThriftLinks)
NO_THRIFT_LINKS = "{}"


class Savings(Row):
    table: ClassVar[str] = "savings"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        *("state", "accrued", "accrued_rest", "counted_to", "months", "due_interest", "due_tax", "detail"),
        *("stood", "layers"),
    )

    savings_id: str
    number: int
    client_id: str
    name: str
    rate: str
    frequency: str
    annual: int
    tax_applied: bool
    tax_rate: str
    period: int
    opened_at: datetime
    opened_on: date
    matures_on: date
    state: str
    accrued: int
    accrued_rest: int
    counted_to: date
    months: int
    due_interest: int
    due_tax: int
    detail: str
    # The balance when this row was last written (None in rows of before), and what came in since the last posting.
    stood: int | None = None
    layers: str = "[]"

    @property
    def is_open(self) -> bool:
        return False

    @property
    def terms(self) -> SavingsTerms:
        return SavingsTerms(self.annual, self.tax_rate if self.tax_applied else None, self.opened_on, self.period)

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
    """Counts the interest up to today on the balance that stood until now, and notes what came in or went out when the
    row was last written: that was on the day up to which interest was counted."""
    stood = posted if savings.stood is None else savings.stood
    layers = update_layers(LAYERS_DECODER.decode(savings.layers), stood, posted, savings.counted_to)
    set_accrual(savings, accrue_to(savings.accrual, savings.terms, posted, today))
    savings.layers = msgspec.json.encode(drop_posted_layers(layers, savings.terms, savings.accrual)).decode()
    savings.stood = posted


def set_thrift_links(savings: Savings, thrift_links: ThriftLinks) -> None:
    savings.detail = msgspec.json.encode(thrift_links).decode()


class ThriftMember(Row):
    """A member of a plan; its position is also the cycle whose pot it receives."""

    table: ClassVar[str] = "thrift_member"
    mutable_columns: ClassVar[tuple[str, ...]] = ("contributed", "received", "owed", "paid_on")

    thrift_id: str
    position: int
    savings_id: str
    client_id: str
    contributed: int
    received: int
    owed: int
    paid_on: date | None

    @property
    def is_open(self) -> bool:
        return False


# A posting day asks for the same few thousand keys three times within a batch.
@lru_cache(maxsize=8192)
def savings_key(merchant_id: int, savings_id: str) -> bytes:
    return row_key(merchant_id, "savings", savings_id)


def thrift_member_key(merchant_id: int, thrift_id: str, position: int) -> bytes:
    return row_key(merchant_id, "thrift_member", f"{thrift_id} {position}")


# --- what a rule must see -----------------------------------------------------------------------------------


def need_savings(merchant_id: int, references: Iterable[str], *more: tuple[type[Row], bytes]) -> Needs:
    """Savings with their accounts: as rows, because interest is counted on what an account holds, and by name,
    because money moves on it."""
    found: list[tuple[type[Row], bytes]] = []
    names = []
    for savings_id in references:
        found.append((Savings, savings_key(merchant_id, savings_id)))
        # Whatever was sent may stand here: what cannot name savings names no account either.
        if savings_id.isascii() and savings_id.isalnum():
            names.append(chart.savings(savings_id))
            found.append((Account, account_key(merchant_id, names[-1])))
    return Needs((*found, *more), tuple(names))


def has_unseen_rows(needs: Needs, seen: LoadedRows) -> bool:
    return not all(seen.is_loaded(key) for _, key in needs.rows)


def need_repayments(merchant_id: int, repayments: Iterable[Repayment]) -> Needs:
    """The creditors' savings, and both members whose records change."""
    found: dict[str, None] = {}
    members: dict[tuple[type[Row], bytes], None] = {}
    for repaid in repayments:
        debt = repaid.debt
        found[debt.creditor] = None
        for position in (debt.debtor_position, debt.creditor_position):
            members[(ThriftMember, thrift_member_key(merchant_id, debt.thrift_id, position))] = None
    return need_savings(merchant_id, found, *members)


# --- what a decision changes ----------------------------------------------------------------------------------


class SavingsChanges:
    """The rows that one decision changes, each once, whatever happens to it; and the postings that go with them.
    Opened savings have their interest counted up to today, on the balance they had until now."""

    def __init__(self, context: Context, seen: LoadedRows) -> None:
        self.merchant_id = context.merchant.merchant_id
        self.seen = seen
        self.posts: list[Posting] = []
        self._now = context.now
        self._savings: dict[str, Savings] = {}
        self._members: dict[bytes, ThriftMember] = {}
        self._open_account_changes: Counter[str] = Counter()

    @cached_property
    def today(self) -> date:
        return lagos_day(self._now)

    @property
    def rows(self) -> tuple[Row, ...]:
        return (*self._savings.values(), *self._members.values(), *self._clients())

    def account(self, savings_id: str) -> Account:
        name = chart.savings(savings_id)
        found = self.seen.get(Account, account_key(self.merchant_id, name))
        return chart.open_account(self.merchant_id, name) if found is None else found

    def load_savings(self, savings_id: str) -> Savings:
        opened = self._savings.get(savings_id)
        if opened is None:
            found = self.seen.get(Savings, savings_key(self.merchant_id, savings_id))
            assert found is not None, savings_id
            opened = self._savings[savings_id] = msgspec.structs.replace(found)
            accrue_interest(opened, self.account(savings_id).posted, self.today)
        return opened

    def load_member(self, thrift_id: str, position: int) -> ThriftMember:
        key = thrift_member_key(self.merchant_id, thrift_id, position)
        if key not in self._members:
            found = self.seen.get(ThriftMember, key)
            assert found is not None, (thrift_id, position)
            self._members[key] = msgspec.structs.replace(found)
        return self._members[key]

    def repay_debts(self, savings_id: str, repayments: Iterable[Repayment]) -> None:
        """Debts out of money that has arrived: to each creditor's savings, and in both members' records."""
        for repaid in repayments:
            debt = repaid.debt
            self.activate_savings(debt.creditor)
            self.posts.append(
                Posting(chart.savings(savings_id), chart.savings(debt.creditor), repaid.amount, "thrift debt")
            )
            debtor = self.load_member(debt.thrift_id, debt.debtor_position)
            debtor.owed -= repaid.amount
            debtor.contributed += repaid.amount
            self.load_member(debt.thrift_id, debt.creditor_position).received += repaid.amount

    # --- the end of savings ---------------------------------------------------------------------------------

    def can_close(self, savings_id: str, leaving: int | None = None) -> bool:
        """Whether savings close: emptied by a cash-out, or empty after maturity, with nothing due to them or owed by
        them and no plan under way. Held money is still there; `leaving` is what a cash-out takes, by a posting that is
        not on this sheet: None where there is no cash-out. Contract: investments#savings"""
        is_early = leaving is None and self.today < self.load_savings(savings_id).matures_on
        return not is_early and self.kept_open_by(savings_id, leaving or 0) is None

    def kept_open_by(self, savings_id: str, leaving: int = 0) -> str | None:
        """Why savings cannot be closed when `leaving` is taken out of them, or None."""
        savings = self.load_savings(savings_id)
        reasons = {
            "they are closed": savings.state == CLOSED,
            "interest on them is not posted yet": unpaid(savings.accrual) > 0,
            "they take part in a thrift plan": bool(savings.thrift_links.plans),
            "they owe thrift debts": bool(savings.thrift_links.debts),
            "they hold money": self._remaining_balance(savings_id) != leaving,
        }
        return next((reason for reason, applies in reasons.items() if applies), None)

    def _remaining_balance(self, savings_id: str) -> int:
        name = chart.savings(savings_id)
        moved = sum((post.credit == name) * post.amount - (post.debit == name) * post.amount for post in self.posts)
        return self.account(savings_id).posted + moved

    def close(self, savings_id: str) -> None:
        """Its client has one open account less."""
        savings = self.load_savings(savings_id)
        savings.state = CLOSED
        self._open_account_changes[savings.client_id] -= 1

    def close_emptied(self, references: Iterable[str]) -> None:
        """Close those of some savings that have nothing to wait for."""
        for savings_id in [one for one in references if self.can_close(one)]:
            self.close(savings_id)

    def activate_savings(self, savings_id: str) -> Savings:
        """Savings that money comes into: the first makes them active. Closed ones, whose money was under way when they
        closed, are open again until they are emptied."""
        savings = self.load_savings(savings_id)
        if savings.state == PENDING:
            savings.state = ACTIVE
        if savings.state == CLOSED:
            savings.state = ACTIVE if self.today < savings.matures_on else MATURED
            self._open_account_changes[savings.client_id] += 1
        return savings

    def missing_clients(self) -> NeedsMore | None:
        """The clients whose open accounts this sheet counts, where they are not seen yet: asked for last."""
        needs = Needs(
            tuple((Client, client_key(self.merchant_id, client_id)) for client_id in self._open_account_changes)
        )
        return NeedsMore(needs) if has_unseen_rows(needs, self.seen) else None

    def _clients(self) -> Iterable[Client]:
        for client_id, by in self._open_account_changes.items():
            client = self.seen.get(Client, client_key(self.merchant_id, client_id))
            assert client is not None, client_id
            yield adjust_open_accounts(client, by)


# --- the record -----------------------------------------------------------------------------------------------


def state_on(savings: Savings, today: date) -> str:
    """Savings mature at midnight by themselves, before any job has noted it."""
    if savings.state != CLOSED and today >= savings.matures_on:
        return MATURED
    return savings.state


def record_of(
    savings: Savings, posted: int, held: int, plans: list[str], today: date, plans_total: int = 0
) -> SavingsRecord:
    """`balance` is what can be taken out; interest is shown as it would be posted, before tax. `plans` are the newest
    of `plans_total`."""
    accrual = accrue_to(savings.accrual, savings.terms, posted, today)
    return SavingsRecord(
        savings_id=savings.savings_id,
        client_id=savings.client_id,
        name=savings.name,
        state=state_on(savings, today),  # type: ignore[arg-type]
        balance=format_minor(posted - held),
        accrued_interest=format_minor(unpaid(accrual)),
        interest_settings=InterestReply(savings.rate, savings.frequency),  # type: ignore[arg-type]
        tax_applied=savings.tax_applied,
        tax_rate=savings.tax_rate,
        period=savings.period,
        opened_at=utc_text(savings.opened_at),
        matures_at=utc_text(lagos_moment(savings.matures_on, 0)),
        plans=plans,
        plans_total=plans_total,
    )
