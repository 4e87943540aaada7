"""What is wrong with a body, field by field, so that one reply names every fault. (Contract: #requests, #errors)

Only a body that the typed decoder refused is read here. The work is bounded: lengths of arrays are checked before
their elements, and what is known of a type is worked out once.
"""

import difflib
import re
import typing
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import islice
from typing import Any

import msgspec
from msgspec import inspect

from kasuwa.core.body import UNREADABLE, NumberLiteral
from kasuwa.core.decision import FieldError
from kasuwa.core.fields import CustomFieldType, number_text, read_scalar, scalar_schema

# Elements of an array or a map that has no bound of its own.
MOST_ELEMENTS = 1_000
# Names a body may have sent for a field that is missing: so many are compared, each up to so many characters.
MOST_NAMES = 50
LONGEST_NAME = 40
NEAR = 0.75
# One letter of three may differ: public clients send cvv for ccv.
SHORT_NAME = 3
NEAR_SHORT = 0.66

# Numbers that are whole are whole numbers, however they are written. Contract: #requests
WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}(\.0{1,6})?", re.ASCII)

# Stands for a value that could not be read.
NOT_CONVERTED = object()


class FieldSpec(msgspec.Struct, frozen=True):
    """What is known of one field of a struct."""

    name: str
    wire_name: str
    required: bool
    default: Any
    # The types that the field takes, None left out.
    accepted_types: tuple[inspect.Type, ...]
    # A struct of this field alone: msgspec prepares the conversion to a struct once, that to a plain type every time.
    wrapper_struct: type[msgspec.Struct]
    takes_object: bool
    takes_array: bool
    takes_whole: bool
    # Of an array or a map, what its elements are.
    element: "FieldSpec | None"


@cache
def field_specs(kind: type[msgspec.Struct]) -> tuple[FieldSpec, ...]:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    hints = typing.get_type_hints(kind, include_extras=True)
    return tuple(plan_field(field, hints[field.name]) for field in info.fields)


def plan_field(field: inspect.Field, hint: Any) -> FieldSpec:
    options = options_of(field.type)
    inner = tuple(map(strip_metadata, options))
    default = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
    return FieldSpec(
        name=field.name,
        wire_name=field.encode_name,
        required=field.required,
        default=None if default is msgspec.NODEFAULT else default,
        accepted_types=options,
        wrapper_struct=msgspec.defstruct("Holder", [("value", hint)]),
        takes_object=any(map(is_object, inner)),
        takes_array=any(isinstance(one, inspect.ListType) for one in inner),
        takes_whole=any(isinstance(one, inspect.IntType) for one in inner)
        and not any(isinstance(one, inspect.StrType) for one in inner),
        element=plan_element(inner, hint),
    )


def plan_element(options: Iterable[inspect.Type], hint: Any) -> FieldSpec | None:
    for option in options:
        if isinstance(option, inspect.ListType | inspect.DictType):
            kind = option.item_type if isinstance(option, inspect.ListType) else option.value_type
            field = inspect.Field(name="value", encode_name="value", type=kind)
            return plan_field(field, element_hint(hint))
    return None


def element_hint(hint: Any) -> Any:
    """The last argument of the array or map inside of a hint: `Annotated[list[X], …] | None` has X."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (list, dict):
        return inside[-1]
    choices = inside[:1] if origin is typing.Annotated else inside
    return next((found for found in map(element_hint, choices) if found is not None), None)


def options_of(info: inspect.Type) -> tuple[inspect.Type, ...]:
    options = info.types if isinstance(info, inspect.UnionType) else (info,)
    return tuple(option for option in options if not isinstance(option, inspect.NoneType))


def strip_metadata(info: inspect.Type) -> inspect.Type:
    return info.type if isinstance(info, inspect.Metadata) else info


def is_object(info: inspect.Type) -> bool:
    if isinstance(info, inspect.CustomType):
        return issubclass(info.cls, CustomFieldType) and info.cls.schema().get("type") == "object"
    return isinstance(info, inspect.StructType | inspect.DictType)


def is_absent(plan: FieldSpec, value: Any) -> bool:
    """Whether a value stands for a field that was not sent: null, or in an optional field an empty text, or an empty
    array where an object is expected. Contract: #requests"""
    if value is None:
        return True
    if plan.required:
        return False
    if isinstance(value, list):
        return not value and plan.takes_object and not plan.takes_array
    return isinstance(value, str) and not value


# --- an object, field by field --------------------------------------------------------------------------------------


def convert_fields(kind: type[msgspec.Struct], fields: Any, path: str) -> tuple[list[FieldError], dict[str, Any]]:
    """The faults of an object and the values that could be read, by name; of an inner object that is wrong in part,
    what could be read of it, by its path."""
    if not isinstance(fields, Mapping):
        return [FieldError(path.rstrip("."), "an object")], {}
    faults: list[FieldError] = []
    values: dict[str, Any] = {}
    for plan in field_specs(kind):
        value, where = fields.get(plan.wire_name), path + plan.wire_name
        if is_absent(plan, value):
            if plan.required:
                faults.append(FieldError(where, f"required{nearest_name(kind, plan.wire_name, fields)}"))
            else:
                values[plan.name] = plan.default
            continue
        found, read, parts = convert_value(plan, value, where)
        faults += found
        if read is NOT_CONVERTED:
            values |= {f"{plan.name}.{name}": part for name, part in parts.items()}
        else:
            values[plan.name] = read
    return faults, values


def convert_value(plan: FieldSpec, value: Any, where: str) -> tuple[list[FieldError], Any, dict[str, Any]]:
    """The faults of a field's value, the value as its type has it or UNREAD, and the parts of it that could be read."""
    if isinstance(value, msgspec.Raw):
        return [], value, {}
    if isinstance(value, dict | list):
        faults, read, parts = convert_container(plan, value, where)
        if faults or read is not NOT_CONVERTED:
            return faults, read, parts
        if plan.takes_object or plan.takes_array:
            return (
                [FieldError(where, describe_expected(plan.accepted_types, value, "an object or an array"))],
                NOT_CONVERTED,
                {},
            )
    given = whole_number(value) if plan.takes_whole else value
    try:
        return [], msgspec.convert({"value": given}, plan.wrapper_struct, dec_hook=read_scalar).value, {}  # type: ignore[attr-defined]
    except msgspec.ValidationError as error:
        faults = [
            fault
            for option in plan.accepted_types
            for fault in custom_type_errors(strip_metadata(option), value, where)
        ]
        return (
            faults or [FieldError(where, describe_expected(plan.accepted_types, value, str(error)))],
            NOT_CONVERTED,
            {},
        )


def convert_container(plan: FieldSpec, value: Any, where: str) -> tuple[list[FieldError], Any, dict[str, Any]]:
    """As convert_value, for what an object, an array or a map holds. Without a fault and UNREAD, the value itself is
    of the wrong kind or length."""
    for option in map(strip_metadata, plan.accepted_types):
        if isinstance(option, inspect.StructType) and isinstance(value, dict):
            faults, values = convert_fields(option.cls, value, where + ".")
            return (faults, NOT_CONVERTED, values) if faults else ([], option.cls(**values), values)
        if isinstance(option, inspect.ListType) and isinstance(value, list) and plan.element is not None:
            faults, read = convert_elements(option, plan.element, dict(enumerate(value)), where)
            return faults, read if read is NOT_CONVERTED else list(read.values()), {}
        if isinstance(option, inspect.DictType) and isinstance(value, dict) and plan.element is not None:
            return *convert_elements(option, plan.element, value, where), {}
        if (
            isinstance(option, inspect.CustomType)
            and issubclass(option.cls, CustomFieldType)
            and isinstance(value, dict)
        ):
            faults = option.cls.find_errors(value, where)
            return faults, NOT_CONVERTED if faults else option.cls.read(value), option.cls.read_parts(value)
    return [], NOT_CONVERTED, {}


def convert_elements(
    whole: inspect.ListType | inspect.DictType, element: FieldSpec, elements: Mapping[Any, Any], where: str
) -> tuple[list[FieldError], Any]:
    """The faults of every element of an array or a map, and the elements as they were read; UNREAD where there are
    faults, or too many or too few elements to look at them."""
    if len(elements) > (whole.max_length or MOST_ELEMENTS) or len(elements) < (whole.min_length or 0):
        return [], NOT_CONVERTED
    faults: list[FieldError] = []
    read: dict[Any, Any] = {}
    for name, value in elements.items():
        found, read[name], _ = convert_value(element, value, f"{where}.{name}")
        faults += found
    return faults, NOT_CONVERTED if faults else read


def whole_number(value: Any) -> Any:
    """A number, or a text, that is whole, as an integer; else the value as it is."""
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


def custom_type_errors(option: inspect.Type, value: Any, where: str) -> list[FieldError]:
    """The faults of a value of one of our own types."""
    if not isinstance(option, inspect.CustomType):
        return []
    kind = option.cls
    if is_number(value) and is_text_type(kind):
        return [FieldError(where, f"text, not a number: {parse_error(kind, value)}")]
    if issubclass(kind, CustomFieldType):
        return kind.find_errors(value, where)
    reason = parse_error(kind, value)
    return [] if reason is None else [FieldError(where, reason)]


def parse_error(kind: type, value: Any) -> str | None:
    try:
        read_scalar(kind, value)
    except ValueError as error:
        return str(error)
    return None


@cache
def is_text_type(kind: type) -> bool:
    return scalar_schema(kind).get("type") == "string"


def is_number(value: Any) -> bool:
    return isinstance(value, NumberLiteral) or (isinstance(value, int) and not isinstance(value, bool))


def describe_expected(options: Iterable[inspect.Type], value: Any, fallback: str) -> str:
    """A reason for a person: the field's own description where it has one, else what kind was expected."""
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
    """A reason that also says which kind of value is wanted, where another kind was sent."""
    sent = kind_of(value)
    if wanted == "text" and sent != "text":
        return f"text, not {sent}: {reason}"
    if wanted == "a whole number" and sent != "a number" and not reason.startswith(wanted):
        return f"{wanted}, {reason}"
    return reason


def kind_of(value: Any) -> str:
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
    """A question after the name that may have been meant, among those sent that mean nothing. Contract: #errors"""
    known = {plan.wire_name for plan in field_specs(kind)}
    unknown = {name.lower(): name for name in islice(fields, MOST_NAMES) if name not in known}
    short = [name for name in unknown if len(name) <= LONGEST_NAME]
    cutoff = NEAR if len(wanted) > SHORT_NAME else NEAR_SHORT
    near = difflib.get_close_matches(wanted.lower(), short, n=1, cutoff=cutoff)
    return f" (did you mean it by {unknown[near[0]]}?)" if near else ""
