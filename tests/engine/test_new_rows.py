"""Rows that a request is to create are not read before: what the writer answers if one exists after all.

The rows here are transfers, which stay in the writer's cache while they are open. `forget` drops one from it, as if it
had ended, so that only the database knows it.
"""

import asyncio
import os
from collections.abc import Iterator
from typing import Any

import pytest

from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs
from kasuwa.engine.batch import Submission
from kasuwa.engine.writer import Writer
from kasuwa.transactions.transactions import Transaction
from tests.engine.probes import (
    SHORT,
    WALLET,
    Ground,
    begin_transfer,
    fund,
    make_ready,
    moved,
    new_merchant,
    outcome_of,
    prepared,
    rows_of,
    run,
    spend,
    transfer_key,
    writing,
)

pytestmark = pytest.mark.xdist_group("writer faults")


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with prepared(tmp_path_factory.mktemp("new rows")) as made:
        yield made


def reserve_once(merchant: Merchant, amount: int, name: str) -> Submission:
    """Begins a transfer under a name. If there is one already, returns its amount."""
    key = transfer_key(merchant, name)

    def rule(context: Context, rows: LoadedRows) -> Decision:
        first = rows.get(Transaction, key)
        if first is not None:
            return Decision(reply=("again", first.amount))
        return begin_transfer(context, name, amount, reply=("new", amount))

    return Submission(merchant, Needs(((Transaction, key),), (WALLET,), (key,)), rule, os.urandom(32))


def forget(writer: Writer, merchant: Merchant, name: str) -> None:
    assert writer._cache._rows.pop(transfer_key(merchant, name)) is not None


async def fund_wallets(writer: Writer, *merchants: Merchant) -> None:
    """Funds wallets with 1,000. The next write of these merchants is decided from the cache."""
    for merchant in merchants:
        await outcome_of(writer.submit(fund(merchant, 1_000)))
        await make_ready(writer, merchant, "on memory")


class Commits:
    """Records of each commit whether it was locked."""

    def __init__(self) -> None:
        self.locked: list[bool] = []

    def __call__(self, locked: bool, size: int, seconds: float) -> None:
        self.locked.append(locked)


def count_reads(writer: Writer) -> list[Any]:
    """Returns a list that has an entry for each query for rows of a batch that is decided from the cache."""
    reads: list[Any] = []
    read_connection = writer._session.read_connection

    async def counted() -> Any:
        reads.append(1)
        return await read_connection()

    writer._session.read_connection = counted  # type: ignore[method-assign]
    return reads


def test_a_row_to_be_created_is_not_read(ground: Ground) -> None:
    async def work() -> None:
        merchant = await new_merchant(ground)
        async with writing(ground, ground.cluster.dsn) as writer:
            await fund_wallets(writer, merchant)
            reads = count_reads(writer)
            for name in "abc":
                assert await outcome_of(writer.submit(reserve_once(merchant, 10, name))) == ("new", 10)
            assert reads == []
            # In vain: no row is created, so the refusal holds only if there is none.
            assert await outcome_of(writer.submit(reserve_once(merchant, 10**6, "d"))) == SHORT
            assert len(reads) == 1

    run(work)


@pytest.mark.parametrize("amount", [10, 7])
def test_a_row_that_exists_is_answered_as_such_and_written_once(ground: Ground, amount: int) -> None:
    """The write fails on the key of the row. The batch is decided again, with the submissions of other merchants."""

    async def work() -> None:
        merchant, other = await new_merchant(ground), await new_merchant(ground)
        commits = Commits()
        async with writing(ground, ground.cluster.dsn, on_commit=commits) as writer:
            await fund_wallets(writer, merchant, other)
            assert await outcome_of(writer.submit(reserve_once(merchant, 10, "a"))) == ("new", 10)
            forget(writer, merchant, "a")
            connection = writer._session._write_connection
            waiting = [
                writer.submit(reserve_once(merchant, amount, "a")),
                writer.submit(fund(other, 5, "beside it")),
                writer.submit(reserve_once(merchant, 20, "b")),
            ]
            assert [await outcome_of(future) for future in waiting] == [("again", 10), "beside it", ("new", 20)]
            assert commits.locked[-1] is True
            assert writer._session._write_connection is connection, "an expected failure costs no connection"
            held = await rows_of(ground, "select held from transaction where merchant_id = $1", merchant.merchant_id)
            assert sorted(row[0] for row in held) == [10, 20]
            assert await asyncio.to_thread(moved, ground, other, "beside it") == [5]

    run(work)


def test_a_repeat_is_not_refused_because_the_wallet_is_empty_now(ground: Ground) -> None:
    """The rule refuses if it does not see the row, and a refusal writes nothing that could fail. It would deny what
    happened."""

    async def work() -> None:
        merchant, commits = await new_merchant(ground), Commits()
        async with writing(ground, ground.cluster.dsn, on_commit=commits) as writer:
            await fund_wallets(writer, merchant)
            assert await outcome_of(writer.submit(reserve_once(merchant, 60, "a"))) == ("new", 60)
            [[left]] = await rows_of(
                ground,
                "select posted - held from account where merchant_id = $1 and name = $2",
                merchant.merchant_id,
                WALLET,
            )
            assert await outcome_of(writer.submit(spend(merchant, left))) == "spend"
            forget(writer, merchant, "a")
            assert await outcome_of(writer.submit(reserve_once(merchant, 60, "a"))) == ("again", 60)
            assert commits.locked[-1] is True

    run(work)


def test_who_repeats_is_read_first_from_then_on(ground: Ground) -> None:
    async def work() -> None:
        merchant, other = await new_merchant(ground), await new_merchant(ground)
        commits = Commits()
        async with writing(ground, ground.cluster.dsn, on_commit=commits) as writer:
            await fund_wallets(writer, merchant, other)
            for name in "ab":
                await outcome_of(writer.submit(reserve_once(merchant, 10, name)))
                forget(writer, merchant, name)
            assert await outcome_of(writer.submit(reserve_once(merchant, 10, "a"))) == ("again", 10)
            await make_ready(writer, merchant, "on memory")
            reads = count_reads(writer)
            commits.locked.clear()
            assert await outcome_of(writer.submit(reserve_once(merchant, 10, "b"))) == ("again", 10)
            assert (len(reads), commits.locked) == (1, [False])
            await make_ready(writer, other, "on memory")
            reads.clear()
            assert await outcome_of(writer.submit(reserve_once(other, 10, "a"))) == ("new", 10)
            assert reads == []

    run(work)


def test_a_row_that_another_process_created_is_found(ground: Ground) -> None:
    async def work() -> None:
        merchant = await new_merchant(ground)
        async with writing(ground, ground.cluster.dsn) as one, writing(ground, ground.cluster.dsn) as other:
            await fund_wallets(one, merchant)
            assert await outcome_of(other.submit(reserve_once(merchant, 10, "a"))) == ("new", 10)
            assert await outcome_of(one.submit(reserve_once(merchant, 10, "a"))) == ("again", 10)

    run(work)
