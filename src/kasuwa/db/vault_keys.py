"""The versions of the data keys in the database: reads them into a vault, and again every few seconds.

The order of a rotation, by the database's clock. A new version is added; every process reads it. From `active_from` on
processes encrypt with it, and from `moves_from` on none encrypts with an older one: a process whose versions are older
than three quarters of `key_update_seconds` refuses to encrypt. Then rows are rewritten (work/key_rotation.py). Versions
that are no longer needed are retired, and every process refuses them.
"""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
import structlog

from kasuwa.core.keyring import FIRST_VERSION, SEAL, DataKey, UnsealError, derive
from kasuwa.core.vault import (
    Vault,
    data_key_place,
    first_keys,
    is_equal_constant_time,
    kek_name,
    read_root,
    unwrap_key,
    unwrap_root,
)
from kasuwa.db import connections
from kasuwa.db.connection_pool import QueryRunner

# Parts of `key_update_seconds`: how long versions that were read may encrypt, and how often they are read.
VALID_PART = 3 / 4
READ_PART = 1 / 12
# How soon they are read again after a failure.
RETRY_SECONDS = 0.25

log = structlog.get_logger("kasuwa.db")


class WrongSecretKey(Exception):
    """The key-encryption key opens none of the wrapped keys."""


class VersionNotWrapped(Exception):
    """A data key is not wrapped by the key-encryption key of this process."""


# One statement, so that all of it is from one moment. Columns about codes of rows are read by name: commands also open
# a database that is not migrated yet and lacks them.
SELECT_KEYS = """
    select d.wrapped_root, d.key_update_seconds, d.names_versions_from <= now(),
        u.until, decode(substr(to_jsonb(d) ->> 'uncoded_permit', 3), 'hex'), coalesce(u.until > now(), false),
        coalesce((select array_agg(w.wrapped) from wrapped_key w where w.purpose = 'root' and w.kek = $1), '{}'),
        coalesce((select json_agg(json_build_array(k.purpose, k.version, k.merchant_id, k.active_from <= now(),
                encode(w.wrapped, 'hex')) order by k.purpose, k.version)
            from data_key k left join wrapped_key w
                on w.purpose = k.purpose and w.version = k.version and w.kek = $1
            where k.retired_at is null), '[]')::text
    from deployment d cross join lateral (select (to_jsonb(d) ->> 'uncoded_until')::timestamptz as until) u
"""


class StoredKeys(msgspec.Struct):
    """The wrapped keys as they are stored."""

    roots: list[bytes]
    update_seconds: float
    is_naming: bool
    versions: list[tuple[str, int, int | None, bool, str | None]]  # see DataKey; the last is wrapped, in hexadecimal
    uncoded_until: datetime | None = None  # rows may lack a code until then
    uncoded_permit: bytes | None = None  # proves that the service has set that time
    is_before_end: bool = False  # whether that time is still to come, by the database's clock


STORED_VERSIONS: "msgspec.json.Decoder[list[tuple[str, int, int | None, bool, str | None]]]" = msgspec.json.Decoder(
    list[tuple[str, int, int | None, bool, str | None]]
)


async def read_keys(connection: QueryRunner, secret_key: bytes) -> StoredKeys:
    row = await connection.fetchrow(SELECT_KEYS, kek_name(secret_key))
    root, update_seconds, is_naming, *uncoded, roots, versions = row
    wrapped = [bytes(each) for each in (*roots, root)]
    return StoredKeys(wrapped, float(update_seconds), is_naming, STORED_VERSIONS.decode(versions), *uncoded)


def unwrap_stored_root(stored: StoredKeys, secret_key: bytes) -> bytes:
    """Returns the root, or the fixed keys that took its place. Raises WrongSecretKey."""
    for wrapped in stored.roots:
        try:
            return unwrap_root(secret_key, wrapped)
        except UnsealError:
            continue
    raise WrongSecretKey


def unwrap_versions(stored: StoredKeys, root: bytes, secret_key: bytes) -> list[DataKey]:
    """Returns the data keys that are not retired. Raises VersionNotWrapped."""
    first = {key.purpose: key.secret for key in first_keys(*read_root(root))}
    found = []
    for purpose, version, merchant_id, is_active, wrapped in stored.versions:
        if version == FIRST_VERSION:
            if purpose not in first:
                raise VersionNotWrapped(f"version {version} of the {purpose} key was dropped")
            secret = first[purpose]
        elif wrapped is None:
            raise VersionNotWrapped(f"version {version} of the {purpose} key is wrapped by another secret key")
        else:
            place = data_key_place(purpose, version)
            plain = unwrap_key(secret_key, bytes.fromhex(wrapped), place)
            secret = derive(plain, "seal") if purpose == SEAL else plain
        found.append(DataKey(purpose, version, merchant_id, secret, is_active))
    return found


def describe_permit(until: datetime) -> bytes:
    """Returns what a permit is the keyed hash of."""
    return f"rows may lack a code until {until.astimezone(UTC).isoformat()}".encode()


def accepts_uncoded(stored: StoredKeys, vault: Vault) -> bool:
    """Returns whether rows of the release before may still lack their code (db/row_codes.py)."""
    if stored.uncoded_until is None or stored.uncoded_permit is None or not stored.is_before_end:
        return False
    return is_equal_constant_time(vault.digest(describe_permit(stored.uncoded_until)), stored.uncoded_permit)


async def load_vault(connection: QueryRunner, secret_key: bytes) -> Vault:
    """Returns a vault with the versions of now. Raises WrongSecretKey and VersionNotWrapped."""
    asked_at = time.monotonic()
    stored = await read_keys(connection, secret_key)
    root = unwrap_stored_root(stored, secret_key)
    vault = Vault(root, time.monotonic)
    keys = unwrap_versions(stored, root, secret_key)
    vault.keyring.update(keys, is_naming=stored.is_naming, valid_until=asked_at + stored.update_seconds * VALID_PART)
    vault.keyring.accepts_uncoded = accepts_uncoded(stored, vault)
    return vault


class KeyRefresher:
    """Reads the versions again while a process runs, and gives them to its vault."""

    def __init__(
        self, reader: QueryRunner, vault: Vault, secret_key: bytes, read_secret_key: Callable[[], bytes]
    ) -> None:
        """`read_secret_key` returns the key-encryption key as it is configured now: its file may have changed."""
        self._reader = reader
        self._vault = vault
        self._secret_key: bytes | None = secret_key
        self._read_secret_key = read_secret_key

    async def refresh(self) -> float:
        """Reads the versions once. Returns after how many seconds to do it again."""
        if self._secret_key is None:
            self._secret_key = await asyncio.to_thread(self._read_secret_key)
        asked_at = time.monotonic()
        stored = await read_keys(self._reader, self._secret_key)
        try:
            root = unwrap_stored_root(stored, self._secret_key)
            keys = unwrap_versions(stored, root, self._secret_key)
        except (WrongSecretKey, VersionNotWrapped, UnsealError):
            if not self._is_known(stored):
                self._secret_key = None
                raise
            # The key-encryption key was replaced since this process started. It has unwrapped all of them before.
            keys = self._known_keys(stored)
        valid_until = asked_at + stored.update_seconds * VALID_PART
        self._vault.keyring.update(keys, is_naming=stored.is_naming, valid_until=valid_until)
        self._vault.keyring.accepts_uncoded = accepts_uncoded(stored, self._vault)
        return stored.update_seconds * READ_PART

    def _is_known(self, stored: StoredKeys) -> bool:
        known = {(key.purpose, key.version) for key in self._vault.keyring.versions}
        return all((purpose, version) in known for purpose, version, *_ in stored.versions)

    def _known_keys(self, stored: StoredKeys) -> list[DataKey]:
        secrets = {(key.purpose, key.version): key.secret for key in self._vault.keyring.versions}
        return [
            DataKey(purpose, version, merchant_id, secrets[purpose, version], is_active)
            for purpose, version, merchant_id, is_active, _ in stored.versions
        ]

    async def run(self) -> None:
        while True:
            try:
                pause = await self.refresh()
            except Exception as error:
                pause = RETRY_SECONDS
                if not connections.is_connection_error(error):
                    log.error("the versions of the data keys were not read", error=type(error).__name__)
            await asyncio.sleep(pause)
