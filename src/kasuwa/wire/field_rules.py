"""Runs field rules on the fields of a body that could be decoded, so that one error hides no other.

A rule names its fields by their paths from the request, such as `data.bank_account.bank_code`. It runs if all of them
could be decoded, also if other fields of the same nested object could not.

Contract: #errors
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, runtime_checkable

import msgspec
from msgspec import inspect

from kasuwa.core.action import FieldRule, PreflightContext
from kasuwa.core.decision import FieldError, Merchant

# Placeholder for a field that could not be decoded.
NOT_DECODED = object()


@runtime_checkable
class CompositeValue(Protocol):
    """A value of several fields stored as one, such as a JSON object kept as text."""

    def get_field(self, name: str) -> Any: ...


def run_field_rules(
    rules: Sequence[FieldRule],
    merchant: Merchant,
    kind: type[msgspec.Struct],
    values: Mapping[str, Any],
    preflight: PreflightContext | None = None,
) -> Iterator[FieldError]:
    """Yields the errors that rules find; with a preflight context, those of preflight rules only.

    `values` are the fields that could be decoded. A nested object with errors is given by its valid fields' paths.
    """
    for rule in rules:
        if rule.is_preflight is (preflight is None):
            continue
        arguments = [values[path] if path in values else value_inside(values, path) for path in rule.fields]
        if NOT_DECODED in arguments:
            continue
        reason = rule.check(merchant, preflight, *arguments) if rule.is_preflight else rule.check(merchant, *arguments)
        if reason is not None:
            yield FieldError(wire_path(kind, rule.fields[-1]), reason)


def is_any_broken(rules: Sequence[FieldRule], merchant: Merchant, request: msgspec.Struct) -> bool:
    """Returns whether a rule other than a preflight rule finds an error in a decoded request.

    Faster than `run_field_rules`, as most requests have no error.
    """
    for rule in rules:
        if rule.is_preflight:
            continue
        if rule.fields != rule.top_level_fields:
            values = {top: getattr(request, top) for top in rule.top_level_fields}
            arguments = [values[path] if path in values else value_inside(values, path) for path in rule.fields]
            reason = rule.check(merchant, *arguments)
        elif len(rule.fields) == 1:
            reason = rule.check(merchant, getattr(request, rule.fields[0]))
        else:
            reason = rule.check(merchant, *[getattr(request, name) for name in rule.fields])
        if reason is not None:
            return True
    return False


def value_inside(values: Mapping[str, Any], path: str) -> Any:
    """Returns the value at a path inside a decoded object. None if an object on the path was not sent."""
    above, _, name = path.rpartition(".")
    if not above:
        return NOT_DECODED
    parent = values[above] if above in values else value_inside(values, above)
    if parent is NOT_DECODED or parent is None:
        return parent
    return parent.get_field(name) if isinstance(parent, CompositeValue) else getattr(parent, name)


@cache
def wire_names(kind: type[msgspec.Struct]) -> dict[str, str]:
    return dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))


@cache
def wire_path(kind: type[msgspec.Struct], path: str) -> str:
    """Returns a path in wire spelling."""
    name, _, inner = path.partition(".")
    spelled = wire_names(kind)[name]
    return f"{spelled}.{wire_path(struct_at(kind, name), inner)}" if inner else spelled


def struct_at(kind: type[msgspec.Struct], name: str) -> type[msgspec.Struct]:
    """Returns the struct of a field that contains an object."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    field_type = next(field.type for field in info.fields if field.name == name)
    for option in field_type.types if isinstance(field_type, inspect.UnionType) else (field_type,):
        if isinstance(option, inspect.StructType):
            return option.cls
        shape = getattr(option.cls, "known_struct", None) if isinstance(option, inspect.CustomType) else None
        if isinstance(shape, type):
            return shape
    raise NotImplementedError(f"{name} of {kind.__name__} holds no object")
