"""`kasuwa doctor`: checks a deployment and reports each problem with its remedy."""

import asyncio
import time
from pathlib import Path
from typing import Any

import asyncpg

from kasuwa.core.keyring import SEAL
from kasuwa.doctor.findings import Finding, passed, problem
from kasuwa.doctor.logins import examine_logins
from kasuwa.doctor.peers import examine_peers
from kasuwa.doctor.rails import examine_open_orders, examine_rails
from kasuwa.postgres import migrate
from kasuwa.postgres.clock import DATABASE_CLOCK, JUMP_SECONDS
from kasuwa.postgres.distribution.distribute import examine_distribution
from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.embedded.log import LOG_FILE, describe_full_disk, last_severe_line
from kasuwa.postgres.embedded.shared_cluster import ensure_logins, has_cluster
from kasuwa.postgres.pgbouncer import TransactionPooling, refuse_transaction_pooling
from kasuwa.postgres.primary import connect_to_primary
from kasuwa.privacy import key_versions, vault_keys
from kasuwa.rails.inbox import inbox_table
from kasuwa.rails.watch import contradictions
from kasuwa.settings.close_key import require_close_key
from kasuwa.settings.database_logins import check_urls, embedded_url
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import Settings
from kasuwa.settings.values import SettingsError

# So many tables that are not where they belong are named.
MAX_NAMED = 5
START = "start it with `kasuwa serve`, or set KASUWA_DATABASE_URL"


def examine(settings: Settings) -> list[Finding]:
    findings = [passed(f"environment {settings.environment}")]
    check_urls(settings)
    dsn = settings.database_url
    if dsn is None and not has_cluster(settings.data):
        return [*findings, problem(f"there is no database in {settings.data}", START)]
    findings += [examine_secret(settings), examine_close_key(settings)]
    if dsn is None:
        cluster = embedded.find(settings.data)
        if cluster is None:
            return [*findings, *examine_stopped(settings.data)]
        findings.append(examine_disk(settings.data))
        asyncio.run(ensure_logins(cluster.dsn))
        dsn = embedded_url(cluster)
    return findings + asyncio.run(examine_database(settings, dsn)) + asyncio.run(examine_rails(settings))


def examine_stopped(directory: Path) -> list[Finding]:
    """Returns the findings for an embedded server that does not run: the end of its log, and a full disk."""
    line = last_severe_line(directory / LOG_FILE)
    findings = [problem(f"no database runs for {directory}", f"{START}; its log ends: {line}" if line else START)]
    return [*findings, *([examine_disk(directory)] if describe_full_disk(directory) else [])]


def examine_disk(directory: Path) -> Finding:
    trouble = describe_full_disk(directory)
    return problem(trouble, "make room, then start it again") if trouble else passed("there is room on the disk")


def examine_secret(settings: Settings) -> Finding:
    try:
        load_secret_key(settings, may_create=False)
    except SettingsError as error:
        return problem("the secret key cannot be used", str(error))
    return passed("the secret key is there")


def examine_close_key(settings: Settings) -> Finding:
    try:
        if settings.environment == "live":
            require_close_key(settings)
    except SettingsError as error:
        return problem("nothing signs closes of the books, so that merchants get no proofs", str(error))
    return passed("a key signs closes of the books")


async def examine_database(settings: Settings, dsn: str) -> list[Finding]:
    try:
        if settings.database_url is not None:
            await refuse_transaction_pooling(dsn)
        connection = await connect_to_primary(dsn)
    except TransactionPooling as error:
        return [problem("a connection pooler shares sessions between clients", str(error))]
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError, ValueError) as error:
        return [
            problem(
                f"the database cannot be reached: {error or type(error).__name__}",
                "check KASUWA_DATABASE_URL",
            )
        ]
    try:
        version = connection.get_server_version()
        findings = [passed(f"PostgreSQL {version.major}.{version.minor}")]
        if version.major < migrate.MIN_POSTGRES_VERSION:
            findings = [
                problem(f"PostgreSQL {version.major} is too old", f"use {migrate.MIN_POSTGRES_VERSION} or later")
            ]
        return findings + await examine_schema(settings, dsn, connection)
    finally:
        await connection.close()


async def examine_schema(settings: Settings, dsn: str, connection: Any) -> list[Finding]:
    version, newest = await migrate.schema_version(connection), migrate.newest_known_version()
    if version < newest:
        return [problem(f"the schema is at migration {version} of {newest}", "run `kasuwa migrate`")]
    if version > newest:
        return [problem(f"the schema is at migration {version}, newer than this version", "run a later kasuwa")]
    return [
        passed(f"the schema is at migration {version}"),
        await examine_vault(settings, connection),
        *await examine_keys(settings, connection),
        await examine_durability(connection),
        *await examine_servers(connection),
        *await examine_logins(settings, dsn, connection),
        await examine_clock(connection),
        await examine_jobs(connection),
        await examine_notices(connection),
        await examine_contradictions(connection),
        *await examine_open_orders(settings, connection),
        await examine_unclaimed(connection),
        *await examine_peers(settings, connection),
    ]


async def examine_vault(settings: Settings, connection: Any) -> Finding:
    try:
        await vault_keys.open_vault(connection, load_secret_key(settings, may_create=False))
    except (migrate.MigrationError, SettingsError) as error:
        return problem("the secret key does not open this database", str(error))
    return passed("the secret key opens this database")


async def examine_keys(settings: Settings, connection: Any) -> list[Finding]:
    """Returns the age of the data keys, a rotation that does not come to an end, and a second secret key."""
    try:
        secret_key = load_secret_key(settings, may_create=False)
    except SettingsError:
        return []
    listed = [key for key in await key_versions.list_versions(connection) if key.purpose == SEAL]
    ages = [f"version {key.version} is {key.age_days} days old" for key in listed if key.state == "active"]
    findings = [passed(f"keys that encrypt: {', '.join(ages)}")]
    unfinished = [key for key in listed if key.finished_at is None]
    if unfinished and await connection.fetchval(key_versions.IS_ROTATION_LATE):
        what = f"version {unfinished[0].version} of the data key is not rolled out"
        findings.append(problem(what, "see that `kasuwa serve` and its worker run"))
    unreadable = sum(key.unreadable for key in listed)
    if unreadable:
        mend = "the log names their tables: restore these rows from a backup"
        findings.append(problem(f"{unreadable} ciphertexts were opened by no key", mend))
    if await key_versions.has_other_keks(connection, secret_key):
        findings.append(problem("another secret key opens this database too", "run `kasuwa keys drop --kek`"))
    return findings


async def examine_durability(connection: Any) -> Finding:
    off = [name for name in ("fsync", "full_page_writes") if await connection.fetchval(f"show {name}") == "off"]
    if off:
        return problem(
            f"{' and '.join(off)} off: a crash can lose acknowledged money", "switch it on in postgresql.conf"
        )
    return passed("commits are durable")


async def examine_servers(connection: Any) -> list[Finding]:
    """Returns whether the database is distributed, tables that are not where they belong, and servers that do not
    answer or do not keep what they acknowledge."""
    distribution = await examine_distribution(connection)
    if not distribution.is_distributed:
        return []
    findings = [passed(f"the database is distributed by merchant over {len(distribution.servers)} servers")]
    if distribution.misplaced:
        named = ", ".join(f"{name} belongs {place}" for name, place in list(distribution.misplaced.items())[:MAX_NAMED])
        what = f"{len(distribution.misplaced)} tables are not where they belong: {named}"
        findings = [problem(what, "stop every kasuwa and run `kasuwa database distribute`")]
    return findings + [problem(trouble, mend) for trouble, mend in distribution.troubles]


async def examine_clock(connection: Any) -> Finding:
    skew = time.time() - await connection.fetchval(DATABASE_CLOCK)
    if abs(skew) > JUMP_SECONDS:
        what = f"this machine's clock is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} the database's"
        return problem(what, "set both by NTP; the service goes by the database's")
    return passed("this machine's clock agrees with the database's")


async def examine_jobs(connection: Any) -> Finding:
    late = await connection.fetchval(
        "select count(*) from scheduled_job where run_at < now() - interval '5 minutes' and lane <> 'webhook'"
    )
    if late:
        return problem(f"{late} jobs are more than five minutes late", "see that `kasuwa serve` and its worker run")
    return passed("no job is late")


async def examine_notices(connection: Any) -> Finding:
    count = await connection.fetchval("select count(*) from operator_notice")
    if count:
        return problem(
            f"{count} notices wait for an operator", "read the table `operator_notice`: rails that contradict us"
        )
    return passed("no notice waits for an operator")


async def examine_contradictions(connection: Any) -> Finding:
    """Returns whether a rail contradicts the end of a transaction, and nobody has proposed what to do about it."""
    open_contradictions = await contradictions.list_open(connection, MAX_NAMED)
    if open_contradictions:
        names = ", ".join(contradiction.reference for contradiction in open_contradictions)
        return problem(f"rails contradict the end of transactions: {names}", "decide them on the page Approvals")
    return passed("no rail contradicts the end of a transaction")


async def examine_unclaimed(connection: Any) -> Finding:
    count = await connection.fetchval(inbox_table.COUNT_UNCLAIMED)
    if count:
        mend = "see `kasuwa reconcile unclaimed`; KASUWA_SUSPENSE_MID names a merchant whose books can take it"
        return problem(f"{count} payments came into accounts that belong to no merchant", mend)
    return passed("no money came into accounts that belong to no merchant")
