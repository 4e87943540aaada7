"""Forms of the requests that a twin takes: the parameters and the fields of the body of each call.

A call that is not of its form is refused before the twin looks at its meaning: unknown, repeated and missing names,
wrong types, wrong units, a body that is no JSON. A form has only what the twin carries out: a parameter that it would
ignore is refused as well, so that no adapter relies on it.
"""

import json
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Literal

import msgspec

FieldKind = Literal[
    "text",
    "integer",  # a whole number: minor units, or naira where the vendor takes no fractions
    "naira",  # a number that is written with two decimals
    "boolean",
    "texts",  # a list of texts
    "object",
]


class Field(msgspec.Struct, frozen=True):
    """A parameter, or a field of a body."""

    kind: FieldKind
    example: Any
    form: str = r".*\S.*"  # of a text, or of each text of a list: a regular expression of all of it
    is_required: bool = True
    fields: Mapping[str, "Field"] = {}  # of an object; one without any may have all


class Call(msgspec.Struct, frozen=True):
    """The form of a call. `body` is None if it has none."""

    query: Mapping[str, Field] = {}
    body: Mapping[str, Field] | None = None


class Problem(msgspec.Struct, frozen=True):
    """A fault of a request. `name` is that of the field, with dots for fields of objects, or `body`."""

    name: str
    kind: Literal["unknown", "missing", "invalid"]


def text(example: str, form: str = r".*\S.*") -> Field:
    return Field("text", example, form)


def integer(example: int) -> Field:
    return Field("integer", example)


def naira(example: str) -> Field:
    return Field("naira", Decimal(example))


def boolean(example: bool) -> Field:
    return Field("boolean", example)


def texts(example: list[str], form: str) -> Field:
    return Field("texts", example, form)


def group(fields: Mapping[str, Field]) -> Field:
    return Field("object", {name: field.example for name, field in fields.items()}, fields=fields)


def optional(field: Field) -> Field:
    return msgspec.structs.replace(field, is_required=False)


def decode_body(content: bytes) -> Any:
    """Decodes JSON without rounding its numbers. Raises ValueError if it is none, or if a name occurs twice."""
    return json.loads(content, parse_float=Decimal, object_pairs_hook=read_object)


def read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a name occurs twice")
    return fields


def check_query(call: Call, query: Iterable[tuple[str, str]]) -> Problem | None:
    """Returns what is wrong with the parameters of a call, or None."""
    values: dict[str, Any] = {}
    for name, value in query:
        if name in values:
            return Problem(name, "invalid")
        values[name] = read_parameter(call.query.get(name), value)
    return check_fields(call.query, values)


def read_parameter(field: Field | None, value: str) -> Any:
    """Returns the value of a parameter as its kind has it in JSON, or the text if it is not of its kind."""
    if field is not None and field.kind == "integer" and re.fullmatch("[0-9]{1,18}", value, re.ASCII):
        return int(value)
    if field is not None and field.kind == "boolean" and value in ("true", "false"):
        return value == "true"
    return value


def check_body(call: Call, content_type: str, content: bytes) -> Problem | None:
    """Returns what is wrong with the body of a call, or None."""
    if call.body is None:
        return Problem("body", "unknown") if content else None
    if not content and not call.body:
        return None
    try:
        body = decode_body(content) if content_type == "application/json" else None
    except ValueError:
        body = None
    return check_fields(call.body, body) if isinstance(body, dict) else Problem("body", "invalid")


def check_fields(fields: Mapping[str, Field], values: Mapping[str, Any], path: str = "") -> Problem | None:
    for name in values:
        if name not in fields:
            return Problem(path + name, "unknown")
    for name, field in fields.items():
        if name not in values:
            if field.is_required:
                return Problem(path + name, "missing")
            continue
        problem = check_value(field, values[name], path + name)
        if problem is not None:
            return problem
    return None


def check_value(field: Field, value: Any, name: str) -> Problem | None:
    if field.kind == "object" and isinstance(value, dict):
        return check_fields(field.fields, value, f"{name}.") if field.fields else None
    match field.kind:
        case "text":
            is_good = is_text(field, value)
        case "texts":
            is_good = isinstance(value, list) and bool(value) and all(is_text(field, part) for part in value)
        case "integer":
            is_good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        case "naira":
            is_good = isinstance(value, Decimal) and value.as_tuple().exponent == -2 and value >= 0
        case "boolean":
            is_good = isinstance(value, bool)
        case "object":
            is_good = False
    return None if is_good else Problem(name, "invalid")


def is_text(field: Field, value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(field.form, value, re.ASCII | re.DOTALL) is not None
