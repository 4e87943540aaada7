"""A submission of many orders is run beside the writer: others do not wait for it, and its merchant's order is kept."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs
from kasuwa.engine.batch import Submission
from kasuwa.engine.fair_queue import MERCHANT_SHARE
from tests.engine.probes import (
    OUTSIDE,
    WALLET,
    Ground,
    fund,
    moved,
    new_merchant,
    outcome_of,
    prepared,
    run,
    spend,
    writing,
)

LARGE = MERCHANT_SHARE + 1
# Far more than are needed until another task had its turn often enough.
MOST_STEPS = 200_000


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    place: Path = tmp_path_factory.mktemp("large")
    with prepared(place) as made:
        yield made


def large(merchant: Merchant, steps: Iterator[Decision], orders: int = LARGE) -> Submission:
    """A submission that is decided in steps."""

    def rule(context: Context, rows: LoadedRows) -> Decision:
        return Decision(sub_decisions=steps, combine=lambda parts: Decision(reply="large"))

    return Submission(merchant, Needs((), (WALLET, OUTSIDE)), rule, os.urandom(32), orders=orders)


def test_others_are_answered_while_a_large_submission_is_decided(ground: Ground) -> None:
    found: list[Merchant] = []

    async def work() -> None:
        busy, other = await new_merchant(ground), await new_merchant(ground)
        found.append(other)
        async with writing(ground, ground.cluster.dsn, timeout_seconds=30.0, statement_seconds=10.0) as writer:
            answered_after: list[int] = []

            def steps() -> Iterator[Decision]:
                for number in range(MOST_STEPS):
                    if answers.done():
                        answered_after.append(number)
                        return
                    yield Decision()

            async def write_twice() -> None:
                for amount in (1, 2):
                    assert await outcome_of(writer.submit(fund(other, amount))) == "fund"

            waiting = writer.submit(large(busy, steps()))
            answers = asyncio.ensure_future(write_twice())
            assert await outcome_of(waiting) == "large"
            await answers
            assert answered_after

    run(work)
    assert moved(ground, found[0]) == [1, 2]


def test_nothing_of_a_merchant_overtakes_its_large_submission(ground: Ground) -> None:
    async def work() -> None:
        merchant = await new_merchant(ground)
        async with writing(ground, ground.cluster.dsn, timeout_seconds=30.0, statement_seconds=10.0) as writer:
            order: list[str] = []

            def noting(submission: Submission, name: str) -> Submission:
                decide = submission.decide

                def rule(context: Context, rows: LoadedRows) -> object:
                    order.append(name)
                    return decide(context, rows)

                submission.decide = rule  # type: ignore[assignment]
                return submission

            assert await outcome_of(writer.submit(fund(merchant, 1_000))) == "fund"
            sent = [
                writer.submit(noting(fund(merchant, 1), "first")),
                writer.submit(noting(large(merchant, iter([Decision()] * LARGE)), "large")),
                writer.submit(noting(spend(merchant, 500), "second")),
                writer.submit(noting(large(merchant, iter([Decision()] * LARGE)), "large again")),
                writer.submit(noting(spend(merchant, 501), "third")),
            ]
            assert [await outcome_of(one) for one in sent] == ["fund", "large", "spend", "large", "spend"]
            assert list(dict.fromkeys(order)) == ["first", "large", "second", "large again", "third"]
            # The writer takes the merchant up again when its queue is empty.
            assert await outcome_of(writer.submit(fund(merchant, 7, "later"))) == "later"

    run(work)


def test_large_submissions_of_several_merchants_are_all_answered(ground: Ground) -> None:
    async def work() -> None:
        merchants = [await new_merchant(ground) for _ in range(7)]
        async with writing(ground, ground.cluster.dsn, timeout_seconds=30.0, statement_seconds=10.0) as writer:
            sent = [
                writer.submit(submission)
                for merchant in merchants
                for submission in (large(merchant, iter([Decision()])), fund(merchant, 3), large(merchant, iter(())))
            ]
            replies = [await outcome_of(one) for one in sent]
            assert replies == ["large", "fund", "large"] * len(merchants)

    run(work)
