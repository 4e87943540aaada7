"""Writes types.py of the Python client: the objects of requests (TypedDict) and of replies (frozen dataclasses)."""

import json
from collections.abc import Iterator

from clients.generate.docstrings import docstring
from clients.generate.field_types import FieldType
from clients.generate.surface import SECRET_FIELDS, Field, ObjectType, Surface

HEAD = (
    '"""{title}\n\nWritten by `python -m clients.generate` from the action tables of the service. Do not edit.\n"""\n\n'
)
FUTURE = "from __future__ import annotations\n\n"

# Secrets of replies besides those of requests. They are left out of a result's repr.
SECRET_REPLY_FIELDS = SECRET_FIELDS | {"cardToken"}


def notation(kind: FieldType) -> str:
    """Returns a type in the notation of kasuwa_client/_notation.py."""
    if kind.kind == "list":
        return f"[{notation(item_of(kind))}]"
    if kind.kind == "map":
        return f"{{{notation(item_of(kind))}}}"
    if kind.kind == "object":
        return kind.name
    if kind.kind == "document":
        return f"{kind.name}+" if kind.name else "document"
    if kind.kind == "union":
        return "|".join(notation(option) for option in kind.options)
    if kind.kind == "choice" and not all(isinstance(value, str) for value in kind.values):
        return "boolean" if isinstance(kind.values[0], bool) else "integer"
    return kind.kind


def item_of(kind: FieldType) -> FieldType:
    assert kind.item is not None, kind
    return kind.item


def choice_annotation(kind: FieldType) -> str:
    if all(isinstance(value, str) for value in kind.values):
        return f"Literal[{', '.join(json.dumps(value) for value in kind.values)}]"
    return "bool" if isinstance(kind.values[0], bool) else "int"


def argument_annotation(kind: FieldType, prefix: str = "") -> str:
    """Returns the annotation of an argument. `prefix` precedes the names of object types."""
    match kind.kind:
        case "list":
            return f"Sequence[{argument_annotation(item_of(kind), prefix)}]"
        case "map":
            return f"Mapping[str, {argument_annotation(item_of(kind), prefix)}]"
        case "object":
            return prefix + kind.name
        case "document":
            return f"{prefix}{kind.name} | Mapping[str, Any]" if kind.name else "Mapping[str, Any]"
        case "union":
            return " | ".join(argument_annotation(option, prefix) for option in kind.options)
        case "choice":
            return choice_annotation(kind)
        case "amount" | "decimal":
            return f"{prefix}Amount"
    return {"text": "str", "integer": "int", "boolean": "bool", "any": "Any"}.get(kind.kind) or {
        "time": "dt.datetime | str",
        "date": "dt.date | str",
    }[kind.kind]


def result_annotation(kind: FieldType, prefix: str = "") -> str:
    """Returns the annotation of a field of a result."""
    match kind.kind:
        case "list":
            return f"tuple[{result_annotation(item_of(kind), prefix)}, ...]"
        case "map":
            return f"Mapping[str, {result_annotation(item_of(kind), prefix)}]"
        case "object":
            return prefix + kind.name
        case "union":
            return " | ".join(result_annotation(option, prefix) for option in kind.options)
        case "choice":
            return choice_annotation(kind)
    names = {
        "text": "str",
        "integer": "int",
        "boolean": "bool",
        "any": "Any",
        "amount": "Decimal",
        "decimal": "Decimal",
    }
    return names.get(kind.kind) or {"time": "dt.datetime", "date": "dt.date"}[kind.kind]


def page_types(surface: Surface) -> set[str]:
    """Returns the reply types of lists. Clients return a Page of their records instead."""
    return {action.reply.name for action in surface.actions if action.paging in ("offset", "feed", "cursor")}


def render_types(surface: Surface) -> Iterator[str]:
    pages = page_types(surface)
    yield HEAD.format(title="Objects of requests and replies.")
    yield FUTURE
    yield "import datetime as dt\nfrom collections.abc import Mapping, Sequence\n"
    yield "from dataclasses import dataclass, field\nfrom decimal import Decimal\n"
    yield "from typing import Any, ClassVar, Literal, TypedDict, Union\n\n"
    yield "from kasuwa_client._result import Result, no_fields\n\n"
    yield "# An exact number in major units. An int is whole units: 1500 is 1,500.00. A float is refused.\n"
    yield "Amount = Union[Decimal, str, int]\n\n"
    for kind in surface.types.values():
        if not kind.is_reply:
            yield from render_input(kind)
    for kind in surface.types.values():
        if kind.is_reply and kind.name not in pages:
            yield from render_result(kind)


def render_input(kind: ObjectType) -> Iterator[str]:
    """Yields a TypedDict. Python 3.9 has no NotRequired, so the required fields are in a parent of their own."""
    required = [field for field in kind.fields if field.required]
    optional = [field for field in kind.fields if not field.required]
    parent = "TypedDict"
    if required and optional:
        parent = f"_{kind.name}Required"
        yield f"class {parent}(TypedDict):\n"
        yield from render_input_fields(required)
        yield "\n\n"
    shown = optional if required and optional else list(kind.fields)
    total = "" if shown and shown[0].required else ", total=False"
    yield f"class {kind.name}({parent}{total}):\n"
    if kind.description:
        yield docstring([kind.description], 4)
    yield from render_input_fields(shown)
    yield "\n\n"


def render_input_fields(fields: list[Field]) -> Iterator[str]:
    for field in fields:
        yield f"    {field.name}: {argument_annotation(field.type)}\n"
        text = describe_argument(field)
        if text:
            yield docstring([text], 4)


def describe_argument(field: Field) -> str:
    form = f"{field.form[0].upper()}{field.form[1:]}." if field.form else ""
    return " ".join(part for part in (field.description, form) if part)


def render_result(kind: ObjectType) -> Iterator[str]:
    yield f"@dataclass(frozen=True)\nclass {kind.name}(Result):\n"
    if kind.description:
        yield docstring([kind.description], 4)
    yield from render_result_fields(kind.fields)
    yield "    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)\n\n"
    names = {field.name: field.wire_name for field in kind.fields}
    yield f"    wire_names: ClassVar[Mapping[str, str]] = {names!r}\n\n\n"


def render_result_fields(fields: tuple[Field, ...]) -> Iterator[str]:
    """Yields the fields of a dataclass, those without a default first."""
    for field in sorted(fields, key=lambda field: not is_always_set(field)):
        annotation = result_annotation(field.type)
        default = ""
        if not is_always_set(field):
            annotation, default = f"{annotation} | None", " = None"
        if field.wire_name in SECRET_REPLY_FIELDS:
            default = f" = field({'default=None, ' if default else ''}repr=False)"
        yield f"    {field.name}: {annotation}{default}\n"
        if field.description:
            yield docstring([field.description], 4)


def is_always_set(field: Field) -> bool:
    return field.required and not field.nullable


def field_table(fields: tuple[Field, ...]) -> str:
    return "{" + ", ".join(f"{f.name!r}: ({f.wire_name!r}, {notation(f.type)!r})" for f in fields) + "}"
