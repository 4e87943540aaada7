"""The monthly report of taxes: VAT, stamp duty and withholding tax of each merchant, and in all.

Every tax account of the books has a line, so that the report adds up to them: opening balance, collected, less
reversed, less paid over, is the closing balance.
"""

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import date, timedelta

import msgspec

from kasuwa.accounting.books import TaxRow
from kasuwa.core.calendar import add_months
from kasuwa.core.money import format_minor
from kasuwa.wire.spreadsheet_cells import guard_cell

TAX_NAMES = {"vat": "VAT", "stamp_duty": "stamp duty", "withholding": "withholding tax"}
MONTH = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])", re.ASCII)
ALL = "all"
COLUMNS = ("month", "mid", "merchant", "tax", "currency", "opening", "collected", "reversed", "paid_over", "closing")


class TaxLine(msgspec.Struct, frozen=True, kw_only=True):
    """One tax of a merchant, or of all, in one currency. Amounts are in minor units."""

    mid: str
    merchant_name: str
    tax: str
    currency: str
    collected: int
    reversed: int  # given back with a fee that was
    paid: int  # paid over to the tax office
    closing: int  # still owed to it at the end of the month

    @property
    def opening(self) -> int:
        return self.closing - self.collected + self.reversed + self.paid


class TaxReport(msgspec.Struct, frozen=True):
    """The taxes of a month."""

    month: str
    lines: tuple[TaxLine, ...]
    totals: tuple[TaxLine, ...]


def parse_month(text: str) -> tuple[date, date] | None:
    """Returns the first and the last day of a month such as 2026-01, or None."""
    match = MONTH.fullmatch(text)
    if match is None or match[1] in ("0000", "9999"):
        return None
    first = date(int(match[1]), int(match[2]), 1)
    return first, add_months(first, 1) - timedelta(days=1)


def make_report(month: str, rows: Iterable[TaxRow]) -> TaxReport:
    """Makes the report of the tax accounts of all merchants."""
    lines = tuple(make_line(row) for row in rows)
    sums: defaultdict[tuple[str, str], list[TaxLine]] = defaultdict(list)
    for line in lines:
        sums[line.tax, line.currency].append(line)
    totals = tuple(
        TaxLine(
            mid=ALL,
            merchant_name="",
            tax=tax,
            currency=currency,
            collected=sum(line.collected for line in lines),
            reversed=sum(line.reversed for line in lines),
            paid=sum(line.paid for line in lines),
            closing=sum(line.closing for line in lines),
        )
        for (tax, currency), lines in sorted(sums.items())
    )
    return TaxReport(month, lines, totals)


def make_line(row: TaxRow) -> TaxLine:
    _, tax, currency = row.account.split(":")
    return TaxLine(
        mid=row.mid,
        merchant_name=row.merchant_name,
        tax=TAX_NAMES.get(tax, tax),
        currency=currency,
        collected=row.collected,
        reversed=row.reversed,
        paid=row.paid,
        closing=row.closing,
    )


def format_cells(month: str, line: TaxLine) -> tuple[str, ...]:
    amounts = (line.opening, line.collected, line.reversed, line.paid, line.closing)
    return (month, line.mid, line.merchant_name, line.tax, line.currency, *map(format_minor, amounts))


def format_csv(report: TaxReport) -> str:
    """Formats the report as CSV: the lines of the merchants, then those of all. No cell is read as a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for line in (*report.lines, *report.totals):
        writer.writerow(map(guard_cell, format_cells(report.month, line)))
    return out.getvalue()


def format_json(report: TaxReport) -> str:
    """Formats the report as JSON. Amounts are strings in major units."""
    document = {
        "month": report.month,
        "merchants": [dict(zip(COLUMNS[1:], format_cells("", line)[1:], strict=True)) for line in report.lines],
        "totals": [dict(zip(COLUMNS[3:], format_cells("", line)[3:], strict=True)) for line in report.totals],
    }
    return msgspec.json.format(msgspec.json.encode(document)).decode()
