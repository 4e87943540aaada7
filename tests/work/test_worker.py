"""The worker's poll for due jobs: after any failure it is repeated."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from kasuwa.db.clock import DatabaseClock
from kasuwa.work import worker
from kasuwa.work.worker import Worker


class Claims:
    """A pool that fails, then reports a lane with a due job."""

    def __init__(self, trouble: Exception) -> None:
        self._trouble: list[Exception] = [trouble]

    @contextlib.asynccontextmanager
    async def acquire(self) -> AsyncIterator["Claims"]:
        yield self

    async def fetch(self, query: str, *values: Any) -> list[tuple[str]]:
        if self._trouble:
            raise self._trouble.pop()
        return [("bank",)]

    async def execute(self, query: str) -> None:
        raise asyncpg.InvalidCachedStatementError("the schema has changed")


class Noticing(Worker):
    """Stops when its lane is run."""

    async def run_once(self, lane: str) -> int:
        self.ran = lane
        self.stop()
        return 0


@pytest.mark.parametrize("trouble", [ConnectionResetError(), asyncpg.InvalidCachedStatementError("changed")])
def test_a_look_that_fails_is_taken_again(trouble: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "POLL_SECONDS", 0.01)

    async def run() -> str:
        made = Noticing(Claims(trouble), None, None, DatabaseClock())  # type: ignore[arg-type]
        async with asyncio.timeout(10):
            await made.run(["bank", "card"])
        return made.ran

    assert asyncio.run(run()) == "bank"
