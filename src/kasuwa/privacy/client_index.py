"""Makes the keyed hashes of clients anew when their key is replaced: of the BVN, the telephone and the email address.

While that goes on, look-ups try the hashes of all keys (Vault.index_digests), so that every client is found.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import structlog

from kasuwa.core.keyring import UnsealError
from kasuwa.postgres.connection_pool import Connection
from kasuwa.privacy.key_moves import LOCK_MERCHANT, Position, Rewritten, decode_position, encode_position

WINDOW = 200
NAME = "client index"

COLUMNS = "key, merchant_id, client_id, bvn_sealed, detail_sealed, bvn_hash, phone_hash, email_hash"
CLIENTS = f"""
    select {COLUMNS} from client where erased_at is null and (key, merchant_id) > ($1::bytea, $2::bigint)
    order by key, merchant_id limit {WINDOW}
"""
LOCKED = f"select {COLUMNS} from client where merchant_id = $1 and key = $2 and erased_at is null for update"
UPDATE_CLIENT = """
    update client set bvn_hash = $3, phone_hash = $4, email_hash = $5 where merchant_id = $1 and key = $2
"""
# A row that stands for nobody may have the new key.
CLEAR_GUARD = "delete from client_bvn where merchant_id = $1 and key = $2 and client_id is null"
MOVE_GUARD = "update client_bvn set key = $3 where merchant_id = $1 and key = $2 and client_id = $4"
MERCHANTS_WITH_RELEASED_GUARDS = """
    select distinct merchant_id from client_bvn where client_id is null order by merchant_id
"""
DELETE_RELEASED = "delete from client_bvn where merchant_id = $1 and client_id is null"

log = structlog.get_logger("kasuwa.keys")


class ClientRow(msgspec.Struct, frozen=True):
    """The columns of a client that its hashes are made from, and the hashes as they are stored."""

    key: bytes
    merchant_id: int
    client_id: str
    bvn_sealed: bytes | None
    detail_sealed: bytes | None
    bvn_hash: bytes | None
    phone_hash: bytes | None
    email_hash: bytes | None

    @property
    def hashes(self) -> tuple[bytes | None, ...]:
        return self.bvn_hash, self.phone_hash, self.email_hash


class ClientIndexer(msgspec.Struct, frozen=True):
    """The functions of the clients' slice that this needs."""

    # Takes the merchant, the client's id, its sealed BVN and detail. Returns the hashes of BVN, telephone and address.
    hash_client: Callable[[int, str, bytes | None, bytes | None], tuple[bytes | None, bytes | None, bytes | None]]
    guard_key: Callable[[int, bytes], bytes]  # of the row that guards a BVN, by its hash


async def reindex_window(
    indexer: ClientIndexer, connection: Connection, position: Position
) -> tuple[Rewritten, Position]:
    """Looks at the next clients, and makes hashes anew that are by another key."""
    after = decode_position(position) if position else [b"", 0]
    rows = [ClientRow(*row) for row in await connection.fetch(CLIENTS, *after)]
    done = Rewritten()
    for row in rows:
        hashes = hash_row(row, indexer)
        if hashes is None:
            done.unreadable += 1
        elif hashes != row.hashes:
            done.rows += await reindex_client(connection, row, indexer)
    last = encode_position([rows[-1].key, rows[-1].merchant_id]) if len(rows) == WINDOW else []
    return done, last


def hash_row(row: ClientRow, indexer: ClientIndexer) -> tuple[bytes | None, ...] | None:
    """Returns the hashes of a client, or None if its data cannot be decrypted."""
    try:
        return indexer.hash_client(row.merchant_id, row.client_id, row.bvn_sealed, row.detail_sealed)
    except UnsealError:
        log.error("a client cannot be decrypted", merchant_id=row.merchant_id)
        return None


async def reindex_client(connection: Connection, client: ClientRow, indexer: ClientIndexer) -> int:
    """Makes the hashes of a client anew, with the row that guards its BVN. Returns the number of rows changed."""
    merchant_id = client.merchant_id
    async with connection.transaction():
        await connection.execute(LOCK_MERCHANT, merchant_id)
        locked: Any = await connection.fetchrow(LOCKED, merchant_id, client.key)
        if locked is None:
            return 0
        row = ClientRow(*locked)
        hashes = hash_row(row, indexer)
        if hashes is None or hashes == row.hashes:
            return 0
        await connection.execute(UPDATE_CLIENT, merchant_id, row.key, *hashes)
        if row.bvn_hash is not None and hashes[0] is not None and row.bvn_hash != hashes[0]:
            old, new = (indexer.guard_key(merchant_id, bytes(value)) for value in (row.bvn_hash, hashes[0]))
            await connection.execute(CLEAR_GUARD, merchant_id, new)
            await connection.execute(MOVE_GUARD, merchant_id, old, new, row.client_id)
    return 1


async def delete_released_guards(connection: Connection) -> None:
    """Deletes BVN guards without an owner: the hash in their keys cannot be recomputed."""
    for (merchant_id,) in await connection.fetch(MERCHANTS_WITH_RELEASED_GUARDS):
        async with connection.transaction():
            await connection.execute(LOCK_MERCHANT, merchant_id)
            await connection.execute(DELETE_RELEASED, merchant_id)
