"""Runs long computations in time slices, so that they do not block the event loop.

Such a computation is a generator: it yields wherever it may be interrupted, and returns its result. Other tasks run in
between, so its data must belong to one task alone.
"""

import asyncio
import time
from collections.abc import Generator, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

Interruptible = Generator[None, None, Outcome]

# Length of a slice. A shorter computation is not interrupted.
SLICE_SECONDS = 0.005
# The slices of all computations that run beside others are together so long. However many there are, another task waits
# no longer for its turn.
SHARED_SLICE_SECONDS = 0.002


class SharedSlice:
    """The computations of this process that share a slice."""

    running = 0


def run_to_completion(steps: "Interruptible[Outcome]") -> Outcome:
    """Runs a computation without interruption."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome


async def run_in_slices(steps: "Interruptible[Outcome]") -> Outcome:
    """Runs a computation and lets other tasks run after every slice."""
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


async def run_in_shared_slices(steps: "Interruptible[Outcome]") -> Outcome:
    """Runs a long computation of one merchant beside those of others, with which it shares its slices."""
    SharedSlice.running += 1
    try:
        while True:
            ends_at = time.perf_counter() + SHARED_SLICE_SECONDS / SharedSlice.running
            while time.perf_counter() <= ends_at:
                next(steps)
            await asyncio.sleep(0)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome
    finally:
        SharedSlice.running -= 1


def collect(items: Iterable[Item]) -> "Interruptible[list[Item]]":
    """Collects a lazy iterable into a list. Can be interrupted after each item."""
    collected = []
    for item in items:
        collected.append(item)
        yield
    return collected
