"""The writer for a distributed database: several writers, each for merchants of one server.

A batch is of one merchant there, so that one writer would commit merchant after merchant. And a server that is away
would hold up the merchants of the others.
"""

import asyncio
from functools import partial

from kasuwa.engine.batch import Deployment, Result, Submission
from kasuwa.engine.write_statements import DISTRIBUTED
from kasuwa.engine.writer import Writer
from kasuwa.engine.writer_session import CommitObserver
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.distribution.shards import ShardMap

# Each has a connection that writes and one that reads, from its first submission on.
LANES_PER_SERVER = 4


class LanedWriter(Writer):
    """Passes each submission to the writer of its merchant's lane. All submissions of a merchant have the same one."""

    def __init__(
        self, dsn: str, deployment: Deployment, on_commit: CommitObserver, clock: DatabaseClock, shards: ShardMap
    ) -> None:
        super().__init__(dsn, deployment, on_commit, clock, statements=DISTRIBUTED)
        self._make_lane = partial(Writer, dsn, deployment, on_commit, clock, statements=DISTRIBUTED)
        self._shards = shards
        self._lanes: dict[tuple[int, int], Writer] = {}

    def start(self) -> None:
        """Does nothing: a lane starts with its first submission."""

    async def close(self) -> None:
        await asyncio.gather(*(lane.close() for lane in self._lanes.values()))

    def submit(self, submission: Submission) -> "asyncio.Future[Result]":
        number, server = self._shards.find(submission.merchant.merchant_id)
        key = server, number % LANES_PER_SERVER
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = self._make_lane()
            lane.start()
        return lane.submit(submission)

    def find_problem(self) -> str | None:
        """Returns why no write can be done, or None while some lane works: merchants of other servers are served."""
        problems = [lane.find_problem() for lane in self._lanes.values()]
        return problems[0] if problems and None not in problems else None
