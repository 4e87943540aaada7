"""Transfers with a second choice, Paystack and Monnify played by their twins: whatever fails, and wherever the process
dies, an order is paid at most once, by the vendor that is written with it.

The next process finds the job when the lease has expired, with settings that may name the vendors in another order.
"""

import os
from decimal import Decimal
from itertools import product
from pathlib import Path

import asyncpg
import msgspec
import pytest

from kasuwa.core.decision import Decision
from kasuwa.engine.batch import RuleFailure
from kasuwa.rails.ports.orders import RAIL_UNAVAILABLE, NameEnquiry
from tests.rails.banks import GTBANK
from tests.rails.remote.example_rails import SECRET, running_rail
from tests.rails.vendors.two_vendors import (
    ACCOUNT,
    PAYSTACK_ONLY_BANK,
    Ground,
    Process,
    play,
    prepare_database,
    process_of,
)
from tests.running import Deployments

CLOSED_PORT = "http://127.0.0.1:9"

# How the first vendor behaves for the first order: a fault of its twin at the money call, or an address that is closed.
BEHAVIORS = ("pays", "unreachable", "held", "lose", "drop", "bad_gateway", "too_many", "short", "unmapped")
# Behaviors after which certainly nothing has left: only then may the second vendor pay.
NOTHING_LEFT = ("unreachable", "held", "unmapped")
# Where the first process dies: never, with the order taken, or with the vendor called and nothing recorded.
DEATHS = ("never", "taken", "called")
# How orders end that are not paid: the vendor never saw the first and is asked after it, and does not serve the others.
ENDS = {("drop", "never"): "processing", ("unmapped", "taken"): "failed", ("unmapped", "called"): "failed"}
# The vendors in the settings of the process that takes over. The short form tries one of them for each behavior and
# death, so that each behavior and each death is tried with every one. With KASUWA_LONG=1 all are tried.
ORDERS = ("monnify,paystack", "paystack,monnify", "paystack")


def orders_of(behavior: str, death: str) -> tuple[str, ...]:
    if os.environ.get("KASUWA_LONG") == "1":
        return ORDERS
    return (ORDERS[(BEHAVIORS.index(behavior) + DEATHS.index(death)) % len(ORDERS)],)


@pytest.fixture(scope="module")
def address(deployments: Deployments) -> tuple[str, str]:
    return prepare_database(deployments, "second-choice")


def misbehave(ground: Ground, process: Process, behavior: str) -> None:
    if behavior in ("lose", "drop", "bad_gateway", "too_many"):
        ground.monnify.add_fault(behavior, "/api/v2/disbursements/single")  # type: ignore[arg-type]
    if behavior == "short":
        ground.monnify_rules.balance = Decimal(0)
    if behavior == "held":
        for client in process.services.rail_choice.monitors["monnify"].clients:
            client._held_until = client._clock() + 60


@pytest.mark.chaos
@pytest.mark.parametrize(("behavior", "death"), list(product(BEHAVIORS, DEATHS)))
def test_order_is_paid_once_by_the_vendor_that_is_written(address: tuple[str, str], behavior: str, death: str) -> None:
    bank = PAYSTACK_ONLY_BANK if behavior == "unmapped" else "058"

    async def story(ground: Ground, merchant_id: int) -> None:
        for rails in orders_of(behavior, death):
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
                if url is not None:  # the vendor is reached at another address: an operator says that it is the same
                    second.services.rail_choice.accounts.learn("monnify", job.rail_account)
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


def test_second_claim_is_remembered_whatever_view_of_the_job_is_written(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings(), merchant_id) as process:
            job = await process.take("remembered")
            flag = "select is_queried_first from scheduled_job where key = $1"
            assert await process.connection.fetchval(flag, job.key) is False
            await process.connection.execute("update scheduled_job set claims = 2 where key = $1", job.key)
            old_view = "update scheduled_job set claims = 0, is_queried_first = false where key = $1"
            await process.connection.execute(old_view, job.key)
            assert await process.connection.fetchval(flag, job.key) is True

    play(address, story)


def test_order_of_a_dead_process_is_queried_first_once_its_vendor_is_back(address: tuple[str, str]) -> None:
    """The vendor has paid, and cannot be asked when the job is taken over: the order waits, and is not sent again."""

    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings(), merchant_id) as first:
            job = await first.take("asked-first")
            await first.services.step_runner.call(job, first.services.clock.now())
        assert ground.paid_by() == {"paystack": 0, "monnify": 1}
        async with process_of(ground, ground.settings(url=CLOSED_PORT), merchant_id) as second:
            assert await second.finish(job) == ("processing", "monnify")
        before = ground.monnify.count("/api/v2/disbursements/single")
        async with process_of(ground, ground.settings(), merchant_id) as third:
            assert await third.finish(job) == ("successful", "monnify")
        assert ground.monnify.count("/api/v2/disbursements/single") == before == 1
        assert ground.paid_by() == {"paystack": 0, "monnify": 1}

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


def test_third_vendor_pays_at_once_while_two_are_down(address: tuple[str, str], tmp_path: Path) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        with running_rail(tmp_path) as rail:
            settings = ground.settings(
                "monnify,paystack,remote",
                url=CLOSED_PORT,
                paystack_base_url=CLOSED_PORT,
                remote_base_url=rail.url,
                remote_key_id=SECRET.key_id,
                remote_secret=SECRET.secret,
            )
            async with process_of(ground, settings, merchant_id) as process:
                job = await process.take("third")
                await process.services.step_runner.run(job, process.merchant, process.services.clock.now())
                rails = ["monnify"]
                for _ in range(2):
                    rails.append((await process.state(job))[1])
                    [(seconds,)] = await process.connection.fetch(
                        "select extract(epoch from run_at - now()) from scheduled_job where key = $1", job.key
                    )
                    assert seconds < 1, "the next vendor is tried at once"
                    await process.connection.execute("update scheduled_job set run_at = now()")
                    await process.worker.run_once("bank")
                assert rails == ["monnify", "paystack", "remote"]
                assert await process.finish(job) == ("successful", "remote")
                name = await process.services.rails.bank.find_account_name(NameEnquiry(GTBANK, ACCOUNT))
                assert name.name == "ADA OBI"
        assert ground.paid_by() == {"paystack": 0, "monnify": 0}

    play(address, story)


def test_orders_of_a_short_vendor_go_to_the_second(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings(), merchant_id) as process:
            process.services.rail_choice.balances.update({("monnify", "NGN"): 499_999})
            job = await process.take("short")
            assert job.rail == "paystack"
            assert await process.finish(job) == ("successful", "paystack")
            assert (await process.take("small", amount="4999.00")).rail == "monnify"

    play(address, story)
