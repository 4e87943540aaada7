"""Merchants: creates, changes and finds them. Rules see a merchant as `core.decision.Merchant`. Their keys are made in
merchant_keys.py.

MerchantDirectory caches merchants and their key verifiers for less than a second, so that a rolled-off key stops
working in every process within that time. A new key works once the cached ones are older than RECHECK_AFTER_SECONDS.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import msgspec

from kasuwa.core.callers import Caller
from kasuwa.core.decision import Merchant
from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.core.reading import Reader
from kasuwa.core.references import COPY_UNIT, merchant_state_key
from kasuwa.core.row_codes import CodedTable, RowChanged
from kasuwa.core.vault import Vault
from kasuwa.merchants import endpoints, exchange_rates, keys
from kasuwa.merchants.key_usage import RECORD_AFTER_SECONDS, KeyUsage
from kasuwa.merchants.keys import KEYS, NewKey, add_key, random_key
from kasuwa.merchants.merchant_settings import MerchantSettings, apply_policy_change, make_merchant
from kasuwa.merchants.senders import find_ended_senders
from kasuwa.postgres import row_codes
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connection_pool import Connection, QueryRunner
from kasuwa.terms.conversion import ExchangeRate

# A cached merchant is reloaded in the background after the first time, and not used any more after the second, which is
# below the second in which a rolled-off key must stop working.
REFRESH_AFTER_SECONDS = 0.4
STALE_AFTER_SECONDS = 0.9
# Merchants that fall due within this time are reloaded by one query.
GATHER_SECONDS = 0.2
# The most that one query reloads: making more of them at once would hold up the event loop.
MAX_RELOADED = 64
# A key that does not match the cached verifiers may be newer than they are: they are read again if they are older than
# this, which bounds the queries of somebody who guesses.
RECHECK_AFTER_SECONDS = 0.02
# Unknown mids are cached too, so that guesses cost no query each. This bounds the cache.
MAX_ENTRIES = 20_000


MERCHANTS = CodedTable(
    table="merchant",
    key={},
    covered=("mid", "name", "current", "settings"),
    uncovered={"created_at": "only shown"},
)
MERCHANT_ROW = "merchant_id = $1"


class UnknownMerchant(Exception):
    """No merchant has this mid."""


# --- making and changing ------------------------------------------------------------------------------------


async def add_merchant(
    connection: Connection,
    vault: Vault,
    name: str,
    *,
    make_key: Callable[[str], str] | None = None,
    settings: MerchantSettings | None = None,
    clock_fixed: datetime | None = None,
) -> tuple[int, str, str]:
    """Creates a merchant with empty books. Returns its number, mid and API key.

    The key is the signing secret of events as well, until `merchant_keys.replace_secret` makes one."""
    async with connection.transaction():
        merchant_id = await connection.fetchval("select nextval('merchant_number')")
        mid = f"GP{merchant_id:07d}"
        key = random_key() if make_key is None else make_key(mid)
        await connection.execute(
            "insert into merchant (merchant_id, mid, name, settings) values ($1, $2, $3, $4)",
            merchant_id,
            mid,
            name,
            msgspec.json.encode(settings or MerchantSettings()).decode(),
        )
        await row_codes.code_new_row(connection, vault, MERCHANTS, MERCHANT_ROW, merchant_id)
        await connection.execute(
            "insert into merchant_state (key, merchant_id, clock_fixed_at) values ($1, $2, $3)",
            merchant_state_key(merchant_id),
            merchant_id,
            clock_fixed,
        )
        await endpoints.store_kinds(connection, merchant_id)
        await add_key(connection, vault, merchant_id, key, NewKey(signs_until="infinity"))
    return merchant_id, mid, key


async def reset_books(connection: Connection, vault: Vault, mid: str) -> int:
    """Gives a mid new, empty books with its settings and keys, and archives the old ones. Returns the new number."""
    async with connection.transaction():
        old = await lock_merchant(connection, mid)
        new = await connection.fetchval("select nextval('merchant_number')")
        async with row_codes.changing(connection, vault, MERCHANTS, MERCHANT_ROW, old):
            await connection.execute(f"update merchant set current = false where {MERCHANT_ROW}", old)
        await connection.execute(
            "insert into merchant (merchant_id, mid, name, settings)"
            " select $2, mid, name, settings - 'token_space' - 'copied_from' from merchant where merchant_id = $1",
            old,
            new,
        )
        await row_codes.code_new_row(connection, vault, MERCHANTS, MERCHANT_ROW, new)
        await connection.execute(
            "insert into merchant_state (key, merchant_id) values ($1, $2)", merchant_state_key(new), new
        )
        await keys.copy_keys(connection, vault, old, new)
        await endpoints.copy_endpoints(connection, vault, old, new)
        # Jobs of the archived books must not run any more.
        await connection.execute("update scheduled_job set run_at = 'infinity' where merchant_id = $1", old)
    assert isinstance(new, int)
    return new


SELECT_CURRENT_ID = "select merchant_id from merchant where mid = $1 and current"


class MerchantRecord(msgspec.Struct):
    mid: str
    name: str
    is_suspended: bool
    created_at: datetime


async def list_merchants(connection: Connection) -> list[MerchantRecord]:
    """Returns all merchants, oldest first."""
    rows = await connection.fetch(
        "select mid, name, coalesce((settings ->> 'suspended')::boolean, false), created_at from merchant"
        " where current order by merchant_id"
    )
    return [MerchantRecord(*row) for row in rows]


async def find_merchant_id(connection: Connection, mid: str) -> int:
    merchant_id = await connection.fetchval(SELECT_CURRENT_ID, mid)
    if merchant_id is None:
        raise UnknownMerchant(mid)
    assert isinstance(merchant_id, int)
    return merchant_id


async def lock_merchant(connection: Connection, mid: str) -> int:
    """Returns a merchant's number and locks its row until the transaction ends, so that its books are not reset
    meanwhile. Raises UnknownMerchant."""
    while True:
        merchant_id = await connection.fetchval(f"{SELECT_CURRENT_ID} for no key update", mid)
        if merchant_id is not None:
            assert isinstance(merchant_id, int)
            return merchant_id
        # A reset that was waited for has replaced the row: the new one is visible to the next statement.
        await find_merchant_id(connection, mid)


async def roll_key(connection: Connection, vault: Vault, mid: str, overlap: timedelta, key_id: int = 0) -> str:
    """Replaces a key, or all keys of scope `all`, by a new one and returns it. The old ones work until the overlap
    ends. See merchant_keys.replace_key."""
    async with connection.transaction():
        merchant_id = await lock_merchant(connection, mid)
        _, key = await keys.replace_key(connection, vault, merchant_id, overlap, key_id)
    return key


async def wait_until_in_force() -> None:
    """Waits until no process uses settings that it read before now: for changes that refuse reads as well, which the
    writer does not see."""
    await asyncio.sleep(STALE_AFTER_SECONDS)


async def change_settings(
    connection: Connection,
    vault: Vault,
    mid: str,
    change: Callable[[MerchantSettings], MerchantSettings],
    *,
    is_endpoint_set: bool,
) -> MerchantSettings:
    """Changes a merchant's settings. Setting the endpoint, even to the same URL, enables it again. Raises RowChanged if
    the settings are not as the service wrote them."""
    async with connection.transaction():
        merchant_id = await lock_merchant(connection, mid)
        async with row_codes.changing(connection, vault, MERCHANTS, MERCHANT_ROW, merchant_id):
            stored_settings = await connection.fetchval(
                f"select settings from merchant where {MERCHANT_ROW}", merchant_id
            )
            earlier = msgspec.json.decode(stored_settings, type=MerchantSettings)
            changed = change(earlier)
            await connection.execute(
                f"update merchant set settings = $2 where {MERCHANT_ROW}",
                merchant_id,
                msgspec.json.encode(changed).decode(),
            )
        # With their version in the merchant's state row, the new settings hold for all that is committed from now on.
        # The same settings are no new version.
        await connection.execute(
            "update merchant_state set settings_version = settings_version + $2::boolean::integer"
            " where merchant_id = $1",
            merchant_id,
            changed != earlier,
        )
        await endpoints.store_kinds(connection, merchant_id)
        if changed.webhook_url and is_endpoint_set:
            await endpoints.enable_endpoint(connection, merchant_id, FIRST_ENDPOINT)
    return changed


READ_SETTINGS = f"select row_code, {MERCHANTS.content_sql()} from merchant where merchant_id = any($1)"


async def read_webhook_urls(connection: QueryRunner, vault: Vault, wanted: Sequence[int]) -> dict[int, str]:
    """Returns the webhook URLs of merchants, by number, without those whose row is not as the service wrote it."""
    urls = {}
    for code, *content in await connection.fetch(READ_SETTINGS, wanted):
        with contextlib.suppress(RowChanged):
            row_codes.check_content(vault, MERCHANTS, content, code)
            urls[content[0]] = msgspec.json.decode(content[-1], type=MerchantSettings).webhook_url
    return urls


# --- finding --------------------------------------------------------------------------------------------------

BY_MIDS = f"""
    select {MERCHANTS.content_sql("m")}, m.row_code, {exchange_rates.CURRENT_RATES_COLUMN}, s.settings_version,
        k.verifier, k.expires_at,
        k.name, k.key_id, k.scopes, coalesce(k.lineage, k.key_id), k.created_by, k.addresses,
        k.last_used_at is null or k.last_used_at < now() - interval '{RECORD_AFTER_SECONDS} seconds',
        k.holders, k.makers, coalesce(k.approves_from > now(), false),
        k.row_code, {KEYS.content_sql("k")}
    from merchant m join merchant_state s on s.merchant_id = m.merchant_id
        left join merchant_key k on k.merchant_id = m.merchant_id
        and (k.expires_at is null or k.expires_at > now())
    where m.mid = any($1::text[]) and m.current
    order by m.mid, k.key_id desc
"""
BY_ID = f"""
    select {MERCHANTS.content_sql("m")}, m.row_code, {exchange_rates.CURRENT_RATES_COLUMN}, s.settings_version
    from merchant m join merchant_state s on s.merchant_id = m.merchant_id where m.merchant_id = $1
"""

CURRENT_BOOKS = """
    select n.merchant_id from merchant o join merchant n on n.mid = o.mid and n.current where o.merchant_id = $1
"""

# The number of columns of BY_ID, with which BY_MIDS begins. Then come verifier and expiry of a key, the columns that
# make it a caller, its code and its content.
MERCHANT_COLUMNS = len(MERCHANTS.columns) + 4
SETTINGS_COLUMN, RATES_COLUMN = MERCHANT_COLUMNS - 4, MERCHANT_COLUMNS - 2
CALLER_COLUMNS = slice(2, 12)


class MerchantSource(msgspec.Struct, frozen=True):
    """The source of a merchant: the columns of BY_ID, and the rates in them that are as the service wrote them."""

    columns: tuple[Any, ...]
    rates: Mapping[str, ExchangeRate]


class CachedMerchant(msgspec.Struct):
    merchant: Merchant | None  # without a caller
    # The merchant with each valid key as its caller, and when the key expires, by the key's verifier. A verifier is a
    # keyed hash: how long it takes to find one tells nothing about the keys.
    by_verifier: dict[bytes, tuple[Merchant, datetime | None]]
    loaded_at: float
    is_refreshing: bool = False
    changed: str = ""  # describes its row if that is not as the service wrote it: nothing is done for the merchant
    made_of: MerchantSource | None = None  # what `merchant` was made of; None if it changes with the time


def decode_settings(columns: Sequence[Any]) -> MerchantSettings:
    """Returns the settings in a row of BY_ID."""
    return msgspec.json.decode(columns[SETTINGS_COLUMN], type=MerchantSettings)


def make_caller(columns: Sequence[Any]) -> Caller:
    """Returns a key as the caller. `columns` are those of BY_MIDS from its name on."""
    name, key_id, scopes, lineage, person, addresses, is_use_due, holders, makers, is_cooling_off = columns
    return Caller(
        name,
        key_id,
        tuple(scopes),
        lineage,
        person,
        tuple(addresses),
        is_use_due,
        holders=tuple(holders),
        behind=tuple(makers),
        is_cooling_off=is_cooling_off,
    )


LIST_COPIED = """
    with recursive copied as (
        select (settings ->> 'copied_from')::bigint as number, 1 as nth from merchant where merchant_id = $1
        union all
        select (m.settings ->> 'copied_from')::bigint, c.nth + 1 from copied c
        join merchant m on m.merchant_id = c.number where c.nth < 100
    )
    select coalesce(array_agg(number order by nth), '{}') from copied where number is not null
"""
IS_CURRENT = "select current from merchant where merchant_id = $1"
# The number by which addresses name books: see Merchant.shown_number.
SHOWN_NUMBER = f"""
    coalesce(nullif((settings ->> 'token_space')::bigint, 0),
        case when merchant_id >= {COPY_UNIT} then merchant_id % {COPY_UNIT} else merchant_id end)
"""
FIND_SHOWN = f"""
    select merchant_id from merchant where current
        and {SHOWN_NUMBER} = coalesce((select {SHOWN_NUMBER} from merchant where merchant_id = $1), $1)
"""


class MerchantDirectory:
    """Finds merchants by mid and key, and by number. Caches each for STALE_AFTER_SECONDS."""

    def __init__(self, reader: Reader, vault: Vault, environment: str, clock: DatabaseClock | None = None) -> None:
        self._reader = reader
        self._clock = clock or DatabaseClock()
        self._vault = vault
        self._environment = environment
        self._by_mid: dict[str, CachedMerchant] = {}
        self._by_id: dict[int, tuple[Merchant, float]] = {}
        self._loading: dict[str, asyncio.Task[CachedMerchant]] = {}
        self._due_mids: list[str] = []  # to be reloaded
        self._evictions = 0
        self._reloading: asyncio.Task[None] | None = None
        self.key_usage = KeyUsage()

    def get_cached(self, mid: str) -> CachedMerchant | None:
        """Returns the cached merchant, or None if it is stale. Starts a background reload if it is not fresh."""
        cached = self._by_mid.get(mid)
        if cached is None:
            return None
        age = time.monotonic() - cached.loaded_at
        if age >= STALE_AFTER_SECONDS:
            return None
        if age >= REFRESH_AFTER_SECONDS and not cached.is_refreshing:
            cached.is_refreshing = True
            self._due_mids.append(mid)
            if not self.is_reloading:
                self._reloading = asyncio.get_running_loop().create_task(self._reload())
                self._reloading.add_done_callback(lambda task: task.cancelled() or task.exception())
        return cached

    @property
    def is_reloading(self) -> bool:
        return self._reloading is not None and not self._reloading.done()

    async def _reload(self) -> None:
        """Reloads the merchants that are due. Those that it cannot reload are loaded when they are stale."""
        while self._due_mids:
            if len(self._due_mids) < MAX_RELOADED:
                await asyncio.sleep(GATHER_SECONDS)
            mids, self._due_mids = self._due_mids[:MAX_RELOADED], self._due_mids[MAX_RELOADED:]
            await self._read(mids)

    def evict(self, mid: str) -> None:
        """Drops a mid from the cache. What a running query finds is not cached: it may be outdated."""
        self._by_mid.pop(mid, None)
        self._loading.pop(mid, None)
        self._evictions += 1
        for merchant_id in [number for number, (merchant, _) in self._by_id.items() if merchant.mid == mid]:
            del self._by_id[merchant_id]

    async def authenticate(self, mid: str, key: str) -> Merchant | None:
        """Returns the merchant with the key as its caller if the key is valid, else None. Takes the same time whether
        or not the mid exists. Raises RowChanged if the merchant's row is not as the service wrote it."""
        cached = self.get_cached(mid)
        if cached is not None:
            merchant = self._match(cached, key)
            if merchant is not None or time.monotonic() - cached.loaded_at < RECHECK_AFTER_SECONDS:
                return merchant
        return self._match(await self.load(mid), key)

    def _match(self, cached: CachedMerchant, key: str) -> Merchant | None:
        """Returns the merchant if one of its cached verifiers is that of the key."""
        if cached.changed:
            raise RowChanged(cached.changed)
        known = cached.by_verifier.get(self._vault.hash_api_key(key))
        if known is None:
            return None
        merchant, expires_at = known
        return merchant if expires_at is None or expires_at > self._clock.now() else None

    def load(self, mid: str) -> "asyncio.Task[CachedMerchant]":
        """Loads a merchant. Concurrent calls for the same mid share one query."""
        task = self._loading.get(mid)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._read_one(mid))
            self._loading[mid] = task
            task.add_done_callback(lambda done: self._forget_task(mid, done))
        return task

    def _forget_task(self, mid: str, task: "asyncio.Task[CachedMerchant]") -> None:
        if self._loading.get(mid) is task:
            del self._loading[mid]

    async def _read_one(self, mid: str) -> CachedMerchant:
        return (await self._read([mid]))[mid]

    async def _read(self, mids: list[str]) -> dict[str, CachedMerchant]:
        """Reads merchants, and caches them unless one was evicted meanwhile."""
        asked_at, evictions = time.monotonic(), self._evictions
        merchants = {mid: CachedMerchant(None, {}, asked_at) for mid in mids}
        read_rates = cache(self._read_rates)
        for row in map(tuple, await self._reader.fetch(BY_MIDS, mids)):
            one, key = merchants[row[1]], row[MERCHANT_COLUMNS:]
            if one.changed:
                continue
            try:
                merchant = one.merchant or self._fill(one, row[:MERCHANT_COLUMNS], read_rates)
            except RowChanged as error:
                one.changed = str(error)
                continue
            if key[0] is not None and self._is_key_intact(key[CALLER_COLUMNS.stop + 1 :], key[CALLER_COLUMNS.stop]):
                caller = make_caller(key[CALLER_COLUMNS])
                one.by_verifier[key[0]] = (msgspec.structs.replace(merchant, caller=caller), key[1])
        if len(self._by_mid) >= MAX_ENTRIES:
            self._by_mid.clear()
        if evictions == self._evictions:
            self._by_mid.update(merchants)
        return merchants

    def _is_key_intact(self, content: Sequence[Any], code: bytes | None) -> bool:
        try:
            row_codes.check_content(self._vault, KEYS, content, code)
        except RowChanged:
            return False
        return True

    def _fill(
        self, cached: CachedMerchant, columns: tuple[Any, ...], read_rates: Callable[[str | None], Mapping[str, Any]]
    ) -> Merchant:
        """Sets the merchant of a cache entry. Made of the same as before, it is the same. Raises RowChanged."""
        self._check(columns)
        source, known = MerchantSource(columns, read_rates(columns[RATES_COLUMN])), self._by_mid.get(columns[1])
        if known is not None and known.merchant is not None and known.made_of == source:
            merchant, cached.made_of = known.merchant, source
        else:
            settings = decode_settings(columns)
            merchant = self._make(source, settings)
            cached.made_of = source if settings.payouts_change is None else None
        cached.merchant = merchant
        return merchant

    def _check(self, columns: Sequence[Any]) -> None:
        """Checks the code of a row of BY_ID. Raises RowChanged."""
        *content, code, _, _ = columns
        row_codes.check_content(self._vault, MERCHANTS, content, code)

    def _read_rates(self, encoded: str | None) -> dict[str, ExchangeRate]:
        return exchange_rates.decode_rates(encoded, self._vault)

    def _make(self, source: MerchantSource, settings: MerchantSettings) -> Merchant:
        merchant_id, mid, name, *_, settings_version = source.columns
        in_force = apply_policy_change(settings, self._clock.now())
        merchant = make_merchant(merchant_id, mid, name, self._environment, in_force, source.rates)
        return msgspec.structs.replace(merchant, settings_version=settings_version)

    async def find_ended_senders(self, merchant: Merchant, senders: Collection[Caller]) -> frozenset[Caller]:
        """Returns those who may not send any more. Reads the database at every call: nothing of it is cached."""
        return await find_ended_senders(self._reader, self._vault, merchant, senders)

    async def get_current_books(self, merchant_id: int) -> Merchant:
        """Returns the merchant with the books that its mid stands for now. Raises RowChanged."""
        row = await self._reader.fetchrow(CURRENT_BOOKS, merchant_id)
        return await self.get_by_id(merchant_id if row is None else row[0])

    async def find_current(self, number: int) -> int | None:
        """Returns the number of the books that are in use and have, or are a copy put back in place of those that have,
        the number of an address (Merchant.shown_number). None if they were archived by `reset`."""
        row = await self._reader.fetchrow(IS_CURRENT, number)
        if row is not None and row[0]:
            return number
        shown = await self._reader.fetchrow(FIND_SHOWN, number)
        return None if shown is None else int(shown[0])

    async def list_copied(self, merchant_id: int) -> tuple[int, ...]:
        """Returns the numbers of the books that these are a copy of, the nearest first: worlds were put back there."""
        row = await self._reader.fetchrow(LIST_COPIED, merchant_id)
        return tuple(row[0])

    async def get_by_id(self, merchant_id: int) -> Merchant:
        """Returns the merchant of a number, current or archived. Used by jobs. Raises RowChanged."""
        known = self._by_id.get(merchant_id)
        if known is not None and time.monotonic() - known[1] < STALE_AFTER_SECONDS:
            return known[0]
        asked_at = time.monotonic()
        columns = tuple(await self._reader.fetchrow(BY_ID, merchant_id))
        self._check(columns)
        source = MerchantSource(columns, self._read_rates(columns[RATES_COLUMN]))
        merchant = self._make(source, decode_settings(columns))
        if len(self._by_id) >= MAX_ENTRIES:
            self._by_id.clear()
        self._by_id[merchant_id] = (merchant, asked_at)
        return merchant
