"""Sums of settlements: adds to them from the journal. methods/statements/settlements/store.py reads them.

Postings of a merchant are numbered without a gap and never change. The mark of a merchant is the last posting that is
summed, so that each is summed once, for the day of its own time. A reader adds the postings behind the mark. Merchants
that are behind by a few thousand postings are left to it: most never have a row here.
"""

from kasuwa.ledger.settlement_lines import SUM_LINES
from kasuwa.postgres import connections
from kasuwa.postgres.advisory_locks import AdvisoryLock
from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.polling import Polling

POLL_SECONDS = 10.0
STATEMENT_SECONDS = 60.0

# A reader sums so many postings in a few milliseconds.
LEAST_BEHIND = 4_000
MAX_POSTINGS_PER_STEP = 20_000
MAX_LAGGING = 500

LAGGING = """
    select s.merchant_id, s.last_posting_seq from merchant_state s
    left join settlement_sum_mark m on m.merchant_id = s.merchant_id
    where s.last_posting_seq - coalesce(m.posting_seq, 0) >= $1 order by s.merchant_id limit $2
"""
TRY_LOCK = "select pg_try_advisory_xact_lock($1)"
MARK = "select coalesce((select posting_seq from settlement_sum_mark where merchant_id = $1), 0)"
SET_MARK = """
    insert into settlement_sum_mark (merchant_id, posting_seq) values ($1, $2)
    on conflict (merchant_id) do update set posting_seq = excluded.posting_seq
"""
ADD = f"""
    with summed as (select * from posting where merchant_id = $1 and seq > $2 and seq <= $3)
    insert into settlement_sum (merchant_id, day, currency, line, reference, amount, count) {SUM_LINES}
    on conflict (merchant_id, day, currency, line, reference) do update
        set amount = settlement_sum.amount + excluded.amount, count = settlement_sum.count + excluded.count
"""


async def list_lagging(connection: Connection) -> list[tuple[int, int]]:
    """Returns merchants with many postings that are not summed: number and last posting."""
    return [tuple(row) for row in await connection.fetch(LAGGING, LEAST_BEHIND, MAX_LAGGING)]


async def sum_next(connection: Connection, merchant_id: int, last: int) -> bool:
    """Sums the next postings of a merchant, up to `last` at most. Returns False if another process is summing.

    `last` must be committed. The sums and the mark change in one transaction.
    """
    async with connection.transaction():
        if not await connection.fetchval(TRY_LOCK, AdvisoryLock.SETTLEMENT_SUMS):
            return False
        mark = await connection.fetchval(MARK, merchant_id)
        until = min(last, mark + MAX_POSTINGS_PER_STEP)
        if until > mark:
            await connection.execute(ADD, merchant_id, mark, until)
            await connection.execute(SET_MARK, merchant_id, until)
    return True


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
            while not self._stopping.is_set() and (lagging := await list_lagging(connection)):
                for merchant_id, last in lagging:
                    if self._stopping.is_set() or not await sum_next(connection, merchant_id, last):
                        return
        finally:
            connection.terminate()
