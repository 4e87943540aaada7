"""Decides on what a snapshot holds, and writes nothing: for actions of the writer's that only show something.

Such an action, shown together with reads, must see the same state of the database as they do. The writer would decide
it on the newest.
"""

from kasuwa.core.decision import Decision
from kasuwa.core.references import book_key
from kasuwa.db.batch import BatchState, Deployment, MerchantState, Result, Submission
from kasuwa.db.bulk_sql import concat_keys, select_by_key
from kasuwa.db.clock import DatabaseClock
from kasuwa.db.connections import Connection
from kasuwa.db.locked_batch import fetch_and_decide
from kasuwa.db.row_cache import RowCache


class WouldWrite(Exception):
    """A decision that was to show something would have changed something."""


class SnapshotWriter:
    """Takes submissions as `Writer` does. `connection` is in a snapshot that the caller opened."""

    def __init__(self, connection: Connection, world: Deployment, clock: DatabaseClock) -> None:
        self._connection = connection
        self._world = world
        self.clock = clock

    async def submit(self, submission: Submission) -> Result:
        """Raises WouldWrite where the decision changes anything or has a follow-up: nothing is done then."""
        key = book_key(submission.merchant.merchant_id)
        [record] = await self._connection.fetch(select_by_key(MerchantState), concat_keys([key]))
        desk = BatchState(self._world, self.clock.now(), self.clock.earliest_now())
        desk.add_merchant_state(MerchantState(*record))
        [result] = await fetch_and_decide(desk, RowCache(), self._connect, [submission])
        if isinstance(result, Decision) and (result.changes_anything or result.follow_up is not None):
            raise WouldWrite
        return result

    async def _connect(self) -> Connection:
        return self._connection
