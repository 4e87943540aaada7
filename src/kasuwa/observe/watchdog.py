"""Watchdog for the event loop of a process: while one step blocks the loop, every other request waits.

The loop measures how late its timers are (`kasuwa_loop_lag_seconds`). A second thread looks for the cause: if one step
has used more processor time than the limit, it logs the step's stack. It measures processor time, not wall time, so
that a step is not blamed because the machine was busy with something else. On a virtual machine the time that the host
gave to others counts as processor time too, so it is subtracted.

The thread is woken by SIGPROF, which the system sends when the process has used so much processor time: while the
process is idle, it sleeps.
"""

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from operator import sub
from pathlib import Path
from queue import SimpleQueue
from types import FrameType

import structlog

from kasuwa.observe.metrics import LOOP_LAG, Metrics

# How often the loop measures its lag. An idle process wakes up for it.
TICK_SECONDS = 0.1
# How often the thread checks within the processor time that a step may take.
CHECKS_PER_LIMIT = 4
# At most one warning in this interval: a process under load would log little else.
WARNING_INTERVAL_SECONDS = 10.0

log = structlog.get_logger("kasuwa.loop")


class WatchedStep:
    """A step of the loop that is running. `frame` is its outermost frame and None once the step has ended. It is kept
    until then, so that no other frame has its place in memory."""

    def __init__(self) -> None:
        self.frame: FrameType | None = None
        self.used_before, self.stolen_before = 0.0, list[float]()
        self._has_ended = False

    def begin(self, frame: FrameType) -> None:
        self.frame = frame
        if self._has_ended:  # meanwhile, in the other thread
            self.frame = None

    def end(self) -> None:
        self._has_ended = True
        self.frame = None


class Watchdog:
    """Watches the loop that it is started in, which is the main thread's. `max_step_seconds` is the processor time that
    one step may take."""

    def __init__(self, part: str, metrics: Metrics, max_step_seconds: float) -> None:
        self._part = part
        self._metrics = metrics
        self._most = max_step_seconds
        self._thread_id = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._thread_id)
        # The task that starts and stops the process: no request waits for it.
        self._main = list_frames(sys._getframe())[-1]
        self._loop = asyncio.get_running_loop()
        # True for each check. A signal handler may put into this kind of queue, whatever it interrupts.
        self._checks: SimpleQueue[bool] = SimpleQueue()
        self._is_stopped = False
        self._last_warned_at = float("-inf")
        self._step = WatchedStep()

    def start(self) -> None:
        self._tick(self._loop.time())
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()
        signal.signal(signal.SIGPROF, lambda *_: self._checks.put(True))
        signal.siginterrupt(signal.SIGPROF, False)
        signal.setitimer(signal.ITIMER_PROF, *[self._most / CHECKS_PER_LIMIT] * 2)

    def stop(self) -> None:
        self._is_stopped = True
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_IGN)
        self._checks.put(False)

    def _tick(self, planned: float) -> None:
        now = self._loop.time()
        self._metrics.observe(LOOP_LAG, max(0.0, now - planned), self._part)
        if not self._is_stopped:
            self._loop.call_at(now + TICK_SECONDS, self._tick, now + TICK_SECONDS)

    # --- in the second thread -------------------------------------------------------------------------------

    def _watch(self) -> None:
        while self._checks.get():
            self._check_step()

    def _check_step(self) -> None:
        """Logs a warning if the running step has used too much processor time.

        The loop may go on between any two lines here, so the clock is read first: the step that is found to be running
        after that has used at least the difference."""
        used = time.clock_gettime(self._clock)
        frames = self._read_frames()
        step = self._step
        if not frames or frames[-1] is not step.frame:
            self._watch_step()
            return
        stolen = max(map(sub, read_stolen_seconds(), step.stolen_before), default=0.0)
        held = used - step.used_before - stolen
        if held > self._most and time.monotonic() > self._last_warned_at + WARNING_INTERVAL_SECONDS:
            self._last_warned_at = time.monotonic()
            log.warning("the event loop is held", part=self._part, ms=round(held * 1000), places=format_frames(frames))

    def _watch_step(self) -> None:
        """Watches the running step from now on. The loop ends it by a callback. The callback is added before the frame
        is read: a task takes its next step after it."""
        self._step = step = WatchedStep()
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(step.end)
            frames = self._read_frames()
            step.stolen_before = read_stolen_seconds()
            step.used_before = time.clock_gettime(self._clock)
            if frames and frames[-1] is not self._main:
                step.begin(frames[-1])

    def _read_frames(self) -> list[FrameType]:
        frame = sys._current_frames().get(self._thread_id)
        return list_frames(frame) if frame is not None else []


# Files of the event loops that run the steps: their frames are outside of every step.
LOOPS = ("asyncio/runners.py", "asyncio/base_events.py", "uvloop/__init__.py")
MOST_PLACES = 25


def list_frames(frame: FrameType) -> list[FrameType]:
    """Returns the frames of a step, innermost first, up to the one that the loop called."""
    frames: list[FrameType] = []
    at: FrameType | None = frame
    while at is not None and not at.f_code.co_filename.endswith(LOOPS):
        frames.append(at)
        at = at.f_back
    return frames


def format_frames(frames: list[FrameType]) -> list[str]:
    """Returns file, line and function of each frame, innermost last. Leaves out values, which may quote a request."""
    places = [
        f"{frame.f_code.co_filename.rpartition('kasuwa/')[2]}:{frame.f_lineno} {frame.f_code.co_name}"
        for frame in frames[:MOST_PLACES]
    ]
    return places[::-1]


PROCESSOR_TIMES = Path("/proc/stat")
STOLEN_COLUMN = 8


def read_stolen_seconds() -> list[float]:
    """Returns how long the host of a virtual machine has kept each processor from running. Empty if not known."""
    try:
        lines = [line.split() for line in PROCESSOR_TIMES.read_text().splitlines() if line.startswith("cpu")]
        return [int(times[STOLEN_COLUMN]) / os.sysconf("SC_CLK_TCK") for times in lines[1:]]
    except (OSError, IndexError, ValueError):
        return []


@contextmanager
def watch_event_loop(part: str, metrics: Metrics, max_step_seconds: float) -> Iterator[None]:
    """Watches the running loop, on systems that report the processor time of a thread."""
    if not hasattr(time, "pthread_getcpuclockid"):  # those that do have SIGPROF too
        yield
        return
    watchdog = Watchdog(part, metrics, max_step_seconds)
    watchdog.start()
    try:
        yield
    finally:
        watchdog.stop()
