"""The functions of every row are annotated with the row's own request and reply types."""

import inspect
import typing
from collections.abc import Callable
from functools import partial
from types import UnionType
from typing import Any

import pytest

from kasuwa.core.action import (
    Action,
    AdminCommand,
    Lookup,
    MemoryRead,
    PreencodedReply,
    Read,
    Step,
    Write,
    make_action_title,
)
from kasuwa.core.decision import Decision, Job, NeedsMore, Refusal
from kasuwa.core.reading import ActionReader
from kasuwa.methods.tables import list_methods
from kasuwa.rails.ports.orders import Answer, call_no_rail

ROWS = [(method.name, action) for method in list_methods("test") for action in method.actions]
STEPS = [step for method in list_methods("test") for step in method.steps]


def annotations_of(function: Callable[..., Any]) -> tuple[list[Any], Any]:
    """Returns the types of the positional parameters that are still open, and the return type."""
    bound = 0
    while isinstance(function, partial):
        bound += len(function.args)
        function = function.func
    hints = typing.get_type_hints(function)
    names = [name for name in inspect.signature(function).parameters if name != "self"]
    return [hints[name] for name in names[bound:]], hints["return"]


def options_of(kind: Any) -> tuple[Any, ...]:
    return typing.get_args(kind) if isinstance(kind, UnionType) or typing.get_origin(kind) is typing.Union else (kind,)


def accepts(parameter: Any, request: type) -> bool:
    return any(isinstance(option, type) and issubclass(request, option) for option in options_of(parameter))


def functions_of(action: Action) -> list[Callable[..., Any]]:
    match action:
        case Write():
            queried = [] if action.rail_question is None else [action.rail_question.decide]
            answered = [] if action.decide_with_ended is None else [action.decide_with_ended]
            return [action.needs, action.decide, *queried, *answered] if action.unpack is None else [action.unpack]
        case Read():
            return [action.read]
        case MemoryRead():
            return [action.answer]
        case Lookup():
            return [action.ask]
        case AdminCommand():
            return [action.run]


@pytest.mark.parametrize(("path", "action"), ROWS, ids=[f"{path} {make_action_title(action)}" for path, action in ROWS])
def test_every_function_of_a_row_takes_the_request_of_the_row(path: str, action: Action) -> None:
    for function in functions_of(action):
        parameters, _ = annotations_of(function)
        assert accepts(parameters[0], action.request), function


@pytest.mark.parametrize(("path", "action"), ROWS, ids=[f"{path} {make_action_title(action)}" for path, action in ROWS])
def test_every_function_of_a_row_returns_the_reply_of_the_row(path: str, action: Action) -> None:
    if isinstance(action, Write):
        _, returned = annotations_of(action.decide)
        (decision,) = set(options_of(returned)) - {Refusal, NeedsMore}
        assert typing.get_origin(decision) is Decision, "a bare Decision has no reply type"
        (reply,) = typing.get_args(decision)
        assert accepts(reply, action.reply)
    else:
        _, returned = annotations_of(functions_of(action)[0])
        assert set(options_of(returned)) - {Refusal} in ({action.reply}, {PreencodedReply})


def test_the_pieces_of_an_unpacked_request_are_what_its_rule_takes() -> None:
    unpacked = [action for _, action in ROWS if isinstance(action, Write) and action.unpack is not None]
    assert unpacked
    for action in unpacked:
        assert action.unpack is not None
        pieces = typing.get_args(annotations_of(action.unpack)[1])
        for function in (action.needs, action.decide):
            taken = annotations_of(function)[0][0]
            assert typing.get_origin(taken) is list
            assert typing.get_args(taken) == pieces


@pytest.mark.parametrize("step", STEPS, ids=[step.kind for step in STEPS])
def test_every_step_decides_on_the_answer_that_its_call_returns(step: Step) -> None:
    _, answer = annotations_of(step.call)
    assert issubclass(answer, Answer)
    assert annotations_of(step.needs)[0][:2] == [Job, answer]
    assert annotations_of(step.decide)[0][:2] == [Job, answer]
    if step.enrich_callback is not None:
        assert annotations_of(step.enrich_callback)[1] == answer
    if step.read is not None:
        assert step.call is call_no_rail
        assert annotations_of(step.read) == ([Job, ActionReader], answer)
