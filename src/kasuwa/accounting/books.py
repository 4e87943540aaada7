"""Reads whole books for accounting, in one snapshot and row by row: accounts, opening and closing balances, postings.

Days are those of Lagos, of the merchants' business time. `$1` is a merchant, or null for all; books that a reset has
put aside are left out.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date, datetime
from typing import Any

import msgspec

from kasuwa.ledger.posting_kinds import title_sql
from kasuwa.postgres.connection_pool import Connection, QueryRunner

# Rows that are fetched at once.
PREFETCH_ROWS = 5_000

OF_BOOKS = "m.current and ($1::bigint is null or m.merchant_id = $1)"
SINCE = "p.at >= $2::timestamp at time zone 'Africa/Lagos'"
UNTIL = "p.at < ($3::date + 1)::timestamp at time zone 'Africa/Lagos'"
AFTER = "p.at >= ($3::date + 1)::timestamp at time zone 'Africa/Lagos'"

# A balance is that of the account less what was posted since: a month of many years is read without the years before.
BALANCES = f"""
    with moved as (
        select p.merchant_id, p.credit as name, p.amount, {AFTER} as is_later
        from posting p where {SINCE} and ($1::bigint is null or p.merchant_id = $1)
        union all
        select p.merchant_id, p.debit, -p.amount, {AFTER} from posting p
        where {SINCE} and ($1::bigint is null or p.merchant_id = $1)),
    sums as (
        select merchant_id, name, sum(amount)::bigint as since, (sum(amount) filter (where is_later))::bigint as later
        from moved group by merchant_id, name)
    select a.merchant_id, m.mid, a.name, a.posted - coalesce(s.since, 0), a.posted - coalesce(s.later, 0)
    from account a join merchant m on m.merchant_id = a.merchant_id
    left join sums s on s.merchant_id = a.merchant_id and s.name = a.name
    where {OF_BOOKS} order by a.merchant_id, a.name
"""
POSTINGS = f"""
    select p.merchant_id, m.mid, p.seq, p.group_seq, p.reference, p.debit, p.credit, p.amount,
        {title_sql("p.kind")}, p.at
    from posting p join merchant m on m.merchant_id = p.merchant_id
    where {OF_BOOKS} and {SINCE} and {UNTIL} order by p.merchant_id, p.seq
"""
DAYS = f"""
    select min((p.at at time zone 'Africa/Lagos')::date), max((p.at at time zone 'Africa/Lagos')::date)
    from posting p join merchant m on m.merchant_id = p.merchant_id where {OF_BOOKS}
"""
TAXES = f"""
    with moved as (
        select p.merchant_id, p.credit as name, p.amount, {AFTER} as is_later, 'collected' as what
        from posting p where starts_with(p.credit, 'tax:') and {SINCE} and $1::bigint is null
        union all
        select p.merchant_id, p.debit, p.amount, {AFTER},
            case when starts_with(p.credit, 'outside:') or starts_with(p.credit, 'rail:') then 'paid'
                else 'reversed' end
        from posting p where starts_with(p.debit, 'tax:') and {SINCE} and $1::bigint is null),
    sums as (
        select merchant_id, name,
            coalesce(sum(amount) filter (where what = 'collected' and not is_later), 0)::bigint as collected,
            coalesce(sum(amount) filter (where what = 'reversed' and not is_later), 0)::bigint as reversed,
            coalesce(sum(amount) filter (where what = 'paid' and not is_later), 0)::bigint as paid,
            coalesce(sum(case what when 'collected' then amount else -amount end) filter (where is_later), 0)::bigint
                as later
        from moved group by merchant_id, name)
    select m.mid, m.name, a.name, coalesce(s.collected, 0), coalesce(s.reversed, 0), coalesce(s.paid, 0),
        a.posted - coalesce(s.later, 0)
    from account a join merchant m on m.merchant_id = a.merchant_id
    left join sums s on s.merchant_id = a.merchant_id and s.name = a.name
    where {OF_BOOKS} and starts_with(a.name, 'tax:') order by m.mid, a.name
"""


class BookScope(msgspec.Struct, frozen=True):
    """The books of one merchant, or all, from one day to another, both included."""

    merchant_id: int | None
    first_day: date
    last_day: date

    @property
    def values(self) -> tuple[Any, ...]:
        return (self.merchant_id, self.first_day, self.last_day)


class AccountBalances(msgspec.Struct, frozen=True):
    """An account with its balances before and after the days of a scope. Credit-positive, as in the ledger."""

    merchant_id: int
    mid: str
    name: str
    opening: int
    closing: int


class BookPosting(msgspec.Struct, frozen=True):
    """A posting."""

    merchant_id: int
    mid: str
    seq: int
    group_seq: int
    reference: str
    debit: str
    credit: str
    amount: int
    kind: str
    at: datetime


class TaxRow(msgspec.Struct, frozen=True):
    """A tax account of a merchant in one month. Amounts are in minor units."""

    mid: str
    merchant_name: str
    account: str
    collected: int
    reversed: int
    paid: int
    closing: int


@asynccontextmanager
async def book_snapshot(connection: Connection) -> AsyncIterator[None]:
    """Reads all that follows from one state of the database, whatever is posted meanwhile."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        yield


async def find_days(connection: QueryRunner, merchant_id: int | None) -> tuple[date, date] | None:
    """Returns the days of the first and the last posting, or None if there is none."""
    row = await connection.fetchrow(DAYS, merchant_id)
    return None if row is None or row[0] is None else (row[0], row[1])


async def iterate_balances(connection: Connection, scope: BookScope) -> AsyncIterator[AccountBalances]:
    """Yields the accounts by merchant and name. Call it in a snapshot."""
    async for row in connection.cursor(BALANCES, *scope.values, prefetch=PREFETCH_ROWS):
        yield AccountBalances(*row)


async def iterate_postings(connection: Connection, scope: BookScope) -> AsyncIterator[BookPosting]:
    """Yields the postings of the scope, those of a group together. Call it in a snapshot."""
    async for row in connection.cursor(POSTINGS, *scope.values, prefetch=PREFETCH_ROWS):
        yield BookPosting(*row)


async def list_taxes(reader: QueryRunner, first_day: date, last_day: date) -> list[TaxRow]:
    """Returns the tax accounts of all merchants, with what these days did to them."""
    return [TaxRow(*row) for row in await reader.fetch(TAXES, None, first_day, last_day)]
