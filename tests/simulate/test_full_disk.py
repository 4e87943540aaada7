"""The disk of the embedded database is full: the supervisor and `doctor` report it, and the service recovers by itself
when there is room again.

Each protection was removed once to see these tests fail (in brackets: what happened then):
    the supervisor says why the database ended and cannot be started   (no message)
    `doctor` reads the server's log and checks the disk                ("no database runs")
"""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kasuwa.postgres.embedded.log import describe_failure, describe_full_disk, last_severe_line
from tests.simulate.load import Client
from tests.simulate.processes import Service, run_command, running_service, wait_until

pytestmark = pytest.mark.chaos

MEBIBYTE = 1024 * 1024


@contextlib.contextmanager
def small_disk() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="kasuwa-disk-") as place:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200m,mode=711", "tmpfs", place], check=True)
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", "--lazy", place], check=True)


def fill(disk: Path) -> Path:
    """Fills the disk with one file."""
    filler = disk / "filler"
    with filler.open("wb") as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(MEBIBYTE))
            file.flush()
    return filler


@contextlib.contextmanager
def serving_on(data: Path, elsewhere: Path) -> Iterator[Service]:
    """Serves on a small disk. Its output goes to another disk than its data."""
    service = Service(data, {})
    service.out, service.err = elsewhere / "out", elsewhere / "err"
    try:
        service.start()
        yield service
    finally:
        service.clean_up()


def answers(service: Service) -> bool:
    with contextlib.suppress(OSError), Client(service.port) as client:
        return client.transfer().body["status"] == 200
    return False


# A disk of its own needs a mount, and so root. The functions that read the log and the disk are tested below without.
if os.geteuid() == 0:

    def test_a_full_disk_is_reported_and_service_resumes_when_there_is_room(tmp_path: Path) -> None:
        with small_disk() as disk, serving_on(disk / "data", tmp_path) as service:
            filler = fill(disk)
            postmaster = service.postmaster()
            assert postmaster is not None
            postmaster.kill()
            wait_until("the supervisor says it", lambda: "cannot be started" in output_of(service))
            assert "the database ended and is started again" in output_of(service)
            assert "No space left" in output_of(service) or "is full" in output_of(service)
            report = run_command(["doctor"], {"KASUWA_DATA": str(service.data)})
            assert report.returncode == 1
            assert "no database runs" in report.stdout
            assert f"the disk of {service.data} is full" in report.stdout
            filler.unlink()
            wait_until("it serves again", lambda: answers(service))
            assert service.broken_invariants() == []
            assert "is full" not in run_command(["doctor"], {"KASUWA_DATA": str(service.data)}).stdout


def output_of(service: Service) -> str:
    return service.err.read_text()


LOG = """2026-01-05 10:00:00.000 UTC [12] LOG:  database system is ready to accept connections
2026-01-05 10:00:01.000 UTC [40] FATAL:  the database system is starting up
2026-01-05 10:00:02.000 UTC [12] PANIC:  could not write to file "pg_wal/xlogtemp.12": No space left on device
2026-01-05 10:00:02.100 UTC [1] LOG:  database system is shut down
"""


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (LOG, 'PANIC:  could not write to file "pg_wal/xlogtemp.12": No space left on device'),
        ("one\ntwo\n", "two"),
        ("", ""),
        (None, ""),
        ("x" * 200_000 + "\nFATAL:  the end\n", "FATAL:  the end"),
    ],
)
def test_the_line_that_says_most_of_an_end_is_found(tmp_path: Path, log: str | None, expected: str) -> None:
    if log is not None:
        (tmp_path / "postgres.log").write_text(log)
    assert last_severe_line(tmp_path / "postgres.log").endswith(expected)
    assert expected or describe_failure(tmp_path) == "its log is empty"


def test_a_disk_with_room_is_not_called_full(tmp_path: Path) -> None:
    assert describe_full_disk(tmp_path) == ""


def test_a_part_that_ends_is_named_with_how_it_ended(tmp_path: Path) -> None:
    with running_service(tmp_path / "data") as service:
        [worker] = service.child_processes("worker")
        worker.kill()
        wait_until("the supervisor says it", lambda: "a part ended" in output_of(service))
        assert "worker" in output_of(service)
        assert "SIGKILL" in output_of(service)
