"""Long computations in time slices: other tasks run in between, and the result is the same."""

import asyncio
from collections.abc import Iterator

import pytest

from kasuwa.concurrency import time_slices
from kasuwa.concurrency.time_slices import Interruptible, collect, run_in_slices, run_to_completion
from kasuwa.core.decision import Decision
from kasuwa.engine.batch import decide_batch
from tests.engine.memory_database import MemoryDatabase, visible_result, wallet_of
from tests.engine.test_batch_state import answering, funded, posting
from tests.engine.toy import RAIL, WALLET, ToyRequest, submission


async def run_interleaved(steps: "Interruptible[list[int]]") -> tuple[list[int], int]:
    """Returns the result of the steps and how often another task ran meanwhile."""
    ran = 0

    async def run_often() -> None:
        nonlocal ran
        while True:
            ran += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(run_often())
    await asyncio.sleep(0)
    before = ran
    answer = await run_in_slices(steps)
    other.cancel()
    return answer, ran - before


def test_others_run_after_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_slices, "SLICE_SECONDS", -1.0)
    assert asyncio.run(run_interleaved(collect(range(50)))) == (list(range(50)), 50)


def test_what_is_shorter_than_a_turn_is_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_slices, "SLICE_SECONDS", 3600.0)
    assert asyncio.run(run_interleaved(collect(range(50)))) == (list(range(50)), 0)


def payments() -> Iterator[Decision]:
    """Submissions that each cover a tenth of the wallet, so the eleventh is refused."""
    for n in range(11):
        yield Decision(reply=n, groups=(posting(100, WALLET, RAIL),))


def bulk() -> Decision:
    return Decision(
        numbers_used=12,
        sub_decisions=payments(),
        combine=lambda became: Decision(reply=[visible_result(part)[0] for part in became]),
    )


def holdings_after(database: MemoryDatabase, *, in_turns: bool) -> object:
    batch = [
        submission(ToyRequest("spend", amount=0)),
        answering(bulk()),
        submission(ToyRequest("spend", ref="late", amount=1)),
    ]
    state = database.batch_state(batch)
    steps = decide_batch(state, batch)
    results = asyncio.run(run_in_slices(steps)) if in_turns else run_to_completion(steps)
    state.raise_versions()
    database.commit(state)
    assert wallet_of(database).posted == 0
    return [visible_result(result) for result in results], database.contents()


def test_a_batch_decided_in_turns_is_the_same_as_one_decided_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_slices, "SLICE_SECONDS", -1.0)
    assert holdings_after(funded(), in_turns=True) == holdings_after(funded(), in_turns=False)


def test_a_batch_state_left_between_sub_decisions_has_written_nothing() -> None:
    database = funded()
    state = database.batch_state([answering(bulk())])
    before = database.contents()
    [made] = state.requested_keys
    steps = decide_batch(state, [made])
    for _ in range(5):
        next(steps)
    steps.close()
    assert database.contents() == before
