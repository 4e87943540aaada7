"""The second yardstick: transfers between accounts in batches, in SQL alone.

A batch is an array of transfers and one call of a function, which locks the accounts in order, checks their balances,
updates each once and inserts one row per transfer. It is the least that any service that batches its writes must do.
"""

import re
from pathlib import Path

from bench import cpu, postgres, processes
from bench.results import BatchedSqlResult, MeasurementFailed
from kasuwa.postgres.embedded import embedded

ACCOUNTS = 10_000
# Transfers in one call: about what a batch of the service holds with 64 connections.
BATCH_SIZE = 32
# Calls at the same time. More only wait for each other's processor time.
CLIENTS = 4

TABLES = f"""
create table account (id integer primary key, balance bigint not null check (balance >= 0));
insert into account select n, 1000000000000 from generate_series(1, {ACCOUNTS}) n;
create table transfer (
    id bigint generated always as identity primary key, debit integer not null, credit integer not null,
    amount bigint not null, at timestamptz not null default now()
);
create function transfer_batch(debits integer[], credits integer[], amounts bigint[]) returns integer
language plpgsql as $$
begin
    perform 1 from account where id = any(debits || credits) order by id for update;
    update account a set balance = balance + moved.amount from (
        select id, sum(amount) as amount from (
            select unnest(debits) as id, -unnest(amounts) as amount
            union all select unnest(credits), unnest(amounts)
        ) each group by id
    ) moved where a.id = moved.id;
    insert into transfer (debit, credit, amount)
        select * from unnest(debits, credits, amounts);
    return cardinality(amounts);
end $$;
"""

# Accounts of one call follow each other, so that a call has no account twice on one side.
CALL = f"""
\\set first random(1, {ACCOUNTS} - 2 * {BATCH_SIZE})
select transfer_batch(
    array(select generate_series(:first, :first + {BATCH_SIZE} - 1)),
    array(select generate_series(:first + {BATCH_SIZE}, :first + 2 * {BATCH_SIZE} - 1)),
    array_fill(100::bigint, array[{BATCH_SIZE}]));
"""


def measure_batched_sql(cluster: embedded.Cluster, directory: Path, seconds: int) -> BatchedSqlResult:
    """Returns the transfers per second, and the CPU time of PostgreSQL for each."""
    dsn = postgres.create_database(cluster, "batched")
    postgres.query(dsn, TABLES)
    script = directory / "batched.sql"
    script.write_text(CALL)
    postgres.vacuum_and_checkpoint(dsn)
    postmaster = postgres.postmaster(dsn)
    before = processes.seconds_used_below(postmaster)
    output = postgres.run_pgbench(
        ["-n", "-f", str(script), "-c", str(CLIENTS), "-j", "1", "-M", "prepared", "-T", str(seconds), dsn]
    )
    found = re.search(r"^tps = ([0-9.]+)", output, re.MULTILINE)
    if not found:
        raise MeasurementFailed(f"pgbench printed no tps: {output[-300:]}")
    rate = float(found[1]) * BATCH_SIZE
    check_balances(dsn)
    return BatchedSqlResult(rate, cpu.postgres_us(postmaster, before, rate * seconds), BATCH_SIZE, CLIENTS)


def check_balances(dsn: str) -> None:
    """Raises MeasurementFailed if money was made or lost, or no transfer was written."""
    [[total, transfers]] = postgres.query(
        dsn, "select sum(balance), (select count(*) from transfer where amount = 100) from account"
    )
    if int(total) != ACCOUNTS * 1_000_000_000_000 or not int(transfers):
        raise MeasurementFailed(f"the balances add up to {total} after {transfers} transfers")
