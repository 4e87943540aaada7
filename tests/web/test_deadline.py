"""A rail that never answers: whoever asks it is told so at the deadline, and nothing has changed.

The house is put together here, in the test's own process, so that the world's edge can be one that hangs. All rows
of the tables that ask a rail before they answer are walked.
"""

import asyncio
from typing import Any, NoReturn

import msgspec
import pytest

from kasuwa.app import House
from kasuwa.core.action import Lookup, Write
from kasuwa.core.decision import Merchant
from kasuwa.core.scenario import RailName
from kasuwa.db.gather import Reading
from kasuwa.settings import read_settings
from kasuwa.web.dispatch import Dispatch, Parts
from kasuwa.web.outcome import NO_ANSWER
from kasuwa.web.table import make_table
from tests.running import NEWEST, Deployment, Deployments
from tests.shop import Shop
from tests.walk.rows import ROWS, Row
from tests.walk.test_tenancy import everything_of

DEADLINE_SECONDS = 0.05


class Hanging:
    """A rail of which everything can be asked, and nothing ever comes."""

    def __getattr__(self, name: str) -> Any:
        return self.hang

    async def hang(self, *said: Any) -> NoReturn:
        await asyncio.Event().wait()
        raise AssertionError


def asks_a_rail(row: Row) -> bool:
    action = row.action
    if not isinstance(action, Write) or action.ask is None:
        return isinstance(action, Lookup)
    return "verify_bvn" in row.example


ASKING = [row for row in ROWS if asks_a_rail(row)]


@pytest.fixture
def deployment(deployments: Deployments) -> Deployment:
    return deployments.on(NEWEST)


async def ask_in_vain(deployment: Deployment, shop: Shop, row: Row) -> Any:
    environment = {"KASUWA_DATABASE_URL": deployment.dsn, "KASUWA_DATA": str(deployment.directory)}
    house = await House.build(read_settings(environment), deployment.dsn)
    house.writer.start()
    rails = {name: Hanging() for name in RailName.__args__ if hasattr(house.rails, name)}  # type: ignore[attr-defined]
    parts = Parts(
        directory=house.directory,
        writer=house.writer,
        reader=Reading(house.reader, house.vault),
        steps=house.stepper,
        rails=msgspec.structs.replace(house.rails, **rails),
        engine=None,
        vault=house.vault,
        environment="test",
        deadline_seconds=DEADLINE_SECONDS,
    )
    path = make_table(house.methods)[f"/{row.method}"]
    try:
        async with asyncio.timeout(30):
            dispatch = Dispatch(parts)
            merchant = await dispatch.identify(path, shop.headers, lambda: "127.0.0.1")
            assert isinstance(merchant, Merchant), merchant
            answered = await dispatch.answer(path, shop.headers, msgspec.json.encode(row.example), merchant)
    finally:
        await house.close()
    return msgspec.json.decode(answered.body)


def test_there_are_rows_that_ask_a_rail() -> None:
    assert {"resources-accountname", "resources-bvn", "clients-create"} <= {row.title for row in ASKING}


@pytest.mark.parametrize("row", ASKING, ids=lambda row: row.title)
def test_a_rail_that_hangs_is_given_up_at_the_deadline(shop: Shop, deployment: Deployment, row: Row) -> None:
    before = everything_of(deployment, shop)
    assert asyncio.run(ask_in_vain(deployment, shop, row)) == {"status": 204, "message": NO_ANSWER.message}
    assert everything_of(deployment, shop) == before
