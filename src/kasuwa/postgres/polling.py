"""What a process repeats until it is stopped: the base of its loops."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import structlog

from kasuwa.observe.log import describe_error
from kasuwa.postgres import connections
from kasuwa.postgres.connections import DatabaseUnreachable

log = structlog.get_logger("kasuwa.postgres")


class Polling:
    """Something that is repeated until `stop` is called."""

    def __init__(self) -> None:
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        self._stopping.set()

    async def repeat(self, step: Callable[[], Awaitable[object]], seconds: float, failure: str) -> None:
        """Takes a step, pauses, and so on. A step that fails is logged under `failure`, and taken again."""
        while not self._stopping.is_set():
            try:
                await step()
            except Exception as error:
                log_failure(failure, error)
            await self.pause(seconds)

    async def drain(self, run_once: Callable[[], Awaitable[int]]) -> None:
        """Calls `run_once` until it finds nothing that is due."""
        while not self._stopping.is_set() and await run_once():
            pass

    async def pause(self, seconds: float) -> None:
        """Waits. Returns at once when it is stopped."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()


def log_failure(what: str, error: Exception, **where: str) -> None:
    """Logs an error that will be retried. Connection errors are not logged: they are reported elsewhere."""
    if not (connections.is_connection_error(error) or isinstance(error, DatabaseUnreachable)):
        log.error(what, **where, **describe_error(error))
