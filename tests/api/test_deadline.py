"""A rail that never answers: whoever asks it is told so at the deadline, and nothing has changed.

The services is put together here, in the test's own process, so that the world's edge can be one that hangs. All rows
of the tables that ask a rail before they answer are walked.
"""

import asyncio
from typing import Any, NoReturn

import msgspec
import pytest

from kasuwa.api.dispatch import Dispatch, DispatchServices
from kasuwa.api.outcome import RAIL_TIMEOUT
from kasuwa.api.routes import make_routes
from kasuwa.boot.composition import Services
from kasuwa.core.action import Lookup, Write
from kasuwa.core.decision import Merchant
from kasuwa.core.scenario import RailName
from kasuwa.settings.settings import read_settings
from tests.merchant_client import MerchantClient, without_codes
from tests.running import NEWEST, Deployment, Deployments
from tests.walk.rows import ACTION_ROWS, ActionRow
from tests.walk.test_tenancy import everything_of

DEADLINE_SECONDS = 0.05


class Hanging:
    """A rail of which everything can be asked, and nothing ever comes."""

    def __getattr__(self, name: str) -> Any:
        return self.hang

    async def hang(self, *arguments: Any) -> NoReturn:
        await asyncio.Event().wait()
        raise AssertionError


def asks_a_rail(row: ActionRow) -> bool:
    action = row.action
    if not isinstance(action, Write) or action.rail_question is None:
        return isinstance(action, Lookup)
    return "verify_bvn" in row.example


ASKING = [row for row in ACTION_ROWS if asks_a_rail(row)]


@pytest.fixture
def deployment(deployments: Deployments) -> Deployment:
    return deployments.for_version(NEWEST)


async def ask_in_vain(deployment: Deployment, shop: MerchantClient, row: ActionRow) -> Any:
    environment = {"KASUWA_DATABASE_URL": deployment.dsn, "KASUWA_DATA": str(deployment.directory)}
    services = await Services.build(read_settings(environment), deployment.dsn)
    services.writer.start()
    rails = {name: Hanging() for name in RailName.__args__ if hasattr(services.rails, name)}  # type: ignore[attr-defined]
    parts = DispatchServices(
        directory=services.merchant_directory,
        writer=services.writer,
        reader=services.readers,
        steps=services.step_runner,
        rails=msgspec.structs.replace(services.rails, **rails),
        admin_operations=None,
        vault=services.vault,
        environment="test",
        deadline_seconds=DEADLINE_SECONDS,
    )
    path = make_routes(services.methods)[f"/{row.method}"]
    try:
        async with asyncio.timeout(30):
            dispatch = Dispatch(parts)
            merchant = await dispatch.authenticate(path, shop.headers, lambda: "127.0.0.1")
            assert isinstance(merchant, Merchant), merchant
            answered = await dispatch.answer(path, shop.headers, msgspec.json.encode(row.example), merchant)
    finally:
        await services.close()
    return msgspec.json.decode(answered.body)


def test_there_are_rows_that_ask_a_rail() -> None:
    assert {"resources-accountname", "resources-bvn", "clients-create"} <= {row.title for row in ASKING}


@pytest.mark.parametrize("row", ASKING, ids=lambda row: row.title)
def test_a_rail_that_hangs_is_given_up_at_the_deadline(
    shop: MerchantClient, deployment: Deployment, row: ActionRow
) -> None:
    before = everything_of(deployment, shop)
    assert without_codes(asyncio.run(ask_in_vain(deployment, shop, row))) == {
        "status": 204,
        "message": RAIL_TIMEOUT.message,
    }
    assert everything_of(deployment, shop) == before
