"""Cheap deadlines for work that nearly always ends long before them.

A timer per request would cost more than much of the work. One timer, which runs every CHECK_SECONDS while any deadline
is active, cancels the tasks that are late. So a deadline may take effect up to CHECK_SECONDS late.
"""

import asyncio
import time
from typing import Any

import msgspec

CHECK_SECONDS = 0.5


class Deadline(msgspec.Struct, eq=False):
    """The deadline of what the current task does, from `Deadlines.begin` to `end`."""

    owner: "Deadlines"
    task: "asyncio.Task[Any]"
    expires_at: float
    # Cancellations of the task that others had requested before this deadline began.
    prior_cancellations: int
    has_expired: bool = False

    def end(self) -> None:
        """Ends the deadline. Call it in a `finally`: a task whose deadline is not ended is cancelled."""
        self.owner.running.discard(self)

    def is_ours(self) -> bool:
        """Returns whether a caught CancelledError comes from this deadline alone, and takes the cancellation back.

        If it returns False, something else cancelled the task too, and the error must be raised again."""
        if not self.has_expired:
            return False
        self.has_expired = False
        return self.task.uncancel() <= self.prior_cancellations


class Deadlines:
    """The deadlines of one event loop."""

    def __init__(self) -> None:
        self.running: set[Deadline] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_timer_set = False

    def begin(self, seconds: float) -> Deadline:
        """Starts a deadline for the current task. `end` must follow, whatever happens."""
        loop = self._loop
        if loop is None or not self._is_timer_set:
            loop = self._loop = asyncio.get_running_loop()
            self._is_timer_set = True
            loop.call_later(CHECK_SECONDS, self._cancel_late_tasks, loop)
        # Given the loop, current_task need not ask the system which process this is.
        task = asyncio.current_task(loop)
        assert task is not None, "a deadline needs a running task"
        deadline = Deadline(self, task, time.monotonic() + seconds, task.cancelling())
        self.running.add(deadline)
        return deadline

    def _cancel_late_tasks(self, loop: asyncio.AbstractEventLoop) -> None:
        now = time.monotonic()
        for deadline in self.running:
            if now > deadline.expires_at and not deadline.has_expired:
                deadline.has_expired = True
                deadline.task.cancel()
        self._is_timer_set = bool(self.running)
        if self._is_timer_set:
            loop.call_later(CHECK_SECONDS, self._cancel_late_tasks, loop)
