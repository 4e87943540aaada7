"""Cheap deadlines for work that nearly always ends long before them.

A timer per request would cost more than much of the work. One timer, which runs every CHECK_SECONDS while any deadline
is active, cancels the tasks that are late. So a deadline may take effect up to CHECK_SECONDS late.

They bound what is done for each request, job or call of a rail. `asyncio.timeout` is for the rest: rare waits, tasks
that run now and then, and what must end to the moment, such as a batch of the writer.
"""

import asyncio
import time
from typing import Any

import msgspec

CHECK_SECONDS = 0.5


class Deadline(msgspec.Struct, eq=False):
    """A deadline for the body of a `with` statement. Made by `Deadlines.within`, which starts it."""

    owner: "Deadlines"
    task: "asyncio.Task[Any]"
    expires_at: float
    # Cancellations of the task that others had requested before this deadline began.
    prior_cancellations: int
    has_expired: bool = False

    def __enter__(self) -> None:
        """Does nothing: the deadline began when it was made."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Ends the deadline. Raises TimeoutError if the deadline, and nothing else, cancelled the task."""
        self.owner.running.discard(self)
        if not self.has_expired:
            return
        if self.task.uncancel() <= self.prior_cancellations and kind is asyncio.CancelledError:
            raise TimeoutError


class Deadlines:
    """The deadlines of one event loop."""

    def __init__(self) -> None:
        self.running: set[Deadline] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_timer_set = False

    def within(self, seconds: float) -> Deadline:
        """Starts a deadline for what the current task does in a `with` statement, which raises TimeoutError if it is
        late. Use it as `with deadlines.within(5):` only, because a deadline that is never ended cancels its task."""
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
