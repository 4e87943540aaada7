"""Reads the accounts that rails opened: whose one is, and which are due to have their payments listed."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from kasuwa.postgres.connection_pool import Connection, Pool

LISTING_LEASE = timedelta(minutes=5)
LISTING_INTERVAL = timedelta(hours=24)

OF_RAIL_REFERENCE = """
    select a.reference from personalized_account a join merchant m on m.merchant_id = a.merchant_id and m.current
    where a.merchant_id = $1 and a.rail_reference = $2
"""
RUN_OPENING_NOW = """
    update scheduled_job j set run_at = now()
    from merchant m
    where j.merchant_id = $1 and j.reference = $2 and j.kind = any($3) and j.run_at > now()
      and (j.leased_until is null or j.leased_until <= now()) and m.merchant_id = $1 and m.current
"""
# One account is listed by one process at a time. Closed accounts are listed too: somebody may still pay into them.
CLAIM_LISTING = """
    with due as (
        select a.key, a.rail, a.merchant_id, a.rail_reference, a.facts, a.created_at, l.listed_at,
            a.rail_account
        from personalized_account a
        join merchant m on m.merchant_id = a.merchant_id and m.current
        left join account_listing l on l.key = a.key
        where a.rail = any($1) and a.state in ('open', 'closing', 'closed')
          and (l.key is null or (coalesce(l.listed_at, '-infinity') < now() - $2::interval and l.leased_until < now()))
        order by l.listed_at nulls first, a.key limit $4),
    taken as (
        insert into account_listing as l (key, leased_until) select key, now() + $3::interval from due
        on conflict (key) do update set leased_until = excluded.leased_until where l.leased_until < now()
        returning l.key)
    select d.*, now() from due d join taken t on t.key = d.key
"""
RECORD_LISTING = "update account_listing set listed_at = $2, leased_until = now() where key = $1"


class ListedAccount(msgspec.Struct, frozen=True):
    """An account whose payments are to be listed."""

    key: bytes
    rail: str
    merchant_id: int
    rail_reference: str
    facts: str
    created_at: datetime
    listed_at: datetime | None
    rail_account: str
    began_at: datetime


async def find_reference(pool: Pool, merchant_id: int, rail_reference: str) -> str | None:
    """Returns the merchant's reference of an account, or None if there is none under the rail's."""
    reference: str | None = await pool.fetchval(OF_RAIL_REFERENCE, merchant_id, rail_reference)
    return reference


async def run_opening_now(connection: Connection, merchant_id: int, reference: str, kinds: Sequence[str]) -> None:
    """Makes the job that opens an account due now."""
    await connection.execute(RUN_OPENING_NOW, merchant_id, reference, list(kinds))


async def claim_listings(pool: Pool, rails: Sequence[str], most: int) -> list[ListedAccount]:
    records: list[Any] = await pool.fetch(CLAIM_LISTING, list(rails), LISTING_INTERVAL, LISTING_LEASE, most)
    return [ListedAccount(*record) for record in records]


async def record_listing(pool: Pool, account: ListedAccount) -> None:
    await pool.execute(RECORD_LISTING, account.key, account.began_at)
