"""Writes a case as a test of pytest, for the suite of an application."""

import re
from pathlib import Path

# Nothing of a case is in the code of its test: a file is somebody else's.
TEMPLATE = '''"""A case of Kasuwa, played in the server of the test run.

It has pseudonyms in place of people, and no secrets. `kasuwa case replay` plays it in a terminal.
"""

from pathlib import Path

from kasuwa.testing import Server
from kasuwa.testing.cases.suite import play_case

CASE = Path(__file__).with_name({file})


def test_{name}(kasuwa_server: Server) -> None:
    """Fails with each step whose outcome or time is not that of the case."""
    play_case(kasuwa_server, CASE).check()
'''


def render_test(file: Path) -> str:
    """Returns the text of a test that plays the case of a file, which must be beside it."""
    name = re.sub(r"\W+", "_", file.stem, flags=re.ASCII).strip("_").lower() or "case"
    return TEMPLATE.format(file=repr(file.name), name=name)
