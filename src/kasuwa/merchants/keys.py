"""API keys and signing secrets of merchants: creates, rolls, revokes and lists them. Contract: keys#keys

Keys and secrets are stored encrypted and shown once, when they are made. MerchantDirectory (merchants.py) verifies
keys; the webhook sender signs with the secrets.
"""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import msgspec

from kasuwa.core.callers import APPROVING_SCOPES, KeyScope, Maker
from kasuwa.core.keyring import UnsealError
from kasuwa.core.reading import Reader
from kasuwa.core.row_codes import CodedTable, RowChanged
from kasuwa.core.vault import Vault, is_equal_constant_time
from kasuwa.postgres import row_codes
from kasuwa.postgres.connection_pool import Connection

KEYS = CodedTable(
    table="merchant_key",
    key={"key_id": "bigint"},
    covered=(
        "verifier",
        "expires_at",
        "name",
        "scopes",
        "addresses",
        "created_by",
        "lineage",
        "replaced_by",
        "signs_until",
        "holders",
        "makers",
        "approves_from",
    ),
    uncovered={
        "sealed": "encrypted for its merchant, and compared with the verifier",
        **dict.fromkeys(("created_at", "last_used_at", "last_used_from", "refused_at", "refused_from"), "only shown"),
    },
)
KEY_ROW = "merchant_id = $1 and key_id = $2"
KEY_SEAL_CONTEXT = "merchant_key.sealed"
SECRET_SEAL_CONTEXT = "signing_secret.sealed"
MAX_KEY_OVERLAP = timedelta(days=7)  # Contract: #authentication
MAX_KEYS = 50  # valid ones of a merchant

LAST_KEY = "This is the only valid key; create another one first, or roll this one"
LAST_SIGNER = "Events are signed with this key alone; roll the signing secret first"
REPLACED = "This key was rolled already; roll the key that replaced it"
TOO_MANY_KEYS = f"A merchant has at most {MAX_KEYS} valid keys; revoke one first"


class UnknownKey(Exception):
    """The merchant has no valid key of this number."""


class KeyRefused(Exception):
    """The keys cannot be changed like this. The text says why."""


class NewKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key to be made."""

    name: str = "default"
    scopes: tuple[KeyScope, ...] = ("all",)
    addresses: tuple[str, ...] = ()  # ranges that it may be used from; empty for all
    expires_at: datetime | None = None
    created_by: str = ""  # email address; "" if an operator made it
    holders: tuple[str, ...] = ()  # people who made or rolled it
    makers: tuple[str, ...] = ()  # these, and who stands behind them
    approves_from: datetime | None = None
    lineage: int | None = None
    signs_until: str = "-infinity"  # a timestamp as PostgreSQL reads it


def random_key() -> str:
    return secrets.token_hex(32)


async def add_key(connection: Connection, vault: Vault, merchant_id: int, key: str, new: NewKey) -> int:
    """Stores a key and returns its number."""
    sealed = vault.seal(merchant_id, KEY_SEAL_CONTEXT, key.encode(), secrets.token_bytes(12))
    key_id = await connection.fetchval(
        "insert into merchant_key as n (merchant_id, key_id, verifier, sealed, expires_at, name, scopes, addresses,"
        " created_by, lineage, signs_until, holders, makers, approves_from)"
        " select $1, coalesce(max(key_id), 0) + 1, $2, $3, $4::timestamptz, $5, $6, $7, $8, $9::bigint,"
        " $10::text::timestamptz, $11, $12, $13::timestamptz"
        " from merchant_key k where k.merchant_id = $1 returning n.key_id",
        merchant_id,
        vault.hash_api_key(key),
        sealed,
        new.expires_at,
        new.name,
        list(new.scopes),
        list(new.addresses),
        new.created_by,
        new.lineage,
        new.signs_until,
        list(new.holders),
        list(new.makers),
        new.approves_from,
    )
    assert isinstance(key_id, int)
    await row_codes.code_new_row(connection, vault, KEYS, KEY_ROW, merchant_id, key_id)
    return key_id


def unseal_key(vault: Vault, merchant_id: int, sealed: bytes, verifier: bytes, place: str = KEY_SEAL_CONTEXT) -> bytes:
    """Returns a merchant's API key or signing secret. Raises UnsealError if it does not match the verifier of its row.

    The encryption is bound to the merchant and not to the row, so another key of the merchant would decrypt too."""
    key = vault.unseal(merchant_id, place, sealed)
    if not is_equal_constant_time(vault.hash_api_key(key.decode()), verifier):
        raise UnsealError(place)
    return key


# --- changing; each in the caller's transaction, with the merchant's row locked --------------------------------------

IS_VALID = "(expires_at is null or expires_at > now())"
COUNT_VALID = f"select count(*) from merchant_key where merchant_id = $1 and {IS_VALID}"
COUNT_OTHER_SIGNERS = f"""
    select (select count(*) from merchant_key where merchant_id = $1 and key_id <> $2 and {IS_VALID}
            and signs_until > now())
        + (select count(*) from signing_secret where merchant_id = $1 and {IS_VALID})
"""
SELECT_ROLLED = f"""
    select key_id, name, scopes, addresses, created_by, coalesce(lineage, key_id), replaced_by,
        signs_until = 'infinity', expires_at, holders, makers, approves_from
    from merchant_key where merchant_id = $1 and {IS_VALID} and (key_id = $2 or ($2 = 0 and 'all' = any(scopes)))
    order by replaced_by is not null, key_id desc
"""
REPLACE_KEYS = """
    update merchant_key
    set expires_at = least(expires_at, now() + $3::interval), replaced_by = coalesce(replaced_by, $4)
    where merchant_id = $1 and key_id = any($2)
"""


class Roller(msgspec.Struct, frozen=True):
    """A person who makes or rolls a key, and how long a key that they did not know before approves nothing."""

    maker: Maker | None = None  # None: somebody whom nothing proves, or a script of the test environment
    cooling_off: timedelta = timedelta()

    def make(self, new: NewKey) -> NewKey:
        """Returns a new key with this person behind it."""
        maker = self.maker
        held = new if maker is None else add_holder(new, maker)
        is_late = self.cooling_off > timedelta() and bool(APPROVING_SCOPES & set(new.scopes))
        return msgspec.structs.replace(held, approves_from=datetime.now(UTC) + self.cooling_off if is_late else None)

    def take_over(self, old: NewKey) -> NewKey:
        """Returns the key that replaces an old one. Somebody who knew the old one approves with it as before."""
        knew = self.maker is not None and self.maker.name in old.holders
        return old if knew else self.make(old)


NOBODY = Roller()


def add_holder(new: NewKey, maker: Maker) -> NewKey:
    return msgspec.structs.replace(
        new,
        holders=tuple(dict.fromkeys((*new.holders, maker.name))),
        makers=tuple(dict.fromkeys((*new.makers, *maker.behind))),
    )


async def create_key(
    connection: Connection,
    vault: Vault,
    merchant_id: int,
    new: NewKey,
    make_key: Callable[[], str] = random_key,
) -> tuple[int, str]:
    """Adds a key to the others. Returns its number and the key. Raises KeyRefused."""
    if await connection.fetchval(COUNT_VALID, merchant_id) >= MAX_KEYS:
        raise KeyRefused(TOO_MANY_KEYS)
    key = make_key()
    return await add_key(connection, vault, merchant_id, key, new), key


async def replace_key(
    connection: Connection,
    vault: Vault,
    merchant_id: int,
    overlap: timedelta,
    key_id: int = 0,
    roller: Roller = NOBODY,
) -> tuple[int, str]:
    """Replaces a key by a new one with the same name, scopes, ranges and expiry. The old one works until the overlap
    ends. Without a number, one new key replaces all keys of scope `all`, and is made also if none of them is valid any
    more. Returns the new key and its number. Whoever rolls it stands behind it beside its makers.

    If the key is the signing secret as well, so is the new one, and events are signed with both meanwhile.
    Raises UnknownKey and KeyRefused.
    """
    rolled = await connection.fetch(SELECT_ROLLED, merchant_id, key_id)
    if not rolled and not key_id:
        is_signed = await connection.fetchval(COUNT_OTHER_SIGNERS, merchant_id, key_id)
        new = NewKey() if is_signed else NewKey(signs_until="infinity")
        return await create_key(connection, vault, merchant_id, roller.make(new))
    if not rolled:
        raise UnknownKey(key_id)
    _, name, scopes, addresses, created_by, lineage, replaced_by, _, expires_at, _, _, approves_from = rolled[0]
    if key_id and replaced_by is not None:
        raise KeyRefused(REPLACED)
    new = NewKey(
        name=name,
        scopes=tuple(scopes),
        addresses=tuple(addresses),
        expires_at=expires_at if replaced_by is None else None,
        created_by=created_by,
        holders=tuple(dict.fromkeys(holder for row in rolled for holder in row[9])),
        makers=tuple(dict.fromkeys(maker for row in rolled for maker in row[10])),
        approves_from=approves_from,
        lineage=lineage,
        signs_until="infinity" if any(row[7] for row in rolled) else "-infinity",
    )
    key = random_key()
    new_id = await add_key(connection, vault, merchant_id, key, roller.take_over(new))
    replaced = [row[0] for row in rolled]
    async with row_codes.changing(
        connection, vault, KEYS, "merchant_id = $1 and key_id = any($2)", merchant_id, replaced
    ):
        await connection.execute(REPLACE_KEYS, merchant_id, replaced, overlap, new_id)
    return new_id, key


async def revoke_key(connection: Connection, vault: Vault, merchant_id: int, key_id: int) -> str:
    """Ends a key at once and returns its name. Raises UnknownKey, or KeyRefused for the last key.

    One that was rolled before is not replaced any more: what it sent and still waits is ended with it (senders.py)."""
    row = await connection.fetchrow(
        f"select name, signs_until > now() from merchant_key where merchant_id = $1 and key_id = $2 and {IS_VALID}",
        merchant_id,
        key_id,
    )
    if row is None:
        raise UnknownKey(key_id)
    if await connection.fetchval(COUNT_VALID, merchant_id) == 1:
        raise KeyRefused(LAST_KEY)
    if row[1] and not await connection.fetchval(COUNT_OTHER_SIGNERS, merchant_id, key_id):
        raise KeyRefused(LAST_SIGNER)
    async with row_codes.changing(connection, vault, KEYS, KEY_ROW, merchant_id, key_id, ends=True):
        await connection.execute(
            f"update merchant_key set expires_at = now(), replaced_by = null where {KEY_ROW}", merchant_id, key_id
        )
    return str(row[0])


async def replace_secret(
    connection: Connection, vault: Vault, merchant_id: int, overlap: timedelta, created_by: str = ""
) -> str:
    """Makes a new signing secret and returns it. Events are signed with the old one as well until the overlap ends.
    From the first one on, keys do not sign events any more."""
    async with row_codes.changing(connection, vault, KEYS, "merchant_id = $1", merchant_id):
        await connection.execute(
            "update merchant_key set signs_until = least(signs_until, now() + $2::interval) where merchant_id = $1",
            merchant_id,
            overlap,
        )
    await connection.execute(
        "update signing_secret set expires_at = least(expires_at, now() + $2::interval) where merchant_id = $1",
        merchant_id,
        overlap,
    )
    secret = random_key()
    await add_secret(connection, vault, merchant_id, secret, created_by, None)
    return secret


async def add_secret(
    connection: Connection, vault: Vault, merchant_id: int, secret: str, created_by: str, expires_at: datetime | None
) -> None:
    sealed = vault.seal(merchant_id, SECRET_SEAL_CONTEXT, secret.encode(), secrets.token_bytes(12))
    await connection.execute(
        "insert into signing_secret (merchant_id, secret_id, verifier, sealed, created_by, expires_at)"
        " select $1, coalesce(max(secret_id), 0) + 1, $2, $3, $4, $5::timestamptz from signing_secret"
        " where merchant_id = $1",
        merchant_id,
        vault.hash_api_key(secret),
        sealed,
        created_by,
        expires_at,
    )


# --- reset ----------------------------------------------------------------------------------------------------------

COPY_KEY = """
    insert into merchant_key (merchant_id, key_id, verifier, sealed, created_at, expires_at, name, scopes, addresses,
        created_by, lineage, replaced_by, signs_until, last_used_at, last_used_from, refused_at, refused_from, holders,
        makers, approves_from)
    select $2, key_id, verifier, $4, created_at, expires_at, name, scopes, addresses,
        created_by, lineage, replaced_by, signs_until, last_used_at, last_used_from, refused_at, refused_from, holders,
        makers, approves_from
    from merchant_key where merchant_id = $1 and key_id = $3
"""
UNREADABLE_KEY = "a key of this merchant does not decrypt, so that its events cannot be signed with it: roll the key"
NOTE_UNREADABLE = """
    insert into operator_notice (merchant_id, reference, message, at) values ($1::bigint, 'key', $2::text, now())
"""
COPY_SECRET = """
    insert into signing_secret (merchant_id, secret_id, verifier, sealed, created_by, created_at, expires_at)
    select $2, secret_id, verifier, $4, created_by, created_at, expires_at
    from signing_secret where merchant_id = $1 and secret_id = $3
"""


async def copy_keys(connection: Connection, vault: Vault, old: int, new: int) -> None:
    """Gives new books of a merchant the valid keys and secrets of the old ones, under the same numbers. A key that is
    not as the service wrote it is left out."""
    for table, number, place, copy in (
        ("merchant_key", "key_id", KEY_SEAL_CONTEXT, COPY_KEY),
        ("signing_secret", "secret_id", SECRET_SEAL_CONTEXT, COPY_SECRET),
    ):
        rows = await connection.fetch(
            f"select {number}, sealed, verifier from {table} where merchant_id = $1 and {IS_VALID}", old
        )
        for row_id, sealed, verifier in rows:
            if copy is COPY_KEY and not await is_key_intact(connection, vault, old, row_id):
                continue
            try:
                plain = unseal_key(vault, old, sealed, verifier, place)
            except UnsealError:
                # It authenticates all the same, by its verifier.
                await connection.execute(copy, old, new, row_id, sealed)
                await connection.execute(NOTE_UNREADABLE, new, UNREADABLE_KEY)
            else:
                resealed = vault.seal(new, place, plain, secrets.token_bytes(12))
                await connection.execute(copy, old, new, row_id, resealed)
            if copy is COPY_KEY:
                await row_codes.code_new_row(connection, vault, KEYS, KEY_ROW, new, row_id)


async def is_key_intact(connection: Connection, vault: Vault, merchant_id: int, key_id: int) -> bool:
    """Returns whether a key's row is as the service wrote it, and logs one that is not."""
    [row] = await row_codes.read_rows(connection, KEYS, KEY_ROW, merchant_id, key_id)
    try:
        row_codes.check_content(vault, KEYS, row.content, row.code)
    except RowChanged:
        return False
    return True


# --- listing --------------------------------------------------------------------------------------------------------


class KeyRecord(msgspec.Struct, frozen=True):
    """A valid key as it is listed. The key itself is not part of it."""

    key_id: int
    name: str
    scopes: list[KeyScope]
    addresses: list[str]
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    replaced_by: int | None
    last_used_at: datetime | None
    last_used_from: str
    refused_at: datetime | None  # when it was last used from outside its ranges, and from where
    refused_from: str
    signs_events: bool


class SecretRecord(msgspec.Struct, frozen=True):
    secret_id: int
    created_by: str
    created_at: datetime
    expires_at: datetime | None


LIST_KEYS = f"""
    select key_id, name, scopes, addresses, created_by, created_at, expires_at, replaced_by, last_used_at,
        last_used_from, refused_at, refused_from, signs_until > now()
    from merchant_key where merchant_id = $1 and {IS_VALID} order by key_id desc
"""
LIST_SECRETS = f"""
    select secret_id, created_by, created_at, expires_at from signing_secret
    where merchant_id = $1 and {IS_VALID} order by secret_id desc
"""


async def is_signing(connection: Connection, merchant_id: int, key_id: int) -> bool:
    """Returns whether events are signed with a key."""
    query = "select signs_until > now() from merchant_key where merchant_id = $1 and key_id = $2"
    return bool(await connection.fetchval(query, merchant_id, key_id))


async def list_keys(reader: Reader, merchant_id: int) -> list[KeyRecord]:
    return [KeyRecord(*row) for row in await reader.fetch(LIST_KEYS, merchant_id)]


async def list_secrets(reader: Reader, merchant_id: int) -> list[SecretRecord]:
    return [SecretRecord(*row) for row in await reader.fetch(LIST_SECRETS, merchant_id)]
