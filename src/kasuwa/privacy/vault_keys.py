"""The versions of the data keys in the database: reads them into a vault, and again every few seconds.

The order of a rotation, by the database's clock. A new version is added; every process reads it. From `active_from` on
processes encrypt with it, and from `moves_from` on none encrypts with an older one: a process whose versions are older
than three quarters of `key_update_seconds` refuses to encrypt. Then rows are rewritten (privacy/key_rotation.py).
Versions that are no longer needed are retired, and every process refuses them.
"""

import asyncio
import time
from collections.abc import Callable

import msgspec
import structlog

from kasuwa.core.keyring import FIRST_VERSION, SEAL, DataKey, UnsealError, derive
from kasuwa.core.vault import (
    Vault,
    data_key_place,
    first_keys,
    kek_name,
    read_root,
    unwrap_key,
    unwrap_root,
)
from kasuwa.postgres import connections
from kasuwa.postgres.connection_pool import Connection, QueryRunner
from kasuwa.postgres.migrate import MigrationError


async def open_vault(connection: Connection, secret_key: bytes) -> Vault:
    """Returns the vault of a database. It encrypts for 45 seconds: a process that runs on has a KeyRefresher.
    Raises MigrationError."""
    try:
        return await load_vault(connection, secret_key)
    except WrongSecretKey:
        raise MigrationError(
            "the secret key does not open this database: give the key it was made with (KASUWA_SECRET_KEY, or "
            "the secret.key file of its data directory)"
        ) from None
    except VersionNotWrapped as error:
        raise MigrationError(f"{error}: give the newer one, or finish `kasuwa keys rotate --kek`") from None


# Parts of `key_update_seconds`: how long versions that were read may encrypt, and how often they are read.
VALID_PART = 3 / 4
READ_PART = 1 / 12
# How soon they are read again after a failure.
RETRY_SECONDS = 0.25

log = structlog.get_logger("kasuwa.privacy")


class WrongSecretKey(Exception):
    """The key-encryption key opens none of the wrapped keys."""


class VersionNotWrapped(Exception):
    """A data key is not wrapped by the key-encryption key of this process."""


# One statement, so that all of it is from one moment.
SELECT_KEYS = """
    select d.wrapped_root, d.key_update_seconds,
        coalesce((select array_agg(w.wrapped) from wrapped_key w where w.purpose = 'root' and w.kek = $1), '{}'),
        coalesce((select json_agg(json_build_array(k.purpose, k.version, k.merchant_id, k.active_from <= now(),
                encode(w.wrapped, 'hex')) order by k.purpose, k.version)
            from data_key k left join wrapped_key w
                on w.purpose = k.purpose and w.version = k.version and w.kek = $1
            where k.retired_at is null), '[]')::text
    from deployment d
"""


class StoredKeys(msgspec.Struct):
    """The wrapped keys as they are stored."""

    roots: list[bytes]
    update_seconds: float
    versions: list[tuple[str, int, int | None, bool, str | None]]  # see DataKey; the last is wrapped, in hexadecimal


STORED_VERSIONS: "msgspec.json.Decoder[list[tuple[str, int, int | None, bool, str | None]]]" = msgspec.json.Decoder(
    list[tuple[str, int, int | None, bool, str | None]]
)


async def read_keys(connection: QueryRunner, secret_key: bytes) -> StoredKeys:
    row = await connection.fetchrow(SELECT_KEYS, kek_name(secret_key))
    root, update_seconds, roots, versions = row
    wrapped = [bytes(each) for each in (*roots, root)]
    return StoredKeys(wrapped, float(update_seconds), STORED_VERSIONS.decode(versions))


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
    data_keys = []
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
        data_keys.append(DataKey(purpose, version, merchant_id, secret, is_active))
    return data_keys


async def load_vault(connection: QueryRunner, secret_key: bytes) -> Vault:
    """Returns a vault with the versions of now. Raises WrongSecretKey and VersionNotWrapped."""
    asked_at = time.monotonic()
    stored = await read_keys(connection, secret_key)
    root = unwrap_stored_root(stored, secret_key)
    vault = Vault(root, time.monotonic)
    keys = unwrap_versions(stored, root, secret_key)
    vault.keyring.update(keys, valid_until=asked_at + stored.update_seconds * VALID_PART)
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
        self._vault.keyring.update(keys, valid_until=valid_until)
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
