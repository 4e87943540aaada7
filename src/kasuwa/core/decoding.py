"""From the bytes of a body to a typed request, or to every fault it has.

msgspec decodes fast and stops at the first fault. So a body is decoded fast, and only when that fails are its fields
read one by one (core/field_errors.py). Amounts are read from the text of the number, never through a float: `float_hook`
hands over the literal as it was sent. (Contract: #requests)
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any

import msgspec
from msgspec import inspect

from kasuwa.core.action import FieldRule, PreflightContext
from kasuwa.core.body import NUL_ESCAPE, UNREADABLE, NumberLiteral, raw_fields, read_untyped
from kasuwa.core.decision import MOST_FAULTS, FieldError, Merchant
from kasuwa.core.field_errors import FieldSpec, convert_fields, field_specs, strip_metadata
from kasuwa.core.field_rules import is_any_broken, run_field_rules
from kasuwa.core.fields import FREE_TEXT, read_scalar
from kasuwa.core.masking import SHORTEST, mask_card_numbers

# Larger bodies are read field by field at once, which looks at the lengths of arrays first.
LARGE_BODY = 16 * 1024
# A field that takes neither objects nor arrays is not read where it holds one of more than this.
MOST_OF_A_WRONG_KIND = 4 * 1024
# Values that are looked at to name those with a U+0000.
MOST_LOOKED_AT = 10_000
NO_NUL = "must not contain U+0000"
NO_NUL_NAME = "its name must not contain U+0000"


RAW_ELEMENTS: "msgspec.json.Decoder[list[msgspec.Raw]]" = msgspec.json.Decoder(list[msgspec.Raw])


class InvalidRequest(tuple[FieldError, ...]):
    """The faults of a body, and of it what could be read, for rules that look at it later."""

    values: dict[str, Any]


@cache
def decoder(kind: Any) -> "msgspec.json.Decoder[Any]":
    return msgspec.json.Decoder(kind, dec_hook=read_scalar, float_hook=NumberLiteral)


def decode(
    kind: type[msgspec.Struct],
    body: bytes,
    rules: Sequence[FieldRule],
    merchant: Merchant,
    preflight: PreflightContext | None = None,
) -> Any:
    """The request as a struct, or all its faults. With `foresight`, the faults include those that rules foretell."""
    faults = nul_faults(kind, body) if b"\\u0000" in body else []
    try:
        # The typed decoder reads every element of an array before it looks at their number.
        if len(body) > LARGE_BODY and not any(map(is_raw, field_specs(kind))):
            raise msgspec.ValidationError("to be read field by field")
        request = decoder(kind).decode(body)
    except msgspec.ValidationError:
        found, values = convert_fields(kind, known_fields(kind, body), "")
        faults += found
        # Nothing is wrong field by field where a null or an empty text stood for an absent field.
        request = None if found else kind(**values)
    else:
        if b'""' in body:
            drop_empty_texts(request)
        if not faults and not is_any_broken(rules, merchant, request):
            mask_free_texts(request)
            return request
        asked = (rule for rule in rules if preflight is not None or not rule.is_preflight)
        values = {top: getattr(request, top) for rule in asked for top in rule.top_level_fields}
    faults += run_field_rules(rules, merchant, kind, values)
    if not faults:
        mask_free_texts(request)
        return request
    refused = InvalidRequest(faults)
    # What rules foretell may look at any field.
    refused.values = (
        values if request is None else {plan.name: getattr(request, plan.name) for plan in field_specs(kind)}
    )
    return refused if preflight is None else add_preflight_errors(kind, refused, rules, merchant, preflight)


def add_preflight_errors(
    kind: type[msgspec.Struct],
    refused: InvalidRequest,
    rules: Sequence[FieldRule],
    merchant: Merchant,
    preflight: PreflightContext,
) -> InvalidRequest:
    """The faults of a refused body with those that rules foretell."""
    more = InvalidRequest((*refused, *run_field_rules(rules, merchant, kind, refused.values, preflight)))
    more.values = refused.values
    return more


def drop_empty_texts(request: msgspec.Struct) -> None:
    """Makes optional fields that hold an empty text absent, at every depth. Contract: #requests"""
    for plan in field_specs(type(request)):
        value = getattr(request, plan.name)
        if isinstance(value, str):
            if not value and not plan.required:
                msgspec.structs.force_setattr(request, plan.name, plan.default)
        elif isinstance(value, msgspec.Struct):
            drop_empty_texts(value)
        elif isinstance(value, list):
            for element in value:
                if isinstance(element, msgspec.Struct):
                    drop_empty_texts(element)


class MaskPlan(msgspec.Struct, frozen=True):
    """The fields of a struct that may hold a card number where none belongs."""

    # Free texts.
    texts: tuple[str, ...]
    # Fields that may hold objects, or arrays of them, which have free texts of their own.
    inner: tuple[str, ...]


# Values of these types hold no objects.
SCALARS = (
    inspect.StrType,
    inspect.IntType,
    inspect.FloatType,
    inspect.BoolType,
    inspect.NoneType,
    inspect.LiteralType,
    inspect.EnumType,
    inspect.DateType,
    inspect.DateTimeType,
    inspect.RawType,
)


@cache
def mask_plan(kind: type[msgspec.Struct]) -> MaskPlan:
    plans = field_specs(kind)
    inner = [plan for plan in plans if not all(is_scalar(strip_metadata(one)) for one in plan.accepted_types)]
    return MaskPlan(
        tuple(plan.name for plan in plans if is_free_text(plan)),
        tuple(plan.name for plan in inner if not is_free_text(plan)),
    )


def is_scalar(option: inspect.Type) -> bool:
    if isinstance(option, inspect.CustomType):
        return isinstance(option.cls, type) and issubclass(option.cls, int | str)
    return isinstance(option, SCALARS)


def mask_free_texts(request: msgspec.Struct) -> None:
    """Masks card numbers in texts that people write as they like, at every depth. Documents mask their own."""
    plan = mask_plan(type(request))
    for name in plan.texts:
        value = getattr(request, name)
        if isinstance(value, str) and len(value) >= SHORTEST:
            msgspec.structs.force_setattr(request, name, mask_card_numbers(value))
    for name in plan.inner:
        value = getattr(request, name)
        if isinstance(value, msgspec.Struct):
            mask_free_texts(value)
        elif isinstance(value, list):
            for element in value:
                if isinstance(element, msgspec.Struct):
                    mask_free_texts(element)


def is_free_text(plan: FieldSpec) -> bool:
    return any(isinstance(option, inspect.Metadata) and option.extra == FREE_TEXT for option in plan.accepted_types)


# --- the fields of a refused body -----------------------------------------------------------------------------------


def known_fields(kind: type[msgspec.Struct], body: bytes) -> Any:
    """The values of the fields that the request has; of others, the name alone."""
    fields = raw_fields(body)
    if fields is None:
        return UNREADABLE
    plans = {plan.wire_name: plan for plan in field_specs(kind)}
    known = {name: read_field(plans[name], bytes(fields[name])) for name in plans if name in fields}
    return known | {name: UNREADABLE for name in fields if name not in plans}


def read_field(plan: FieldSpec, text: bytes) -> Any:
    if is_raw(plan) and text[:1] == b"[":
        return RAW_ELEMENTS.decode(text)
    if len(text) > MOST_OF_A_WRONG_KIND and text[:1] in (b"[", b"{") and not (plan.takes_object or plan.takes_array):
        return UNREADABLE
    return read_untyped(text)


def is_raw(plan: FieldSpec) -> bool:
    """Whether a field's elements are read later, each on its own."""
    inner = map(strip_metadata, plan.accepted_types)
    return any(
        isinstance(one, inspect.ListType) and isinstance(strip_metadata(one.item_type), inspect.RawType)
        for one in inner
    )


# --- U+0000 ---------------------------------------------------------------------------------------------------------


def nul_faults(kind: type[msgspec.Struct], body: bytes) -> list[FieldError]:
    """PostgreSQL keeps no U+0000 in text, and nothing a merchant means contains one, nor does a name it gives to
    something. Of many, the first are named. Contract: #requests"""
    raw = {plan.wire_name for plan in field_specs(kind) if is_raw(plan)}
    fields = {name: bytes(text) for name, text in (raw_fields(body) or {}).items() if name not in raw}
    left = [MOST_LOOKED_AT]
    faults: list[FieldError] = []
    for name, text in fields.items():
        bare = name.replace("\0", "\\u0000")
        if "\0" in name:
            faults.append(FieldError(bare, NO_NUL_NAME))
        if NUL_ESCAPE.search(text):
            found = islice(nul_paths(read_untyped(text), bare, left), MOST_FAULTS)
            faults += list(found) or [FieldError(bare, NO_NUL)]
        if len(faults) >= MOST_FAULTS:
            break
    return faults


def nul_paths(node: Any, path: str, left: list[int]) -> Iterator[FieldError]:
    """The places of U+0000 in a value; `left` holds how many more values may be looked at."""
    left[0] -= 1
    if isinstance(node, str):
        if "\0" in node:
            yield FieldError(path, NO_NUL)
        return
    inside: Iterable[tuple[Any, Any]] = ()
    if isinstance(node, dict):
        inside = node.items()
    elif isinstance(node, list):
        inside = enumerate(node)
    for name, value in inside:
        if left[0] < 0:
            return
        below = f"{path}.{name}".replace("\0", "\\u0000")
        if isinstance(name, str) and "\0" in name:
            yield FieldError(below, NO_NUL_NAME)
        yield from nul_paths(value, below, left)
