"""`kasuwa serve` and `kasuwa status` for programs: free ports, one line of JSON, and what else finds the server."""

import json
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import kasuwa
from kasuwa.postgres.migrate import newest_known_version
from tests.commands import invoke
from tests.running import DEMO_KEY, DEMO_MID, NEWEST, Deployments, free_port
from tests.serving import FREE_PORTS, STOP_SECONDS, Serving, serving
from tests.simulate.processes import clean_environment, query, run_command, wait_until

pytestmark = pytest.mark.xdist_group("serving")

DATABASE = "serving"


@pytest.fixture(scope="module")
def server(deployments: Deployments, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server with two API processes and metrics, all on ports that it chose."""
    directory = tmp_path_factory.mktemp("serving")
    (directory / "data").mkdir()
    environ = {
        "KASUWA_DATABASE_URL": deployments.new_database(DATABASE),
        "KASUWA_DATA": str(directory / "data"),
        "KASUWA_METRICS_PORT": "0",
        "KASUWA_WORKERS": "2",
    }
    with serving(directory, environ, [*FREE_PORTS, "--json"]) as running:
        yield running


def get(url: str) -> int:
    with urllib.request.urlopen(url, timeout=60) as reply:
        return int(reply.status)


def check_refused_in_one_line(words: Sequence[str], environ: Mapping[str, str], fault: str) -> None:
    refused = invoke(words, environ)
    assert refused.exit_code == 1
    assert refused.output.startswith(f"kasuwa: {fault}")
    assert refused.output.count("\n") == 1


def run(server: Serving, *words: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    """Runs a command with the data directory of the server."""
    return run_command(words, {"KASUWA_DATA": str(server.directory / "data"), **environ})


# --- the announcement -----------------------------------------------------------------------------------------


def test_the_ready_file_and_standard_output_have_the_same_line(server: Serving) -> None:
    path = server.directory / "ready.json"
    assert path.read_text() == server.stdout
    assert server.stdout.count("\n") == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600, "it holds sign-in links"
    ready = server.ready
    fields = ("url", "console_url", "metrics_url", "environment", "version", "schema", "pid", "data", "demo", "links")
    assert tuple(ready) == fields
    assert (ready["environment"], ready["version"], ready["pid"]) == ("test", kasuwa.__version__, server.process.pid)
    assert ready["schema"] == newest_known_version()
    assert ready["data"] is None, "the database is a given one"
    assert ready["demo"] == {"mid": DEMO_MID, "key": DEMO_KEY}


def test_every_announced_address_answers(server: Serving) -> None:
    ready = server.ready
    assert len({ready["url"], ready["console_url"], ready["metrics_url"]}) == 3
    for url in (f"{ready['url']}/readyz", f"{ready['console_url']}/sign-in", ready["metrics_url"]):
        assert get(url) == 200
    assert sorted(ready["links"]) == ["operator@kasuwa.test", "owner@kasuwa.test"]
    for link in ready["links"].values():
        assert link.startswith(f"{ready['console_url']}/link/")
        assert get(link) == 200


def test_a_chosen_port_is_refused_to_a_second_server(server: Serving, tmp_path: Path) -> None:
    port = server.ready["url"].rpartition(":")[2]
    done = run_command(["serve", "--port", port], {"KASUWA_DATA": str(tmp_path)})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"kasuwa: cannot listen on 127.0.0.1:{port} (Address already in use): ")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_server_on_its_own_database_is_announced_found_and_forgotten(tmp_path: Path) -> None:
    data = tmp_path / "data"
    waiting = subprocess.Popen(
        [sys.executable, "-m", "kasuwa", "status", "--data", str(data), "--wait", str(STOP_SECONDS), "--json"],
        env=clean_environment({}),
        stdout=subprocess.PIPE,
        text=True,
    )
    with serving(tmp_path, {"KASUWA_DATA": str(data)}) as running:
        ready = running.ready
        assert ready["data"] == str(data)
        wait_until("the text is complete", lambda: "Ctrl-C" in running.stdout)
        for words in (
            f"listens on {ready['url']}\n",
            f"curl -X PUT {ready['url']}/disburse",
            f"Documentation: {ready['url']}/docs/\n",
            f"Console: {ready['console_url']}\n",
            f"Data: {data}\n",
            *ready["links"].values(),
        ):
            assert words in running.stdout
        recorded = (data / f"serve.{running.process.pid}.json").read_text()
        assert "link" not in recorded
        assert DEMO_KEY not in recorded
        found = json.loads(waiting.communicate(timeout=STOP_SECONDS)[0])
        assert waiting.returncode == 0
        expected = {name: ready[name] for name in ("url", "console_url", "environment", "version", "schema", "pid")}
        assert found == {**expected, "ready": True, "data": str(data)}
        assert running.stop() == 0
        assert not (tmp_path / "ready.json").exists()
        assert running.stderr == ""
    done = run_command(["status", "--data", str(data)], {})
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"kasuwa: no server runs on {data}\n")


# --- the ready file ---------------------------------------------------------------------------------------------


def test_a_ready_file_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    environ = {"KASUWA_DATA": str(tmp_path / "data")}
    missing, directory = tmp_path / "nowhere" / "ready.json", tmp_path
    for path, reason in ((missing, "cannot be written (No such file or directory)"), (directory, "is a directory")):
        words = ["serve", *FREE_PORTS, "--ready-file", str(path)]
        check_refused_in_one_line(words, environ, f"--ready-file {path} {reason}")
    assert list(tmp_path.iterdir()) == []


# --- status -----------------------------------------------------------------------------------------------------


def test_status_prints_addresses_version_schema_and_environment(server: Serving) -> None:
    done = run(server, "status")
    assert (done.returncode, done.stderr) == (0, "")
    ready = server.ready
    assert dict(line.split(maxsplit=1) for line in done.stdout.splitlines()) == {
        "state": "ready",
        "api": ready["url"],
        "console": ready["console_url"],
        "metrics": ready["metrics_url"],
        "environment": "test",
        "version": kasuwa.__version__,
        "schema": f"migration {newest_known_version()}",
        "data": str(server.directory / "data"),
        "pid": str(server.process.pid),
    }


def test_status_of_an_address_knows_what_the_server_says(server: Serving, tmp_path: Path) -> None:
    done = invoke(["status", "--server", server.ready["url"] + "/", "--json"], {"KASUWA_DATA": str(tmp_path)})
    assert done.exit_code == 0
    assert json.loads(done.output) == {
        "url": server.ready["url"],
        "ready": True,
        "environment": "test",
        "version": kasuwa.__version__,
        "schema": newest_known_version(),
    }


def test_status_says_why_a_server_is_not_ready_and_waits_until_it_is(server: Serving, deployments: Deployments) -> None:
    dsn = deployments.new_database("beside_serving")
    query(dsn, f"alter database {DATABASE} allow_connections false")
    try:
        query(dsn, "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", DATABASE)
        words, environ = ["status"], {"KASUWA_DATA": str(server.directory / "data")}
        done = wait_until("it is not ready", lambda: (found := invoke(words, environ)).exit_code and found)
        assert done.exit_code == 1
        assert done.output.startswith("state        not ready: ")
        assert server.ready["url"] in done.output
    finally:
        query(dsn, f"alter database {DATABASE} allow_connections true")
    assert run(server, "status", "--wait", str(STOP_SECONDS)).returncode == 0


def test_status_of_an_address_without_a_server_is_1() -> None:
    done = invoke(["status", "--server", f"http://127.0.0.1:{free_port()}"], {})
    assert done.exit_code == 1
    assert "not ready: no answer (Connection refused)" in done.output


def test_status_asks_the_address_of_the_settings_if_the_database_is_elsewhere(server: Serving, tmp_path: Path) -> None:
    environ = {"KASUWA_DATABASE_URL": "postgresql://127.0.0.1:9/none", "KASUWA_DATA": str(tmp_path / "none")}
    port = server.ready["url"].rpartition(":")[2]
    assert invoke(["status"], {**environ, "KASUWA_PORT": port}).exit_code == 0
    assert invoke(["status"], {**environ, "KASUWA_PORT": str(free_port())}).exit_code == 1
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("--server", "127.0.0.1:8080"), "127.0.0.1:8080 is not an address"),
        (("--server", "http://127.0.0.1:8080", "--data", "."), "--server and --data cannot both be given"),
    ],
)
def test_a_wrong_option_of_status_is_named_in_one_line(words: tuple[str, ...], fault: str) -> None:
    check_refused_in_one_line(["status", *words], {}, fault)


# --- other commands beside a server -----------------------------------------------------------------------------


def test_a_link_has_the_address_of_the_console_that_runs(server: Serving, deployments: Deployments) -> None:
    url = deployments.cluster(NEWEST).dsn_for(DATABASE)
    done = run(server, "user", "add", "ada@kasuwa.test", "--role", "operator:admin", KASUWA_DATABASE_URL=url)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{server.ready['console_url']}/link/")
    assert get(done.stdout.strip()) == 200


def test_a_link_without_a_running_console_says_so(server: Serving, deployments: Deployments, tmp_path: Path) -> None:
    secret = (server.directory / "data" / "secret.key").read_text()
    environ = {
        "KASUWA_DATABASE_URL": deployments.cluster(NEWEST).dsn_for(DATABASE),
        "KASUWA_SECRET_KEY": secret,
        "KASUWA_DATA": str(tmp_path),
        "KASUWA_CONSOLE_PORT": "9999",
    }
    words = ["user", "add", "obi@kasuwa.test", "--role", "operator:admin"]
    done = run_command(words, environ)
    assert done.returncode == 0
    assert done.stdout.startswith("http://127.0.0.1:9999/link/")
    assert done.stderr == f"kasuwa: no console runs on {tmp_path} now: the link works when one does\n"
    behind_proxy = run_command(
        [*words[:2], "eze@kasuwa.test", *words[3:]], {**environ, "KASUWA_CONSOLE_URL": "https://c.example"}
    )
    assert (behind_proxy.returncode, behind_proxy.stderr) == (0, "")
    assert behind_proxy.stdout.startswith("https://c.example/link/")


def test_merchants_are_listed_as_text_and_as_json(server: Serving, deployments: Deployments) -> None:
    url = deployments.cluster(NEWEST).dsn_for(DATABASE)
    assert run(server, "merchant", "add", "Ada  Stores", KASUWA_DATABASE_URL=url).returncode == 0
    query(url, """update merchant set settings = settings || '{"suspended": true}' where name = 'Ada  Stores'""")
    lines = run(server, "merchant", "list", KASUWA_DATABASE_URL=url).stdout.splitlines()
    assert lines[0].startswith(f"{DEMO_MID}  active     20")
    assert lines[0].endswith("Z  test  Demo merchant")
    assert lines[1].split()[:2] == ["GP0000002", "suspended"]
    assert lines[1].endswith("  test  Ada  Stores")
    listed = [
        json.loads(line)
        for line in run(server, "merchant", "list", "--json", KASUWA_DATABASE_URL=url).stdout.splitlines()
    ]
    assert [list(one) for one in listed] == [["mid", "name", "status", "created", "environment"]] * 2
    assert [(one["mid"], one["name"], one["status"], one["environment"]) for one in listed] == [
        (DEMO_MID, "Demo merchant", "active", "test"),
        ("GP0000002", "Ada  Stores", "suspended", "test"),
    ]


def test_a_dry_run_names_the_migrations_and_changes_nothing(deployments: Deployments, tmp_path: Path) -> None:
    environ = {"KASUWA_DATABASE_URL": deployments.new_database("dry_run"), "KASUWA_DATA": str(tmp_path / "data")}
    done = run_command(["migrate", "--dry-run"], environ)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert (lines[0], len(lines)) == ("would apply 0001_baseline.sql", newest_known_version())
    tables = "select count(*) from information_schema.tables where table_schema = 'public'"
    assert query(environ["KASUWA_DATABASE_URL"], tables)[0][0] == 0
    assert not (tmp_path / "data").exists()


def test_a_dry_run_has_nothing_to_do_or_is_refused_as_migrate_would_be(
    server: Serving, deployments: Deployments
) -> None:
    url = deployments.cluster(NEWEST).dsn_for(DATABASE)
    done = run(server, "migrate", "--dry-run", KASUWA_DATABASE_URL=url)
    assert (done.returncode, done.stdout) == (0, "nothing to do: the schema is up to date\n")
    live = run(server, "migrate", "--dry-run", KASUWA_DATABASE_URL=url, KASUWA_ENVIRONMENT="live")
    assert (live.returncode, live.stdout) == (1, "")
    assert live.stderr == "kasuwa: this database belongs to the test environment, not live\n"
