"""Decodes a body field by field, so that one reply names every field error.

Only bodies that the typed decoder refused, or large ones, are decoded here. The work is bounded: lengths of arrays are
checked before their elements, and field specs are computed once per type.

Contract: #requests, #errors
"""

import re
import typing
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import islice
from typing import Any

import msgspec
from msgspec import inspect

from kasuwa.core.decision import FieldError
from kasuwa.core.error_codes import FIELD_INVALID, FIELD_NOT_A_CHOICE, FIELD_REQUIRED, FIELD_WRONG_TYPE
from kasuwa.core.suggestions import find_nearest, suggest
from kasuwa.wire.body import UNREADABLE, NumberLiteral
from kasuwa.wire.fields import CustomFieldType, get_fault_code, number_text, read_scalar, scalar_schema

# Most elements of an array or map whose type has no maximum length.
MAX_ELEMENTS = 1_000
# Most names of unknown fields that a missing one is compared with.
MAX_NAMES = 50

# A whole number with or without decimals that are zero. Contract: #requests
WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}(\.0{1,6})?", re.ASCII)

# Placeholder for a value that could not be converted.
NOT_CONVERTED = object()


class FieldSpec(msgspec.Struct, frozen=True):
    """The properties of one field of a request struct."""

    name: str
    wire_name: str
    required: bool
    default: Any
    # The types that the field accepts, without None.
    accepted_types: tuple[inspect.Type, ...]
    # A struct of this field alone. msgspec caches conversions to structs, but not those to other types.
    wrapper_struct: type[msgspec.Struct]
    takes_object: bool
    takes_array: bool
    takes_whole: bool  # an integer, and not text
    # The elements of an array or map.
    element: "FieldSpec | None"


@cache
def field_specs(kind: type[msgspec.Struct]) -> tuple[FieldSpec, ...]:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    hints = typing.get_type_hints(kind, include_extras=True)
    return tuple(make_field_spec(field, hints[field.name]) for field in info.fields)


def make_field_spec(field: inspect.Field, hint: Any) -> FieldSpec:
    options = list_accepted_types(field.type)
    inner = tuple(map(strip_metadata, options))
    default = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
    return FieldSpec(
        name=field.name,
        wire_name=field.encode_name,
        required=field.required,
        default=None if default is msgspec.NODEFAULT else default,
        accepted_types=options,
        wrapper_struct=msgspec.defstruct("Wrapper", [("value", hint)]),
        takes_object=any(map(is_object, inner)),
        takes_array=any(isinstance(one, inspect.ListType) for one in inner),
        takes_whole=any(isinstance(one, inspect.IntType) for one in inner)
        and not any(isinstance(one, inspect.StrType) for one in inner),
        element=make_element_spec(inner, hint),
    )


def make_element_spec(options: Iterable[inspect.Type], hint: Any) -> FieldSpec | None:
    for option in options:
        if isinstance(option, inspect.ListType | inspect.DictType):
            kind = option.item_type if isinstance(option, inspect.ListType) else option.value_type
            field = inspect.Field(name="value", encode_name="value", type=kind)
            return make_field_spec(field, element_hint(hint))
    return None


def element_hint(hint: Any) -> Any:
    """Returns the element type of the array or map in a type hint: X for `Annotated[list[X], …] | None`."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (list, dict):
        return inside[-1]
    choices = inside[:1] if origin is typing.Annotated else inside
    return next((hint for hint in map(element_hint, choices) if hint is not None), None)


def list_accepted_types(info: inspect.Type) -> tuple[inspect.Type, ...]:
    options = info.types if isinstance(info, inspect.UnionType) else (info,)
    return tuple(option for option in options if not isinstance(option, inspect.NoneType))


def strip_metadata(info: inspect.Type) -> inspect.Type:
    return info.type if isinstance(info, inspect.Metadata) else info


def is_object(info: inspect.Type) -> bool:
    if isinstance(info, inspect.CustomType):
        return issubclass(info.cls, CustomFieldType) and info.cls.schema().get("type") == "object"
    return isinstance(info, inspect.StructType | inspect.DictType)


def is_absent(spec: FieldSpec, value: Any) -> bool:
    """Returns whether a value counts as a field that was not sent.

    That is null and, in an optional field, an empty text, or an empty array if an object is expected.
    Contract: #requests
    """
    if value is None:
        return True
    if spec.required:
        return False
    if isinstance(value, list):
        return not value and spec.takes_object and not spec.takes_array
    return isinstance(value, str) and not value


# --- an object, field by field --------------------------------------------------------------------------------------


def convert_fields(kind: type[msgspec.Struct], fields: Any, prefix: str) -> tuple[list[FieldError], dict[str, Any]]:
    """Converts the fields of an object. Returns its errors and the values that could be converted, by name.

    The valid fields of a nested object that has errors are returned by their paths.
    """
    if not isinstance(fields, Mapping):
        return [FieldError(prefix.rstrip("."), "an object", FIELD_WRONG_TYPE)], {}
    errors: list[FieldError] = []
    values: dict[str, Any] = {}
    for spec in field_specs(kind):
        value, path = fields.get(spec.wire_name), prefix + spec.wire_name
        if is_absent(spec, value):
            if spec.required:
                errors.append(FieldError(path, f"required{nearest_name(kind, spec.wire_name, fields)}", FIELD_REQUIRED))
            else:
                values[spec.name] = spec.default
            continue
        field_errors, result, parts = convert_value(spec, value, path)
        errors += field_errors
        if result is NOT_CONVERTED:
            values |= {f"{spec.name}.{name}": part for name, part in parts.items()}
        else:
            values[spec.name] = result
    return errors, values


def convert_value(spec: FieldSpec, value: Any, path: str) -> tuple[list[FieldError], Any, dict[str, Any]]:
    """Converts a field's value. Returns its errors, the value or NOT_CONVERTED, and the valid fields of an object."""
    if isinstance(value, msgspec.Raw):
        return [], value, {}
    if isinstance(value, dict | list):
        errors, result, parts = convert_container(spec, value, path)
        if errors or result is not NOT_CONVERTED:
            return errors, result, parts
        if spec.takes_object or spec.takes_array:
            return [explain_value(spec, value, "an object or an array", path)], NOT_CONVERTED, {}
    number_or_value = whole_number(value) if spec.takes_whole else value
    try:
        return [], msgspec.convert({"value": number_or_value}, spec.wrapper_struct, dec_hook=read_scalar).value, {}  # type: ignore[attr-defined]
    except msgspec.ValidationError as failure:
        errors = [
            error for option in spec.accepted_types for error in custom_type_errors(strip_metadata(option), value, path)
        ]
        return errors or [explain_value(spec, value, str(failure), path)], NOT_CONVERTED, {}


def convert_container(spec: FieldSpec, value: Any, path: str) -> tuple[list[FieldError], Any, dict[str, Any]]:
    """Like convert_value, for an object, array or map.

    Returns no errors and NOT_CONVERTED if the value itself has the wrong kind or length.
    """
    for option in map(strip_metadata, spec.accepted_types):
        if isinstance(option, inspect.StructType) and isinstance(value, dict):
            errors, values = convert_fields(option.cls, value, path + ".")
            return (errors, NOT_CONVERTED, values) if errors else ([], option.cls(**values), values)
        if isinstance(option, inspect.ListType) and isinstance(value, list) and spec.element is not None:
            errors, result = convert_elements(option, spec.element, dict(enumerate(value)), path)
            return errors, result if result is NOT_CONVERTED else list(result.values()), {}
        if isinstance(option, inspect.DictType) and isinstance(value, dict) and spec.element is not None:
            return *convert_elements(option, spec.element, value, path), {}
        if (
            isinstance(option, inspect.CustomType)
            and issubclass(option.cls, CustomFieldType)
            and isinstance(value, dict)
        ):
            errors = option.cls.find_errors(value, path)
            return errors, NOT_CONVERTED if errors else option.cls.read(value), option.cls.read_parts(value)
    return [], NOT_CONVERTED, {}


def convert_elements(
    whole: inspect.ListType | inspect.DictType, element: FieldSpec, elements: Mapping[Any, Any], path: str
) -> tuple[list[FieldError], Any]:
    """Converts the elements of an array or map. Returns their errors, and the elements or NOT_CONVERTED.

    If there are too many or too few elements, none is converted.
    """
    if len(elements) > (whole.max_length or MAX_ELEMENTS) or len(elements) < (whole.min_length or 0):
        return [], NOT_CONVERTED
    errors: list[FieldError] = []
    result: dict[Any, Any] = {}
    for name, value in elements.items():
        element_errors, result[name], _ = convert_value(element, value, f"{path}.{name}")
        errors += element_errors
    return errors, NOT_CONVERTED if errors else result


def whole_number(value: Any) -> Any:
    """Returns a whole number or its text as an integer, and any other value unchanged."""
    text = None if isinstance(value, int) else number_text(value)
    return int(text.partition(".")[0]) if text is not None and WHOLE_NUMBER.fullmatch(text) else value


# --- reasons --------------------------------------------------------------------------------------------------------

EXPECTED = {
    inspect.StrType: "text",
    inspect.IntType: "a whole number",
    inspect.BoolType: "true or false",
    inspect.ListType: "an array",
    inspect.StructType: "an object",
    inspect.DictType: "an object",
}
# The same in the words of `describe_kind`.
EXPECTED_KINDS = {**EXPECTED, inspect.IntType: "a number", inspect.LiteralType: "text"}


def custom_type_errors(option: inspect.Type, value: Any, path: str) -> list[FieldError]:
    """Returns the errors of a value of a custom field type."""
    if not isinstance(option, inspect.CustomType):
        return []
    kind = option.cls
    if is_number(value) and is_text_type(kind):
        return [FieldError(path, f"text, not a number: {parse_error(kind, value)}", FIELD_WRONG_TYPE)]
    if issubclass(kind, CustomFieldType):
        return kind.find_errors(value, path)
    error = parse_error(kind, value)
    return [] if error is None else [FieldError(path, str(error), get_fault_code(error))]


def parse_error(kind: type, value: Any) -> ValueError | None:
    try:
        read_scalar(kind, value)
    except ValueError as error:
        return error
    return None


@cache
def is_text_type(kind: type) -> bool:
    return scalar_schema(kind).get("type") == "string"


def is_number(value: Any) -> bool:
    return isinstance(value, NumberLiteral) or (isinstance(value, int) and not isinstance(value, bool))


def explain_value(spec: FieldSpec, value: Any, fallback: str, path: str) -> FieldError:
    """Returns the error of a value that the field does not take."""
    reason = describe_expected(spec.accepted_types, value, fallback)
    literals = [one for one in map(strip_metadata, spec.accepted_types) if isinstance(one, inspect.LiteralType)]
    if literals and isinstance(value, str):
        choices = [str(choice) for literal in literals for choice in literal.values]
        return FieldError(path, f"{reason}{suggest(value, choices)}", FIELD_NOT_A_CHOICE)
    kinds = {EXPECTED_KINDS.get(type(one), "") for one in map(strip_metadata, spec.accepted_types)}
    is_of_kind = "" in kinds or describe_kind(value) in kinds
    return FieldError(path, reason, FIELD_INVALID if is_of_kind else FIELD_WRONG_TYPE)


def describe_expected(options: Iterable[inspect.Type], value: Any, fallback: str) -> str:
    """Returns the error text of a field: its own description if it has one, else the JSON kind expected."""
    options = tuple(options)
    inner = tuple(map(strip_metadata, options))
    wanted = next((EXPECTED[type(one)] for one in inner if type(one) in EXPECTED), "")
    for option in options:
        if isinstance(option, inspect.Metadata) and "description" in (option.extra_json_schema or {}):
            reason = str((option.extra_json_schema or {})["description"])
            return reason if len(options) > 1 else with_kind(wanted, value, reason)
        if isinstance(option, inspect.LiteralType):
            return "one of " + ", ".join(str(one) for one in option.values)
        if type(option) in EXPECTED:
            return wanted
    return fallback.split(" - at ")[0]


def with_kind(wanted: str, value: Any, reason: str) -> str:
    """Returns an error text that also names the JSON kind expected if another kind was sent."""
    kind = describe_kind(value)
    if wanted == "text" and kind != "text":
        return f"text, not {kind}: {reason}"
    if wanted == "a whole number" and kind != "a number" and not reason.startswith(wanted):
        return f"{wanted}, {reason}"
    return reason


def describe_kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if is_number(value) or value is UNREADABLE:
        return "a number"
    if isinstance(value, str):
        return "text"
    if value is None:
        return "null"
    return "an array" if isinstance(value, list) else "an object"


def nearest_name(kind: type[msgspec.Struct], wanted: str, fields: Mapping[str, Any]) -> str:
    """Returns a hint at the unknown field that is most similar to a missing one, or an empty text.

    Contract: #errors
    """
    known = {spec.wire_name for spec in field_specs(kind)}
    nearest = find_nearest(wanted, [name for name in islice(fields, MAX_NAMES) if name not in known])
    return f" (did you mean it by {nearest}?)" if nearest is not None else ""
