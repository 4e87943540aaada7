"""Rows of the times at which processes used an account with a vendor. Each process that calls vendors writes them."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from kasuwa.core.reading import Reader
from kasuwa.db.connection_pool import Connection

# A process that uses an account again within this time goes on with the row that is there.
RECORD_USE = """
    with continued as (
        update vendor_account set last_used_at = now()
        where rail = $1 and account = $2 and last_used_at > now() - interval '10 minutes' returning 1)
    insert into vendor_account (rail, account) select $1, $2 where not exists (select 1 from continued)
    on conflict do nothing
"""
SELECT_USES = "select rail, account, began_at, last_used_at from vendor_account"
FORGET_OTHERS = "delete from vendor_account where rail = $1 and account <> $2 returning account"


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
    found = [AccountUse(*row) for row in await reader.fetch(SELECT_USES)]
    return sorted(found, key=lambda use: (use.rail, use.began_at, use.account))


async def forget_others(connection: Connection, rail: str, account: str) -> int:
    """Deletes the times of other accounts with a vendor, and returns their number. They were the same account, with
    another key."""
    return len(await connection.fetch(FORGET_OTHERS, rail, account))
