"""Payments of a record as its page shows them: newest first, and their sums."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kasuwa.console.histories.store import HistoryLine, RecordSum
from kasuwa.console.kit.values import format_minor_units
from kasuwa.core.calendar import utc_text
from kasuwa.core.money import format_minor
from kasuwa.terms.conversion import HOME
from kasuwa.transactions.transactions import SUCCESSFUL

# Records of a list, as the API shows them.
Rows = Sequence[Mapping[str, Any]]


def make_lines(payments: Iterable[HistoryLine]) -> list[dict[str, Any]]:
    """Returns payments with the names of the API's fields, for the tables of pages."""
    return [
        {
            "txnRef": one.txn_ref,
            "amount": format_minor(one.amount),
            "currency": one.currency,
            "txnStatus": one.status,
            "message": one.message,
            "dateCreated": utc_text(one.created_at),
        }
        for one in payments
    ]


def sum_successful(payments: Iterable[HistoryLine]) -> dict[str, int]:
    """Returns the sum of successful payments by currency."""
    sums: Counter[str] = Counter()
    for one in payments:
        if one.status == SUCCESSFUL:
            sums[one.currency] += one.amount
    return dict(sums)


def sums_text(sums: Iterable[RecordSum]) -> str:
    """Returns sums in words, the home currency first: "NGN 12,000.00, USD 5.00". Empty if there are none."""
    return balances_text((one.currency, one.amount) for one in sums)


def balances_text(balances: Iterable[tuple[str, int]]) -> str:
    """Returns amounts that are not zero with their currencies in words, like `sums_text`."""
    order = sorted((currency != HOME, currency, amount) for currency, amount in balances if amount)
    return ", ".join(f"{currency} {format_minor_units(amount)}" for _, currency, amount in order)
