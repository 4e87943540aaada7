"""Answers to disputes are handed in one by one, each with a lease of its own."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from kasuwa.methods.disputes import answers_task, hand_ins
from kasuwa.methods.disputes.answers_task import DisputeAnswers
from kasuwa.postgres import connections
from kasuwa.rails.ports.disputes import DisputeAnswer
from kasuwa.rails.ports.orders import SUCCESSFUL, Answer
from tests.engine.probes import Ground, prepared, run

INSERT = """
    insert into dispute (key, merchant_id, dispute_id, number, txn_ref, method, currency, amount, fee, vat, covered,
        reason, plan_id, rail, rail_dispute_id, opened_at, due_at, state, responded_at, events, files, trail)
    select decode(md5(n::text), 'hex'), 1, 'DS' || n, n, 'none', 'card', 'NGN', 100, 0, 0, 0, 'fraudulent', '',
        'paystack', n::text, now(), now() + interval '7 days', 'under_review', now(), 1, 0, '[]'
    from generate_series(1, 3) n
"""
STATE = "select done_at is not null, outcome, due_at > now() + interval '1 hour' from dispute_hand_in"
LEASED = "select dispute_id from dispute_hand_in where done_at is null and due_at > now()"


@pytest.fixture
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with prepared(tmp_path_factory.mktemp("handing_in")) as made:
        yield made


class WatchedVendor:
    """A vendor that takes every answer. Notes which answers are leased while it has one in hand."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.leased: list[list[str]] = []

    async def answer_dispute(self, answer: DisputeAnswer) -> Answer:
        self.leased.append([record[0] for record in await self._connection.fetch(LEASED)])
        return Answer(SUCCESSFUL, "00", "taken")


def test_only_the_answer_that_is_handed_in_is_leased(ground: Ground) -> None:
    """A slow vendor cannot outlast the leases on those that wait behind it."""
    leased = []

    async def work() -> None:
        connection = await asyncpg.connect(ground.cluster.dsn)
        pool = await connections.open_rail_pool(ground.cluster.dsn)
        await connection.execute(INSERT)
        vendor = WatchedVendor(connection)
        task = DisputeAnswers(
            pool, {"paystack": vendor}, lambda found, *_: DisputeAnswer(found.rail_dispute_id, False, found.amount)
        )
        await task.drain(task.run_once)
        leased.extend(vendor.leased)
        await connection.execute("delete from dispute")
        await pool.close()
        await connection.close()

    run(work)
    assert leased == [["DS1"], ["DS2"], ["DS3"]]


def test_a_worker_that_lost_its_lease_records_nothing(ground: Ground) -> None:
    """Its answer was claimed again meanwhile, for another attempt."""
    states: list[tuple[Any, ...]] = []

    async def work() -> None:
        connection = await asyncpg.connect(ground.cluster.dsn)
        pool = await connections.open_rail_pool(ground.cluster.dsn)
        await connection.execute(INSERT)
        lost = await hand_ins.claim(pool, ["paystack"])
        assert lost is not None
        await connection.execute("update dispute_hand_in set due_at = now() - interval '1 second'")
        held = await hand_ins.claim(pool, ["paystack"])
        assert held == hand_ins.HandIn(lost.merchant_id, lost.dispute_id, lost.attempts + 1)
        await hand_ins.finish(pool, lost, "by the first")
        await hand_ins.postpone(pool, lost, timedelta(days=1))
        states.extend(tuple(row) for row in await connection.fetch(STATE))
        await hand_ins.finish(pool, held, "by the second")
        await hand_ins.postpone(pool, held, timedelta(days=1))
        states.extend(tuple(row) for row in await connection.fetch(STATE))
        await connection.execute("delete from dispute")
        await pool.close()
        await connection.close()

    run(work)
    assert states == [(False, "", False), (True, "by the second", False)]


def test_a_lease_is_longer_than_one_answer_may_take() -> None:
    assert hand_ins.LEASE.total_seconds() > answers_task.HAND_IN_SECONDS
