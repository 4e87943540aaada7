"""Two vendors of transfers, Paystack and Monnify, played by their twins, with processes of the service that use them.

A process is played by its `Services`. It dies by ending without recording what it has done.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import asyncpg

from kasuwa.boot.composition import Services
from kasuwa.boot.prepare import prepare
from kasuwa.core.decision import Decision, Job, Merchant
from kasuwa.engine.batch import Submission
from kasuwa.jobs.worker import Worker
from kasuwa.merchants import merchants
from kasuwa.methods.disburse.rules.transfer import decide_transfer, need_transfer
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.connections import open_claim_pool
from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.server import Twin
from kasuwa.sandbox.operations import fund_new_merchant
from kasuwa.settings.settings import Settings, read_settings
from tests.methods.disburse.orders import order
from tests.running import Deployments

ACCOUNT, ACCOUNT_AT_ZENITH = "0123456785", "0123456788"
PAYSTACK_ONLY_BANK = "057"
MOST_ROUNDS = 8
MONNIFY_FIRST = "monnify,paystack"


class Ground:
    """The database and the vendors of these tests."""

    def __init__(self, dsn: str, secret: str) -> None:
        self.dsn = dsn
        self.secret = secret
        self.paystack_rules, self.monnify_rules = PaystackRules(), MonnifyRules()
        self.monnify_rules.are_twins_held_apart = False
        self.paystack, self.monnify = Twin(self.paystack_rules), Twin(self.monnify_rules)

    def settings(
        self, rails: str = MONNIFY_FIRST, *, url: str | None = None, has_monnify: bool = True, **more: str
    ) -> Settings:
        """Returns settings with these rails. `more` are further ones, by their name without the prefix."""
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
        given = {f"KASUWA_{name.upper()}": value for name, value in more.items()}
        return read_settings(environ | (monnify if has_monnify else {}) | given)

    def paid_by(self) -> dict[str, int]:
        """Returns how many transfers each vendor has accepted."""
        return {"paystack": len(self.paystack_rules.transfers), "monnify": len(self.monnify_rules.transfers)}


class Process:
    """The services of one process, and the merchant whose transfers it sends."""

    def __init__(self, services: Services, pool: Pool, merchant: Merchant, connection: Any) -> None:
        self.services = services
        self.pool = pool
        self.worker = Worker(pool, services.step_runner, services.merchant_directory, services.clock)
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
                    client._held_until = 0.0
                    client._breaker.clear()
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
        yield Process(services, claims, merchant, connection)
    finally:
        await connection.close()
        await claims.close()
        await services.close()


def prepare_database(deployments: Deployments, name: str) -> tuple[str, str]:
    """Returns the address and the secret key of a new, prepared database."""
    dsn = deployments.new_database(name)
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
