"""Decides submissions on a snapshot and writes nothing, for write actions that are used only to show something.

Shown together with reads, such an action must see the same database state as they do. The writer would decide it on the
newest state.
"""

from kasuwa.core.decision import Decision
from kasuwa.core.references import merchant_state_key
from kasuwa.engine.batch import BatchState, Deployment, Result, Submission
from kasuwa.engine.locked_batch import fetch_and_decide
from kasuwa.engine.merchant_state import MerchantState
from kasuwa.engine.row_cache import RowCache
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.layout import find_layout


class WouldWrite(Exception):
    """Raised when a decision made on a snapshot would have written something."""


class SnapshotWriter:
    """Accepts submissions like `Writer`. `connection` must be in a snapshot that the caller opened."""

    def __init__(self, connection: Connection, deployment: Deployment, clock: DatabaseClock) -> None:
        self._connection = connection
        self._deployment = deployment
        self.clock = clock

    async def submit(self, submission: Submission) -> Result:
        """Returns the result. Raises WouldWrite if the decision changes anything or has a follow-up."""
        key = merchant_state_key(submission.merchant.merchant_id)
        layout = find_layout(self._connection)
        values = (key, *layout.select_values(MerchantState, submission.merchant.merchant_id))
        [record] = await self._connection.fetch(layout.select(MerchantState), *values)
        state = BatchState(self._deployment, self.clock.now(), self.clock.earliest_now())
        state.add_merchant_state(MerchantState(*record))
        [result] = await fetch_and_decide(state, RowCache(), self._connect, [submission], layout)
        if isinstance(result, Decision) and (result.changes_anything or result.follow_up is not None):
            raise WouldWrite
        return result

    async def _connect(self) -> Connection:
        return self._connection
