"""Ciphertexts are rewritten in windows: a pass goes on where it was interrupted, and counts what is damaged."""

import asyncio
import os
from typing import Any

import asyncpg
import pytest
from structlog.testing import capture_logs

from kasuwa.core.keyring import SEAL, named_version
from kasuwa.core.vault import Vault
from kasuwa.merchants.keys import SECRET_SEAL_CONTEXT
from kasuwa.merchants.merchants import MERCHANT_ROW, MERCHANTS
from kasuwa.methods.sealed_columns import SEALED_PLACES, make_client_indexer
from kasuwa.postgres.migrate import migrate
from kasuwa.postgres.row_codes import code_new_row
from kasuwa.privacy import key_moves
from kasuwa.privacy.key_rotation import KeyRotation, rewrite_window
from kasuwa.privacy.key_versions import find_unfinished, list_versions
from kasuwa.privacy.vault_keys import open_vault
from tests.privacy.test_vault_keys import KEY, add_active_version
from tests.running import Deployments

COUNT = 7
SECRETS = next(column for column in SEALED_PLACES.columns if column.name == "signing_secret.sealed")


async def open_database(dsn: str) -> tuple[Any, Vault]:
    """Makes a database with secrets of two merchants, of version 1, and one that is damaged; version 2 is active."""
    connection = await asyncpg.connect(dsn)
    await migrate(connection, "test", KEY)
    vault = await open_vault(connection, KEY)
    for merchant_id in (1, 2):
        await connection.execute(
            "insert into merchant (merchant_id, mid, name) values ($1, $2, 'Ada')",
            merchant_id,
            f"GP000000{merchant_id}",
        )
        await code_new_row(connection, vault, MERCHANTS, MERCHANT_ROW, merchant_id)
        for number in range(COUNT):
            sealed = vault.seal(merchant_id, SECRET_SEAL_CONTEXT, b"secret %d" % number, os.urandom(12))
            await store_secret(connection, merchant_id, number, sealed)
    await store_secret(connection, 2, COUNT, b"damaged and not a ciphertext at all")
    await add_active_version(connection, KEY)
    vault = await open_vault(connection, KEY)
    # The pause between two passes is half of it.
    await connection.execute("update deployment set key_update_seconds = 1")
    return connection, vault


async def store_secret(connection: Any, merchant_id: int, number: int, sealed: bytes) -> None:
    await connection.execute(
        "insert into signing_secret (merchant_id, secret_id, verifier, sealed, created_by) values ($1, $2, '', $3, '')",
        merchant_id,
        number,
        sealed,
    )


async def read_versions(connection: Any) -> list[int | None]:
    return [named_version(sealed) for (sealed,) in await connection.fetch("select sealed from signing_secret")]


def test_a_pass_goes_on_where_it_was_interrupted(deployments: Deployments, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_moves, "WINDOW", 2)

    async def work(dsn: str) -> None:
        connection, vault = await open_database(dsn)
        done, position = await rewrite_window(SECRETS, vault, connection, [])
        await key_moves.save_progress(connection, SEAL, 2, SECRETS.name, position, done)
        assert (done.rows, (await read_versions(connection)).count(2)) == (2, 2)
        # Rows before the position are of the active version: only a pass that begins anew looks at them.
        await connection.execute("update signing_secret set sealed = '' where secret_id = 0")
        with capture_logs() as logged:
            rotation = KeyRotation(dsn, connection, vault, SEALED_PLACES, make_client_indexer(vault))
            await rotation.run_once()
        assert {line["place"] for line in logged if line["log_level"] == "error"} == {SECRETS.name}
        assert (await read_versions(connection)).count(2) == 2 * (COUNT - 1)
        rows = await connection.fetch(
            "select merchant_id, secret_id, sealed from signing_secret where length(sealed) > 0"
        )
        opened = {
            vault.unseal(merchant_id, SECRET_SEAL_CONTEXT, sealed)
            for merchant_id, number, sealed in rows
            if number != COUNT
        }
        assert opened == {b"secret %d" % number for number in range(1, COUNT)}
        assert await find_unfinished(connection) == []
        [second] = [key for key in await list_versions(connection) if (key.purpose, key.version) == (SEAL, 2)]
        assert (second.rewritten, second.unreadable) == (2 * COUNT + 2, 1), "with the codes of two merchants"
        await connection.close()

    asyncio.run(work(deployments.new_database("keys_in_windows")))


def test_one_worker_rotates_at_a_time(deployments: Deployments) -> None:
    async def work(dsn: str) -> None:
        connection, vault = await open_database(dsn)
        other = await asyncpg.connect(dsn)
        await other.execute("select pg_advisory_lock($1)", 0x6B617377)
        rotation = KeyRotation(dsn, connection, vault, SEALED_PLACES, make_client_indexer(vault))
        await rotation.run_once()
        assert set(await read_versions(connection)) == {1, None}
        await other.close()
        await rotation.run_once()
        assert set(await read_versions(connection)) == {2, None}
        await connection.close()

    asyncio.run(work(deployments.new_database("keys_one_worker")))


def test_rows_are_not_rewritten_before_all_processes_encrypt_with_the_version(deployments: Deployments) -> None:
    async def work(dsn: str) -> None:
        connection, vault = await open_database(dsn)
        await connection.execute("update data_key set moves_from = now() + interval '1 hour' where version = 2")
        rotation = KeyRotation(dsn, connection, vault, SEALED_PLACES, make_client_indexer(vault))
        running = asyncio.create_task(rotation.run_once())
        await asyncio.sleep(0.5)
        rotation.stop()
        await running
        assert set(await read_versions(connection)) == {1, None}
        assert [version for _, version, *_ in await find_unfinished(connection)] == [2]
        await connection.close()

    asyncio.run(work(deployments.new_database("keys_too_early")))
