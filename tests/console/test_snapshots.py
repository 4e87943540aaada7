"""Every page of the console is read in one snapshot, and a page that is not is refused."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.requests import Request

from kasuwa.authority.roles import MERCHANT_ROLES
from kasuwa.boot.api import make_admin_operations, make_dispatch
from kasuwa.boot.composition import Services
from kasuwa.boot.console import make_console_services
from kasuwa.console.kit.visit import ConsoleServices, Visit
from kasuwa.console.merchant import store
from kasuwa.console.routes import ConsolePage
from kasuwa.core.decision import Merchant
from kasuwa.engine.reading import TornRead
from kasuwa.merchants import exchange_rates
from kasuwa.postgres import connections
from kasuwa.settings.settings import read_settings
from kasuwa.webhooks.health import list_failing_endpoints
from tests.console.sample_merchant import SampleMerchant
from tests.console.visitor import DEPLOYED, Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import NEWEST, Deployment, Deployments

pytestmark = pytest.mark.xdist_group("console")

READ = [page for page in DEPLOYED if page.http_method == "GET"]


@pytest.fixture(scope="module")
def world(deployments: Deployments) -> SampleMerchant:
    return SampleMerchant(deployments.for_version(NEWEST))


@pytest.fixture(scope="module")
def owner(deployments: Deployments, world: SampleMerchant) -> Visitor:
    return sign_in_as(deployments.for_version(NEWEST), "merchant:owner", world.mid)


@pytest.fixture(scope="module")
def admin(deployments: Deployments) -> Visitor:
    return sign_in_as(deployments.for_version(NEWEST), "operator:admin")


@pytest.mark.parametrize("page", READ, ids=lambda page: page.path)
def test_every_page_of_a_busy_merchant_is_read_in_one_snapshot(
    deployment: Deployment, world: SampleMerchant, owner: Visitor, admin: Visitor, page: ConsolePage
) -> None:
    """A page that reads twice is answered 500, and the log complains, which the fixture of the deployment sees."""
    merchants = isinstance(page.access, frozenset) and bool(page.access & set(MERCHANT_ROLES))
    seen = (owner if merchants else admin).get(world.path_of(page.path))
    assert seen.http in ((404,) if page.path == "/link/{token}" else (200, 303)), seen.words[:200]


# --- pages that are refused -----------------------------------------------------------------------------------------


def visiting(deployment: Deployment, shop: MerchantClient, verb: str, work: Callable[[Visit], Awaitable[Any]]) -> Any:
    """Runs what a page does, with the parts of a real console."""

    def visit_of(parts: ConsoleServices, merchant: Merchant) -> Visit:
        scope = {"type": "http", "method": verb, "path": "/page", "headers": [], "query_string": b"", "scheme": "http"}
        visit = Visit(Request({**scope, "server": ("127.0.0.1", 80), "path_params": {}}), parts, [])
        visit.session_merchant = merchant
        return visit

    async def run() -> Any:
        settings = read_settings({}, data=deployment.directory)
        services = await Services.build(settings, deployment.dsn)
        operators = await connections.open_operator_pool(deployment.dsn)
        readers = await connections.open_console_pool(deployment.dsn)
        services.writer.start()
        try:
            parts = make_console_services(
                services, make_dispatch(services, make_admin_operations(services, operators)), operators, readers
            )
            merchant_id = await operators.fetchval(
                "select merchant_id from merchant where mid = $1 and current", shop.mid
            )
            return await work(visit_of(parts, await services.merchant_directory.get_by_id(merchant_id)))
        finally:
            await services.close()
            await readers.close()
            await operators.close()

    return asyncio.run(run())


async def read_twice(visit: Visit) -> None:
    async with visit.snapshot() as reader:
        await store.read_settings(reader, visit.merchant)
    async with visit.snapshot() as reader:
        await list_failing_endpoints(reader, visit.merchant.merchant_id)


async def read_on_a_pool(visit: Visit) -> None:
    await store.read_settings(visit.reader, visit.merchant)


async def read_with_the_operators_pool(visit: Visit) -> None:
    async with visit.operator_pool.acquire() as connection:
        await exchange_rates.read_current_rates(connection)


async def export_after_reading(visit: Visit) -> None:
    async with visit.snapshot() as reader:
        await store.read_settings(reader, visit.merchant)
    await store.read_settings(visit.export_reader, visit.merchant)


TORN = [read_twice, read_on_a_pool, read_with_the_operators_pool, export_after_reading]


@pytest.mark.parametrize("torn", TORN)
def test_a_page_that_reads_twice_is_refused(
    deployment: Deployment, shop: MerchantClient, torn: Callable[[Visit], Awaitable[Any]]
) -> None:
    with pytest.raises(TornRead):
        visiting(deployment, shop, "GET", torn)


@pytest.mark.parametrize("torn", TORN)
def test_a_form_may_read_before_and_after_its_change(
    deployment: Deployment, shop: MerchantClient, torn: Callable[[Visit], Awaitable[Any]]
) -> None:
    visiting(deployment, shop, "POST", torn)


def test_an_action_that_would_write_is_refused_in_a_snapshot(deployment: Deployment, shop: MerchantClient) -> None:
    order = {"action": "transfer", "amount": "5.00", "bankcode": "058", "accountnumber": "0000000000"}

    async def send(visit: Visit) -> Any:
        async with visit.snapshot():
            return await visit.services.run_action(visit.merchant, "disburse", order, within=visit.open_snapshot)

    before = shop.wallet()
    assert visiting(deployment, shop, "GET", send)["status"] == 204
    assert shop.wallet() == before


def test_actions_of_a_page_read_in_its_snapshot(deployment: Deployment, shop: MerchantClient) -> None:
    """A transfer is made between two looks at the wallet: both show it as it was before."""

    async def look_twice(visit: Visit) -> Any:
        async def balance() -> str:
            reply = await visit.services.run_action(
                visit.merchant, "resources", {"inquire": "wallet"}, within=visit.open_snapshot
            )
            return str(reply["data"][0]["balance"])

        async with visit.snapshot():
            before = await balance()
            await asyncio.to_thread(shop.transfer)
            during = await balance()
        return before, during, await balance()

    before, during, after = visiting(deployment, shop, "GET", look_twice)
    assert before == during != after
