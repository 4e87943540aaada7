"""Several writers in place of one, for layouts in which a batch is of one merchant: one writer would commit merchant
after merchant.
"""

import asyncio
from collections.abc import Hashable
from functools import partial

from kasuwa.engine.batch import Deployment, Result, Submission
from kasuwa.engine.writer import Writer
from kasuwa.engine.writer_session import CommitObserver
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.layout import Lanes, Layout


class LanedWriter(Writer):
    """Passes each submission to the writer of its merchant's lane. All submissions of a merchant have the same one."""

    def __init__(
        self,
        dsn: str,
        deployment: Deployment,
        on_commit: CommitObserver,
        clock: DatabaseClock,
        layout: Layout,
        lanes: Lanes,
    ) -> None:
        super().__init__(dsn, deployment, on_commit, clock, layout=layout)
        self._make_writer = partial(Writer, dsn, deployment, on_commit, clock, layout=layout)
        self._lanes = lanes
        self._writers: dict[Hashable, Writer] = {}

    def start(self) -> None:
        """Does nothing: a writer starts with the first submission of its lane."""

    async def close(self) -> None:
        await asyncio.gather(*(writer.close() for writer in self._writers.values()))

    def submit(self, submission: Submission) -> "asyncio.Future[Result]":
        lane = self._lanes.find_lane(submission.merchant.merchant_id)
        writer = self._writers.get(lane)
        if writer is None:
            writer = self._writers[lane] = self._make_writer()
            writer.start()
        return writer.submit(submission)

    def find_problem(self) -> str | None:
        """Returns why no write can be done, or None while some lane works: its merchants are served."""
        problems = [writer.find_problem() for writer in self._writers.values()]
        return problems[0] if problems and None not in problems else None
