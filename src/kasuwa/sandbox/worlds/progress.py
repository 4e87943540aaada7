"""How far a snapshot, a restore or a copy is, for whoever waits for it: every process shows it.

A small world is done before the first row is written, so it costs nothing.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import datetime

import msgspec
import structlog

from kasuwa.observe.log import describe_error
from kasuwa.postgres.connection_pool import QueryRunner
from kasuwa.sandbox.worlds.blocks import Block

TELL_SECONDS = 1.0
# Of a process that has died.
STALE_SECONDS = 15

TELL = """
    insert into world_progress as p (mid, act, name, done_rows, total_rows) values ($1, $2, $3, $4, $5)
    on conflict (mid, act) do update set name = excluded.name, done_rows = excluded.done_rows,
        total_rows = excluded.total_rows, written_at = excluded.written_at,
        began_at = case when $6 then excluded.began_at else p.began_at end
"""
FORGET = "delete from world_progress where mid = $1 and act = $2"
LIST = f"""
    select act, name, done_rows, total_rows, began_at from world_progress
    where mid = $1 and written_at > clock_timestamp() - interval '{STALE_SECONDS} seconds' order by act
"""

log = structlog.get_logger("kasuwa.sandbox")


class RunningAct(msgspec.Struct, frozen=True):
    """An act that is running."""

    act: str
    name: str
    done_rows: int
    total_rows: int
    began_at: datetime


class Progress(msgspec.Struct):
    """The rows of an act."""

    done: int = 0
    total: int = 0  # 0 while they are being counted

    async def count(self, blocks: AsyncIterator[Block]) -> AsyncIterator[Block]:
        """Yields blocks, and counts the rows of each once the next one is asked for."""
        async for block in blocks:
            yield block
            self.done += len(block.rows)


async def list_running(reader: QueryRunner, mid: str) -> list[RunningAct]:
    return [RunningAct(*row) for row in await reader.fetch(LIST, mid)]


@contextlib.asynccontextmanager
async def telling(
    runner: QueryRunner, mid: str, act: str, name: str, *, every_seconds: float = TELL_SECONDS
) -> AsyncIterator[Progress]:
    """Tells others of the progress that it yields for as long as it is entered. Enter it before a connection of the
    same pool is taken: it takes one for each time."""
    progress = Progress()
    task = asyncio.create_task(tell(runner, mid, act, name, progress, every_seconds))
    try:
        yield progress
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def tell(runner: QueryRunner, mid: str, act: str, name: str, progress: Progress, every_seconds: float) -> None:
    """Writes the row again and again until it is cancelled, and then deletes it."""
    times = 0
    try:
        while True:
            await asyncio.sleep(every_seconds)
            times += 1
            try:
                await runner.execute(TELL, mid, act, name, progress.done, progress.total, times == 1)
            except Exception as error:  # nobody waits for it: the act goes on
                log.warning("the progress of a world could not be written", **describe_error(error))
    finally:
        if times:
            with contextlib.suppress(Exception):
                await runner.execute(FORGET, mid, act)
