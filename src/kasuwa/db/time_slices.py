"""Long computations in turns, so that one request does not hold the event loop while it is computed.

A long computation is written as a generator: it yields wherever it may be interrupted, and returns its result. What is
computed in turns must belong to one task alone: others run in between.
"""

import asyncio
import time
from collections.abc import Generator, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

Interruptible = Generator[None, None, Outcome]

# How long a turn is. A computation that is shorter is not interrupted.
SLICE_SECONDS = 0.005


def run_to_completion(steps: "Interruptible[Outcome]") -> Outcome:
    """Runs a computation without an interruption."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome


async def run_in_slices(steps: "Interruptible[Outcome]") -> Outcome:
    """Runs a computation, and lets others run after every turn."""
    ends_at = time.perf_counter() + SLICE_SECONDS
    while True:
        try:
            next(steps)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        if time.perf_counter() > ends_at:
            await asyncio.sleep(0)
            ends_at = time.perf_counter() + SLICE_SECONDS


def collect(items: Iterable[Item]) -> "Interruptible[list[Item]]":
    """The items of a lazy iterable as a list; it may be interrupted after each of them."""
    found = []
    for item in items:
        found.append(item)
        yield
    return found
