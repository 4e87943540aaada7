"""The service tells systemd when it is ready and when it stops, over a real notification socket."""

import base64
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kasuwa.boot.systemd_notify import VARIABLE, notify_systemd
from tests.running import Deployments, running_deployment

ARRIVES_SECONDS = 120.0


@contextmanager
def listening(address: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind("\0" + address[1:] if address.startswith("@") else address)
        listener.settimeout(ARRIVES_SECONDS)
        yield listener


@pytest.mark.parametrize("is_abstract", [True, False])
def test_a_state_arrives_at_the_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_abstract: bool) -> None:
    address = f"@{tmp_path}" if is_abstract else str(tmp_path / "notify")
    monkeypatch.setenv(VARIABLE, address)
    with listening(address) as listener:
        assert notify_systemd("READY=1") is True
        assert listener.recv(100) == b"READY=1"


@pytest.mark.parametrize("address", ["", "/nowhere/to/be/found", "@" + "x" * 300])
def test_without_a_usable_socket_the_service_goes_on(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv(VARIABLE, address)
    assert notify_systemd("READY=1") is False


def test_serve_takes_secrets_from_files_and_reports_its_states(tmp_path: Path, deployments: Deployments) -> None:
    """Starts the service as the unit does: credentials are files, and systemd waits for READY=1."""
    address = str(tmp_path / "notify")
    dsn = deployments.new_database("started_by_systemd")
    (tmp_path / "database_url").write_text(f"{dsn}\n")
    (tmp_path / "secret_key").write_text(base64.b64encode(bytes(range(32))).decode())
    environ = {
        "NOTIFY_SOCKET": address,
        "KASUWA_DATABASE_URL": "",
        "KASUWA_DATABASE_URL_FILE": str(tmp_path / "database_url"),
        "KASUWA_SECRET_KEY_FILE": str(tmp_path / "secret_key"),
    }
    with listening(address) as listener:
        with running_deployment(tmp_path / "data", dsn, **environ) as deployment:
            assert listener.recv(100) == b"READY=1"
            assert deployment.is_ready()
            shop = deployment.open_shop()
            with shop.connection:
                assert shop.transfer(amount="10.00")["status"] == 200
            assert deployment.run_command("audit") == "the books are right\n"
            assert not (tmp_path / "data" / "secret.key").exists()
        assert listener.recv(100) == b"STOPPING=1"
