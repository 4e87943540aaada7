"""Forms as data: the fields an action asks for, and how what was typed becomes its request."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec


class Ask(msgspec.Struct, frozen=True):
    """A field of a form: its name on the wire (a dot for one inside an object) and its label. `kind` is what it is on
    the wire: a text, a whole number, or a yes. What is typed into one of type password is shown and kept nowhere."""

    name: str
    label: str
    hint: str = ""
    mode: str = ""
    required: bool = False
    options: tuple[str, ...] = ()
    kind: str = "text"
    type: str = "text"


class Form(msgspec.Struct, frozen=True):
    """Something that can be asked for: an action, what it asks, and in which states of a record it makes sense (none:
    in all). `fixed` is said without asking; `copies` are fields taken over from the record."""

    name: str
    label: str
    action: str
    asks: tuple[Ask, ...] = ()
    states: tuple[str, ...] = ()
    fixed: tuple[tuple[str, str], ...] = ()
    copies: tuple[str, ...] = ()


def typed(asks: Iterable[Ask], said: Callable[[str], str]) -> dict[str, Any]:
    """What was typed, as the wire wants it: nothing for what was left empty, objects for names with a dot."""
    request: dict[str, Any] = {}
    for ask in asks:
        text = said(ask.name)
        if text:
            put(request, ask.name, value_of(ask, text))
    return request


def value_of(ask: Ask, text: str) -> Any:
    """A number that is none goes as it was typed: the action's own rules say what is wrong with it."""
    if ask.kind == "whole" and text.isascii() and text.isdecimal() and len(text) <= 15:
        return int(text)
    return text == "yes" if ask.kind == "flag" else text


def put(request: dict[str, Any], name: str, value: Any) -> None:
    first, dot, rest = name.partition(".")
    if dot:
        put(request.setdefault(first, {}), rest, value)
    else:
        request[first] = value
