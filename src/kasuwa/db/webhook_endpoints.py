"""Further webhook endpoints of a merchant: their settings, the deliveries to them, and their attempts.

The first endpoint of a merchant is its setting `webhook_url` (db/deliveries.py). Contract: events#endpoints
"""

import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from kasuwa.core.events import DISABLE_AFTER
from kasuwa.core.keyring import UnsealError
from kasuwa.core.reading import Reader
from kasuwa.core.row_codes import CodedTable, RowChanged
from kasuwa.core.vault import Vault
from kasuwa.db import row_codes
from kasuwa.db.backend_connection import is_distributed
from kasuwa.db.connection_pool import Connection, QueryRunner
from kasuwa.db.merchant_keys import random_key, unseal_key
from kasuwa.db.server_search import search_query, search_servers

ENDPOINTS = CodedTable(
    table="webhook_endpoint",
    key={"endpoint_id": "bigint"},
    covered=("url", "kinds", "verifier", "previous_verifier", "previous_until", "created_by", "removed_at"),
    uncovered={
        **dict.fromkeys(("sealed", "previous_sealed"), "encrypted for its merchant, and compared with the verifier"),
        **dict.fromkeys(("failing_since", "off_at"), "whether it answers, as deliveries have found"),
        "listed_seq": "how far deliveries were made: they are found by the event log",
        "created_at": "only shown",
    },
)
ENDPOINT_ROW = "merchant_id = $1 and endpoint_id = $2"
SEAL_CONTEXT = "webhook_endpoint.sealed"
MAX_ENDPOINTS = 10
DELIVERY_LEASE = timedelta(seconds=60)
EVENTS_PER_STEP = 1_000
ENDPOINTS_PER_STEP = 100
RECENT_ATTEMPTS = 1_000
MAX_RESENT = 10_000


class TooManyEndpoints(Exception):
    """The merchant has MAX_ENDPOINTS further endpoints."""


class EndpointRecord(msgspec.Struct, frozen=True):
    """An endpoint as pages show it."""

    endpoint_id: int
    url: str
    kinds: list[str]  # empty: every kind
    created_by: str
    created_at: datetime
    failing_since: datetime | None
    disabled_at: datetime | None
    attempts: int  # the newest, at most RECENT_ATTEMPTS
    accepted: int  # of those
    waiting: int  # deliveries that are not done

    @property
    def state(self) -> str:
        return "off" if self.disabled_at else "failing" if self.failing_since else "active"


class EndpointAttempt(msgspec.Struct, frozen=True):
    """An attempt to deliver an event to one of the further endpoints."""

    endpoint_id: int
    url: str
    number: int
    at: datetime
    http: int | None
    error: str | None
    ms: int
    response: str | None


# --- settings -------------------------------------------------------------------------------------------------------

LIST = f"""
    select w.endpoint_id, w.url, w.kinds, w.created_by, w.created_at, w.failing_since, w.off_at, r.attempts, r.accepted,
        (select count(*) from (select 1 from endpoint_delivery d where d.merchant_id = $1
            and d.endpoint_id = w.endpoint_id limit 1000) d)
    from webhook_endpoint w cross join lateral (
        select count(*) as attempts, count(*) filter (where a.http between 200 and 299) as accepted
        from (select http from endpoint_attempt where merchant_id = $1 and endpoint_id = w.endpoint_id
            order by event_seq desc, number desc limit {RECENT_ATTEMPTS}) a) r
    where w.merchant_id = $1 and w.removed_at is null order by w.endpoint_id
"""
ATTEMPTS = """
    select a.endpoint_id, w.url, a.number, a.at, a.http, a.error, a.ms, a.response from endpoint_attempt a
    join webhook_endpoint w on w.merchant_id = a.merchant_id and w.endpoint_id = a.endpoint_id
    where a.merchant_id = $1 and a.endpoint_id = any(array(
        select endpoint_id from webhook_endpoint where merchant_id = $1)) and a.event_seq = $2
    order by a.endpoint_id, a.number limit 200
"""
COUNT = "select count(*) from webhook_endpoint where merchant_id = $1 and removed_at is null"
ADD = """
    insert into webhook_endpoint (merchant_id, endpoint_id, url, kinds, verifier, sealed, created_by, listed_seq)
    select $1, coalesce((select max(endpoint_id) from webhook_endpoint where merchant_id = $1), 1) + 1, $2, $3, $4, $5,
        $6, last_event_seq
    from merchant_state where merchant_id = $1 returning endpoint_id
"""
# Saving an endpoint enables it again.
CHANGE = """
    update webhook_endpoint w set url = $3, kinds = $4, failing_since = null, off_at = null
    from (select url, kinds from webhook_endpoint where merchant_id = $1 and endpoint_id = $2 for update) old
    where w.merchant_id = $1 and w.endpoint_id = $2 and w.removed_at is null returning old.url, old.kinds
"""
REMOVE = """
    with gone as (
        update webhook_endpoint set removed_at = now()
        where merchant_id = $1 and endpoint_id = $2 and removed_at is null returning url),
    undone as (delete from endpoint_delivery where merchant_id = $1 and endpoint_id = $2)
    select url from gone
"""
ROLL = """
    update webhook_endpoint set previous_verifier = verifier, previous_sealed = sealed, previous_until = now() + $5,
        verifier = $3, sealed = $4
    where merchant_id = $1 and endpoint_id = $2 and removed_at is null returning url
"""
FIND = f"""
    select url, sealed, verifier, row_code, {ENDPOINTS.content_sql()} from webhook_endpoint
    where {ENDPOINT_ROW} and removed_at is null
"""


async def list_endpoints(reader: Reader, merchant_id: int) -> list[EndpointRecord]:
    return [EndpointRecord(*row) for row in await reader.fetch(LIST, merchant_id)]


async def list_attempts(reader: Reader, merchant_id: int, event_seq: int) -> list[EndpointAttempt]:
    """Returns the attempts to deliver an event to further endpoints, also to those that were removed since."""
    return [EndpointAttempt(*row) for row in await reader.fetch(ATTEMPTS, merchant_id, event_seq)]


def seal_secret(vault: Vault, merchant_id: int, secret: str) -> tuple[bytes, bytes]:
    """Returns verifier and encrypted form of a secret."""
    sealed = vault.seal(merchant_id, SEAL_CONTEXT, secret.encode(), secrets.token_bytes(12))
    return vault.hash_api_key(secret), sealed


async def add_endpoint(
    connection: Connection, vault: Vault, merchant_id: int, url: str, kinds: Sequence[str], created_by: str
) -> tuple[int, str]:
    """Adds an endpoint, which gets the events from now on. Returns its number and its secret. Raises TooManyEndpoints.

    The merchant's row must be locked, so that two additions do not get the same number."""
    if await connection.fetchval(COUNT, merchant_id) >= MAX_ENDPOINTS:
        raise TooManyEndpoints
    secret = random_key(merchant_id)
    verifier, sealed = seal_secret(vault, merchant_id, secret)
    number = await connection.fetchval(ADD, merchant_id, url, list(kinds), verifier, sealed, created_by)
    assert isinstance(number, int)
    await row_codes.code_new_row(connection, vault, ENDPOINTS, ENDPOINT_ROW, merchant_id, number)
    return number, secret


async def change_endpoint(
    connection: Connection, vault: Vault, merchant_id: int, endpoint_id: int, url: str, kinds: Sequence[str]
) -> tuple[str, list[str]] | None:
    """Saves an endpoint and enables it. Returns its old URL and kinds, or None if there is no such endpoint."""
    async with row_codes.changing(connection, vault, ENDPOINTS, ENDPOINT_ROW, merchant_id, endpoint_id):
        row = await connection.fetchrow(CHANGE, merchant_id, endpoint_id, url, list(kinds))
    return None if row is None else (row[0], row[1])


async def remove_endpoint(connection: Connection, vault: Vault, merchant_id: int, endpoint_id: int) -> str | None:
    """Removes an endpoint and its deliveries. Its attempts stay. Returns its URL, or None if there is none."""
    async with row_codes.changing(connection, vault, ENDPOINTS, ENDPOINT_ROW, merchant_id, endpoint_id, ends=True):
        url = await connection.fetchval(REMOVE, merchant_id, endpoint_id)
    assert url is None or isinstance(url, str)
    return url


async def roll_secret(
    connection: Connection, vault: Vault, merchant_id: int, endpoint_id: int, overlap: timedelta
) -> str | None:
    """Gives an endpoint a new secret. The old one signs as well until the overlap ends. Returns None without one."""
    secret = random_key(merchant_id)
    verifier, sealed = seal_secret(vault, merchant_id, secret)
    async with row_codes.changing(connection, vault, ENDPOINTS, ENDPOINT_ROW, merchant_id, endpoint_id):
        found = await connection.fetchval(ROLL, merchant_id, endpoint_id, verifier, sealed, overlap)
    return None if found is None else secret


async def find_target(
    reader: QueryRunner, vault: Vault, merchant_id: int, endpoint_id: int
) -> tuple[str, list[bytes]] | None:
    """Returns URL and signing keys of an endpoint, or None. Raises UnsealError and RowChanged."""
    row = await reader.fetchrow(FIND, merchant_id, endpoint_id)
    if row is None:
        return None
    row_codes.check_content(vault, ENDPOINTS, tuple(row[4:]), row[3])
    return row[0], [unseal_key(vault, merchant_id, row[1], row[2], SEAL_CONTEXT)]


COPY = """
    insert into webhook_endpoint (merchant_id, endpoint_id, url, kinds, verifier, sealed, created_by, created_at,
        listed_seq)
    values ($1, $2, $3, $4, $5, $6, $7, $8, 0)
"""
COPIED = f"""
    select sealed, endpoint_id, url, kinds, verifier, created_by, created_at, row_code, {ENDPOINTS.content_sql()}
    from webhook_endpoint where merchant_id = $1 and removed_at is null
"""
FORGET_DELIVERIES = "delete from endpoint_delivery where merchant_id = $1"


async def copy_endpoints(connection: Connection, vault: Vault, old: int, new: int) -> None:
    """Gives the new books of a merchant its endpoints. One whose secret cannot be decrypted is left out, and so is one
    that is not as the service wrote it."""
    for row in await connection.fetch(COPIED, old):
        sealed, endpoint_id, url, kinds, verifier, created_by, created_at, code, *content = row
        try:
            row_codes.check_content(vault, ENDPOINTS, content, code)
            secret = unseal_key(vault, old, sealed, verifier, SEAL_CONTEXT)
        except (UnsealError, RowChanged):
            continue
        resealed = seal_secret(vault, new, secret.decode())[1]
        values = (endpoint_id, url, kinds, verifier, resealed, created_by, created_at)
        await connection.execute(COPY, new, *values)
        await row_codes.code_new_row(connection, vault, ENDPOINTS, ENDPOINT_ROW, new, endpoint_id)
    await connection.execute(FORGET_DELIVERIES, old)


# --- deliveries -----------------------------------------------------------------------------------------------------

# Makes the deliveries of the next events. Endpoints that another process works on are skipped.
# `{w}` and the like restrict a table to one merchant.
LISTING = f"""
    with w as (
        select w.merchant_id, w.endpoint_id, w.kinds, w.listed_seq,
            least(s.last_event_seq, w.listed_seq + {EVENTS_PER_STEP}) as until
        from webhook_endpoint w join merchant_state s on s.merchant_id = w.merchant_id
        join merchant m on m.merchant_id = w.merchant_id and m.current
        where w.removed_at is null and s.last_event_seq > w.listed_seq {{w}}
        limit {ENDPOINTS_PER_STEP} for update of w skip locked),
    made as (
        insert into endpoint_delivery (merchant_id, endpoint_id, event_seq, run_at)
        select w.merchant_id, w.endpoint_id, e.seq, now() from w
        join event e on e.merchant_id = w.merchant_id and e.seq > w.listed_seq and e.seq <= w.until
        where (cardinality(w.kinds) = 0 or e.kind = any(w.kinds)) {{e}}
        on conflict do nothing),
    moved as (
        update webhook_endpoint p set listed_seq = w.until from w
        where p.merchant_id = w.merchant_id and p.endpoint_id = w.endpoint_id {{p}} returning 1)
    select count(*) from moved
"""
LIST_EVENTS = LISTING.format(w="", e="", p="")
LIST_EVENTS_OF_MERCHANT = LISTING.format(
    w="and w.merchant_id = $1", e="and e.merchant_id = $1", p="and p.merchant_id = $1"
)
FIND_UNLISTED = search_query(
    f"""
    select distinct w.merchant_id
    from webhook_endpoint w join merchant_state s on s.merchant_id = w.merchant_id
    join merchant m on m.merchant_id = w.merchant_id and m.current
    where w.removed_at is null and s.last_event_seq > w.listed_seq {{some}} limit {ENDPOINTS_PER_STEP}
    """,
    "w.merchant_id",
    1,
)
# $1: how many of each endpoint; $2: in all; $3 and $4: endpoints that have enough in flight; $5: the lease.
CLAIMING = f"""
    with due as (
        select d.merchant_id, d.endpoint_id, d.event_seq from webhook_endpoint w
        join merchant m on m.merchant_id = w.merchant_id and m.current
        cross join lateral (
            select * from endpoint_delivery d where d.merchant_id = w.merchant_id and d.endpoint_id = w.endpoint_id
                and d.run_at <= now() and (d.leased_until is null or d.leased_until <= now())
            order by d.run_at, d.event_seq limit $1) d
        where w.removed_at is null and w.off_at is null {{w}} and not exists (
            select 1 from unnest($3::bigint[], $4::bigint[]) b (merchant_id, endpoint_id)
            where b.merchant_id = w.merchant_id and b.endpoint_id = w.endpoint_id)
        limit $2),
    locked as (
        select d.merchant_id, d.endpoint_id, d.event_seq from endpoint_delivery d join due
            on due.merchant_id = d.merchant_id and due.endpoint_id = d.endpoint_id and due.event_seq = d.event_seq {{d}}
        for update of d skip locked),
    taken as (
        update endpoint_delivery d set leased_until = now() + $5::interval from locked l
        where d.merchant_id = l.merchant_id and d.endpoint_id = l.endpoint_id and d.event_seq = l.event_seq {{d}}
        returning d.merchant_id, d.endpoint_id, d.event_seq, d.attempt)
    select t.merchant_id, t.endpoint_id, t.event_seq, t.attempt, e.object, e.object_seq, e.payload, w.url, w.sealed,
        w.verifier, case when w.previous_until > now() then w.previous_sealed end, w.previous_verifier,
        b.clock_offset_us, b.clock_fixed_at, w.row_code, {ENDPOINTS.content_sql("w")}
    from taken t join event e on e.merchant_id = t.merchant_id and e.seq = t.event_seq
    join webhook_endpoint w on w.merchant_id = t.merchant_id and w.endpoint_id = t.endpoint_id
    join merchant_state b on b.merchant_id = t.merchant_id {{t}}
"""
CLAIM = CLAIMING.format(w="", d="", t="")
CLAIM_OF_MERCHANT = CLAIMING.format(
    w="and w.merchant_id = $6", d="and d.merchant_id = $6", t="where t.merchant_id = $6"
)
FIND_DUE = search_query(
    """
    select distinct d.merchant_id from endpoint_delivery d
    join webhook_endpoint w on w.merchant_id = d.merchant_id and w.endpoint_id = d.endpoint_id
    join merchant m on m.merchant_id = d.merchant_id and m.current
    where d.run_at <= now() and (d.leased_until is null or d.leased_until <= now())
        and w.removed_at is null and w.off_at is null {some} limit $1
    """,
    "d.merchant_id",
    2,
)
RECORD_ATTEMPT = """
    insert into endpoint_attempt (merchant_id, endpoint_id, event_seq, number, at, http, error, ms, response)
    select $1, $2, $3, coalesce((select max(number) from endpoint_attempt
        where merchant_id = $1 and endpoint_id = $2 and event_seq = $3), 0) + 1, $4, $5, $6, $7, $8
    returning 1
"""
DONE = "delete from endpoint_delivery where merchant_id = $1 and endpoint_id = $2 and event_seq = $3"
AGAIN = """
    update endpoint_delivery set attempt = attempt + 1, leased_until = null, run_at = now() + $4::interval
    where merchant_id = $1 and endpoint_id = $2 and event_seq = $3
"""
WORKS = """
    update webhook_endpoint set failing_since = null, off_at = null
    where merchant_id = $1 and endpoint_id = $2 and failing_since is not null
"""
FAILS = """
    update webhook_endpoint set failing_since = coalesce(failing_since, $3),
        off_at = case when failing_since <= $3 - $4::interval then coalesce(off_at, $3) else off_at end
    where merchant_id = $1 and endpoint_id = $2
"""
# Events whose last attempt at the endpoint failed, and that do not wait for their first attempt.
RESEND_FAILED = f"""
    with failed as (
        select distinct on (a.event_seq) a.event_seq, a.http from endpoint_attempt a
        where a.merchant_id = $1 and a.endpoint_id = $2 order by a.event_seq desc, a.number desc),
    chosen as (
        select f.event_seq from failed f join event e on e.merchant_id = $1 and e.seq = f.event_seq
        where e.at >= $3 and (f.http is null or f.http not between 200 and 299)
        order by e.seq limit {MAX_RESENT}),
    again as (
        insert into endpoint_delivery (merchant_id, endpoint_id, event_seq, run_at) select $1, $2, event_seq, now()
        from chosen on conflict (merchant_id, endpoint_id, event_seq)
            do update set run_at = excluded.run_at, attempt = 0, leased_until = null)
    select count(*) from chosen
"""
ENABLE = "update webhook_endpoint set off_at = null, failing_since = null where merchant_id = $1 and endpoint_id = $2"


class EndpointDelivery(msgspec.Struct, frozen=True):
    """A claimed delivery to one of the further endpoints."""

    merchant_id: int
    endpoint_id: int
    event_seq: int
    attempt: int
    object: str
    object_seq: int
    payload: bytes
    url: str
    keys: list[bytes]  # the newest first; empty if the secret cannot be decrypted, or somebody changed the endpoint
    now: datetime  # the merchant's business time

    @property
    def endpoint(self) -> tuple[int, int]:
        return self.merchant_id, self.endpoint_id


class EndpointOutcome(msgspec.Struct, frozen=True):
    """The outcome of an attempt. `wait` is the time until the next one, None if there is none."""

    item: EndpointDelivery
    http: int | None
    error: str | None
    ms: int
    response: str | None
    wait: timedelta | None
    delivered: bool


async def list_new_events(connection: Connection) -> int:
    """Makes deliveries of events that are new since the last call. Returns for how many endpoints."""
    if is_distributed(connection):
        merchants = [row[0] for row in await search_servers(connection, FIND_UNLISTED)]
        return sum([await connection.fetchval(LIST_EVENTS_OF_MERCHANT, merchant_id) for merchant_id in merchants])
    count = await connection.fetchval(LIST_EVENTS)
    assert isinstance(count, int)
    return count


async def claim_deliveries(
    connection: Connection, vault: Vault, wall: datetime, room: int, per_endpoint: int, busy: Iterable[tuple[int, int]]
) -> list[EndpointDelivery]:
    """Leases due deliveries, at most `room`, and of each endpoint `per_endpoint`, none of those that are busy."""
    pairs = list(busy)
    merchants, numbers = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if is_distributed(connection):
        rows: list[Any] = []
        for [merchant_id] in (await search_servers(connection, FIND_DUE, room))[:room]:
            left = room - len(rows)
            values = (per_endpoint, left, merchants, numbers, DELIVERY_LEASE, merchant_id)
            rows += await connection.fetch(CLAIM_OF_MERCHANT, *values)
    else:
        rows = await connection.fetch(CLAIM, per_endpoint, room, merchants, numbers, DELIVERY_LEASE)
    return [read_delivery(vault, row, wall) for row in rows]


def read_delivery(vault: Vault, row: Sequence[object], wall: datetime) -> EndpointDelivery:
    values = tuple(row)
    merchant_id, endpoint_id, event_seq, attempt, about, about_seq, payload, url = values[:8]
    sealed, verifier, previous_sealed, previous_verifier, offset, fixed, code, *content = values[8:]
    assert isinstance(merchant_id, int)
    assert isinstance(payload, str)
    keys = open_keys(vault, merchant_id, [(sealed, verifier), (previous_sealed, previous_verifier)])
    assert code is None or isinstance(code, bytes)
    try:
        row_codes.check_content(vault, ENDPOINTS, content, code)
    except RowChanged:
        keys = []
    now = fixed if isinstance(fixed, datetime) else wall + timedelta(microseconds=int(str(offset)))
    known = (merchant_id, endpoint_id, event_seq, attempt, about, about_seq, payload.encode(), url, keys, now)
    return EndpointDelivery(*known)  # type: ignore[arg-type]


def open_keys(vault: Vault, merchant_id: int, rows: Iterable[tuple[object, object]]) -> list[bytes]:
    """Returns the secrets that can be decrypted, none if the newest cannot."""
    keys: list[bytes] = []
    for sealed, verifier in rows:
        if isinstance(sealed, bytes) and isinstance(verifier, bytes):
            try:
                keys.append(unseal_key(vault, merchant_id, sealed, verifier, SEAL_CONTEXT))
            except UnsealError:
                break
    return keys


async def record_outcomes(connection: Connection, outcomes: Iterable[EndpointOutcome]) -> None:
    """Records attempts, and makes the next one of those that failed due."""
    for outcome in outcomes:
        item = outcome.item
        place = (item.merchant_id, item.endpoint_id, item.event_seq)
        async with connection.transaction():
            await connection.execute(
                RECORD_ATTEMPT, *place, item.now, outcome.http, outcome.error, outcome.ms, outcome.response
            )
            if outcome.delivered or outcome.wait is None:
                await connection.execute(DONE, *place)
            else:
                await connection.execute(AGAIN, *place, outcome.wait)
            if outcome.delivered:
                await connection.execute(WORKS, *item.endpoint)
            else:
                await connection.execute(FAILS, *item.endpoint, item.now, DISABLE_AFTER)


async def resend_failed(connection: Connection, merchant_id: int, endpoint_id: int, since: datetime) -> int:
    """Makes events that the endpoint did not accept due again, and enables it. Returns how many, at most MAX_RESENT."""
    async with connection.transaction():
        await connection.execute(ENABLE, merchant_id, endpoint_id)
        count = await connection.fetchval(RESEND_FAILED, merchant_id, endpoint_id, since)
    assert isinstance(count, int)
    return count
