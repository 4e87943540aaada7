"""The daily refresh of the biller catalogue: once, however many workers there are; old paycodes work for another day.
Contract: bills#pay

It has a deployment of its own, because all merchants share the catalogue: a new edition would show in other tests.
"""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import asyncpg
import pytest

from kasuwa.rails.catalogue.catalogue import CatalogueEdition, InvalidCatalogue
from kasuwa.rails.catalogue.refresh import CatalogueRefresher, fetch_edition
from kasuwa.rails.ports.orders import Unavailable
from kasuwa.rails.routing.orders import RoutedBiller
from kasuwa.rails.sandbox.biller import SandboxBiller
from tests.merchant_client import MerchantClient, new_reference
from tests.rails.no_rails import no_rails
from tests.running import Deployment, Deployments
from tests.walk.bounds import OLD_PAYCODE

pytestmark = pytest.mark.xdist_group("catalogue")

METER = "45012345678"
MY_LOCKS = "select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()"


@pytest.fixture(scope="module")
def own(deployments: Deployments) -> Iterator[Deployment]:
    with deployments.fresh("catalogue", KASUWA_CONSOLE="off") as deployment:
        yield deployment
        assert deployment.new_stderr() == ""


@pytest.fixture
def shop(own: Deployment) -> Iterator[MerchantClient]:
    shop = own.open_shop()
    with shop.connection:
        yield shop
    assert own.broken_invariants([shop.mid]) == []


def prepaid_paycode(shop: MerchantClient) -> str:
    return str(shop.put("bills", action="pull", bills_id=14).body["data"]["items"][0]["paycode"])


def pay(shop: MerchantClient, paycode: str) -> Any:
    """Makes the same payment again, so it waits until it is not a likely duplicate any more."""
    shop.advance(seconds=30)
    fields: dict[str, Any] = {
        "paycode": paycode,
        "reference": METER,
        "amount": "5000.00",
        "orderRef": new_reference("bill"),
    }
    return shop.put("bills", action="pay", **fields).body


def resolve(shop: MerchantClient, paycode: str) -> Any:
    return shop.put("bills", action="resolve", paycode=paycode, reference=METER).body


def refresh(own: Deployment, shop: MerchantClient) -> str:
    """Fetches an edition by the command and waits until it is listed. Returns its paycode."""
    before = prepaid_paycode(shop)
    assert "of the catalogue is listed" in own.run_command("bills", "refresh")
    until = time.monotonic() + 30
    while prepaid_paycode(shop) == before:
        assert time.monotonic() < until, "the new edition is not served"
        time.sleep(0.05)
    return prepaid_paycode(shop)


def editions(own: Deployment) -> int:
    return int(own.fetch("select max(edition) from bill_edition")[0][0])


def make_old(own: Deployment) -> None:
    own.fetch("update bill_edition set taken_at = taken_at - interval '25 hours' returning 1")


# --- rotation ---------------------------------------------------------------------------------------------------


def test_the_first_start_brings_the_first_edition(own: Deployment) -> None:
    assert own.fetch("select items from bill_edition where edition = 1")[0][0] == 218


def test_a_refresh_lists_new_paycodes_and_both_are_accepted(own: Deployment, shop: MerchantClient) -> None:
    old = prepaid_paycode(shop)
    new = refresh(own, shop)
    assert new != old
    for paycode in (old, new):
        assert resolve(shop, paycode)["status"] == 200
        assert pay(shop, paycode)["txnStatus"] == "successful"


def test_an_old_paycode_is_accepted_for_a_day_of_wall_time_and_not_longer(
    own: Deployment, shop: MerchantClient
) -> None:
    old = prepaid_paycode(shop)
    refresh(own, shop)
    shop.advance(days=3)
    assert pay(shop, old)["txnStatus"] == "successful", "business time does not age a paycode"
    aged = "update bill_item set retired_at = now() - interval '{}' where paycode = $1 returning 1"
    for age, is_within in OLD_PAYCODE.sides:
        own.fetch(aged.format(age), old)
        new = refresh(own, shop)
        for reply in (pay(shop, old), resolve(shop, old)):
            assert reply["status"] == (200 if is_within else 104), (age, reply)
            assert [fault["field"] for fault in reply.get("errors", [])] == ([] if is_within else ["paycode"])
    assert pay(shop, new)["txnStatus"] == "successful"


def test_paycodes_nobody_can_pay_by_are_thrown_away_in_time(own: Deployment, shop: MerchantClient) -> None:
    old = prepaid_paycode(shop)
    refresh(own, shop)
    own.fetch("update bill_item set retired_at = now() - interval '31 days' where paycode = $1 returning 1", old)
    refresh(own, shop)
    assert own.fetch("select 1 from bill_item where paycode = $1", old) == []


# --- once a day -------------------------------------------------------------------------------------------------


async def keep_all(dsn: str, count: int) -> list[int | None]:
    refreshers = [CatalogueRefresher(dsn, SandboxBiller()) for _ in range(count)]
    return await asyncio.gather(*(refresher.run_once() for refresher in refreshers))


def test_many_workers_take_one_edition_when_one_is_due_and_none_before(own: Deployment) -> None:
    before = editions(own)
    assert asyncio.run(keep_all(own.dsn, 5)) == [None] * 5
    make_old(own)
    taken = [edition for edition in asyncio.run(keep_all(own.dsn, 5)) if edition is not None]
    assert taken in ([before + 1], []), "by one of them, or by the deployment's own worker"
    assert editions(own) == before + 1


class Broken(SandboxBiller):
    async def fetch_catalogue(self, edition: int) -> CatalogueEdition:
        sheet = await super().fetch_catalogue(edition)
        return CatalogueEdition(sheet.categories, sheet.billers[1:], sheet.items)


@pytest.mark.parametrize(
    ("rail", "error"), [(RoutedBiller(no_rails("bills")), Unavailable), (Broken(), InvalidCatalogue)]
)
def test_a_rail_with_nothing_to_sell_leaves_the_edition_before_it(
    own: Deployment, rail: Any, error: type[Exception]
) -> None:
    async def take() -> None:
        connection = await asyncpg.connect(own.dsn)
        try:
            await fetch_edition(connection, rail, only_if_due=False)
        finally:
            held = await connection.fetchval(MY_LOCKS)
            await connection.close()
            assert held == 0, "the lock is let go"

    before = editions(own)
    with pytest.raises(error):
        asyncio.run(take())
    assert editions(own) == before


def test_a_refresher_outlives_a_rail_that_does_not_answer(own: Deployment) -> None:
    async def run() -> None:
        refresher = CatalogueRefresher(own.dsn, RoutedBiller(no_rails("bills")))
        running = asyncio.create_task(refresher.run())
        await asyncio.sleep(0)
        refresher.stop()
        await running

    make_old(own)
    asyncio.run(run())
    asyncio.run(keep_all(own.dsn, 1))
