"""Deadlines that share one timer."""

import asyncio
from typing import Any

import pytest

from kasuwa.concurrency.deadlines import Deadlines


async def wait_under(deadlines: Deadlines, seconds: float, waiting: "asyncio.Future[Any]") -> str:
    try:
        with deadlines.within(seconds):
            await waiting
    except TimeoutError:
        return "late"
    return "in time"


def test_what_is_late_is_cancelled_and_its_task_goes_on() -> None:
    async def run() -> tuple[str, int]:
        task = asyncio.current_task()
        assert task is not None
        result = await wait_under(Deadlines(), 0.01, asyncio.get_running_loop().create_future())
        # The cancellation was taken back, so the task can wait again, also under a timeout of its own.
        async with asyncio.timeout(60):
            await asyncio.sleep(0)
        return result, task.cancelling()

    assert asyncio.run(run()) == ("late", 0)


def test_what_ends_in_time_is_left_alone_afterwards() -> None:
    async def run() -> str:
        deadlines, done = Deadlines(), asyncio.get_running_loop().create_future()
        done.set_result(None)
        result = await wait_under(deadlines, 0.01, done)
        # Long enough for the timer to run.
        await asyncio.sleep(1.2)
        return result

    assert asyncio.run(run()) == "in time"


def test_only_the_task_that_is_late_is_cancelled() -> None:
    async def run() -> list[str]:
        deadlines, loop = Deadlines(), asyncio.get_running_loop()
        released = loop.create_future()
        short = loop.create_task(wait_under(deadlines, 0.01, loop.create_future()))
        long = loop.create_task(wait_under(deadlines, 600, released))
        first = await short
        released.set_result(None)
        return [first, await long]

    assert asyncio.run(run()) == ["late", "in time"]


def test_a_cancellation_by_others_is_not_taken_for_a_deadline() -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(wait_under(Deadlines(), 600, loop.create_future()))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
