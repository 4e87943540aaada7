"""Settlements, made of the postings of a day. Nothing is written when money comes in.

ledger/settlement_lines.py has the line of each posting. A settlement of a later day (T+n) is shown by the lines of its
batch: `gross` is what its payers were charged.
"""

from datetime import date

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import FieldError, Refusal, refuse_fields

LINES = ("gross", "fee", "vat", "split", "refunds", "disputes", "reserve")
PAID_OUT = "paid_out"
# Beginning of the reference of a merchant's settlement batch, before day and currency (payment/settlement_model.py).
SETTLEMENT_OF_MERCHANT = "settlement merchant"
# Currencies that payments settle in.
SETTLED_CURRENCIES = ("NGN", "USD", "GHS", "KES")

MAX_DAYS = 92
DEFAULT_DAYS = 30
# Postings of a merchant that one reply sums: half a second. Others are summed already (projections/settlement_sums.py).
MAX_POSTINGS_SUMMED = 1_000_000

UNKNOWN_SETTLEMENT = Refusal(INVALID_REQUEST, "Invalid Settlement Reference", error_code="settlement_not_found")
TOO_MANY_POSTINGS = refuse_fields(
    FieldError(
        "from",
        "more than a million postings are not summed yet: ask for fewer days, or ask again later",
        "too_many_postings",
    )
)
BACKWARDS = refuse_fields(
    FieldError("to", f"not before from, and at most {MAX_DAYS} days after it", "period_out_of_range")
)


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
