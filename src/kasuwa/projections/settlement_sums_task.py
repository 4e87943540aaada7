"""The task of the worker that keeps the sums of settlements up to date."""

from kasuwa.postgres import connections
from kasuwa.postgres.polling import Polling
from kasuwa.projections import settlement_sums

POLL_SECONDS = 10.0
STATEMENT_SECONDS = 60.0


class SettlementSums(Polling):
    """Sums the postings of merchants that have many new ones. One process sums at a time, in whichever worker."""

    def __init__(self, dsn: str) -> None:
        super().__init__()
        self._dsn = dsn

    async def run(self) -> None:
        """Sums new postings every few seconds, until it is stopped."""
        await self.repeat(self.sum_all, POLL_SECONDS, "summing settlements failed")

    async def sum_all(self) -> None:
        """Sums until no merchant has many postings that are not summed, or another process sums."""
        settings = {"application_name": "kasuwa settlement sums"}
        connection = await connections.connect(self._dsn, settings, statement_seconds=STATEMENT_SECONDS)
        try:
            while not self._stopping.is_set() and (lagging := await settlement_sums.list_lagging(connection)):
                for merchant_id, last in lagging:
                    if self._stopping.is_set() or not await settlement_sums.sum_next(connection, merchant_id, last):
                        return
        finally:
            connection.terminate()
