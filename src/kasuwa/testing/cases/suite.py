"""Cases in the tests of an application: `kasuwa case replay FILE --pytest TEST` writes such a test."""

from pathlib import Path

from kasuwa.testing.address import ServerAddress
from kasuwa.testing.cases.case_file import read_case
from kasuwa.testing.cases.replay import Report, run_replay

TOLERANCE_SECONDS = 5.0


def play_case(server: ServerAddress, path: Path, *, tolerance: float = TOLERANCE_SECONDS) -> Report:
    """Plays the case of a file on a server, for a merchant of its own. `check()` of the report raises AssertionError.

    `tolerance` is by how many seconds a step may come earlier or later."""
    return run_replay(read_case(path), server.url, (server.mid, server.key), tolerance)
