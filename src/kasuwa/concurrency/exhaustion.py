"""What is raised when everybody who shares something scarce has to wait for too long."""

ACQUIRE_SECONDS = 2.0


class PoolExhausted(TimeoutError):
    """Raised when no connection of a pool became free in time."""
