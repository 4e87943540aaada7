"""The engine behind the test environment's commands: merchants made, clocks moved, call-backs played."""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any

import msgspec

from kasuwa.core.codes import INVALID_REQUEST, NOT_COVERED
from kasuwa.core.decision import Context, Decision, Group, Job, Merchant, Needs, Refusal, Seen
from kasuwa.core.merchant import MerchantSettings
from kasuwa.core.money import minor_of
from kasuwa.core.secrets import Vault
from kasuwa.core.transactions import (
    FAILED,
    ORDERED_KINDS,
    SUCCESSFUL,
    Transaction,
    contradiction,
    transaction_key,
)
from kasuwa.db import deliveries, jobs, merchants
from kasuwa.db.batch import Broken, Submission
from kasuwa.db.merchants import Directory
from kasuwa.db.pool import Pool
from kasuwa.db.rows import columns_of
from kasuwa.db.writer import Writer
from kasuwa.ledger import chart
from kasuwa.rails.ports import Answer
from kasuwa.work.engine import PlainEngine
from kasuwa.work.steps import Stepper
from kasuwa.work.targets import url_fault
from kasuwa.work.timeline import timeline, timeline_of_thing
from kasuwa.work.webhooks import Courier, has_hung

# What every merchant of the test environment starts with. Spec silent: D40
OPENING_BALANCES = {"NGN": minor_of("10000000.00"), "USD": minor_of("10000.00")}
NEVER_SHORT = Refusal(NOT_COVERED, "The outside does not run short")
NO_CALL_BACK = Refusal(INVALID_REQUEST, "No rail decides this one, so no call-back can end it")

TOLD = {
    SUCCESSFUL: Answer(SUCCESSFUL, "00", "Approved or completed successfully"),
    FAILED: Answer(FAILED, "05", "Do not honour"),
}

# An advance that dies lets go of its merchant after this long; a living one renews well before.
ADVANCE_LEASE = timedelta(seconds=30)
RENEW_SECONDS = 10.0
LOOK_AGAIN_SECONDS = 0.02

TRANSACTION_COLUMNS = ", ".join(columns_of(Transaction).names)
BY_REFERENCE = f"""
    select {TRANSACTION_COLUMNS} from transaction
    where merchant_id = $1 and (txn_ref = $2 or key = any($3)) order by created_at desc
"""


class Stuck(Exception):
    """A job that stays due however often it is run."""


def open_wallets(context: Context, seen: Seen) -> Decision:
    posts = tuple(chart.fund_wallet(currency, amount) for currency, amount in OPENING_BALANCES.items())
    return Decision(groups=(Group("opening", NEVER_SHORT, posts=posts),))


OPENING_ACCOUNTS = tuple(
    name for currency in OPENING_BALANCES for name in (chart.wallet(currency), chart.outside("funding", currency))
)


async def fund_opening(writer: Writer, merchant: Merchant) -> None:
    await decide(writer, merchant, Needs((), OPENING_ACCOUNTS), open_wallets)


async def decide(
    writer: Writer, merchant: Merchant, needs: Needs, rule: Callable[[Context, Seen], Decision]
) -> Decision:
    result = await writer.submit(Submission(merchant, needs, rule, os.urandom(32)))
    if isinstance(result, Broken):
        raise result.error
    assert isinstance(result, Decision), result
    return result


class SandboxEngine(PlainEngine):
    def __init__(
        self,
        operators: Pool,
        writer: Writer,
        stepper: Stepper,
        directory: Directory,
        vault: Vault,
        courier: Courier,
        *,
        seed: bytes | None,
        loopback_allowed: bool,
    ) -> None:
        super().__init__(operators, writer.clock)
        self._writer = writer
        self._stepper = stepper
        self._directory = directory
        self._vault = vault
        self._courier = courier
        self._seed = seed
        self._loopback_allowed = loopback_allowed

    async def new_merchant(self, name: str, now: datetime | None) -> tuple[str, str]:
        async with self._operators.acquire() as connection:
            merchant_id, mid, key = await merchants.add_merchant(
                connection, self._vault, name, clock_fixed=now, make_key=self._make_key
            )
        await fund_opening(self._writer, await self._directory.by_id(merchant_id))
        return mid, key

    async def set_webhook(self, merchant: Merchant, url: str) -> str | None:
        """Set or switch off the merchant's endpoint; answers what is wrong with the URL, if anything."""
        fault = url_fault(url, environment="test", loopback_allowed=self._loopback_allowed) if url else None
        if fault is not None:
            return fault

        def change(kept: MerchantSettings) -> MerchantSettings:
            return msgspec.structs.replace(kept, webhook_url=url)

        async with self._operators.acquire() as connection:
            await merchants.change_settings(connection, merchant.mid, change, endpoint_set=True)
        return None

    async def reset(self, merchant: Merchant) -> None:
        """Fresh books under the same mid and keys, as on day one; the old ones are kept aside."""
        async with self._operators.acquire() as connection:
            merchant_id = await merchants.begin_anew(connection, self._vault, merchant.mid)
        await fund_opening(self._writer, await self._directory.by_id(merchant_id))
        # Until every process has looked the merchant up anew, some would still write in the old books.
        await asyncio.sleep(merchants.STALE_SECONDS)
        self._directory.forget(merchant.mid)

    async def explain(self, merchant: Merchant, reference: str) -> list[dict[str, Any]] | None:
        row = await self._find(merchant, reference)
        async with self._operators.acquire() as connection:
            if row is None:
                return await timeline_of_thing(connection, merchant.merchant_id, reference)
            return await timeline(connection, row)

    def _make_key(self, merchant_id: int) -> str:
        """With a seed, keys replay as well."""
        if self._seed is None:
            return merchants.random_key(merchant_id)
        return blake2b(b"key %d" % merchant_id, key=self._seed, digest_size=32).hexdigest()

    # --- the rail's call-back -----------------------------------------------------------------------------

    async def settle(self, merchant: Merchant, reference: str, status: str) -> Transaction | Refusal | None:
        """The transaction as it then stands; a refusal where it waits for nobody outside, as a cashcode does."""
        named = await self._find_all(merchant, reference)
        # A transfer and a bill may share an orderRef: whichever is still open is meant, then what can be contradicted.
        for row in named:
            waiting = await self._operators.fetch(jobs.OF_SUBJECT, merchant.merchant_id, row.key)
            job = next((job for job in (Job(*record) for record in waiting) if self._stepper.may_settle(job)), None)
            if job is not None:
                result = await self._stepper.hear(job, merchant, TOLD[status])
                if isinstance(result, Broken):
                    raise result.error
                return await self._find(merchant, row.txn_ref)
        for row in named:
            if await self._contradict(merchant, row.key, status):
                return await self._find(merchant, row.txn_ref)
        return NO_CALL_BACK if named else None

    async def _find(self, merchant: Merchant, reference: str) -> Transaction | None:
        return next(iter(await self._find_all(merchant, reference)), None)

    async def _find_all(self, merchant: Merchant, reference: str) -> list[Transaction]:
        """Newest first."""
        keys = [transaction_key(merchant.merchant_id, kind, reference) for kind in ORDERED_KINDS]
        records = await self._operators.fetch(BY_REFERENCE, merchant.merchant_id, reference, keys)
        return [Transaction(*record) for record in records]

    async def _contradict(self, merchant: Merchant, key: bytes, status: str) -> bool:
        """Whether it was over, so that there was something to contradict."""

        def record(context: Context, seen: Seen) -> Decision:
            row = seen.get(Transaction, key)
            assert row is not None, "nothing is ever deleted"
            return Decision(reply=row.is_final, notices=contradiction(row, status) if row.is_final else ())

        return bool((await decide(self._writer, merchant, Needs(((Transaction, key),)), record)).reply)

    # --- time -----------------------------------------------------------------------------------------------

    async def advance(
        self, merchant: Merchant, target: Callable[[datetime], datetime | Refusal]
    ) -> tuple[datetime, dict[str, int]] | Refusal:
        """Move business time forward, running everything that falls due on the way, in order. Where to is asked
        under the lease, so that two at once add up. No connection is held: each statement takes one for itself, so
        that any number of merchants can advance at once, however long their jobs take."""
        while not await self._operators.fetchval(jobs.TAKE_ADVANCE, merchant.merchant_id, ADVANCE_LEASE):
            await asyncio.sleep(LOOK_AGAIN_SECONDS)
        try:
            until = target(await self.business_now(merchant))
            if isinstance(until, Refusal):
                return until
            ran = await self._run_due(merchant, until)
            return await self._move_clock(merchant, until, on_the_way=False), ran
        finally:
            await self._operators.execute(jobs.END_ADVANCE, merchant.merchant_id)

    async def _run_due(self, merchant: Merchant, until: datetime) -> dict[str, int]:
        operators = self._operators
        ran: Counter[str] = Counter()
        renewed, last, hung = time.monotonic(), None, False
        now = await self.business_now(merchant)
        while True:
            if time.monotonic() - renewed > RENEW_SECONDS:
                await operators.execute(jobs.EXTEND_ADVANCE, merchant.merchant_id, ADVANCE_LEASE)
                renewed = time.monotonic()
            lanes = await self._open_lanes(merchant)
            record = await operators.fetchrow(jobs.NEXT_DUE, merchant.merchant_id, until, lanes)
            if record is None:
                return dict(sorted(ran.items()))
            job = Job(*record)
            if job.lane == deliveries.LANE:
                due, job = job.due, await deliveries.first_in_line(operators, job)
                if job.due > due:
                    continue
            if job.leased_until is not None and job.leased_until > self._clock.now():
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
                continue
            if (job.key, job.due) == last:
                raise Stuck(job.reference)
            last = (job.key, job.due)
            if job.due > now:
                now = await self._move_clock(merchant, job.due, on_the_way=True)
            if job.lane == deliveries.LANE:
                outcome = await self._courier.deliver_now(operators, job, hung=hung)
                if outcome is None:
                    continue
                hung = hung or has_hung(outcome)
            else:
                await self._stepper.run(job, merchant, now)
            ran[job.kind.partition(".")[0]] += 1

    async def _open_lanes(self, merchant: Merchant) -> list[str]:
        """What waits for an endpoint that is switched off does not fall due."""
        off = await deliveries.is_off(self._operators, merchant.merchant_id)
        return self._stepper.lanes if off else [*self._stepper.lanes, deliveries.LANE]

    async def _move_clock(self, merchant: Merchant, to: datetime, *, on_the_way: bool) -> datetime:
        """On the way the jobs' wall times stay as they are: the worker leaves this merchant alone, and moving
        them at every stop would take a thousand jobs a thousand times."""
        moved: list[datetime] = []

        def rule(context: Context, seen: Seen) -> Decision:
            moved[:] = [max(to, context.now)]
            return Decision(clock=moved[0], on_the_way=on_the_way)

        await decide(self._writer, merchant, Needs(), rule)
        return moved[0]
