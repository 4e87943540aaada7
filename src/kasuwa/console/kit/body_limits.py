"""Limits on form bodies: how many are read at once, in total and per network, and for how long.

Clients that send slowly therefore cannot keep others from being served.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

BODY_TIMEOUT_SECONDS = 10.0
MAX_BODIES = 512
MAX_BODIES_PER_NETWORK = 64


class TooManyBodies(Exception):
    """Raised if too many bodies are being read already."""


class BodyLimiter:
    """Counts the bodies that are being read, by network."""

    def __init__(self) -> None:
        self._reading: Counter[str] = Counter()

    @contextmanager
    def hold_slot(self, network: str) -> Iterator[None]:
        """Counts one body while it is read. Raises TooManyBodies."""
        if self._reading[network] >= MAX_BODIES_PER_NETWORK or self._reading.total() >= MAX_BODIES:
            raise TooManyBodies
        self._reading[network] += 1
        try:
            yield
        finally:
            self._reading[network] -= 1
            if not self._reading[network]:
                del self._reading[network]
