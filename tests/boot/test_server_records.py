"""Records of running servers: what is found is alive, and nothing is changed by looking."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec

from kasuwa.boot.server_records import ServerRecord, find_servers, record_server

# Records a server of the directory that is given, says so, and goes on until it is killed.
RECORD = """
import os, sys, time
from pathlib import Path
from kasuwa.boot.server_records import ServerRecord, record_server
record = ServerRecord(url=sys.argv[2], console_url=None, metrics_url=None, environment="test", version="1", schema=1,
                      pid=os.getpid())
with record_server(Path(sys.argv[1]), record):
    print("recorded", flush=True)
    time.sleep(600)
"""


def record_of(url: str, pid: int = 1) -> ServerRecord:
    return ServerRecord(url=url, console_url=None, metrics_url=None, environment="test", version="1", schema=1, pid=pid)


def start(directory: Path, url: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen([sys.executable, "-c", RECORD, str(directory), url], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "recorded\n"
    return process


def test_a_server_is_found_while_it_runs_and_its_file_is_private(tmp_path: Path) -> None:
    with record_server(tmp_path, record_of("http://one")):
        assert find_servers(tmp_path) == [record_of("http://one")]
        assert [path.stat().st_mode & 0o777 for path in tmp_path.iterdir()] == [0o600]
    assert find_servers(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_of_two_servers_of_a_directory_the_one_that_was_killed_is_not_found(tmp_path: Path) -> None:
    one, other = start(tmp_path, "http://one"), start(tmp_path, "http://other")
    try:
        assert [record.url for record in find_servers(tmp_path)] == ["http://one", "http://other"]
        one.send_signal(signal.SIGKILL)
        one.wait()
        assert [record.url for record in find_servers(tmp_path)] == ["http://other"]
        stale = tmp_path / f"serve.{one.pid}.json"
        assert stale.exists(), "looking removes nothing"
        with record_server(tmp_path, record_of("http://next")):
            assert not stale.exists()
            assert [record.url for record in find_servers(tmp_path)] == ["http://other", "http://next"]
    finally:
        for process in (one, other):
            process.kill()
            process.communicate()


def test_a_record_that_nobody_holds_is_not_trusted(tmp_path: Path) -> None:
    """The process lives, but it is another one that has got the same number."""
    record = record_of("http://one", os.getpid())
    (tmp_path / f"serve.{os.getpid()}.json").write_bytes(msgspec.json.encode(record))
    (tmp_path / "serve.2.json").write_text("garbage")
    assert find_servers(tmp_path) == []
    assert len(list(tmp_path.iterdir())) == 2


def test_a_directory_that_does_not_exist_has_no_servers(tmp_path: Path) -> None:
    assert find_servers(tmp_path / "none") == []
    assert list(tmp_path.iterdir()) == []
