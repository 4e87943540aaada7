"""deploy/kasuwa.service: accepted by systemd's own checker, and closed against what the service does not need."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.deployment_files import UNIT, unit_lines
from tests.packages import need_package

ANALYZE = Path("/usr/bin/systemd-analyze")
# systemd-analyze rates from 0 (closed) to 10 (open), here in tenths. The unit has 1.2: it needs the network.
MOST_EXPOSED = 15


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """A copy of the unit that starts a program which is installed here, for the checker looks for it."""
    need_package("systemd", ANALYZE)
    text = UNIT.read_text()
    assert text.count("/opt/kasuwa/bin/kasuwa") == 1
    copy = tmp_path / UNIT.name
    copy.write_text(text.replace("/opt/kasuwa/bin/kasuwa", sys.executable))
    return copy


def analyze(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([ANALYZE, *words], capture_output=True, text=True)


def test_systemd_accepts_the_unit_without_a_warning(unit: Path) -> None:
    done = analyze("verify", "--man=no", "--recursive-errors=no", unit)
    assert (done.returncode, done.stderr) == (0, "")


def test_systemd_would_report_a_line_that_it_does_not_know(unit: Path) -> None:
    unit.write_text(unit.read_text().replace("[Service]\n", "[Service]\nProtectSystems=strict\n"))
    assert "ProtectSystems" in analyze("verify", "--man=no", "--recursive-errors=no", unit).stderr


def test_the_unit_is_closed_against_what_it_does_not_need(unit: Path) -> None:
    done = analyze("security", "--offline=yes", f"--threshold={MOST_EXPOSED}", "--no-pager", unit)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overall exposure level" in done.stdout


def test_the_threshold_is_one_that_an_open_unit_exceeds(unit: Path) -> None:
    unit.write_text(unit.read_text().replace("SystemCallFilter=", "# ").replace("ProtectSystem=strict", ""))
    assert analyze("security", "--offline=yes", f"--threshold={MOST_EXPOSED}", "--no-pager", unit).returncode != 0


def test_the_supervisor_gets_the_signal_alone_and_reports_its_state() -> None:
    """Another KillMode would stop the database and the worker at the same time as the API."""
    assert unit_lines("Service", "KillMode") == ["mixed"]
    assert unit_lines("Service", "Type") == ["notify"]
    assert unit_lines("Service", "Restart") == ["on-failure"]


def test_every_credential_is_a_file_of_root_that_a_setting_names() -> None:
    credentials = dict(line.split(":") for line in unit_lines("Service", "LoadCredential"))
    assert credentials == {
        name: f"/etc/kasuwa/{name}" for name in ("secret_key", "close_key", "database_url", "database_reader_url")
    }
    environment = dict(line.split("=", 1) for line in unit_lines("Service", "Environment"))
    named = {value for name, value in environment.items() if name.endswith("_FILE")}
    assert named == {f"%d/{name}" for name in credentials}


def test_the_unit_writes_to_its_state_directory_alone() -> None:
    environment = dict(line.split("=", 1) for line in unit_lines("Service", "Environment"))
    (state,) = unit_lines("Service", "StateDirectory")
    assert environment["KASUWA_DATA"] == f"/var/lib/{state}" == unit_lines("Service", "WorkingDirectory")[0]
    assert unit_lines("Service", "ProtectSystem") == ["strict"]
    assert unit_lines("Service", "ReadWritePaths") == [""]
