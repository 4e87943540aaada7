"""Console users and the single-use links with which they join or sign in."""

import contextlib
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import asyncpg
import msgspec

from kasuwa.core.callers import Maker
from kasuwa.core.row_codes import CodedTable, RowChanged
from kasuwa.core.vault import Vault
from kasuwa.postgres import row_codes
from kasuwa.postgres.connection_pool import Connection

USERS = CodedTable(
    table="console_user",
    is_of_merchant=False,
    key={"user_id": "bigint"},
    covered=(
        "email",
        "mid",
        "role",
        "password",
        "totp_sealed",
        "disabled_at",
        "joined_at",
        "made_by",
        "makers",
        "account_since",
        "approves_from",
        "created_at",
    ),
    # The ciphertext is bound to its person. Without one, the person signs in by the password alone.
    parts={"totp_sealed": "totp_sealed is null"},
    uncovered={
        "totp_step": "keeps a code from being used twice within a minute; it is raised at every use",
    },
)
USER_ROW = "user_id = $1"
LINKS = CodedTable(
    table="console_link",
    is_of_merchant=False,
    key={"token_hash": "bytea"},
    covered=("user_id", "purpose", "expires_at"),
    uncovered={"used_at": "to use a link again takes its token, which its person alone has"},
)

INVITATION_LIFE = timedelta(days=7)
SIGN_IN_LIFE = timedelta(days=1)

# States of a user. One who is invited, or was reset, has no password until the link is used.
INVITED, ACTIVE, DISABLED = "invited", "active", "off"


class ConsoleUser(msgspec.Struct):
    """A person who may sign in, or is invited to."""

    user_id: int
    email: str
    mid: str | None  # None for operators
    role: str
    password_hash: str | None
    totp_sealed: bytes | None
    last_totp_step: int
    disabled_at: datetime | None
    joined_at: datetime | None  # None until the first link was used
    can_approve_from: datetime | None  # this person may approve nothing before; None if there is no limit
    makers: list[str]  # who invited, promoted or reset this person, those who did so with these, and so on
    account_since: datetime  # when that was done last, or the account was made

    @property
    def state(self) -> str:
        return DISABLED if self.disabled_at else ACTIVE if self.joined_at and self.password_hash else INVITED


def totp_aad(user_id: int) -> str:
    """Returns the associated data of the encryption of a user's second factor."""
    return f"console_user.totp_sealed {user_id}"


class EmailTaken(Exception):
    """Raised if the same merchant, or the operators, has a user with this address, or one with it joined anywhere."""


COLUMNS = """
    u.user_id, u.email, u.mid, u.role, u.password, u.totp_sealed, u.totp_step, u.disabled_at, u.joined_at,
    u.approves_from, u.makers, coalesce(u.account_since, u.created_at)
"""
# With what `read_user` checks.
CHECKED_COLUMNS = f"{COLUMNS}, u.row_code, {USERS.content_sql('u')}"


def read_user(vault: Vault, record: Sequence[Any]) -> ConsoleUser:
    """Returns the user of CHECKED_COLUMNS. Raises RowChanged if the row is not as the service wrote it."""
    width = len(ConsoleUser.__struct_fields__)
    row_codes.check_content(vault, USERS, tuple(record[width + 1 :]), record[width])
    return ConsoleUser(*record[:width])


def hash_token(token: str) -> bytes:
    """Returns the SHA-256 hash of a token. Tokens have 256 random bits, so they need no slow hash."""
    return sha256(token.encode()).digest()


async def add_user(connection: Connection, vault: Vault, email: str, mid: str | None, role: str) -> int:
    try:
        user_id = await connection.fetchval(
            "insert into console_user (email, mid, role) values ($1, $2, $3) returning user_id", email, mid, role
        )
    except asyncpg.UniqueViolationError:
        raise EmailTaken(email) from None
    assert isinstance(user_id, int)
    await row_codes.code_new_row(connection, vault, USERS, USER_ROW, user_id)
    return user_id


async def find_joined_user(connection: Connection, vault: Vault, email: str) -> ConsoleUser | None:
    """Returns the user who joined under this address, or None. There is at most one. Raises RowChanged."""
    record = await connection.fetchrow(
        f"select {CHECKED_COLUMNS} from console_user u where lower(email) = lower($1) and joined_at is not null", email
    )
    return None if record is None else read_user(vault, record)


async def find_user_of_merchant(
    connection: Connection, vault: Vault, email: str, mid: str | None
) -> ConsoleUser | None:
    """Returns a merchant's user (mid None: an operator) by address, joined or only invited, or None. Raises
    RowChanged."""
    record = await connection.fetchrow(
        f"select {CHECKED_COLUMNS} from console_user u where lower(email) = lower($1) and mid is not distinct from $2",
        email,
        mid,
    )
    return None if record is None else read_user(vault, record)


async def find_users_by_email(connection: Connection, email: str) -> list[ConsoleUser]:
    """Returns every user or invitation with this address, of any merchant."""
    records = await connection.fetch(
        f"select {COLUMNS} from console_user u where lower(email) = lower($1) order by user_id", email
    )
    return [ConsoleUser(*record) for record in records]


async def has_joined_user(connection: Connection, mid: str) -> bool:
    """Returns whether any user of the merchant has joined. Takes the merchant's invitation lock."""
    await connection.execute("select pg_advisory_xact_lock(hashtextextended('kasuwa first owner ' || $1, 0))", mid)
    return await has_joined_user_unlocked(connection, mid)


async def has_joined_user_unlocked(connection: Connection, mid: str) -> bool:
    """Returns whether any user of the merchant has joined, without a lock. For display only."""
    is_joined = await connection.fetchval(
        "select exists (select 1 from console_user where mid = $1 and joined_at is not null)", mid
    )
    return bool(is_joined)


async def withdraw_invitations(connection: Connection, vault: Vault, mid: str) -> None:
    """Disables the users who were invited for this merchant and have not joined."""
    waiting = "select user_id from console_user where mid = $1 and joined_at is null and disabled_at is null"
    for (user_id,) in await connection.fetch(waiting, mid):
        await disable(connection, vault, user_id)


async def list_operators(connection: Connection, vault: Vault) -> list[ConsoleUser]:
    """Returns all operators. Raises RowChanged if the row of one is not as the service wrote it: it might have been an
    administrator's."""
    records = await connection.fetch(f"select {CHECKED_COLUMNS} from console_user u where mid is null")
    return [read_user(vault, record) for record in records]


async def count_operators(connection: Connection, vault: Vault, cooling_off: timedelta) -> int:
    """Returns the number of operators who have joined. One who was disabled counts until the cooling-off time is over,
    so that nobody becomes the only operator at once by disabling the others. Raises RowChanged."""
    since = await connection.fetchval("select now() - $1::interval", cooling_off)
    operators = await list_operators(connection, vault)
    return sum(
        user.joined_at is not None and (user.disabled_at is None or user.disabled_at > since) for user in operators
    )


async def has_other_operators(connection: Connection, user_id: int) -> bool:
    """Returns whether there is or was any other operator, also one who has not joined."""
    query = "select exists (select 1 from console_user where mid is null and user_id <> $1)"
    return bool(await connection.fetchval(query, user_id))


async def count_admins(connection: Connection, vault: Vault, besides: int = 0) -> int:
    """Returns the number of operator administrators who can sign in, not counting user `besides`. Raises RowChanged."""
    return sum(
        user.role == "operator:admin" and user.disabled_at is None and user.joined_at is not None
        for user in await list_operators(connection, vault)
        if user.user_id != besides
    )


async def list_users(
    connection: Connection, mid: str | None, after: str, most: int, text: str = ""
) -> list[ConsoleUser]:
    """Returns a page of a merchant's users (mid None: the operators) whose address has a text in it, sorted by address,
    starting after `after`."""
    query = f"""
        select {COLUMNS} from console_user u where mid is not distinct from $1 and lower(email) > lower($2)
            and position(lower($4) in lower(email)) > 0
        order by lower(email) limit $3
    """
    return [ConsoleUser(*record) for record in await connection.fetch(query, mid, after, most, text)]


async def find_users(connection: Connection, text: str, most: int) -> list[ConsoleUser]:
    """Returns the operators, and then the users of all merchants, whose address has a text in it."""
    query = f"""
        select {COLUMNS} from console_user u where position(lower($1) in lower(email)) > 0
        order by mid nulls first, lower(email) limit $2
    """
    return [ConsoleUser(*record) for record in await connection.fetch(query, text, most)]


async def list_all_users(connection: Connection) -> list[ConsoleUser]:
    query = f"select {COLUMNS} from console_user u order by mid nulls first, lower(email)"
    return [ConsoleUser(*record) for record in await connection.fetch(query)]


async def get_user(connection: Connection, vault: Vault, user_id: int, mid: str | None) -> ConsoleUser | None:
    """Returns a user by number if it belongs to the merchant (mid None: is an operator), else None. Raises
    RowChanged."""
    record = await connection.fetchrow(
        f"select {CHECKED_COLUMNS} from console_user u where user_id = $1 and mid is not distinct from $2", user_id, mid
    )
    return None if record is None else read_user(vault, record)


async def list_joined(connection: Connection, vault: Vault, mid: str | None, roles: Sequence[str]) -> list[ConsoleUser]:
    """Returns the people of a merchant (mid None: the operators) with one of these roles who can sign in. A row that is
    not as the service wrote it is left out: its address might be another person's."""
    query = f"""
        select {CHECKED_COLUMNS} from console_user u
        where mid is not distinct from $1 and role = any($2) and joined_at is not null and disabled_at is null
        order by user_id
    """
    people = []
    for record in await connection.fetch(query, mid, roles):
        with contextlib.suppress(RowChanged):
            people.append(read_user(vault, record))
    return people


def make_maker(user: ConsoleUser) -> Maker:
    return Maker(user.email, user.user_id, tuple(user.makers))


# Earlier makers stay: somebody who was invited by one and reset by another is made by both.
SET_MAKERS = """
    update console_user set made_by = $2, account_since = now(),
        makers = array(select distinct m from unnest(makers || $3::text[]) m where m <> email),
        approves_from = case when $4::interval > interval '0' then now() + $4::interval end
    where user_id = $1
"""


async def set_makers(
    connection: Connection, vault: Vault, user_id: int, makers: Sequence[Maker], cooling_off: timedelta
) -> None:
    """Records who made, promoted or reset an account. It approves nothing until the cooling-off time is over."""
    behind = list(dict.fromkeys(name for maker in makers for name in maker.behind))
    made_by = next((maker.user_id for maker in makers if maker.user_id is not None), None)
    async with row_codes.changing(connection, vault, USERS, USER_ROW, user_id):
        await connection.execute(SET_MAKERS, user_id, made_by, behind, cooling_off)


async def set_role(connection: Connection, vault: Vault, user_id: int, role: str) -> None:
    async with row_codes.changing(connection, vault, USERS, USER_ROW, user_id):
        await connection.execute("update console_user set role = $2 where user_id = $1", user_id, role)
    await end_sessions(connection, user_id)


async def set_password(connection: Connection, vault: Vault, user_id: int, password: str) -> None:
    async with row_codes.changing(connection, vault, USERS, USER_ROW, user_id):
        await connection.execute("update console_user set password = $2 where user_id = $1", user_id, password)


async def set_totp(connection: Connection, vault: Vault, user_id: int, sealed: bytes | None, step: int) -> None:
    change = "update console_user set totp_sealed = $2, totp_step = $3 where user_id = $1"
    async with row_codes.changing(connection, vault, USERS, USER_ROW, user_id):
        await connection.execute(change, user_id, sealed, step)


async def use_totp_step(connection: Connection, user_id: int, step: int) -> bool:
    """Uses up a TOTP step and all earlier ones. Returns False if it was already used."""
    used = await connection.fetchval(
        "update console_user set totp_step = $2 where user_id = $1 and totp_step < $2 returning true", user_id, step
    )
    return bool(used)


async def disable(connection: Connection, vault: Vault, user_id: int) -> None:
    async with row_codes.changing(connection, vault, USERS, USER_ROW, user_id, ends=True):
        await connection.execute("update console_user set disabled_at = now() where user_id = $1", user_id)
    await connection.execute("update console_link set used_at = now() where user_id = $1 and used_at is null", user_id)
    await end_sessions(connection, user_id)


async def end_sessions(connection: Connection, user_id: int) -> None:
    await connection.execute("delete from console_session where user_id = $1", user_id)


# --- links ------------------------------------------------------------------------------------------------------


async def reset_credentials(connection: Connection, vault: Vault, user_id: int) -> None:
    """Removes password, second factor, sessions and known browsers of a user, and enables a disabled one."""
    change = "update console_user set password = null, totp_sealed = null, disabled_at = null where user_id = $1"
    async with row_codes.changing(connection, vault, USERS, USER_ROW, user_id):
        await connection.execute(change, user_id)
    await connection.execute("delete from console_device where user_id = $1", user_id)
    await end_sessions(connection, user_id)


async def make_link(connection: Connection, vault: Vault, user_id: int, purpose: str) -> str:
    """Returns the token of a new single-use link. Earlier links of the user stop working."""
    token = secrets.token_urlsafe(32)
    life = INVITATION_LIFE if purpose == "invitation" else SIGN_IN_LIFE
    async with connection.transaction():
        await connection.execute(
            "update console_link set used_at = now() where user_id = $1 and used_at is null", user_id
        )
        await connection.execute(
            "insert into console_link (token_hash, user_id, purpose, expires_at) values ($1, $2, $3, $4)",
            hash_token(token),
            user_id,
            purpose,
            datetime.now(UTC) + life,
        )
        await row_codes.code_new_row(connection, vault, LINKS, "token_hash = $1", hash_token(token))
    return token


OPEN_LINK = """
    from console_link l join console_user u on u.user_id = l.user_id
    where l.token_hash = $1 and l.used_at is null and l.expires_at > now() and u.disabled_at is null
"""


async def read_link(connection: Connection, vault: Vault, token: str) -> tuple[ConsoleUser, str] | None:
    """Returns the user and purpose of a link, or None if it cannot be used. Raises RowChanged."""
    columns = f"l.purpose, l.row_code, {LINKS.content_sql('l')}"
    record = await connection.fetchrow(f"select {columns}, {CHECKED_COLUMNS} {OPEN_LINK}", hash_token(token))
    if record is None:
        return None
    width = len(LINKS.columns) + 3
    row_codes.check_content(vault, LINKS, tuple(record[2:width]), record[1])
    return read_user(vault, record[width:]), record[0]


async def redeem_link(connection: Connection, vault: Vault, token: str) -> bool:
    """Redeems a link. Returns False if it is used or expired. Of concurrent calls, one succeeds.

    Raises EmailTaken if the address has already joined elsewhere. Call it in a transaction, so that the link is then
    not used up."""
    user_id = await connection.fetchval(
        "update console_link set used_at = now()"
        " where token_hash = $1 and used_at is null and expires_at > now() returning user_id",
        hash_token(token),
    )
    if user_id is None:
        return False
    try:
        async with row_codes.changing(connection, vault, USERS, USER_ROW, user_id):
            await connection.execute(
                "update console_user set joined_at = coalesce(joined_at, now()) where user_id = $1", user_id
            )
    except asyncpg.UniqueViolationError:
        raise EmailTaken from None
    return True
