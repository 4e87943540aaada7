"""Bounds on the forms that are being read: how many at once, from one place, and for how long.

A body that does not come costs its sender a connection and nobody else anything.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

BODY_TIMEOUT_SECONDS = 10.0
MAX_BODIES = 512
MAX_BODIES_PER_NETWORK = 64


class TooManyBodies(Exception):
    """So many bodies are being read that another one is not waited for."""


class BodyLimiter:
    def __init__(self) -> None:
        self._reading: Counter[str] = Counter()

    @contextmanager
    def hold_slot(self, network: str) -> Iterator[None]:
        """Holds one turn to read a body; raises Crowded."""
        if self._reading[network] >= MAX_BODIES_PER_NETWORK or self._reading.total() >= MAX_BODIES:
            raise TooManyBodies
        self._reading[network] += 1
        try:
            yield
        finally:
            self._reading[network] -= 1
            if not self._reading[network]:
                del self._reading[network]
