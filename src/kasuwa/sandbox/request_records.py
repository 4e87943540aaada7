"""The request log of the test environment: the newest API requests of each merchant, without their bodies.

Requests are recorded after their reply was sent, many at a time. A process writes at most MAX_ROWS each time, and
PENDING_PER_MERCHANT of each merchant, so that a load test costs no more than a few rows each second.
"""

from collections import defaultdict, deque
from datetime import datetime

import msgspec

from kasuwa.core.reading import Reader
from kasuwa.postgres.connection_pool import Pool

FLUSH_SECONDS = 1.0
PENDING_PER_MERCHANT = 50
# Rows that are written at a time, divided equally among the merchants. Each merchant gets one at least.
MAX_ROWS = 300
# Requests that are kept of each merchant.
KEPT_PER_MERCHANT = 200

ADD = """
    insert into request_record (mid, at, request_id, path, action, http, status, ms)
    select * from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::int[], $7::int[],
        $8::real[])
"""
TRIM = """
    delete from request_record r using unnest($1::text[]) m (mid)
    where r.mid = m.mid and r.number < (
        select number from request_record k where k.mid = m.mid order by number desc offset $2 limit 1)
"""
NEWEST = """
    select at, request_id, path, action, http, status, ms, number from request_record
    where mid = $1 and ($2 = false or status not in (200, 202)) and number < $3 order by number desc limit $4
"""


class RequestRecord(msgspec.Struct, frozen=True):
    """An API request and how it was answered."""

    at: datetime  # when the reply was sent
    request_id: str
    path: str
    action: str
    http: int  # HTTP status
    status: int  # status in the body
    ms: float
    number: int = 0  # in the order of writing; given by the database


class RequestRecorder:
    """Records the requests of one process. `flush` must be called every FLUSH_SECONDS."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._pending: defaultdict[str, deque[RequestRecord]] = defaultdict(lambda: deque(maxlen=PENDING_PER_MERCHANT))

    def add(self, mid: str, record: RequestRecord) -> None:
        self._pending[mid].append(record)

    async def flush(self) -> None:
        """Writes what is pending, and removes what is no longer kept."""
        pending, self._pending = self._pending, defaultdict(lambda: deque(maxlen=PENDING_PER_MERCHANT))
        if not pending:
            return
        share = max(1, MAX_ROWS // len(pending))
        newest = [(mid, record) for mid, records in pending.items() for record in list(records)[-share:]]
        rows = [(mid, *msgspec.structs.astuple(record)[:-1]) for mid, record in newest]
        async with self._pool.acquire() as connection:
            await connection.execute(ADD, *(list(column) for column in zip(*rows, strict=True)))
            await connection.execute(TRIM, list(pending), KEPT_PER_MERCHANT - 1)


async def list_newest(reader: Reader, mid: str, only_refused: bool, before: int, limit: int) -> list[RequestRecord]:
    """Returns the newest requests of a merchant before a number, or those of them that were refused or failed."""
    return [RequestRecord(*row) for row in await reader.fetch(NEWEST, mid, only_refused, before, limit)]
