"""The service on a database that Citus distributes over three servers: recorded examples, pages, the audit.

`make test-citus CITUS=…` runs this file and citus_kills.py. They are not part of `make test`: Citus is built
from its source (docs/scaling.md). tests/postgres/test_distribution.py has what can be tested without it.
"""

import asyncio
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from kasuwa.authority.roles import MERCHANT_ROLES
from kasuwa.postgres.primary import connect_to_primary
from tests.console.sample_merchant import SampleMerchant
from tests.console.visitor import DEPLOYED, sign_in_as
from tests.distributed.nodes import Nodes
from tests.examples import record
from tests.postgres.test_distribution import SAMPLES, batched_queries
from tests.reconciliation.ledger_database import wire
from tests.reconciliation.test_command import MAPPING
from tests.running import Deployment, running_deployment
from tests.walk.rows import NOW


@pytest.fixture(scope="module")
def deployment(nodes: Nodes, environ: dict[str, str], run: Callable[..., str]) -> Iterator[Deployment]:
    with running_deployment(Path(environ["KASUWA_DATA"]), nodes.dsn, KASUWA_LONGEST_STEP_MS="500") as running:
        yield running


def test_what_is_distributed_stays_where_it_is(run: Callable[..., str]) -> None:
    assert run("database", "distribute") == "nothing to do: every table is where it belongs\n"
    assert run("migrate") == "nothing to do: the schema is up to date\n"


def test_every_batched_query_runs_on_the_server_of_its_merchant(nodes: Nodes, run: Callable[..., str]) -> None:
    async def find_elsewhere() -> dict[str, list[str]]:
        connection, found = await connect_to_primary(nodes.dsn), {}
        for name, query in batched_queries().items():
            parameters = (await connection.prepare(query.of_one)).get_parameters()
            values = [SAMPLES[kind.name] for kind in parameters]
            plan = [row[0].strip() for row in await connection.fetch(f"explain {query.of_one}", *values)]
            if plan.count("Task Count: 1") != 1:
                found[name] = plan
        await connection.close()
        return found

    assert asyncio.run(find_elsewhere()) == {}


def test_the_trail_says_that_tables_were_distributed(deployment: Deployment) -> None:
    [[actor]] = deployment.fetch("select actor from audit_entry where action = 'distributed tables'")
    assert actor


def test_every_recorded_request_is_answered_as_recorded(deployment: Deployment) -> None:
    recorded = record(deployment.open_shop(now=NOW))
    assert [path.name for path, text in recorded.items() if text != path.read_text()] == []
    assert deployment.new_stderr() == ""


def test_the_books_are_in_order_after_the_examples(deployment: Deployment) -> None:
    assert deployment.run_any_command("audit").returncode == 0


def test_every_page_of_the_console_opens(deployment: Deployment) -> None:
    world = SampleMerchant(deployment)
    owner, admin = sign_in_as(deployment, "merchant:owner", world.mid), sign_in_as(deployment, "operator:admin")
    unopened = {}
    for page in DEPLOYED:
        if page.http_method == "GET" and page.path != "/link/{token}":
            is_merchants = isinstance(page.access, frozenset) and bool(page.access & set(MERCHANT_ROLES))
            seen = (owner if is_merchants else admin).get(world.path_of(page.path))
            if seen.http not in (200, 303):
                unopened[page.path] = (seen.http, deployment.new_stderr()[-2000:])
    assert unopened == {}
    assert deployment.new_stderr() == ""


def test_a_bank_statement_is_matched_with_transfers_of_several_servers(deployment: Deployment, tmp_path: Path) -> None:
    shops = [deployment.open_shop() for _ in range(4)]
    references = [shop.transfer()["txnRef"] for shop in shops]
    ids = dict(deployment.fetch("select mid, merchant_id from merchant"))
    day = datetime.now(ZoneInfo("Africa/Lagos")).date()
    wired = [wire(reference, ids[shop.mid]) for shop, reference in zip(shops, references, strict=True)]
    lines = [f"{day},{reference},-1500.00" for reference in wired[:3]]
    statement = tmp_path / "statement.csv"
    statement.write_text("\n".join(("date,ref,amount", *lines, f"{day},SMS,-4.00\n")))
    account = ("--account", "rail:bank:NGN")
    done = deployment.run_command("reconcile", "import", str(statement), *account, "--mapping", MAPPING)
    assert "4 of them new" in done
    assert "matched: 3, differing: 0 (3 by reference)" in done
    assert "SMS" in deployment.run_command("reconcile", "show", *account, "--state", "theirs only")
    ours = deployment.run_command("reconcile", "show", *account, "--state", "ours only")
    assert [reference in ours for reference in references] == [False, False, False, True]


def test_the_database_is_not_distributed_while_the_service_runs(deployment: Deployment) -> None:
    assert "connections of kasuwa are open" in deployment.run_refused_command("database", "distribute")


def test_the_reader_sees_the_rows_of_one_merchant_on_every_server(deployment: Deployment) -> None:
    done = deployment.run_any_command("doctor")
    seen = done.stdout + done.stderr
    assert "the database is distributed by merchant over 2 servers" in seen
    assert "the reader's login cannot write, and sees the rows of one merchant at a time" in seen
