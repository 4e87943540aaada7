"""The lease of a merchant's clock: renewed while held, one holder at a time, and repaired if its holder died."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from kasuwa.audit.close_task import BookCloser
from kasuwa.boot.composition import Services
from kasuwa.core.decision import Refusal
from kasuwa.jobs import leases as jobs
from kasuwa.jobs.clock_leases import ClockLeases, LeaseTimeout
from kasuwa.postgres import connections
from kasuwa.postgres.connection_pool import Pool
from kasuwa.sandbox.operations import BUSY, NO_CLOSE_KEY, SandboxOperations, SandboxServices
from kasuwa.settings.settings import read_settings
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.webhooks.event_log import send_events_to, wait_until
from tests.webhooks.inbox import OK, Answer, ReceivedRequest, running_inbox

T = TypeVar("T")
SHORT = timedelta(seconds=0.6)
START = "2026-01-05T09:00:00+01:00"
BOOKS = "select merchant_id from merchant where mid = $1 and current"
LEASED = "select leased_until > now(), holder from advance_lease where merchant_id = $1"


def number_of(deployment: Deployment, shop: MerchantClient) -> int:
    [[number]] = deployment.fetch(BOOKS, shop.mid)
    return int(number)


def with_pool(deployment: Deployment, work: Callable[[Pool], Awaitable[T]]) -> T:
    async def run() -> T:
        operators = await connections.open_operator_pool(deployment.dsn)
        try:
            return await work(operators)
        finally:
            await operators.close()

    return asyncio.run(run())


def with_operations(
    deployment: Deployment, work: Callable[[SandboxOperations, Services], Awaitable[T]], **terms: Any
) -> T:
    """Runs work on the operations of a process of its own, which has no key to sign closes with."""

    async def use(services: Services, operators: Pool) -> T:
        engine = SandboxOperations(
            operators,
            SandboxServices(
                services.writer,
                services.step_runner,
                services.merchant_directory,
                services.vault,
                services.webhook_sender,
                BookCloser(services.dsn, None, services.clock),
            ),
            seed=None,
            loopback_allowed=True,
            lease=SHORT,
            **terms,
        )
        return await work(engine, services)

    async def run() -> T:
        services = await Services.build(read_settings({}, data=deployment.directory), deployment.dsn)
        services.writer.start()
        operators = await connections.open_operator_pool(deployment.dsn)
        try:
            return await use(services, operators)
        finally:
            await services.close()
            await operators.close()

    return asyncio.run(run())


def test_a_lease_outlasts_its_length_while_it_is_held(deployment: Deployment, shop: MerchantClient) -> None:
    number = number_of(deployment, shop)

    async def work(operators: Pool) -> tuple[set[bool], bool, int]:
        mine, others = ClockLeases(operators, length=SHORT), ClockLeases(operators, length=SHORT, wait_seconds=0.1)
        seen = set()
        async with mine.acquire(number) as held:
            until = time.monotonic() + 4 * SHORT.total_seconds()
            while time.monotonic() < until:
                seen.add(await operators.fetchval(LEASED, number))
                with pytest.raises(LeaseTimeout):
                    async with others.acquire(number):
                        raise AssertionError("two hold it")
            lost = held.is_lost
        return seen, lost, await operators.fetchval("select count(*) from advance_lease where merchant_id = $1", number)

    assert with_pool(deployment, work) == ({True}, False, 0)


def test_who_lost_a_lease_hears_of_it_and_leaves_the_next_holder_alone(
    deployment: Deployment, shop: MerchantClient
) -> None:
    number = number_of(deployment, shop)

    async def work(operators: Pool) -> tuple[bool, Any]:
        leases = ClockLeases(operators, length=SHORT)
        async with leases.acquire(number) as held:
            await operators.execute("update advance_lease set holder = 'another' where merchant_id = $1", number)
            async with asyncio.timeout(30):
                while not held.is_lost:
                    await asyncio.sleep(0.02)
        kept = await operators.fetchval("select holder from advance_lease where merchant_id = $1", number)
        await operators.execute(jobs.END_ADVANCE, number, b"another")
        return held.is_lost, kept

    assert with_pool(deployment, work) == (True, b"another")


def test_a_slow_delivery_does_not_let_the_worker_into_an_advance(deployment: Deployment, shop: MerchantClient) -> None:
    """The delivery takes many times the lease. The jobs behind it are still left to the advance."""
    states: list[bool] = []

    def slowly(letter: ReceivedRequest) -> Answer:
        until = time.monotonic() + 4 * SHORT.total_seconds()
        while time.monotonic() < until:
            states.extend(row[0] for row in deployment.fetch(LEASED, number))
            time.sleep(0.05)
        return OK

    async def advance(engine: SandboxOperations, services: Services) -> Any:
        merchant = await services.merchant_directory.get_by_id(number)
        return await engine.advance_clock(merchant, lambda now: now + timedelta(days=3))

    with running_inbox() as inbox:
        inbox.answer = slowly
        number = number_of(deployment, shop)
        send_events_to(shop, inbox.url)
        for days in (1, 2):
            shop.transfer(headers={"x-sandbox-scenario": f"webhook=late:{days * 86_400}"})
        advanced = with_operations(deployment, advance)
        assert not isinstance(advanced, Refusal)
        assert (advanced.job_counts, advanced.has_more) == ({"webhook": 2}, False)
        assert len(inbox.requests) == 2
    assert states
    assert all(states)


def test_whoever_waits_too_long_for_the_clock_is_refused_and_nothing_is_done(
    deployment: Deployment, shop: MerchantClient
) -> None:
    number = number_of(deployment, shop)
    deployment.fetch("insert into advance_lease values ($1, now() + interval '1 hour', 'another')", number)

    async def try_all(engine: SandboxOperations, services: Services) -> list[Any]:
        merchant = await services.merchant_directory.get_by_id(number)
        return [
            await engine.advance_clock(merchant, lambda now: now + timedelta(days=1)),
            await engine.freeze_clock(merchant, is_frozen=True),
            await engine.reset(merchant),
        ]

    assert with_operations(deployment, try_all, wait_seconds=0.1) == [BUSY] * 3
    assert number_of(deployment, shop) == number, "the books are the same"
    deployment.fetch("delete from advance_lease where merchant_id = $1", number)


def test_books_are_not_closed_without_a_key(deployment: Deployment) -> None:
    newest = "select count(*) from book_close"
    before = deployment.fetch(newest)

    async def close(engine: SandboxOperations, services: Services) -> Any:
        return await engine.close_books()

    assert with_operations(deployment, close) == NO_CLOSE_KEY
    assert deployment.fetch(newest) == before


def test_what_an_advance_that_died_has_passed_by_is_run_by_the_worker(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop(now=START)
    sent = shop.transfer(accountnumber="0000000900")
    number = number_of(deployment, shop)
    # The state after a kill between moving the clock and updating the jobs' wall times.
    deployment.fetch(
        "update merchant_state set clock_fixed_at = clock_fixed_at + interval '1 minute', version = version + 1 "
        "where merchant_id = $1",
        number,
    )
    deployment.fetch("insert into advance_lease values ($1, $2)", number, datetime.now(UTC) - timedelta(minutes=1))
    wait_until("the worker has taken it up", lambda: shop.status_of(sent["txnRef"]) == "successful")
    assert deployment.fetch(LEASED, number) == []
