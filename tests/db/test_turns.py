"""Long computations in turns: others run in between, and the outcome is the same."""

import asyncio
from collections.abc import Iterator

import pytest

from kasuwa.core.decision import Decision
from kasuwa.db import turns
from kasuwa.db.batch import decide_batch
from kasuwa.db.turns import Steps, collect, run_at_once, run_in_turns
from tests.db.shelf import Shelf, told, wallet_of
from tests.db.test_desk import answering, funded, posting
from tests.db.toy import RAIL, WALLET, Ask, submission


async def run_beside(steps: "Steps[list[int]]") -> tuple[list[int], int]:
    """What the steps answer, and how often another task ran meanwhile."""
    ran = 0

    async def run_often() -> None:
        nonlocal ran
        while True:
            ran += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(run_often())
    await asyncio.sleep(0)
    before = ran
    answer = await run_in_turns(steps)
    other.cancel()
    return answer, ran - before


def test_others_run_after_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TURN_SECONDS", -1.0)
    assert asyncio.run(run_beside(collect(range(50)))) == (list(range(50)), 50)


def test_what_is_shorter_than_a_turn_is_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TURN_SECONDS", 3600.0)
    assert asyncio.run(run_beside(collect(range(50)))) == (list(range(50)), 0)


def payments() -> Iterator[Decision]:
    """Each covers a tenth of the wallet: the eleventh is short."""
    for n in range(11):
        yield Decision(n, (posting(100, WALLET, RAIL),))


def bulk() -> Decision:
    return Decision(numbers=12, parts=payments(), join=lambda became: Decision([told(part)[0] for part in became]))


def holdings_after(shelf: Shelf, *, in_turns: bool) -> object:
    batch = [submission(Ask("spend", amount=0)), answering(bulk()), submission(Ask("spend", ref="late", amount=1))]
    desk = shelf.desk(batch)
    steps = decide_batch(desk, batch)
    results = asyncio.run(run_in_turns(steps)) if in_turns else run_at_once(steps)
    desk.close_books()
    shelf.commit(desk)
    assert wallet_of(shelf).posted == 0
    return [told(result) for result in results], shelf.holdings()


def test_a_batch_decided_in_turns_is_the_same_as_one_decided_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TURN_SECONDS", -1.0)
    assert holdings_after(funded(), in_turns=True) == holdings_after(funded(), in_turns=False)


def test_a_desk_that_is_left_between_two_parts_has_written_nothing() -> None:
    shelf = funded()
    desk = shelf.desk([answering(bulk())])
    before = shelf.holdings()
    [made] = desk.asked
    steps = decide_batch(desk, [made])
    for _ in range(5):
        next(steps)
    steps.close()
    assert shelf.holdings() == before
