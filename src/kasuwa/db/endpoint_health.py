"""The health of webhook endpoints: which fail, and what became of an event at each. Every endpoint counts.

The first endpoint is the setting `webhook_url` and has number 1 (db/deliveries.py). The others are numbered from 2
(db/webhook_endpoints.py).
"""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from kasuwa.core.reading import Reader

FIRST_ENDPOINT = 1

# All endpoints that fail or were disabled, of the books that merchants use now.
FAILING_ENDPOINTS = f"""
    select e.merchant_id, {FIRST_ENDPOINT}::bigint as endpoint_id, m.settings ->> 'webhook_url' as url,
        e.failing_since, e.off_at, m.mid, m.name
    from endpoint e join merchant m on m.merchant_id = e.merchant_id and m.current
    union all
    select w.merchant_id, w.endpoint_id, w.url, w.failing_since, w.off_at, m.mid, m.name
    from webhook_endpoint w join merchant m on m.merchant_id = w.merchant_id and m.current
    where w.failing_since is not null and w.removed_at is null
"""
FAILING_OF_MERCHANT = f"""
    select f.endpoint_id, coalesce(f.url, ''), f.failing_since, f.off_at from ({FAILING_ENDPOINTS}) f
    where f.merchant_id = $1 order by f.endpoint_id
"""
# Events at the further endpoints: those that wait, and the last attempt.
DELIVERIES = """
    select s.event_seq, w.endpoint_id, w.url, d.event_seq is not null, w.off_at is not null, a.number, a.http, a.error
    from unnest($2::bigint[]) s (event_seq) join webhook_endpoint w on w.merchant_id = $1 and w.removed_at is null
    left join endpoint_delivery d
        on d.merchant_id = $1 and d.endpoint_id = w.endpoint_id and d.event_seq = s.event_seq
    left join lateral (
        select t.number, t.http, t.error from endpoint_attempt t
        where t.merchant_id = $1 and t.endpoint_id = w.endpoint_id and t.event_seq = s.event_seq
        order by t.number desc limit 1) a on true
    where d.event_seq is not null or a.number is not null
    order by s.event_seq, w.endpoint_id
"""
# Delivery states of an event, the worst first. That of an event with several endpoints is the worst of theirs.
STATES = ("exhausted", "endpoint_off", "scheduled", "delivered", "no_endpoint")


class FailingEndpoint(msgspec.Struct, frozen=True):
    """An endpoint that does not accept its events."""

    endpoint_id: int
    url: str
    failing_since: datetime
    disabled_at: datetime | None  # None while it is still tried

    @property
    def is_first(self) -> bool:
        return self.endpoint_id == FIRST_ENDPOINT


class EndpointState(msgspec.Struct, frozen=True):
    """The delivery of an event to one of the further endpoints."""

    endpoint_id: int
    url: str
    state: str  # one of STATES
    attempt: int | None  # number of the last attempt; None if there was none
    http: int | None
    error: str | None


async def list_failing_endpoints(reader: Reader, merchant_id: int) -> list[FailingEndpoint]:
    """Returns the endpoints of a merchant that fail, the first endpoint first."""
    return [FailingEndpoint(*row) for row in await reader.fetch(FAILING_OF_MERCHANT, merchant_id)]


async def read_endpoint_states(
    reader: Reader, merchant_id: int, sequences: list[int]
) -> dict[int, list[EndpointState]]:
    """Returns the states of events at the further endpoints, by the number of the event."""
    found: dict[int, list[EndpointState]] = {}
    rows = await reader.fetch(DELIVERIES, merchant_id, sequences)
    for sequence, endpoint_id, url, waits, is_off, attempt, http, error in rows:
        if waits:
            state = "endpoint_off" if is_off else "scheduled"
        else:
            state = "delivered" if http is not None and 200 <= http < 300 else "exhausted"
        found.setdefault(sequence, []).append(EndpointState(endpoint_id, url, state, attempt, http, error))
    return found


def worst_state(states: Iterable[str]) -> str:
    """Returns the state of an event that has these states at its endpoints."""
    return min(states, key=STATES.index)
