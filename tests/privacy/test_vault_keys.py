"""The versions of the data keys in the database."""

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from kasuwa.core.keyring import UnknownVersion, named_version
from kasuwa.postgres.migrate import MigrationError, migrate
from kasuwa.privacy.key_versions import (
    RotationRefused,
    add_version,
    drop_other_keks,
    drop_version,
    list_versions,
    lock_rotation,
    retire_replaced,
    wrap_all,
)
from kasuwa.privacy.vault_keys import KeyRefresher, WrongSecretKey, open_vault
from tests.running import Deployments

KEY, OTHER_KEY, ROOT = bytes(32), b"x" * 32, bytes(range(32))


def run_on(dsn: str, work: Callable[[Any], Awaitable[None]]) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(dsn)
        try:
            await work(connection)
        finally:
            await connection.close()

    asyncio.run(run())


def test_a_new_database_names_versions_from_the_beginning(deployments: Deployments) -> None:
    async def work(connection: Any) -> None:
        await migrate(connection, "test", KEY)
        vault = await open_vault(connection, KEY)
        assert named_version(vault.seal(1, "place", b"plain", os.urandom(12))) == 1
        with pytest.raises(MigrationError, match="the secret key does not open this database"):
            await open_vault(connection, OTHER_KEY)

    run_on(deployments.new_database("keys_new"), work)


async def add_active_version(connection: Any, key: bytes, merchant_id: int | None = None) -> int:
    """Adds a version that every process has learned already."""
    version = await add_version(connection, key, "seal", merchant_id, timedelta(), "ada")
    await connection.execute("update data_key set active_from = now(), moves_from = now(), refuses_from = now()")
    return version


def test_two_secret_keys_open_a_database_while_one_is_replaced(deployments: Deployments) -> None:
    async def work(connection: Any) -> None:
        await migrate(connection, "test", KEY)
        assert await add_active_version(connection, KEY) == 2
        running = await open_vault(connection, KEY)
        sealed = running.seal(1, "place", b"plain", os.urandom(12))
        assert named_version(sealed) == 2
        await wrap_all(connection, KEY, OTHER_KEY)
        await wrap_all(connection, KEY, OTHER_KEY)  # as after a crash
        for key in (KEY, OTHER_KEY):
            assert (await open_vault(connection, key)).unseal(1, "place", sealed) == b"plain"
            with pytest.raises(RotationRefused, match="still being rolled out"):
                await lock_rotation(connection, key)
        await retire_replaced(connection, "seal", 2)
        with pytest.raises(RotationRefused, match="two secret keys open this database"):
            await lock_rotation(connection, OTHER_KEY)
        await drop_other_keks(connection, OTHER_KEY)
        with pytest.raises(MigrationError, match="the secret key does not open this database"):
            await open_vault(connection, KEY)
        assert (await open_vault(connection, OTHER_KEY)).unseal(1, "place", sealed) == b"plain"
        # A process that started with the old key goes on with what it has unwrapped.
        configured = KEY
        refresher = KeyRefresher(connection, running, KEY, lambda: configured)
        await refresher.refresh()
        assert running.unseal(1, "place", sealed) == b"plain"
        await lock_rotation(connection, OTHER_KEY)
        assert await add_active_version(connection, OTHER_KEY) == 3
        with pytest.raises(WrongSecretKey):
            await refresher.refresh()
        configured = OTHER_KEY
        await refresher.refresh()
        assert named_version(running.seal(1, "place", b"plain", os.urandom(12))) == 3

    run_on(deployments.new_database("keys_wrapped"), work)


def test_a_key_that_does_not_open_everything_deletes_nothing(deployments: Deployments) -> None:
    async def work(connection: Any) -> None:
        await migrate(connection, "test", KEY)
        await wrap_all(connection, KEY, OTHER_KEY)
        await add_active_version(connection, KEY)
        with pytest.raises(RotationRefused, match="does not open all data keys"):
            await drop_other_keks(connection, OTHER_KEY)
        await open_vault(connection, KEY)
        with pytest.raises(MigrationError, match="version 2 of the seal key is wrapped by another secret key"):
            await open_vault(connection, OTHER_KEY)

    run_on(deployments.new_database("keys_half_wrapped"), work)


def test_a_dropped_version_cannot_be_derived_any_more(deployments: Deployments) -> None:
    async def work(connection: Any) -> None:
        await migrate(connection, "test", KEY)
        first = await open_vault(connection, KEY)
        sealed = first.seal(1, "place", b"plain", os.urandom(12))
        token = secrets.token_hex(8)
        await add_active_version(connection, KEY)
        with pytest.raises(RotationRefused, match="version 1 is in use"):
            await drop_version(connection, KEY, 1)
        assert await retire_replaced(connection, "seal", 2) == [1]
        await drop_version(connection, KEY, 1)
        after = await open_vault(connection, KEY)
        with pytest.raises(UnknownVersion):
            after.unseal(1, "place", sealed)
        await connection.execute("update data_key set retired_at = null where version = 1")
        with pytest.raises(MigrationError, match="version 1 of the seal key was dropped"):
            await open_vault(connection, KEY)
        assert after.hash_api_key(token) == first.hash_api_key(token)
        assert after.derive_digits(token, 3) == first.derive_digits(token, 3)

    run_on(deployments.new_database("keys_dropped"), work)


def test_a_merchants_version_retires_only_its_own(deployments: Deployments) -> None:
    async def work(connection: Any) -> None:
        await migrate(connection, "test", KEY)
        for version in (2, 3):
            assert await add_active_version(connection, KEY, merchant_id=7) == version
            await retire_replaced(connection, "seal", version)
        states = {key.version: key.state for key in await list_versions(connection) if key.purpose == "seal"}
        assert states == {1: "active", 2: "retired", 3: "active"}
        vault = await open_vault(connection, KEY)
        assert [vault.keyring.active_version(merchant) for merchant in (7, 8)] == [3, 1]

    run_on(deployments.new_database("keys_of_merchants"), work)
