"""When the supervisor starts again what has ended, and which of its ends it logs.

What ends once is started again at once. What keeps ending, because the machine or the database lacks something, is
started ever more rarely, and a log that repeats the same line every second hides the others.
"""

import math

import msgspec

# The pause before the second start of something that keeps ending. It doubles up to the longest.
FIRST_PAUSE_SECONDS = 0.3
LONGEST_PAUSE_SECONDS = 5.0
# What has run for this long does not keep ending.
STABLE_SECONDS = 30.0
LOG_SECONDS = 60.0


class Restarts(msgspec.Struct):
    """The ends of one part in a row. Times are on the monotonic clock."""

    count: int = 0
    due_at: float = 0.0
    logged_at: float = -math.inf
    unlogged_count: int = 0  # ends since the last line of the log

    def record_end(self, now: float, started_at: float) -> bool:
        """Records that the part ended and plans its next start. Returns whether to log it: the first end in a row, and
        then one a minute."""
        if now - started_at >= STABLE_SECONDS:
            self.count = 0
        pause = min(FIRST_PAUSE_SECONDS * 2**self.count, LONGEST_PAUSE_SECONDS)
        self.due_at = max(now, started_at + pause)
        self.count += 1
        self.unlogged_count += 1
        if self.count > 1 and now - self.logged_at < LOG_SECONDS:
            return False
        self.logged_at = now
        return True

    def take_unlogged(self) -> int:
        """Returns how often the part ended since the last line of the log."""
        count, self.unlogged_count = self.unlogged_count, 0
        return count
