"""The courier: delivers events to merchants, at least once, and never lets one hold up another.

Deliveries are claimed a few of each merchant at a time, more for those who take them quickly (endpoints.py); one whose
endpoint has not just taken something gets very few places, and all of those together no more than half. Results are
recorded together, many a statement. Killed between sending and recording, the lease runs out and the event is sent
again with the same webhook-id: twice perhaps, never not at all.
"""

import asyncio
import contextlib
import random
import time
from datetime import datetime, timedelta
from operator import attrgetter

import msgspec
import structlog

from kasuwa.core.decision import Job
from kasuwa.core.events import LONGEST_WAIT, NO_ENDPOINT, OFF_AFTER, event_id, sign, wait_after
from kasuwa.core.scenario import Scenario
from kasuwa.core.secrets import Unsealable, Vault
from kasuwa.core.transactions import EventPayload
from kasuwa.db import deliveries, pool
from kasuwa.db.clock import Clock
from kasuwa.db.deliveries import Delivery, Recorded
from kasuwa.db.merchants import open_key
from kasuwa.db.pool import Connection
from kasuwa.db.pooled import Queries
from kasuwa.observe.log import where_it_broke
from kasuwa.observe.metrics import DELIVERIES, DELIVERY_SECONDS, Meter
from kasuwa.work.egress import MOST_CONNECTIONS, Crowded, Egress, Refused, Undelivered
from kasuwa.work.endpoints import MOST_ILL, Endpoint, Endpoints

# No more than egress has connections: who waits for one would be told that its endpoint is out of reach.
MOST_IN_FLIGHT = MOST_CONNECTIONS
# Sent or about to be; those whose endpoints may hang have half of the places together.
MOST_HELD = 8_000
MOST_CLAIMED = 1_000
# Test events that people send from the console and wait for, all together.
MOST_PINGS = 8
MOST_ILL_TOGETHER = MOST_IN_FLIGHT // 2
IDLE_SECONDS = 0.1
RECORD_SECONDS = 0.005
# A claim costs about as much for one as for hundreds.
CLAIM_SECONDS = 0.02
AFTER_TROUBLE_SECONDS = 0.5
KEY_SECONDS = 0.9

# An attempt that took so long and failed has hung: another in the same advance would cost as much again.
HANGS_MS = 5_000
UNSIGNED = "it could not be signed: no key of the merchant opens"
HUNG = "the endpoint hung earlier in this advance"

# A delivery that cannot be signed or built is a fault of what is stored, and waits this long before it is tried again.
SET_ASIDE = timedelta(minutes=1)
NO_KEY = "webhooks cannot be signed: no key of this merchant opens. Roll its key; its events wait until then"

log = structlog.get_logger("kasuwa.webhooks")
NOTHING_SAID = "{}"
SCENARIO: "msgspec.json.Decoder[Scenario]" = msgspec.json.Decoder(Scenario)


class NoKey(Exception):
    """No key of the merchant is valid, or the newest does not open."""


class Courier:
    def __init__(
        self, dsn: str, egress: Egress, vault: Vault, environment: str, hash_header: str, meter: Meter, clock: Clock
    ) -> None:
        self._dsn = dsn
        self._egress = egress
        self._vault = vault
        self._environment = environment
        self._hash_header = hash_header
        self._meter = meter
        self._clock = clock
        self._endpoints = Endpoints()
        self._claimed_at = 0.0
        self._pinging: set[int] = set()
        self._keys: dict[int, tuple[bytes, float]] = {}
        self._outcomes: list[Recorded] = []
        self._unsent: list[Delivery] = []
        self._set_aside: list[Delivery] = []
        self._keyless: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._wake = asyncio.Event()

    @property
    def _to_record(self) -> bool:
        return bool(self._outcomes or self._unsent or self._set_aside)

    def stop(self) -> None:
        self._stopping.set()
        self._wake.set()

    async def run(self) -> None:
        """Claim and record on one connection, in turns; the sending goes on beside."""
        connection: Connection | None = None
        while not (self._stopping.is_set() and not (self._tasks or self._to_record)):
            try:
                if connection is None or connection.is_closed():
                    connection = await pool.connect(self._dsn, deliveries.SETTINGS)
                await self._take_turn(connection)
            except Exception as error:
                if not pool.is_lost(error):
                    log.error("courier failed", **where_it_broke(error))
                self._outcomes.clear()  # not recorded: their leases run out and they are sent again
                self._unsent.clear()
                self._set_aside.clear()
                await asyncio.sleep(AFTER_TROUBLE_SECONDS)
        if connection is not None:
            await connection.close()

    async def _take_turn(self, connection: Connection) -> None:
        if self._outcomes:
            outcomes, self._outcomes = self._outcomes, []
            await deliveries.record(connection, outcomes)
            await self._switch_off(connection, outcomes)
        self._give_back_stuck()
        if self._unsent:
            unsent, self._unsent = self._unsent, []
            await deliveries.put_back(connection, unsent, self._clock.now())
        if self._set_aside:
            await self._put_aside(connection)
        if self._stopping.is_set() or not await self.run_once(connection):
            await self._pause()

    async def _put_aside(self, connection: Connection) -> None:
        """Puts back what cannot be sent as it is stored, for a while, and tells the operator whose key is the cause."""
        items, self._set_aside = self._set_aside, []
        keyless, self._keyless = self._keyless, set()
        now = self._clock.now()
        await deliveries.put_back(connection, items, now, SET_ASIDE)
        for merchant_id in keyless:
            log.error("webhook key does not open", merchant_id=merchant_id)
            await deliveries.give_notice(connection, merchant_id, NO_KEY, now)

    async def _pause(self) -> None:
        """Until something was sent and others may be by the time it is recorded, or it is time to look again."""
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                await self._wake.wait()
                await asyncio.sleep(RECORD_SECONDS)
        except TimeoutError:
            return
        self._wake.clear()

    async def run_once(self, connection: Connection) -> int:
        """Claim what is due and start sending it; answers how many there were."""
        self._start_sending()
        room, now = min(MOST_HELD - self._endpoints.held, MOST_CLAIMED), time.monotonic()
        if room <= 0 or now - self._claimed_at < CLAIM_SECONDS:
            return 0
        self._claimed_at = now
        self._endpoints.forget_idle()
        strangers = 0 if self._endpoints.ill >= MOST_ILL_TOGETHER else MOST_ILL
        rooms = self._endpoints.rooms()
        claimed = await deliveries.claim(connection, self._clock.now(), room, strangers, rooms)
        await self._load_keys(connection, {item.merchant_id for item in claimed})
        parked = [item for item in claimed if item.parked]
        if parked:
            await deliveries.park(connection, parked)
        self._unsent += [item for item in claimed if item.behind and not item.parked]
        for item in sorted(claimed, key=attrgetter("seq")):
            if not (item.behind or item.parked):
                self._endpoints.of(item.merchant_id).add(item, now)
        self._start_sending()
        return len(claimed)

    def _give_back_stuck(self) -> None:
        now = time.monotonic()
        for endpoint in self._endpoints:
            self._unsent += endpoint.give_back() if self._stopping.is_set() else endpoint.give_back_if_stuck(now)

    def _start_sending(self) -> None:
        """One task for each place, which sends one after the other for as long as there are any."""
        left = MOST_IN_FLIGHT - self._endpoints.busy
        loop = asyncio.get_running_loop()
        for endpoint in self._endpoints:
            for _ in range(min(left, endpoint.places - endpoint.busy, len(endpoint.queue))):
                left -= 1
                endpoint.busy += 1
                task = loop.create_task(self._send_queue(endpoint))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _send_queue(self, endpoint: Endpoint) -> None:
        try:
            while endpoint.queue and endpoint.busy <= endpoint.places:
                await self._send(endpoint.take(time.monotonic()), endpoint)
                self._wake.set()
        finally:
            endpoint.busy -= 1
            self._wake.set()

    async def _send(self, item: Delivery, endpoint: Endpoint) -> None:
        try:
            outcome = await self._attempt(item)
        except Crowded:
            self._unsent.append(item)
            return
        except NoKey:
            self._set_aside.append(item)
            self._keyless.add(item.merchant_id)
            return
        except Exception as error:  # one delivery that breaks must not take its endpoint's place with it
            log.error("delivery failed", merchant_id=item.merchant_id, seq=item.seq, **where_it_broke(error))
            self._set_aside.append(item)
            return
        self._outcomes.append(outcome)
        self._count(outcome)
        if outcome.delivered:
            endpoint.answered(outcome.ms / 1000)
        elif outcome.tried:
            endpoint.failed()

    def _count(self, outcome: Recorded) -> None:
        self._meter.count(DELIVERIES, "delivered" if outcome.delivered else "failed" if outcome.tried else "untried")
        if outcome.tried:
            self._meter.observe(DELIVERY_SECONDS, outcome.ms / 1000)

    async def _load_keys(self, connection: Queries, merchants: set[int]) -> None:
        """Loads the newest key of each merchant, again after a moment, so that a rolled key is used at once. A merchant
        whose key is missing or does not open has none afterwards: `_key_of` raises for it alone."""
        now = time.monotonic()
        wanted = [m for m in merchants if m not in self._keys or now - self._keys[m][1] > KEY_SECONDS]
        if not wanted:
            return
        found = await connection.fetch(deliveries.KEYS, wanted)
        for merchant_id in wanted:
            self._keys.pop(merchant_id, None)
        for merchant_id, sealed, verifier in found:
            with contextlib.suppress(Unsealable):
                self._keys[merchant_id] = (open_key(self._vault, merchant_id, sealed, verifier), now)

    def _key_of(self, merchant_id: int) -> bytes:
        if merchant_id not in self._keys:
            raise NoKey
        return self._keys[merchant_id][0]

    async def _switch_off(self, connection: Queries, outcomes: list[Recorded]) -> None:
        for merchant_id, at in {o.merchant_id: o.at for o in outcomes if o.tried and not o.delivered}.items():
            await deliveries.switch_off(connection, merchant_id, at, OFF_AFTER)

    # --- one attempt --------------------------------------------------------------------------------------

    async def deliver_now(self, connection: Queries, job: Job, *, hung: bool) -> Recorded | None:
        """For `advance`: one delivery, sent and recorded at once; None where there is nothing left to do. Given a pool,
        it holds no connection while it sends."""
        item = await deliveries.claim_one(connection, job, self._clock.now())
        if item is None:
            return None
        await self._load_keys(connection, {item.merchant_id})
        try:
            outcome = self._failed(item, None, HUNG, 0) if hung else await self._attempt(item)
        except Crowded as error:
            outcome = self._failed(item, None, str(error), 0)
        except NoKey:
            await deliveries.give_notice(connection, item.merchant_id, NO_KEY, self._clock.now())
            outcome = msgspec.structs.replace(self._failed(item, None, UNSIGNED, 0), tried=False)
        await deliveries.record(connection, [outcome])
        await self._switch_off(connection, [outcome])
        return outcome

    async def ping(self, connections: Queries, merchant_id: int, url: str) -> str:
        """Sends a signed test event once and keeps nothing of it. Answers what became of it, in words. Given a pool, it
        holds no connection while it sends; and a merchant has one such event under way, all together a few."""
        if merchant_id in self._pinging or len(self._pinging) >= MOST_PINGS:
            return "Nothing was sent: another test is still under way. Wait for it and try again."
        self._pinging.add(merchant_id)
        try:
            await self._load_keys(connections, {merchant_id})
            return await self._send_ping(merchant_id, url)
        except NoKey:
            return "Nothing was sent: your key does not open here, so that nothing can be signed. Roll your key."
        finally:
            self._pinging.discard(merchant_id)

    async def _send_ping(self, merchant_id: int, url: str) -> str:
        body = msgspec.json.encode(EventPayload(200, "successful", "TEST", "0.00", "test", self._environment))
        key = self._key_of(merchant_id)
        headers = sign(body, key, "evt_test", int(self._clock.now().timestamp()), self._hash_header, badly=False)
        try:
            sent = await self._egress.post(url, body, headers)
        except (Refused, Undelivered) as error:
            return f"It did not arrive: {error}"
        return f"It answered HTTP {sent.http} after {int(sent.ms)} ms."

    async def _attempt(self, item: Delivery) -> Recorded:
        scenario = None if item.work == NOTHING_SAID else SCENARIO.decode(item.work).webhook
        if scenario == "drop":
            return self._untried(item, "dropped, as the scenario said")
        if not item.url:
            return self._untried(item, NO_ENDPOINT)
        key = self._key_of(item.merchant_id)
        message_id = event_id(item.merchant_id, item.seq)
        badly = scenario == "bad-hash"
        headers = sign(
            item.payload, key, message_id, int(self._clock.now().timestamp()), self._hash_header, badly=badly
        )
        headers["webhook-object"] = item.object
        headers["webhook-sequence"] = str(item.object_seq)
        started = time.monotonic()
        try:
            for _ in range(2 if scenario == "dup" else 1):
                sent = await self._egress.post(item.url, item.payload, headers)
        except Crowded:
            raise
        except (Refused, Undelivered) as error:
            return self._failed(item, None, str(error), int((time.monotonic() - started) * 1000))
        if 200 <= sent.http < 300:
            return self._recorded(item, sent.http, None, int(sent.ms), None, delivered=True)
        return self._failed(item, sent.http, f"HTTP {sent.http}", int(sent.ms), sent.retry_after)

    def _failed(
        self, item: Delivery, http: int | None, error: str, ms: int, retry_after: int | None = None
    ) -> Recorded:
        wait = wait_after(item.attempt + 1)
        if wait is not None:
            wait = min(max(wait, timedelta(seconds=retry_after or 0)), LONGEST_WAIT)
            if self._environment == "live":  # spread out what failed together; the test environment is exact
                wait *= 1 + random.random() / 10
        return self._recorded(item, http, error, ms, None if wait is None else item.now + wait)

    def _untried(self, item: Delivery, why: str) -> Recorded:
        """It ends here, and says nothing about the endpoint."""
        return self._recorded(item, None, why, 0, None, tried=False)

    def _recorded(
        self,
        item: Delivery,
        http: int | None,
        error: str | None,
        ms: int,
        next_at: datetime | None,
        *,
        tried: bool = True,
        delivered: bool = False,
    ) -> Recorded:
        return Recorded(item.key, item.merchant_id, item.seq, item.now, http, error, ms, next_at, tried, delivered)


def has_hung(outcome: Recorded) -> bool:
    return not outcome.delivered and outcome.ms >= HANGS_MS
