"""`python -m bench.profile`: CPU use by process, thread and function while transfers run.

Shares are of one core: on two cores the total is at most 200 %. What is missing from it at full load is time in which
the server and PostgreSQL wait for each other or for the disk.
"""

import argparse
import re
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import psutil

from bench import machine, postgres, processes, request_templates, run, server, wrk
from bench.merchants import SPREAD_WALLET_FUNDINGS, make_merchant
from bench.results import MeasurementFailed

# The first second, in which connections are made, is left out, and so is the last.
MARGIN_SECONDS = 1
SAMPLES_PER_SECOND = 200
TOP = 40

# The kinds of PostgreSQL's own processes, as they call themselves; all others serve clients.
POSTGRES_KINDS = ("checkpointer", "background writer", "walwriter", "autovacuum", "replication", "io worker")

# The process trees that are measured.
FAMILIES = ("serve", "postgres", "wrk")

# Seconds of CPU time used so far, by name.
Usage = defaultdict[str, float]


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    wrk.require_wrk()
    try:
        profile(options)
    except MeasurementFailed as fault:
        print(f"nothing could be measured: {fault}", file=sys.stderr)
        return 1
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.profile", description=__doc__)
    parser.add_argument("--seconds", type=int, default=8, help="default %(default)s")
    parser.add_argument("--connections", type=int, default=64, help="default %(default)s")
    parser.add_argument("--merchants", type=int, default=1, help="default %(default)s: one hot wallet")
    parser.add_argument("--no-functions", action="store_true", help="without py-spy, which takes some time itself")
    return parser.parse_args(arguments)


def profile(options: argparse.Namespace) -> None:
    """Measures shares and functions over the same seconds of one load."""
    with machine.bench_directory() as directory, postgres.running(directory / "cluster") as cluster:
        dsn = postgres.create_database(cluster, "profiled")
        with server.running(directory / "server", dsn) as serving:
            merchants = [make_merchant(serving.port, dsn, SPREAD_WALLET_FUNDINGS) for _ in range(options.merchants)]
            requests = request_templates.transfers(merchants)
            wrk.finish(wrk.start(requests, serving.port, options.connections, run.WARM_UP_SECONDS, directory))
            api = processes.api_process(serving.process)
            seconds = options.seconds + 2 * MARGIN_SECONDS
            load = wrk.start(requests, serving.port, options.connections, seconds, directory)
            time.sleep(MARGIN_SECONDS)
            spy = None if options.no_functions else start_spy(api.pid, options.seconds, directory / "stacks")
            heads = (serving.process, postgres.postmaster(dsn), psutil.Process(load.pid))
            print_shares(dict(zip(FAMILIES, heads, strict=True)), api, options.seconds)
            if spy is not None:
                spy.wait()
            result = wrk.finish(load)
            print(f"\n{result.rate:,.0f} transfers/s, refused {result.refused}")
            print_functions(spy, directory / "stacks")


def print_shares(families: dict[str, psutil.Process], api: psutil.Process, seconds: int) -> None:
    began, before, idle_before = time.monotonic(), usage(families, api), idle_seconds()
    time.sleep(seconds)
    took, after, idle_after = time.monotonic() - began, usage(families, api), idle_seconds()
    print("share of a core")
    ours = 0.0
    for name in sorted(after, key=lambda name: (name.split(" > ")[0], before[name] - after[name])):
        share = (after[name] - before[name]) / took
        ours += 0.0 if " > " in name else share
        if share >= 0.005:
            print(f"{share:7.1%}  {name}")
    idle, cores = (idle_after - idle_before) / took, psutil.cpu_count() or 1
    print(f"{idle:7.1%}  idle, of {cores} cores")
    print(f"{max(0.0, cores - idle - ours):7.1%}  everything else on the machine")


def usage(families: dict[str, psutil.Process], api: psutil.Process) -> Usage:
    """Returns the CPU time by kind of process, and below the API process by thread."""
    used: Usage = defaultdict(float)
    for name, head in families.items():
        for process in processes.process_tree(head):
            if process == api:
                used["serve api"] += processes.seconds_used(process)
            else:
                used[f"{name} {kind(name, process)}".strip()] += processes.seconds_used(process)
    for thread in api.threads():
        name = f"serve api > {thread_name(api.pid, thread.id)} {thread.id}"
        used[name] += thread.user_time + thread.system_time
    return used


def kind(family: str, process: psutil.Process) -> str:
    """Returns a short name for what a process is."""
    command = processes.command(process)
    if family == "wrk":
        return ""
    if family == "postgres":
        title = command.partition("postgres: ")[2]
        other = "backends" if title else "postmaster"
        return next((known for known in POSTGRES_KINDS if known in title), other)
    words = [word for word in command.split()[1:] if word not in ("-m", "kasuwa")]
    return " ".join(words)[:40] + f" ({process.pid})"


def thread_name(pid: int, thread: int) -> str:
    try:
        return Path(f"/proc/{pid}/task/{thread}/comm").read_text().strip()
    except OSError:
        return "thread"


def idle_seconds() -> float:
    times = psutil.cpu_times()
    return float(times.idle + getattr(times, "iowait", 0.0))


def start_spy(pid: int, seconds: int, stacks: Path) -> subprocess.Popen[bytes] | None:
    """Starts py-spy, which samples from outside without pausing the process, and so hardly disturbs it."""
    candidate = Path(sys.executable).with_name("py-spy")
    spy = str(candidate) if candidate.exists() else shutil.which("py-spy")
    if spy is None:
        return None
    what = f"record --pid {pid} --duration {seconds} --rate {SAMPLES_PER_SECOND} --nonblocking --format raw"
    return subprocess.Popen(
        [spy, *what.split(), "--output", str(stacks)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def print_functions(spy: subprocess.Popen[bytes] | None, stacks: Path) -> None:
    """Prints, for the samples in which the process was busy, the share of each function itself and with its callees."""
    if spy is None:
        print("\nfunctions: not sampled (py-spy is not installed, or was switched off)")
        return
    if not stacks.exists():
        print(f"\nfunctions: py-spy ended with {spy.returncode}")
        return
    own: Counter[str] = Counter()
    within: Counter[str] = Counter()
    for line in stacks.read_text().splitlines():
        stack, _, count = line.rpartition(" ")
        frames = [re.sub(r":\d+\)$", ")", frame) or "(outside Python)" for frame in stack.split(";")]
        own[frames[-1]] += int(count)
        within.update(dict.fromkeys(frames, int(count)))
    total = own.total() or 1
    print(f"\n{'itself':>7} {'within':>7}  function, of {total} samples")
    for frame, times in own.most_common(TOP):
        print(f"{times / total:7.1%} {within[frame] / total:7.1%}  {frame}")


if __name__ == "__main__":
    sys.exit(main())
