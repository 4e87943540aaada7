"""The task of the worker that keeps the daily totals up to date."""

from kasuwa.db import connections, daily_totals
from kasuwa.work.polling import Polling

POLL_SECONDS = 5.0
STATEMENT_SECONDS = 60.0


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
        settings = {"application_name": "kasuwa totals"}
        connection = await connections.connect(self._dsn, settings, statement_seconds=STATEMENT_SECONDS)
        try:
            while not self._stopping.is_set() and (lagging := await daily_totals.list_lagging(connection)):
                for merchant_id, _, last in lagging:
                    if self._stopping.is_set() or not await daily_totals.count_next(connection, merchant_id, last):
                        return
        finally:
            connection.terminate()
