"""Random sequences of requests against the service and against a small pure model of it (model.py): both must agree.

Each sequence has about fifty steps and a merchant of its own at one running service, over HTTP and on PostgreSQL.
state_machine.py says what is compared after each step. At the end the invariants of the whole database are checked, and
the books of all merchants are exported: beancount must read them, and exports and tax reports must add up to the trial
balance.

The short form tries the same sequences each time. With KASUWA_LONG=1 they differ, and the number of the first is
printed; KASUWA_SEQUENCE=<number> runs a single one. Time passes only by `advance`, so the speed of the machine does not
matter.

The control tests use models that are wrong in one place each: the state machine must find every one.
"""

import os
import random
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.accounting.exported_books import check_exports, check_taxes
from tests.running import Deployments
from tests.simulate.model import Model
from tests.simulate.model_books import Reply, Txn
from tests.simulate.model_cards import Card
from tests.simulate.model_rails import Payment
from tests.simulate.processes import broken_invariants, fault_count
from tests.simulate.state_machine import AuditedDeployment
from tests.simulate.state_machine_disputes import ApiStateMachine

pytestmark = [pytest.mark.chaos, pytest.mark.xdist_group("model")]

STEPS = 50
SEQUENCES = "sequences of the model"


@pytest.fixture(scope="module")
def world(deployments: Deployments, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AuditedDeployment]:
    with deployments.fresh("model") as deployment:
        yield AuditedDeployment(deployment)
        assert deployment.new_stderr() == ""
        assert broken_invariants(deployment.dsn) == []
        check_exports(deployment, tmp_path_factory.mktemp("exports"))
        check_taxes(deployment)


def run_sequence(world: AuditedDeployment, model: type[Model], number: int, *phases: Phase) -> None:
    """Runs the sequence of one number. Sequences are generated one by one, because Hypothesis would make many of a run
    by varying a few."""

    def factory() -> ApiStateMachine:
        return ApiStateMachine(world, model)

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


def sequences() -> range:
    alone = os.environ.get("KASUWA_SEQUENCE")
    if alone is not None:
        return range(int(alone), int(alone) + 1)
    first = random.randrange(2**32) if os.environ.get("KASUWA_LONG") == "1" else 0
    return range(first, first + fault_count(SEQUENCES))


def test_whatever_is_asked_the_service_answers_as_the_model_does(world: AuditedDeployment) -> None:
    tried = sequences()
    print(f"sequences {tried.start} to {tried.stop - 1}")
    for number in tried:
        try:
            run_sequence(world, Model, number, Phase.generate, Phase.shrink)
        except BaseException:
            print(f"sequence {number}")
            raise


# --- controls -------------------------------------------------------------------------------------------------------


class WithoutVat(Model):
    def vat(self, fee: int) -> int:
        return 0


class RefundsTooMuch(Model):
    """A wrong model that forgets earlier refunds."""

    def refundable(self, payment: Payment) -> int:
        return payment.charged


class NeverGivesBack(Model):
    """A wrong model that keeps the hold of a failed transaction."""

    def end(self, txn: Txn, status: str) -> None:
        super().end(txn, status)
        if status == "failed":
            self.held.update(txn.holds)


class PaysTwice(Model):
    """A wrong model that takes a repeated request for a new transfer."""

    def transfer(self, key: str, amount: int, account: str, scenario: str) -> Reply:
        if key in self.txns:
            del self.txns[key]
        return super().transfer(key, amount, account, scenario)


class ForgetsTheMonthlyFee(Model):
    def take_monthly_fee(self, card: Card) -> None:
        card.months += 1


class KeepsWhatWasDisputed(Model):
    """A wrong model that holds nothing for a dispute."""

    def open_dispute(self, key: str, of: str, amount: int) -> Reply:
        reply = super().open_dispute(key, of, amount)
        if key in self.disputes:
            self.held["wallet:main:NGN"] -= self.disputes[key].total
        return reply


class TellsOtherAmounts(Model):
    """A wrong model whose events have the fee in their amount."""

    def expected_event(self, txn: Txn) -> Reply | None:
        expected = super().expected_event(txn)
        return expected and {**expected, "chargedAmount": "0.01"}


WRONG = (
    *(WithoutVat, RefundsTooMuch, NeverGivesBack, PaysTwice, ForgetsTheMonthlyFee),
    *(KeepsWhatWasDisputed, TellsOtherAmounts),
)


def try_all(world: AuditedDeployment, model: type[Model]) -> None:
    for number in range(fault_count(SEQUENCES)):
        run_sequence(world, model, number, Phase.generate)


@pytest.mark.parametrize("wrong", WRONG)
def test_a_service_that_differs_from_its_model_is_found(world: AuditedDeployment, wrong: type[Model]) -> None:
    """The difference is found by a comparison: every AssertionError here is one, and not an error of the wrong model
    itself."""
    with pytest.raises(AssertionError):
        try_all(world, wrong)
