"""The watchdog of the event loop: one long step is told of with its place; waiting and many short steps are not."""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import structlog

from kasuwa.observe import watchdog
from kasuwa.observe.metrics import LOOP_LAG, Metrics
from kasuwa.observe.watchdog import watch_event_loop

MOST_SECONDS = 0.03

# What a task does, returning the processor time of its longest step.
Work = Callable[[], Coroutine[Any, Any, float]]


def burn(seconds: float) -> float:
    """Uses the processor for so long, by the clock of this thread, and returns how long it was."""
    start = time.thread_time()
    while time.thread_time() < start + seconds:
        pass
    return time.thread_time() - start


def watched(work: Work, metrics: Metrics) -> tuple[list[Any], float]:
    """Returns the log lines that the watchdog writes while a task does this work, and the longest step of it."""

    async def run() -> float:
        with watch_event_loop("api", metrics, MOST_SECONDS):
            return await asyncio.create_task(work())

    with structlog.testing.capture_logs() as logged:
        longest = asyncio.run(run())
    return list(logged), longest


async def hold() -> float:
    return burn(0.5)


async def take_turns() -> float:
    longest = 0.0
    for _ in range(250):
        longest = max(longest, burn(0.002))
        await asyncio.sleep(0)
    return longest


async def wait() -> float:
    # In a step of its own, with the processor idle: what it would be on a busy machine.
    start = time.thread_time()
    asyncio.get_running_loop().call_soon(time.sleep, 0.3)
    await asyncio.sleep(0.3)
    return time.thread_time() - start


def watched_in_short_steps(work: Work) -> list[Any]:
    """Returns the log lines of a run whose steps were short. The host of a virtual machine may stop a processor in the
    middle of a step, which makes that step a long one by every clock here."""
    for _ in range(20):
        logged, longest = watched(work, Metrics())
        if longest < MOST_SECONDS / 2:
            return logged
    raise AssertionError("the machine let no step end in time")


def test_a_step_that_blocks_the_loop_is_logged_with_its_place() -> None:
    [logged], _ = watched(hold, Metrics())
    assert (logged["event"], logged["log_level"], logged["part"]) == ("the event loop is held", "warning", "api")
    assert logged["ms"] >= MOST_SECONDS * 1000
    assert any(place.endswith(" burn") for place in logged["places"])
    assert not any("runners.py" in place for place in logged["places"])


@pytest.mark.parametrize("work", [take_turns, wait])
def test_short_steps_and_waiting_are_not_logged(work: Work) -> None:
    assert watched_in_short_steps(work) == []


def test_short_steps_are_not_logged_if_the_loop_goes_on_during_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    def read_slowly() -> list[float]:
        time.sleep(2 * MOST_SECONDS)
        return []

    interval = sys.getswitchinterval()
    monkeypatch.setattr(watchdog, "read_stolen_seconds", read_slowly)
    sys.setswitchinterval(0.00001)  # so that the thread goes on at once when it has added a callback
    try:
        assert watched_in_short_steps(take_turns) == []
    finally:
        sys.setswitchinterval(interval)


def test_time_that_the_host_took_from_a_processor_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "read_stolen_seconds", lambda: [0.0, time.monotonic()])
    logged, _ = watched(hold, Metrics())
    assert logged == []


def test_the_time_that_the_host_took_is_read_for_each_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = tmp_path / "stat"
    monkeypatch.setattr(watchdog, "PROCESSOR_TIMES", times)
    assert watchdog.read_stolen_seconds() == []
    times.write_text("cpu  9 2 8 6 7 0 5 300 0 0\ncpu0 4 1 4 3 3 0 2 100 0 0\ncpu1 5 1 4 3 4 0 3 200 0 0\nintr 7\n")
    ticks = os.sysconf("SC_CLK_TCK")
    assert watchdog.read_stolen_seconds() == [100 / ticks, 200 / ticks]
    times.write_text("cpu  9 2 8\ncpu0 4 1 4\n")
    assert watchdog.read_stolen_seconds() == []


def test_lag_is_measured() -> None:
    metrics = Metrics()
    watched(hold, metrics)
    *counts, total = metrics.series[LOOP_LAG.name, ("api",)]
    assert sum(counts) >= 1
    assert total > 0.3
