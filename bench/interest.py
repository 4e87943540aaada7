"""Measures the posting of monthly interest: savings that all have their posting day today, posted by the worker.

Nothing runs between posting days: interest is computed when it is needed (docs/decisions/0014). A daily run posts the
part of the accounts whose day it is. The accounts are inserted by SQL, as a month of openings would have left them.
`kasuwa serve` alone is measured, from the moment the jobs are due until the last one is posted.
"""

import asyncio
import time
from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import asyncpg

from bench import postgres
from bench.merchants import Merchant
from bench.results import InterestRunResult, MeasurementFailed
from kasuwa.core.calendar import add_months, lagos_day
from kasuwa.core.references import account_key, job_key
from kasuwa.ledger import chart
from kasuwa.methods.coded_tables import CODED_TABLES
from kasuwa.methods.investments.accrual import posting_date
from kasuwa.methods.investments.model import interest_batch_key, savings_key
from kasuwa.methods.investments.rules.post_interest import LANES, MAX_SAVINGS_PER_BATCH, POST_INTEREST
from kasuwa.postgres.row_codes import store_codes
from kasuwa.privacy.row_code_moves import read_window
from kasuwa.privacy.vault_keys import open_vault
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import read_settings

# 100,000.00 at 12 % a year, with tax: an interest posting and a tax posting each.
BALANCE = 10_000_000
ANNUAL = 12_000_000
PERIOD = 12

SAVINGS_COLUMNS = (
    "key",
    "merchant_id",
    "savings_id",
    "number",
    "client_id",
    "name",
    "rate",
    "frequency",
    "annual",
    "tax_applied",
    "tax_rate",
    "period",
    "opened_at",
    "opened_on",
    "matures_on",
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
)
JOB_COLUMNS = (
    "key",
    "merchant_id",
    "kind",
    "lane",
    "reference",
    "subject",
    "due",
    "run_at",
    "leased_until",
    "claims",
    "attempt",
    "idempotency_claim",
    "work",
)

POLL_SECONDS = 0.02
TIMEOUT_SECONDS = 120.0


def measure_interest(dsn: str, data: Path, merchant: Merchant, accounts: int) -> InterestRunResult:
    [[text]] = postgres.query(dsn, f"select merchant_id from merchant where mid = '{merchant.mid}' and current")
    merchant_id, opened_on = int(text), open_day(lagos_day(datetime.now(UTC)))
    references = [f"SV{number:022d}" for number in range(accounts)]
    insert_accounts(dsn, merchant_id, references, opened_on)
    asyncio.run(code_rows(dsn, data, merchant_id))
    postgres.query(dsn, "vacuum analyze savings, account, interest_batch, scheduled_job")
    postgres.vacuum_and_checkpoint(dsn)
    due = f"merchant_id = {merchant_id} and kind = '{POST_INTEREST}'"
    began = time.monotonic()
    postgres.query(dsn, f"update scheduled_job set run_at = now() where {due}")
    while postgres.query(dsn, f"select 1 from scheduled_job where {due} and run_at <= now() limit 1"):
        if time.monotonic() - began > TIMEOUT_SECONDS:
            raise MeasurementFailed(
                f"the interest of {accounts:,} accounts was not posted within {TIMEOUT_SECONDS:.0f} s"
            )
        time.sleep(POLL_SECONDS)
    seconds = time.monotonic() - began
    [[posted]] = postgres.query(
        dsn, f"select count(*) from posting where merchant_id = {merchant_id} and kind = 'interest'"
    )
    return InterestRunResult(accounts=accounts, postings=int(posted), seconds=seconds)


def open_day(today: date) -> date:
    """Returns an opening day whose first posting day is today or was just before."""
    day = add_months(today, -1)
    return day if posting_date(day, 1) <= today else day.replace(day=day.day - 1)


def insert_accounts(dsn: str, merchant_id: int, references: list[str], opened_on: date) -> None:
    matures = add_months(opened_on, PERIOD)
    fixed = ("12", "annualized", ANNUAL, "t", "10", PERIOD, f"{opened_on} 09:00+01", opened_on, matures)
    counted = ("active", 0, 0, opened_on, 0, 0, 0, "{}", BALANCE, "[]", 0, 0)
    copy(
        dsn,
        "savings",
        SAVINGS_COLUMNS,
        (
            (hexed(savings_key(merchant_id, one)), merchant_id, one, 10**6 + n, "CLbench", "Bench", *fixed, *counted)
            for n, one in enumerate(references)
        ),
    )
    names = [chart.savings(one) for one in references]
    copy(
        dsn,
        "account",
        ("key", "merchant_id", "name", "currency", "posted", "held", "floor"),
        ((hexed(account_key(merchant_id, name)), merchant_id, name, "NGN", BALANCE, 0, 0) for name in names),
    )
    starts = range(0, len(references), MAX_SAVINGS_PER_BATCH)
    sheets = list(enumerate(references[start : start + MAX_SAVINGS_PER_BATCH] for start in starts))
    keys = [interest_batch_key(merchant_id, opened_on, sheet) for sheet, _ in sheets]
    copy(
        dsn,
        "interest_batch",
        ("key", "merchant_id", "opened_on", "sheet", "opened", "members"),
        (
            (hexed(keys[sheet]), merchant_id, opened_on, sheet, len(references), ",".join(members))
            for sheet, members in sheets
        ),
    )
    work = (None, 0, 0, None, "{}")
    due = f"{posting_date(opened_on, 1)} 00:00+01"
    copy(
        dsn,
        "scheduled_job",
        JOB_COLUMNS,
        (
            (hexed(job_key(key)), merchant_id, POST_INTEREST, LANES[n % 2], "bench", hexed(key), due, "infinity", *work)
            for n, key in enumerate(keys)
        ),
    )


async def code_rows(dsn: str, data: Path, merchant_id: int) -> None:
    """Gives the rows of a merchant their codes, without which the service does not use them."""
    connection = await asyncpg.connect(dsn)
    try:
        vault = await open_vault(connection, load_secret_key(read_settings({}, data=data)))
        for table in (table for table in CODED_TABLES if table.is_of_merchant):
            rows, position = await read_window(connection, table, [], [merchant_id])
            while rows:
                await store_codes(connection, vault, table, [row for row in rows if row.code is None])
                if not position:
                    break
                rows, position = await read_window(connection, table, position, [merchant_id])
    finally:
        await connection.close()


def hexed(key: bytes) -> str:
    return f"\\x{key.hex()}"


def copy(dsn: str, table: str, columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    """Inserts rows with COPY in its text format. Columns that are not named get their defaults."""
    lines = ("\t".join("\\N" if v is None else str(v).replace("\\", "\\\\") for v in row) for row in rows)
    postgres.query(dsn, f"copy {table} ({', '.join(columns)}) from stdin;\n" + "\n".join(lines) + "\n\\.\n")
