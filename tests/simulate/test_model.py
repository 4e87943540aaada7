"""Random sequences of requests against the service and against a small pure model of it (model.py): both must agree.

Each sequence has about fifty steps, mostly of one theme, and a merchant of its own at one running service, over HTTP
and on PostgreSQL. state_machine.py says what is compared after each step. At the end the invariants of the whole
database are checked, and the books of all merchants are exported: beancount must read them, and exports and tax reports
must add up to the trial balance.

Every rule, and every outcome of REACHED, must occur in a run. The short form tries the same sequences each time: the
CHOSEN ones, which reach all of these, and if a change has made them miss one, others until it is reached. With
KASUWA_LONG=1 they differ, and the number of the first is printed; KASUWA_SEQUENCE=<number> runs a single one. Time
passes only by `advance`, so the speed of the machine does not matter.

The control tests use models that are wrong in one place each: the state machine must find every one.
"""

import os
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.accounting.exported_books import check_exports, check_taxes
from tests.running import Deployments
from tests.simulate.model import Model
from tests.simulate.model_books import FAILED, PENDING, Outcome, Reply, Txn
from tests.simulate.model_cards import Card
from tests.simulate.model_clients import Savings
from tests.simulate.model_plans import Plan
from tests.simulate.model_rails import Payment
from tests.simulate.model_splits import Part
from tests.simulate.model_thrift import Debt
from tests.simulate.processes import broken_invariants, fault_count
from tests.simulate.state_machine import RULES, AuditedDeployment
from tests.simulate.state_machine_events import ApiStateMachine
from tests.simulate.state_machine_faults import OPERATIONS
from tests.simulate.themes import THEMES

pytestmark = [pytest.mark.chaos, pytest.mark.xdist_group("model")]

STEPS = 50
SEQUENCES = "sequences of the model"

# Outcomes that the model counts, and that a run must have reached besides every rule.
FAULTS = [
    f"{kind} of the {rail} rail"
    for kind in ("timeout", "reset", "unavailable", "decline")
    for rail in ("bank", "card", "mobile")
]
REACHED = (
    *FAULTS,
    "scheduled call with a fault",
    *(f"fault in {what}" for what in OPERATIONS),
    "plan retried",
    "plan paused by a decline",
    "plan finished",
    "plan incomplete",
    "plan: stop",
    "plan: start",
    "plan: pause",
    "plan: resume",
    "plan: cancel",
    "split by percentage",
    "split by share",
    "split refused",
    "payout successful",
    "thrift cycle",
    "thrift cycle with a debt",
    "thrift debt repaid",
    "thrift completed",
    "thrift cancelled",
    "empty savings closed",
    "phone successful in NGN",
    "phone failed in NGN",
    "mobile_money successful in GHS",
    "mobile_money successful in KES",
)
# The short form is too short for these.
RARELY_REACHED = ("payout failed",)
# The sequences of the short form, of every theme: the fewest of the first 24 that reach every rule and outcome.
CHOSEN = (0, 7, 8, 9, 10, 11, 12, 17, 20, 21)


@pytest.fixture(scope="module")
def world(deployments: Deployments, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AuditedDeployment]:
    # An advance stops after 20 s and asks to be repeated; a slow machine must not change its reply.
    with deployments.fresh("model", KASUWA_CONSOLE="off", KASUWA_SANDBOX_ADVANCE_SECONDS="50") as deployment:
        yield AuditedDeployment(deployment)
        assert deployment.new_stderr() == ""
        assert broken_invariants(deployment.dsn) == []
        check_exports(deployment, tmp_path_factory.mktemp("exports"))
        check_taxes(deployment)


def run_sequence(world: AuditedDeployment, model: type[Model], number: int, theme: str, *phases: Phase) -> None:
    """Runs the sequence of one number. Sequences are generated one by one, because Hypothesis would make many of a run
    by varying a few."""

    def factory() -> ApiStateMachine:
        return ApiStateMachine(world, model, theme)

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


def sequences(world: AuditedDeployment) -> Iterator[int]:
    alone, count = os.environ.get("KASUWA_SEQUENCE"), fault_count(SEQUENCES)
    if alone is not None:
        yield int(alone)
    elif os.environ.get("KASUWA_LONG") == "1":
        first = random.randrange(2**32)
        print(f"sequences {first} to {first + count - 1}")
        yield from range(first, first + count)
    else:
        yield from CHOSEN
        others = iter(sorted({*range(count)} - {*CHOSEN}))
        while find_missing(world) and (number := next(others, None)) is not None:
            yield number


def find_missing(world: AuditedDeployment) -> list[str]:
    """Returns the rules and outcomes that no sequence has reached yet."""
    rare = RARELY_REACHED if os.environ.get("KASUWA_LONG") == "1" else ()
    return [name for name in (*RULES, *REACHED, *rare) if not world.reached[name]]


def test_whatever_is_asked_the_service_answers_as_the_model_does(world: AuditedDeployment) -> None:
    for number in sequences(world):
        try:
            run_sequence(world, Model, number, [*THEMES][number % len(THEMES)], Phase.generate, Phase.shrink)
        except BaseException:
            print(f"sequence {number}")
            raise
    if "KASUWA_SEQUENCE" not in os.environ:
        assert find_missing(world) == []


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


class SendsEventsTwice(Model):
    """A wrong model in which a refund has two events."""

    def add_event(
        self, kind: str, key: str, status: str, amount: int, currency: str = "NGN", method: str = "", **fields: Any
    ) -> None:
        for _ in range(2 if kind == "refund" else 1):
            super().add_event(kind, key, status, amount, currency, method, **fields)


class KeepsTheParts(Model):
    """A wrong model that leaves the merchant what a split gives to others."""

    def divide(self, settled: int, parts: tuple[Part, ...]) -> list[int]:
        return [0 for _ in parts]


class NeverTriesAgain(Model):
    """A wrong model that waits for the next due date after a decline."""

    def retry(self, plan: Plan) -> bool:
        return False


class ForgetsDebts(Model):
    """A wrong model in which members of a thrift plan owe nothing."""

    def debts_of(self, savings: Savings) -> list[Debt]:
        return []


class TakesLossForFailure(Model):
    """A wrong model in which an answer that was lost is a failure."""

    def apply_fault(self, rail: str, outcome: Outcome, unanswered: str = PENDING) -> Outcome:
        usual = super().apply_fault(rail, outcome, unanswered)
        return usual if usual == outcome else Outcome(FAILED)


# Wrong models, each with a theme in which it is found soon.
WRONG = (
    *((wrong, "payments") for wrong in (WithoutVat, RefundsTooMuch, NeverGivesBack, PaysTwice, SendsEventsTwice)),
    *((wrong, "payments") for wrong in (KeepsWhatWasDisputed, KeepsTheParts, TakesLossForFailure)),
    (ForgetsTheMonthlyFee, "accounts"),
    (NeverTriesAgain, "plans"),
    (ForgetsDebts, "thrift"),
)


def try_all(world: AuditedDeployment, model: type[Model], theme: str) -> None:
    for number in range(fault_count(SEQUENCES)):
        run_sequence(world, model, number, theme, Phase.generate)


@pytest.mark.parametrize(("wrong", "theme"), WRONG)
def test_a_service_that_differs_from_its_model_is_found(
    world: AuditedDeployment, wrong: type[Model], theme: str
) -> None:
    """The difference is found by a comparison: every AssertionError here is one, and not an error of the wrong model
    itself."""
    with pytest.raises(AssertionError):
        try_all(world, wrong, theme)
