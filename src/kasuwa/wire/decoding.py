"""Decodes a request body to a typed request, or to the list of all its field errors.

msgspec is fast but stops at the first error. So a body is decoded by msgspec first, and only if that fails are its
fields decoded one by one (wire/field_errors.py). Amounts are parsed from the literal of the number, which `float_hook`
passes on, and never become a float.

Contract: #requests
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any

import msgspec
from msgspec import inspect

from kasuwa.core.action import FieldRule, PreflightContext
from kasuwa.core.decision import MAX_FIELD_ERRORS, FieldError, Merchant
from kasuwa.core.error_codes import FIELD_NUL
from kasuwa.wire.body import NUL_ESCAPE, UNREADABLE, NumberLiteral, raw_fields, read_untyped
from kasuwa.wire.field_errors import FieldSpec, convert_fields, field_specs, strip_metadata
from kasuwa.wire.field_rules import is_any_broken, run_field_rules
from kasuwa.wire.fields import FREE_TEXT, REFERENCE_TEXT, read_scalar
from kasuwa.wire.masking import SHORTEST, mask_card_numbers, mask_reference

# Larger bodies are decoded field by field at once, because that checks the lengths of arrays first.
LARGE_BODY = 16 * 1024
# An object or array larger than this is not decoded for a field that accepts neither.
MAX_BYTES_OF_WRONG_KIND = 4 * 1024
# Most values that are searched for U+0000.
MAX_NUL_SEARCHED = 10_000
NO_NUL = "must not contain U+0000"
NO_NUL_NAME = "its name must not contain U+0000"


RAW_ELEMENTS: "msgspec.json.Decoder[list[msgspec.Raw]]" = msgspec.json.Decoder(list[msgspec.Raw])


class InvalidRequest(tuple[FieldError, ...]):
    """The field errors of a refused body."""

    # The values that could be decoded, by path, for preflight rules that run later.
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
    """Returns the request as a struct, or an InvalidRequest with all field errors.

    With a preflight context, the errors of a refused body include those of preflight rules.
    """
    errors = nul_errors(kind, body) if b"\\u0000" in body else []
    try:
        # The typed decoder reads every element of an array before it looks at their number.
        if len(body) > LARGE_BODY and not any(map(is_raw, field_specs(kind))):
            raise msgspec.ValidationError("to be read field by field")
        request = decoder(kind).decode(body)
    except msgspec.ValidationError:
        field_errors, values = convert_fields(kind, known_fields(kind, body), "")
        errors += field_errors
        # There are no errors if only a null or an empty text stood for an absent field.
        request = None if field_errors else kind(**values)
    else:
        if b'""' in body:
            drop_empty_texts(request)
        if not errors and not is_any_broken(rules, merchant, request):
            mask_free_texts(request)
            return request
        active = (rule for rule in rules if preflight is not None or not rule.is_preflight)
        values = {top: getattr(request, top) for rule in active for top in rule.top_level_fields}
    errors += run_field_rules(rules, merchant, kind, values)
    if not errors:
        mask_free_texts(request)
        return request
    refused = InvalidRequest(errors)
    # Preflight rules may read any field.
    refused.values = (
        values if request is None else {spec.name: getattr(request, spec.name) for spec in field_specs(kind)}
    )
    return refused if preflight is None else add_preflight_errors(kind, refused, rules, merchant, preflight)


def add_preflight_errors(
    kind: type[msgspec.Struct],
    refused: InvalidRequest,
    rules: Sequence[FieldRule],
    merchant: Merchant,
    preflight: PreflightContext,
) -> InvalidRequest:
    """Returns the errors of a refused body together with those that preflight rules find."""
    more = InvalidRequest((*refused, *run_field_rules(rules, merchant, kind, refused.values, preflight)))
    more.values = refused.values
    return more


def add_request_errors(request: Any, errors: Sequence[FieldError]) -> Any:
    """Returns a decoded request with further errors: unchanged if there are none, else as an InvalidRequest."""
    if not errors:
        return request
    is_refused = isinstance(request, InvalidRequest)
    refused = InvalidRequest((*request, *errors) if is_refused else errors)
    refused.values = request.values if is_refused else msgspec.structs.asdict(request)
    return refused


def drop_empty_texts(request: msgspec.Struct) -> None:
    """Resets optional fields that contain an empty text to their defaults, at every depth. Contract: #requests"""
    for spec in field_specs(type(request)):
        value = getattr(request, spec.name)
        if isinstance(value, str):
            if not value and not spec.required:
                msgspec.structs.force_setattr(request, spec.name, spec.default)
        elif isinstance(value, msgspec.Struct):
            drop_empty_texts(value)
        elif isinstance(value, list):
            for element in value:
                if isinstance(element, msgspec.Struct):
                    drop_empty_texts(element)


class MaskPlan(msgspec.Struct, frozen=True):
    """The fields of a struct that are searched for card numbers."""

    texts: tuple[tuple[str, Callable[[str], str]], ...]  # free texts and references, with what masks them
    inner: tuple[str, ...]  # fields that may contain objects, or arrays of them, with free texts of their own


# The marks of fields whose card numbers are masked.
MASKS = ((FREE_TEXT, mask_card_numbers), (REFERENCE_TEXT, mask_reference))

# Types whose values contain no objects.
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
    specs = field_specs(kind)
    texts = {spec.name: mask for spec in specs for mark, mask in MASKS if is_marked(spec, mark)}
    inner = [spec for spec in specs if not all(is_scalar(strip_metadata(one)) for one in spec.accepted_types)]
    return MaskPlan(tuple(texts.items()), tuple(spec.name for spec in inner if spec.name not in texts))


def is_scalar(option: inspect.Type) -> bool:
    if isinstance(option, inspect.CustomType):
        return isinstance(option.cls, type) and issubclass(option.cls, int | str)
    return isinstance(option, SCALARS)


def mask_free_texts(request: msgspec.Struct) -> None:
    """Masks card numbers in free texts and references, at every depth. Documents do so when they are parsed."""
    plan = mask_plan(type(request))
    for name, mask in plan.texts:
        value = getattr(request, name)
        if isinstance(value, str) and len(value) >= SHORTEST:
            msgspec.structs.force_setattr(request, name, mask(value))
    for name in plan.inner:
        value = getattr(request, name)
        if isinstance(value, msgspec.Struct):
            mask_free_texts(value)
        elif isinstance(value, list):
            for element in value:
                if isinstance(element, msgspec.Struct):
                    mask_free_texts(element)


def is_marked(spec: FieldSpec, mark: dict[str, bool]) -> bool:
    return any(isinstance(option, inspect.Metadata) and option.extra == mark for option in spec.accepted_types)


# --- the fields of a refused body -----------------------------------------------------------------------------------


def known_fields(kind: type[msgspec.Struct], body: bytes) -> Any:
    """Returns the values of the request's fields. Unknown fields are UNREADABLE: only their names are used."""
    fields = raw_fields(body)
    if fields is None:
        return UNREADABLE
    specs = {spec.wire_name: spec for spec in field_specs(kind)}
    known = {name: read_field(specs[name], bytes(fields[name])) for name in specs if name in fields}
    return known | {name: UNREADABLE for name in fields if name not in specs}


def read_field(spec: FieldSpec, text: bytes) -> Any:
    if is_raw(spec) and text[:1] == b"[":
        return RAW_ELEMENTS.decode(text)
    if len(text) > MAX_BYTES_OF_WRONG_KIND and text[:1] in (b"[", b"{") and not (spec.takes_object or spec.takes_array):
        return UNREADABLE
    return read_untyped(text)


def is_raw(spec: FieldSpec) -> bool:
    """Returns whether the field's elements stay raw JSON, to be decoded later one by one."""
    inner = map(strip_metadata, spec.accepted_types)
    return any(
        isinstance(one, inspect.ListType) and isinstance(strip_metadata(one.item_type), inspect.RawType)
        for one in inner
    )


# --- U+0000 ---------------------------------------------------------------------------------------------------------


def nul_errors(kind: type[msgspec.Struct], body: bytes) -> list[FieldError]:
    """Returns an error for each text and field name that contains U+0000, at most MOST_FAULTS of them.

    PostgreSQL cannot store U+0000 in text. Contract: #requests
    """
    raw = {spec.wire_name for spec in field_specs(kind) if is_raw(spec)}
    fields = {name: bytes(text) for name, text in (raw_fields(body) or {}).items() if name not in raw}
    budget = [MAX_NUL_SEARCHED]
    errors: list[FieldError] = []
    for name, text in fields.items():
        bare = name.replace("\0", "\\u0000")
        if "\0" in name:
            errors.append(FieldError(bare, NO_NUL_NAME, FIELD_NUL))
        if NUL_ESCAPE.search(text):
            path_errors = islice(nul_paths(read_untyped(text), bare, budget), MAX_FIELD_ERRORS)
            errors += list(path_errors) or [FieldError(bare, NO_NUL, FIELD_NUL)]
        if len(errors) >= MAX_FIELD_ERRORS:
            break
    return errors


def nul_paths(node: Any, path: str, budget: list[int]) -> Iterator[FieldError]:
    """Yields an error for each U+0000 in a value. `left` is a one-element list with the number of values that may
    still be searched."""
    budget[0] -= 1
    if isinstance(node, str):
        if "\0" in node:
            yield FieldError(path, NO_NUL, FIELD_NUL)
        return
    inside: Iterable[tuple[Any, Any]] = ()
    if isinstance(node, dict):
        inside = node.items()
    elif isinstance(node, list):
        inside = enumerate(node)
    for name, value in inside:
        if budget[0] < 0:
            return
        below = f"{path}.{name}".replace("\0", "\\u0000")
        if isinstance(name, str) and "\0" in name:
            yield FieldError(below, NO_NUL_NAME, FIELD_NUL)
        yield from nul_paths(value, below, budget)
