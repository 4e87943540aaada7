"""The courier: delivers events to merchants, at least once, and never lets one hold up another.

Deliveries are claimed a few of each merchant at a time; a merchant whose endpoint is slow or failing gets fewer
places. Results are recorded together, many a statement. Killed between sending and recording, the lease runs out and
the event is sent again with the same webhook-id: twice perhaps, never not at all.
"""

import asyncio
import random
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import structlog

from kasuwa.core.decision import Job
from kasuwa.core.events import LONGEST_WAIT, OFF_AFTER, event_id, sign, wait_after
from kasuwa.core.merchant import MerchantSettings
from kasuwa.core.scenario import Scenario
from kasuwa.core.secrets import Vault
from kasuwa.db import deliveries, pool
from kasuwa.db.deliveries import Delivery, Recorded
from kasuwa.db.merchants import KEY_PLACE
from kasuwa.db.pool import Connection
from kasuwa.observe.log import where_it_broke
from kasuwa.work.egress import Egress, Refused, Undelivered

MOST_IN_FLIGHT = 2_000
MOST_CLAIMED = 512
# Places of one merchant: many while its endpoint answers, few once it has failed.
MOST_WELL = 32
MOST_ILL = 2
IDLE_SECONDS = 0.1
RECORD_SECONDS = 0.005
AFTER_TROUBLE_SECONDS = 0.5
KEY_SECONDS = 0.9

# An attempt that took so long and failed has hung: another in the same advance would cost as much again.
HANGS_MS = 5_000
HUNG = "the endpoint hung earlier in this advance"

log = structlog.get_logger("kasuwa.webhooks")
SCENARIO: "msgspec.json.Decoder[Scenario]" = msgspec.json.Decoder(Scenario)
SETTINGS: "msgspec.json.Decoder[MerchantSettings]" = msgspec.json.Decoder(MerchantSettings)


class Courier:
    def __init__(self, dsn: str, egress: Egress, vault: Vault, environment: str, hash_header: str) -> None:
        self._dsn = dsn
        self._egress = egress
        self._vault = vault
        self._environment = environment
        self._hash_header = hash_header
        self._in_flight: Counter[int] = Counter()
        self._ill: set[int] = set()
        self._keys: dict[int, tuple[bytes, float]] = {}
        self._outcomes: list[Recorded] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._wake = asyncio.Event()

    def stop(self) -> None:
        self._stopping.set()
        self._wake.set()

    async def run(self) -> None:
        """Claim and record on one connection, in turns; the sending goes on beside."""
        connection: Connection | None = None
        while not (self._stopping.is_set() and not self._tasks and not self._outcomes):
            try:
                if connection is None or connection.is_closed():
                    connection = await pool.connect(self._dsn, {"application_name": "kasuwa courier"})
                await self._take_turn(connection)
            except Exception as error:
                if not pool.is_lost(error):
                    log.error("courier failed", **where_it_broke(error))
                self._outcomes.clear()  # not recorded: their leases run out and they are sent again
                await asyncio.sleep(AFTER_TROUBLE_SECONDS)
        if connection is not None:
            await connection.close()

    async def _take_turn(self, connection: Connection) -> None:
        if self._outcomes:
            outcomes, self._outcomes = self._outcomes, []
            await deliveries.record(connection, outcomes)
            await self._switch_off(connection, outcomes)
        claimed = 0 if self._stopping.is_set() else await self.run_once(connection)
        self._wake.clear()
        if not claimed:
            wait = RECORD_SECONDS if self._tasks else IDLE_SECONDS
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                return

    async def run_once(self, connection: Connection) -> int:
        """Claim what is due and start sending it; answers how many there were."""
        room = MOST_IN_FLIGHT - sum(self._in_flight.values())
        if room <= 0:
            return 0
        busy = [merchant_id for merchant_id, count in self._in_flight.items() if count >= self._places(merchant_id)]
        busy += [merchant_id for merchant_id in self._ill if self._in_flight[merchant_id]]
        most = min(room, MOST_CLAIMED)
        claimed = await deliveries.claim(connection, datetime.now(UTC), most, MOST_WELL, busy)
        await self._load_keys(connection, {item.job.merchant_id for item in claimed})
        behind = [item for item in claimed if item.behind]
        if behind:
            await deliveries.put_back(connection, behind, datetime.now(UTC))
        for item in claimed:
            if item.behind:
                continue
            self._in_flight[item.job.merchant_id] += 1
            task = asyncio.get_running_loop().create_task(self._send(item))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return len(claimed)

    def _places(self, merchant_id: int) -> int:
        return MOST_ILL if merchant_id in self._ill else MOST_WELL

    async def _load_keys(self, connection: Any, merchants: set[int]) -> None:
        """The newest key of each, opened; asked for again after a moment, so that a rolled key is used at once."""
        now = time.monotonic()
        wanted = [m for m in merchants if m not in self._keys or now - self._keys[m][1] > KEY_SECONDS]
        if wanted:
            for merchant_id, sealed in await connection.fetch(deliveries.KEYS, wanted):
                self._keys[merchant_id] = (self._vault.open(merchant_id, KEY_PLACE, sealed), now)

    async def _send(self, item: Delivery) -> None:
        merchant_id = item.job.merchant_id
        try:
            outcome = await self._attempt(item)
            self._outcomes.append(outcome)
            (self._ill.discard if outcome.delivered else self._ill.add)(merchant_id)
        finally:
            self._in_flight[merchant_id] -= 1
            if not self._in_flight[merchant_id]:
                del self._in_flight[merchant_id]
            self._wake.set()

    async def _switch_off(self, connection: Connection, outcomes: list[Recorded]) -> None:
        for merchant_id, at in {o.merchant_id: o.at for o in outcomes if not o.delivered}.items():
            await deliveries.switch_off(connection, merchant_id, at, OFF_AFTER)

    # --- one attempt --------------------------------------------------------------------------------------

    async def deliver_now(self, connection: Any, job: Job, *, hung: bool) -> bool:
        """For `advance`: one delivery, sent and recorded at once. Answers whether the endpoint hung."""
        item = await deliveries.claim_one(connection, job, datetime.now(UTC))
        await self._load_keys(connection, {job.merchant_id})
        outcome = self._failed(item, None, HUNG, 0) if hung else await self._attempt(item)
        await deliveries.record(connection, [outcome])
        await self._switch_off(connection, [outcome])
        return hung or outcome.ms >= HANGS_MS

    async def _attempt(self, item: Delivery) -> Recorded:
        settings = SETTINGS.decode(item.settings)
        scenario = SCENARIO.decode(item.job.work).webhook
        if scenario == "drop":
            return self._recorded(item, None, "dropped, as the scenario said", 0, delivered=False, next_at=None)
        if not settings.webhook_url:
            return self._recorded(item, None, "no endpoint is set", 0, delivered=False, next_at=None)
        key, _ = self._keys[item.job.merchant_id]
        message_id = event_id(item.job.merchant_id, item.seq)
        badly = scenario == "bad-hash"
        headers = sign(item.payload, key, message_id, int(time.time()), self._hash_header, badly=badly)
        headers["webhook-object"] = item.object
        headers["webhook-sequence"] = str(item.object_seq)
        started = time.monotonic()
        try:
            for _ in range(2 if scenario == "dup" else 1):
                sent = await self._egress.post(settings.webhook_url, item.payload, headers)
        except (Refused, Undelivered) as error:
            return self._failed(item, None, str(error), int((time.monotonic() - started) * 1000))
        if 200 <= sent.http < 300:
            return self._recorded(item, sent.http, None, int(sent.ms), delivered=True, next_at=None)
        return self._failed(item, sent.http, f"HTTP {sent.http}", int(sent.ms), sent.retry_after)

    def _failed(
        self, item: Delivery, http: int | None, error: str, ms: int, retry_after: int | None = None
    ) -> Recorded:
        wait = wait_after(item.job.attempt + 1)
        if wait is not None:
            wait = min(max(wait, timedelta(seconds=retry_after or 0)), LONGEST_WAIT)
            if self._environment == "live":  # spread out what failed together; the test environment is exact
                wait *= 1 + random.random() / 10
        next_at = None if wait is None else item.now + wait
        return self._recorded(item, http, error, ms, delivered=False, next_at=next_at)

    def _recorded(
        self,
        item: Delivery,
        http: int | None,
        error: str | None,
        ms: int,
        *,
        delivered: bool,
        next_at: datetime | None,
    ) -> Recorded:
        job = item.job
        return Recorded(job.key, job.merchant_id, item.seq, item.now, http, error, ms, next_at, delivered)
