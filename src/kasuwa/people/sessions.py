"""Console sessions: signed-in browsers. A session ends when it is idle or too old, and its token is rotated."""

import secrets
from datetime import UTC, datetime, timedelta

import msgspec

from kasuwa.core.row_codes import CodedTable
from kasuwa.core.vault import Vault
from kasuwa.people.users import CHECKED_COLUMNS, ConsoleUser, hash_token, read_user
from kasuwa.postgres import row_codes
from kasuwa.postgres.connection_pool import Connection

SESSIONS = CodedTable(
    table="console_session",
    is_of_merchant=False,
    key={"session_id": "bigint"},
    covered=("user_id", "token_hash", "previous_hash", "rotated_at", "csrf", "is_whole", "created_at", "verified_at"),
    uncovered={"seen_at": "ends a session that is idle; written while it is used"},
)
SESSION_ROW = "session_id = $1"

IDLE_TIMEOUT = timedelta(minutes=30)
ABSOLUTE_TIMEOUT = timedelta(hours=12)
# How long a session may wait for its second factor after the password.
SECOND_FACTOR_TIMEOUT = timedelta(minutes=5)
ROTATE_AFTER = timedelta(minutes=15)
# Requests that were in flight when the token was rotated still send the previous one.
PREVIOUS_TOKEN_GRACE = timedelta(seconds=30)
# `seen_at` need not be exact, so it is written at most once a minute.
SEEN_UPDATE_INTERVAL = timedelta(minutes=1)


class ConsoleSession(msgspec.Struct):
    """A signed-in browser, or one that still has to give its second factor."""

    session_id: int
    csrf_token: str  # every form of this session must send it back
    is_authenticated: bool  # False until the second factor was given
    rotated_at: datetime
    seen_at: datetime
    is_previous_token: bool  # whether the request sent the token before the last rotation
    verified_at: datetime  # when the person last gave a password or code
    user: ConsoleUser


FIND = f"""
    select s.session_id, s.csrf, s.is_whole, s.rotated_at, s.seen_at, s.token_hash <> $1,
        s.verified_at, s.row_code, {SESSIONS.content_sql("s")}, {CHECKED_COLUMNS}
    from console_session s join console_user u on u.user_id = s.user_id
    where (s.token_hash = $1 or (s.previous_hash = $1 and s.rotated_at > $2::timestamptz - $3::interval))
      and u.disabled_at is null and s.seen_at > $2::timestamptz - $4::interval
      and s.created_at > $2::timestamptz - case when s.is_whole then $5::interval else $6::interval end
"""


async def begin(connection: Connection, vault: Vault, user_id: int, *, is_authenticated: bool) -> str:
    """Starts a session and returns its token. Only the hash of the token is stored."""
    token, now = secrets.token_urlsafe(32), datetime.now(UTC)
    async with connection.transaction():
        session_id = await connection.fetchval(
            "insert into console_session (user_id, token_hash, rotated_at, csrf, is_whole, created_at, seen_at)"
            " values ($1, $2, $3, $4, $5, $3, $3) returning session_id",
            user_id,
            hash_token(token),
            now,
            secrets.token_urlsafe(24),
            is_authenticated,
        )
        await row_codes.code_new_row(connection, vault, SESSIONS, SESSION_ROW, session_id)
    await connection.execute("delete from console_session where created_at < $1", now - ABSOLUTE_TIMEOUT)
    return token


async def find(connection: Connection, vault: Vault, token: str) -> ConsoleSession | None:
    """Returns the session of a token, or None if there is none, it has ended or its user is disabled. Raises RowChanged
    if its row or that of its user is not as the service wrote it."""
    now = datetime.now(UTC)
    record = await connection.fetchrow(
        FIND, hash_token(token), now, PREVIOUS_TOKEN_GRACE, IDLE_TIMEOUT, ABSOLUTE_TIMEOUT, SECOND_FACTOR_TIMEOUT
    )
    if record is None:
        return None
    session_id, csrf, is_whole, rotated_at, seen_at, is_previous, verified_at, code, *rest = record
    width = len(SESSIONS.columns) + 1
    row_codes.check_content(vault, SESSIONS, rest[:width], code)
    user = read_user(vault, rest[width:])
    session = ConsoleSession(session_id, csrf, is_whole, rotated_at, seen_at, is_previous, verified_at, user)
    if now - session.seen_at > SEEN_UPDATE_INTERVAL:
        await connection.execute(
            "update console_session set seen_at = $2 where session_id = $1", session.session_id, now
        )
    return session


async def rotate(connection: Connection, vault: Vault, session: ConsoleSession) -> str | None:
    """Rotates the token of a session and returns the new one, or None if a concurrent request has just done so."""
    token, now = secrets.token_urlsafe(32), datetime.now(UTC)
    async with row_codes.changing(connection, vault, SESSIONS, SESSION_ROW, session.session_id):
        changed = await connection.fetchval(
            "update console_session set previous_hash = token_hash, token_hash = $2, rotated_at = $3"
            " where session_id = $1 and rotated_at = $4 returning true",
            session.session_id,
            hash_token(token),
            now,
            session.rotated_at,
        )
    return token if changed else None


async def mark_verified(connection: Connection, vault: Vault, session_id: int) -> None:
    """Records that the person has just given a password or a code again."""
    async with row_codes.changing(connection, vault, SESSIONS, SESSION_ROW, session_id):
        await connection.execute("update console_session set verified_at = now() where session_id = $1", session_id)


async def end(connection: Connection, session_id: int) -> None:
    await connection.execute("delete from console_session where session_id = $1", session_id)


async def end_others(connection: Connection, user_id: int, session_id: int) -> None:
    await connection.execute("delete from console_session where user_id = $1 and session_id <> $2", user_id, session_id)
