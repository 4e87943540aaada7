"""The kit of merchants' developers: how fast tests of an application run with `kasuwa.testing`."""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.results import KitResult, MeasurementFailed

TESTS = 500
WORKERS = 2
MERCHANTS = 200

# Each test makes three calls with the merchant of its own. Its books are audited after it.
SUITE = f"""
import pytest

@pytest.mark.parametrize("n", range({TESTS}))
def test_three_calls(kasuwa, n):
    sent = kasuwa.client.disburse.transfer(amount="100.00", bankcode="058", accountnumber="0000000000")
    assert kasuwa.client.disburse.verify(txn_ref=sent.txn_ref).txn_status == "successful"
    assert kasuwa.wallet() < 50_000
"""
NO_OTHERS = ("-p", "no:cacheprovider", "-p", "no:schemathesis", "-p", "no:hypothesispytest", "-p", "no:anyio")
PASSED = re.compile(rf"^=* ?{TESTS} passed", re.MULTILINE)


def measure_kit() -> KitResult:
    from kasuwa.testing import serve

    began = time.monotonic()
    with serve() as server:
        serve_seconds = time.monotonic() - began
        times = []
        for _ in range(MERCHANTS):
            began = time.monotonic()
            server.open_merchant()
            times.append(time.monotonic() - began)
    return KitResult(serve_seconds, 1000 * median(times), measure_suite())


def measure_suite() -> float:
    """Returns the seconds of a test run of TESTS tests, its server's start included."""
    with tempfile.TemporaryDirectory(prefix="kasuwa-kit-") as made:
        directory = Path(made)
        (directory / "test_suite.py").write_text(SUITE)
        options = (*NO_OTHERS, "-q", "-n", str(WORKERS), "-c", os.devnull, "--rootdir", made)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("KASUWA_", "PYTEST_"))}
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, made], env=kept, capture_output=True, text=True
        )
        seconds = time.monotonic() - began
    if not PASSED.search(done.stdout):
        raise MeasurementFailed(f"the tests did not pass: {done.stdout.strip().splitlines()[-1:]}")
    return seconds
