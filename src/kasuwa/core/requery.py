"""When an unknown outcome is asked after: the same ladder for every rail. (D28)

What is not known is never done again as something new; it is asked after under the same reference.
"""

from datetime import datetime, timedelta

# Ages at which an unknown outcome is asked after, then every hour. Spec silent: D28
ASK_AFTER_SECONDS = (5, 30, 120, 600, 1800)
THEN_EVERY_SECONDS = 3600

# "Not found" soon after sending is no failure: the rail may be behind. Spec silent: D28
NOT_FOUND_IS_FAILED_AFTER_SECONDS = 24 * 3600

# The trail of what never ends must not grow for ever: hourly asks are told apart from here on only by their last one.
MOST_TRAIL = 8_000


def next_ask(now: datetime, age: float) -> datetime:
    """The next rung of the ladder, counted from when it was first sent."""
    rung = next((after for after in ASK_AFTER_SECONDS if after > age + 0.001), None)
    if rung is None:
        rung = (int(age + 0.001) // THEN_EVERY_SECONDS + 1) * THEN_EVERY_SECONDS
    return now + timedelta(seconds=rung - age)
