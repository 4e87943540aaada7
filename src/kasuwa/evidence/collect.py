"""Collects the evidence: each function returns the content of one file, as JSON or as lines of JSON."""

from collections.abc import AsyncIterator, Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from kasuwa.audit import make_close
from kasuwa.audit.close_audit import find_close_faults
from kasuwa.audit.close_tree import close_time_text
from kasuwa.audit.invariants.ledger import INVARIANTS, check_invariants, describe_violations, name_violations
from kasuwa.core.keyring import SEAL
from kasuwa.core.vault import Vault
from kasuwa.evidence import reads
from kasuwa.evidence.card_scan import CANARY, ScanResult, is_searching, scan_logs
from kasuwa.postgres.connection_pool import Connection
from kasuwa.privacy import key_moves, key_versions
from kasuwa.privacy.row_code_moves import find_changed_rows
from kasuwa.privacy.sealed_places import SealedPlaces

# Violations and faults that a file lists. Their number is always there.
MOST_LISTED = 1_000

Json = dict[str, Any]


class Deployment(msgspec.Struct, frozen=True, kw_only=True):
    """Settings that the evidence is made from, besides the database."""

    environment: str
    version: str  # of the service
    key: Ed25519PrivateKey  # that signs closes
    secret_source: str  # where the key-encryption key comes from
    secret_path: Path | None  # its file, if it is in one
    closes_directory: Path
    logs: list[Path]
    places: SealedPlaces  # the columns of ciphertexts, and the tables with codes
    vault: Vault
    former_keys: Collection[bytes] = ()  # public keys that signed closes before

    @property
    def public_key(self) -> bytes:
        return self.key.public_key().public_bytes_raw()


def file_time(path: Path | None) -> datetime | None:
    """Returns when a file was written, or None if there is none."""
    try:
        return None if path is None else datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return None


async def list_keys(connection: Connection, deployment: Deployment) -> AsyncIterator[Json]:
    """Yields the inventory: the keys of the deployment, and then those of merchants. It has no key."""
    made_at = file_time(deployment.secret_path)
    age = None if made_at is None else (datetime.now(UTC) - made_at).days
    yield {
        "kind": "key-encryption key",
        "source": deployment.secret_source,
        "created_at": made_at,
        "age_days": age,
        "is_valid": True,
    }
    async for root in reads.iterate_rows(connection, reads.ROOT_AGE):
        root.pop("environment")
        yield {"kind": "root secret", "source": "database, wrapped", **root, "is_valid": True}
    async for data_key in list_data_keys(connection, deployment):
        yield data_key
    current, is_used = deployment.public_key.hex(), False
    async for used in reads.iterate_rows(connection, reads.CLOSE_KEYS):
        is_used |= used["public_key"] == current
        yield {**used, "is_valid": used["public_key"] == current}
    if not is_used:
        yield {"kind": "close key", "public_key": current, "closes": 0, "is_valid": True}
    async for row in reads.iterate_rows(connection, reads.KEYS):
        yield row


async def list_data_keys(connection: Connection, deployment: Deployment) -> AsyncIterator[Json]:
    """Yields the versions of the data keys, with the number of ciphertexts that have each."""
    counts = await key_moves.count_ciphertexts(connection, deployment.places)
    for key in await key_versions.list_versions(connection):
        yield {
            "kind": "data key",
            "source": "database, wrapped",
            "purpose": key.purpose,
            "version": key.version,
            "mid": key.mid,
            "state": key.state,
            "created_at": key.created_at,
            "age_days": key.age_days,
            "ciphertexts": counts.get(key.version, 0) if key.purpose == SEAL else None,
            "is_valid": key.state not in ("retired", "dropped"),
        }


def list_users(connection: Connection) -> AsyncIterator[Json]:
    return reads.iterate_rows(connection, reads.USERS)


def list_decisions(connection: Connection) -> AsyncIterator[Json]:
    return reads.iterate_rows(connection, reads.DECISIONS)


async def list_restore_tests(connection: Connection) -> AsyncIterator[Json]:
    """Yields the tests of restores, the newest first, as the audit trail has them."""
    async for row in reads.iterate_rows(connection, reads.RESTORE_TESTS, reads.RESTORE_TESTED):
        yield {**row, "after": msgspec.json.decode(row["after"])}


async def verify_books(connection: Connection, deployment: Deployment) -> Json:
    """Returns the verification of the books, the audit trail, the closes and the codes of rows, as `kasuwa audit` makes
    it."""
    broken = await check_invariants(connection)
    changed = await find_changed_rows(connection, deployment.vault, deployment.places.coded_tables)
    broken += describe_violations(await name_violations(connection, changed))
    trusted = [*deployment.former_keys, deployment.public_key]
    broken += await find_close_faults(connection, deployment.closes_directory, trusted)
    newest = await make_close.newest_close(connection)
    return {
        "invariants": [invariant.description for invariant in INVARIANTS],
        "trusted_keys": [key.hex() for key in trusted],
        "newest_close": None
        if newest is None
        else {"number": newest.number, "closed_at": close_time_text(newest.closed_at), "root": newest.root.hex()},
        "violations": len(broken),
        "listed": broken[:MOST_LISTED],
        "approved_by_their_proposer": await connection.fetchval(reads.COUNT_ONE_PERSON),
    }


class ScanFailed(Exception):
    """The search did not find the canary, so it says nothing."""


async def scan_card_data(connection: Connection, logs: list[Path]) -> Json:
    """Searches every row of the database, as a dump has them, and logs. Raises ScanFailed."""
    database, canaries = ScanResult(), ScanResult()
    tables: dict[str, int] = {}
    async for table, place, text in reads.iterate_texts(connection, CANARY):
        if table == "canary":
            canaries.search(text, place)
            continue
        tables[table] = tables.get(table, 0) + 1
        database.rows += 1
        database.search(text, f"{table} {place}")
    database.places = len(tables)
    if [finding.place for finding in canaries.findings] != ["text", "bytes"] or not is_searching():
        raise ScanFailed("the search for card data does not find its canary")
    return {
        "canary": "found",
        "database": msgspec.to_builtins(database),
        "tables": tables,
        "logs": msgspec.to_builtins(scan_logs(logs)),
        "log_paths": [str(path) for path in logs],
    }
