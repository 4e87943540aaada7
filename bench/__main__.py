"""`python -m bench`: measures the server against pgbench on the same PostgreSQL, and prints which targets are met."""

import argparse
import sys
from pathlib import Path

from bench import report, wrk
from bench.capacity import capacity, costs_of_kinds
from bench.results import MeasurementFailed
from bench.run import MEASUREMENTS, Plan, measure

SECONDS = 8
QUICK_SECONDS = 3
EARLIER_ROWS = 100_000
EARLIER_ROWS_FULL = 1_000_000
LIST_ROWS = 1_000_000
LIST_ROWS_FULL = 10_000_000


def main(arguments: list[str] | None = None) -> int:
    """Returns 0 if every row is a measurement, whether or not its target is met, and 1 if one is invalid or missing."""
    options = parse(arguments)
    wrk.require_wrk()
    try:
        figures = measure(make_plan(options))
    except MeasurementFailed as fault:
        print(f"nothing could be measured: {fault}", file=sys.stderr)
        return 1
    lines = report.rows(figures)
    print("\n" + report.table(lines))
    print("\n".join(["", *capacity(costs_of_kinds(figures))]))
    report.write_json(options.json, figures, lines)
    return 0 if report.is_complete(lines) else 1


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="of each measurement (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_SECONDS} seconds each: a look, not a figure")
    parser.add_argument(
        "--full", action="store_true", help=f"preload {EARLIER_ROWS_FULL:,} transactions, and list {LIST_ROWS_FULL:,}"
    )
    parser.add_argument("--preload", type=int, metavar="N", help=f"preload N transactions (default {EARLIER_ROWS:,})")
    parser.add_argument(
        "--only", nargs="+", choices=MEASUREMENTS, default=MEASUREMENTS, metavar="NAME", help=", ".join(MEASUREMENTS)
    )
    parser.add_argument("--json", type=Path, default=Path("bench/result.json"), help="default %(default)s")
    return parser.parse_args(arguments)


def make_plan(options: argparse.Namespace) -> Plan:
    rows = options.preload or (EARLIER_ROWS_FULL if options.full else EARLIER_ROWS)
    listed = LIST_ROWS_FULL if options.full else LIST_ROWS
    return Plan(frozenset(options.only), QUICK_SECONDS if options.quick else options.seconds, rows, listed)


if __name__ == "__main__":
    sys.exit(main())
