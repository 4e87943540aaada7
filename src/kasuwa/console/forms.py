"""Forms as data: the fields an action asks for, and how what was typed becomes its request."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec


class FormField(msgspec.Struct, frozen=True):
    """A field of a form: its name on the wire (a dot for one inside an object) and its label. `kind` is what it is on
    the wire: a text, a whole number, or a yes. What is typed into one of type password is shown and kept nowhere."""

    name: str
    label: str
    hint: str = ""
    input_mode: str = ""
    required: bool = False
    options: tuple[str, ...] = ()
    value_type: str = "text"
    input_type: str = "text"


class ActionForm(msgspec.Struct, frozen=True):
    """Something that can be asked for: an action, what it asks, and in which states of a record it makes sense (none:
    in all). `fixed` is said without asking; `copies` are fields taken over from the record."""

    name: str
    label: str
    action: str
    fields: tuple[FormField, ...] = ()
    allowed_states: tuple[str, ...] = ()
    fixed_values: tuple[tuple[str, str], ...] = ()
    copied_fields: tuple[str, ...] = ()


def build_request(fields: Iterable[FormField], read_text: Callable[[str], str]) -> dict[str, Any]:
    """What was typed, as the wire wants it: nothing for what was left empty, objects for names with a dot."""
    request: dict[str, Any] = {}
    for ask in fields:
        text = read_text(ask.name)
        if text:
            set_nested(request, ask.name, convert_value(ask, text))
    return request


def convert_value(ask: FormField, text: str) -> Any:
    """A number that is none goes as it was typed: the action's own rules say what is wrong with it."""
    if ask.value_type == "whole" and text.isascii() and text.isdecimal() and len(text) <= 15:
        return int(text)
    return text == "yes" if ask.value_type == "flag" else text


def set_nested(request: dict[str, Any], name: str, value: Any) -> None:
    first, dot, rest = name.partition(".")
    if dot:
        set_nested(request.setdefault(first, {}), rest, value)
    else:
        request[first] = value
