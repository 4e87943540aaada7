"""Distributes the tables of a database over the servers of a Citus cluster (docs/scaling.md), and finds tables that are
not where they should be.

placement.py says where each table belongs. Everything here may be repeated, and changes nothing the second time.
"""

import msgspec

from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.distribution.catalog import SESSION_SETTINGS
from kasuwa.postgres.distribution.placement import (
    BY_MERCHANT,
    ON_COORDINATOR,
    ON_COORDINATOR_IN_COMMITS,
    ON_EVERY_SERVER,
)
from kasuwa.postgres.logins import quote_text

HAS_CITUS = "select exists (select 1 from pg_extension where extname = 'citus')"
# How Citus stores a table: by hash, the same everywhere, or on the coordinator alone.
STORED = """
    select p.logicalrelid::regclass::text, case when p.partmethod = 'h' then 'by merchant'
        when p.repmodel = 't' then 'on every server' else 'on the coordinator, in commits' end
    from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
    where c.relnamespace = 'public'::regnamespace
"""
LIST_SERVERS = """
    select nodename || ':' || nodeport as name from pg_dist_node
    where isactive and shouldhaveshards and noderole = 'primary' order by name
"""
SETTING_NAMES = "fsync, full_page_writes, has max_prepared_transactions"
SAFE_SETTINGS = "on, on, yes"
# A commit on more than one server is prepared on each first.
SETTINGS_OF_SERVERS = """
    select nodename || ':' || nodeport, success, result from run_command_on_workers($$
        select current_setting('fsync') || ', ' || current_setting('full_page_writes') || ', '
            || case when current_setting('max_prepared_transactions')::int > 0 then 'yes' else 'no' end$$)
"""
LIVE_SESSIONS = """
    select count(*) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name like 'kasuwa %'
"""
# Triggers of ours write rows of the same merchant, which are on the same server.
ALLOW_TRIGGERS = "set local citus.enable_unsafe_triggers = on"
MAKE = {
    "by merchant": "select create_distributed_table({}, 'merchant_id', colocate_with := {})",
    "on every server": "select create_reference_table({})",
    "on the coordinator, in commits": "select citus_add_local_table_to_metadata({})",
}
FIRST_TABLE = BY_MERCHANT[0]
# What statements of merchants call on their servers.
FUNCTIONS = ("job_run_at(timestamptz, bigint, timestamptz, timestamptz)",)
HAS_FUNCTION = """
    select exists (select 1 from pg_catalog.pg_dist_object
        where classid = 'pg_proc'::regclass and objid = to_regprocedure($1))
"""
MAKE_FUNCTION = "select create_distributed_function({})"


class CannotDistribute(Exception):
    """The database cannot be distributed. The message says in one line why, and what to do."""


class Distribution(msgspec.Struct, frozen=True):
    """The state of a database: whether the server has Citus, where its tables are, and which of them are elsewhere than
    they should be."""

    has_citus: bool
    stored: dict[str, str]
    misplaced: dict[str, str]  # the place where a table belongs, by table
    servers: list[str] = []  # those that hold rows of merchants
    troubles: list[tuple[str, str]] = []  # what is wrong with a server, and what to do

    @property
    def is_distributed(self) -> bool:
        return FIRST_TABLE in self.stored


def wanted_places() -> dict[str, str]:
    """Returns where each table belongs that Citus knows, in the order in which they are put there: tables that others
    refer to come first."""
    return {
        **dict.fromkeys(ON_EVERY_SERVER, "on every server"),
        **dict.fromkeys(BY_MERCHANT, "by merchant"),
        **dict.fromkeys(ON_COORDINATOR_IN_COMMITS, "on the coordinator, in commits"),
    }


async def examine_distribution(connection: Connection) -> Distribution:
    """Reads where the tables are. Needs no right beyond that of any login."""
    if not await connection.fetchval(HAS_CITUS):
        return Distribution(False, {}, {})
    stored = dict(await connection.fetch(STORED))
    wanted = wanted_places()
    places = {**wanted, **dict.fromkeys(ON_COORDINATOR, "on the coordinator")}
    misplaced = {name: place for name, place in places.items() if stored.get(name, "on the coordinator") != place}
    servers = [row[0] for row in await connection.fetch(LIST_SERVERS)]
    return Distribution(True, stored, misplaced if stored else {}, servers, await find_troubles(connection))


async def find_troubles(connection: Connection) -> list[tuple[str, str]]:
    """Returns what is wrong with servers: those that do not answer, and settings that lose or block commits."""
    troubles = []
    for server, is_answered, answer in await connection.fetch(SETTINGS_OF_SERVERS):
        if not is_answered:
            troubles.append((f"the server {server} does not answer: {answer}", "start it, or see why"))
        elif answer != SAFE_SETTINGS:
            what = f"the server {server} has {SETTING_NAMES} = {answer}"
            troubles.append((what, "fsync and full_page_writes must be on, max_prepared_transactions more than 0"))
    return troubles


async def distribute(connection: Connection) -> list[str]:
    """Puts every table where it belongs, as the owner, each in a transaction of its own. Returns what was done.

    Rows that a table has are moved with it. Raises CannotDistribute."""
    distribution = await examine_distribution(connection)
    if not distribution.has_citus:
        raise CannotDistribute("this server has no Citus: create the extension citus in this database on every server")
    if not distribution.servers:
        raise CannotDistribute("Citus has no servers to distribute to: add them with citus_add_node")
    if live := await connection.fetchval(LIVE_SESSIONS):
        raise CannotDistribute(f"{live} connections of kasuwa are open: stop every kasuwa on this database first")
    await connection.execute(SESSION_SETTINGS)
    done = []
    for function in FUNCTIONS:
        if not await connection.fetchval(HAS_FUNCTION, function):
            await connection.execute(MAKE_FUNCTION.format(quote_text(function)))
            done.append(f"{function.partition('(')[0]}: a function on every server")
    for name, place in wanted_places().items():
        if distribution.stored.get(name) == place:
            continue
        if name in distribution.stored:
            raise CannotDistribute(
                f"the table {name} is {distribution.stored[name]} and belongs {place}: undistribute it"
            )
        together = "none" if name == FIRST_TABLE else FIRST_TABLE
        async with connection.transaction():
            await connection.execute(ALLOW_TRIGGERS)
            await connection.execute(MAKE[place].format(quote_text(name), quote_text(together)))
        done.append(f"{name}: {place}")
    return done
