"""The request log of the test environment: the newest API requests of each merchant, with their replies.

Requests are recorded after their reply was sent, many at a time. A process writes at most MAX_ROWS each time, divided
equally among the merchants, and the rest later, so that a load test costs no more than a few rows each second. What
would wait in more than MAX_PENDING_BYTES of memory is left out.
"""

import asyncio
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import msgspec

from kasuwa.concurrency.time_slices import collect, run_in_shared_slices
from kasuwa.core.reading import Reader
from kasuwa.core.vault import Vault
from kasuwa.postgres.connection_pool import Connection, Pool
from kasuwa.sandbox.request_bodies import Bodies, clip_body, mask_body, open_bodies, seal_bodies

FLUSH_SECONDS = 1.0
# Of each merchant, the newest. Their bodies wait in memory.
PENDING_PER_MERCHANT = 1_000
MAX_PENDING_BYTES = 16 * 1024 * 1024
# Rows that are written at a time. Each merchant gets one at least.
MAX_ROWS = 300
# Requests that are kept of each merchant, so many more until they are removed together, and for how long.
KEPT_PER_MERCHANT = 10_000
TRIMMED_AFTER = 200
KEPT_FOR = timedelta(days=7)
PURGE_SECONDS = 3600.0
# Rows that a search opens at a time.
SEARCHED_ROWS = 500

# Numbers are in the order of commits, so that whoever follows the log misses none.
LOCK = "lock table request_record in share row exclusive mode"
ADD = """
    insert into request_record (mid, at, request_id, path, action, http, status, ms, sealed)
    select * from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::int[], $7::int[],
        $8::real[], $9::bytea[])
"""
TRIM = """
    delete from request_record r using unnest($1::text[]) m (mid)
    where r.mid = m.mid and r.number < (
        select number from request_record k where k.mid = m.mid order by number desc offset $2 limit 1)
"""
PURGE = "delete from request_record where at < now() - $1::interval"
COLUMNS = "number, at, request_id, path, action, http, status, ms, sealed"
NEWEST = f"""
    select {COLUMNS} from request_record
    where mid = $1 and (not $2 or status not in (200, 202)) and number < $3 order by number desc limit $4
"""
FOLLOWING = f"""
    select {COLUMNS} from request_record
    where mid = $1 and (not $2 or status not in (200, 202)) and number > $3 order by number limit $4
"""
ONE = f"select {COLUMNS} from request_record where mid = $1 and number = $2"
NEWEST_NUMBER = "select coalesce(max(number), 0) from request_record where mid = $1"
LAST_NUMBER = 2**63 - 1


class RequestRecord(msgspec.Struct, frozen=True):
    """An API request and how it was answered, in memory."""

    at: datetime  # when the reply was sent
    request_id: str
    path: str
    action: str
    http: int  # HTTP status
    status: int  # status in the body
    ms: float
    sent: bytes = b""
    answered: bytes = b""

    @property
    def size(self) -> int:
        return len(self.sent) + len(self.answered)


class LoggedRequest(msgspec.Struct, frozen=True):
    """An API request as the log shows it."""

    number: int  # in the order of writing
    at: datetime
    request_id: str
    path: str
    action: str
    http: int
    status: int
    ms: float
    bodies: Bodies

    def has(self, words: str) -> bool:
        """Returns whether a text in lower case is in the path, the action, the request id or a body."""
        texts = (self.path, self.action, self.request_id, self.bodies.sent, self.bodies.answered)
        return any(words in text.lower() for text in texts)


class RequestFilter(msgspec.Struct, frozen=True):
    """The requests of a merchant that are listed."""

    search: str = ""
    only_refused: bool = False
    before: int = LAST_NUMBER
    after: int | None = None  # lists the following ones, oldest first


class RequestRecorder:
    """Records the requests of one process. `flush` must be called every FLUSH_SECONDS."""

    def __init__(self, pool: Pool, vault: Vault) -> None:
        self._pool = pool
        self._vault = vault
        self._pending: defaultdict[str, deque[RequestRecord]] = defaultdict(deque)
        self._pending_bytes = 0
        self._untrimmed: Counter[str] = Counter()
        self._purge_at = 0.0
        self._writing = asyncio.Lock()

    def add(self, mid: str, record: RequestRecord) -> None:
        record = msgspec.structs.replace(record, sent=clip_body(record.sent), answered=clip_body(record.answered))
        records = self._pending[mid]
        records.append(record)
        self._pending_bytes += record.size
        while len(records) > PENDING_PER_MERCHANT or (self._pending_bytes > MAX_PENDING_BYTES and records):
            self._pending_bytes -= records.popleft().size

    async def flush(self) -> None:
        """Writes what is pending, as far as it is not too much at a time, and removes what is no longer kept."""
        async with self._writing:
            await self._write_batch()

    async def flush_merchant(self, mid: str) -> None:
        """Writes all that is pending of a merchant, also what another flush has taken and not yet committed."""
        async with self._writing:
            # Not what comes meanwhile: a merchant that never pauses would keep the others waiting.
            left = len(self._pending.get(mid, ()))
            while left > 0 and self._pending.get(mid):
                left -= (await self._write_batch())[mid]

    async def _write_batch(self) -> Counter[str]:
        """Returns how many requests of each merchant it wrote."""
        batch = list(self._take())
        if batch:
            rows = await run_in_shared_slices(collect(self._make_row(mid, record) for mid, record in batch))
            async with self._pool.acquire() as connection:
                async with connection.transaction():
                    await connection.execute(LOCK)
                    await connection.execute(ADD, *(list(column) for column in zip(*rows, strict=True)))
                self._untrimmed.update(mid for mid, _ in batch)
                await self._remove_old(connection)
        return Counter(mid for mid, _ in batch)

    def _take(self) -> Iterator[tuple[str, RequestRecord]]:
        share = max(1, MAX_ROWS // max(1, len(self._pending)))
        for mid, records in list(self._pending.items()):
            for _ in range(min(share, len(records))):
                record = records.popleft()
                self._pending_bytes -= record.size
                yield mid, record
            if not records:
                del self._pending[mid]

    def _make_row(self, mid: str, record: RequestRecord) -> tuple[Any, ...]:
        bodies = Bodies(mask_body(record.sent), mask_body(record.answered))
        sealed = seal_bodies(self._vault, mid, record.request_id, bodies)
        return (mid, *msgspec.structs.astuple(record)[:-2], sealed)

    async def _remove_old(self, connection: Connection) -> None:
        full = [mid for mid, count in self._untrimmed.items() if count >= TRIMMED_AFTER]
        if full:
            await connection.execute(TRIM, full, KEPT_PER_MERCHANT - 1)
            for mid in full:
                del self._untrimmed[mid]
        if time.monotonic() >= self._purge_at:
            self._purge_at = time.monotonic() + PURGE_SECONDS
            self._untrimmed.clear()
            await connection.execute(PURGE, KEPT_FOR)


async def list_requests(
    reader: Reader, vault: Vault, mid: str, wanted: RequestFilter, limit: int
) -> list[LoggedRequest]:
    """Returns requests of a merchant newest first, or oldest first those after a number."""
    requests: list[LoggedRequest] = []
    sql, number = (NEWEST, wanted.before) if wanted.after is None else (FOLLOWING, wanted.after)
    words, step = wanted.search.lower(), SEARCHED_ROWS if wanted.search else limit
    while len(requests) < limit:
        rows = await reader.fetch(sql, mid, wanted.only_refused, number, step)
        opened = await run_in_shared_slices(collect(open_row(vault, mid, row) for row in rows))
        requests += [request for request in opened if not words or request.has(words)]
        if len(rows) < step:
            break
        number = opened[-1].number
    return requests[:limit]


async def find_newest_number(reader: Reader, mid: str) -> int:
    """Returns the number of a merchant's newest request, 0 if there is none. Later ones have higher numbers."""
    [[number]] = await reader.fetch(NEWEST_NUMBER, mid)
    return int(number)


async def find_request(reader: Reader, vault: Vault, mid: str, number: int) -> LoggedRequest | None:
    row = await reader.fetchrow(ONE, mid, number)
    return None if row is None else open_row(vault, mid, row)


def open_row(vault: Vault, mid: str, row: Any) -> LoggedRequest:
    number, at, request_id, path, action, http, status, ms, sealed = row
    bodies = open_bodies(vault, mid, request_id, sealed)
    return LoggedRequest(number, at, request_id, path, action, http, status, ms, bodies)
