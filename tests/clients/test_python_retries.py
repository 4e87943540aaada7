"""The retry policy and the flow of a call, without I/O: what is sent again, when, and which error ends it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clients.generate.surface import read_surface
from kasuwa_client import InsufficientFunds, OutcomeUnknown, RetryPolicy, ServiceUnreachable, UnexpectedReply, _actions
from kasuwa_client._action import Action, PreparedRequest
from kasuwa_client._flow import Pause, Send, Settings, exchange, prepare_call
from kasuwa_client._judge import Answer, Failure, read_retry_after
from kasuwa_client.errors import KasuwaError

REFUSED = Failure("ConnectError", was_sent=False)
LOST = Failure("ReadTimeout", was_sent=True)
DONE: dict[str, Any] = {"status": 200, "message": "ok"}


def answer(body: Any, http_status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(http_status, named, json.dumps(body).encode())


BUSY = answer({"status": 204, "message": "Too many requests"}, 429, retry_after="2")
STOPPING = answer({"status": 204, "message": "The service is stopping; try again"}, 503)
NOT_KNOWN = answer({"status": 204, "message": "The outcome is not known; verify by your reference"}, 500)
SHORT = answer({"status": 301, "message": "Insufficient Balance"})
DENIED = answer({"status": 101, "message": "Merchant authentication failed"}, 401)
GATEWAY = Answer(502, {}, b"<html>")


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Run:
    """One call, driven with a script of what comes of each attempt."""

    def __init__(self, action: Action[Any], script: list[Answer | Failure], **changes: Any) -> None:
        clock = Clock()
        options = {"retry": RetryPolicy(max_retries=3), "clock": clock, "jitter": lambda: 1.0, **changes}
        settings = replace(Settings("GP1", "secret"), **options)
        arguments = {name: "1" for name, (_, notation) in action.fields.items() if notation == "text"}
        arguments = {name: value for name, value in arguments.items() if name != "order_ref"}
        self.sent: list[PreparedRequest] = []
        self.pauses: list[float] = []
        self.body: Any = None
        self.error: KasuwaError | None = None
        flow = exchange(settings, prepare_call(settings, action, arguments))
        steps: Iterator[Answer | Failure] = iter(script)
        outcome: Answer | Failure | None = None
        try:
            while True:
                effect = flow.send(outcome)
                if isinstance(effect, Pause):
                    self.pauses.append(effect.seconds)
                    clock.now += effect.seconds
                    outcome = None
                else:
                    assert isinstance(effect, Send)
                    self.sent.append(effect.request)
                    outcome = next(steps)
                    clock.now += 0.1
        except StopIteration as done:
            self.body = done.value
        except KasuwaError as error:
            self.error = error


def test_pauses_double_up_to_their_maximum_with_jitter() -> None:
    policy = RetryPolicy(initial_seconds=0.5, max_seconds=3.0)
    assert [policy.pause_seconds(n, None, 1.0) for n in range(5)] == [0.5, 1.0, 2.0, 3.0, 3.0]
    assert policy.pause_seconds(1, None, 0.0) == 0.5
    assert policy.pause_seconds(0, 7.0, 1.0) == 7.0


def test_a_call_ends_with_the_first_definite_reply() -> None:
    run = Run(_actions.DISBURSE_TRANSFER, [REFUSED, BUSY, STOPPING, answer(DONE)])
    assert run.body == DONE
    assert len({request.content for request in run.sent}) == 1
    assert run.pauses == [0.25, 2.0, 1.0]


def test_no_more_is_sent_than_the_policy_allows() -> None:
    run = Run(_actions.RESOURCES_WALLET, [REFUSED] * 9)
    assert len(run.sent) == 4
    assert isinstance(run.error, ServiceUnreachable)
    assert len(Run(_actions.RESOURCES_WALLET, [REFUSED] * 9, retry=RetryPolicy(max_retries=0)).sent) == 1


def test_nothing_is_sent_after_the_deadline() -> None:
    policy = RetryPolicy(max_retries=100, initial_seconds=1.0, deadline_seconds=5.0)
    run = Run(_actions.RESOURCES_WALLET, [REFUSED] * 100, retry=policy)
    assert sum(run.pauses) < 5.0
    assert isinstance(run.error, ServiceUnreachable)


@pytest.mark.parametrize("later", [REFUSED, BUSY, STOPPING, DENIED])
def test_an_unknown_outcome_stays_unknown_until_the_operation_answers(later: Answer | Failure) -> None:
    assert isinstance(Run(_actions.DISBURSE_TRANSFER, [LOST, *[later] * 9]).error, OutcomeUnknown)
    # The service has decided on the same orderRef: the lost attempt was not executed.
    assert isinstance(Run(_actions.DISBURSE_TRANSFER, [LOST, SHORT]).error, InsufficientFunds)


def test_an_outcome_that_the_service_does_not_know_is_unknown() -> None:
    assert isinstance(Run(_actions.SANDBOX_SETTLE, [NOT_KNOWN]).error, OutcomeUnknown)
    assert Run(_actions.DISBURSE_TRANSFER, [NOT_KNOWN, answer(DONE)]).body == DONE
    assert not isinstance(Run(_actions.RESOURCES_WALLET, [NOT_KNOWN]).error, OutcomeUnknown)


@pytest.mark.parametrize("body", [{"detail": "log in to the network"}, [], "ok", None, {"status": "ok"}])
def test_json_that_the_service_did_not_write_is_no_success(body: Any) -> None:
    foreign = answer(body)
    assert isinstance(Run(_actions.SANDBOX_SETTLE, [foreign]).error, OutcomeUnknown)
    assert Run(_actions.DISBURSE_TRANSFER, [foreign, answer(DONE)]).body == DONE
    if body != {"status": "ok"}:  # some lookups have a text as status
        assert isinstance(Run(_actions.RESOURCES_WALLET, [foreign]).error, UnexpectedReply)


WRITES = [action for action in vars(_actions).values() if isinstance(action, Action) and action.writes]


@pytest.mark.parametrize("action", WRITES, ids=lambda action: action.name)
def test_writes_are_repeated_only_under_the_same_reference(action: Action[Any]) -> None:
    for lost in (LOST, GATEWAY, NOT_KNOWN):
        run = Run(action, [lost, answer(DONE)])
        if action.repeat == "never":
            assert (len(run.sent), type(run.error)) == (1, OutcomeUnknown)
        else:
            assert run.body == DONE
            assert run.sent[0].content == run.sent[1].content
            assert run.sent[0].headers == run.sent[1].headers
        bare = Run(action, [lost, answer(DONE)], make_references=False)
        is_harmless = action.repeat == "read"
        assert len(bare.sent) == (2 if is_harmless else 1)


def test_the_client_knows_every_write_of_the_service() -> None:
    assert {action.name for action in WRITES} == {f"{a.path}.{a.method}" for a in read_surface().actions if a.writes}


STEPS = st.sampled_from([REFUSED, LOST, BUSY, STOPPING, NOT_KNOWN, SHORT, DENIED, GATEWAY, answer(DONE)])
# Attempts after which the operation may have been executed.
MAYBE_EXECUTED = (LOST, NOT_KNOWN, GATEWAY)


@given(st.lists(STEPS, min_size=9, max_size=9), st.sampled_from(WRITES))
def test_outcome_unknown_is_raised_for_unknown_outcomes_alone(
    script: list[Answer | Failure], action: Action[Any]
) -> None:
    run = Run(action, script)
    used = script[: len(run.sent)]
    is_decided = used[-1] in (SHORT, answer(DONE))
    assert isinstance(run.error, OutcomeUnknown) == (any(step in MAYBE_EXECUTED for step in used) and not is_decided)
    if action.repeat == "never":
        assert not any(step in MAYBE_EXECUTED for step in used[:-1])


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2", 2.0), ("0", 0.0), ("1.5", 1.5), ("", None), ("soon", None), ("-1", None), ("inf", None), ("nan", None)],
)
def test_retry_after_is_read_in_seconds(text: str, seconds: float | None) -> None:
    assert read_retry_after(text) == seconds
