"""Rows about rails that belong to no merchant: health by process, our balances with vendors, and shadow mode."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime

import msgspec

from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.core.money import format_minor
from kasuwa.core.reading import Reader
from kasuwa.postgres.connection_pool import Connection

# Rows of processes that were not seen for this long are deleted.
HEALTH_SECONDS = 60
# Differences of shadow mode that are kept, and days of its counts.
KEPT_DIFFERENCES = 200
KEPT_SHADOW_DAYS = 90

# --- health --------------------------------------------------------------------------------------------------------


class RailError(msgspec.Struct, frozen=True):
    """A call to a vendor that failed. It names no order, account or person."""

    at: float  # seconds since the epoch
    call: str
    outcome: str


class RailHealth(msgspec.Struct, frozen=True):
    """The state of a vendor as one process sees it."""

    process: str
    rail: str
    in_flight: int
    held_seconds: float
    is_paused: bool
    unmapped_banks: list[str] | None  # None if it pays no banks, or its list was not read yet
    errors: list[RailError]
    seen_at: datetime | None = None


STORE_HEALTH = """
    insert into rail_health (process, rail, in_flight, held_seconds, is_paused, unmapped_banks, errors, seen_at)
    values ($1, $2, $3, $4, $5, $6, $7, now())
    on conflict (process, rail) do update set in_flight = excluded.in_flight, held_seconds = excluded.held_seconds,
        is_paused = excluded.is_paused, unmapped_banks = excluded.unmapped_banks, errors = excluded.errors,
        seen_at = excluded.seen_at
"""
DELETE_OLD_HEALTH = "delete from rail_health where seen_at < now() - make_interval(secs => $1)"
SELECT_HEALTH = """
    select process, rail, in_flight, held_seconds, is_paused, unmapped_banks, errors::text, seen_at from rail_health
    where seen_at > now() - make_interval(secs => $1) order by rail, process
"""
ERRORS_DECODER = msgspec.json.Decoder(list[RailError])


async def store_health(connection: Connection, rows: Sequence[RailHealth]) -> None:
    """Writes what a process knows of its vendors, and deletes the rows of processes that have ended."""
    for row in rows:
        errors = msgspec.json.encode(row.errors).decode()
        await connection.execute(
            STORE_HEALTH,
            row.process,
            row.rail,
            row.in_flight,
            row.held_seconds,
            row.is_paused,
            row.unmapped_banks,
            errors,
        )
    await connection.execute(DELETE_OLD_HEALTH, float(HEALTH_SECONDS))


async def list_health(reader: Reader) -> list[RailHealth]:
    rows = await reader.fetch(SELECT_HEALTH, float(HEALTH_SECONDS))
    return [
        RailHealth(process, rail, in_flight, held, is_paused, unmapped, ERRORS_DECODER.decode(errors), seen_at)
        for process, rail, in_flight, held, is_paused, unmapped, errors, seen_at in rows
    ]


# --- balances ------------------------------------------------------------------------------------------------------


class RailBalance(msgspec.Struct, frozen=True):
    """Our balance with a vendor, in minor units."""

    rail: str
    currency: str
    amount: int
    is_low: bool  # below the least balance of the settings
    read_at: datetime


# A balance that was read longer ago says nothing: the worker that reads it is away.
SELECT_BALANCES = """
    select rail, currency, amount, is_low, read_at from rail_balance
    where read_at > now() - interval '10 minutes' order by rail, currency
"""
ARE_BALANCES_FRESH = "select coalesce(max(read_at) > now() - make_interval(secs => $1), false) from rail_balance"
WAS_LOW = "select is_low from rail_balance where rail = $1 and currency = $2 for update"
STORE_BALANCE = """
    insert into rail_balance (rail, currency, amount, is_low, read_at) values ($1, $2, $3, $4, now())
    on conflict (rail, currency) do update set amount = excluded.amount, is_low = excluded.is_low,
        read_at = excluded.read_at
"""
DELETE_OTHER_BALANCES = "delete from rail_balance where not rail = any($1)"
WRITE_NOTICE = "insert into operator_notice (merchant_id, reference, message, at) values ($1, $2, $3, now())"


async def list_balances(reader: Reader) -> list[RailBalance]:
    return [RailBalance(*row) for row in await reader.fetch(SELECT_BALANCES)]


async def store_balances(
    connection: Connection, rail: str, balances: Mapping[str, int], least: Mapping[str, int]
) -> None:
    """Writes the balances of a vendor. One that has fallen below its least amount becomes one notice. The next notice
    is written when it falls again after it has risen."""
    async with connection.transaction():
        for currency, amount in balances.items():
            is_low = amount < least.get(currency, amount)
            was_low = await connection.fetchval(WAS_LOW, rail, currency)
            await connection.execute(STORE_BALANCE, rail, currency, amount, is_low)
            if is_low and not was_low:
                message = (
                    f"our balance with {rail} is {format_minor(amount)} {currency}, "
                    f"below {format_minor(least[currency])}: fund it"
                )
                await connection.execute(WRITE_NOTICE, OPERATOR_CHAIN_ID, f"{rail} {currency}", message)


# --- open orders ---------------------------------------------------------------------------------------------------

OPEN_ORDERS = """
    select rail, lane, count(*), count(*) filter (where not is_rail_fixed), min(due), rail_account from scheduled_job
    where rail <> '' and lane <> 'webhook' group by rail, lane, rail_account order by rail, rail_account, lane
"""


class OpenOrders(msgspec.Struct, frozen=True):
    """The open orders of a rail, with one of our accounts there."""

    rail: str
    lane: str
    count: int
    movable: int  # of which nothing has left yet
    oldest_due: datetime
    rail_account: str = ""


async def count_open_orders(reader: Reader) -> list[OpenOrders]:
    return [OpenOrders(*row) for row in await reader.fetch(OPEN_ORDERS)]


# --- shadow mode ---------------------------------------------------------------------------------------------------


class ShadowResult(msgspec.Struct, frozen=True):
    """One comparison. `ours` and `theirs` are masked, and "" unless they differ."""

    purpose: str
    rail: str
    shadow: str
    question: str  # name or balance
    outcome: str  # agreed, differed or unanswered
    rail_ms: int
    shadow_ms: int
    ours: str = ""
    theirs: str = ""


class ShadowCount(msgspec.Struct, frozen=True):
    """The comparisons of one day with the same outcome, and the sums of their times in milliseconds."""

    day: date
    purpose: str
    rail: str
    shadow: str
    question: str
    outcome: str
    count: int
    rail_ms: int
    shadow_ms: int


class ShadowDifference(msgspec.Struct, frozen=True):
    at: datetime
    shadow: str
    question: str
    ours: str
    theirs: str


ADD_SHADOW = """
    insert into rail_shadow as s (day, purpose, rail, shadow, question, outcome, count, rail_ms, shadow_ms)
    values (current_date, $1, $2, $3, $4, $5, 1, $6, $7)
    on conflict (day, purpose, rail, shadow, question, outcome) do update set count = s.count + 1,
        rail_ms = s.rail_ms + excluded.rail_ms, shadow_ms = s.shadow_ms + excluded.shadow_ms
"""
ADD_DIFFERENCE = """
    insert into rail_shadow_difference (at, shadow, question, ours, theirs) values (now(), $1, $2, $3, $4)
"""
DELETE_OLD_DIFFERENCES = """
    delete from rail_shadow_difference where difference_id <=
        (select max(difference_id) from rail_shadow_difference) - $1
"""
DELETE_OLD_SHADOW = "delete from rail_shadow where day < current_date - $1::int"
SELECT_SHADOW = """
    select day, purpose, rail, shadow, question, outcome, count, rail_ms, shadow_ms from rail_shadow
    where day > current_date - $1::int order by day desc, purpose, rail, shadow, question, outcome
"""
SELECT_DIFFERENCES = """
    select at, shadow, question, ours, theirs from rail_shadow_difference order by difference_id desc limit $1
"""


async def record_shadow(connection: Connection, result: ShadowResult) -> None:
    """Counts a comparison. The table has a few rows a day, and is kept for KEPT_SHADOW_DAYS."""
    kind = (result.purpose, result.rail, result.shadow, result.question, result.outcome)
    async with connection.transaction():
        await connection.execute(ADD_SHADOW, *kind, result.rail_ms, result.shadow_ms)
        if result.outcome == "differed":
            await connection.execute(ADD_DIFFERENCE, result.shadow, result.question, result.ours, result.theirs)
            await connection.execute(DELETE_OLD_DIFFERENCES, KEPT_DIFFERENCES)
            await connection.execute(DELETE_OLD_SHADOW, KEPT_SHADOW_DAYS)


async def list_shadow(reader: Reader, days: int) -> list[ShadowCount]:
    return [ShadowCount(*row) for row in await reader.fetch(SELECT_SHADOW, days)]


async def list_differences(reader: Reader, limit: int) -> list[ShadowDifference]:
    return [ShadowDifference(*row) for row in await reader.fetch(SELECT_DIFFERENCES, limit)]
