"""Decides on what a snapshot holds, and writes nothing: for actions of the writer's that only show something.

Such an action, shown together with reads, must see the same state of the database as they do. The writer would decide
it on the newest.
"""

from kasuwa.core.decision import Decision
from kasuwa.core.references import book_key
from kasuwa.db.batch import Book, Desk, Result, Submission, World
from kasuwa.db.clock import Clock
from kasuwa.db.locked import decide_on
from kasuwa.db.memory import Memory
from kasuwa.db.pool import Connection
from kasuwa.db.rows import joined, select_by_key


class WouldWrite(Exception):
    """A decision that was to show something would have changed something."""


class SnapshotWriter:
    """Takes submissions as `Writer` does. `connection` is in a snapshot that the caller opened."""

    def __init__(self, connection: Connection, world: World, clock: Clock) -> None:
        self._connection = connection
        self._world = world
        self.clock = clock

    async def submit(self, submission: Submission) -> Result:
        """Raises WouldWrite where the decision changes anything or has a follow-up: nothing is done then."""
        key = book_key(submission.merchant.merchant_id)
        [record] = await self._connection.fetch(select_by_key(Book), joined([key]))
        desk = Desk(self._world, self.clock.now(), self.clock.earliest())
        desk.open_book(Book(*record))
        [result] = await decide_on(desk, Memory(), self._connect, [submission])
        if isinstance(result, Decision) and (result.changes_anything or result.then is not None):
            raise WouldWrite
        return result

    async def _connect(self) -> Connection:
        return self._connection
