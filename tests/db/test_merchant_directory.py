"""The cache of merchants and keys: a new key works at once, and wrong keys cost few queries."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import asyncpg

from kasuwa.db import merchants, migrate
from kasuwa.db.merchants import RECHECK_AFTER_SECONDS, MerchantDirectory
from kasuwa.secret_key import secret_key_of
from kasuwa.settings import Settings
from tests.merchant_client import MerchantClient
from tests.running import Deployment

ATTEMPTS = 500


class CountingReader:
    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.queries = 0

    async def fetch(self, statement: str, *parameters: Any) -> Any:
        self.queries += 1
        return await self._connection.fetch(statement, *parameters)


async def with_directory(deployment: Deployment, work: Callable[..., Any]) -> Any:
    connection = await asyncpg.connect(deployment.dsn)
    try:
        vault = await migrate.open_vault(connection, secret_key_of(Settings(data=deployment.directory)))
        reader: Any = CountingReader(connection)
        return await work(connection, vault, MerchantDirectory(reader, vault, "test"), reader)
    finally:
        await connection.close()


def test_a_new_key_works_at_once(deployment: Deployment, open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop()

    async def roll(connection: Any, vault: Any, directory: MerchantDirectory, reader: CountingReader) -> None:
        assert await directory.authenticate(shop.mid, shop.key) is not None
        new_key = await merchants.roll_key(connection, vault, shop.mid, timedelta(hours=1))
        await asyncio.sleep(RECHECK_AFTER_SECONDS)
        for key in (new_key, shop.key):
            merchant = await directory.authenticate(shop.mid, key)
            assert merchant is not None
            assert merchant.mid == shop.mid

    asyncio.run(with_directory(deployment, roll))


def test_a_new_merchant_is_found_at_once(deployment: Deployment) -> None:
    async def add(connection: Any, vault: Any, directory: MerchantDirectory, reader: CountingReader) -> None:
        mid = f"GP{await connection.fetchval('select last_value + 1 from merchant_number'):07d}"
        assert await directory.authenticate(mid, "wrong") is None
        added: tuple[int, str, str] = await merchants.add_merchant(connection, vault, "new")
        await asyncio.sleep(RECHECK_AFTER_SECONDS)
        assert added[1] == mid
        assert await directory.authenticate(mid, added[2]) is not None

    asyncio.run(with_directory(deployment, add))


def test_wrong_keys_share_queries(deployment: Deployment, open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop()

    async def try_keys(connection: Any, vault: Any, directory: MerchantDirectory, reader: CountingReader) -> None:
        for mid in (shop.mid, "GP9999999"):
            await directory.authenticate(mid, "first")
            await asyncio.sleep(RECHECK_AFTER_SECONDS)
            before = reader.queries
            answers = await asyncio.gather(*(directory.authenticate(mid, f"wrong {n}") for n in range(ATTEMPTS)))
            assert (answers, reader.queries - before) == ([None] * ATTEMPTS, 1)

    asyncio.run(with_directory(deployment, try_keys))
