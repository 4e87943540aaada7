"""A deployment with one login gets three while it serves: a database of an operator's, of PostgreSQL 15 and 18, the
embedded one, and that of deploy/compose.yaml, whose login was a superuser.

The service with one login runs this version's code on tables without row-level security. It sends transfers and reads
lists all the time, and none may fail.
"""

import contextlib
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from kasuwa.postgres import logins
from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.embedded.shared_cluster import use_cluster
from kasuwa.postgres.migrate import known_migrations
from tests.cli.test_command import Done, check_done
from tests.merchant_client import HttpConnection, MerchantClient
from tests.postgres.test_logins import GivenDatabase, examine, make_database
from tests.running import NEWEST, OLDEST, Deployments, debian_bin, running_deployment
from tests.serving import serving
from tests.simulate.processes import query
from tests.source_rules import REPOSITORY

pytestmark = pytest.mark.xdist_group("logins")

# Back to a database without row-level security.
BEFORE = """
    do $$ declare t record; begin
        for t in select tablename, policyname from pg_policies loop
            execute format('drop policy %I on %I', t.policyname, t.tablename);
            execute format('alter table %I disable row level security', t.tablename);
        end loop;
    end $$;
"""
UNPROTECTED = """
    select c.relname::text from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'merchant_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and not c.relrowsecurity
"""
# Replies that must come before and after the change.
SOME = 6
PAUSE_SECONDS = 0.05


class Load(threading.Thread):
    """A merchant that sends transfers and reads lists until it is stopped."""

    def __init__(self, shop: MerchantClient) -> None:
        super().__init__(daemon=True)
        self.replies: list[tuple[int, int]] = []
        self._shop = shop
        self._stopping = threading.Event()
        self._more = threading.Condition()

    def run(self) -> None:
        while not self._stopping.wait(PAUSE_SECONDS):
            sent = self._shop.transfer(amount="10.00")
            http, listed = self._shop.put("resources", inquire="transactions")
            with self._more:
                self.replies += [(200, sent["status"]), (http, listed["status"])]
                self._more.notify_all()

    def wait_for_more(self) -> None:
        with self._more:
            wanted = len(self.replies) + SOME
            assert self._more.wait_for(lambda: len(self.replies) >= wanted, 60), "the load has stopped"

    def stop(self) -> None:
        self._stopping.set()
        self.join()


class OldService(NamedTuple):
    """A service with one login, and the requests that it answers meanwhile."""

    shop: MerchantClient
    secret: str
    load: Load


def undo_logins(admin: str) -> None:
    """Takes the protection of all tables away. The service reads several of them in another order, so that the two may
    wait for each other: PostgreSQL then gives up one of them, and this is done again."""
    for _ in range(20):
        with contextlib.suppress(asyncpg.DeadlockDetectedError):
            query(admin, BEFORE)
            return
    raise AssertionError("the tables were never free")


@contextlib.contextmanager
def serving_with_one_login(directory: Path, dsn: str, admin: str) -> Iterator[OldService]:
    """Runs a service on tables without row-level security, under load. All of its replies must be good."""
    with running_deployment(directory, dsn, KASUWA_CONSOLE="off", KASUWA_DATABASE_URL=dsn) as old:
        shop = old.open_shop()
        undo_logins(admin)
        load = Load(shop)
        load.start()
        try:
            load.wait_for_more()
            yield OldService(shop, (directory / "secret.key").read_text().strip(), load)
            load.wait_for_more()
        finally:
            load.stop()
        with shop.connection:
            assert shop.transfer(orderRef="with one login")["status"] == 200
    assert set(load.replies) == {(200, 200)}


def check_new_service(port: int, old: OldService) -> None:
    """The same merchant, served with three logins beside the old service."""
    with HttpConnection("127.0.0.1", port) as wire:
        shop = MerchantClient(wire, old.shop.mid, old.shop.key)
        assert shop.transfer(orderRef="with three logins")["status"] == 200
        listed = shop.put("resources", inquire="transactions").body["data"]
    assert "with three logins" in [line["orderRef"] for line in listed]
    old.load.wait_for_more()


def check_logged_in(admin: str, *expected: str) -> None:
    rows = query(admin, "select distinct usename from pg_stat_activity where datname = current_database()")
    assert set(expected) <= {row[0] for row in rows}


def change_to_three(given: GivenDatabase, old: OldService, directory: Path) -> None:
    """Migrates, starts a service with the new logins, and asks the doctor."""
    assert query(given.admin, UNPROTECTED) != []
    check_done(given.run("migrate", KASUWA_SECRET_KEY=old.secret))
    assert query(given.admin, UNPROTECTED) == []
    settings = {"KASUWA_DATABASE_URL": given.application, "KASUWA_DATABASE_READER_URL": given.reader}
    settings["KASUWA_CONSOLE"] = "off"
    with running_deployment(directory, given.application, KASUWA_SECRET_KEY=old.secret, **settings) as new:
        check_new_service(new.port, old)
        names = [urlsplit(url).username or "" for url in (given.application, given.reader)]
        check_logged_in(given.admin, *(name.replace("%20", " ") for name in names))
        assert new.new_stderr() == ""
    assert all(line.startswith("ok") for line in examine(given, environment="live"))


@pytest.mark.parametrize("version", sorted({NEWEST, OLDEST}))
def test_one_login_becomes_three_while_the_service_runs(deployments: Deployments, tmp_path: Path, version: int) -> None:
    cluster = deployments.cluster(version)
    given = make_database(cluster, "upgraded")
    query(cluster.dsn, 'grant kasuwa_application to "upgraded owner"')
    with serving_with_one_login(tmp_path / "one", given.owner, given.admin) as old:
        change_to_three(given, old, tmp_path / "three")


def test_the_embedded_database_gets_its_logins_while_it_serves(tmp_path: Path) -> None:
    data, place = tmp_path / "data", tmp_path / "new"
    place.mkdir()
    with use_cluster(data) as cluster:
        query(cluster.dsn, f"alter role {logins.APPLICATION_LOGIN} nologin")
        query(cluster.dsn, f"drop role {logins.READER_LOGIN}")
        with serving_with_one_login(tmp_path / "one", cluster.dsn, cluster.dsn) as old:
            environ = {"KASUWA_DATA": str(data), "KASUWA_SECRET_KEY": old.secret}
            with serving(place, environ) as new:
                check_new_service(urlsplit(new.ready["url"]).port or 0, old)
                check_logged_in(cluster.dsn, logins.OWNER_LOGIN, logins.APPLICATION_LOGIN, logins.READER_LOGIN)
            assert query(cluster.dsn, UNPROTECTED) == []


# --- deploy/create-logins.sh ----------------------------------------------------------------------------------------


def create_logins(cluster: embedded.Cluster, database: str, secrets: Path) -> Done:
    """Runs the script as the image of PostgreSQL does, as the superuser."""
    address = parse_qs(urlsplit(cluster.dsn).query)
    environ = {
        "PATH": f"{debian_bin()}{os.pathsep}{os.environ['PATH']}",
        "PGHOST": address["host"][0],
        "PGPORT": address["port"][0],
        "POSTGRES_USER": logins.OWNER_LOGIN,
        "POSTGRES_DB": database,
        "SECRETS": str(secrets),
    }
    script = REPOSITORY / "deploy" / "create-logins.sh"
    return subprocess.run([script], env=environ, capture_output=True, text=True)


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    directory = tmp_path / "secrets"
    directory.mkdir()
    for login in ("owner", "service", "reader"):
        (directory / f"{login}_password").write_text(f"the password's of {login}\n")
    return directory


def database_of_compose(cluster: embedded.Cluster, name: str) -> GivenDatabase:
    urls = [cluster.dsn_for(name, f"kasuwa_{login}") for login in ("owner", "service", "reader")]
    return GivenDatabase(name, cluster.dsn_for(name), *urls)


NOT_OWNED = """
    select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where nspname in ('public', 'kasuwa_reader') and pg_get_userbyid(relowner) <> 'kasuwa_owner'
    union all select oid::regprocedure::text from pg_proc
        where pronamespace = 'public'::regnamespace and pg_get_userbyid(proowner) <> 'kasuwa_owner'
"""


def test_a_superuser_that_serves_gives_its_tables_to_an_owner(
    deployments: Deployments, tmp_path: Path, secrets: Path
) -> None:
    cluster = deployments.cluster(NEWEST)
    given = database_of_compose(cluster, "composed")
    deployments.new_database("composed")
    with serving_with_one_login(tmp_path / "one", given.admin, given.admin) as old:
        made = create_logins(cluster, "composed", secrets)
        check_done(made, "are ready")
        assert query(given.admin, NOT_OWNED) == []
        change_to_three(given, old, tmp_path / "three")
    again = create_logins(cluster, "composed", secrets)
    assert (again.returncode, again.stdout) == (0, made.stdout)
    assert query(given.admin, NOT_OWNED) == []


def test_an_empty_database_gets_its_logins_with_their_passwords(deployments: Deployments, secrets: Path) -> None:
    cluster = deployments.cluster(NEWEST)
    deployments.new_database("fresh_compose")
    given = database_of_compose(cluster, "fresh_compose")
    check_done(create_logins(cluster, "fresh_compose", secrets))
    sealed = query(
        given.admin,
        "select rolname, rolpassword like 'SCRAM-SHA-256$%' from pg_authid "
        "where rolname in ('kasuwa_owner', 'kasuwa_service', 'kasuwa_reader')",
    )
    assert dict(map(tuple, sealed)) == dict.fromkeys(("kasuwa_owner", "kasuwa_service", "kasuwa_reader"), True)
    check_done(given.run("migrate"), f"applied {known_migrations()[-1].name}")
    assert all(line.startswith("ok") for line in examine(given, environment="live"))


def test_a_missing_password_is_an_error_and_creates_no_login(deployments: Deployments, tmp_path: Path) -> None:
    cluster = deployments.cluster(NEWEST)
    done = create_logins(cluster, "postgres", tmp_path)
    assert done.returncode != 0
    assert "owner_password" in done.stderr
