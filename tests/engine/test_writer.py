"""The writer against PostgreSQL: how its statements find rows, what the journal refuses, what is written once.

The statements are not listed here but read from the log of a server that a real service used, so that new ones are
checked too. Each check has a control.
"""

import asyncio
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
import msgspec
import pytest

from kasuwa.boot import composition
from kasuwa.boot.prepare import prepare
from kasuwa.core.codes import INSUFFICIENT_FUNDS
from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, PostingGroup, Refusal
from kasuwa.engine.batch import RuleFailure, Submission
from kasuwa.jobs import leases
from kasuwa.ledger import chart
from kasuwa.postgres.connections import APPLICATION_ROLE, WRITER_SETTINGS
from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.logins import APPEND_ONLY_TABLES
from kasuwa.settings.settings import Settings
from tests.methods.virtualcard.card_client import BILLING
from tests.simulate.load import Client, new_merchant, transfer_body
from tests.simulate.processes import (
    Service,
    broken_invariants,
    query,
    running_database,
    running_service,
    wait_until,
    with_connection,
)

pytestmark = pytest.mark.xdist_group("writer")

# Logs every statement with its sender.
LOGGED = {"log_statement": "all", "log_line_prefix": "%a|"}


# Each statement with the values that it is planned for.
Statements = dict[str, str]


class Ground(NamedTuple):
    cluster: embedded.Cluster
    service: Service
    statements: Statements


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """A service that has used every action, in every mode of the writer."""
    place = tmp_path_factory.mktemp("writer")
    with (
        running_database(place / "pg", LOGGED) as cluster,
        running_service(place / "data", {"KASUWA_DATABASE_URL": cluster.dsn}) as service,
    ):
        do_everything(service)
        for statement in LONG_BOOKS:
            query(cluster.dsn, statement)
        yield Ground(cluster, service, without_values(logged_statements(place / "pg" / "postgres.log")))


# Rows of tables that only long books have, and loans that were rescheduled.
LONG_BOOKS = (
    "insert into book_close_mark (merchant_id, seq, hash) values (0, 1, '') returning 1",
    "insert into delivery_attempt (merchant_id, endpoint_id, event_seq, number, at, http, error, ms)"
    " values (0, 1, 1, 1, now(), 200, '', 1) returning 1",
    "insert into loan_installment_version (key, merchant_id, loan_id, n, version, until, due, asked, paid)"
    " values ('', 0, 'LN1', 1, 1, now(), '2026-01-05', 1, 0) returning 1",
    "insert into loan_schedule (key, merchant_id, loan_id, n, until, rate, reason, lines)"
    " values ('', 0, 'LN1', 1, now(), '2', 'x', '[]') returning 1",
    "with a as (insert into statement_account (name) values ('rail:bank:NGN') returning account_id)"
    " insert into statement_import (account_id, content_hash, format, file_name, line_count, new_count, first_day,"
    " last_day, imported_by) select account_id, '', 'mt940', 'x', 0, 0, '2020-01-01', '2020-01-31', 'x' from a"
    " returning 1",
)


def do_everything(service: Service) -> None:
    with Client(service.port, new_merchant(service.port)) as client:
        client.transfer(orderRef="for the worker", accountnumber="0000000900")
    with Client(service.port, new_merchant(service.port)) as client:
        client.transfer(orderRef="one")
        client.transfer(orderRef="one")
        client.transfer({"Idempotency-Key": "two"}, amount="5.00")
        client.transfer({"Idempotency-Key": "two"}, amount="5.00")
        client.transfer(orderRef="declined", accountnumber="0000005100")
        bulk = [transfer_body(orderRef=f"bulk-{n}") for n in range(3)]
        client.put("/disburse", {"action": "transfer", "type": "bulk", "data": bulk})
        client.transfer(orderRef="told", accountnumber="0000000020")
        for outcome in ("successful", "failed"):
            client.sandbox("settle", orderRef="told", outcome=outcome)
        code = {"amount": "50.00", "pin": "2580", "channel": "ATM", "orderRef": "code"}
        client.put("/cashcode", {"action": "generate", **code})
        client.put("/cashcode", {"action": "cancel", "orderRef": "code"})
        client.sandbox("fault", rail="bank", kind="timeout", times=1)
        client.transfer(orderRef="lost")
        client.sandbox("advance", hours=1)
        client.sandbox("fund_wallet", currency="NGN", amount="5.00")
        client.sandbox("close")
        card = {"action": "create", "billing": BILLING, "amount": 10, "currency": "USD"}
        made = client.put("/virtualcard", card).body["card_data"]
        client.put("/virtualcard", {"action": "get", "reference": made["reference"], "reveal": True})
    wait_until("the worker is done", lambda: not service.query("select 1 from account where held <> 0"))


def logged_statements(log: Path) -> set[str]:
    """Returns the statements that the writer's connections executed."""
    found = set()
    for entry in log.read_text().replace("\n\t", " ").splitlines():
        who, _, result = entry.partition("|")
        sql = " ".join(result.split(": ", 2)[-1].split())  # after the level, and the statement's name
        if (
            who == "kasuwa writer"
            and sql.startswith(("select", "with", "update"))
            and "$" in sql
            and "pg_" not in sql[:120]
        ):
            found.add(sql)
    return found


# --- plans ------------------------------------------------------------------------------------------------------

FOUND_BY_INDEX = {"Index Scan", "Index Only Scan"}
# A ctid comes from the same statement, which found the row by an index.
NO_SEARCH = {"Tid Scan", "ModifyTable", "LockRows"}

GENERIC = {"plan_cache_mode": "force_generic_plan"}

FILL = (
    "insert into merchant (merchant_id, mid, name) select n, 'GP' || n, '' from generate_series(1000001, 1002000) n",
    "insert into merchant_state (key, merchant_id) select sha224(n::text::bytea), n "
    "from generate_series(1000001, 1002000) n",
    "insert into account select sha224(n::text::bytea), 1, 'x', 'NGN', 0, 0, null from generate_series(1, 20000) n",
    "insert into transaction select sha224(n::text::bytea), 1, 'transfer', n, n, null, 'NGN', 1, 0, 0, 0, 'failed',"
    " null, '', '', '{}', '[]', now(), now() from generate_series(1, 20000) n",
    "insert into scheduled_job (key, merchant_id, kind, lane, endpoint_id, reference, subject, due, run_at, claims,"
    " attempt, work) select sha224(n::text::bytea), 1, 'k', 'webhook', 1, n, '', now(), now(), 0, 0, '{}'"
    " from generate_series(1, 20000) n",
    "insert into idempotency_record select sha224(n::text::bytea), 1, '', '', false, now() "
    "from generate_series(1, 20000) n",
    "analyze",
)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


def scans(plan: dict[str, Any]) -> list[str]:
    """Returns the nodes of a plan that read a table other than by an index condition."""
    return [
        f"{node['Node Type']} on {node['Relation Name']}"
        for node in nodes(plan)
        if "Relation Name" in node
        and node["Node Type"] not in NO_SEARCH
        and not (node["Node Type"] in FOUND_BY_INDEX and "Index Cond" in node)
    ]


def scans_of(dsn: str, statements: Statements, settings: dict[str, str], *prepare: str) -> dict[str, list[str]]:
    """Returns each statement that scans a table. The database is unchanged afterwards."""

    async def explain() -> dict[str, list[str]]:
        connection = await asyncpg.connect(dsn, server_settings=settings)
        await connection.execute("begin")
        for sql in prepare:
            await connection.execute(sql)
        found = {sql: scans(await last_plan(connection, sql, values)) for sql, values in statements.items()}
        await connection.close()
        return {sql: places for sql, places in found.items() if places}

    return asyncio.run(explain())


async def last_plan(connection: Any, sql: str, values: str) -> dict[str, Any]:
    """Returns the plan that PostgreSQL uses in the end: the first few executions may use other plans."""
    await connection.execute(f"prepare looked_at as {sql}")
    for _ in range(10):
        result = await connection.fetchval(f"explain (format json) execute looked_at({values})")
    await connection.execute("deallocate looked_at")
    plan: dict[str, Any] = msgspec.json.decode(result)[0]["Plan"]
    return plan


def without_values(statements: set[str]) -> Statements:
    """Returns the statements without values, for plans that do not depend on them."""
    places = {sql: max(map(int, re.findall(r"\$(\d+)", sql))) for sql in statements}
    return {sql: ", ".join(["null"] * count) for sql, count in places.items()}


INSERTED_TABLES = (
    "transaction",
    "account",
    "scheduled_job",
    "posting",
    "event",
    "operator_notice",
    "idempotency_record",
)


def test_the_writer_was_seen_at_every_kind_of_work(ground: Ground) -> None:
    written = " ".join(ground.statements)
    for table in INSERTED_TABLES:
        assert f"insert into {table}" in written
    for table in ("transaction", "account", "scheduled_job", "merchant_state"):
        assert f"update {table}" in written
        assert f"from {table} where key = any" in written
    assert "for update" in written


def test_the_writer_changes_rows_by_their_keys_alone(ground: Ground) -> None:
    """A statement that changes all rows of a merchant would delay every other merchant of the batch."""
    unbounded = re.compile(r"(?:update|delete from) \w+ (?:set .*)?where merchant_id = \$\d+\s*$", re.DOTALL)
    assert unbounded.search("update scheduled_job set run_at = due where merchant_id = $1")
    assert [sql for sql in ground.statements if unbounded.search(sql)] == []


def test_the_writer_finds_rows_by_index_alone_on_an_empty_database(ground: Ground) -> None:
    assert scans_of(ground.cluster.dsn, ground.statements, WRITER_SETTINGS) == {}


def test_the_writer_finds_rows_by_index_alone_on_a_full_database(ground: Ground) -> None:
    assert scans_of(ground.cluster.dsn, ground.statements, WRITER_SETTINGS, *FILL) == {}


def test_without_the_writers_settings_an_empty_database_is_scanned(ground: Ground) -> None:
    """Control: the two tests above depend on these settings."""
    assert scans_of(ground.cluster.dsn, ground.statements, GENERIC) != {}


def test_the_worker_claims_jobs_by_index_on_a_full_database(ground: Ground) -> None:
    claim = {leases.CLAIM: "'bank', now(), '20 s', 64"}
    found = scans_of(ground.cluster.dsn, claim, {}, *FILL)
    assert [places for places in found.values() if places != ["Seq Scan on advance_lease"]] == [], "that one is tiny"


# --- the journal ----------------------------------------------------------------------------------------------

CHANGES = {"update": "update {} set {} = 0", "delete": "delete from {}", "truncate": "truncate {}"}

# A column that the attempt changes, of tables that have no merchant, or where any change of the merchant's is none.
CHANGED_COLUMNS = {
    "loan_schedule": "n",
    "exchange_rate": "buy",
    "authority_policy": "set_by",
    "book_close": "tree_size",
    "book_close_level": "level",
    "statement_import": "line_count",
}


def try_change(dsn: str, table: str, change: str, role: str) -> str:
    async def attempt(connection: Any) -> str:
        await connection.execute("begin")
        await connection.execute(f"set local role {role}")
        try:
            await connection.execute(CHANGES[change].format(table, CHANGED_COLUMNS.get(table, "merchant_id")))
        except asyncpg.PostgresError as error:
            return type(error).__name__
        return "done"

    return asyncio.run(with_connection(dsn, attempt))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("table", APPEND_ONLY_TABLES)
def test_nobody_changes_what_happened_not_even_its_owner(ground: Ground, table: str, change: str) -> None:
    assert query(ground.cluster.dsn, f"select count(*) from {table}")[0][0] > 0
    assert try_change(ground.cluster.dsn, table, change, APPLICATION_ROLE) == "InsufficientPrivilegeError"
    assert try_change(ground.cluster.dsn, table, change, "none") == "IntegrityConstraintViolationError"


@pytest.mark.parametrize("change", CHANGES)
def test_another_table_can_be_changed_by_its_owner(ground: Ground, change: str) -> None:
    """Control: the attempt itself does not fail."""
    assert try_change(ground.cluster.dsn, "idempotency_record", change, "none") == "done"


# --- written once -----------------------------------------------------------------------------------------------

COUNTED = ("transaction", "posting", "event", "scheduled_job", "operator_notice", "idempotency_record")


def counts(service: Service, mid: str) -> dict[str, int]:
    count = "select count(*) from {} join merchant using (merchant_id) where mid = $1"
    return {table: service.query(count.format(table), mid)[0][0] for table in COUNTED}


def test_one_transfer_writes_its_rows_once_however_often_it_is_asked(ground: Ground) -> None:
    merchant = new_merchant(ground.service.port)
    once = {
        "transaction": 1,
        "posting": 2 + 3,
        "event": 1,
        "scheduled_job": 0,
        "operator_notice": 0,
        "idempotency_record": 0,
    }
    with Client(ground.service.port, merchant) as client:
        for _ in range(3):
            assert client.transfer(orderRef="one").body["txnStatus"] == "successful"
            assert counts(ground.service, merchant.mid) == once


NEVER_SHORT = Refusal(INSUFFICIENT_FUNDS, "the outside does not run short")


def fund(merchant: Merchant, amount: int, reference: str = "one kobo") -> Submission:
    post = chart.make_funding_posting("NGN", amount)

    def rule(context: Context, rows: LoadedRows) -> Decision:
        return Decision(reply=reference, groups=(PostingGroup(reference, NEVER_SHORT, postings=(post,)),))

    needs = Needs((), (chart.wallet("NGN"), chart.outside("funding", "NGN")))
    return Submission(merchant, needs, rule, os.urandom(32))


async def with_processes(dsn: str, data: Path, count: int, work: Callable[..., Any]) -> Any:
    """Opens several writers of one database, as several processes would, with the demo merchant."""
    settings = Settings(data=data, database_url=dsn)
    await prepare(settings, dsn)
    all_services = [await composition.Services.build(settings, dsn) for _ in range(count)]
    for services in all_services:
        services.writer.start()
    try:
        return await work(all_services, await all_services[0].merchant_directory.get_by_id(1))
    finally:
        for services in all_services:
            await services.close()


def test_writers_that_race_for_one_merchant_add_up_exactly(tmp_path: Path) -> None:
    """Guards the lock and the version of a merchant's state row: without them a writer overwrites what others wrote."""

    async def race(all_services: list[composition.Services], merchant: Merchant) -> None:
        async def add(services: composition.Services) -> None:
            for _ in range(60):
                await services.writer.submit(fund(merchant, 1))

        await asyncio.gather(*(add(services) for services in all_services for _ in range(3)))

    with running_database(tmp_path) as cluster:
        asyncio.run(with_processes(cluster.dsn, tmp_path, 3, race))
        added = query(cluster.dsn, "select count(*), sum(amount) from posting where reference = 'one kobo'")
        assert tuple(added[0]) == (3 * 3 * 60, 3 * 3 * 60)
        assert broken_invariants(cluster.dsn) == []


def test_a_rule_that_raises_fails_alone_and_leaves_nothing(tmp_path: Path) -> None:
    def raises(context: Context, rows: LoadedRows) -> Decision:
        raise ZeroDivisionError

    async def mix(all_services: list[composition.Services], merchant: Merchant) -> list[Any]:
        bad = [Submission(merchant, Needs(), raises, os.urandom(32)) for _ in range(5)]
        good = [fund(merchant, 1, f"good {n}") for n in range(5)]
        mixed = [submission for pair in zip(bad, good, strict=True) for submission in pair]
        return list(await asyncio.gather(*(all_services[0].writer.submit(submission) for submission in mixed)))

    with running_database(tmp_path) as cluster:
        results = asyncio.run(with_processes(cluster.dsn, tmp_path, 1, mix))
        assert [isinstance(result, RuleFailure) for result in results] == [True, False] * 5
        kept = query(cluster.dsn, "select reference from posting where reference like 'good%' order by seq")
        assert [row[0] for row in kept] == [f"good {n}" for n in range(5)]
        assert broken_invariants(cluster.dsn) == []
