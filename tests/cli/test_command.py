"""The command from outside: what it refuses it refuses in one line, and what it says is so.

Real processes and a real PostgreSQL. One server is shared by the tests of this file, a database each.
"""

import base64
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from kasuwa.postgres.embedded import embedded
from tests.command_processes import COMMAND_SECONDS
from tests.packages import find_curl
from tests.running import free_port
from tests.simulate.load import Client, Merchant
from tests.simulate.processes import (
    Service,
    clean_environment,
    query,
    run_command,
    running_database,
    running_service,
    wait_until,
)

SECRET = base64.b64encode(b"k" * 32).decode()
OTHER_SECRET = base64.b64encode(b"o" * 32).decode()
Done = subprocess.CompletedProcess[str]
UNREACHABLE = (
    "postgresql://kasuwa@127.0.0.1:9/kasuwa",
    "postgresql:///kasuwa?host=/nowhere",
    "postgresql://kasuwa@127.0.0.1:port/kasuwa",
    "mysql://kasuwa@127.0.0.1/kasuwa",
    "nonsense",
)


@contextmanager
def prepared(directory: Path) -> Iterator[embedded.Cluster]:
    """A server with one database to copy from, which has its schema and its demo merchant."""
    with running_database(directory) as running:
        query(running.dsn, "create database ready")
        check_done(run("migrate", running.dsn_for("ready")), "applied 0001_baseline.sql")
        yield running


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[embedded.Cluster]:
    with prepared(tmp_path_factory.mktemp("command") / "pg") as running:
        yield running


def new_database(cluster: embedded.Cluster, how: str = "") -> str:
    """Its address. It is empty, unless told otherwise."""
    name = f"d{uuid4().hex}"
    query(cluster.dsn, f"create database {name} {how}")
    return cluster.dsn_for(name)


@pytest.fixture
def url(cluster: embedded.Cluster) -> str:
    return new_database(cluster)


@pytest.fixture
def ready(cluster: embedded.Cluster) -> str:
    return new_database(cluster, "template ready")


@pytest.fixture
def service(tmp_path: Path, url: str) -> Iterator[Service]:
    with running_service(tmp_path / "data", {"KASUWA_DATABASE_URL": url, "KASUWA_SECRET_KEY": SECRET}) as running:
        yield running


def run(words: str, url: str, **environ: str) -> Done:
    given = {"KASUWA_DATABASE_URL": url, "KASUWA_SECRET_KEY": SECRET, "KASUWA_DATA": "/nonexistent"}
    return run_command(shlex.split(words), {**given, "KASUWA_CONSOLE": "off", **environ})


def check_done(done: Done, *expected: str) -> None:
    assert (done.returncode, done.stderr) == (0, "")
    for words in expected:
        assert words in done.stdout


def check_refused(done: Done, *expected: str) -> None:
    """One clear line on standard error, exit code 1, no stack, and nothing else."""
    assert done.returncode == 1, done
    assert done.stdout == ""
    assert done.stderr.startswith("kasuwa: ")
    assert done.stderr.count("\n") == 1, done.stderr
    for words in expected:
        assert words in done.stderr


# --- serve refuses ------------------------------------------------------------------------------------------


def test_serve_refuses_a_port_that_is_taken(ready: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        check_refused(run(f"serve --port {port}", ready), port, "--port")


@pytest.mark.parametrize("address", UNREACHABLE)
def test_an_unreachable_database_is_reported_in_one_line(address: str) -> None:
    check_refused(run("serve", address, KASUWA_PORT=str(free_port())), "database")
    check_refused(run("audit", address), "database")


@pytest.mark.parametrize("words", ["serve", "migrate"])
def test_a_database_of_a_newer_version_is_refused(ready: str, words: str) -> None:
    query(ready, "insert into migration (version, name) values (9999, 'later')")
    check_refused(run(words, ready, KASUWA_PORT=str(free_port())), "9999", "newer")


@pytest.mark.parametrize("secret", ["", "short", "not base64!", base64.b64encode(b"x" * 31).decode()])
def test_live_refuses_to_start_without_a_valid_secret(url: str, secret: str) -> None:
    environ = {"KASUWA_ENVIRONMENT": "live", "KASUWA_SECRET_KEY": secret, "KASUWA_PORT": str(free_port())}
    check_refused(run("serve", url, **environ), "KASUWA_SECRET_KEY")


@pytest.mark.parametrize("kept", ["test", "live"])
def test_a_database_of_the_other_environment_is_refused(url: str, kept: str) -> None:
    check_done(run("migrate", url, KASUWA_ENVIRONMENT=kept))
    other = {"test": "live", "live": "test"}[kept]
    refused = run("serve", url, KASUWA_ENVIRONMENT=other, KASUWA_PORT=str(free_port()))
    check_refused(refused, f"belongs to the {kept} environment")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KASUWA_PORT", "http"),
        ("KASUWA_PORT", "65536"),
        ("KASUWA_WORKERS", "0"),
        ("KASUWA_ENVIRONMENT", "production"),
        ("KASUWA_REQUEST_LOG", "file"),
        ("KASUWA_SECRET_KEY", OTHER_SECRET),
    ],
)
def test_an_invalid_setting_is_named(ready: str, name: str, value: str) -> None:
    check_refused(run("serve", ready, **{"KASUWA_PORT": str(free_port()), name: value}), name)


def test_an_invalid_data_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    environ = {"KASUWA_DATA": str(tmp_path / "data"), "KASUWA_PORT": str(free_port())}
    check_refused(run_command(["serve"], environ), str(tmp_path / "data"))


# --- serve serves -----------------------------------------------------------------------------------------------


def test_the_printed_curl_command_works_in_a_shell(service: Service) -> None:
    find_curl()
    output = service.out.read_text()
    # An empty line is printed after the command, before the address of the documentation.
    curl, _, after = output[output.index("curl") :].partition("\n\n")
    assert after.startswith("Documentation: ")
    done = subprocess.run(["/bin/sh", "-c", curl], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert '"txnStatus":"successful"' in done.stdout


def test_options_take_precedence_over_the_environment(tmp_path: Path, url: str) -> None:
    """Every other test gives port, data and workers by the environment alone."""
    given = {"KASUWA_DATABASE_URL": url, "KASUWA_HOST": "127.0.0.2", "KASUWA_REQUEST_LOG": "stdout"}
    chosen = free_port()
    service = Service(tmp_path / "data", given, options=("--host", "127.0.0.1", "--port", str(chosen)))
    service.port = chosen
    try:
        service.start()
        assert f"http://127.0.0.1:{service.port}" in service.out.read_text()
        with Client(service.port) as client:
            client.transfer(orderRef="logged")
        wait_until("the request is logged", lambda: '"action":"transfer"' in service.out.read_text())
        assert "123456789" not in service.out.read_text().rpartition("Ctrl-C")[2]
    finally:
        service.clean_up()


def test_live_has_no_sandbox_and_no_demo_merchant(tmp_path: Path, url: str) -> None:
    live = {"KASUWA_DATABASE_URL": url, "KASUWA_ENVIRONMENT": "live", "KASUWA_SECRET_KEY": SECRET}
    with running_service(tmp_path / "data", live) as service:
        assert "demo" not in service.out.read_text().lower()
        made = run("merchant add 'Ada Stores'", url, KASUWA_ENVIRONMENT="live")
        with Client(service.port) as demo, Client(service.port, read_merchant(made)) as client:
            refused = demo.put("/resources", {"inquire": "wallet"})
            assert (refused.http, refused.body["status"]) == (401, 101)
            missing = client.put("/sandbox", {"action": "new_merchant"})
            assert (missing.http, missing.body["status"]) == (404, 102)
            short = client.transfer(orderRef="short", accountnumber="0040000008")
            assert (short.http, short.body["status"]) == (200, 104), "a sample account exists in test alone"
            assert client.wallet()["balance"] == "0.00"


# --- migrate ------------------------------------------------------------------------------------------------------


def test_migrate_applies_migrations_once(url: str) -> None:
    check_done(run("migrate", url), "applied 0001_baseline.sql")
    check_done(run("migrate", url), "nothing to do")


def start(words: str, **environ: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "kasuwa", *words.split()],
        env=clean_environment(environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("where", ["given", "embedded"])
def test_concurrent_migrations_are_applied_once(tmp_path: Path, url: str, where: str) -> None:
    """Runs four at once, on a given database and on a data directory without a running server."""
    environ = {"KASUWA_DATA": str(tmp_path / "data")}
    if where == "given":
        environ |= {"KASUWA_DATABASE_URL": url, "KASUWA_SECRET_KEY": SECRET}
    racing = [start("migrate", **environ) for _ in range(4)]
    output = [process.communicate(timeout=COMMAND_SECONDS) for process in racing]
    assert [(process.returncode, err) for process, (_, err) in zip(racing, output, strict=True)] == [(0, "")] * 4
    assert sum("applied 0001_baseline.sql" in out for out, _ in output) == 1


# --- bills ----------------------------------------------------------------------------------------------------------


def test_bills_refresh_loads_a_new_edition(ready: str) -> None:
    check_done(run("bills refresh", ready), "edition 2 of the catalogue is listed")
    check_done(run("bills refresh", ready), "edition 3 of the catalogue is listed")
    assert query(ready, "select count(*) from bill_item where retired_at is null")[0][0] == 218


def test_bills_refresh_without_a_biller_rail_is_refused(url: str) -> None:
    check_done(run("migrate", url, KASUWA_ENVIRONMENT="live"))
    check_refused(run("bills refresh", url, KASUWA_ENVIRONMENT="live"), "no rail for bills is configured")


# --- merchants ------------------------------------------------------------------------------------------------------


def read_merchant(made: Done) -> Merchant:
    check_done(made, "mid GP", "key ", "secret ")
    mid, key, _ = (line.split()[1] for line in made.stdout.splitlines())
    return Merchant(mid, key)


def status(service: Service, merchant: Merchant) -> int:
    with Client(service.port, merchant) as client:
        return client.put("/resources", {"inquire": "wallet"}).http


def test_merchants_are_added_and_their_keys_rolled_while_it_serves(service: Service) -> None:
    merchant = read_merchant(run("merchant add 'Ada Stores'", service.dsn))
    assert status(service, merchant) == 200
    rolled = run(f"merchant roll-key {merchant.mid} --overlap-hours 1", service.dsn)
    check_done(rolled, "key ")
    second = Merchant(merchant.mid, rolled.stdout.split()[1])
    wait_until("the new key works", lambda: status(service, second) == 200)
    assert status(service, merchant) == 200, "the old one works until the overlap ends"
    check_done(run(f"merchant roll-key {merchant.mid} --overlap-hours 0", service.dsn))
    wait_until("the old keys are off", lambda: (status(service, merchant), status(service, second)) == (401, 401))


def test_a_merchants_settings_change_while_it_serves(service: Service) -> None:
    merchant = read_merchant(run("merchant add 'Ada Stores'", service.dsn))
    changed = run(f"merchant set {merchant.mid} --http-codes strict --rate 1,10", service.dsn)
    check_done(changed, '"http_codes":"strict"', '"rate":[1,10]')
    with Client(service.port, merchant) as client:
        wait_until("codes are strict", lambda: client.transfer(amount="0").http == 422)
        replies = [client.transfer(amount="0") for _ in range(20)]
    limited = [reply for reply in replies if reply.http == 429]
    assert limited
    assert all(reply.body["status"] == 204 and int(reply.headers["retry-after"]) >= 1 for reply in limited)


@pytest.mark.parametrize(
    "words",
    [
        "set GP0000001 --http-codes loose",
        "set GP0000001 --rate fast",
        "set GP0000001 --rate 0,0",
        "set GP0000001 --rate -1,5",
        'set GP0000001 --limits \'{"NGN": ["x", "5.00"]}\'',
        'set GP0000001 --limits \'{"NGN": ["5.00", "1.00"]}\'',
        "set GP0000001 --limits '[]'",
        "set GP0000001 --tariff '{'",
        'set GP0000001 --tariff \'{"transfer": {"bands": []}}\'',
        'set GP0000001 --tariff \'{"vat_percent_on_fees": "much"}\'',
        "set GP0000001 --lending '[]'",
        'set GP0000001 --lending \'{"method": "balloon"}\'',
        "set GP0000001 --lending '{\"tolerance_days\": -1}'",
        'set GP0000001 --lending \'{"penalty_rate": "much"}\'',
        "set GP0000001 --webhook-url ftp://example.com/hook",
        "set GP0000001 --webhook-url http://169.254.169.254/latest",
        "set GP9999999 --http-codes strict",
        "roll-key GP9999999",
        "roll-key GP0000001 --overlap-hours 169",
        "roll-key GP0000001 --overlap-hours -1",
        "roll-key GP0000001 --overlap-hours nan",
        "roll-key GP0000001 --overlap-hours 1e300",
        "add ''",
    ],
)
def test_a_bad_value_is_refused_in_one_line_and_changes_nothing(ready: str, words: str) -> None:
    kept = "select m.*, (select count(*) from merchant_key) as keys from merchant m"
    before = query(ready, kept)
    check_refused(run(f"merchant {words}", ready))
    assert query(ready, kept) == before
