"""The migration that adds the missing VAT entries of cards, on a database that already has monthly fees."""

import asyncio
import contextlib
from datetime import UTC, datetime

import asyncpg
import pytest

from kasuwa.db.migrate import apply_migration, known_migrations
from tests.running import NEWEST, OLDEST, Deployments

BEFORE, VERSION = 14, 15
AT = datetime(2026, 2, 1, tzinfo=UTC)
CARD = """
    insert into card (key, merchant_id, reference, short_id, currency, network, mask, sealed_pan, expiration, state,
        detail, limits, spent_on, spent_day, spent_month, unpaid, fee_job, created_at)
    values ('card', 1, 'REF', 'short', 'USD', 'visa', '', '', '', 'active', '{}', '{}', '', 0, 0, 0, '', $1)
"""
FEE = """
    insert into card_record (key, merchant_id, card, number, shown_id, txn_ref, narration, status, currency, amount,
        fee, refunded, refunds, created_at)
    values ($1, 1, 'card', $2, $2, null, 'Monthly Fee', 'Successful', 'USD', 100, 0, 0, 0, $3)
"""
VAT = """
    insert into posting (merchant_id, seq, group_seq, reference, debit, credit, amount, debit_after, credit_after,
        kind, at)
    values (1, $1, $1, 'REF', 'card:short:USD', 'tax:vat:USD', $2, 0, 0, 'VAT on fee', $3)
"""
MADE = "select number, amount from card_record where narration = 'VAT on Monthly Fee' order by number"


async def create(dsn: str, name: str) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute(f'create database "{name}"')
    await connection.close()


async def migrate_with_fees(dsn: str) -> list[tuple[int, int]]:
    async with contextlib.AsyncExitStack() as stack:
        connection = await asyncpg.connect(dsn)
        stack.push_async_callback(connection.close)
        await connection.execute("create table migration (version bigint primary key, name text not null)")
        known = known_migrations()
        for migration in known:
            if migration.version <= BEFORE:
                await apply_migration(connection, migration, tries=1)
        await connection.execute(CARD, AT)
        for number, amount in ((10, 7), (20, 8)):
            await connection.execute(FEE, b"fee %d" % number, number, AT)
            await connection.execute(VAT, number, amount, AT)
        [ours] = [migration for migration in known if migration.version == VERSION]
        await apply_migration(connection, ours, tries=1)
        return [(number, amount) for number, amount in await connection.fetch(MADE)]


@pytest.mark.parametrize("version", sorted({OLDEST, NEWEST}))
def test_two_fees_of_one_moment_have_a_vat_line_each(deployments: Deployments, version: int) -> None:
    cluster = deployments.cluster(version)
    asyncio.run(create(cluster.dsn, "card_fees"))
    assert asyncio.run(migrate_with_fees(cluster.dsn_for("card_fees"))) == [(9, 7), (19, 8)]
