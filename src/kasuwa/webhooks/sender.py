"""The webhook sender: delivers events to every endpoint of a merchant at least once. No endpoint holds up another.

Deliveries are claimed a few of each endpoint at a time, more for endpoints that answer quickly (queues.py).
Unhealthy endpoints get few concurrent deliveries each, and together at most half of all. Results are recorded in
batches. If the process dies between sending and recording, the lease expires and the event is sent again with the same
webhook-id.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import attrgetter

import msgspec
import structlog

from kasuwa.core.decision import Job
from kasuwa.core.scenario import Scenario
from kasuwa.core.vault import Vault
from kasuwa.observe.log import describe_error
from kasuwa.observe.metrics import DELIVERIES, DELIVERY_SECONDS, Metrics
from kasuwa.outbound.egress import MAX_CONNECTIONS, EgressClient, QueueTimeout, RequestFailed, TargetRefused
from kasuwa.postgres import connections as connections_module
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connection_pool import Connection, QueryRunner
from kasuwa.transactions.event_payloads import TEST_EVENT
from kasuwa.webhooks import deliveries
from kasuwa.webhooks.deliveries import AttemptResult, Delivery, EndpointKey
from kasuwa.webhooks.queues import MAX_IN_FLIGHT_UNHEALTHY, EndpointQueue, EndpointQueues
from kasuwa.webhooks.response_excerpt import make_excerpt
from kasuwa.webhooks.retries import DISABLE_AFTER, LONGEST_WAIT, retry_delay
from kasuwa.webhooks.sample_events import build_sample_event
from kasuwa.webhooks.signatures import NO_ENDPOINT, event_id, object_headers, sign
from kasuwa.webhooks.targets import Target, read_targets

# No more than egress has connections: a delivery that waits for one would count its endpoint as out of reach.
MAX_IN_FLIGHT = MAX_CONNECTIONS
# Sent or about to be; those whose endpoints may hang have half of the places together.
MAX_CLAIMED = 8_000
MAX_PER_CLAIM = 1_000
# Test events that people send from the console and wait for, all together.
MAX_PINGS = 8
MAX_UNHEALTHY_TOTAL = MAX_IN_FLIGHT // 2
IDLE_SECONDS = 0.1
RECORD_SECONDS = 0.005
# A claim costs about as much for one as for hundreds.
CLAIM_SECONDS = 0.02
ERROR_BACKOFF_SECONDS = 0.5
KEY_CACHE_SECONDS = 0.9

# An attempt that took so long and failed has hung: another in the same advance would cost as much again.
HUNG_AFTER_MS = 5_000
UNSIGNED = "it could not be signed: no secret of the endpoint opens"
HUNG = "the endpoint hung earlier in this advance"

# A delivery that cannot be signed or built is a fault of what is stored, and waits this long before it is tried again.
UNSENDABLE_DELAY = timedelta(minutes=1)
NO_KEY = (
    "webhooks cannot be signed: the secret of an endpoint does not open, or its settings were changed outside of the "
    "service. Roll the secret, or run `kasuwa audit`; its events wait until then"
)

log = structlog.get_logger("kasuwa.webhooks")
NO_PARAMS = "{}"
SCENARIO: "msgspec.json.Decoder[Scenario]" = msgspec.json.Decoder(Scenario)


class NoSigningKey(Exception):
    """Raised if the endpoint has no valid secret, or the newest cannot be decrypted."""


class WebhookSender:
    def __init__(
        self,
        dsn: str,
        egress: EgressClient,
        vault: Vault,
        environment: str,
        hash_header: str,
        meter: Metrics,
        clock: DatabaseClock,
    ) -> None:
        self._dsn = dsn
        self._egress = egress
        self._vault = vault
        self._environment = environment
        self._hash_header = hash_header
        self._meter = meter
        self._clock = clock
        self._endpoints = EndpointQueues()
        self._claimed_at = 0.0
        self._pinging: set[int] = set()
        # The targets of endpoints, and when they were read.
        self._targets: dict[EndpointKey, tuple[Target, float]] = {}
        self._outcomes: list[AttemptResult] = []
        self._to_requeue: list[Delivery] = []
        self._unsendable: list[Delivery] = []
        self._merchants_without_key: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._wake = asyncio.Event()

    @property
    def _to_record(self) -> bool:
        return bool(self._outcomes or self._to_requeue or self._unsendable)

    def stop(self) -> None:
        self._stopping.set()
        self._wake.set()

    async def run(self) -> None:
        """Claims and records deliveries in turns on one connection, while tasks send them."""
        connection: Connection | None = None
        while not (self._stopping.is_set() and not (self._tasks or self._to_record)):
            try:
                if connection is None or connection.is_closed():
                    connection = await connections_module.connect(self._dsn, deliveries.SENDER_SETTINGS)
                await self._take_turn(connection)
            except Exception as error:
                if not connections_module.is_connection_error(error):
                    log.error("webhook sender failed", **describe_error(error))
                self._outcomes.clear()  # not recorded: their leases run out and they are sent again
                self._to_requeue.clear()
                self._unsendable.clear()
                await asyncio.sleep(ERROR_BACKOFF_SECONDS)
        if connection is not None:
            await connection.close()

    async def _take_turn(self, connection: Connection) -> None:
        if self._outcomes:
            outcomes, self._outcomes = self._outcomes, []
            await deliveries.record_attempts(connection, outcomes)
            await self._switch_off(connection, outcomes)
        self._give_back_stuck()
        if self._to_requeue:
            unsent, self._to_requeue = self._to_requeue, []
            await deliveries.requeue(connection, unsent, self._clock.now())
        if self._unsendable:
            await self._put_aside(connection)
        if self._stopping.is_set() or not await self.run_once(connection):
            await self._pause()

    async def _put_aside(self, connection: Connection) -> None:
        """Requeues deliveries that cannot be signed, and notifies the operator of the merchants without a valid key."""
        items, self._unsendable = self._unsendable, []
        keyless, self._merchants_without_key = self._merchants_without_key, set()
        now = self._clock.now()
        await deliveries.requeue(connection, items, now, UNSENDABLE_DELAY)
        for merchant_id in keyless:
            log.error("webhook key does not open", merchant_id=merchant_id)
            await deliveries.notify_operator(connection, merchant_id, NO_KEY, now)

    async def _pause(self) -> None:
        """Waits until a delivery was sent, plus a moment to collect more for the same batch, or until the next poll."""
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                await self._wake.wait()
                await asyncio.sleep(RECORD_SECONDS)
        except TimeoutError:
            return
        self._wake.clear()

    async def run_once(self, connection: Connection) -> int:
        """Claims due deliveries and starts sending them. Returns their number."""
        self._start_sending()
        room, now = min(MAX_CLAIMED - self._endpoints.claimed_count, MAX_PER_CLAIM), time.monotonic()
        if room <= 0 or now - self._claimed_at < CLAIM_SECONDS:
            return 0
        self._claimed_at = now
        self._endpoints.forget_idle()
        is_full = self._endpoints.unhealthy_claimed_count >= MAX_UNHEALTHY_TOTAL
        default, capacities = 0 if is_full else MAX_IN_FLIGHT_UNHEALTHY, self._endpoints.claim_capacities()
        claimed = await deliveries.claim_deliveries(connection, self._clock.now(), room, default, capacities)
        await self._load_targets(connection, claimed)
        parked = [item for item in claimed if item.is_parked]
        if parked:
            await deliveries.park_deliveries(connection, parked)
        self._to_requeue += [item for item in claimed if item.is_blocked and not item.is_parked]
        for item in sorted(claimed, key=attrgetter("seq")):
            if not (item.is_blocked or item.is_parked):
                self._endpoints.get_or_add(item.endpoint).add(item, now)
        self._start_sending()
        return len(claimed)

    def _give_back_stuck(self) -> None:
        now = time.monotonic()
        for endpoint in self._endpoints:
            self._to_requeue += endpoint.release_queue() if self._stopping.is_set() else endpoint.release_if_stuck(now)

    def _start_sending(self) -> None:
        """Starts a task for each free slot of an endpoint. A task sends until the queue is empty."""
        free_slots = MAX_IN_FLIGHT - self._endpoints.in_flight_count
        loop = asyncio.get_running_loop()
        for endpoint in self._endpoints:
            for _ in range(min(free_slots, endpoint.max_in_flight - endpoint.in_flight_count, len(endpoint.queue))):
                free_slots -= 1
                endpoint.in_flight_count += 1
                task = loop.create_task(self._send_queue(endpoint))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _send_queue(self, endpoint: EndpointQueue) -> None:
        try:
            while endpoint.queue and endpoint.in_flight_count <= endpoint.max_in_flight:
                await self._send(endpoint.take_next(time.monotonic()), endpoint)
                self._wake.set()
        finally:
            endpoint.in_flight_count -= 1
            self._wake.set()

    async def _send(self, item: Delivery, endpoint: EndpointQueue) -> None:
        try:
            outcome = await self._attempt(item)
        except QueueTimeout:
            self._to_requeue.append(item)
            return
        except NoSigningKey:
            self._unsendable.append(item)
            self._merchants_without_key.add(item.merchant_id)
            return
        except Exception as error:  # one delivery that breaks must not take its endpoint's place with it
            log.error("delivery failed", merchant_id=item.merchant_id, seq=item.seq, **describe_error(error))
            self._unsendable.append(item)
            return
        self._outcomes.append(outcome)
        self._count(outcome)
        if outcome.delivered:
            endpoint.record_success(outcome.ms / 1000)
        elif outcome.tried:
            endpoint.record_failure()

    def _count(self, outcome: AttemptResult) -> None:
        self._meter.count(DELIVERIES, "delivered" if outcome.delivered else "failed" if outcome.tried else "untried")
        if outcome.tried:
            self._meter.observe(DELIVERY_SECONDS, outcome.ms / 1000)

    async def _load_targets(self, connection: QueryRunner, items: Sequence[Delivery]) -> None:
        """Loads where deliveries go and what they are signed with. Both are cached for a moment only, so that a rolled
        secret is soon used. `_get_keys` raises for an endpoint that has none."""
        now = time.monotonic()
        wanted = list({item.endpoint for item in items if not self._is_known(item, now)})
        if wanted:
            await self._read_targets(connection, wanted, now)
        for item in items:
            if item.endpoint in self._targets:
                item.url = self._targets[item.endpoint][0].url

    def _is_known(self, item: Delivery, now: float) -> bool:
        known = self._targets.get(item.endpoint)
        return known is not None and known[0].url == item.url and now - known[1] <= KEY_CACHE_SECONDS

    async def _read_targets(self, connection: QueryRunner, wanted: list[EndpointKey], now: float) -> None:
        # Attempts that run meanwhile sign with what was known before.
        targets = await read_targets(connection, self._vault, wanted)
        for endpoint in wanted:
            self._targets.pop(endpoint, None)
        self._targets |= {endpoint: (target, now) for endpoint, target in targets.items()}

    def _get_keys(self, endpoint: EndpointKey) -> list[bytes]:
        if endpoint not in self._targets:
            raise NoSigningKey
        return self._targets[endpoint][0].keys

    async def _switch_off(self, connection: QueryRunner, outcomes: list[AttemptResult]) -> None:
        for endpoint, at in {o.endpoint: o.at for o in outcomes if o.tried and not o.delivered}.items():
            await deliveries.disable_endpoint(connection, endpoint, at, DISABLE_AFTER)

    # --- one attempt --------------------------------------------------------------------------------------

    async def deliver_now(self, connection: QueryRunner, job: Job, *, has_endpoint_hung: bool) -> AttemptResult | None:
        """Sends and records one delivery for `advance`. Returns None if it is done already. Holds no connection of a
        pool while it sends."""
        item = await deliveries.find_delivery(connection, job, self._clock.now())
        if item is None:
            return None
        await self._load_targets(connection, [item])
        try:
            outcome = self._failed_result(item, None, HUNG, 0) if has_endpoint_hung else await self._attempt(item)
        except QueueTimeout as error:
            outcome = self._failed_result(item, None, str(error), 0)
        except NoSigningKey:
            await deliveries.notify_operator(connection, item.merchant_id, NO_KEY, self._clock.now())
            outcome = msgspec.structs.replace(self._failed_result(item, None, UNSIGNED, 0), tried=False)
        await deliveries.record_attempts_of_merchant(connection, item.merchant_id, [outcome])
        await self._switch_off(connection, [outcome])
        return outcome

    async def send_test_event(
        self, connections: QueryRunner, merchant_id: int, endpoint_id: int, kind: str = TEST_EVENT
    ) -> str:
        """Sends a signed sample event of a kind to an endpoint once, records nothing and returns a message about the
        result. Holds no connection of a pool while it sends. One test at a time for a merchant, MAX_PINGS over all."""
        if merchant_id in self._pinging or len(self._pinging) >= MAX_PINGS:
            return "Nothing was sent: another test is still under way. Wait for it and try again."
        self._pinging.add(merchant_id)
        try:
            endpoint = merchant_id, endpoint_id
            target = (await read_targets(connections, self._vault, [endpoint])).get(endpoint)
            if target is None:
                return (
                    "Nothing was sent: the signing secret does not open here, so that nothing can be signed. Roll it."
                )
            return await self._send_ping(target, kind) if target.url else f"Nothing was sent: {NO_ENDPOINT}."
        finally:
            self._pinging.discard(merchant_id)

    async def _send_ping(self, target: Target, kind: str) -> str:
        body = msgspec.json.encode(build_sample_event(self._environment, kind))
        now = int(self._clock.now().timestamp())
        headers = sign(body, target.keys, "evt_test", now, self._hash_header, has_bad_signature=False)
        try:
            response = await self._egress.post(target.url, body, headers)
        except (TargetRefused, RequestFailed) as error:
            return f"It did not arrive: {error}"
        return f"It answered HTTP {response.status} after {int(response.response_ms)} ms."

    async def _attempt(self, item: Delivery) -> AttemptResult:
        scenario = None if item.job_params == NO_PARAMS else SCENARIO.decode(item.job_params).webhook
        if scenario == "drop":
            return self._untried(item, "dropped, as the scenario said")
        if not item.url:
            return self._untried(item, NO_ENDPOINT)
        keys = self._get_keys(item.endpoint)
        message_id = event_id(item.merchant_id, item.seq)
        has_bad_signature = scenario == "bad-hash"
        headers = sign(
            item.payload,
            keys,
            message_id,
            int(self._clock.now().timestamp()),
            self._hash_header,
            has_bad_signature=has_bad_signature,
        )
        headers |= object_headers(item.object, item.object_seq)
        started = time.monotonic()
        try:
            for _ in range(2 if scenario == "dup" else 1):
                response = await self._egress.post(item.url, item.payload, headers)
        except QueueTimeout:
            raise
        except (TargetRefused, RequestFailed) as error:
            return self._failed_result(item, None, str(error), int((time.monotonic() - started) * 1000))
        if 200 <= response.status < 300:
            result = self._make_result(item, response.status, None, int(response.response_ms), None, delivered=True)
        else:
            reason = f"HTTP {response.status}"
            result = self._failed_result(item, response.status, reason, int(response.response_ms), response.retry_after)
        result.response = make_excerpt(response.body, keys) if response.body else ""
        return result

    def _failed_result(
        self, item: Delivery, http: int | None, error: str, ms: int, retry_after: int | None = None
    ) -> AttemptResult:
        wait = retry_delay(item.attempt + 1)
        if wait is not None:
            wait = min(max(wait, timedelta(seconds=retry_after or 0)), LONGEST_WAIT)
            if self._environment == "live":  # spread out what failed together; the test environment is exact
                wait *= 1 + random.random() / 10
        return self._make_result(item, http, error, ms, None if wait is None else item.now + wait)

    def _untried(self, item: Delivery, why: str) -> AttemptResult:
        """Returns the result of a delivery that ends without an attempt. The endpoint's health is unaffected."""
        return self._make_result(item, None, why, 0, None, tried=False)

    def _make_result(
        self,
        item: Delivery,
        http: int | None,
        error: str | None,
        ms: int,
        next_at: datetime | None,
        *,
        tried: bool = True,
        delivered: bool = False,
    ) -> AttemptResult:
        place = (item.key, item.merchant_id, item.endpoint_id, item.seq)
        return AttemptResult(*place, item.now, http, error, ms, next_at, tried, delivered)


def has_hung(outcome: AttemptResult) -> bool:
    return not outcome.delivered and outcome.ms >= HUNG_AFTER_MS
