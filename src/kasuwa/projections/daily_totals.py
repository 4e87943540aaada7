"""Daily totals of final transactions: adds to them from the log of events, and reads them.

Every final transaction has exactly one event, and events of a merchant are numbered without a gap. The totals therefore
count each transaction once, also if business time was moved. The mark of a merchant is the last event that is counted.
A reader adds the events behind the mark, so that its figures are those of its snapshot.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date

import msgspec

from kasuwa.core.reading import Reader
from kasuwa.ledger.counted_amounts import COUNTED_AMOUNT
from kasuwa.ledger.open_transactions import open_keys
from kasuwa.postgres import connections
from kasuwa.postgres.advisory_locks import AdvisoryLock
from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.polling import Polling

POLL_SECONDS = 5.0
STATEMENT_SECONDS = 60.0
# Transactions are found by their references, however many events the planner expects.
TOTALS_SETTINGS = {**connections.KEYED_SETTINGS, "application_name": "kasuwa totals"}


ALL_MERCHANTS_ID = 0

MAX_EVENTS_PER_STEP = 5_000
MAX_LAGGING = 500
# Events that a reader counts itself. If there are more, the figures are behind, and it says so.
MAX_UNCOUNTED = 5_000
# Different reasons of failed transactions that a day keeps. Rails may put anything into their messages.
MAX_REASONS_PER_DAY = 40
EXPIRED_CODE = "expired"


class DailyTotal(msgspec.Struct, frozen=True):
    """Number and sum of the final transactions of one day that have everything else in common."""

    day: date
    kind: str
    currency: str
    status: str
    rail: str
    code: str  # "" unless it failed
    reason: str  # "" unless it failed
    count: int
    amount: int  # in minor units


TALLY = f"""
    (t.created_at at time zone 'Africa/Lagos')::date, t.kind, t.currency, t.status, t.rail,
    case t.status when 'failed' then left(coalesce(t.code, ''), 40) else '' end,
    case t.status when 'failed' then left(t.message, 160) else '' end, count(*),
    sum({COUNTED_AMOUNT})::bigint
"""
# Of several merchants at once: each with the event before the first, and the last.
COUNT_STEP = f"""
    select r.merchant_id, {TALLY}
    from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as r (merchant_id, mark, until)
    join event e on e.merchant_id = r.merchant_id and e.seq > r.mark and e.seq <= r.until
    join transaction t on t.merchant_id = e.merchant_id and t.txn_ref = e.reference
    group by 1, 2, 3, 4, 5, 6, 7, 8
"""
LAGGING = """
    select s.merchant_id, coalesce(m.event_seq, 0), s.last_event_seq from merchant_state s
    left join daily_total_mark m on m.merchant_id = s.merchant_id
    where s.last_event_seq > coalesce(m.event_seq, 0) order by s.merchant_id limit $1
"""
TRY_LOCK = "select pg_try_advisory_xact_lock($1)"
SET_MARKS = """
    insert into daily_total_mark (merchant_id, event_seq) select * from unnest($1::bigint[], $2::bigint[])
    on conflict (merchant_id) do update set event_seq = excluded.event_seq
"""
REASONS = """
    select distinct merchant_id, day, reason from daily_total
    where merchant_id = any($1::bigint[]) and day = any($2::date[]) and status = 'failed'
"""
ADD = """
    insert into daily_total (merchant_id, day, kind, currency, status, rail, code, reason, count, amount)
    select merchant_id, day, kind, currency, status, rail, code, reason, sum(count)::bigint, sum(amount)::bigint
    from unnest($1::bigint[], $2::date[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
        $9::bigint[], $10::bigint[])
        as t (merchant_id, day, kind, currency, status, rail, code, reason, count, amount)
    group by 1, 2, 3, 4, 5, 6, 7, 8
    on conflict (merchant_id, day, kind, currency, status, rail, code, reason)
        do update set count = daily_total.count + excluded.count, amount = daily_total.amount + excluded.amount
"""


class Uncounted(msgspec.Struct, frozen=True):
    """Events of a merchant that are not counted: those after the mark, up to the last."""

    merchant_id: int
    mark: int
    last: int


async def count_next(connection: Connection) -> bool:
    """Counts the next events of all merchants, MAX_EVENTS_PER_STEP at most.

    Returns False if none are left, or if another process is counting.

    One process counts at a time: all of them add to the sums of all merchants.
    """
    async with connection.transaction():
        if not await connection.fetchval(TRY_LOCK, AdvisoryLock.DAILY_TOTALS):
            return False
        step = choose_step(
            [Uncounted(*row) for row in await connection.fetch(LAGGING, MAX_LAGGING)], MAX_EVENTS_PER_STEP
        )
        if not step:
            return False
        merchants, marks, lasts = zip(*map(msgspec.structs.astuple, step), strict=True)
        rows = await connection.fetch(COUNT_STEP, merchants, marks, lasts)
        counted = [(merchant_id, DailyTotal(*total)) for merchant_id, *total in rows]
        await add_totals(connection, await limit_reasons_of_all(connection, counted))
        await add_totals(connection, [(ALL_MERCHANTS_ID, without_reason(total)) for _, total in counted])
        await connection.execute(SET_MARKS, merchants, lasts)
    return True


def choose_step(lagging: Iterable[Uncounted], room: int) -> list[Uncounted]:
    """Returns so many events for a step, from the first merchants on."""
    step = []
    for uncounted in lagging:
        last = min(uncounted.last, uncounted.mark + room)
        if last == uncounted.mark:
            break
        step.append(msgspec.structs.replace(uncounted, last=last))
        room -= last - uncounted.mark
    return step


async def limit_reasons_of_all(
    connection: Connection, counted: list[tuple[int, DailyTotal]]
) -> list[tuple[int, DailyTotal]]:
    """Returns the totals of several merchants with reasons limited for each."""
    by_merchant, known = defaultdict(list), defaultdict(set)
    for merchant_id, total in counted:
        by_merchant[merchant_id].append(total)
    days = {total.day for _, total in counted if total.reason}
    for merchant_id, *slot in await connection.fetch(REASONS, list(by_merchant), list(days)) if days else ():
        known[merchant_id].add(tuple(slot))
    return [
        (merchant_id, total)
        for merchant_id, totals in by_merchant.items()
        for total in limit_reasons(totals, known[merchant_id])
    ]


async def add_totals(connection: Connection, totals: Iterable[tuple[int, DailyTotal]]) -> None:
    rows = [(merchant_id, *msgspec.structs.astuple(total)) for merchant_id, total in totals]
    if rows:
        await connection.execute(ADD, *(list(column) for column in zip(*rows, strict=True)))


def without_reason(total: DailyTotal) -> DailyTotal:
    return msgspec.structs.replace(total, code="", reason="")


def limit_reasons(counted: Iterable[DailyTotal], known: set[tuple[date, str]]) -> list[DailyTotal]:
    """Returns the totals with the reasons that a day has no place for left out. `known` are those it has.

    The most frequent of the new reasons are kept. That a transaction expired is always kept.
    """
    slots, limited = set(known), []
    for total in sorted(counted, key=lambda total: -total.count):
        slot = (total.day, total.reason)
        if slot not in slots and total.reason and total.code != EXPIRED_CODE:
            if sum(day == total.day for day, _ in slots) >= MAX_REASONS_PER_DAY:
                limited.append(without_reason(total))
                continue
            slots.add(slot)
        limited.append(total)
    return limited


# --- reading --------------------------------------------------------------------------------------------------------

COUNT_EVENTS = f"""
    select {TALLY} from event e join transaction t on t.merchant_id = e.merchant_id and t.txn_ref = e.reference
    where e.merchant_id = $1 and e.seq > $2 and e.seq <= $3 group by 1, 2, 3, 4, 5, 6, 7
"""
TOTALS = """
    select day, kind, currency, status, rail, code, reason, count, amount from daily_total
    where merchant_id = $1 and day >= $2 and day <= $3
    order by day, kind, currency, status, rail, code, reason
"""
UNCOUNTED = """
    select coalesce(m.event_seq, 0), s.last_event_seq from merchant_state s
    left join daily_total_mark m on m.merchant_id = s.merchant_id where s.merchant_id = $1
"""


class TotalsOfDays(msgspec.Struct, frozen=True):
    """The totals of a range of days. `is_behind` if so many events are not counted that the reader left them out."""

    totals: list[DailyTotal]
    is_behind: bool = False


async def read_totals(reader: Reader, merchant_id: int, first: date, last: date) -> TotalsOfDays:
    """Returns the totals of a merchant from `first` to `last`, as of the reader's snapshot."""
    totals = [DailyTotal(*row) for row in await reader.fetch(TOTALS, merchant_id, first, last)]
    mark, newest = await reader.fetchrow(UNCOUNTED, merchant_id)
    if newest - mark > MAX_UNCOUNTED:
        return TotalsOfDays(totals, is_behind=True)
    if newest > mark:
        tail = [DailyTotal(*row) for row in await reader.fetch(COUNT_EVENTS, merchant_id, mark, newest)]
        totals += [total for total in tail if first <= total.day <= last]
    return TotalsOfDays(totals)


async def read_totals_of_all(reader: Reader, first: date, last: date) -> list[DailyTotal]:
    """Returns the sums of all merchants, as far as they are counted: a few seconds behind."""
    return [DailyTotal(*row) for row in await reader.fetch(TOTALS, ALL_MERCHANTS_ID, first, last)]


# --- open transactions ----------------------------------------------------------------------------------------------

# No more open transactions than this are counted.
MAX_OPEN = 20_000
OPEN_TOTALS = f"""
    select (o.created_at at time zone 'Africa/Lagos')::date, o.kind, o.currency, o.status, o.rail, '', '', count(*),
        sum(o.amount)::bigint
    from (
        select distinct t.key, t.created_at, t.kind, t.currency, t.status, t.rail, t.amount
        from ({open_keys("$1")} limit $2) j
        join transaction t on t.key = j.key
        where t.merchant_id = $1 and t.status in ('pending', 'processing')) o
    group by 1, 2, 3, 4, 5
"""


async def list_open_totals(reader: Reader, merchant_id: int) -> list[DailyTotal]:
    """Returns number and sum of a merchant's open transactions of each day. They are not in the daily totals."""
    return [DailyTotal(*row) for row in await reader.fetch(OPEN_TOTALS, merchant_id, MAX_OPEN)]


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
            while not self._stopping.is_set() and await count_next(connection):
                pass
        finally:
            connection.terminate()
