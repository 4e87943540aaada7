"""The values that a refused request sent, beside the faults of its fields. Contract: #errors

Never secrets: card numbers, CVVs, PINs, OTPs, BVNs, tokens, codes and addresses that may have a password in them.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from kasuwa.core.decision import FieldError, Refusal
from kasuwa.wire.body import UNREADABLE, NumberLiteral, raw_fields, read_untyped
from kasuwa.wire.masking import HIDDEN, SECRET_FIELDS, make_echo

# Longer bodies are not read again, and values of more characters are cut.
MAX_BODY_BYTES = 64 * 1024
MAX_SHOWN = 100


def add_sent_values(refusal: Refusal, body: bytes) -> Refusal:
    """Returns the refusal with the value that each faulty field has in the body."""
    if not refusal.field_errors or len(body) > MAX_BODY_BYTES:
        return refusal
    fields = raw_fields(body)
    if fields is None:
        return refusal
    errors = tuple(add_sent_value(error, fields) for error in refusal.field_errors)
    return msgspec.structs.replace(refusal, field_errors=errors)


def add_sent_value(error: FieldError, fields: dict[str, msgspec.Raw]) -> FieldError:
    names = error.field.split(".")
    if names[0] not in fields:
        return error
    shown = show_value(find_value(read_untyped(bytes(fields[names[0]])), iter(names[1:])), names)
    return error if shown is None else msgspec.structs.replace(error, value=shown)


def find_value(node: Any, path: Iterator[str]) -> Any:
    """Returns the value at a path below a value, or UNREADABLE if there is none."""
    for name in path:
        if isinstance(node, dict) and name in node:
            node = node[name]
        elif isinstance(node, list) and name.isdecimal() and int(name) < len(node):
            node = node[int(name)]
        else:
            return UNREADABLE
    return node


def show_value(value: Any, names: list[str]) -> str | None:
    """Returns a value as it may be shown, or None for an object, an array, or what was not sent."""
    text = write_scalar(value)
    if text is None:
        return None
    is_secret = any(name.lower() in SECRET_FIELDS for name in names)
    return HIDDEN if is_secret else make_echo(text, MAX_SHOWN)


def write_scalar(value: Any) -> str | None:
    if isinstance(value, NumberLiteral):
        return value.text
    if value is True or value is False:
        return str(value).lower()
    if isinstance(value, int):
        return str(value) if abs(value) < 10**20 else HIDDEN
    return value if isinstance(value, str) else None
