"""Watches that the event loop of a process is not held: while one step runs, every other request waits.

The loop measures how late its timers are (`kasuwa_loop_lag_seconds`). A thread beside it looks for the culprit: where
one step has used more processor time than it may, it logs the step's stack. Processor time, not wall time: a step is
not blamed because the machine was busy with something else.
"""

import asyncio
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import structlog

from kasuwa.observe.metrics import LOOP_LAG, Metrics

# How often the loop measures its lag.
TICK_SECONDS = 0.025
# How often the thread looks, as a part of what a step may take.
CHECKS_PER_LIMIT = 4
# A culprit is told of at most this often: a process under load would tell of little else.
WARNING_INTERVAL_SECONDS = 10.0

log = structlog.get_logger("kasuwa.loop")


class Watchdog:
    """Watches the loop that it is started in. `most_seconds` is the processor time that one step may take."""

    def __init__(self, part: str, meter: Metrics, max_step_seconds: float) -> None:
        self._part = part
        self._meter = meter
        self._most = max_step_seconds
        self._beats = 0
        self._thread_id = threading.get_ident()
        # The task that starts and stops the process: no request waits for it.
        self._main = id(frames_of(sys._getframe())[-1])
        self._stopped = threading.Event()
        self._told_at = float("-inf")
        # The step that runs, the processor time when it was first seen, and the beat then.
        self._step, self._since, self._beat = 0, 0.0, -1

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._tick(loop, loop.time())
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def _tick(self, loop: asyncio.AbstractEventLoop, planned: float) -> None:
        now = loop.time()
        self._beats += 1
        self._meter.observe(LOOP_LAG, max(0.0, now - planned), self._part)
        if not self._stopped.is_set():
            loop.call_at(now + TICK_SECONDS, self._tick, loop, now + TICK_SECONDS)

    # --- in the thread beside -------------------------------------------------------------------------------

    def _watch(self) -> None:
        clock = time.pthread_getcpuclockid(self._thread_id)
        while not self._stopped.wait(self._most / CHECKS_PER_LIMIT):
            frame = sys._current_frames().get(self._thread_id)
            if frame is not None:
                self._look(frame, time.clock_gettime(clock))

    def _look(self, frame: FrameType, used: float) -> None:
        """The same step as before if it has the same outermost frame and the loop has not ticked since: within a round
        of the loop, no task takes two steps."""
        frames = frames_of(frame)
        step, beat = id(frames[-1]) if frames else 0, self._beats
        if (step, beat) != (self._step, self._beat) or step in (0, self._main):
            self._step, self._beat, self._since = step, beat, used
            return
        held = used - self._since
        if held > self._most and time.monotonic() > self._told_at + WARNING_INTERVAL_SECONDS:
            self._told_at = time.monotonic()
            log.warning("the event loop is held", part=self._part, ms=round(held * 1000), places=places_of(frames))


# Who runs steps: their frames are below every step's.
LOOPS = ("asyncio/runners.py", "asyncio/base_events.py", "uvloop/__init__.py")
MOST_PLACES = 25


def frames_of(frame: FrameType) -> list[FrameType]:
    """The frames of a step, innermost first: up to the one that the loop itself called."""
    frames: list[FrameType] = []
    at: FrameType | None = frame
    while at is not None and not at.f_code.co_filename.endswith(LOOPS):
        frames.append(at)
        at = at.f_back
    return frames


def places_of(frames: list[FrameType]) -> list[str]:
    """Where a step is, innermost last. No values: those may be what was sent."""
    places = [
        f"{frame.f_code.co_filename.rpartition('kasuwa/')[2]}:{frame.f_lineno} {frame.f_code.co_name}"
        for frame in frames[:MOST_PLACES]
    ]
    return places[::-1]


@contextmanager
def watch_event_loop(part: str, meter: Metrics, max_step_seconds: float) -> Iterator[None]:
    """Watches the running loop, on systems that tell the processor time of a thread."""
    if not hasattr(time, "pthread_getcpuclockid"):
        yield
        return
    watchdog = Watchdog(part, meter, max_step_seconds)
    watchdog.start()
    try:
        yield
    finally:
        watchdog.stop()
