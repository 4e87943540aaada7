"""The offline mode of the pytest plugin: `--kasuwa-record` records tests, `--kasuwa-offline` replays them.

pytest loads this module in every run where Kasuwa is installed, so it imports nothing. See kasuwa.testing.plugin.
"""

import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kasuwa.testing.server import Server

HAS_FAILED: "pytest.StashKey[bool]" = pytest.StashKey()
MARKER = "kasuwa_offline(loosely=False): the test is replayed from its recording, unless --kasuwa-record"
NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST_NAME = 100


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kasuwa")
    group.addoption("--kasuwa-record", action="store_true", help="Record the tests, for --kasuwa-offline.")
    group.addoption("--kasuwa-offline", action="store_true", help="Answer from recordings, without a server.")
    parser.addini("kasuwa_recordings", "Directory of recordings, seen from the test file.", default="recordings")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    if config.getoption("--kasuwa-record") and config.getoption("--kasuwa-offline"):
        raise pytest.UsageError("--kasuwa-record and --kasuwa-offline exclude each other")


@pytest.hookimpl(optionalhook=True)
def pytest_kasuwa_server(request: pytest.FixtureRequest) -> "AbstractContextManager[Server] | None":
    """Returns a server that records a test or answers from its recording."""
    config, item = request.config, request.node
    marker = item.get_closest_marker("kasuwa_offline")
    is_recording = config.getoption("--kasuwa-record")
    if not (is_recording or config.getoption("--kasuwa-offline") or marker is not None):
        return None
    from kasuwa.integration.offline import recorded, replayed

    file = find_recording(item, str(config.getini("kasuwa_recordings")))
    if is_recording:
        server = request.getfixturevalue("kasuwa_server")
        return recorded(server, file, lambda: not item.stash.get(HAS_FAILED, False))
    if not file.exists():
        pytest.fail(f"there is no recording {file}: record it with --kasuwa-record", pytrace=False)
    return replayed(file, is_loose=marker is not None and bool(marker.kwargs.get("loosely")))


def find_recording(item: pytest.Item, folder: str) -> Path:
    """Returns the file of a test: its name, in a folder for its module. Names that a file cannot have get a digest."""
    from hashlib import sha256

    name = item.nodeid.partition("::")[2]
    short = NOT_IN_A_NAME.sub("_", name)[:LONGEST_NAME].strip("_")
    if short != name:
        short = f"{short}-{sha256(name.encode()).hexdigest()[:8]}"
    return item.path.parent / folder / item.path.stem / f"{short}.json"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Any:
    """Notes that a test has failed: it is not recorded then."""
    report: pytest.TestReport = yield
    if report.failed:
        item.stash[HAS_FAILED] = True
    return report
