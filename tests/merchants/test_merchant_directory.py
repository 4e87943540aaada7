"""The cache of merchants and keys: a new key works at once, and wrong keys and reloads cost few queries."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from kasuwa.merchants import exchange_rates, merchants
from kasuwa.merchants.merchants import RECHECK_AFTER_SECONDS, MerchantDirectory
from kasuwa.privacy import vault_keys
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import Settings
from kasuwa.terms.conversion import ExchangeRate, ExchangeRates
from tests.merchant_client import MerchantClient
from tests.running import Deployment, code_all_rows

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
        vault = await vault_keys.open_vault(connection, load_secret_key(Settings(data=deployment.directory)))
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


def test_reloads_share_queries(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    shops = [open_shop() for _ in range(5)]
    monkeypatch.setattr(merchants, "REFRESH_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(merchants, "STALE_AFTER_SECONDS", 600.0)
    monkeypatch.setattr(merchants, "MAX_RELOADED", 3)

    async def reload(connection: Any, vault: Any, directory: MerchantDirectory, reader: CountingReader) -> None:
        async def names() -> list[str | None]:
            found = [await directory.authenticate(shop.mid, shop.key) for shop in shops]
            return [None if merchant is None else merchant.name for merchant in found]

        await names()
        mids = [shop.mid for shop in shops]
        await connection.execute("update merchant set name = 'renamed' where mid = any($1)", mids)
        await connection.execute("update merchant set current = false where mid = $1", mids[4])
        await code_all_rows(connection, vault)
        before = reader.queries
        assert "renamed" not in await names()
        while directory.is_reloading:
            await asyncio.sleep(0.01)
        assert reader.queries - before == 2
        monkeypatch.setattr(merchants, "REFRESH_AFTER_SECONDS", 600.0)
        assert await names() == ["renamed"] * 4 + [None]
        await connection.execute("update merchant set current = true where mid = $1", mids[4])
        await code_all_rows(connection, vault)

    asyncio.run(with_directory(deployment, reload))


def test_a_reload_that_fails_leaves_merchants_to_the_next_request(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = open_shop()
    monkeypatch.setattr(merchants, "REFRESH_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(merchants, "STALE_AFTER_SECONDS", 600.0)

    async def fail(connection: Any, vault: Any, directory: MerchantDirectory, reader: CountingReader) -> None:
        assert await directory.authenticate(shop.mid, shop.key) is not None
        monkeypatch.setattr(reader, "_connection", None)
        assert await directory.authenticate(shop.mid, shop.key) is not None
        while directory.is_reloading:
            await asyncio.sleep(0.01)
        monkeypatch.setattr(reader, "_connection", connection)
        monkeypatch.setattr(merchants, "STALE_AFTER_SECONDS", 0.0)
        assert await directory.authenticate(shop.mid, shop.key) is not None

    asyncio.run(with_directory(deployment, fail))


def test_what_a_query_found_before_an_eviction_is_not_cached(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop()

    async def evict(connection: Any, vault: Any, directory: MerchantDirectory, reader: CountingReader) -> None:
        await directory.load(shop.mid)
        before = reader.queries
        assert await directory.authenticate(shop.mid, shop.key) is not None
        assert reader.queries == before, "what was loaded is cached"
        late = directory.load(shop.mid)
        while reader.queries == before:
            await asyncio.sleep(0)
        directory.evict(shop.mid)
        assert (await late).merchant is not None
        assert directory.get_cached(shop.mid) is None
        assert directory.load(shop.mid) is not late

    asyncio.run(with_directory(deployment, evict))


def test_a_merchant_that_is_read_again_is_the_same_until_it_changes(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop()

    async def read_again(connection: Any, vault: Any, directory: MerchantDirectory, reader: CountingReader) -> None:
        async def read() -> Any:
            return (await directory.load(shop.mid)).merchant

        async def set_settings(settings: str) -> None:
            await connection.execute("update merchant set settings = $2 where mid = $1", shop.mid, settings)
            await code_all_rows(connection, vault)

        await connection.transaction().start()  # never committed: the server does not see it
        [stored] = await connection.fetchrow("select settings::text from merchant where mid = $1 and current", shop.mid)
        first = await read()
        assert await read() is first
        await set_settings('{"settlement_days": 7}')
        assert (await read()).settlement_days == 7
        await set_settings('{"payouts_change": {"policy": {}, "effective_at": "2999-01-01T00:00:00Z", "by": "x"}}')
        assert await read() is not await read(), "what it is changes with the time"
        await connection.execute("update merchant set settings = $2 where mid = $1", shop.mid, stored)
        assert await read() is None, "the code of its row is checked each time"
        await code_all_rows(connection, vault)
        assert await read() == first

    asyncio.run(with_directory(deployment, read_again))


def test_a_merchant_that_is_read_again_has_the_rates_of_now(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop()

    async def change(connection: Any, vault: Any, directory: MerchantDirectory, reader: CountingReader) -> None:
        async def read() -> Any:
            merchant = (await directory.load(shop.mid)).merchant
            assert merchant is not None
            return merchant.terms(ExchangeRates).by_currency.get("USD")

        await connection.transaction().start()  # never committed: the server does not see it
        known = await read()
        rate = ExchangeRate(buy=7, sell=11)
        await exchange_rates.set_rate(connection, vault, "USD", rate, "test")
        assert await read() == rate != known
        await connection.execute("insert into exchange_rate (currency, buy, sell, set_by) values ('USD', 7, 12, 'x')")
        assert await read() is None, "a rate that the service did not write is not used"
        await code_all_rows(connection, vault)
        assert await read() == ExchangeRate(buy=7, sell=12)

    asyncio.run(with_directory(deployment, change))
