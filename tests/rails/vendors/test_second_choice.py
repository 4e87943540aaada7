"""Transfers with a second choice, Paystack and Monnify played by their twins: whatever fails, and wherever the process
dies, an order is paid at most once, by the vendor that is written with it.

A process is played by its `Services`. It dies by ending without recording what it has done. The next one finds the job
when the lease has expired, with settings that may name the vendors in another order.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from decimal import Decimal
from functools import partial
from itertools import product
from typing import Any

import asyncpg
import msgspec
import pytest

from kasuwa.composition import Services
from kasuwa.core.decision import Decision, Job, Merchant
from kasuwa.db import merchants
from kasuwa.db.batch import RuleFailure, Submission
from kasuwa.db.connections import open_claim_pool
from kasuwa.methods.disburse.rules.transfer import decide_transfer, need_transfer
from kasuwa.prepare import prepare
from kasuwa.rails.ports import RAIL_UNAVAILABLE
from kasuwa.settings import Settings, read_settings
from kasuwa.twins.monnify import MonnifyRules
from kasuwa.twins.paystack import PaystackRules
from kasuwa.twins.server import Twin
from kasuwa.work.sandbox import fund_new_merchant
from kasuwa.work.worker import Worker
from tests.methods.disburse.orders import order
from tests.running import Deployments

ACCOUNT, ACCOUNT_AT_ZENITH = "0123456785", "0123456788"
PAYSTACK_ONLY_BANK = "057"
CLOSED_PORT = "http://127.0.0.1:9"
MOST_ROUNDS = 8
MONNIFY_FIRST = "monnify,paystack"

# How the first vendor behaves for the first order: a fault of its twin at the money call, or an address that is closed.
BEHAVIORS = ("pays", "unreachable", "held", "lose", "drop", "bad_gateway", "too_many", "short", "unmapped")
# Behaviors after which certainly nothing has left: only then may the second vendor pay.
NOTHING_LEFT = ("unreachable", "held", "unmapped")
# Where the first process dies: never, with the order taken, or with the vendor called and nothing recorded.
DEATHS = ("never", "taken", "called")
# How orders end that are not paid: the vendor never saw the first and is asked after it, and does not serve the others.
ENDS = {("drop", "never"): "processing", ("unmapped", "taken"): "failed", ("unmapped", "called"): "failed"}
# The vendors in the settings of the process that takes over.
ORDERS = ("monnify,paystack", "paystack,monnify", "paystack")


class Ground:
    """The database and the vendors of these tests."""

    def __init__(self, dsn: str, secret: str) -> None:
        self.dsn = dsn
        self.secret = secret
        self.paystack_rules, self.monnify_rules = PaystackRules(), MonnifyRules()
        self.monnify_rules.are_twins_held_apart = False
        self.paystack, self.monnify = Twin(self.paystack_rules), Twin(self.monnify_rules)

    def settings(self, rails: str = MONNIFY_FIRST, *, url: str | None = None, has_monnify: bool = True) -> Settings:
        monnify = {
            "KASUWA_MONNIFY_API_KEY": "MK_TEST_1",
            "KASUWA_MONNIFY_SECRET_KEY": "secret-1",
            "KASUWA_MONNIFY_WALLET_ACCOUNT": "8016472829",
            "KASUWA_MONNIFY_BASE_URL": url or self.monnify.url,
        }
        environ = {
            "KASUWA_DATABASE_URL": self.dsn,
            "KASUWA_SECRET_KEY": self.secret,
            "KASUWA_RAIL_BANK": rails,
            "KASUWA_PAYSTACK_SECRET_KEY": "sk_test_1",
            "KASUWA_PAYSTACK_BASE_URL": self.paystack.url,
        }
        return read_settings(environ | (monnify if has_monnify else {}))

    def paid_by(self) -> dict[str, int]:
        """Returns how many transfers each vendor has accepted."""
        return {"paystack": len(self.paystack_rules.transfers), "monnify": len(self.monnify_rules.transfers)}


class Process:
    """The services of one process, and the merchant whose transfers it sends."""

    def __init__(self, services: Services, worker: Worker, merchant: Merchant, connection: Any) -> None:
        self.services = services
        self.worker = worker
        self.merchant = merchant
        self.connection = connection

    async def take(self, order_ref: str, **changes: Any) -> Job:
        """Takes a transfer. Returns its job, which is leased to this process."""
        account = ACCOUNT_AT_ZENITH if changes.get("bankcode") == PAYSTACK_ONLY_BANK else ACCOUNT
        request = order(accountnumber=account, orderRef=order_ref, **changes)
        submission = Submission(
            self.merchant, need_transfer(request, self.merchant), partial(decide_transfer, request), bytes(32)
        )
        decision = await self.services.writer.submit(submission)
        assert isinstance(decision, Decision), decision
        assert decision.follow_up is not None
        return decision.follow_up

    async def state(self, job: Job) -> tuple[str, str]:
        """Returns the status and the rail of a transfer."""
        row = await self.connection.fetchrow(
            "select status, rail from transaction where merchant_id = $1 and txn_ref = $2",
            job.merchant_id,
            job.reference,
        )
        return row[0], row[1]

    async def finish(self, job: Job) -> tuple[str, str]:
        """Runs the job as the worker does until the transfer has ended. The waiting times are skipped."""
        for _ in range(MOST_ROUNDS):
            for monitor in self.services.rail_choice.monitors.values():
                for client in monitor.clients:
                    client._held_until = client._paused_until = 0.0
            await self.connection.execute("update scheduled_job set run_at = now(), leased_until = null")
            await self.worker.run_once("bank")
            if (await self.state(job))[0] in ("successful", "failed"):
                break
        return await self.state(job)


@asynccontextmanager
async def process_of(ground: Ground, settings: Settings, merchant_id: int) -> AsyncIterator[Process]:
    services = await Services.build(settings, ground.dsn)
    await services.start()
    claims = await open_claim_pool(ground.dsn)
    connection = await asyncpg.connect(ground.dsn)
    try:
        merchant = await services.merchant_directory.get_by_id(merchant_id)
        worker = Worker(claims, services.step_runner, services.merchant_directory, services.clock)
        yield Process(services, worker, merchant, connection)
    finally:
        await connection.close()
        await claims.close()
        await services.close()


@pytest.fixture(scope="module")
def address(deployments: Deployments) -> tuple[str, str]:
    """A prepared database and its secret key."""
    dsn = deployments.new_database("second-choice")
    secret = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    environ = {"KASUWA_DATABASE_URL": dsn, "KASUWA_SECRET_KEY": secret}
    asyncio.run(prepare(read_settings(environ), dsn))
    return dsn, secret


def play(address: tuple[str, str], story: Callable[[Ground, int], Awaitable[None]]) -> None:
    """Runs a story with twins and a merchant of its own."""

    async def run() -> None:
        ground = Ground(*address)
        await ground.paystack.start()
        await ground.monnify.start()
        try:
            await story(ground, await add_merchant(ground))
        finally:
            await ground.paystack.stop()
            await ground.monnify.stop()

    asyncio.run(run())


async def add_merchant(ground: Ground) -> int:
    services = await Services.build(ground.settings(), ground.dsn)
    services.writer.start()
    connection = await asyncpg.connect(ground.dsn)
    try:
        await connection.execute("delete from scheduled_job")
        merchant_id, _, _ = await merchants.add_merchant(connection, services.vault, "Ada Stores")
        await fund_new_merchant(services.writer, await services.merchant_directory.get_by_id(merchant_id))
    finally:
        await connection.close()
        await services.close()
    return merchant_id


def misbehave(ground: Ground, process: Process, behavior: str) -> None:
    if behavior in ("lose", "drop", "bad_gateway", "too_many"):
        ground.monnify.add_fault(behavior, "/api/v2/disbursements/single")  # type: ignore[arg-type]
    if behavior == "short":
        ground.monnify_rules.balance = Decimal(0)
    if behavior == "held":
        [client] = process.services.rail_choice.monitors["monnify"].clients
        client._held_until = client._clock() + 60


@pytest.mark.parametrize(("behavior", "death"), list(product(BEHAVIORS, DEATHS)))
def test_order_is_paid_once_by_the_vendor_that_is_written(address: tuple[str, str], behavior: str, death: str) -> None:
    bank = PAYSTACK_ONLY_BANK if behavior == "unmapped" else "058"

    async def story(ground: Ground, merchant_id: int) -> None:
        for rails in ORDERS:
            before = ground.paid_by()
            ground.monnify_rules.balance = Decimal(10_000_000)
            url = CLOSED_PORT if behavior == "unreachable" else None
            async with process_of(ground, ground.settings(url=url), merchant_id) as first:
                job = await first.take(f"{behavior}-{death}-{rails}", bankcode=bank)
                written = (await first.state(job))[1]
                assert written == job.rail == "monnify"
                if death != "taken":
                    misbehave(ground, first, behavior)
                    answer = await first.services.step_runner.call(job, first.services.clock.now())
                if death == "never":
                    result = await first.services.step_runner.record_answer(job, first.merchant, answer)
                    assert isinstance(result, Decision), result
                    written = (await first.state(job))[1]
            ground.monnify_rules.balance = Decimal(10_000_000)
            async with process_of(ground, ground.settings(rails), merchant_id) as second:
                status, rail = await second.finish(job)
            after = ground.paid_by()
            paid = {name: after[name] - before[name] for name in after}
            assert rail == written, "the next process keeps the vendor"
            assert status == ENDS.get((behavior, death), "successful")
            assert paid == {"paystack": 0, "monnify": 0} | {rail: int(status == "successful")}
            assert (rail == "paystack") == (behavior in NOTHING_LEFT and death == "never")

    play(address, story)


def test_process_that_was_paused_cannot_move_an_order_that_another_has_claimed(address: tuple[str, str]) -> None:
    """The lease of a paused process expires, and another one sends the order. The first then finds that its own call
    never left, and would move the order to the second vendor."""

    async def story(ground: Ground, merchant_id: int) -> None:
        settings = ground.settings()
        async with (
            process_of(ground, settings, merchant_id) as paused,
            process_of(ground, settings, merchant_id) as two,
        ):
            job = await paused.take("paused")
            await two.connection.execute("update scheduled_job set run_at = now(), leased_until = now()")
            await two.worker.run_once("bank")
            assert ground.paid_by() == {"paystack": 0, "monnify": 1}
            not_sent = msgspec.structs.replace(RAIL_UNAVAILABLE, is_unsent=True)
            result = await paused.services.step_runner.record_answer(job, paused.merchant, not_sent)
            assert not isinstance(result, RuleFailure), result
            assert await two.finish(job) == ("successful", "monnify")
        assert ground.paid_by() == {"paystack": 0, "monnify": 1}

    play(address, story)


def test_claim_between_decision_and_commit_is_noticed_by_the_database(address: tuple[str, str]) -> None:
    """The database itself refuses another rail for a job that was claimed twice, and keeps its rail fixed."""

    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings(), merchant_id) as process:
            job = await process.take("claimed")
            claim = "update scheduled_job set claims = claims + 1 where key = $1 returning is_rail_fixed"
            assert await process.connection.fetchval(claim, job.key) is True
            with pytest.raises(asyncpg.RaiseError, match="may have reached its rail"):
                await process.connection.execute("update scheduled_job set rail = 'paystack' where key = $1", job.key)
            undo = "update scheduled_job set claims = 0, is_rail_fixed = false where key = $1 returning is_rail_fixed"
            assert await process.connection.fetchval(undo, job.key) is True

    play(address, story)


def test_order_of_a_vendor_that_is_no_longer_configured_waits(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings(), merchant_id) as first:
            job = await first.take("waits")
        without = ground.settings("paystack", has_monnify=False)
        async with process_of(ground, without, merchant_id) as second:
            assert await second.finish(job) == ("processing", "monnify")
            notices = await second.connection.fetch(
                "select message from operator_notice where merchant_id = $1", merchant_id
            )
        assert "an order waits for monnify" in notices[0][0]
        assert ground.paid_by() == {"paystack": 0, "monnify": 0}
        async with process_of(ground, ground.settings("paystack,monnify"), merchant_id) as third:
            assert await third.finish(job) == ("successful", "monnify")

    play(address, story)


def test_orders_of_a_short_vendor_go_to_the_second(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings(), merchant_id) as process:
            process.services.rail_choice.balances.replace_all({("monnify", "NGN"): 499_999})
            job = await process.take("short")
            assert job.rail == "paystack"
            assert await process.finish(job) == ("successful", "paystack")
            assert (await process.take("small", amount="4999.00")).rail == "monnify"

    play(address, story)
