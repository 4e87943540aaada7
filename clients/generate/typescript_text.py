"""The TypeScript text of object types, fields and comments."""

import json
import re
import textwrap
from collections.abc import Iterable, Iterator

from clients.generate.field_types import FieldType
from clients.generate.surface import Field, ObjectType

LINE_LENGTH = 120
IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
SCALARS = {
    "text": "string",
    "integer": "number",
    "boolean": "boolean",
    "any": "unknown",
    "amount": "Amount",
    "decimal": "Decimal",
    "time": "Time",
    "date": "CalendarDate",
}


def interface_of(kind: ObjectType, parent: str = "") -> Iterator[str]:
    if kind.description:
        yield from comment(kind.description)
    yield f"export interface {kind.name} {f'extends {parent} ' if parent else ''}{{"
    for field in kind.fields:
        yield from indent(field_lines(field, is_reply=kind.is_reply))
    yield "}"
    yield ""


def field_lines(field: Field, *, is_reply: bool) -> Iterator[str]:
    form = "" if not field.form else field.form[0].upper() + field.form[1:] + "."
    text = " ".join(filter(None, (sentence(field.description), form)))
    if text:
        yield from comment(text)
    kind = type_text(field.type)
    if field.nullable:
        kind += " | null"
    if not field.required and not is_reply:
        kind += " | undefined"
    name = f"readonly {property_name(field.wire_name)}{'' if field.required else '?'}:"
    if len(f"  {name} {kind};") <= LINE_LENGTH:
        yield f"{name} {kind};"
    else:
        yield name
        yield from (f"  | {option}" for option in f"{kind};".split(" | "))


def type_text(kind: FieldType) -> str:
    match kind.kind:
        case "choice":
            return " | ".join(json.dumps(value) for value in kind.values)
        case "object":
            return kind.name
        case "document":
            return f"{kind.name} & JsonObject" if kind.name else "JsonObject"
        case "list":
            assert kind.item is not None
            item = type_text(kind.item)
            return f"readonly ({item})[]" if re.search(r"[|&]", item) else f"readonly {item}[]"
        case "map":
            assert kind.item is not None
            return f"{{ readonly [name: string]: {type_text(kind.item)} }}"
        case "union":
            return " | ".join(dict.fromkeys(type_text(option) for option in kind.options))
    return SCALARS[kind.kind]


def property_name(wire_name: str) -> str:
    return wire_name if IDENTIFIER.fullmatch(wire_name) else json.dumps(wire_name)


def sentence(text: str) -> str:
    return text if not text or text.endswith((".", "?", "!")) else f"{text}."


def comment(text: str) -> list[str]:
    """Returns a documentation comment, on one line if it fits."""
    line = f"/** {escape(text)} */"
    return [line] if len(line) <= LINE_LENGTH - 4 else ["/**", *wrap(text), " */"]


def wrap(text: str) -> list[str]:
    return [f" * {line}" for line in textwrap.wrap(escape(text), LINE_LENGTH - 6, break_on_hyphens=False)]


def escape(text: str) -> str:
    return text.replace("*/", "*\\/")


def indent(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}".rstrip() for line in lines)
