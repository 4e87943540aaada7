"""The task of the worker that keeps the daily totals up to date."""

from kasuwa.postgres import connections
from kasuwa.postgres.polling import Polling
from kasuwa.projections import daily_totals

POLL_SECONDS = 5.0
STATEMENT_SECONDS = 60.0
# Transactions are found by their references, however many events the planner expects.
TOTALS_SETTINGS = {**connections.KEYED_SETTINGS, "application_name": "kasuwa totals"}


class DailyTotals(Polling):
    """Counts the events that are not in the daily totals yet. One process counts at a time, in whichever worker."""

    def __init__(self, dsn: str) -> None:
        super().__init__()
        self._dsn = dsn

    async def run(self) -> None:
        """Counts new events every few seconds, until it is stopped."""
        await self.repeat(self.count_all, POLL_SECONDS, "counting the daily totals failed")

    async def count_all(self) -> None:
        """Counts until no merchant has events that are not counted, or another process counts."""
        connection = await connections.connect(self._dsn, TOTALS_SETTINGS, statement_seconds=STATEMENT_SECONDS)
        try:
            while not self._stopping.is_set() and await daily_totals.count_next(connection):
                pass
        finally:
            connection.terminate()
