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


def run(world: World, model: type[Model], phases: tuple[Phase, ...] = tuple(Phase)) -> None:
    run_state_machine_as_test(
        lambda: Machine(world, model),
        settings=settings(
            max_examples=times("sequences of the model"),
            stateful_step_count=STEPS,
            derandomize=True,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=phases,
            print_blob=False,
            report_multiple_bugs=False,
        ),
    )


def test_whatever_is_asked_the_service_answers_as_the_model_does(world: World) -> None:
    run(world, Model, (Phase.generate,))
