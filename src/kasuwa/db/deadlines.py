"""Deadlines for work that nearly always ends long before them.

A timer for each piece of work costs more than much of the work itself. Here one timer, twice a second while anything is
under way, looks for what is late and cancels its task. So a deadline may be up to half a second late.
"""

import asyncio
import time
from typing import Any

import msgspec

LOOK_SECONDS = 0.5


class Deadline(msgspec.Struct, eq=False):
    """The deadline of what the current task does, from `Deadlines.begin` to `end`."""

    owner: "Deadlines"
    task: "asyncio.Task[Any]"
    until: float
    # The cancellations of the task that were requested before, by others.
    cancelling: int
    is_over: bool = False

    def end(self) -> None:
        """Call in a `finally`: what is not ended is cancelled."""
        self.owner.under_way.discard(self)

    def is_ours(self) -> bool:
        """Whether a CancelledError that was caught comes from this deadline alone. Takes the cancellation back: the
        task may go on. Where somebody else has cancelled the task too, the error must be raised again."""
        if not self.is_over:
            return False
        self.is_over = False
        return self.task.uncancel() <= self.cancelling


class Deadlines:
    """The deadlines of one event loop."""

    def __init__(self) -> None:
        self.under_way: set[Deadline] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_looking = False

    def begin(self, seconds: float) -> Deadline:
        """Starts a deadline for the current task. `end` must follow, whatever happens."""
        loop = self._loop
        if loop is None or not self._is_looking:
            loop = self._loop = asyncio.get_running_loop()
            self._is_looking = True
            loop.call_later(LOOK_SECONDS, self._look, loop)
        # Given the loop, current_task need not ask the system which process this is.
        task = asyncio.current_task(loop)
        assert task is not None, "a deadline is a task's"
        deadline = Deadline(self, task, time.monotonic() + seconds, task.cancelling())
        self.under_way.add(deadline)
        return deadline

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        now = time.monotonic()
        for deadline in self.under_way:
            if now > deadline.until and not deadline.is_over:
                deadline.is_over = True
                deadline.task.cancel()
        self._is_looking = bool(self.under_way)
        if self._is_looking:
            loop.call_later(LOOK_SECONDS, self._look, loop)
