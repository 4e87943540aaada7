"""Checks on the fields of a body, run on whatever of it could be read: one fault hides no other. (Contract: #errors)

A rule names its fields by their paths from the request, `data.bank_account.bank_code`. A nested object of which one
part is wrong still has its other parts; a rule runs when all its fields could be read.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, runtime_checkable

import msgspec
from msgspec import inspect

from kasuwa.core.action import FieldRule, PreflightContext
from kasuwa.core.decision import FieldError, Merchant

UNREAD = object()


@runtime_checkable
class CompositeValue(Protocol):
    """A value of several parts that is kept as one, such as a JSON object as text."""

    def get_field(self, name: str) -> Any: ...


def run_field_rules(
    rules: Sequence[FieldRule],
    merchant: Merchant,
    kind: type[msgspec.Struct],
    values: Mapping[str, Any],
    preflight: PreflightContext | None = None,
) -> Iterator[FieldError]:
    """The faults that rules find in what could be read: `values`, by the longest paths at which something was. Given
    foresight, those that rules foretell."""
    for rule in rules:
        if rule.is_preflight is (preflight is None):
            continue
        given = [values[path] if path in values else value_inside(values, path) for path in rule.fields]
        if UNREAD in given:
            continue
        reason = rule.check(merchant, preflight, *given) if rule.is_preflight else rule.check(merchant, *given)
        if reason is not None:
            yield FieldError(wire_path(kind, rule.fields[-1]), reason)


def is_any_broken(rules: Sequence[FieldRule], merchant: Merchant, request: msgspec.Struct) -> bool:
    """Whether a rule finds a fault in a request that was read whole; rules that foretell are left out. Says less than
    `broken_rules` and costs less: nearly every request keeps all rules."""
    for rule in rules:
        if rule.is_preflight:
            continue
        if rule.fields != rule.top_level_fields:
            values = {top: getattr(request, top) for top in rule.top_level_fields}
            given = [values[path] if path in values else value_inside(values, path) for path in rule.fields]
            reason = rule.check(merchant, *given)
        elif len(rule.fields) == 1:
            reason = rule.check(merchant, getattr(request, rule.fields[0]))
        else:
            reason = rule.check(merchant, *[getattr(request, name) for name in rule.fields])
        if reason is not None:
            return True
    return False


def value_inside(values: Mapping[str, Any], path: str) -> Any:
    """What stands at a path in something that was read whole; None inside an object that was not sent."""
    above, _, name = path.rpartition(".")
    if not above:
        return UNREAD
    whole = values[above] if above in values else value_inside(values, above)
    if whole is UNREAD or whole is None:
        return whole
    return whole.get_field(name) if isinstance(whole, CompositeValue) else getattr(whole, name)


@cache
def wire_names(kind: type[msgspec.Struct]) -> dict[str, str]:
    return dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))


@cache
def wire_path(kind: type[msgspec.Struct], path: str) -> str:
    """A path as it is spelled on the wire."""
    name, _, inner = path.partition(".")
    spelled = wire_names(kind)[name]
    return f"{spelled}.{wire_path(struct_at(kind, name), inner)}" if inner else spelled


def struct_at(kind: type[msgspec.Struct], name: str) -> type[msgspec.Struct]:
    """The shape of the object that a field holds."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    held = next(field.type for field in info.fields if field.name == name)
    for option in held.types if isinstance(held, inspect.UnionType) else (held,):
        if isinstance(option, inspect.StructType):
            return option.cls
        shape = getattr(option.cls, "known_struct", None) if isinstance(option, inspect.CustomType) else None
        if isinstance(shape, type):
            return shape
    raise NotImplementedError(f"{name} of {kind.__name__} holds no object")
