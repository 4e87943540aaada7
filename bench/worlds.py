"""Measures worlds: a snapshot, a restore and a copy of a merchant with a thousand rows, and with a million.

The thousand rows are made through the API. The million are copies of the transfers among them, made by SQL: their rows
have keys, chains and codes of their own in the restored books, like any others. Speed depends on what else the machine
does, so the CPU time of the API and of PostgreSQL is measured with it.

`python -m bench.worlds` measures this row alone.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from bench import cpu, machine, postgres, server
from bench.merchants import Merchant, make_merchant, make_payments, save_card, send_request
from bench.results import MeasurementFailed, WorldResult
from kasuwa.postgres.embedded import embedded

SMALL_ROWS, LARGE_ROWS = 1_000, 1_000_000
# A world has at most a million rows: these are left for those that are not copied.
OTHER_ROWS = 3_000
# A small world takes milliseconds: the median of several is the figure.
SMALL_ROUNDS = 9
REPLY_SECONDS = 600.0
TRANSFER = {"action": "transfer", "amount": "100.00", "bankcode": "058", "accountnumber": "0000000000"}
TRANSFERS, PAYMENTS = 130, 30

CURRENT = "(select merchant_id from merchant where mid = '{mid}' and current)"
# The copies come before the rows that they are made of: higher numbers are of what is still to come.
COPY_ROWS = """
set session_replication_role = replica;
set synchronous_commit = off;
create temp table copied as select txn_ref, key from transaction
    where merchant_id = {merchant_id} and kind = 'transfer' and status = 'successful';
insert into transaction (key, merchant_id, kind, txn_ref, order_ref, batch_ref, currency, amount, fee, vat, duty,
    status, code, message, digest, detail, trail, created_at, final_at, seq, row_code)
select decode(md5(encode(t.key, 'hex') || n), 'hex'), merchant_id, kind, txn_ref || '~' || n, order_ref || '~' || n,
    batch_ref, currency, amount, fee, vat, duty, status, code, message, digest, detail, trail, created_at, final_at,
    seq - n * {span}, row_code
from transaction t join copied using (txn_ref) cross join generate_series(1, {copies}) n
where merchant_id = {merchant_id};
insert into posting (merchant_id, seq, group_seq, reference, debit, credit, amount, debit_after, credit_after, kind, at,
    hash)
select merchant_id, seq - n * {span}, group_seq - n * {span}, reference || '~' || n, debit, credit, amount, debit_after,
    credit_after, kind, at, hash
from posting join copied on txn_ref = reference cross join generate_series(1, {copies}) n
where merchant_id = {merchant_id};
insert into event (merchant_id, seq, reference, object, object_seq, kind, payload, at, hash)
select merchant_id, seq - n * {span}, reference || '~' || n, object, object_seq, kind, payload, at, hash
from event join copied on txn_ref = reference cross join generate_series(1, {copies}) n
where merchant_id = {merchant_id};
vacuum analyze transaction, posting, event;
"""


def measure_worlds(cluster: embedded.Cluster, directory: Path, large_rows: int = LARGE_ROWS) -> Iterator[WorldResult]:
    """Yields the results of a thousand rows and of many."""
    dsn = postgres.create_database(cluster, "worlds")
    with server.running(directory / "worlds", dsn) as running:
        merchant = make_merchant(running.port, dsn)
        fill(running.port, merchant)
        meter = cpu.CpuMeter(running, dsn)
        measure_acts(running.port, merchant, meter, "warm", 2)
        yield from measure_acts(running.port, merchant, meter, "small", SMALL_ROUNDS)
        if large_rows:
            copy_rows(dsn, merchant, large_rows - OTHER_ROWS)
            yield from measure_acts(running.port, merchant, meter, "large", 1)


def fill(port: int, merchant: Merchant) -> None:
    """Makes some thousand rows: transfers, payments and what they leave."""
    for number in range(TRANSFERS):
        act(port, "/disburse", merchant, {**TRANSFER, "orderRef": f"w{number}"})
    make_payments(port, merchant, save_card(port, merchant), PAYMENTS)


def copy_rows(dsn: str, merchant: Merchant, rows: int) -> None:
    [[merchant_id]] = postgres.query(dsn, f"select {CURRENT.format(mid=merchant.mid)}")
    own = f"where merchant_id = {merchant_id}"
    [[span, per_copy]] = postgres.query(
        dsn,
        f"select (select max(seq) from posting {own}) + 1000, (select count(*) from posting {own} and reference like"
        f" 'GP|FD|%') + 2 * (select count(*) from transaction {own} and kind = 'transfer')",
    )
    copies = rows // int(per_copy)
    postgres.query(dsn, COPY_ROWS.format(merchant_id=merchant_id, span=span, copies=copies))


def measure_acts(port: int, merchant: Merchant, meter: cpu.CpuMeter, name: str, rounds: int) -> list[WorldResult]:
    seconds: dict[str, list[float]] = {}
    costs: dict[str, list[float]] = {}
    rows = size = 0
    for number in range(rounds):
        world = f"{name} {number}"
        for action in ("snapshot", "restore", "fork", "delete_world"):
            before, began = meter.read(), time.monotonic()
            reply = act(port, "/sandbox", merchant, {"action": action, "name": world})
            seconds.setdefault(action, []).append(time.monotonic() - began)
            used = meter.cost_since(before, 1)
            costs.setdefault(action, []).append(0.0)
            costs.setdefault(f"{action} API", []).append(used.api_us / 1e6)
            costs.setdefault(f"{action} PostgreSQL", []).append(used.postgres_us / 1e6)
            if action == "snapshot":
                rows, size = reply["data"]["rows"], reply["data"]["bytes"]
    return [
        WorldResult(
            action=action,
            rows=rows,
            size=size,
            seconds=median(seconds[action]),
            api_seconds=sum(costs[f"{action} API"]) / rounds,
            postgres_seconds=sum(costs[f"{action} PostgreSQL"]) / rounds,
        )
        for action in ("snapshot", "restore", "fork")
    ]


def act(port: int, path: str, merchant: Merchant, body: dict[str, Any]) -> dict[str, Any]:
    reply = send_request(port, path, merchant, body, seconds=REPLY_SECONDS)
    if reply.get("status") != 200:
        raise MeasurementFailed(f"{path} {body.get('action')} answered {str(reply)[:300]}")
    return reply


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.worlds", description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=LARGE_ROWS, help="of the large world (default %(default)s)")
    chosen = parser.parse_args()
    with machine.bench_directory() as directory, postgres.running(directory / "cluster") as cluster:
        for found in measure_worlds(cluster, directory, chosen.rows):
            print(found.describe(), flush=True)


if __name__ == "__main__":
    main()
