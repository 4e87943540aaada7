"""A console whose database goes away while something is being sent: it does not say that nothing was done, and what is
sent again from the page that it shows is sent once."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.console.visitor import PageReply, Visitor, sign_in_as
from tests.database_proxy import DatabaseProxy
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments, running_deployment
from tests.simulate.processes import query, wait_until

pytestmark = pytest.mark.xdist_group("console")

ORDER = {"amount": "1500.00", "bankcode": "058", "accountnumber": "0000000000", "narration": "rent"}
LOCK_MERCHANT = (
    "select 1 from merchant_state join merchant using (merchant_id) where mid = $1 for update of merchant_state"
)
WAITING = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
SENT = "select count(*) from transaction t join merchant m using (merchant_id) where m.mid = $1 and kind = 'transfer'"


def hidden(seen: PageReply, name: str) -> str:
    return seen.text.partition(f'name="{name}" value="')[2].partition('"')[0]


def send_while_cut(dsn: str, cable: DatabaseProxy, shop: MerchantClient, owner: Visitor, **order: str) -> PageReply:
    """The page after a form that was being worked on when the database went away."""

    with ThreadPoolExecutor(1) as thread, locked_merchant(dsn, shop):
        sending = thread.submit(owner.post, "/transfers/send", **order)
        try:
            wait_until("the writer waits for the book", lambda: query(dsn, WAITING)[0][0])
        finally:
            cable.cut()
        return sending.result()


@contextmanager
def locked_merchant(dsn: str, shop: MerchantClient) -> Iterator[None]:
    with asyncio.Runner() as runner:
        connection: Any = runner.run(asyncpg.connect(dsn))
        runner.run(connection.execute("begin"))
        runner.run(connection.fetch(LOCK_MERCHANT, shop.mid))
        try:
            yield
        finally:
            runner.run(connection.close())


def test_an_unconfirmed_transfer_can_be_sent_again_without_a_duplicate(
    deployments: Deployments, tmp_path: Path
) -> None:
    dsn = deployments.new_database("console_outcome")
    with DatabaseProxy(dsn) as cable, running_deployment(tmp_path / "serve", cable.dsn) as deployment:
        shop = deployment.open_shop()
        shop.connection.close()
        owner = sign_in_as(deployment, "merchant:owner", shop.mid)
        reference = hidden(owner.post("/transfers/preview", **ORDER), "orderRef")
        seen = send_while_cut(dsn, cable, shop, owner, **ORDER, orderRef=reference)
        assert seen.http == 503
        assert hidden(seen, "orderRef") == reference
        cable.restore()
        wait_until("the console is back", lambda: owner.get("/transfers").http == 200)
        again = [owner.post("/transfers/send", **ORDER, orderRef=reference) for _ in range(2)]
        assert [page.http for page in again] == [303, 303]
        assert sent_by(deployment, shop) == 1


def sent_by(deployment: Deployment, shop: MerchantClient) -> int:
    wait_until("the database is back", lambda: reaches(deployment))
    return int(deployment.fetch(SENT, shop.mid)[0][0])


def reaches(deployment: Deployment) -> bool:
    try:
        deployment.fetch("select 1")
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        deployment._connection = None
        return False
    return True
