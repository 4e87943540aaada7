"""People who may sign in to the console: made, found, changed; and the links that let them in once."""

import secrets
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import asyncpg
import msgspec

from kasuwa.db.pool import Connection

INVITATION_LIFE = timedelta(days=7)
SIGN_IN_LIFE = timedelta(days=1)

# So many wrong tries are nobody's business; then each one doubles the wait, up to the longest.
FREE_FAILURES = 5
FIRST_WAIT = timedelta(seconds=30)
LONGEST_WAIT = timedelta(minutes=15)


class User(msgspec.Struct):
    """`mid` is None for operators."""

    user_id: int
    email: str
    mid: str | None
    role: str
    password: str | None
    totp_sealed: bytes | None
    totp_step: int
    disabled_at: datetime | None


class EmailTaken(Exception):
    """Somebody has this address already."""


COLUMNS = "u.user_id, u.email, u.mid, u.role, u.password, u.totp_sealed, u.totp_step, u.disabled_at"


def hash_of(token: str) -> bytes:
    """Tokens are 256 random bits: a plain hash hides them well."""
    return sha256(token.encode()).digest()


async def add_user(connection: Connection, email: str, mid: str | None, role: str) -> int:
    try:
        user_id = await connection.fetchval(
            "insert into console_user (email, mid, role) values ($1, $2, $3) returning user_id", email, mid, role
        )
    except asyncpg.UniqueViolationError:
        raise EmailTaken(email) from None
    assert isinstance(user_id, int)
    return user_id


async def find_user(connection: Connection, email: str) -> User | None:
    record = await connection.fetchrow(f"select {COLUMNS} from console_user u where lower(email) = lower($1)", email)
    return None if record is None else User(*record)


async def users_of(connection: Connection, mid: str | None) -> list[User]:
    """A merchant's people, or the operators."""
    query = f"select {COLUMNS} from console_user u where mid is not distinct from $1 order by lower(email)"
    return [User(*record) for record in await connection.fetch(query, mid)]


async def everybody(connection: Connection) -> list[User]:
    query = f"select {COLUMNS} from console_user u order by mid nulls first, lower(email)"
    return [User(*record) for record in await connection.fetch(query)]


async def user_of(connection: Connection, user_id: int, mid: str | None) -> User | None:
    """One of a merchant's own people, or of the operators."""
    record = await connection.fetchrow(
        f"select {COLUMNS} from console_user u where user_id = $1 and mid is not distinct from $2", user_id, mid
    )
    return None if record is None else User(*record)


async def set_role(connection: Connection, user_id: int, role: str) -> None:
    await connection.execute("update console_user set role = $2 where user_id = $1", user_id, role)
    await end_sessions(connection, user_id)


async def set_password(connection: Connection, user_id: int, password: str) -> None:
    await connection.execute("update console_user set password = $2 where user_id = $1", user_id, password)


async def set_totp(connection: Connection, user_id: int, sealed: bytes | None, step: int) -> None:
    await connection.execute(
        "update console_user set totp_sealed = $2, totp_step = $3 where user_id = $1", user_id, sealed, step
    )


async def use_totp_step(connection: Connection, user_id: int, step: int) -> bool:
    """Whether a code of this step is still unused; from now on it is used, and so are all before it."""
    used = await connection.fetchval(
        "update console_user set totp_step = $2 where user_id = $1 and totp_step < $2 returning true", user_id, step
    )
    return bool(used)


async def disable(connection: Connection, user_id: int) -> None:
    await connection.execute("update console_user set disabled_at = now() where user_id = $1", user_id)
    await connection.execute("update console_link set used_at = now() where user_id = $1 and used_at is null", user_id)
    await end_sessions(connection, user_id)


async def end_sessions(connection: Connection, user_id: int) -> None:
    await connection.execute("delete from console_session where user_id = $1", user_id)


# --- links ------------------------------------------------------------------------------------------------------


async def make_link(connection: Connection, user_id: int, purpose: str) -> str:
    """A token that lets its user in once. An invitation sets everything anew: password, TOTP and sessions go."""
    token = secrets.token_urlsafe(32)
    life = INVITATION_LIFE if purpose == "invitation" else SIGN_IN_LIFE
    async with connection.transaction():
        await connection.execute("update console_link set used_at = now() where user_id = $1", user_id)
        if purpose == "invitation":
            await connection.execute(
                "update console_user set password = null, totp_sealed = null, disabled_at = null where user_id = $1",
                user_id,
            )
            await end_sessions(connection, user_id)
        await connection.execute(
            "insert into console_link (token_hash, user_id, purpose, expires_at) values ($1, $2, $3, $4)",
            hash_of(token),
            user_id,
            purpose,
            datetime.now(UTC) + life,
        )
    return token


OPEN_LINK = """
    from console_link l join console_user u on u.user_id = l.user_id
    where l.token_hash = $1 and l.used_at is null and l.expires_at > now() and u.disabled_at is null
"""


async def read_link(connection: Connection, token: str) -> tuple[User, str] | None:
    """Whose link this is and what for, while it can be used."""
    record = await connection.fetchrow(f"select {COLUMNS}, l.purpose {OPEN_LINK}", hash_of(token))
    return None if record is None else (User(*record[:-1]), record[-1])


async def use_link(connection: Connection, token: str) -> bool:
    """Of several who use a link at once, one gets in."""
    used = await connection.fetchval(
        "update console_link set used_at = now()"
        " where token_hash = $1 and used_at is null and expires_at > now() returning true",
        hash_of(token),
    )
    return bool(used)


# --- wrong tries --------------------------------------------------------------------------------------------------


async def locked_until(connection: Connection, email: str) -> datetime | None:
    found = await connection.fetchval(
        "select locked_until from sign_in_failure where email_hash = $1 and locked_until > now()",
        hash_of(email.lower()),
    )
    return found if isinstance(found, datetime) else None


async def note_failure(connection: Connection, email: str) -> None:
    failures = await connection.fetchval(
        "insert into sign_in_failure as f (email_hash, failures) values ($1, 1)"
        " on conflict (email_hash) do update set failures = f.failures + 1 returning failures",
        hash_of(email.lower()),
    )
    over = int(failures) - FREE_FAILURES
    if over >= 0:
        wait = min(FIRST_WAIT * 2 ** min(over, 10), LONGEST_WAIT)
        await connection.execute(
            "update sign_in_failure set locked_until = now() + $2::interval where email_hash = $1",
            hash_of(email.lower()),
            wait,
        )


async def forget_failures(connection: Connection, email: str) -> None:
    await connection.execute("delete from sign_in_failure where email_hash = $1", hash_of(email.lower()))
