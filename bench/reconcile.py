"""Measures reconciliation: a month of one million lines, imported by `kasuwa reconcile import`, in each format.

The books get as many transfers by SQL, three postings each. Of the lines, most carry the reference of a transfer, one
in twenty has none and is matched by amount and day, and one in a thousand is not in the books. The command alone is
measured, with the start of its process.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from bench import postgres, processes
from bench.results import MeasurementFailed, ReconciliationResult
from bench.statements import CSV_MAPPING, WRITERS, PaidLine
from kasuwa.core.references import movement_reference, rail_key, wire_reference
from kasuwa.postgres.embedded import embedded

ACCOUNT = "rail:bank:NGN"
MERCHANTS = 100
FIRST_MERCHANT = 1001
FIRST_DAY = date(2026, 10, 1)
DAYS = 31
# Every so many lines have no reference, or are not in the books.
UNREFERENCED, UNKNOWN = 20, 1000
CHUNK = 50_000
POSTING_COLUMNS = "merchant_id, seq, group_seq, reference, debit, credit, amount, debit_after, credit_after, kind, at"


def measure_reconciliation(
    cluster: embedded.Cluster, directory: Path, lines: int
) -> Iterator[tuple[str, ReconciliationResult]]:
    """Yields the name of each format with its result."""
    filled = postgres.create_database(cluster, "reconcile")
    run_command(settings_for(filled, directory), "migrate")
    fill_books(filled, lines)
    for form, write in WRITERS.items():
        file = directory / f"statement.{form}"
        write(file, list_lines(lines))
        dsn = postgres.copy_database(cluster, "reconcile", f"reconcile {form}")
        mapping = ("--mapping", CSV_MAPPING) if form == "csv" else ()
        yield form, measure_import(settings_for(dsn, directory), dsn, file, lines, mapping)
        file.unlink()


def settings_for(dsn: str, directory: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KASUWA_")}
    return {**kept, "KASUWA_DATABASE_URL": dsn, "KASUWA_DATA": str(directory / "reconcile")}


def measure_import(
    environment: dict[str, str], dsn: str, file: Path, lines: int, mapping: tuple[str, ...]
) -> ReconciliationResult:
    postmaster = postgres.postmaster(dsn)
    before = processes.seconds_used_below(postmaster) + seconds_of_children()
    began = time.monotonic()
    run_command(environment, "reconcile", "import", str(file), "--account", ACCOUNT, *mapping)
    seconds = time.monotonic() - began
    cpu_seconds = processes.seconds_used_below(postmaster) + seconds_of_children() - before
    memory_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    began = time.monotonic()
    run_command(environment, "reconcile", "import", str(file), "--account", ACCOUNT)
    again_seconds = time.monotonic() - began
    [[matched, theirs]] = postgres.query(
        dsn, "select count(match_id), count(*) filter (where match_id is null) from statement_line where difference = 0"
    )
    return ReconciliationResult(
        lines=lines,
        matched=int(matched),
        theirs_only=int(theirs),
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        again_seconds=again_seconds,
        memory_mb=memory_mb,
        is_valid=int(matched) == lines - len(range(0, lines, UNKNOWN)) and int(matched) + int(theirs) == lines,
    )


def seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_command(environment: dict[str, str], *words: str) -> None:
    command = [sys.executable, "-m", "kasuwa", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise MeasurementFailed(f"kasuwa {words[0]} ended with {done.returncode}: {done.stderr.strip()[-400:]}")


def list_transfers(count: int) -> Iterator[tuple[int, int, str, int, date]]:
    """Yields number, merchant, reference, amount and day of each transfer, in the order of time."""
    for number in range(count):
        day = FIRST_DAY + timedelta(days=number * DAYS // count)
        amount = 10_000 + number % UNREFERENCED * 1_000_000 + number // UNREFERENCED % 1_000_000
        yield number, FIRST_MERCHANT + number % MERCHANTS, movement_reference("FD", number, day), amount, day


def fill_books(dsn: str, count: int) -> None:
    """Adds the transfers of MERCHANTS merchants to the books, as the service would have posted them."""
    postgres.query(
        dsn,
        "insert into merchant (merchant_id, mid, name)"
        f" select n, 'GP' || 1000000 + n, 'Bench ' || n"
        f" from generate_series({FIRST_MERCHANT}, {FIRST_MERCHANT + MERCHANTS - 1}) n;",
    )
    rows: list[str] = []
    for number, merchant_id, reference, amount, day in list_transfers(count):
        seq = number // MERCHANTS * 3 + 1
        parts = (
            (ACCOUNT, amount, "transfer"),
            ("income:transfer:NGN", 1000, "transfer fee"),
            ("tax:vat:NGN", 75, "transfer VAT"),
        )
        for place, (credit, moved, kind) in enumerate(parts):
            rows.append(
                f"{merchant_id}\t{seq + place}\t{seq}\t{reference}\twallet:main:NGN\t{credit}\t{moved}\t0\t0\t{kind}\t"
                f"{day} 12:00+01"
            )
        if len(rows) >= CHUNK:
            copy_postings(dsn, rows)
            rows.clear()
    copy_postings(dsn, rows)
    postgres.vacuum_and_checkpoint(dsn)


def copy_postings(dsn: str, rows: list[str]) -> None:
    if not rows:
        return
    postgres.query(dsn, f"copy posting ({POSTING_COLUMNS}) from stdin;\n" + "\n".join(rows) + "\n\\.\n")


def list_lines(count: int) -> Iterator[PaidLine]:
    """Yields the lines of the statement, in the order of the transfers. Half of them are booked a day later."""
    for number, merchant_id, reference, amount, day in list_transfers(count):
        booked_on = day + timedelta(days=number % 2)
        if number % UNKNOWN == 0:
            yield PaidLine(booked_on, "", "SMS alert charge", 400 + number // UNKNOWN % 100)
        elif number % UNREFERENCED == 1:
            yield PaidLine(booked_on, "", "NIP transfer", amount)
        else:
            wire = wire_reference(rail_key(merchant_id, reference))
            yield PaidLine(booked_on, wire, "NIP transfer to Ada Obi", amount)
