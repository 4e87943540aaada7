"""Webhook endpoints of a merchant: adds, changes and lists them.

The first endpoint is the setting `webhook_url` (merchants.py), signed for with the merchant's signing secret. The
others are rows of webhook_endpoint, each with a secret of its own. Deliveries are the same for all (deliveries.py).
Contract: events#endpoints
"""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.core.keyring import UnsealError
from kasuwa.core.reading import Reader
from kasuwa.core.row_codes import CodedTable, RowChanged
from kasuwa.core.vault import Vault
from kasuwa.merchants.keys import random_key, unseal_key
from kasuwa.postgres import row_codes
from kasuwa.postgres.connection_pool import Connection, QueryRunner

ENABLE_ENDPOINT = """
    with e as (delete from failing_endpoint where merchant_id = $1 and endpoint_id = $2)
    update scheduled_job j set leased_until = null,
        run_at = job_run_at(j.due, b.clock_offset_us, b.clock_fixed_at, now())
    from merchant_state b
    where j.lane = 'webhook' and j.merchant_id = $1 and j.endpoint_id = $2 and b.merchant_id = j.merchant_id
"""


FORGET_ENDPOINT = """
    with e as (delete from failing_endpoint where merchant_id = $1 and endpoint_id = $2)
    delete from scheduled_job where merchant_id = $1 and lane = 'webhook' and endpoint_id = $2
"""


async def enable_endpoint(connection: QueryRunner, merchant_id: int, endpoint_id: int) -> None:
    """Enables an endpoint and makes its parked deliveries due."""
    await connection.execute(ENABLE_ENDPOINT, merchant_id, endpoint_id)


async def forget_endpoint(connection: QueryRunner, merchant_id: int, endpoint_id: int) -> None:
    """Deletes the deliveries of an endpoint that is removed."""
    await connection.execute(FORGET_ENDPOINT, merchant_id, endpoint_id)


ENDPOINTS = CodedTable(
    table="webhook_endpoint",
    key={"endpoint_id": "bigint"},
    covered=("url", "kinds", "verifier", "previous_verifier", "previous_until", "created_by", "removed_at"),
    uncovered={
        **dict.fromkeys(("sealed", "previous_sealed"), "encrypted for its merchant, and compared with the verifier"),
        "created_at": "only shown",
    },
)
ENDPOINT_ROW = "merchant_id = $1 and endpoint_id = $2"
SEAL_CONTEXT = "webhook_endpoint.sealed"
MAX_ENDPOINTS = 10
RECENT_ATTEMPTS = 1_000


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


LIST = f"""
    select w.endpoint_id, w.url, w.kinds, w.created_by, w.created_at, f.failing_since, f.off_at, r.attempts, r.accepted,
        (select count(*) from (select 1 from scheduled_job j where j.merchant_id = $1 and j.lane = 'webhook'
            and j.endpoint_id = w.endpoint_id limit 1000) j)
    from webhook_endpoint w
    left join failing_endpoint f on f.merchant_id = $1 and f.endpoint_id = w.endpoint_id
    cross join lateral (
        select count(*) as attempts, count(*) filter (where a.http between 200 and 299) as accepted
        from (select http from delivery_attempt where merchant_id = $1 and endpoint_id = w.endpoint_id
            order by event_seq desc, number desc limit {RECENT_ATTEMPTS}) a) r
    where w.merchant_id = $1 and w.removed_at is null order by w.endpoint_id
"""
ATTEMPTS = """
    select a.endpoint_id, w.url, a.number, a.at, a.http, a.error, a.ms, a.response from delivery_attempt a
    join webhook_endpoint w on w.merchant_id = a.merchant_id and w.endpoint_id = a.endpoint_id
    where a.merchant_id = $1 and a.endpoint_id = any(array(
        select endpoint_id from webhook_endpoint where merchant_id = $1)) and a.event_seq = $2
    order by a.endpoint_id, a.number limit 200
"""
COUNT = "select count(*) from webhook_endpoint where merchant_id = $1 and removed_at is null"
ADD = """
    insert into webhook_endpoint (merchant_id, endpoint_id, url, kinds, verifier, sealed, created_by)
    select $1, coalesce((select max(endpoint_id) from webhook_endpoint where merchant_id = $1), $7::bigint) + 1, $2, $3,
        $4, $5, $6
    from merchant_state where merchant_id = $1 returning endpoint_id
"""
CHANGE = """
    update webhook_endpoint w set url = $3, kinds = $4
    from (select url, kinds from webhook_endpoint where merchant_id = $1 and endpoint_id = $2 for update) old
    where w.merchant_id = $1 and w.endpoint_id = $2 and w.removed_at is null returning old.url, old.kinds
"""
REMOVE = """
    update webhook_endpoint set removed_at = now()
    where merchant_id = $1 and endpoint_id = $2 and removed_at is null returning url
"""
ROLL = """
    update webhook_endpoint set previous_verifier = verifier, previous_sealed = sealed, previous_until = now() + $5,
        verifier = $3, sealed = $4
    where merchant_id = $1 and endpoint_id = $2 and removed_at is null returning url
"""
# The kinds of events of each endpoint. The state row is locked first: what others change meanwhile is seen then.
LOCK_STATE = "select 1 from merchant_state where merchant_id = $1 for update"
KINDS = f"""
    select {FIRST_ENDPOINT}::bigint as endpoint_id, '{{}}'::text[] as kinds
    from merchant where merchant_id = $1 and settings ->> 'webhook_url' <> ''
    union all
    select endpoint_id, kinds from webhook_endpoint where merchant_id = $1 and removed_at is null
    order by endpoint_id
"""
SET_ENDPOINTS = "update merchant_state set endpoints = $2, version = version + 1 where merchant_id = $1"


async def store_kinds(connection: Connection, merchant_id: int) -> None:
    """Tells the rules which endpoints there are: writes them into the merchant's state row. Call it in the transaction
    that changes an endpoint. Events that are committed later are delivered as the endpoints are then."""
    await connection.execute(LOCK_STATE, merchant_id)
    kinds = {str(number): chosen for number, chosen in await connection.fetch(KINDS, merchant_id)}
    await connection.execute(SET_ENDPOINTS, merchant_id, msgspec.json.encode(kinds).decode())


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
    secret = random_key()
    verifier, sealed = seal_secret(vault, merchant_id, secret)
    values = (url, list(kinds), verifier, sealed, created_by, FIRST_ENDPOINT)
    number = await connection.fetchval(ADD, merchant_id, *values)
    assert isinstance(number, int)
    await row_codes.code_new_row(connection, vault, ENDPOINTS, ENDPOINT_ROW, merchant_id, number)
    await store_kinds(connection, merchant_id)
    return number, secret


async def change_endpoint(
    connection: Connection, vault: Vault, merchant_id: int, endpoint_id: int, url: str, kinds: Sequence[str]
) -> tuple[str, list[str]] | None:
    """Saves an endpoint and enables it. Returns its old URL and kinds, or None if there is no such endpoint."""
    async with row_codes.changing(connection, vault, ENDPOINTS, ENDPOINT_ROW, merchant_id, endpoint_id):
        row = await connection.fetchrow(CHANGE, merchant_id, endpoint_id, url, list(kinds))
    if row is None:
        return None
    await store_kinds(connection, merchant_id)
    await enable_endpoint(connection, merchant_id, endpoint_id)
    return row[0], row[1]


async def remove_endpoint(connection: Connection, vault: Vault, merchant_id: int, endpoint_id: int) -> str | None:
    """Removes an endpoint and its deliveries. Its attempts stay. Returns its URL, or None if there is none."""
    async with row_codes.changing(connection, vault, ENDPOINTS, ENDPOINT_ROW, merchant_id, endpoint_id, ends=True):
        url = await connection.fetchval(REMOVE, merchant_id, endpoint_id)
    if url is None:
        return None
    await store_kinds(connection, merchant_id)
    await forget_endpoint(connection, merchant_id, endpoint_id)
    assert isinstance(url, str)
    return url


async def roll_secret(
    connection: Connection, vault: Vault, merchant_id: int, endpoint_id: int, overlap: timedelta
) -> str | None:
    """Gives an endpoint a new secret. The old one signs as well until the overlap ends. Returns None without one."""
    secret = random_key()
    verifier, sealed = seal_secret(vault, merchant_id, secret)
    async with row_codes.changing(connection, vault, ENDPOINTS, ENDPOINT_ROW, merchant_id, endpoint_id):
        endpoint = await connection.fetchval(ROLL, merchant_id, endpoint_id, verifier, sealed, overlap)
    return None if endpoint is None else secret


COPY = """
    insert into webhook_endpoint (merchant_id, endpoint_id, url, kinds, verifier, sealed, created_by, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
"""
COPIED = f"""
    select sealed, endpoint_id, url, kinds, verifier, created_by, created_at, row_code, {ENDPOINTS.content_sql()}
    from webhook_endpoint where merchant_id = $1 and removed_at is null
"""


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
    await store_kinds(connection, new)
