"""Checks exported books: beancount reads them without an error, and they add up to the trial balance."""

import csv
import io
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import asyncpg

from kasuwa.accounting.tax_report import TAX_NAMES
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


def check_exports(deployment: Deployment, directory: Path) -> None:
    """Checks the books of all merchants of a deployment, in both formats."""
    file = directory / "books.beancount"
    deployment.run_command("export", "books", "--output", str(file))
    assert run_bean_check(file) == ""
    balances = deployment.run_on_connection(read_trial_balance)
    moved, closing = read_sums(deployment.run_command("export", "books", "--format", "ledger-csv"))
    assert without_zeros(moved) == without_zeros(closing) == without_zeros(balances)


def check_taxes(deployment: Deployment) -> None:
    """Checks that the tax reports of all months join, and end with the balances of the tax accounts."""
    months = deployment.fetch(
        "select distinct to_char(at at time zone 'Africa/Lagos', 'YYYY-MM') as month from posting order by month"
    )
    taxes = {f"tax:{name}": title for name, title in TAX_NAMES.items()}
    closing: dict[tuple[str, ...], int] = {}
    for (month,) in months:
        rows = list(csv.DictReader(io.StringIO(deployment.run_command("report", "tax", "--month", month))))
        for row in rows:
            key = (row["mid"], row["tax"], row["currency"])
            amounts = [to_minor(row[name]) for name in ("opening", "collected", "reversed", "paid_over", "closing")]
            assert amounts[0] + amounts[1] - amounts[2] - amounts[3] == amounts[4], row
            assert amounts[0] == closing.get(key, 0), row
            closing[key] = amounts[4]
    balances = deployment.run_on_connection(read_trial_balance)
    expected: Counter[tuple[str, ...]] = Counter()
    for (mid, name), posted in balances.items():
        kind, _, currency = name.rpartition(":")
        if name.startswith("tax:"):
            expected[mid, taxes.get(kind, kind[4:]), currency] += posted
            expected["all", taxes.get(kind, kind[4:]), currency] += posted
    assert {key: amount for key, amount in closing.items() if amount} == {k: v for k, v in expected.items() if v}
