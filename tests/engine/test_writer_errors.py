"""The writer when our own code fails after a commit: the durable result is returned, and not written twice."""

from collections.abc import Iterator

import pytest

from kasuwa.core.decision import Merchant
from tests.engine.probes import WAYS, Ground, fund, make_ready, moved, new_merchant, outcome_of, prepared, run, writing

pytestmark = pytest.mark.xdist_group("writer faults")


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with prepared(tmp_path_factory.mktemp("faults")) as made:
        yield made


@pytest.mark.parametrize("way", WAYS)
def test_an_error_of_the_listener_of_commits_changes_nothing(ground: Ground, way: str) -> None:
    """The batch is durable when the commit observer is called: its result is returned, and it is not run again."""
    made: list[Merchant] = []
    received: list[bool] = []

    def fail_on_commit(locked: bool, size: int, seconds: float) -> None:
        received.append(locked)
        raise RuntimeError("a bug of the listener")

    async def work() -> None:
        made[:] = [await new_merchant(ground) for _ in range(3)]
        async with writing(ground, ground.cluster.dsn, statement_seconds=5.0, on_commit=fail_on_commit) as writer:
            for merchant in made:
                await make_ready(writer, merchant, way)
            waiting = [writer.submit(fund(merchant)) for merchant in made for _ in range(2)]
            assert [await outcome_of(future) for future in waiting] == ["fund"] * 6
            assert writer.find_problem() is None

    run(work)
    assert (way == "locked") in received
    assert [moved(ground, merchant) for merchant in made] == [[100, 100]] * 3


@pytest.mark.parametrize("way", WAYS)
def test_an_error_after_the_commit_fails_neither_its_batch_nor_the_next(
    ground: Ground, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Merchant] = []

    def fail_to_forget(state: object) -> None:
        raise RuntimeError("a bug of ours")

    async def work() -> None:
        made[:] = [await new_merchant(ground) for _ in range(2)]
        async with writing(ground, ground.cluster.dsn, statement_seconds=5.0) as writer:
            for merchant in made:
                await make_ready(writer, merchant, way)
            with monkeypatch.context() as broken:
                broken.setattr(writer._cache, "forget_closed", fail_to_forget)
                for merchant in made:
                    assert await outcome_of(writer.submit(fund(merchant))) == "fund"
                waiting = [writer.submit(fund(merchant)) for merchant in made for _ in range(3)]
                assert [await outcome_of(future) for future in waiting] == ["fund"] * 6
            assert await outcome_of(writer.submit(fund(made[0], 7))) == "fund"

    run(work)
    assert [moved(ground, merchant) for merchant in made] == [[100] * 4 + [7], [100] * 4]
