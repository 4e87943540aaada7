"""The health of webhook endpoints: which fail, and what became of an event at each. Every endpoint counts.

Attempts and waiting deliveries are those of webhooks/deliveries.py; the endpoints are in merchants/endpoints.py.
"""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.core.reading import Reader

# All endpoints that fail or were disabled, of the books that merchants use now.
FAILING_ENDPOINTS = f"""
    select e.merchant_id, e.endpoint_id,
        case e.endpoint_id when {FIRST_ENDPOINT} then m.settings ->> 'webhook_url' else w.url end as url,
        e.failing_since, e.off_at, m.mid, m.name
    from failing_endpoint e join merchant m on m.merchant_id = e.merchant_id and m.current
    left join webhook_endpoint w on w.merchant_id = e.merchant_id and w.endpoint_id = e.endpoint_id
    where w.removed_at is null
"""
FAILING_OF_MERCHANT = f"""
    select f.endpoint_id, coalesce(f.url, ''), f.failing_since, f.off_at from ({FAILING_ENDPOINTS}) f
    where f.merchant_id = $1 order by f.endpoint_id
"""
# Events at the further endpoints: those that wait, and the last attempt.
DELIVERIES = """
    select e.seq, w.endpoint_id, w.url, j.key is not null, f.off_at is not null, a.number, a.http, a.error
    from event e join webhook_endpoint w on w.merchant_id = $1 and w.removed_at is null
    left join scheduled_job j on j.merchant_id = $1 and j.lane = 'webhook' and j.endpoint_id = w.endpoint_id
        and j.reference = e.reference
    left join failing_endpoint f on f.merchant_id = $1 and f.endpoint_id = w.endpoint_id
    left join lateral (
        select t.number, t.http, t.error from delivery_attempt t
        where t.merchant_id = $1 and t.endpoint_id = w.endpoint_id and t.event_seq = e.seq
        order by t.number desc limit 1) a on true
    where e.merchant_id = $1 and e.seq = any($2::bigint[]) and (j.key is not null or a.number is not null)
    order by e.seq, w.endpoint_id
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
    states: dict[int, list[EndpointState]] = {}
    rows = await reader.fetch(DELIVERIES, merchant_id, sequences)
    for sequence, endpoint_id, url, waits, is_off, attempt, http, error in rows:
        if waits:
            state = "endpoint_off" if is_off else "scheduled"
        else:
            state = "delivered" if http is not None and 200 <= http < 300 else "exhausted"
        states.setdefault(sequence, []).append(EndpointState(endpoint_id, url, state, attempt, http, error))
    return states


def worst_state(states: Iterable[str]) -> str:
    """Returns the state of an event that has these states at its endpoints."""
    return min(states, key=STATES.index)
