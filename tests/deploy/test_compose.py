"""deploy/compose.yaml: who starts after whom, what each container may do, and where its secrets come from."""

import os
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from kasuwa.settings.secret_key import decode_key
from tests.deploy.deployment_files import COMPOSE, DEPLOY, read_compose
from tests.deploy.dockerfile import read_stages
from tests.packages import find_openssl

FILE = read_compose()
SERVICES: dict[str, dict[str, Any]] = FILE["services"]
OURS = ("migrate", "kasuwa")
# The addresses of the three logins, and their passwords.
URLS = {"database_owner_url": "owner", "database_url": "service", "database_reader_url": "reader"}
KEYS = ("secret_key", "close_key")
PASSWORDS = ("owner_password", "service_password", "reader_password")
# The user of the image of PostgreSQL.
POSTGRES_USER_ID = 999


def test_the_database_is_ready_and_migrated_before_the_service_starts() -> None:
    assert SERVICES["migrate"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert SERVICES["kasuwa"]["depends_on"] == {
        "database": {"condition": "service_healthy"},
        "migrate": {"condition": "service_completed_successfully"},
    }
    assert (SERVICES["migrate"]["command"], SERVICES["migrate"]["restart"]) == (["migrate"], "no")


@pytest.mark.parametrize("name", OURS)
def test_our_containers_are_read_only_and_without_rights(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "user" not in service  # that of the image
    assert "privileged" not in service


def test_the_volume_of_the_service_is_that_of_the_image() -> None:
    (volume,) = read_stages()[-1].only("VOLUME").arguments
    assert SERVICES["kasuwa"]["volumes"] == [f"state:{volume}"]
    assert set(FILE["volumes"]) == {"state", "database"}


def test_every_service_that_runs_has_a_health_check() -> None:
    check = read_stages()[-1].only("HEALTHCHECK")
    assert SERVICES["kasuwa"]["healthcheck"]["test"] == ["CMD", *check.arguments]
    assert SERVICES["database"]["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]
    assert SERVICES["migrate"]["healthcheck"] == {"disable": True}


def test_every_secret_is_a_file_that_the_service_names() -> None:
    assert {name: secret["file"] for name, secret in FILE["secrets"].items()} == {
        name: f"./secrets/{name}" for name in (*KEYS, "database_password", *URLS, *PASSWORDS)
    }
    for name, service in SERVICES.items():
        named = {
            value.removeprefix("/run/secrets/")
            for setting, value in service["environment"].items()
            if setting.endswith("_FILE")
        }
        # Passwords of the logins are read by the script that creates them.
        assert set(service["secrets"]) == named | (set(PASSWORDS) if name == "database" else set())
    assert "PASSWORD:" not in COMPOSE.read_text()


def test_the_database_is_not_reached_from_outside() -> None:
    assert SERVICES["database"]["networks"] == ["inside"]
    assert FILE["networks"]["inside"] == {"internal": True}
    assert "ports" not in SERVICES["database"]
    assert SERVICES["database"]["image"] == "postgres:18"
    # The directory that the image of PostgreSQL 18 declares as its volume.
    assert SERVICES["database"]["volumes"] == [
        "database:/var/lib/postgresql",
        "./create-logins.sh:/docker-entrypoint-initdb.d/create-logins.sh:ro",
    ]
    # The image runs a script that can be executed, and reads another into its own shell.
    assert (DEPLOY / "create-logins.sh").stat().st_mode & 0o111 == 0o111


def test_only_migrate_has_the_login_of_the_owner() -> None:
    having = {name for name, service in SERVICES.items() if "database_owner_url" in service["secrets"]}
    assert having == {"migrate"}
    assert "database_password" not in SERVICES["kasuwa"]["secrets"]


# --- make-secrets.sh ----------------------------------------------------------------------------------------------


def make_secrets(directory: Path) -> "subprocess.CompletedProcess[str]":
    find_openssl()
    return subprocess.run(["sh", DEPLOY / "make-secrets.sh", directory], capture_output=True, text=True)


def test_the_secrets_are_made_once_and_agree_with_each_other(tmp_path: Path) -> None:
    directory = tmp_path / "secrets"
    made = make_secrets(directory)
    assert (made.returncode, made.stderr) == (0, "")
    texts = {path.name: path.read_text().strip() for path in directory.iterdir()}
    assert set(texts) == set(FILE["secrets"])
    for key in KEYS:
        assert len(decode_key(texts[key], key)) == 32
    assert len(set(texts.values())) == len(texts)
    assert not any(text in made.stdout for text in texts.values())
    script = (DEPLOY / "create-logins.sh").read_text()
    for name, login in URLS.items():
        address = urlsplit(texts[name])
        assert address.password == texts[f"{login}_password"]
        # The name of the service in the compose file, the login that the script creates, and the image's database.
        assert (address.hostname, address.username) == ("database", f"kasuwa_{login}")
        assert address.path == f"/{SERVICES['database']['environment']['POSTGRES_DB']}"
        assert f"alter role kasuwa_{login} password :'{login}'" in script
    again = make_secrets(directory)
    assert (again.returncode, again.stdout) == (1, "")
    assert {path.name: path.read_text().strip() for path in directory.iterdir()} == texts


def test_the_secrets_are_readable_by_their_user_alone(tmp_path: Path) -> None:
    directory = tmp_path / "secrets"
    made = make_secrets(directory)
    assert {path.stat().st_mode & 0o777 for path in directory.iterdir()} == {0o400}
    user = int(read_stages()[-1].only("USER").arguments[0].partition(":")[0])
    owners = {path.name: path.stat().st_uid for path in directory.iterdir()}
    if os.geteuid() == 0:
        expected = {"database_password": 0, **dict.fromkeys((*KEYS, *URLS), user)}
        assert owners == {**expected, **dict.fromkeys(PASSWORDS, POSTGRES_USER_ID)}
    else:
        assert (
            f"sudo chown {user}:{user} {directory}/secret_key {directory}/close_key {directory}/database_url"
            in made.stdout
        )
