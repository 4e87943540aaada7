"""Throttling of failed sign-ins by email address and source, and the known browsers of users.

Nobody can lock another person out: failures count against the network they come from, and a browser in which the person
signed in before is counted separately. Failures of an address over all sources delay only unknown browsers, and not a
person who has the right password and a second factor.
"""

import secrets
from datetime import UTC, datetime, timedelta

import msgspec

from kasuwa.core.addresses import find_network
from kasuwa.people.users import hash_token
from kasuwa.postgres.connection_pool import Connection

# Failures without a lockout. Each further one doubles the lockout, up to MAX_LOCKOUT.
FREE_FAILURES = 5
FREE_FAILURES_ALL_SOURCES = 50
INITIAL_LOCKOUT = timedelta(seconds=30)
MAX_LOCKOUT = timedelta(minutes=15)
# Failures are forgotten when none was added for this long.
FAILURE_WINDOW = timedelta(hours=24)
# Each failure deletes up to this many expired rows, which bounds the table.
PRUNED_ROWS = 20
DEVICE_MAX_AGE = timedelta(days=90)
MAX_DEVICES = 20


class AttemptSource(msgspec.Struct, frozen=True):
    """The source of a sign-in attempt: a known browser or a network, as a hash.

    `is_known_device` if the same person signed in from this browser before."""

    key: bytes
    is_known_device: bool


ALL_SOURCES = AttemptSource(b"", False)


def network_source(address: str) -> AttemptSource:
    return AttemptSource(hash_token(f"network {find_network(address)}"), False)


async def find_source(connection: Connection, email: str, address: str, device: str | None) -> AttemptSource:
    if device is not None:
        known = await connection.fetchval(
            "select true from console_device d join console_user u on u.user_id = d.user_id"
            " where d.token_hash = $1 and lower(u.email) = lower($2) and d.seen_at > now() - $3::interval",
            hash_token(device),
            email,
            DEVICE_MAX_AGE,
        )
        if known:
            return AttemptSource(hash_token(f"browser {device}"), True)
    return network_source(address)


async def locked_until(connection: Connection, email: str, source: AttemptSource) -> datetime | None:
    until = await connection.fetchval(
        "select locked_until from sign_in_throttle where email_hash = $1 and source = $2 and locked_until > now()",
        hash_token(email.lower()),
        source.key,
    )
    return until if isinstance(until, datetime) else None


COUNT = """
    insert into sign_in_throttle as f (email_hash, source, failures, last_at) values ($1, $2, 1, now())
    on conflict (email_hash, source) do update set last_at = now(),
        failures = case when f.last_at < now() - $3::interval then 1 else f.failures + 1 end
    returning failures
"""
PRUNE = """
    delete from sign_in_throttle where (email_hash, source) in (
        select email_hash, source from sign_in_throttle where last_at < now() - $1::interval
        order by last_at, email_hash, source limit $2 for update skip locked)
"""


async def record_failure(
    connection: Connection, email: str, source: AttemptSource, all_sources: AttemptSource = ALL_SOURCES
) -> int:
    """Counts a failed attempt for its source and for the address over all sources. Returns the source's count."""
    failures = await count_failure(connection, email, source, FREE_FAILURES)
    if not source.is_known_device:
        await count_failure(connection, email, all_sources, FREE_FAILURES_ALL_SOURCES)
    await connection.execute(PRUNE, FAILURE_WINDOW, PRUNED_ROWS)
    return failures


async def count_failure(connection: Connection, email: str, source: AttemptSource, free_failures: int) -> int:
    failures = await connection.fetchval(COUNT, hash_token(email.lower()), source.key, FAILURE_WINDOW)
    over = int(failures) - free_failures
    if over >= 0:
        await connection.execute(
            "update sign_in_throttle set locked_until = now() + $3::interval where email_hash = $1 and source = $2",
            hash_token(email.lower()),
            source.key,
            min(INITIAL_LOCKOUT * 2 ** min(over, 10), MAX_LOCKOUT),
        )
    return int(failures)


async def clear_failures(connection: Connection, email: str, source: AttemptSource) -> None:
    await connection.execute(
        "delete from sign_in_throttle where email_hash = $1 and source = $2", hash_token(email.lower()), source.key
    )


# --- known browsers -----------------------------------------------------------------------------------------------


class RememberedDevice(msgspec.Struct, frozen=True):
    """A browser that was marked as known."""

    token: str
    is_new_browser: bool
    is_new_network: bool  # the user has not signed in from its network before, as far as that is known


# Browsers that release 1.0.0 has marked have no network.
HAS_OTHER_NETWORKS = """
    select coalesce(bool_and(network is not null and network <> $2), false) from console_device where user_id = $1
"""


async def remember_device(connection: Connection, user_id: int, device: str | None, address: str) -> RememberedDevice:
    """Marks a browser as known for the user. Its token is a new one unless it was known already."""
    now, network = datetime.now(UTC), network_source(address).key
    is_new_network = bool(await connection.fetchval(HAS_OTHER_NETWORKS, user_id, network))
    if device is not None:
        known = await connection.fetchval(
            "update console_device set seen_at = $3, network = $4"
            " where token_hash = $1 and user_id = $2 returning true",
            hash_token(device),
            user_id,
            now,
            network,
        )
        if known:
            return RememberedDevice(device, is_new_browser=False, is_new_network=is_new_network)
    token = secrets.token_urlsafe(32)
    await connection.execute(
        "insert into console_device (token_hash, user_id, seen_at, network) values ($1, $2, $3, $4)",
        hash_token(token),
        user_id,
        now,
        network,
    )
    await connection.execute(
        "delete from console_device where user_id = $1 and token_hash not in ("
        " select token_hash from console_device where user_id = $1 order by seen_at desc, token_hash limit $2)",
        user_id,
        MAX_DEVICES,
    )
    return RememberedDevice(token, is_new_browser=True, is_new_network=is_new_network)
