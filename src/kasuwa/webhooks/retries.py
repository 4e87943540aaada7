"""The retry schedule of deliveries, and when an endpoint is disabled. Contract: events#delivery"""

from datetime import timedelta

# Delays between delivery attempts, in business time. After the last attempt the event stays in the log.
# Contract: events#delivery
RETRY_DELAYS = tuple(
    timedelta(seconds=seconds)
    for seconds in (5, 300, 1800, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600)
)


LONGEST_WAIT = timedelta(days=1)


# How long an endpoint must have failed before it is disabled. Contract: events#delivery
DISABLE_AFTER = timedelta(days=5)


def retry_delay(attempts: int) -> timedelta | None:
    """Returns the delay after a number of attempts, or None if that was the last one."""
    return RETRY_DELAYS[attempts - 1] if attempts <= len(RETRY_DELAYS) else None
