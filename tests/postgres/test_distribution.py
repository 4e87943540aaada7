"""What a distributed database needs, as far as one server can show it: each table has its place, each statement of the
writer, of jobs and of deliveries names its merchant, and these statements do what the others do.

tests/distributed/citus_checks.py runs the service on such a database.
"""

import asyncio
import importlib
import json
import pkgutil
import re
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import kasuwa.methods
from kasuwa.boot.composition import make_deployment
from kasuwa.core.batched_query import BatchedQuery
from kasuwa.core.decision import AuditEntry, Job, Row
from kasuwa.core.references import row_key
from kasuwa.core.vault import Vault
from kasuwa.engine import due_jobs
from kasuwa.engine.journal import CommitMarkRow
from kasuwa.engine.merchant_state import MerchantState
from kasuwa.engine.writer_lanes import LanedWriter
from kasuwa.jobs import leases
from kasuwa.merchants import endpoints
from kasuwa.postgres.bulk_sql import StatementPart, delete_part, insert_part, update_part, version_parts
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.distribution.distribute import CannotDistribute, distribute, examine_distribution
from kasuwa.postgres.distribution.merchant_layout import DISTRIBUTED
from kasuwa.postgres.distribution.placement import (
    BY_MERCHANT,
    NUMBERED,
    ON_COORDINATOR,
    ON_COORDINATOR_IN_COMMITS,
    ON_EVERY_SERVER,
)
from kasuwa.postgres.distribution.shards import ShardMap, hash_bigint
from kasuwa.postgres.layout import ONE_SERVER
from kasuwa.postgres.primary import connect_to_primary
from kasuwa.postgres.row_codes import code_new_row, describe_table
from kasuwa.postgres.statement_forms import SearchQuery, StatementForms
from kasuwa.webhooks import deliveries, targets
from tests.engine.probes import Ground, fund, new_merchant, outcome_of, prepared, run, spend, writing
from tests.running import Deployment
from tests.source_rules_sql import SQL

TABLES = """
    select c.relname::text from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
"""
UNIQUE_WITHOUT_MERCHANT = """
    select c.relname::text from pg_index i join pg_class c on c.oid = i.indrelid
    where i.indisunique and c.relnamespace = 'public'::regnamespace and not exists (
        select 1 from pg_attribute a
        where a.attrelid = c.oid and a.attname = 'merchant_id' and a.attnum = any(i.indkey))
"""
NUMBERED_TABLES = """
    select c.relname::text from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and a.attidentity <> ''
"""

# Statements of jobs and deliveries that name no merchant, and why they need not.
OF_ALL_MERCHANTS = {
    "leases": {
        "CLAIM": "on one server only",
        "CLAIM_IN_TURN": "on one server only",
        "SELECT_NEXT_MERCHANTS": "on one server only",
        "SELECT_DUE_LANES": "on one server only",
        "IS_NOT_ADVANCING": "a condition",
        "FIND_DUE_LANES": "looks for work on all servers, and locks nothing",
        "FIND_DUE": "looks for work on all servers, and locks nothing",
        "FIND_DUE_IN_TURN": "looks for work on all servers, and locks nothing",
        "ADVANCING": "its table is on the coordinator",
        "TAKE_ABANDONED": "its table is on the coordinator",
        "FAULTS": "reads by a key, which a merchant has alone, on all servers",
        "DELETE_EXPIRED": "deletes on all servers what nobody reads any more",
    },
    "due_jobs": {
        "ADVANCING": "its table is on the coordinator",
        "RUN_NOW": "of the operator, by a key",
    },
    "deliveries": {
        "OLDEST_FIRST": "on one server only",
        "ENDPOINT_BY_ENDPOINT": "on one server only",
        "CLAIM": "on one server only",
        "CLAIM_OLDEST": "on one server only",
        "CLAIM_FROM_EACH": "on one server only",
        "DUE": "on one server only",
        "RECORD": "a pattern of both forms of RECORD_ATTEMPTS",
        "FIND_DELIVERIES": "looks for work on all servers, and locks nothing",
        "IS_CLAIMABLE": "a condition",
        "ADVANCING": "its table is on the coordinator",
    },
    "targets": {
        "SIGNING_SECRETS": "its tables are on the coordinator",
    },
    "endpoints": {
        "COPY": "inserts a row with its merchant",
    },
}
NAMES_MERCHANT = re.compile(r"merchant_id = \$\d")
PART = re.compile(r"\bw\d+ as \(((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*)\)")


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with prepared(tmp_path_factory.mktemp("distribution")) as made:
        yield made


async def with_connection(dsn: str, work: Callable[[Any], Awaitable[Any]]) -> Any:
    connection = await connect_to_primary(dsn)
    try:
        return await work(connection)
    finally:
        await connection.close()


# --- places -----------------------------------------------------------------------------------------------------------


def test_every_table_has_its_place_and_only_one(deployment: Deployment) -> None:
    places = [*BY_MERCHANT, *ON_EVERY_SERVER, *ON_COORDINATOR_IN_COMMITS, *ON_COORDINATOR]
    assert sorted(places) == sorted(row[0] for row in deployment.fetch(TABLES))


def test_every_unique_key_of_a_table_by_merchant_has_the_merchant(deployment: Deployment) -> None:
    assert {row[0] for row in deployment.fetch(UNIQUE_WITHOUT_MERCHANT)} & set(BY_MERCHANT) == set()


def test_tables_by_merchant_with_a_numbered_column_are_listed(deployment: Deployment) -> None:
    assert {row[0] for row in deployment.fetch(NUMBERED_TABLES)} & set(BY_MERCHANT) == NUMBERED


def test_a_server_without_citus_is_not_distributed(ground: Ground) -> None:
    async def work(connection: Any) -> None:
        assert connection.layout is ONE_SERVER
        assert not (await examine_distribution(connection)).is_distributed
        with pytest.raises(CannotDistribute, match="this server has no Citus"):
            await distribute(connection)

    asyncio.run(with_connection(ground.cluster.dsn, work))


# --- statements -------------------------------------------------------------------------------------------------------


def kinds_of_rows() -> list[type[Row]]:
    import kasuwa.methods.tables  # noqa: F401  # imports every slice

    found, todo = [], list(Row.__subclasses__())
    while todo:
        kind = todo.pop()
        todo += kind.__subclasses__()
        if kind.__module__.startswith("kasuwa.") and kind.table:
            found.append(kind)
    return found


def parts_of(kind: type[Row]) -> list[StatementPart]:
    parts = [insert_part(kind, kind.table), update_part(kind)[0]]
    return [*parts, delete_part(kind)[0]] if kind is Job else parts


def test_every_part_of_a_write_names_its_merchant_or_is_numbered_first() -> None:
    for kind in kinds_of_rows():
        versions = [part for part, _ in version_parts(MerchantState)]
        parts = (*versions, *parts_of(kind), insert_part(CommitMarkRow, "commit_mark"))
        written = PART.findall(DISTRIBUTED.write(parts))
        assert len(written) == len(parts)
        for part, text in zip(parts, written, strict=True):
            is_sent_first = part.operation == "insert" and (part.table in NUMBERED or part.table not in BY_MERCHANT)
            assert is_sent_first or NAMES_MERCHANT.search(text), text
            assert "ctid" not in text
            # Citus refuses casts that depend on the session's settings.
            assert not re.search(r"::(timestamptz|date)", text), text
            # Otherwise Citus sends the rows by COPY, which row-level security refuses.
            assert part.table not in NUMBERED or part.operation != "insert" or text.endswith("returning 1")


def test_every_read_of_the_writer_names_its_merchant() -> None:
    for kind in kinds_of_rows():
        is_named = NAMES_MERCHANT.search(DISTRIBUTED.select(kind)) is not None
        assert is_named is (kind.table in BY_MERCHANT)
    assert NAMES_MERCHANT.search(DISTRIBUTED.lock(MerchantState))


@pytest.mark.parametrize("module", [leases, due_jobs, deliveries, targets, endpoints], ids=list(OF_ALL_MERCHANTS))
def test_every_statement_names_one_merchant_or_says_why_it_need_not(module: Any) -> None:
    queries = {name: query.of_all for name, query in vars(module).items() if isinstance(query, SearchQuery)}
    forms = {
        name: statement.of_one for name, statement in vars(module).items() if isinstance(statement, StatementForms)
    }
    texts = {name: text for name, text in vars(module).items() if isinstance(text, str) and SQL.search(text)}
    texts = texts | queries | forms
    unnamed = {name for name, text in texts.items() if not NAMES_MERCHANT.search(text)}
    assert unnamed == set(OF_ALL_MERCHANTS[module.__name__.rpartition(".")[2]])


def test_every_search_has_a_form_for_the_merchants_of_one_server(ground: Ground) -> None:
    modules = (leases, deliveries, targets, endpoints)
    queries = [query for module in modules for query in vars(module).values() if isinstance(query, SearchQuery)]
    assert len(queries) == 4

    async def work(connection: Any) -> None:
        for query in queries:
            parameters = (await connection.prepare(query.of_all)).get_parameters()
            of_some = (await connection.prepare(query.of_some)).get_parameters()
            assert [kind.name for kind in of_some] == [*(kind.name for kind in parameters), "int8[]"]

    asyncio.run(with_connection(ground.cluster.dsn, work))


MERCHANT = 71
# A value of each type that requests have.
SAMPLES = {"int8": MERCHANT, "text": "a", "bytea": b"a", "timestamptz": datetime(2026, 1, 1, tzinfo=UTC)}


def scans_in(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the parts of a plan that read a table."""
    if "Relation Name" in plan:
        yield plan
    for part in plan.get("Plans", ()):
        yield from scans_in(part)


def batched_queries() -> dict[str, BatchedQuery]:
    found: dict[str, BatchedQuery] = {}
    for module in pkgutil.walk_packages(kasuwa.methods.__path__, "kasuwa.methods."):
        if module.name.endswith("store"):
            values = vars(importlib.import_module(module.name)).items()
            found |= {f"{module.name} {name}": query for name, query in values if isinstance(query, BatchedQuery)}
    return found


def test_both_forms_of_every_batched_query_return_the_same_columns(ground: Ground) -> None:
    async def work(connection: Any) -> None:
        queries = batched_queries()
        assert len(queries) > 20
        for name, query in queries.items():
            many, one = await connection.prepare(query.of_many), await connection.prepare(query.of_one)
            assert one.get_attributes() == many.get_attributes(), name
            parts = [kind.name for kind in one.get_parameters()]
            assert [kind.name for kind in many.get_parameters()] == [f"{part}[]" for part in parts[:-1]], name
            assert parts[-1] == "int8", name

    asyncio.run(with_connection(ground.cluster.dsn, work))


def test_every_scan_of_the_form_for_one_request_names_its_merchant(ground: Ground) -> None:
    """The planner replaces the columns of the request by their values, and so finds the server of the merchant."""

    async def work(connection: Any) -> None:
        await connection.execute("set plan_cache_mode = force_custom_plan; set enable_seqscan = off")
        for name, query in batched_queries().items():
            parameters = (await connection.prepare(query.of_one)).get_parameters()
            values = [SAMPLES[kind.name] for kind in parameters]
            [[plan]] = await connection.fetch(f"explain (format json) {query.of_one}", *values)
            scans = list(scans_in(json.loads(plan)[0]["Plan"]))
            assert scans, name
            for scan in scans:
                conditions = " ".join(str(scan.get(part, "")) for part in ("Index Cond", "Filter", "Recheck Cond"))
                assert f"merchant_id = '{MERCHANT}'::bigint" in conditions, (name, scan)

    asyncio.run(with_connection(ground.cluster.dsn, work))


# --- the same results -------------------------------------------------------------------------------------------------


def test_writes_of_several_merchants_are_batches_of_one_each(ground: Ground) -> None:
    sizes: list[int] = []

    async def work() -> None:
        shops = [await new_merchant(ground) for _ in range(3)]
        observer = lambda _locked, size, _seconds: sizes.append(size)  # noqa: E731
        async with writing(ground, ground.cluster.dsn, layout=DISTRIBUTED, on_commit=observer) as writer:
            for amount in (100, 50):
                submitted = [writer.submit(fund(shop, amount, f"{amount}")) for shop in shops for _ in range(2)]
                assert await asyncio.gather(*map(outcome_of, submitted)) == [str(amount)] * 6
            assert [await outcome_of(writer.submit(spend(shop, 300))) for shop in shops] == ["spend"] * 3
            assert [str(await outcome_of(writer.submit(spend(shop, 1)))) for shop in shops] != ["spend"] * 3

    run(work)
    assert max(sizes) == 2


def test_the_hash_of_a_merchant_is_that_of_postgresql(ground: Ground) -> None:
    numbers = [*range(-3, 300), 2**31, 2**32 - 1, 2**40 + 17, 2**63 - 1, -(2**63)]

    async def work(connection: Any) -> None:
        rows = await connection.fetch("select n, hashint8(n) from unnest($1::bigint[]) n", numbers)
        assert {row[0]: row[1] for row in rows} == {number: hash_bigint(number) for number in numbers}

    asyncio.run(with_connection(ground.cluster.dsn, work))


def test_each_merchant_has_one_lane_and_a_lane_is_of_one_server(ground: Ground) -> None:
    shards = ShardMap([-(2**31), -(2**30), 0, 2**30], [1, 2, 1, 2])

    async def work() -> None:
        shops = [await new_merchant(ground) for _ in range(6)]
        made = make_deployment(ground.vault, ground.settings)
        writer = LanedWriter(ground.cluster.dsn, made, lambda *_: None, DatabaseClock(), DISTRIBUTED, shards)
        for amount in (3, 4):
            submitted = [writer.submit(fund(shop, amount, f"{amount}")) for shop in shops]
            assert await asyncio.gather(*map(outcome_of, submitted)) == [str(amount)] * 6
        assert writer.find_problem() is None
        assert set(writer._writers) == {shards.find(shop.merchant_id)[::-1] for shop in shops}
        await writer.close()

    run(work)


def test_two_writers_on_one_merchant_never_overwrite_each_other(ground: Ground) -> None:
    async def work() -> None:
        shop = await new_merchant(ground)
        options = {"layout": DISTRIBUTED}
        async with writing(ground, ground.cluster.dsn, **options) as one, writing(ground, ground.cluster.dsn) as other:
            for number in range(6):
                writer = (one, other)[number % 2]
                assert await outcome_of(writer.submit(fund(shop, 1, f"fund {number}"))) == f"fund {number}"

    run(work)


VAULT = Vault(bytes(32))


def test_jobs_are_claimed_merchant_by_merchant_and_once(deployment: Deployment, open_shop: Callable[..., Any]) -> None:
    lane, start = f"lane {id(deployment)}", datetime.now(UTC) - timedelta(hours=1)
    insert = """
        insert into scheduled_job (key, merchant_id, kind, lane, reference, subject, due, run_at, claims, attempt, work)
        select $1, merchant_id, 'probe', $2, $3, $1, $4, $4, 0, 0, '{}' from merchant where mid = $5 and current
    """

    async def work(connection: Any) -> None:
        for n, shop in enumerate([open_shop(), open_shop()] * 3):
            key = row_key(0, lane, str(n))
            await connection.execute(insert, key, lane, str(n), start + timedelta(seconds=n), shop.mid)
        await code_new_row(connection, VAULT, describe_table(Job), "lane = $1", lane)
        connection.layout = DISTRIBUTED
        wall, turns = datetime.now(UTC), leases.LaneTurns()
        claimed = await leases.claim_jobs(connection, VAULT, lane, wall, 5, turns)
        assert [item.job.reference for item in claimed] == ["0", "1", "2", "3", "4"]
        assert [item.job.claims for item in claimed] == [1] * 5
        assert [item.job.reference for item in await leases.claim_jobs(connection, VAULT, lane, wall, 5, turns)] == [
            "5"
        ]
        assert await leases.claim_jobs(connection, VAULT, lane, wall, 5, turns) == []
        await connection.execute("delete from scheduled_job where lane = $1", lane)

    deployment.run_on_connection(lambda _: with_connection(deployment.dsn, work))


def test_audit_entries_have_the_hash_of_their_fields(ground: Ground) -> None:
    from kasuwa.authority.audit_trail import append_entry

    async def work(connection: Any) -> None:
        for number in range(2):
            await append_entry(connection, 77, AuditEntry("a", f"did {number}", "s", "here", "before", "after"))
        hashes = await connection.fetch(
            "select hash = audit_hash_of(lag(hash, 1, ''::bytea) over (order by seq), merchant_id, seq, at, actor,"
            " address, action, subject, before, after) from audit_entry where merchant_id = 77"
        )
        assert [row[0] for row in hashes] == [True, True]

    asyncio.run(with_connection(ground.cluster.dsn, work))
