"""The whole API against a small pure model, over HTTP and on PostgreSQL; the laws of the books after every step."""

import os
import random
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.running import Deployments
from tests.simulate.machine import World
from tests.simulate.machine_accounts import Machine
from tests.simulate.model import Model
from tests.simulate.processes import times

pytestmark = [pytest.mark.chaos, pytest.mark.xdist_group("model")]

STEPS = 50


@pytest.fixture(scope="module")
def world(deployments: Deployments) -> Iterator[World]:
    with deployments.fresh("model") as deployment:
        yield World(deployment)
        assert deployment.complaints() == ""


def run_sequence(world: World, model: type[Model], number: int, *phases: Phase) -> None:
    """The sequence that a number makes. Asked for many in one run, Hypothesis would make most of them by varying a few:
    so they are asked for one by one."""

    def factory() -> Machine:
        return Machine(world, model)

    run_state_machine_as_test(
        seed(number)(factory),  # type: ignore[arg-type]
        settings=settings(
            max_examples=1,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=phases,
            print_blob=False,
            report_multiple_bugs=False,
        ),
    )


def first_number() -> int:
    """The short form tries the same sequences each time; the long one others, and says which."""
    return random.randrange(2**32) if os.environ.get("KASUWA_LONG") == "1" else 0


def test_whatever_is_asked_the_service_answers_as_the_model_does(world: World) -> None:
    first = first_number()
    for number in range(first, first + times("sequences of the model")):
        try:
            run_sequence(world, Model, number, Phase.generate, Phase.shrink)
        except BaseException:
            print(f"sequence {number}")
            raise
