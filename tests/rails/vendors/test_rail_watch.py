"""What processes know of their vendors: health, balances with their notices, and comparisons in shadow mode."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from kasuwa.boot.rails import describe_health, list_timings, start_rail_tasks, use_balances
from kasuwa.doctor.rails import examine_open_orders, examine_rails
from kasuwa.observe.metrics import Metrics, SharedCounters
from kasuwa.postgres.advisory_locks import AdvisoryLock
from kasuwa.rails.catalogue import editions
from kasuwa.rails.ports.orders import NameAnswer, NameEnquiry, NoAnswer, TransferOrder, Unavailable
from kasuwa.rails.watch import records
from kasuwa.rails.watch.shadow import MAX_WAITING, ShadowComparer, are_same_name, mask_name
from kasuwa.rails.watch.watch import BalanceReader, RailWatch
from tests.rails.banks import GTBANK
from tests.rails.vendors.two_vendors import ACCOUNT, Ground, Process, play, prepare_database, process_of
from tests.running import Deployments

LEAST = "NGN:500000.00"
FRESH = 0.001  # seconds: every reading counts as due


@pytest.fixture(scope="module")
def address(deployments: Deployments) -> tuple[str, str]:
    return prepare_database(deployments, "rail-watch")


async def notices_of(process: Process) -> list[str]:
    rows = await process.connection.fetch(
        "select message from operator_notice where merchant_id = 0 order by notice_id"
    )
    return [row[0] for row in rows]


def reader_of(ground: Ground, process: Process) -> BalanceReader:
    rails = process.services.rail_choice.funded_rails()
    return BalanceReader(ground.dsn, rails, process.services.settings.rail_float_least, FRESH)


# --- balances ------------------------------------------------------------------------------------------------------


def test_low_balance_is_one_notice_for_each_fall(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings(rail_float_least=LEAST), merchant_id) as process:
            reader, before = reader_of(ground, process), len(await notices_of(process))
            counts = []
            for naira in (10_000_000, 499_999, 100, 500_000, 499_999):
                ground.monnify_rules.balance = Decimal(naira)
                assert await reader.run_once()
                counts.append(len(await notices_of(process)) - before)
            assert counts == [0, 1, 1, 1, 2]
            message = "our balance with monnify is 499999.00 NGN, below 500000.00: fund it"
            assert (await notices_of(process))[-1] == message
            rows = await records.list_balances(process.connection)
            assert [(row.rail, row.amount, row.is_low) for row in rows] == [
                ("monnify", 49_999_900, True),
                ("paystack", 1_000_000_000, False),
            ]

    play(address, story)


def test_balances_are_read_by_one_worker_at_a_time(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings(), merchant_id) as process:
            reader = reader_of(ground, process)
            await process.connection.execute("select pg_advisory_lock($1)", AdvisoryLock.BALANCES)
            assert not await reader.run_once()
            await process.connection.execute("select pg_advisory_unlock($1)", AdvisoryLock.BALANCES)
            assert await reader.run_once()
            patient = BalanceReader(ground.dsn, process.services.rail_choice.funded_rails(), {}, 60)
            assert not await patient.run_once(), "they were read a moment ago"

    play(address, story)


def test_vendor_that_does_not_answer_keeps_its_last_balance(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings(), merchant_id) as process:
            reader = reader_of(ground, process)
            await reader.run_once()
            ground.monnify_rules.balance = Decimal(1)
            ground.monnify.add_fault("bad_gateway", "/api/v2/disbursements/wallet-balance")
            await reader.run_once()
            [monnify, _] = await records.list_balances(process.connection)
            assert (monnify.rail, monnify.amount) == ("monnify", 1_000_000_000)

    play(address, story)


# --- calls, health and gauges --------------------------------------------------------------------------------------


def test_processes_publish_the_state_of_their_vendors(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings(rail_in_flight="3"), merchant_id) as process:
            choice = process.services.rail_choice
            await choice.banks.rails["monnify"].list_unmapped_banks()  # type: ignore[attr-defined]
            ground.paystack.add_fault("bad_gateway", "/transfer/verify", 5)
            for _ in range(5):
                with pytest.raises(Unavailable):
                    await choice.banks.rails["paystack"].query(order_of(process))
            balances: dict[tuple[str, str], int] = {}
            await process.connection.execute("delete from rail_balance")
            await process.connection.execute("insert into rail_balance values ('monnify', 'NGN', 7, true, now())")
            watch = RailWatch(
                process.pool, lambda: describe_health(choice, "api"), lambda found: balances.update(found)
            )
            await process.connection.execute(
                "insert into rail_health values ('dead', 'monnify', 0, 0, false, null, '[]', now() - interval '1 hour')"
            )
            await watch.run_once()
            assert balances.pop(("monnify", "NGN")) == 7
            await watch.run_once()
            assert balances == {}, "a reading counts once"
            monnify, paystack = await records.list_health(process.connection)
            assert (monnify.rail, monnify.is_paused, monnify.errors) == ("monnify", False, [])
            assert "Zenith Bank" in (monnify.unmapped_banks or [])
            assert (paystack.rail, paystack.is_paused, paystack.unmapped_banks) == ("paystack", True, None)
            assert 0 < paystack.held_seconds <= 15
            assert {(error.call, error.outcome) for error in paystack.errors} == {("GET /transfer/verify/…", "5xx")}
            assert choice.monitors["paystack"].limits.in_flight == 3

    play(address, story)


def test_durations_of_calls_are_added_to_the_hour(address: tuple[str, str]) -> None:
    counted = """
        select operation, is_answered, sum(calls)::int from rail_timing where rail = 'paystack'
        group by 1, 2 order by 1, 2
    """

    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings(), merchant_id) as process:
            choice = process.services.rail_choice
            await process.connection.execute("delete from rail_timing")
            await process.connection.execute(
                "insert into rail_timing values (now() - interval '91 days', 'paystack', 'GET /old', true, 25, 1)"
            )
            watch = RailWatch(process.pool, list, lambda _: None, list_timings=lambda: list_timings(choice))
            for _ in range(2):
                ground.paystack.add_fault("bad_gateway", "/transfer/verify")
                with pytest.raises(Unavailable):
                    await choice.banks.rails["paystack"].query(order_of(process))
                await choice.banks.rails["paystack"].query(order_of(process))
                await watch.run_once()
            verify = "GET /transfer/verify/…"
            assert [tuple(row) for row in await process.connection.fetch(counted)] == [
                (verify, False, 2),
                (verify, True, 2),
            ]

    play(address, story)


def order_of(process: Process) -> TransferOrder:
    return TransferOrder(f"{process.merchant.merchant_id} GP|FD|1|20260105X", 1, "NGN", GTBANK, ACCOUNT, "", "")


async def send_transfer(process: Process) -> None:
    """Sends a transfer that the books do not know."""
    await process.services.rail_choice.banks.rails["monnify"].transfer(order_of(process))


def test_gauges_of_rails(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings(), merchant_id) as process:
            metrics = process.services.metrics = Metrics(SharedCounters("worker"))
            tasks = start_rail_tasks(process.services, process.pool, "worker")
            use_balances(process.services.rail_choice, metrics, {("monnify", "NGN"): 12_345})
            process.services.rail_choice.monitors["monnify"].clients[0]._held_until = float("inf")
            metrics.publish()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            series = metrics.series
            assert series["kasuwa_rail_balance_minor", ("monnify", "NGN")] == [12_345]
            assert series["kasuwa_rail_in_flight", ("worker", "monnify")] == [0]
            assert series["kasuwa_rail_paused", ("worker", "monnify")] == [0]
            assert series["kasuwa_rail_held_seconds", ("worker", "monnify")] == [float("inf")]
            assert series["kasuwa_rail_held_seconds", ("worker", "paystack")] == [0]

    play(address, story)


def test_deployment_without_vendors_has_no_tasks(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        settings = ground.settings("sandbox", has_monnify=False)
        settings.paystack_secret_key = None
        async with process_of(ground, settings, merchant_id) as process:
            assert start_rail_tasks(process.services, process.pool, "worker") == []
            job = await process.take("sandbox")
            assert job.rail == "sandbox"

    play(address, story)


# --- doctor --------------------------------------------------------------------------------------------------------


def test_doctor_tells_balances_banks_clocks_and_orders_that_wait(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        settings = ground.settings(rail_float_least="NGN:20000000.00")
        async with process_of(ground, ground.settings(), merchant_id) as process:
            await process.take("waits")
            found = [str(finding) for finding in await examine_rails(settings)]
            text = "\n".join(found)
            assert "ok     orders for bank go to monnify, else to paystack" in text
            assert "wrong  monnify answers; our balance there is 10000000.00 NGN (keys for test)" in text
            assert "fund it: KASUWA_RAIL_FLOAT_LEAST is above it for NGN" in text
            assert "banks cannot be paid there, the largest are " in text
            assert "ok     this machine's clock agrees with that of monnify" in text
            assert "asked for a code" not in text
            await send_transfer(process)
            ground.monnify_rules.has_two_factor = True
            text = "\n".join(str(finding) for finding in await examine_rails(settings))
            assert "wrong  monnify asked for a code with the last transfer" in text
            assert await examine_open_orders(settings, process.connection) == []
            without = ground.settings("paystack", has_monnify=False)
            [waiting] = await examine_open_orders(without, process.connection)
            assert waiting.what == "1 orders in the queue bank wait for monnify, which is not configured"

    play(address, story)


# --- shadow mode ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs", "is_same"),
    [
        ("ADA OBI", "Obi, Ada", True),
        ("ADÉ OBI", "ADE  OBI", True),
        ("ADA OBI", "ADA OBIOMA", False),
        ("ADA OBI", None, False),
        (None, None, True),
    ],
)
def test_names_are_compared_without_order_case_and_accents(ours: str | None, theirs: str | None, is_same: bool) -> None:
    assert are_same_name(ours, theirs) is is_same


def test_masked_names_tell_initials_alone() -> None:
    assert (mask_name("ADA OBI-NWOSU"), mask_name(None), mask_name("")) == ("A** O** N**", "no such account", "")


class ShadowRail:
    """A second rail that answers by script."""

    def __init__(self) -> None:
        self.answers: list[Any] = []

    async def find_account_name(self, enquiry: NameEnquiry) -> NameAnswer:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return NameAnswer(answer)


def test_comparisons_are_counted_and_differences_are_masked(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings(), merchant_id) as process:
            rail = ShadowRail()
            rail.answers = ["OBI ADA", "CHIDI OKO", None, Unavailable("down"), NoAnswer("lost")]
            comparer = ShadowComparer(process.pool, "bank", "monnify", rail.find_account_name)
            enquiry = NameEnquiry(GTBANK, ACCOUNT)
            for _ in range(5):
                comparer.add_name("paystack", enquiry, NameAnswer("ADA OBI"), 0.25)
            comparer.add_balance("monnify", True, 0.5)
            comparer.add_balance("paystack", True, 0.5)
            comparer.add_name("monnify", enquiry, NameAnswer("ADA OBI"), 0.25)
            running = asyncio.create_task(comparer.run())
            await comparer.drain()
            running.cancel()
            counts = await records.list_shadow(process.connection, 1)
            assert {(row.question, row.outcome): row.count for row in counts if row.shadow == "monnify"} == {
                ("name", "agreed"): 1,
                ("name", "differed"): 2,
                ("name", "unanswered"): 2,
                ("balance", "agreed"): 1,
            }
            differences = await records.list_differences(process.connection, 10)
            assert [(one.ours, one.theirs) for one in differences] == [
                ("A** O**", "no such account"),
                ("A** O**", "C** O**"),
            ]

    play(address, story)


def test_queue_of_comparisons_is_bounded(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings(), merchant_id) as process:
            comparer = ShadowComparer(process.pool, "bank", "monnify", ShadowRail().find_account_name)
            for _ in range(MAX_WAITING + 7):
                comparer.add_name("paystack", NameEnquiry(GTBANK, ACCOUNT), NameAnswer("ADA OBI"), 0.1)
            assert comparer.dropped == 7

    play(address, story)


def test_rail_in_shadow_mode_is_asked_after_the_reply_and_never_paid_by(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        settings = ground.settings("paystack", rail_bank_shadow="monnify")
        async with process_of(ground, settings, merchant_id) as process:
            tasks = start_rail_tasks(process.services, process.pool, "api")
            ground.monnify.add_fault("hang", "/api/v1/disbursements/account/validate")
            answer = await process.services.rails.bank.find_account_name(NameEnquiry(GTBANK, ACCOUNT))
            assert answer == NameAnswer("ADA OBI"), "though the second rail hangs"
            process.services.rail_choice.monitors["paystack"].clients[0]._held_until = float("inf")
            assert (await process.take("shadowed")).rail == "paystack"
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        assert ground.paid_by() == {"paystack": 0, "monnify": 0}

    play(address, story)


# --- the catalogue of bills ------------------------------------------------------------------------------------------


def test_changed_catalogue_is_fetched_soon_and_not_too_often(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings(), merchant_id) as process:
            age = "update bill_edition set taken_at = now() - $1::text::interval"
            await editions.request_refresh(process.connection)
            await process.connection.execute(age, "9 minutes")
            assert await editions.is_edition_fresh(process.connection)
            await process.connection.execute(age, "11 minutes")
            assert not await editions.is_edition_fresh(process.connection)
            await editions.request_refresh(process.connection)
            await process.connection.execute("update bill_refresh set requested_at = now() - interval '1 hour'")
            assert await editions.is_edition_fresh(process.connection)

    play(address, story)
