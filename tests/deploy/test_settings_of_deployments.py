"""The deployment files agree with the service: names of settings, secrets from files, ports, versions and timeouts."""

import re
from pathlib import Path
from typing import Any

import pytest

import kasuwa
from kasuwa.api import server
from kasuwa.boot import app, supervise
from kasuwa.postgres import logins
from kasuwa.postgres.embedded import embedded
from kasuwa.settings.settings import SECRET_SETTINGS, Settings, read_settings
from kasuwa.settings.values import FILE_SUFFIX, PREFIX
from tests.deploy.deployment_files import (
    DEPLOY,
    Setup,
    chart_setups,
    compose_setups,
    every_setup,
    image_environment,
    pod_of,
    read_compose,
    seconds,
    unit_lines,
)
from tests.deploy.dockerfile import DOCKERFILE, read_stages
from tests.deploy.helm_templates import CHART, chart_values, read_yaml, render_chart
from tests.source_rules import REPOSITORY

KNOWN = {PREFIX + name.upper() for name in Settings.__struct_fields__}
SECRET_NAMES = {PREFIX + name.upper() for name in SECRET_SETTINGS}
SECRET_FILES = {name + FILE_SUFFIX for name in SECRET_NAMES}
# What one process opens at most.
MOST_CONNECTIONS = 34
# A value of a form that the setting takes.
SECRET_VALUES = {"KASUWA_PAYSTACK_SECRET_KEY_FILE": "sk_live_1"}
SETUPS = every_setup()
ALL_FILES = sorted(path for path in (*DEPLOY.rglob("*"), REPOSITORY / "docs" / "deployment.md") if path.is_file())
# `${NAME:-value}` and `${NAME:?text}` of compose, and `%d` of systemd.
DEFAULTED = re.compile(r"\$\{\w+:-([^}]*)\}")
REQUIRED = re.compile(r"\$\{(\w+):\?[^}]*\}")


@pytest.mark.parametrize("path", ALL_FILES, ids=lambda path: path.name)
def test_every_setting_that_a_file_names_exists(path: Path) -> None:
    named = set(re.findall(r"\bKASUWA_[A-Z][A-Z_]*[A-Z]\b", path.read_text()))
    assert named <= KNOWN | SECRET_FILES


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.name)
def test_every_secret_comes_from_a_file(setup: Setup) -> None:
    assert set(setup.environment) & SECRET_NAMES == set()
    assert {"KASUWA_SECRET_KEY_FILE", "KASUWA_DATABASE_URL_FILE"} <= set(setup.environment)


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.name)
def test_the_service_accepts_the_settings(setup: Setup, tmp_path: Path) -> None:
    """The values of a file are read as the service reads them, with secrets in real files."""
    environ = {}
    for name, value in setup.environment.items():
        environ[name] = REQUIRED.sub("live", DEFAULTED.sub(r"\1", str(value)))
        if name in SECRET_FILES:
            secret = tmp_path / name
            secret.write_text(SECRET_VALUES.get(name, "smtp://me:secret@mail.example:587\n"))
            environ[name] = str(secret)
    found = read_settings(environ)
    assert (found.environment, found.data) == ("live", Path("/var/lib/kasuwa"))


def test_live_or_test_is_chosen_by_the_person_who_starts_compose() -> None:
    for name in ("migrate", "kasuwa"):
        assert REQUIRED.fullmatch(read_compose()["services"][name]["environment"]["KASUWA_ENVIRONMENT"])


# --- stopping -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.name)
def test_a_service_manager_waits_until_the_service_has_stopped(setup: Setup) -> None:
    if setup.name == "chart Job":
        # A migration that is killed is rolled back by the database, and the next one begins again.
        assert setup.grace_seconds > 0
        return
    stopping = supervise.LONGEST_STOP_SECONDS + (embedded.LONGEST_STOP_SECONDS if setup.is_embedded else 0)
    assert setup.grace_seconds >= stopping + 5


def test_the_supervisor_waits_until_requests_are_answered() -> None:
    assert supervise.STOP_SECONDS > server.DRAIN_SECONDS
    parts = {supervise.process_kind(name) for name in supervise.process_names(Settings(metrics_port=9090, workers=3))}
    assert set(supervise.STOP_ORDER) == parts


@pytest.mark.parametrize("wait", [0, 10, 300])
def test_the_grace_period_of_a_pod_includes_the_wait_before_the_signal(wait: int) -> None:
    (deployment,) = [
        m for m in render_chart({"existingSecret": "x", "preStopSeconds": wait}) if m["kind"] == "Deployment"
    ]
    (container,) = pod_of(deployment)["containers"]
    assert container["lifecycle"]["preStop"]["exec"]["command"] == ["sleep", str(wait)]
    assert pod_of(deployment)["terminationGracePeriodSeconds"] >= wait + supervise.LONGEST_STOP_SECONDS + 5


def test_the_database_of_compose_stops_after_the_service_and_in_time() -> None:
    services = read_compose()["services"]
    assert "database" in services["kasuwa"]["depends_on"]
    assert seconds(services["database"]["stop_grace_period"]) >= embedded.STOP_SECONDS


def test_operating_tells_the_same_numbers() -> None:
    text = " ".join((REPOSITORY / "docs" / "operating.md").read_text().split())
    alone = int(supervise.LONGEST_STOP_SECONDS)
    both = alone + embedded.LONGEST_STOP_SECONDS
    assert f"at least {alone} s before it kills, and {both} s with the embedded database" in text


# --- starting -----------------------------------------------------------------------------------------------------


def longest_wait_for_a_lock() -> float:
    assert logins.LOCK_TIMEOUT == "500ms"
    return logins.MAX_TRIES * (0.5 + logins.PAUSE_SECONDS)


def test_a_start_may_wait_for_the_locks_of_a_migration() -> None:
    assert seconds(unit_lines("Service", "TimeoutStartSec")[0]) > longest_wait_for_a_lock() + supervise.READY_SECONDS
    assert chart_values({})["migration"]["deadlineSeconds"] > longest_wait_for_a_lock()
    smallest: Any = read_yaml(CHART / "values.schema.json")["properties"]["migration"]["properties"]["deadlineSeconds"]
    assert smallest["minimum"] > longest_wait_for_a_lock()


def test_the_database_of_compose_has_connections_for_all_processes() -> None:
    (given,) = [word for word in read_compose()["services"]["database"]["command"] if "max_connections" in word]
    parts = supervise.process_names(Settings(metrics_port=9090, workers=1))  # as the file sets it
    # Twice, because the version before may still be there.
    assert int(given.partition("=")[2]) >= 2 * MOST_CONNECTIONS * len(parts)


# --- numbers that appear in several files -------------------------------------------------------------------------


def test_the_image_listens_where_its_ports_are_published() -> None:
    defaults = read_settings({name: value for name, value in image_environment().items() if name in KNOWN})
    image = read_stages()[-1]
    assert [int(port) for port in image.only("EXPOSE").arguments] == [defaults.port, defaults.console_port]
    published = [port.split(":") for port in read_compose()["services"]["kasuwa"]["ports"]]
    assert [(host, int(inside)) for host, _, inside in published] == [
        ("127.0.0.1", defaults.port),
        ("127.0.0.1", defaults.console_port),
    ]
    # Without an address it asks the port of the settings, in the image as where KASUWA_PORT says otherwise.
    assert image.only("HEALTHCHECK").arguments == ("kasuwa", "status")


def test_all_files_are_of_the_version_of_the_package() -> None:
    version = kasuwa.__version__
    chart = read_yaml(CHART / "Chart.yaml")
    assert (chart["version"], chart["appVersion"]) == (version, version)
    for path in (DOCKERFILE, DEPLOY / "compose.yaml", REPOSITORY / "docs" / "deployment.md"):
        assert set(re.findall(r"kasuwa:(\d[\w.]*)", path.read_text())) == {version}, path


def test_the_user_of_the_image_is_the_same_everywhere() -> None:
    user, group = read_stages()[-1].only("USER").arguments[0].split(":")
    install = (DEPLOY / "install.sh").read_text()
    assert f"groupadd --gid {group} " in install
    assert f"useradd --no-create-home --uid {user} --gid {group} " in install
    assert f"\nuser={user}\n" in (DEPLOY / "make-secrets.sh").read_text()
    for manifest in render_chart({"existingSecret": "x"}):
        if manifest["kind"] in ("Deployment", "Job"):
            context = pod_of(manifest)["securityContext"]
            assert (context["runAsUser"], context["runAsGroup"], context["fsGroup"]) == (
                int(user),
                int(group),
                int(group),
            )


def test_migrations_get_the_settings_of_the_service() -> None:
    """The job opens the same database with the same key, in the same environment. It alone has the owner's login."""
    names = ("KASUWA_ENVIRONMENT", "KASUWA_SECRET_KEY_FILE", "KASUWA_DATABASE_URL_FILE")
    for setups in (compose_setups(), chart_setups()):
        assert len(setups) == 2
        first, second = ([setup.environment[name] for name in names] for setup in setups)
        assert first == second
        having = [setup.name for setup in setups if "KASUWA_DATABASE_OWNER_URL_FILE" in setup.environment]
        assert having in (["compose migrate"], ["chart Job"])


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.name)
def test_every_way_of_deployment_has_a_login_that_only_reads(setup: Setup) -> None:
    assert "KASUWA_DATABASE_READER_URL_FILE" in setup.environment


@pytest.mark.parametrize("recipe", sorted((DEPLOY / "nginx").glob("*.conf")), ids=lambda recipe: recipe.name)
def test_nginx_gives_idle_connections_up_before_the_service_closes_them(recipe: Path) -> None:
    upstreams = re.findall(r"upstream [^{]+\{([^}]*)\}", recipe.read_text())
    kept = [text for text in upstreams if re.search(r"^\s*keepalive \d+;", text, re.MULTILINE)]
    assert kept
    for text in kept:
        [idle] = re.findall(r"^\s*keepalive_timeout (\d+)s;", text, re.MULTILINE)
        assert int(idle) * 1000 < app.HEADER_MILLISECONDS
