"""Changes of a merchant that arrive while its books are reset belong to the new books."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import asyncpg
import msgspec
import pytest

from kasuwa.merchants import merchants
from kasuwa.merchants.merchant_settings import MerchantSettings
from kasuwa.privacy import vault_keys
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import Settings
from tests.merchant_client import MerchantClient
from tests.running import Deployment

HANGS_SECONDS = 30.0
IS_WAITING = "select exists (select 1 from pg_stat_activity where pid = $1 and wait_event_type = 'Lock')"
COUNT_KEYS = "select count(*) from merchant_key where merchant_id = $1"

Change = Callable[[Any, Any, str], Coroutine[Any, Any, None]]


async def roll_key(connection: Any, vault: Any, mid: str) -> None:
    await merchants.roll_key(connection, vault, mid, timedelta())


async def change_rate(connection: Any, vault: Any, mid: str) -> None:
    def change(current: MerchantSettings) -> MerchantSettings:
        return msgspec.structs.replace(current, rate=(7, 9))

    await merchants.change_settings(connection, vault, mid, change, is_endpoint_set=False)


async def change_during_reset(deployment: Deployment, mid: str, change: Change) -> tuple[int, MerchantSettings]:
    """Makes a change while a reset is open, and returns the number of keys and the settings of the new books."""
    resetting, changing = await asyncpg.connect(deployment.dsn), await asyncpg.connect(deployment.dsn)
    try:
        vault = await vault_keys.open_vault(resetting, load_secret_key(Settings(data=deployment.directory)))
        async with resetting.transaction():
            new = await merchants.reset_books(resetting, vault, mid)
            pid = changing.get_server_pid()
            waiting = asyncio.create_task(change(changing, vault, mid))
            while not await resetting.fetchval(IS_WAITING, pid):
                assert not waiting.done()
                await asyncio.sleep(0.01)
        await waiting
        settings = await resetting.fetchval("select settings from merchant where merchant_id = $1", new)
        return await resetting.fetchval(COUNT_KEYS, new), msgspec.json.decode(settings, type=MerchantSettings)
    finally:
        await changing.close()
        await resetting.close()


@pytest.mark.parametrize(("change", "keys", "rate"), [(roll_key, 2, None), (change_rate, 1, (7, 9))])
def test_a_change_during_a_reset_reaches_the_new_books(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], change: Change, keys: int, rate: Any
) -> None:
    mid = open_shop().mid

    async def run() -> tuple[int, MerchantSettings]:
        async with asyncio.timeout(HANGS_SECONDS):
            return await change_during_reset(deployment, mid, change)

    found, settings = asyncio.run(run())
    assert (found, settings.rate) == (keys, rate)
