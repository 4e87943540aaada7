"""Rows of the times at which processes used an account with a vendor. Each process that calls vendors writes them."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from kasuwa.core.reading import Reader
from kasuwa.core.routing import AccountAlias
from kasuwa.postgres.connection_pool import Connection

# A process that uses an account again within this time goes on with the row that is there.
RECORD_USE = """
    with continued as (
        update vendor_account set last_used_at = now()
        where rail = $1 and account = $2 and last_used_at > now() - interval '10 minutes' returning 1)
    insert into vendor_account (rail, account) select $1, $2 where not exists (select 1 from continued)
    on conflict do nothing
"""
SELECT_USES = "select rail, account, began_at, last_used_at from vendor_account"
SELECT_ALIASES = "select rail, account, same_as from vendor_account_alias"
ADD_ALIAS = "insert into vendor_account_alias (rail, account, same_as) values ($1, $2, $3) on conflict do nothing"
# The accounts with a vendor that any process used, or that an open order has, and that are not known to be another.
SELECT_OTHERS = """
    select o.account from (
        select account from vendor_account where rail = $1
        union select rail_account from scheduled_job where rail = $1 and rail_account <> '') o
    where o.account <> $2 and o.account <> all($3::text[])
        and not exists (select 1 from vendor_account_alias a where a.rail = $1 and a.account = o.account)
"""


class AccountUse(msgspec.Struct, frozen=True):
    """A time during which processes used an account with a vendor."""

    rail: str
    account: str
    began_at: datetime
    last_used_at: datetime


async def record_use(connection: Connection, accounts: Mapping[str, str]) -> None:
    """Writes that a process uses these accounts now, by rail."""
    for rail, account in accounts.items():
        await connection.execute(RECORD_USE, rail, account)


async def list_uses(reader: Reader) -> list[AccountUse]:
    uses = [AccountUse(*row) for row in await reader.fetch(SELECT_USES)]
    return sorted(uses, key=lambda use: (use.rail, use.began_at, use.account))


async def list_aliases(reader: Reader) -> list[AccountAlias]:
    """Returns the accounts that are the same, with another key."""
    return [AccountAlias(*row) for row in await reader.fetch(SELECT_ALIASES)]


async def add_aliases(connection: Connection, aliases: Sequence[AccountAlias]) -> None:
    for alias in aliases:
        await connection.execute(ADD_ALIAS, alias.rail, alias.account, alias.same_as)


async def list_others(connection: Connection, rail: str, account: str, former: Sequence[str]) -> list[AccountAlias]:
    """Returns all other accounts with a vendor, but the former ones whose keys are set, as ones that are the same as
    `account` with another key. Those that are known to be are left out."""
    rows = await connection.fetch(SELECT_OTHERS, rail, account, former)
    return [AccountAlias(rail, other, account) for other in sorted(row[0] for row in rows)]
