"""Describes the exact fields of types to the TypeScript client: amounts and rates, which it handles as strings.

A shape is an object literal of the type `Shape` of clients/typescript/src/exact.ts. Object types have a constant each.
"""

import json
import re
import textwrap
from collections.abc import Iterable, Iterator

from clients.generate.field_types import FieldType
from clients.generate.surface import ActionSurface, Field, Surface

LONGEST_LITERAL = 60
SHAPE_NAME = re.compile(r"\b[A-Z][A-Z0-9_]*_SHAPE\b")


def render_shapes(surface: Surface) -> str:
    """Returns the constants of all object types with exact fields, each after those that it refers to."""
    lines = ["", 'import type { Shape } from "../exact.js";', ""]
    for name in shaped_types(surface):
        shape = shape_of(surface, surface.types[name].fields)
        lines += [f"export const {shape_name(name)}: Shape = {shape};", ""]
    return "\n".join(lines)


def operation_shape(surface: Surface, action: ActionSurface) -> dict[str, str]:
    """Returns the shapes of an action's request and reply. Those without exact fields are left out."""
    shapes = {"request": shape_of(surface, action.fields)}
    shaped = set(shaped_types(surface))
    shapes["reply"] = next((shape_name(name) for name in object_names(action.reply) if name in shaped), "")
    return {name: shape for name, shape in shapes.items() if shape}


def shape_names_in(text: str) -> set[str]:
    return set(SHAPE_NAME.findall(text))


def shape_name(type_name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type_name).upper() + "_SHAPE"


def shape_of(surface: Surface, fields: Iterable[Field]) -> str:
    """Returns the shape of an object with these fields as text, empty if nothing in it is exact."""
    chosen = tuple(fields)
    shaped = set(shaped_types(surface))
    parts = []
    for label, kind in (("amounts", "amount"), ("decimals", "decimal")):
        names = [field.wire_name for field in chosen if kind in scalar_kinds(field.type)]
        if names:
            parts.append(f"{label}: [{', '.join(map(json.dumps, names))}]")
    inside = [
        f"{field.wire_name}: {shape_name(name)}"
        for field in chosen
        for name in object_names(field.type)
        if name in shaped
    ]
    if inside:
        parts.append(f"inside: {literal_of(inside)}")
    return literal_of(parts) if parts else ""


def literal_of(parts: list[str]) -> str:
    """Returns an object literal, on several lines if it is long."""
    line = f"{{ {', '.join(parts)} }}"
    if len(line) <= LONGEST_LITERAL:
        return line
    return "{\n" + "".join(textwrap.indent(f"{part},\n", "  ") for part in parts) + "}"


def shaped_types(surface: Surface) -> list[str]:
    """Returns the names of the object types with exact fields, in or below them, innermost first."""
    found: list[str] = []

    def visit(name: str) -> bool:
        if name in found:
            return True
        fields = surface.types[name].fields
        inner = {inner for field in fields for inner in object_names(field.type) if visit(inner)}
        is_exact = bool(inner) or any({"amount", "decimal"} & scalar_kinds(field.type) for field in fields)
        if is_exact:
            found.append(name)
        return is_exact

    for name in surface.types:
        visit(name)
    return found


def object_names(kind: FieldType) -> Iterator[str]:
    """Yields the names of the object types in a type, also of the elements of lists."""
    if kind.kind in ("object", "document") and kind.name:
        yield kind.name
    for inner in (*kind.options, *([kind.item] if kind.item is not None else [])):
        yield from object_names(inner)


def scalar_kinds(kind: FieldType) -> set[str]:
    """Returns the kinds of scalar values in a type, also of the elements of lists and maps."""
    inner = (*kind.options, *([kind.item] if kind.item is not None else []))
    return {kind.kind}.union(*(scalar_kinds(one) for one in inner))
