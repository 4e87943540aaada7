"""The figures of dry runs of card actions, each with how it comes about. Nothing here changes any state.

Contract: virtualcard#dry-run
"""

from collections.abc import Iterator

import msgspec
from msgspec import UNSET

from kasuwa.core.decision import Merchant, PostingGroup
from kasuwa.core.money import format_minor
from kasuwa.ledger import chart
from kasuwa.methods.virtualcard.model import ACTIVE, BLOCKED, TERMINATED, Card
from kasuwa.methods.virtualcard.wire import DeciderShown, LimitsShown
from kasuwa.terms.conversion import HOME, ExchangeRate
from kasuwa.terms.tariff import FeeBreakdown, Tariff
from kasuwa.wire.interest_wire import DryRunFigure

MEANINGS = {
    ACTIVE: "the card pays",
    BLOCKED: "purchases are declined until `unblock`",
    TERMINATED: "for good: the card never pays again",
}


def explain_fees(charge: FeeBreakdown, currency: str, merchant: Merchant, what: str) -> tuple[DryRunFigure, ...]:
    """Returns the fee that the wallet pays, and its VAT."""
    percent = merchant.terms(Tariff).vat_percent_on_fees
    return (
        DryRunFigure(what, format_minor(charge.fee), f"{currency}, from the wallet, by the card tariff"),
        DryRunFigure("VAT", format_minor(charge.vat), f"{currency}, {percent}% on the fee, from the wallet"),
    )


def explain_wallet(groups: tuple[PostingGroup, ...], currency: str, rate: ExchangeRate | None) -> DryRunFigure:
    """Returns what all postings take from the wallet or add to it. `rate` is that of a wallet in another currency."""
    name = chart.wallet(currency if rate is None else HOME)
    postings = [posting for group in groups for posting in group.postings]
    added = sum(posting.amount for posting in postings if posting.credit == name)
    taken = sum(posting.amount for posting in postings if posting.debit == name)
    way = "added to" if added > taken else "taken from"
    how = f"{way} the {currency} wallet" if rate is None else f"{way} the {HOME} wallet, {tell_rates(rate, currency)}"
    return DryRunFigure("wallet", format_minor(abs(added - taken)), how)


def tell_rates(rate: ExchangeRate, currency: str) -> str:
    buy, sell = format_minor(rate.buy), format_minor(rate.sell)
    return f"at {sell} {HOME} for each {currency} that it pays and {buy} {HOME} for each that it gets"


def explain_balance(before: int, after: int, currency: str) -> tuple[DryRunFigure, DryRunFigure]:
    return (
        DryRunFigure("balance", format_minor(before), f"{currency}, on the card now, without what shops hold"),
        DryRunFigure("balance after", format_minor(after), f"{currency}, on the card then"),
    )


def explain_state(card: Card, state: str) -> DryRunFigure:
    return DryRunFigure("status after", state, f"{card.state} now; {MEANINGS[state]}")


def explain_changes(
    before: LimitsShown | DeciderShown | None, after: LimitsShown | DeciderShown
) -> Iterator[DryRunFigure]:
    """Yields each field that would be another one, with what it is now."""
    for name in after.__struct_fields__:
        was, now = (None if shown is None else getattr(shown, name) for shown in (before, after))
        if was != now:
            yield DryRunFigure(name, write_value(now), f"{write_value(was)} now")


def write_value(value: object) -> str:
    """Returns a value as it is shown in JSON, or "none"."""
    if value is UNSET or value is None or value == []:
        return "none"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
