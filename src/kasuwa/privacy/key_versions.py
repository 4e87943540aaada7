"""Adds, lists, retires and drops versions of the data keys, and replaces the key-encryption key.

privacy/vault_keys.py has the order of a rotation. All of these are called in a transaction of the caller.
"""

import os
from datetime import datetime, timedelta

import msgspec

from kasuwa.core.keyring import FIRST_VERSION, INDEX, KEY_BYTES
from kasuwa.core.vault import (
    data_key_place,
    derive_fixed_keys,
    encode_fixed_keys,
    kek_name,
    unwrap_key,
    unwrap_root,
    wrap_key,
    wrap_root,
)
from kasuwa.postgres.connection_pool import Connection, QueryRunner
from kasuwa.privacy.vault_keys import read_keys, unwrap_stored_root

ROOT, ROOT_VERSION = "root", 0

TWO_SECRET_KEYS = "two secret keys open this database: run `kasuwa keys drop --kek` with the new one first"


class RotationRefused(Exception):
    """The keys cannot be changed like this now. The text says in one line why."""


LOCK_DEPLOYMENT = "select 1 from deployment for update"
UNFINISHED = "select purpose, version from data_key where finished_at is null order by purpose, version limit 1"
COUNT_KEKS = "select count(distinct kek) from wrapped_key where kek <> $1"


async def lock_rotation(connection: Connection, secret_key: bytes) -> None:
    """Lets one rotation begin at a time. Raises RotationRefused if none may begin now."""
    await connection.execute(LOCK_DEPLOYMENT)
    rollout = await connection.fetchrow(UNFINISHED)
    if rollout is not None:
        raise RotationRefused(
            f"version {rollout[1]} of the {rollout[0]} key is still being rolled out: `kasuwa keys list` says how "
            "far it is"
        )
    if await has_other_keks(connection, secret_key):
        raise RotationRefused(TWO_SECRET_KEYS)


async def has_other_keks(connection: Connection, secret_key: bytes) -> bool:
    """Returns whether another key-encryption key opens the database too."""
    return bool(await connection.fetchval(COUNT_KEKS, kek_name(secret_key)))


INSERT_KEY = """
    insert into data_key (purpose, version, merchant_id, active_from, moves_from, refuses_from, created_by)
    select $1::text, (select max(version) + 1 from data_key where purpose = $1::text), $2::bigint,
        now() + make_interval(secs => key_update_seconds), now() + make_interval(secs => 2 * key_update_seconds),
        now() + make_interval(secs => key_update_seconds) + $3::interval, $4::text
    from deployment returning version
"""
INSERT_WRAPPED = """
    insert into wrapped_key (purpose, version, kek, wrapped) values ($1, $2, $3, $4)
    on conflict (purpose, version, kek) do update set wrapped = excluded.wrapped
"""


async def add_version(
    connection: Connection, secret_key: bytes, purpose: str, merchant_id: int | None, overlap: timedelta, by: str
) -> int:
    """Adds a random data key and returns its version. Call `lock_rotation` before."""
    version = await connection.fetchval(INSERT_KEY, purpose, merchant_id, overlap, by)
    assert isinstance(version, int)
    await store_wrapped(connection, secret_key, purpose, version, os.urandom(KEY_BYTES))
    await connection.execute("insert into key_move (purpose, version) values ($1, $2)", purpose, version)
    return version


async def store_wrapped(connection: Connection, secret_key: bytes, purpose: str, version: int, plain: bytes) -> None:
    wrapped = wrap_key(secret_key, plain, os.urandom(12), data_key_place(purpose, version))
    await connection.execute(INSERT_WRAPPED, purpose, version, kek_name(secret_key), wrapped)


# --- the key-encryption key -------------------------------------------------------------------------------------------

WRAPPED_BY = "select purpose, version, wrapped from wrapped_key where kek = $1 and purpose <> 'root'"


async def wrap_all(connection: Connection, old: bytes, new: bytes) -> None:
    """Wraps every key with a second key-encryption key. Both open the database afterwards. Can be repeated."""
    await connection.fetchrow(LOCK_DEPLOYMENT)
    root = unwrap_stored_root(await read_keys(connection, old), old)
    for purpose, version, wrapped in await connection.fetch(WRAPPED_BY, kek_name(old)):
        plain = unwrap_key(old, bytes(wrapped), data_key_place(purpose, version))
        await store_wrapped(connection, new, purpose, version, plain)
    await connection.execute(INSERT_WRAPPED, ROOT, ROOT_VERSION, kek_name(new), wrap_root(new, root, os.urandom(12)))


NOT_WRAPPED = """
    select count(*) from data_key k where k.version > 1 and k.dropped_at is null and not exists (
        select 1 from wrapped_key w where w.purpose = k.purpose and w.version = k.version and w.kek = $1)
"""


async def drop_other_keks(connection: Connection, secret_key: bytes) -> None:
    """Deletes what other key-encryption keys can open. Raises RotationRefused if a key would be lost."""
    await connection.fetchrow(LOCK_DEPLOYMENT)
    name = kek_name(secret_key)
    if await connection.fetchval(NOT_WRAPPED, name):
        raise RotationRefused("the configured secret key does not open all data keys: nothing was deleted")
    root = unwrap_stored_root(await read_keys(connection, secret_key), secret_key)
    await connection.execute("update deployment set wrapped_root = $1", wrap_root(secret_key, root, os.urandom(12)))
    await connection.execute("delete from wrapped_key where kek <> $1 or purpose = 'root'", name)


# --- retired versions -------------------------------------------------------------------------------------------------

RETIRE = """
    update data_key o set retired_at = now() from data_key k
    where k.purpose = $1 and k.version = $2 and o.purpose = k.purpose and o.version < k.version
        and o.retired_at is null and (k.merchant_id is null or o.merchant_id = k.merchant_id)
    returning o.version
"""
# The first one is derived from the root, and also hashes what has no versions.
DROP_INDEX = "update data_key set dropped_at = now() where purpose = 'index' and version = any($1) and version > 1"
MARK_MOVED = "update data_key set moved_at = coalesce(moved_at, now()) where purpose = $1 and version = $2"
FINISH = (
    "update data_key set moved_at = coalesce(moved_at, now()), finished_at = now() where purpose = $1 and version = $2"
)


async def retire_replaced(connection: Connection, purpose: str, version: int) -> list[int]:
    """Retires the versions that a version replaces, and ends its rotation. Returns their numbers."""
    retired = [number for (number,) in await connection.fetch(RETIRE, purpose, version)]
    if purpose == INDEX:
        # Nothing outside of the database has a hash.
        await connection.execute("delete from wrapped_key where purpose = $1 and version = any($2)", purpose, retired)
        await connection.execute(DROP_INDEX, retired)
    await connection.execute(FINISH, purpose, version)
    return sorted(retired)


async def drop_version(connection: Connection, secret_key: bytes, version: int) -> None:
    """Deletes a retired key that encrypts: nobody can decrypt with it any more, also with an old backup's ciphertext.
    Raises RotationRefused."""
    await connection.fetchrow(LOCK_DEPLOYMENT)
    row = await connection.fetchrow(
        "select retired_at, dropped_at from data_key where purpose = 'seal' and version = $1", version
    )
    if row is None:
        raise RotationRefused(f"there is no version {version}")
    if row[0] is None:
        raise RotationRefused(f"version {version} is in use: only a retired version can be dropped")
    if row[1] is not None:
        raise RotationRefused(f"version {version} was dropped already")
    if version == FIRST_VERSION:
        await drop_root(connection, secret_key)
    await connection.execute("delete from wrapped_key where purpose = 'seal' and version = $1", version)
    await connection.execute("update data_key set dropped_at = now() where purpose = 'seal' and version = $1", version)


async def drop_root(connection: Connection, secret_key: bytes) -> None:
    """Replaces the root, from which version 1 is derived, by the keys that have no versions."""
    if await has_other_keks(connection, secret_key):
        raise RotationRefused(TWO_SECRET_KEYS)
    root = unwrap_root(secret_key, await connection.fetchval("select wrapped_root from deployment"))
    if len(root) == KEY_BYTES:
        wrapped_keys = wrap_root(secret_key, encode_fixed_keys(derive_fixed_keys(root)), os.urandom(12))
        await connection.execute("update deployment set wrapped_root = $1", wrapped_keys)


# --- listing ----------------------------------------------------------------------------------------------------------


class KeyVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version of the data keys, as it is listed. It has no key."""

    purpose: str
    version: int
    mid: str | None  # None: of all merchants
    created_at: datetime
    age_days: int
    state: str  # new, active, replaced, retired or dropped
    moves_from: datetime
    refuses_from: datetime
    moved_at: datetime | None
    finished_at: datetime | None
    rewritten: int  # rows that were encrypted anew for it
    unreadable: int  # ciphertexts that no key opened when it was rolled out


LIST = """
    select k.purpose, k.version, m.mid, k.created_at, extract(day from now() - k.created_at)::int as age_days,
        case when k.dropped_at is not null then 'dropped' when k.retired_at is not null then 'retired'
            when k.active_from > now() then 'new'
            when exists (select 1 from data_key n where n.purpose = k.purpose and n.version > k.version
                and n.active_from <= now() and (n.merchant_id is null or n.merchant_id = k.merchant_id))
                then 'replaced' else 'active' end as state,
        k.moves_from, k.refuses_from, k.moved_at, k.finished_at,
        coalesce(v.rewritten, 0) as rewritten, coalesce(v.unreadable, 0) as unreadable
    from data_key k left join key_move v on v.purpose = k.purpose and v.version = k.version
        left join merchant m on m.merchant_id = k.merchant_id
    order by k.purpose desc, k.version
"""


async def list_versions(connection: Connection) -> list[KeyVersion]:
    return [KeyVersion(**dict(row)) for row in await connection.fetch(LIST)]


# Rewriting took more than a day.
IS_ROTATION_LATE = """
    select exists (select 1 from data_key where finished_at is null
        and greatest(moves_from, refuses_from) < now() - interval '1 day')
"""
SELECT_UNFINISHED = """
    select purpose, version, moves_from <= now(), refuses_from <= now() from data_key
    where finished_at is null order by purpose, version
"""


async def find_unfinished(connection: QueryRunner) -> list[tuple[str, int, bool, bool]]:
    """Returns the versions whose rotation has not ended: purpose, version, and whether rows may be rewritten and the
    versions before be retired by now."""
    return [tuple(row) for row in await connection.fetch(SELECT_UNFINISHED)]
