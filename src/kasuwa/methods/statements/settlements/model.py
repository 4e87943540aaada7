"""Settlements, made of the postings of a day. They are read from the journal: nothing is written when money comes in.

Every posting on a wallet that collections cause belongs to one line:

    gross      rail → wallet of a payment; of a later settlement, what its payers were charged
    fee, vat   wallet → income:collection, and the VAT on it
    split      wallet → beneficiary
    refunds    wallet → rail of a refund
    disputes   wallet → rail, income and tax of a dispute, and what is lent and paid back for it
    reserve    wallet → reserve, and back

A settlement of a later day (T+n) is one posting, settling → wallet: its batch knows its lines.
"""

from datetime import date

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import FieldError, Refusal, refuse_fields

LINES = ("gross", "fee", "vat", "split", "refunds", "disputes", "reserve")
PAID_OUT = "paid_out"

MAX_DAYS = 92
DEFAULT_DAYS = 30
# Postings of a merchant that one reply sums: half a second.
MAX_POSTINGS_SUMMED = 1_000_000

UNKNOWN_SETTLEMENT = Refusal(INVALID_REQUEST, "Invalid Settlement Reference")
TOO_MANY_POSTINGS = refuse_fields(FieldError("from", "more than a million postings: ask for fewer days"))
BACKWARDS = refuse_fields(FieldError("to", f"not before from, and at most {MAX_DAYS} days after it"))


class LineTotal(msgspec.Struct):
    """Sum and number of the postings of a line, in minor units."""

    amount: int = 0
    count: int = 0


class DaySettlement(msgspec.Struct):
    """The settlement of a day and currency."""

    day: date
    currency: str
    lines: dict[str, LineTotal]

    def add(self, line: str, amount: int, count: int = 0) -> None:
        total = self.lines.setdefault(line, LineTotal())
        total.amount += amount
        total.count += count

    def amount(self, line: str) -> int:
        return self.lines[line].amount if line in self.lines else 0

    @property
    def net(self) -> int:
        return sum(self.amount(line) for line in LINES)
