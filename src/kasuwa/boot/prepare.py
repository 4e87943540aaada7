"""Prepares the database before the service runs: migrations, the first catalogue, and in test the demo merchant."""

from typing import Any

from kasuwa.authority import cooling_off
from kasuwa.boot.composition import make_deployment
from kasuwa.core.decision import Merchant
from kasuwa.core.vault import Vault
from kasuwa.engine.writer import Writer
from kasuwa.merchants import exchange_rates, merchants
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.postgres import migrate
from kasuwa.postgres.layout import find_layout
from kasuwa.postgres.pgbouncer import refuse_transaction_pooling
from kasuwa.postgres.primary import connect_to_primary
from kasuwa.privacy import vault_keys
from kasuwa.rails.catalogue.refresh import fetch_edition
from kasuwa.rails.sandbox.biller import SandboxBiller
from kasuwa.sandbox.operations import fund_new_merchant
from kasuwa.settings.database_logins import OWNER_SETTING, check_rights, find_logins, may_migrate, owner_url
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import DEMO_KEY, DEMO_NAME, Settings, rail_of_purpose


async def prepare(settings: Settings, dsn: str) -> list[str]:
    """Migrates, stores the first policy, fetches the first catalogue, and in test creates and funds the demo merchant.
    Returns the names of the migrations applied. Safe to run from several processes at once."""
    secret_key = load_secret_key(settings)
    if settings.database_url is not None:
        await refuse_transaction_pooling(dsn)
    applied = await migrate_as_owner(settings, dsn, secret_key)
    connection = await connect_to_primary(dsn)
    try:
        vault = await vault_keys.open_vault(connection, secret_key)
        await cooling_off.ensure_policy(connection, vault, settings.environment, settings.cooling_off_hours)
        if rail_of_purpose(settings, "bills") == "sandbox":
            # A vendor's catalogue takes many calls: the worker fetches it.
            await fetch_edition(connection, SandboxBiller(), only_if_due=True)
        if settings.environment == "test":
            await migrate.lock_migrations(connection)
            await exchange_rates.ensure_test_rates(connection, vault)
            await ensure_demo(connection, vault, settings, dsn)
        return applied
    finally:
        await connection.close()


async def migrate_as_owner(settings: Settings, dsn: str, secret_key: bytes) -> list[str]:
    """Migrates with the owner's login and grants the others their rights. Returns the names of the migrations applied.

    Without that login it only checks that there is nothing to do. Raises MigrationError and LoginError."""
    connection = await connect_to_primary(owner_url(settings, dsn))
    try:
        if await may_migrate(settings, connection):
            logins = await find_logins(settings, dsn, connection)
            return await migrate.migrate(connection, settings.environment, secret_key, logins)
        pending = await migrate.find_pending(connection, settings.environment)
    finally:
        await connection.close()
    if pending:
        raise migrate.MigrationError(
            f"the schema lacks {len(pending)} migrations, and this login does not own it: run `kasuwa migrate` with "
            f"{OWNER_SETTING}"
        )
    await check_rights(settings, dsn)
    return []


async def ensure_demo(connection: Any, vault: Vault, settings: Settings, dsn: str) -> None:
    if not await connection.fetchval("select exists (select 1 from merchant)"):
        await merchants.add_merchant(connection, vault, DEMO_NAME, make_key=lambda _: DEMO_KEY)
    if await connection.fetchval("select exists (select 1 from account where merchant_id = 1)"):
        return
    writer = Writer(dsn, make_deployment(vault, settings), layout=find_layout(connection))
    writer.start()
    demo: Merchant = await MerchantDirectory(connection, vault, settings.environment).get_by_id(1)
    await fund_new_merchant(writer, demo)
    await writer.close()
