"""`kasuwa serve` for programs: free ports, and one line of JSON that says where it listens."""

import json
import signal
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import kasuwa
from tests.running import DEMO_KEY, DEMO_MID, Deployments, free_port, terminated_with_us
from tests.simulate.processes import clean_environment, run_command, wait_until

STOP_SECONDS = 60.0


class Serving:
    """`kasuwa serve` as a program starts it, with its announcement."""

    def __init__(self, process: "subprocess.Popen[bytes]", directory: Path, ready: dict[str, Any]) -> None:
        self.process = process
        self.directory = directory
        self.ready = ready

    @property
    def stdout(self) -> str:
        return (self.directory / "out").read_text()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_SECONDS)


@contextmanager
def serving(
    directory: Path, environ: Mapping[str, str], words: Sequence[str] = ("--port", "0", "--console-port", "0")
) -> Iterator[Serving]:
    """Starts `kasuwa serve` with its files in a directory, and waits for its ready file."""
    ready = directory / "ready.json"
    command = [sys.executable, "-m", "kasuwa", "serve", *words, "--ready-file", str(ready)]
    with (directory / "out").open("wb") as out, (directory / "err").open("wb") as err:
        process = subprocess.Popen(command, env=clean_environment(environ), stdout=out, stderr=err)
    try:
        with terminated_with_us(process.pid, signal.SIGTERM):
            wait_until("it is ready or has ended", lambda: ready.exists() or process.poll() is not None)
            assert process.poll() is None, (directory / "err").read_text()
            yield Serving(process, directory, json.loads(ready.read_text()))
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)


def get(url: str) -> int:
    with urllib.request.urlopen(url, timeout=10) as reply:
        return int(reply.status)


@pytest.fixture(scope="module")
def server(deployments: Deployments, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server with two API processes and metrics, all on ports that it chose."""
    directory = tmp_path_factory.mktemp("serving")
    (directory / "data").mkdir()
    environ = {
        "KASUWA_DATABASE_URL": deployments.new_database("serving"),
        "KASUWA_DATA": str(directory / "data"),
        "KASUWA_METRICS_PORT": "0",
        "KASUWA_WORKERS": "2",
    }
    words = ["--port", "0", "--console-port", "0", "--json"]
    with serving(directory, environ, words) as running:
        yield running


# --- the announcement -----------------------------------------------------------------------------------------


def test_the_ready_file_and_standard_output_have_the_same_line(server: Serving) -> None:
    path = server.directory / "ready.json"
    assert path.read_text() == server.stdout
    assert server.stdout.count("\n") == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600, "it holds sign-in links"
    ready = server.ready
    assert list(ready) == [
        *("url", "console_url", "metrics_url", "environment", "version", "pid", "data", "demo", "links")
    ]
    assert (ready["environment"], ready["version"], ready["pid"]) == ("test", kasuwa.__version__, server.process.pid)
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


def test_text_for_people_has_the_chosen_ports_and_the_data_directory(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, {"KASUWA_DATA": str(data)}) as running:
        ready = running.ready
        assert ready["data"] == str(data)
        wait_until("the text is complete", lambda: "Ctrl-C" in running.stdout)
        for words in (
            f"listens on {ready['url']}\n",
            f"curl -X PUT {ready['url']}/disburse",
            f"Console: {ready['console_url']}\n",
            f"Data: {data}\n",
            *ready["links"].values(),
        ):
            assert words in running.stdout
        assert [path.name for path in data.glob("serve.*")] == [f"serve.{running.process.pid}.json"]
        recorded = next(data.glob("serve.*")).read_text()
        assert ready["url"] in recorded
        assert "link" not in recorded
        assert DEMO_KEY not in recorded
        assert running.stop() == 0
        assert list(data.glob("serve.*")) == []
        assert not (tmp_path / "ready.json").exists()
        assert (tmp_path / "err").read_text() == ""


def test_two_servers_that_start_at_once_do_not_share_a_port(deployments: Deployments, tmp_path: Path) -> None:
    """SO_REUSEPORT would let both bind it, and each would get a part of the requests."""
    port = free_port()
    environ = {"KASUWA_DATABASE_URL": deployments.new_database("race"), "KASUWA_CONSOLE": "off"}
    racing = [
        subprocess.Popen(
            [sys.executable, "-m", "kasuwa", "serve", "--port", str(port), "--data", str(tmp_path / name)],
            env=clean_environment(environ),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "other")
    ]
    try:
        lost = wait_until("one is refused", lambda: [one for one in racing if one.poll() is not None])
        assert [one.returncode for one in lost] == [1]
        assert f":{port} (Address already in use)" in lost[0].communicate()[1]
    finally:
        for process in racing:
            process.terminate()
            process.communicate(timeout=STOP_SECONDS)


# --- the ready file ---------------------------------------------------------------------------------------------


def test_a_ready_file_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    environ = {"KASUWA_DATA": str(tmp_path / "data")}
    missing, directory = tmp_path / "nowhere" / "ready.json", tmp_path
    for path, reason in ((missing, "cannot be written (No such file or directory)"), (directory, "is a directory")):
        done = run_command(["serve", "--port", "0", "--console-port", "0", "--ready-file", str(path)], environ)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"kasuwa: --ready-file {path} {reason}")
        assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
