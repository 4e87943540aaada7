"""The table of targets, made from the figures of a run, and the file that stores the figures."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median

from bench.lists import ratio_to_verify
from bench.results import ComparedLoad, LoadResult, Results

SCALE_20 = 20
SCALE_1 = 1

# Name of the load, its description, the TPC-B scale that it is compared with, and the target ratio.
TPCB_TARGETS = (
    ("hot64", "transfers, one hot wallet, 64 connections", SCALE_20, 0.8),
    ("hot64", "transfers, one hot wallet, 64 connections", SCALE_1, 1.6),
    ("hot256", "transfers, one hot wallet, 256 connections", SCALE_20, 1.0),
    ("spread64", "transfers, 100 merchants, 64 connections", SCALE_20, 0.7),
    ("token", "card charges with a token, 64 connections", SCALE_20, 0.7),
)
VERIFY_TARGET_RATIO = 3.0
PULL_TARGET_RATIO = 5.0
INTEREST_TARGET_RATIO = 5.0
DELIVERY_TARGET_RATIO = 1.0
PRELOADED_TARGET_RATIO = 0.9
LOANS_MAX_RATIO = 1.2
PAGE_MAX_RATIO = 3.0
CONSOLE_PAGE_MS = 100.0
CONSOLE_PAGE_BYTES = 100_000
SLOWEST_PAGES = 5
RECONCILE_SECONDS = 120.0
HALF_LOAD_MAX_RATIO = 10.0
FIRST_START_SECONDS = 3.0
LATER_START_SECONDS = 1.5
SMALL_COMMAND_SECONDS = 0.25  # a list of commands, or a question to a server
MEMORY_MB = 150.0
NEIGHBOR_OF_BULKS_RATIO = 3.0
NEIGHBOR_OF_STATEMENTS_RATIO = 2.0
RECOVERY_SECONDS = 15.0
KIT_MERCHANT_MS = 10.0
# Of worlds of at most so many rows, and of larger ones.
SMALL_WORLD_ROWS, SMALL_WORLD_SECONDS, LARGE_WORLD_SECONDS = 2_000, 0.05, 60.0
KIT_SUITE_SECONDS = 12.0

# "Flat": by how much the process may grow after the first load.
MEMORY_GROWTH = 1.2


@dataclass(frozen=True)
class Row:
    """One line of the table: text, except for the ratio."""

    what: str
    figure: str
    ratio: float | None
    bound: str
    reached: str
    note: str = ""


def rows(figures: Results) -> list[Row]:
    """Returns the rows in the order of the table."""
    return [
        *tpcb_rows(figures),
        *load_rows(figures),
        *read_rows(figures),
        *cpu_rows(figures),
        *delivery_rows(figures),
        *preloaded_load_rows(figures),
        *list_page_rows(figures),
        *console_rows(figures),
        *neighbor_rows(figures),
        *recovery_rows(figures),
        *world_rows(figures),
        *loan_rows(figures),
        *interest_rows(figures),
        *reconciliation_rows(figures),
        *latency_rows(figures),
        *start_rows(figures),
        *kit_rows(figures),
        *batched_sql_rows(figures),
        *process_rows(figures),
        *memory_rows(figures),
        *(Row(name, "-", None, "-", "not measured", why) for name, why in figures.failures.items()),
    ]


def tpcb_rows(figures: Results) -> Iterator[Row]:
    for scale, runs in figures.tpcb.items():
        spread = " and ".join(f"{rate:,.0f}" for rate in runs)
        note = f"before and after: {spread}"
        yield Row(f"pgbench TPC-B, scale {scale}", per_second(mean(runs)), None, "-", "-", note)


def load_rows(figures: Results) -> Iterator[Row]:
    for name, what, scale, times in TPCB_TARGETS:
        load, tpcb = figures.loads.get(name), figures.tpcb_rate(scale)
        if load is None:
            continue
        ratio = load.rate / tpcb if tpcb else None
        bound = f"{times} x TPC-B scale {scale}"
        reached = at_least(ratio, times, load.is_valid)
        yield Row(what, per_second(load.rate), ratio, bound, reached, load_note(load))


# Name of the load, its description, and the target ratio to the transfers of the same run.
TRANSFER_TARGETS = (
    ("verify", "payment verify, 64 connections", VERIFY_TARGET_RATIO),
    ("pull", "bills pull, the whole catalogue as gzip, 64 connections", PULL_TARGET_RATIO),
    ("pull_plain", "the same, not packed", PULL_TARGET_RATIO),
)


def read_rows(figures: Results) -> Iterator[Row]:
    transfers = figures.loads.get("hot64")
    for name, what, times in TRANSFER_TARGETS:
        load = figures.loads.get(name)
        if load and transfers and transfers.rate:
            ratio = load.rate / transfers.rate
            reached = at_least(ratio, times, load.is_valid)
            yield Row(what, per_second(load.rate), ratio, f"{times} x the transfers", reached, load_note(load))


# Name of the load, and its unit.
CPU_OF = (
    ("hot64", "a transfer, one hot wallet"),
    ("spread64", "a transfer, 100 merchants"),
    ("token", "a card charge with a token"),
    ("verify", "a payment verify"),
)
TOKEN_CPU_MAX_RATIO = 1.2


def cpu_rows(figures: Results) -> Iterator[Row]:
    """Returns the CPU time per request, compared with that of one pgbench transaction in PostgreSQL."""
    runs = figures.tpcb_cpu_us.get(SCALE_20)
    tpcb_us = mean(runs) if runs else None
    for name, what in CPU_OF:
        cost = figures.cpu.get(name)
        if cost is None:
            continue
        note = f"API {cost.api_us:,.0f}, PostgreSQL {cost.postgres_us:,.0f}, other processes {cost.other_us:,.0f} us"
        if tpcb_us:
            note += f"; a transaction of TPC-B takes PostgreSQL {tpcb_us:,.0f} us"
        ratio = cost.total_us / tpcb_us if tpcb_us else None
        yield Row(f"processor time of {what}", f"{cost.total_us:,.0f} us", ratio, "-", "-", note)
    charge, transfer = figures.cpu.get("token"), figures.cpu.get("hot64")
    if charge and transfer and transfer.total_us:
        ratio = charge.total_us / transfer.total_us
        bound = f"at most {TOKEN_CPU_MAX_RATIO} x a transfer"
        figure = f"{charge.total_us:,.0f} us"
        yield Row("the card charge, to the transfer", figure, ratio, bound, at_most(ratio, TOKEN_CPU_MAX_RATIO))
    for step, cost in figures.card_payments.items():
        note = f"API {cost.api_us:,.0f}, PostgreSQL {cost.postgres_us:,.0f}, other processes {cost.other_us:,.0f} us"
        what = f"processor time of a card payment with OTP, {step}"
        yield Row(what, f"{cost.total_us:,.0f} us", None, "-", "-", note)


def delivery_rows(figures: Results) -> Iterator[Row]:
    """Returns the delivery rate, compared with the rate of the transfers that made the events."""
    for name, load, whose in (("one", "hot64", "one merchant"), ("many", "spread64", "100 merchants")):
        found, transfers = figures.deliveries.get(name), figures.loads.get(load)
        if found and transfers and transfers.rate:
            ratio = found.rate / transfers.rate
            note = f"delivered {found.delivered:,}, failed {found.failed}"
            reached = at_least(ratio, DELIVERY_TARGET_RATIO, found.is_valid)
            what = f"events delivered by one worker, of {whose}"
            yield Row(what, per_second(found.rate), ratio, f"{DELIVERY_TARGET_RATIO} x their transfers", reached, note)


def preloaded_load_rows(figures: Results) -> Iterator[Row]:
    """Returns loads on full tables, compared with empty ones: the mean of the first measurement and of one on a new
    database right after the full one."""
    full = figures.loads.get("full64")
    fresh = [figures.loads[name] for name in ("hot64", "fresh64") if name in figures.loads]
    if full and fresh:
        without = mean(load.rate for load in fresh)
        ratio = full.rate / without if without else None
        valid = all(load.is_valid for load in (full, *fresh))
        note = f"without: {without:,.0f}/s; {load_note(full)}"
        what = f"transfers with {figures.preloaded_rows:,} earlier ones"
        reached = at_least(ratio, PRELOADED_TARGET_RATIO, valid)
        yield Row(what, per_second(full.rate), ratio, f"{PRELOADED_TARGET_RATIO} x without", reached, note)


def list_page_rows(figures: Results) -> Iterator[Row]:
    """Returns the CPU time of a page of 50 over many rows, compared with that of a verification."""
    for name, (load, cost) in figures.pages.items():
        ratio = ratio_to_verify(figures, cost)
        note = f"API {cost.api_us:,.0f}, PostgreSQL {cost.postgres_us:,.0f} us; {load_note(load)}"
        what = f"a page of {figures.list_rows:,} transactions: {name}"
        reached = at_most(ratio, PAGE_MAX_RATIO, load.is_valid)
        yield Row(what, f"{cost.total_us:,.0f} us", ratio, f"at most {PAGE_MAX_RATIO:.0f} x a verify", reached, note)


def console_rows(figures: Results) -> Iterator[Row]:
    """Returns the slowest and the largest page of the console."""
    pages = figures.console
    if not pages:
        return
    rows = f"with {figures.list_rows:,} transactions"
    slowest = sorted(pages, key=lambda path: pages[path].median_ms, reverse=True)[:SLOWEST_PAGES]
    ms = pages[slowest[0]].median_ms
    note = ", ".join(f"{path} {pages[path].median_ms:.0f} ms" for path in slowest)
    reached = at_most(ms, CONSOLE_PAGE_MS, True)
    what = f"the slowest of {len(pages)} pages of the console {rows}"
    yield Row(what, f"{ms:.0f} ms", None, f"at most {CONSOLE_PAGE_MS:.0f} ms", reached, note)
    largest = sorted(pages, key=lambda path: pages[path].size, reverse=True)[:SLOWEST_PAGES]
    size = pages[largest[0]].size
    note = ", ".join(f"{path} {pages[path].size / 1000:.0f} kB" for path in largest)
    reached = at_most(size, CONSOLE_PAGE_BYTES, True)
    bound = f"at most {CONSOLE_PAGE_BYTES / 1000:.0f} kB"
    yield Row(f"the largest of them {rows}", f"{size / 1000:.0f} kB", None, bound, reached, note)


def neighbor_rows(figures: Results) -> Iterator[Row]:
    """Returns the median of one merchant's single transfers beside another's bulks and statements."""
    found = figures.neighbor
    if found is None:
        return
    medians = ", ".join(f"{load} {ms:.1f} ms of {found.transfers[load]}" for load, ms in found.median_ms.items())
    rows = (
        ("bulks", found.bulk_ratio, NEIGHBOR_OF_BULKS_RATIO, "beside 64 single transfers"),
        ("statements", found.statement_ratio, NEIGHBOR_OF_STATEMENTS_RATIO, "alone"),
    )
    for load, ratio, most, compared in rows:
        what = f"neighbor: a transfer beside another merchant's {load}"
        bound = f"at most {most:.0f} x {compared}"
        note = f"medians: {medians}; {found.bulk_orders:,.0f} orders/s in bulks"
        yield Row(what, f"{found.median_ms[load]:.1f} ms", ratio, bound, at_most(ratio, most, found.refused == 0), note)


def recovery_rows(figures: Results) -> Iterator[Row]:
    """Returns how long writes stop after one answer of the database is lost."""
    found = figures.recovery_seconds
    if not found:
        return
    kind = max(found, key=lambda name: found[name])
    note = f"{kind}; median {median(found.values()):.1f} s of {len(found)} kinds of messages"
    what = "writes after a lost answer of the database, longest stop"
    bound = f"at most {RECOVERY_SECONDS:.0f} s"
    yield Row(what, f"{found[kind]:.1f} s", None, bound, at_most(found[kind], RECOVERY_SECONDS), note)


def world_rows(figures: Results) -> Iterator[Row]:
    """Returns how long it takes to store, restore and copy the world of a merchant."""
    for found in figures.worlds:
        most = SMALL_WORLD_SECONDS if found.rows <= SMALL_WORLD_ROWS else LARGE_WORLD_SECONDS
        note = (
            f"CPU time: API {found.api_seconds:.3f} s, PostgreSQL {found.postgres_seconds:.3f} s; {found.size:,} bytes"
        )
        what = f"worlds: {found.action} of {found.rows:,} rows"
        yield Row(what, f"{found.seconds:.3f} s", None, f"at most {most:g} s", at_most(found.seconds, most), note)


def loan_rows(figures: Results) -> Iterator[Row]:
    """Returns the CPU time of a lender's nights with many loans, compared with that with few."""
    if len(figures.loans) < 2:
        return
    few, many = figures.loans
    for what, less, more, bound in (
        ("a repayment that is collected", few.of_repayment, many.of_repayment, LOANS_MAX_RATIO),
        ("a day without repayments", few.of_empty_day, many.of_empty_day, None),
    ):
        ratio = more.total_us / less.total_us if less.total_us else None
        note = f"with {few.loans:,}: {less.total_us:,.0f} us; {many.repayments:,} repayments in {many.days:,} days each"
        yield Row(
            f"processor time of {what}, with {many.loans:,} loans",
            f"{more.total_us:,.0f} us",
            ratio,
            "-" if bound is None else f"at most {bound} x with {few.loans:,}",
            "-" if bound is None else at_most(ratio, bound),
            note,
        )


def interest_rows(figures: Results) -> Iterator[Row]:
    """Returns the rate of accounts whose monthly interest is posted, compared with TPC-B transactions."""
    run, tpcb = figures.interest, figures.tpcb_rate(SCALE_20)
    if run is None:
        return
    ratio = run.rate / tpcb if tpcb else None
    bound = f"{INTEREST_TARGET_RATIO:.0f} x TPC-B scale {SCALE_20}"
    note = f"{run.accounts:,} accounts in {run.seconds:.1f} s, {run.postings:,} postings of interest, each with its tax"
    what = "savings accounts whose month is posted"
    yield Row(what, per_second(run.rate), ratio, bound, at_least(ratio, INTEREST_TARGET_RATIO, run.is_valid), note)


def reconciliation_rows(figures: Results) -> Iterator[Row]:
    for form, run in figures.reconciliations.items():
        note = (
            f"{run.cpu_seconds:.0f} s of processor time; {run.matched:,} matched, "
            f"{run.theirs_only:,} not in the books; the same file again {run.again_seconds:.1f} s; "
            f"at most {run.memory_mb:.0f} MB in the command"
        )
        reached = at_most(run.seconds, RECONCILE_SECONDS, run.is_valid)
        what = f"a statement of {run.lines:,} lines, {form}"
        yield Row(what, f"{run.seconds:.1f} s", None, f"{RECONCILE_SECONDS:.0f} s", reached, note)


def latency_rows(figures: Results) -> Iterator[Row]:
    single, half = figures.single_client, figures.half_load
    if single and half and single.median_ms:
        ratio = half.p99_ms / single.median_ms
        note = (
            f"single client: median {single.median_ms:.2f} ms; at half load: median {half.median_ms:.2f}, "
            f"worst {half.worst_ms:.1f} ms, client late by {half.client_lag_ms:.1f} ms (p99), "
            f"refused {single.refused + half.refused}"
        )
        what = f"p99 at half of the highest load ({figures.half_rate:,.0f}/s)"
        reached = at_most(ratio, HALF_LOAD_MAX_RATIO, single.is_valid and half.is_valid)
        bound = f"at most {HALF_LOAD_MAX_RATIO:.0f} x single median"
        yield Row(what, f"{half.p99_ms:.2f} ms", ratio, bound, reached, note)


def start_rows(figures: Results) -> Iterator[Row]:
    starts = (
        ("first start, empty directory, to ready", figures.first_start_seconds, FIRST_START_SECONDS),
        ("later start, to ready", figures.later_start_seconds, LATER_START_SECONDS),
        ("kasuwa --help", figures.help_seconds, SMALL_COMMAND_SECONDS),
        ("kasuwa status, of a server that is ready", figures.status_seconds, SMALL_COMMAND_SECONDS),
    )
    for what, seconds, bound in starts:
        if seconds is not None:
            yield Row(what, f"{seconds:.2f} s", None, f"at most {bound:g} s", at_most(seconds, bound))


def kit_rows(figures: Results) -> Iterator[Row]:
    """Tests of applications that use `kasuwa.testing`."""
    if figures.kit is None:
        return
    kit = figures.kit
    lines = (
        ("kit: server for tests, to ready", kit.serve_seconds, "s", FIRST_START_SECONDS),
        ("kit: a new merchant with its receiver", kit.merchant_ms, "ms", KIT_MERCHANT_MS),
        ("kit: 500 tests of three calls, two workers", kit.suite_seconds, "s", KIT_SUITE_SECONDS),
    )
    for what, figure, unit, bound in lines:
        yield Row(what, f"{figure:.2f} {unit}", None, f"at most {bound:.0f} {unit}", at_most(figure, bound))


def batched_sql_rows(figures: Results) -> Iterator[Row]:
    """Returns the rate of batched transfers in SQL alone, compared with TPC-B; and the service's transfers with it."""
    found, tpcb = figures.batched_sql, figures.tpcb_rate(SCALE_20)
    if found is None:
        return
    what = f"transfers in SQL alone, {found.batch_size} in a call"
    note = f"{found.clients} clients; PostgreSQL {found.postgres_us:,.1f} us for a transfer"
    yield Row(what, per_second(found.rate), found.rate / tpcb if tpcb else None, "-", "-", note)
    load, cost = figures.loads.get("hot64"), figures.cpu.get("hot64")
    if load is not None and cost is not None:
        note = f"PostgreSQL {cost.postgres_us:,.0f} us for a transfer of the service, which is two commits"
        yield Row(
            "transfers of the service, to those in SQL", per_second(load.rate), load.rate / found.rate, "-", "-", note
        )


# The loads of two processes and of all cores: what they are, and the target ratio to one process.
TWO_PROCESS_TARGETS = (
    ("hot", "one hot wallet, 64 connections", 0.9),
    ("spread", "100 merchants, 256 connections", 1.0),
)
ALL_CORES_TARGETS = (
    ("hot", "one hot wallet, 256 connections", 0.95),
    ("spread", "200 merchants, 512 connections", 4.0),
)


def process_rows(figures: Results) -> Iterator[Row]:
    """Returns the loads on several API processes, compared with one."""
    yield from compared_rows("two processes", figures.two_processes, TWO_PROCESS_TARGETS)
    yield from compared_rows("default processes", figures.all_cores, ALL_CORES_TARGETS)
    if figures.too_few_cores is not None:
        note = f"not run: this machine has {figures.too_few_cores} cores, and the load and PostgreSQL need most of them"
        yield Row("default processes, to one", "-", None, "from 8 cores on", "-", note)


def compared_rows(
    what: str, loads: dict[str, ComparedLoad], targets: tuple[tuple[str, str, float], ...]
) -> Iterator[Row]:
    for name, shape, bound in targets:
        load = loads.get(name)
        if load is None:
            continue
        rounds = ", ".join(f"{ratio:.2f}" for ratio in load.ratios)
        note = f"rounds: {rounds}; one process {per_second(load.one_rate)}"
        reached = at_least(load.ratio, bound, load.is_valid)
        yield Row(f"{what}, {shape}", per_second(load.rate), load.ratio, f"{bound} x one process", reached, note)
        ratio = load.cpu.total_us / load.one_cpu.total_us if load.one_cpu.total_us else None
        note = (
            f"API {load.cpu.api_us:,.0f}, PostgreSQL {load.cpu.postgres_us:,.0f}, other {load.cpu.other_us:,.0f} us; "
        )
        note += (
            f"of one process {load.one_cpu.api_us:,.0f}, {load.one_cpu.postgres_us:,.0f}, {load.one_cpu.other_us:,.0f}"
        )
        yield Row(
            f"{what}, processor time of a transfer, {name}", f"{load.cpu.total_us:,.0f} us", ratio, "-", "-", note
        )


def memory_rows(figures: Results) -> Iterator[Row]:
    if not figures.memory_mb:
        return
    first, last = figures.memory_mb[0], figures.memory_mb[-1]
    readings = "after each load: " + ", ".join(f"{reading:.0f}" for reading in figures.memory_mb)
    what = "memory of the API process after the load"
    yield Row(what, f"{last:.0f} MB", None, f"at most {MEMORY_MB:.0f} MB", at_most(last, MEMORY_MB), readings)
    growth = last / first
    reached = at_most(growth, MEMORY_GROWTH)
    what = "the same, to that after the first load"
    yield Row(what, f"{last:.0f} MB", growth, f"at most {MEMORY_GROWTH} x", reached)


def per_second(rate: float) -> str:
    return f"{rate:,.0f}/s"


def at_least(value: float | None, bound: float, valid: bool = True) -> str:
    return verdict(value is not None and value >= bound, value, valid)


def at_most(value: float | None, bound: float, valid: bool = True) -> str:
    return verdict(value is not None and value <= bound, value, valid)


def verdict(reached: bool, value: float | None, valid: bool) -> str:
    if not valid:
        return "INVALID"
    if value is None:
        return "-"
    return "yes" if reached else "no"


def load_note(load: LoadResult) -> str:
    latency = f"median {load.median_ms:.1f} ms, p99 {load.p99_ms:.1f} ms"
    note = f"refused {load.refused}, {latency}, wrk {load.client_cpu_share:.0%} of a core"
    if load.connection_errors:
        note += f", {load.connection_errors} connections broken or late"
    return f"{note}; a reply: {load.refusal_sample}" if load.refusal_sample else note


def table(lines: list[Row]) -> str:
    """Returns the table as plain text. Notes are numbered and follow below, so that the columns stay narrow."""
    heads = ("what", "figure", "ratio", "at least", "reached", "note")
    cells, notes = [heads], []
    for row in lines:
        mark = ""
        if row.note:
            notes.append(row.note)
            mark = str(len(notes))
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        cells.append((row.what, row.figure, ratio, row.bound, row.reached, mark))
    widths = [max(len(line[place]) for line in cells) for place in range(len(heads))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    text.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([*text, "", *(f"{number:2} {note}" for number, note in enumerate(notes, 1))])


def is_complete(lines: list[Row]) -> bool:
    """Returns whether every requested row is a measurement. One that misses its target is a measurement too."""
    return all(row.reached not in ("INVALID", "not measured") for row in lines)


def write_json(path: Path, figures: Results, lines: list[Row]) -> None:
    kept = {"figures": asdict(figures), "rows": [asdict(row) for row in lines]}
    path.write_text(json.dumps(kept, indent=1) + "\n")
