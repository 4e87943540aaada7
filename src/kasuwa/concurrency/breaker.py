"""Circuit breakers: what failed several times in a row is left alone for a while, so that nobody waits for it."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Operation = TypeVar("Operation", bound=Hashable)

# Operations whose failures are counted. Beyond that the counts begin anew: nothing is paused that should not be.
MAX_OPERATIONS = 10_000


class CircuitBreaker(Generic[Operation]):
    """Pauses each operation after several failures in a row. One call goes through after the pause; if it fails too,
    the next pause begins."""

    def __init__(self, failures_until_pause: int, pause_seconds: float, clock: Callable[[], float]) -> None:
        self._failures_until_pause = failures_until_pause
        self._pause_seconds = pause_seconds
        self._clock = clock
        self._failures: dict[Operation, int] = {}  # in a row
        self._paused_until: dict[Operation, float] = {}

    @property
    def longest_pause(self) -> float:
        """Seconds until the last pause is over, 0 if nothing is paused."""
        return max(0.0, max(self._paused_until.values(), default=0.0) - self._clock())

    def find_pause(self, operation: Operation) -> float:
        """Returns the seconds for which an operation is still paused, 0 if it is not."""
        return max(0.0, self._paused_until.get(operation, 0.0) - self._clock())

    def record_success(self, operation: Operation) -> None:
        self._failures.pop(operation, None)
        if not self.find_pause(operation):  # a call that was sent before a pause does not end it
            self._paused_until.pop(operation, None)

    def record_failure(self, operation: Operation) -> None:
        if len(self._failures) >= MAX_OPERATIONS and operation not in self._failures:
            self.clear()
        failures = self._failures.get(operation, 0) + 1
        if failures >= self._failures_until_pause:
            failures = self._failures_until_pause - 1
            self._paused_until[operation] = self._clock() + self._pause_seconds
        self._failures[operation] = failures

    def clear(self) -> None:
        """Forgets all failures and pauses."""
        self._failures.clear()
        self._paused_until.clear()
