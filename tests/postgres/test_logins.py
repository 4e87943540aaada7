"""The three logins of the database, with names of an operator's own and no right to create roles.

What each may do, and what `kasuwa doctor` says of a right too many.
"""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
import pytest

from kasuwa.boot.prepare import migrate_as_owner
from kasuwa.doctor.logins import examine_logins
from kasuwa.postgres import logins
from kasuwa.postgres.connections import connect_as_owner
from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.embedded.shared_cluster import use_cluster
from kasuwa.postgres.merchant_rows import READER_SEARCH_PATH, choose_merchant, choose_rows
from kasuwa.postgres.migrate import MigrationError, known_migrations
from kasuwa.settings.database_logins import LoginError, check_urls, find_logins
from kasuwa.settings.settings import Settings
from kasuwa.settings.values import SettingsError
from tests.cli.test_command import SECRET, Done, check_done, run
from tests.running import NEWEST, OLDEST, Deployments
from tests.simulate.processes import query

pytestmark = pytest.mark.xdist_group("logins")

NEWEST_MIGRATION = known_migrations()[-1]
SECRET_KEY = base64.b64decode(SECRET)
ON_NEWEST = pytest.mark.parametrize("given", [NEWEST], indirect=True, ids=["newest"])


class GivenDatabase(NamedTuple):
    """A database of an operator's, with the addresses of its logins and of a superuser."""

    name: str
    admin: str
    owner: str
    application: str
    reader: str

    @property
    def environ(self) -> dict[str, str]:
        return {"KASUWA_DATABASE_OWNER_URL": self.owner, "KASUWA_DATABASE_READER_URL": self.reader}

    @property
    def settings(self) -> Settings:
        return Settings(database_url=self.application, database_owner_url=self.owner, database_reader_url=self.reader)

    def run(self, words: str, **environ: str) -> Done:
        return run(words, self.application, **{**self.environ, **environ})


def make_database(cluster: embedded.Cluster, name: str) -> GivenDatabase:
    roles = [f"{name} {kind}" for kind in ("owner", "application", "reader")]
    for role in roles:
        query(cluster.dsn, f'create role "{role}" login')
    query(cluster.dsn, f'create database {name} owner "{roles[0]}"')
    urls = [cluster.dsn_for(name, role.replace(" ", "%20")) for role in roles]
    return GivenDatabase(name, cluster.dsn_for(name), *urls)


@pytest.fixture(scope="module", params=[NEWEST, OLDEST], ids=["newest", "oldest"])
def given(request: pytest.FixtureRequest, deployments: Deployments) -> GivenDatabase:
    made = make_database(deployments.cluster(request.param), "shop")
    check_done(made.run("migrate"), f"applied {NEWEST_MIGRATION.name}")
    return made


def examine(given: GivenDatabase, **changes: Any) -> list[str]:
    """Returns what the doctor says of the logins."""
    settings = given.settings
    for name, value in changes.items():
        setattr(settings, name, value)
    assert settings.database_url is not None
    url = settings.database_url

    async def work(connection: Any) -> list[str]:
        return [str(finding) for finding in await examine_logins(settings, url, connection)]

    return asyncio.run(with_login(url, work))


async def with_login(url: str, work: Callable[[Any], Awaitable[Any]]) -> Any:
    connection = await asyncpg.connect(url)
    try:
        return await work(connection)
    finally:
        await connection.close()


def test_three_ordinary_logins_keep_every_promise(given: GivenDatabase) -> None:
    assert examine(given) == [
        "ok     the application's login cannot change the schema or the journal, nor become the owner",
        "ok     the reader's login cannot write, and sees the rows of one merchant at a time",
    ]
    check_done(given.run("migrate"), "nothing to do")
    check_done(given.run("audit"), "the books are right")
    owned = query(given.admin, "select distinct pg_get_userbyid(relowner) from pg_class where relname = 'posting'")
    assert [row[0] for row in owned] == ["shop owner"]


# A right too many, how it is taken back, and what the doctor says.
RIGHTS = {
    "create": ("grant create on schema public to {a}", "revoke create on schema public from {a}", "create a table"),
    "update": ("grant update on posting to {a}", "revoke update on posting from {a}", "can update posting"),
    "delete": ("grant delete on audit_entry to {a}", "revoke delete on audit_entry from {a}", "can delete audit_entry"),
    "truncate": ("grant truncate on event to {a}", "revoke truncate on event from {a}", "can truncate event"),
    "roles": ("alter role {a} createrole", "alter role {a} nocreaterole", "can create a role"),
    "schemas": (
        "grant create on database shop to {a}",
        "revoke create on database shop from {a}",
        "can create a schema",
    ),
    "alter": (
        "alter table event owner to {a}",
        "do $$ begin alter table event owner to {o}; grant select, insert on event to {a}; end $$",
        "can alter event",
    ),
    "root": ("grant update on deployment to {a}", "revoke update on deployment from {a}", "can update deployment"),
    "owner": ("grant {o} to {a}", "revoke {o} from {a}", "one login owns the tables and serves"),
    "write": ("grant insert on merchant to {r}", "revoke insert on merchant from {r}", "can insert merchant"),
    "secrets": (
        "grant select on console_session to {r}",
        "revoke select on console_session from {r}",
        "can read console_session",
    ),
    "policy": (
        "alter table posting disable row level security",
        "alter table posting enable row level security",
        "can see rows of posting without a merchant",
    ),
    "bypass": ("alter role {r} bypassrls", "alter role {r} nobypassrls", "without a merchant"),
}


@ON_NEWEST
@pytest.mark.parametrize("right", RIGHTS)
def test_doctor_finds_a_right_too_many_by_trying_it(given: GivenDatabase, right: str) -> None:
    roles = {"o": '"shop owner"', "a": '"shop application"', "r": '"shop reader"'}
    grant, revoke, expected = (text.format(**roles) for text in RIGHTS[right])
    query(given.admin, grant)
    try:
        [found] = [line for line in examine(given) if expected in line]
    finally:
        query(given.admin, revoke)
    # In test, one login for everything is usual.
    assert found.startswith("ok" if right == "owner" else "wrong")


@ON_NEWEST
def test_doctor_says_in_live_what_one_login_lacks(given: GivenDatabase) -> None:
    one = {"database_url": given.owner, "database_owner_url": None, "database_reader_url": None}
    found = examine(given, environment="live", **one)
    assert [line.startswith("wrong") for line in found] == [True, True, True]
    assert "KASUWA_DATABASE_OWNER_URL" in found[0]
    assert "triggers alone" in found[1]
    assert "KASUWA_DATABASE_READER_URL" in found[2]


def migrate(given: GivenDatabase, **changes: Any) -> list[str]:
    settings = given.settings
    for name, value in changes.items():
        setattr(settings, name, value)
    return asyncio.run(migrate_as_owner(settings, given.application, SECRET_KEY))


@ON_NEWEST
def test_a_login_that_does_not_own_the_schema_migrates_nothing(given: GivenDatabase) -> None:
    assert migrate(given, database_owner_url=None) == []
    query(given.admin, f"delete from migration where version = {NEWEST_MIGRATION.version} returning 1")
    with pytest.raises(MigrationError, match=r"the schema lacks 1 migrations.*KASUWA_DATABASE_OWNER_URL"):
        migrate(given, database_owner_url=None)
    applied = f"({NEWEST_MIGRATION.version}, '{NEWEST_MIGRATION.name}')"
    query(given.admin, f"insert into migration (version, name) values {applied} returning 1")
    assert migrate(given) == []


@ON_NEWEST
def test_logins_that_cannot_be_used_are_named(given: GivenDatabase) -> None:
    with pytest.raises(LoginError, match="each login must be another"):
        migrate(given, database_reader_url=given.owner)
    with pytest.raises(LoginError, match="KASUWA_DATABASE_READER_URL cannot connect"):
        migrate(given, database_reader_url=given.reader.replace("shop%20reader", "nobody"))
    query(given.admin, 'create role "another reader" login')
    another = given.reader.replace("shop%20reader", "another%20reader")
    with pytest.raises(LoginError, match=r"the login another reader .* has no rights yet"):
        migrate(given, database_reader_url=another, database_owner_url=None)
    with pytest.raises(SettingsError, match="KASUWA_DATABASE_OWNER_URL needs KASUWA_DATABASE_URL"):
        check_urls(Settings(database_owner_url=given.owner))


GUARDED = """
    select tablename::text from pg_policies where policyname = 'reader_merchant' and permissive = 'RESTRICTIVE'
        and roles = array['shop reader']::name[]
"""


def test_every_append_only_table_and_every_merchants_table_is_guarded(given: GivenDatabase) -> None:
    refusing = """
        select distinct tgrelid::regclass::text from pg_trigger t join pg_proc p on p.oid = t.tgfoid
        where p.proname in ('refuse_change', 'refuse_change_but_code', 'refuse_change_but_reason')
            and t.tgtype::int & 16 <> 0
    """
    assert {row[0] for row in query(given.admin, refusing)} == set(logins.APPEND_ONLY_TABLES)
    columns = """
        select c.table_name::text from information_schema.columns c join information_schema.tables t
            using (table_schema, table_name)
        where table_schema = 'public' and table_type = 'BASE TABLE' and column_name in ('merchant_id', 'mid')
    """
    assert {row[0] for row in query(given.admin, GUARDED)} == {row[0] for row in query(given.admin, columns)}


def test_every_table_is_of_merchants_or_known(given: GivenDatabase) -> None:
    """A table that nobody thought of is in none of the lists, and the reader cannot read it."""
    tables = {row[0] for row in query(given.admin, f"select relname::text from pg_class where {logins.PUBLIC_TABLES}")}
    readable = """
        select table_name::text from information_schema.role_table_grants
        where grantee = 'shop reader' and table_schema = 'public' and privilege_type = 'SELECT'
    """
    guarded = {row[0] for row in query(given.admin, GUARDED)}
    known = {*guarded, *logins.SHARED_TABLES, *logins.NOT_FOR_THE_READER}
    assert tables - known == set()
    assert known - tables == set()
    assert guarded & set(logins.SHARED_TABLES) == set()
    assert {"vendor_account", "dispute_hand_in", "failed_transaction"} <= tables
    assert {row[0] for row in query(given.admin, readable)} == tables - set(logins.NOT_FOR_THE_READER)


@ON_NEWEST
def test_a_table_that_is_added_is_guarded_by_the_next_migration(given: GivenDatabase) -> None:
    query(given.owner, "create table planted (merchant_id bigint, secret text)")
    query(given.owner, "create table planted_secret (secret text)")
    try:
        assert migrate(given) == []
        assert "planted" in {row[0] for row in query(given.admin, GUARDED)}
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            query(given.reader, "select * from planted_secret")
        assert query(given.reader, "select * from planted") == []
    finally:
        query(given.admin, "drop table planted, planted_secret")


def test_lists_use_indexes_on_expressions_under_row_security(given: GivenDatabase) -> None:
    """Control: the same statement on the table itself, where the policy applies, cannot use the index."""
    statement = (
        "explain select txn_ref from {} where merchant_id = 1 and kind = 'payment' and detail ->> 'method' = 'card' "
        "order by created_at desc, seq desc, key desc limit 20"
    )

    async def explain(connection: Any) -> list[str]:
        await connection.execute(f"set search_path = {READER_SEARCH_PATH}; set enable_seqscan = off")
        await connection.execute("; ".join(choose_rows(1, is_local=False)))
        tables = ("transaction", "public.transaction")
        return [" ".join(row[0] for row in await connection.fetch(statement.format(table))) for table in tables]

    by_view, by_table = asyncio.run(with_login(given.reader, explain))
    condition = "Index Cond: ((merchant_id = 1) AND ((detail ->> 'method'::text) = 'card'::text))"
    assert condition in by_view
    assert condition not in by_table


@ON_NEWEST
def test_a_choice_of_a_merchant_that_fails_is_made_again(given: GivenDatabase) -> None:
    async def choose() -> Any:
        connection = await connect_as_owner(given.reader, {})
        try:
            await choose_merchant(connection, 1)
            await connection.execute("begin")
            with pytest.raises(asyncpg.DivisionByZeroError):
                await connection.execute("select 1 / 0")
            with pytest.raises(asyncpg.InFailedSQLTransactionError):
                await choose_merchant(connection, 2)
            await connection.execute("rollback; set kasuwa.merchant_id = 'another'")
            await choose_merchant(connection, 1)
            return await connection.fetchval("select current_setting('kasuwa.merchant_id')")
        finally:
            await connection.close()

    assert asyncio.run(choose()) == "1"


# --- the embedded database ------------------------------------------------------------------------------------------


def test_the_embedded_database_of_an_earlier_version_gets_its_logins(tmp_path: Path) -> None:
    earlier = embedded.start(tmp_path)
    query(earlier.dsn, f"create role {logins.APPLICATION_LOGIN} nologin")
    with use_cluster(tmp_path) as cluster:
        for login in (logins.APPLICATION_LOGIN, logins.READER_LOGIN):
            assert query(cluster.dsn_for("kasuwa", login), "select session_user") == [(login,)]


@ON_NEWEST
def test_the_names_of_the_logins_are_those_of_the_addresses(given: GivenDatabase) -> None:
    async def work(owner: Any) -> logins.Logins:
        return await find_logins(given.settings, given.application, owner)

    assert asyncio.run(with_login(given.owner, work)) == logins.Logins("shop application", "shop reader")
