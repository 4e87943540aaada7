"""The load generator wrk with bench/load.lua, which reads each reply.

wrk with that script can send far more than the server can answer (README.md has the figure). One thread is best on two
cores: a second one only takes time from the server.
"""

import itertools
import json
import resource
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from bench.request_templates import RequestTemplate, write_lua
from bench.results import LoadResult, MeasurementFailed

THREADS = 1
SCRIPT = Path(__file__).with_name("load.lua")

# The text that every reply of a measurement must contain.
SUCCESSFUL = '"txnStatus":"successful"'

# References must differ between runs on one database.
RUNS = itertools.count(1)


def require_wrk() -> None:
    """Exits with a message if wrk is not installed. Called before anything is started."""
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed, and it makes the load: run `make bench-setup`")


def start(
    orders: Iterable[RequestTemplate],
    port: int,
    connections: int,
    seconds: int,
    directory: Path,
    success: str = SUCCESSFUL,
) -> subprocess.Popen[str]:
    """Starts wrk. A reply without the text `success` counts as refused."""
    run = f"{next(RUNS):04d}"
    written = directory / f"orders-{run}.lua"
    write_lua(orders, written)
    command = ["wrk", f"-t{THREADS}", f"-c{connections}", f"-d{seconds}s", "-s", str(SCRIPT)]
    return subprocess.Popen(
        [*command, f"http://127.0.0.1:{port}", "--", str(written), run, success],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> LoadResult:
    """Waits for wrk and reads the line of JSON that the script prints last."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output, errors = process.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode != 0 or not output.strip():
        raise MeasurementFailed(f"wrk: {(errors or output).strip()[-400:]}")
    summary = json.loads(output.strip().splitlines()[-1])
    seconds = summary["microseconds"] / 1e6
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return LoadResult(
        rate=(summary["requests"] - summary["refused"]) / seconds,
        requests=summary["requests"],
        refused=summary["refused"],
        connection_errors=summary["broken"],
        median_ms=summary["p50_us"] / 1000,
        p99_ms=summary["p99_us"] / 1000,
        client_cpu_share=used / seconds,
        refusal_sample=summary["sample"],
    )
