"""Reads of a merchant's event log for its pages. merchant_id is in every WHERE."""

from datetime import datetime

import msgspec

from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.core.reading import Reader

# Events that one page of a filtered list looks at. Their numbers have no gap, so it is known where the next begins.
WINDOW = 5_000
# Attempts that the success rate is of, and events that are counted as failed or waiting at most.
RECENT_ATTEMPTS = 1_000
MAX_COUNTED = 1_000

LAST = "select last_event_seq from merchant_state where merchant_id = $1"
TIME_OF = "select at from event where merchant_id = $1 and seq = $2"

# What is known of an endpoint that was removed does not count.
IS_REMOVED = """exists (select 1 from webhook_endpoint w where w.merchant_id = {x}.merchant_id
    and w.endpoint_id = {x}.endpoint_id and w.removed_at is not null)"""
IS_WAITING = """exists (select 1 from scheduled_job j where j.merchant_id = e.merchant_id and j.lane = 'webhook'
    and j.reference = e.reference)"""
IS_TRIED = f"""exists (
    select 1 from (select {FIRST_ENDPOINT} as endpoint_id union all select w.endpoint_id from webhook_endpoint w
        where w.merchant_id = e.merchant_id and w.removed_at is null) p
    join delivery_attempt a
        on a.merchant_id = e.merchant_id and a.endpoint_id = p.endpoint_id and a.event_seq = e.seq)"""
# Events whose last attempt failed at an endpoint. They are found by a table of their own, however far back they are.
FAILED_EVENTS = f"""
    select distinct u.event_seq from undelivered_event u where u.merchant_id = $1 and not {IS_REMOVED.format(x="u")}
"""
HAS_FAILED = f"e.seq in ({FAILED_EVENTS})"
# What each filter means: the last attempt failed at some endpoint; an attempt is to come; all endpoints accepted it; it
# was never sent.
STATE_CONDITIONS = {
    "": "true",
    "failed": HAS_FAILED,
    "waiting": IS_WAITING,
    "delivered": f"{IS_TRIED} and not {HAS_FAILED} and not {IS_WAITING}",
    "unsent": f"not {IS_TRIED} and not {IS_WAITING}",
}
PICK = """
    select e.seq from event e where e.merchant_id = $1 and e.seq >= $2 and e.seq < $3 and ($4 = '' or e.kind = $4)
        and {condition} order by e.seq desc limit $5
"""
PICK_BY_STATE = {state: PICK.format(condition=condition) for state, condition in STATE_CONDITIONS.items()}
PICK_FAILED = f"""
    select e.seq from ({FAILED_EVENTS}) u join event e on e.seq = u.event_seq
    where e.merchant_id = $1 and e.seq >= $2 and e.seq < $3 and ($4 = '' or e.kind = $4)
    order by e.seq desc limit $5
"""

WAITING_EVENTS = "select distinct j.reference from scheduled_job j where j.merchant_id = $1 and j.lane = 'webhook'"
ENDPOINT = f"""
    with recent as (
        select a.http, a.ms from delivery_attempt a
        where a.merchant_id = $1 and a.endpoint_id = {FIRST_ENDPOINT} and (a.http is not null or a.ms > 0)
        order by a.event_seq desc, a.number desc limit {RECENT_ATTEMPTS})
    select (select count(*) from recent), (select count(*) from recent where http between 200 and 299),
        coalesce((select array_agg(ms) from recent), '{{}}'),
        (select count(*) from ({FAILED_EVENTS} limit {MAX_COUNTED}) f),
        (select count(*) from ({WAITING_EVENTS} limit {MAX_COUNTED}) w),
        coalesce((select settings ->> 'webhook_url' from merchant where merchant_id = $1), ''),
        (select failing_since from failing_endpoint where merchant_id = $1 and endpoint_id = {FIRST_ENDPOINT}),
        (select off_at from failing_endpoint where merchant_id = $1 and endpoint_id = {FIRST_ENDPOINT})
"""


class EventFilter(msgspec.Struct, frozen=True):
    """Filter of the list of events. An empty text does not filter."""

    kind: str = ""
    state: str = ""  # one of STATE_CONDITIONS
    since: datetime | None = None
    until: datetime | None = None  # exclusive


class EventPage(msgspec.Struct, frozen=True):
    """Numbers of the events of a page. The next page begins before `next_before`; None if there is none."""

    sequences: list[int]
    next_before: int | None


class EndpointFigures(msgspec.Struct, frozen=True):
    """The health of the first endpoint, and the events of all endpoints. Their counts end at MAX_COUNTED."""

    attempts: int  # the newest, at most RECENT_ATTEMPTS
    accepted: int  # of those
    durations_ms: list[int]  # of those
    failed_events: int  # whose last attempt failed at some endpoint
    waiting_events: int
    url: str
    failing_since: datetime | None
    disabled_at: datetime | None

    def duration_at(self, percent: int) -> int | None:
        """Returns a percentile of the durations, or None without attempts."""
        ordered = sorted(self.durations_ms)
        return ordered[(len(ordered) - 1) * percent // 100] if ordered else None


async def pick_events(reader: Reader, merchant_id: int, wanted: EventFilter, before: int, limit: int) -> EventPage:
    """Returns the newest events before a number that pass the filter."""
    [last] = await reader.fetchrow(LAST, merchant_id)
    first = 1 if wanted.since is None else await find_first_since(reader, merchant_id, wanted.since, last)
    end = last + 1 if wanted.until is None else await find_first_since(reader, merchant_id, wanted.until, last)
    end = min(end, before)
    if wanted.state == "failed":
        lower, query = first, PICK_FAILED
    else:
        lower = max(first, end - WINDOW) if wanted.kind or wanted.state else first
        query = PICK_BY_STATE[wanted.state]
    numbers = [row[0] for row in await reader.fetch(query, merchant_id, lower, end, wanted.kind, limit + 1)]
    if len(numbers) > limit:
        return EventPage(numbers[:limit], numbers[limit - 1])
    return EventPage(numbers, lower if lower > first else None)


async def find_first_since(reader: Reader, merchant_id: int, moment: datetime, last: int) -> int:
    """Returns the number of the first event at or after a business time, `last` + 1 if there is none.

    Business time never runs backwards, so that later events have later times.
    """
    low, high = 1, last + 1
    while low < high:
        middle = (low + high) // 2
        [at] = await reader.fetchrow(TIME_OF, merchant_id, middle)
        if at < moment:
            low = middle + 1
        else:
            high = middle
    return low


async def read_endpoint_figures(reader: Reader, merchant_id: int) -> EndpointFigures:
    return EndpointFigures(*await reader.fetchrow(ENDPOINT, merchant_id))
