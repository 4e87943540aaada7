"""Finds the refusals that an action may reply with: the constants that its functions, and those they call, refer to.

A refusal is a constant of the rules (`NOT_REFUNDABLE = Refusal(INVALID_REQUEST, "…")`). The functions of an action's
row are followed by the names that their code uses, within the service.
"""

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

import msgspec

from kasuwa.core.action import Action, Step
from kasuwa.core.decision import Refusal

SERVICE = "kasuwa."


def find_refusals(action: Action | Step) -> list[Refusal]:
    """Returns the refusals of an action, or of a step after it, ordered by status and message."""
    by_code: dict[tuple[int, str], Refusal] = {}
    visited_ids: set[int] = set()
    todo: list[Callable[..., Any]] = list(functions_in(action))
    while todo:
        function = inspect.unwrap(todo.pop())
        if not isinstance(function, FunctionType) or id(function) in visited_ids or not is_ours(function):
            continue
        visited_ids.add(id(function))
        for value in values_used_by(function):
            if isinstance(value, Refusal):
                by_code[value.code, value.message] = value
            elif isinstance(value, FunctionType):
                todo.append(value)
    return [by_code[key] for key in sorted(by_code)]


def functions_in(row: msgspec.Struct) -> Iterator[Callable[..., Any]]:
    """Yields the functions that a row of an action table holds, also in the parts of the row."""
    for field in row.__struct_fields__:
        value = getattr(row, field)
        parts = value if isinstance(value, tuple) else (value,)
        for part in parts:
            if isinstance(part, msgspec.Struct):
                yield from functions_in(part)
            elif isinstance(part, partial):
                yield part.func
                yield from (one for one in part.args if callable(one))
            elif callable(part) and not isinstance(part, type):
                yield part


def is_ours(function: FunctionType) -> bool:
    return function.__module__.startswith(SERVICE)


def values_used_by(function: FunctionType) -> Iterator[Any]:
    """Yields the values of the names that a function's code uses: globals, attributes of modules, and closures."""
    names = set(names_in(function.__code__))
    for name in names & function.__globals__.keys():
        value = function.__globals__[name]
        yield value
        if isinstance(value, ModuleType) and value.__name__.startswith(SERVICE):
            yield from (getattr(value, other) for other in names if hasattr(value, other))
        if isinstance(value, dict | tuple):
            yield from value.values() if isinstance(value, dict) else value
    for cell in function.__closure__ or ():
        yield cell.cell_contents


def names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)
