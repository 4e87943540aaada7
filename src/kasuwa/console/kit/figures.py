"""Figures of the overview and of the operator's home: sums of daily totals, as pages show them. Pure functions."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date

import msgspec

from kasuwa.methods.cashcode.model import EXPIRED as CASHCODE_EXPIRED
from kasuwa.methods.cashcode.rules.finish import MESSAGES as CASHCODE_MESSAGES
from kasuwa.methods.disburse.rules.approve import EXPIRED_MESSAGE as TRANSFER_EXPIRED
from kasuwa.projections.daily_totals import EXPIRED_CODE, DailyTotal
from kasuwa.terms.conversion import HOME
from kasuwa.transactions.transactions import SUCCESSFUL

# Where the money of each kind of transaction goes. The other kinds move it between the merchant's own accounts.
MONEY_IN = frozenset({"payment", "card_refund"})
MONEY_OUT = frozenset({"transfer", "bill", "cashcode", "card_purchase"})
REFUNDED = frozenset({"refund"})
PAYMENT = "payment"
# No money moves by these: what they hold is taken by a transaction of its own.
UNCOUNTED = frozenset({"card_authorization"})

EXPIRED_REASONS = frozenset({CASHCODE_MESSAGES[CASHCODE_EXPIRED], TRANSFER_EXPIRED})
OTHER_REASONS = "Other reasons"
NO_REASON = "No reason given"


def is_expired(total: DailyTotal) -> bool:
    """Returns whether transactions failed because nobody acted in time."""
    return total.code == EXPIRED_CODE or total.reason in EXPIRED_REASONS


def classify_flow(kind: str) -> str:
    """Returns "in", "out" or "refunded", or "internal" for movements between the merchant's own accounts."""
    if kind in MONEY_IN:
        return "in"
    return "out" if kind in MONEY_OUT else "refunded" if kind in REFUNDED else "internal"


class Flow(msgspec.Struct):
    """Successful transactions of one direction."""

    count: int = 0
    amount: int = 0  # in minor units

    def add(self, total: DailyTotal) -> None:
        self.count += total.count
        self.amount += total.amount


class CurrencyFigures(msgspec.Struct):
    """The figures of one currency in a period. Counts are of transactions."""

    currency: str
    flows: dict[str, Flow] = msgspec.field(
        default_factory=lambda: {name: Flow() for name in ("in", "out", "refunded", "internal")}
    )
    successful: int = 0
    failed: int = 0  # without those that expired
    expired: int = 0
    open: int = 0
    payments_successful: int = 0
    payments_ended: int = 0  # also those that failed or expired

    @property
    def total(self) -> int:
        return self.successful + self.failed + self.expired + self.open

    @property
    def success_rate(self) -> str:
        """Returns the percentage of final payments that succeeded. Those that expired count; open ones do not. Money
        out is not part of it: whether a payer pays and whether a bank accepts a transfer have nothing in common."""
        return percentage(self.payments_successful, self.payments_ended)


def percentage(part: int, whole: int) -> str:
    """Returns a share with one decimal, rounded half up."""
    if not whole:
        return "–"
    tenths = (part * 2000 + whole) // (whole * 2)
    return f"{tenths // 10}.{tenths % 10} %"


def sum_by_currency(totals: Iterable[DailyTotal], open_totals: Iterable[DailyTotal] = ()) -> dict[str, CurrencyFigures]:
    """Returns the figures of each currency, the main one first: the home currency if it is used, else by number."""
    by_currency: dict[str, CurrencyFigures] = {}
    for total in totals:
        figures = by_currency.setdefault(total.currency, CurrencyFigures(total.currency))
        if total.kind in UNCOUNTED:
            continue
        if total.kind == PAYMENT:
            figures.payments_ended += total.count
            figures.payments_successful += total.count if total.status == SUCCESSFUL else 0
        if total.status == SUCCESSFUL:
            figures.flows[classify_flow(total.kind)].add(total)
            figures.successful += total.count
        elif is_expired(total):
            figures.expired += total.count
        else:
            figures.failed += total.count
    for total in open_totals:
        by_currency.setdefault(total.currency, CurrencyFigures(total.currency)).open += total.count
    order = sorted(
        by_currency.values(), key=lambda figures: (figures.currency != HOME, -figures.total, figures.currency)
    )
    return {figures.currency: figures for figures in order}


class Change(msgspec.Struct, frozen=True):
    """A figure and that of the period before."""

    before: int
    now: int

    @property
    def text(self) -> str:
        if self.before == self.now:
            return "the same as"
        if not self.before:
            return "none in"
        percent = abs(self.now - self.before) * 100 / self.before
        amount = f"{percent:,.0f} %" if percent >= 1 else "less than 1 %"
        return f"{amount} {'more' if self.now > self.before else 'less'} than"

    @property
    def direction(self) -> str:
        return "same" if self.before == self.now else "up" if self.now > self.before else "down"


class FailureReason(msgspec.Struct, frozen=True):
    """A reason of failed transactions. `share` is its percentage of all that failed."""

    text: str
    count: int
    share: str
    is_expired: bool


# Codes of the networks of banks and cards, which mean the same at every rail. Further codes are a rail's own.
NETWORK_CODE = re.compile(r"[0-9A-Z]{2}", re.ASCII)


def group_reason(total: DailyTotal) -> tuple[str, bool]:
    """Returns what failures have in common that count as one reason: their code, else their words."""
    words = (total.reason or NO_REASON).casefold()
    return total.code if NETWORK_CODE.fullmatch(total.code) else words, is_expired(total)


def rank_reasons(totals: Iterable[DailyTotal], limit: int) -> list[FailureReason]:
    """Returns the most frequent reasons of failed transactions, the rest under one name at the end.

    Reasons with one code are one, under the words that are most frequent: rails word it differently."""
    counts: Counter[tuple[str, bool]] = Counter()
    texts: defaultdict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    for total in totals:
        if total.status != SUCCESSFUL:
            group = group_reason(total)
            counts[group] += total.count
            texts[group][total.reason or NO_REASON] += total.count
    failed = counts.total()
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    reasons = [
        FailureReason(choose_words(texts[group]), count, percentage(count, failed), group[1])
        for group, count in ranked[:limit]
    ]
    rest = sum(count for _, count in ranked[limit:])
    return [*reasons, FailureReason(OTHER_REASONS, rest, percentage(rest, failed), False)] if rest else reasons


def choose_words(texts: Counter[str]) -> str:
    """Returns the most frequent of several texts, of equally frequent ones the first by letter."""
    return min(texts, key=lambda text: (-texts[text], text))


class DayFigures(msgspec.Struct):
    """The values of a bar of a chart: those of the transactions created from `day` on, until the next bar."""

    day: date
    successful: int = 0
    failed: int = 0
    expired: int = 0
    open: int = 0
    amount_in: int = 0
    amount_out: int = 0
    amount_refunded: int = 0


def group_by_bar(
    starts: list[date], currency: str, totals: Iterable[DailyTotal], open_totals: Iterable[DailyTotal]
) -> list[DayFigures]:
    """Returns one entry for each bar, also without transactions. Amounts are those of `currency`, counts of all."""
    bars = [DayFigures(day) for day in starts]
    step = (starts[1] - starts[0]).days if len(starts) > 1 else 1
    for total in totals:
        bar = bars[(total.day - starts[0]).days // step]
        if total.kind in UNCOUNTED:
            continue
        if total.status != SUCCESSFUL:
            name = "expired" if is_expired(total) else "failed"
            setattr(bar, name, getattr(bar, name) + total.count)
            continue
        bar.successful += total.count
        flow = classify_flow(total.kind)
        if total.currency == currency and flow != "internal":
            setattr(bar, f"amount_{flow}", getattr(bar, f"amount_{flow}") + total.amount)
    for total in open_totals:
        bars[(total.day - starts[0]).days // step].open += total.count
    return bars
