"""Delivers events to the further webhook endpoints of merchants, at least once. No endpoint holds up another.

A lease that a dead process holds expires, and the event is sent again with the same webhook-id. Retries follow real
time: `advance` of a sandbox clock does not wait for them. Contract: events#endpoints
"""

import asyncio
import random
from collections import Counter
from datetime import timedelta

import structlog

from kasuwa.core.events import LONGEST_WAIT, event_id, object_headers, retry_delay, sign
from kasuwa.core.response_excerpt import make_excerpt
from kasuwa.core.vault import Vault
from kasuwa.db import connections, webhook_endpoints
from kasuwa.db.clock import DatabaseClock
from kasuwa.db.connection_pool import Connection
from kasuwa.db.webhook_endpoints import EndpointDelivery, EndpointOutcome
from kasuwa.observe.log import describe_error
from kasuwa.work.egress import EgressClient, QueueTimeout, RequestFailed, TargetRefused
from kasuwa.work.polling import Polling

POLL_SECONDS = 0.25
MAX_IN_FLIGHT = 200
MAX_PER_ENDPOINT = 8
# Steps of listing new events in one turn, so that a long backlog does not keep what is listed waiting.
MAX_LISTINGS = 20
STATEMENT_SECONDS = 30.0
# A delivery that could not be signed, or found no place in the queue of its host, is tried again after the lease.
UNSIGNED = "it could not be signed: the secret of the endpoint does not open"

log = structlog.get_logger("kasuwa.webhooks")


class EndpointSender(Polling):
    """Lists new events for the endpoints, claims deliveries, and records attempts, in turns on one connection."""

    def __init__(
        self, dsn: str, egress: EgressClient, vault: Vault, environment: str, hash_header: str, clock: DatabaseClock
    ) -> None:
        super().__init__()
        self._dsn = dsn
        self._egress = egress
        self._vault = vault
        self._environment = environment
        self._hash_header = hash_header
        self._clock = clock
        self._in_flight: Counter[tuple[int, int]] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._outcomes: list[EndpointOutcome] = []
        self._connection: Connection | None = None

    async def run(self) -> None:
        """Sends until it is stopped, then waits for what is in flight and records it."""
        await self.repeat(self.take_turn, POLL_SECONDS, "delivering to further endpoints failed")
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._connection is not None:
            if self._outcomes and not self._connection.is_closed():
                await self._record(self._connection)
            self._connection.terminate()

    async def take_turn(self) -> None:
        """Records what has ended, then claims and sends what is due."""
        if self._connection is None or self._connection.is_closed():
            settings = {"application_name": "kasuwa endpoints"}
            self._connection = await connections.connect(self._dsn, settings, statement_seconds=STATEMENT_SECONDS)
        await self._record(self._connection)
        for _ in range(MAX_LISTINGS):
            if not await webhook_endpoints.list_new_events(self._connection):
                break
        busy = [endpoint for endpoint, count in self._in_flight.items() if count >= MAX_PER_ENDPOINT]
        room = MAX_IN_FLIGHT - self._in_flight.total()
        if room <= 0:
            return
        claimed = await webhook_endpoints.claim_deliveries(
            self._connection, self._vault, self._clock.now(), room, MAX_PER_ENDPOINT, busy
        )
        for item in claimed:
            self._in_flight[item.endpoint] += 1
            task = asyncio.create_task(self._send(item))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _record(self, connection: Connection) -> None:
        outcomes, self._outcomes = self._outcomes, []
        await webhook_endpoints.record_outcomes(connection, outcomes)

    async def _send(self, item: EndpointDelivery) -> None:
        try:
            outcome = await self._attempt(item)
            if outcome is not None:
                self._outcomes.append(outcome)
        except Exception as error:  # one delivery that breaks must not stop the others
            log.error("delivery failed", merchant_id=item.merchant_id, seq=item.event_seq, **describe_error(error))
        finally:
            self._in_flight[item.endpoint] -= 1
            if not self._in_flight[item.endpoint]:
                del self._in_flight[item.endpoint]

    async def _attempt(self, item: EndpointDelivery) -> EndpointOutcome | None:
        """Sends one event. Returns None if it was not sent and waits for its lease to expire."""
        if not item.keys:
            return self._failed(item, None, UNSIGNED, 0, None, None)
        message_id = event_id(item.merchant_id, item.event_seq)
        now = int(self._clock.now().timestamp())
        headers = sign(item.payload, item.keys, message_id, now, self._hash_header, has_bad_signature=False)
        headers |= object_headers(item.object, item.object_seq)
        try:
            sent = await self._egress.post(item.url, item.payload, headers)
        except QueueTimeout:
            return None
        except (TargetRefused, RequestFailed) as error:
            return self._failed(item, None, str(error), 0, None, None)
        response = make_excerpt(sent.body, item.keys) if sent.body else ""
        ms = int(sent.response_ms)
        if 200 <= sent.status < 300:
            return EndpointOutcome(item, sent.status, None, ms, response, None, True)
        return self._failed(item, sent.status, f"HTTP {sent.status}", ms, response, sent.retry_after)

    def _failed(
        self,
        item: EndpointDelivery,
        http: int | None,
        reason: str,
        ms: int,
        response: str | None,
        retry_after: int | None,
    ) -> EndpointOutcome:
        wait = retry_delay(item.attempt + 1)
        if wait is not None:
            wait = min(max(wait, timedelta(seconds=retry_after or 0)), LONGEST_WAIT)
            if self._environment == "live":  # spread out what failed together
                wait *= 1 + random.random() / 10
        return EndpointOutcome(item, http, reason, ms, response, wait, False)
