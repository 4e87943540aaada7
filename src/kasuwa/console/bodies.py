"""Bounds on the forms that are being read: how many at once, from one place, and for how long.

A body that does not come costs its sender a connection and nobody else anything.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

BODY_SECONDS = 10.0
MOST_BODIES = 512
MOST_FROM_ONE = 64


class Crowded(Exception):
    """So many bodies are being read that another one is not waited for."""


class Bodies:
    def __init__(self) -> None:
        self._reading: Counter[str] = Counter()

    @contextmanager
    def reading(self, place: str) -> Iterator[None]:
        """Holds one turn to read a body; raises Crowded."""
        if self._reading[place] >= MOST_FROM_ONE or self._reading.total() >= MOST_BODIES:
            raise Crowded
        self._reading[place] += 1
        try:
            yield
        finally:
            self._reading[place] -= 1
            if not self._reading[place]:
                del self._reading[place]
