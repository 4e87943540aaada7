"""The operator's search with very many merchants: its number of statements does not grow with theirs."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest

from kasuwa.postgres.logins import APPLICATION_LOGIN, READER_LOGIN
from tests.console.visitor import Visitor, sign_in_as
from tests.running import Deployment, Deployments, running_deployment
from tests.statement_proxy import StatementProxy
from tests.webhooks.event_log import events_of, wait_until

pytestmark = pytest.mark.xdist_group("full console")

# More than the search once asked for in one statement.
MERCHANTS = 1_200
# The numbers of the new merchants are above those of the old ones: they are searched first.
ADD_MERCHANTS = """
    insert into merchant (merchant_id, mid, name, current)
    select 1000000 + n, 'GP' || 8000000 + n, 'Many ' || n, true from generate_series(1, $1::int) n
"""


class SearchWorld(NamedTuple):
    """A deployment whose statements are counted, an operator, and references of one merchant."""

    running: Deployment
    proxy: StatementProxy
    admin: Visitor
    references: dict[str, str]


@pytest.fixture(scope="module")
def world(deployments: Deployments, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchWorld]:
    place: Path = tmp_path_factory.mktemp("searched")
    with deployments.fresh("search_statements") as plain, StatementProxy(plain.dsn) as proxy:
        secret = (plain.directory / "secret.key").read_text().strip()
        urls = {"URL": APPLICATION_LOGIN, "READER_URL": READER_LOGIN}
        environment = {f"KASUWA_DATABASE_{name}": proxy.dsn(login) for name, login in urls.items()}
        with running_deployment(place, plain.dsn, KASUWA_SECRET_KEY=secret, **environment) as running:
            shop = plain.open_shop()
            with shop.connection:
                sent = shop.transfer(orderRef="an-order")
                [event, *_] = events_of(shop, txnRef=sent["txnRef"])
                made = shop.put(
                    "clients", action="create", data={"firstname": "Ada", "lastname": "Obi", "phone": "08031234567"}
                ).body
            references = {
                "txnRef": sent["txnRef"],
                "orderRef": "an-order",
                "event": event["event_id"],
                "client": made["data"]["client_id"],
                "nothing": "nothing-has-this",
                "account number": "9999999999",
            }
            wait_until("the console serves", lambda: is_console_ready(running))
            yield SearchWorld(running, proxy, sign_in_as(running, "operator:admin"), references)


def is_console_ready(running: Deployment) -> bool:
    """Whether the console, which starts beside the API, answers."""
    try:
        return Visitor(running).get("/sign-in").http == 200
    except OSError:
        return False


def search(world: SearchWorld, text: str) -> tuple[str, list[str]]:
    """Returns the page or its redirect, and the statements that were executed for it."""
    world.proxy.executions.clear()
    page = world.admin.get(f"/operator/search?q={quote(text)}")
    return page.place or page.words, list(world.proxy.executions)


def test_a_search_among_many_merchants_executes_as_many_statements(world: SearchWorld) -> None:
    search(world, "the first visit of a session")
    before = {name: search(world, text) for name, text in world.references.items()}
    assert all(statements for _, statements in before.values())
    assert "/records/" in before["client"][0]
    world.running.fetch(ADD_MERCHANTS, MERCHANTS)
    after = {name: search(world, text) for name, text in world.references.items()}
    assert after == before
    assert world.running.new_stderr() == ""
