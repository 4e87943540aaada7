"""Checks exported books: beancount reads them without an error, and they add up to the trial balance."""

import csv
import io
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import asyncpg

from kasuwa.accounting import books
from kasuwa.accounting.books import BookScope
from kasuwa.accounting.books_export import WRITERS, export_books
from kasuwa.accounting.tax_report import TAX_NAMES, TaxReport, make_report, parse_month
from kasuwa.core.calendar import add_months
from tests.running import Deployment

BEAN_CHECK = Path(sys.executable).parent / "bean-check"
TRIAL_BALANCE = "select m.mid, a.name, a.posted from account a join merchant m using (merchant_id) where m.current"


def run_bean_check(file: Path) -> str:
    """Returns the errors that bean-check prints."""
    done = subprocess.run([str(BEAN_CHECK), "--no-cache", str(file)], capture_output=True, text=True)
    assert done.returncode in (0, 1), done
    return done.stdout + done.stderr


def to_minor(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    whole, _, cents = text.lstrip("-").partition(".")
    assert len(cents) == 2, text
    return sign * (int(whole) * 100 + int(cents))


def read_sums(text: str) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Returns the sums of openings and postings, and the closing balances, of a ledger-csv export. Credits count."""
    moved: Counter[tuple[str, str]] = Counter()
    closing: Counter[tuple[str, str]] = Counter()
    for row in csv.DictReader(io.StringIO(text)):
        found = closing if row["entry"] == "closing" else moved
        found[row["mid"], row["account"]] -= to_minor(row["amount"])
    return moved, closing


async def read_trial_balance(connection: "asyncpg.Connection[Any]") -> Counter[tuple[str, str]]:
    return Counter({(mid, name): posted for mid, name, posted in await connection.fetch(TRIAL_BALANCE)})


def without_zeros(sums: Counter[tuple[str, str]]) -> dict[tuple[str, str], int]:
    return {account: amount for account, amount in sums.items() if amount}


async def export_all(connection: "asyncpg.Connection[Any]", book_format: str, merchant_id: int | None = None) -> str:
    """Returns an export of all merchants or one, and of all days, as the command writes it."""
    async with books.book_snapshot(connection):
        days = await books.find_days(connection, merchant_id)
        assert days is not None
        texts = export_books(connection, BookScope(merchant_id, *days), WRITERS[book_format]())
        return "".join([text async for text in texts])


def check_exports(deployment: Deployment, directory: Path) -> None:
    """Checks the books of all merchants of a deployment, in both formats."""
    file = directory / "books.beancount"
    file.write_text(deployment.run_on_connection(lambda connection: export_all(connection, "beancount")))
    assert run_bean_check(file) == ""
    balances = deployment.run_on_connection(read_trial_balance)
    moved, closing = read_sums(deployment.run_on_connection(lambda connection: export_all(connection, "ledger-csv")))
    assert without_zeros(moved) == without_zeros(closing) == without_zeros(balances)


async def read_tax_reports(connection: "asyncpg.Connection[Any]") -> list[TaxReport]:
    """Returns the reports of every month from the first posting to the last."""
    days = await books.find_days(connection, None)
    assert days is not None
    reports, first = [], days[0].replace(day=1)
    while first <= days[1]:
        month = f"{first:%Y-%m}"
        found = parse_month(month)
        assert found is not None
        reports.append(make_report(month, await books.list_taxes(connection, *found)))
        first = add_months(first, 1)
    return reports


def check_taxes(deployment: Deployment) -> None:
    """Checks that the tax reports of all months join, and end with the balances of the tax accounts."""
    closing: dict[tuple[str, ...], int] = {}
    for report in deployment.run_on_connection(read_tax_reports):
        for line in (*report.lines, *report.totals):
            key = (line.mid, line.tax, line.currency)
            assert line.opening == closing.get(key, 0), (report.month, line)
            assert line.opening + line.collected - line.reversed - line.paid == line.closing
            closing[key] = line.closing
    expected: Counter[tuple[str, ...]] = Counter()
    for (mid, name), posted in deployment.run_on_connection(read_trial_balance).items():
        kind, tax, currency = name.split(":")
        if kind == "tax":
            expected[mid, TAX_NAMES.get(tax, tax), currency] += posted
            expected["all", TAX_NAMES.get(tax, tax), currency] += posted
    assert closing == expected
