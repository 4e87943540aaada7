"""What is wrong with a body, field by field, so that one reply names every fault. (D2, D4)

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

from kasuwa.core.body import UNREADABLE, NumberText
from kasuwa.core.decision import Fault
from kasuwa.core.fields import OwnType, number_text, read_scalar, scalar_schema

# Elements of an array or a map that has no bound of its own.
MOST_ELEMENTS = 1_000
# Names a body may have sent for a field that is missing: so many are compared, each up to so many characters.
MOST_NAMES = 50
LONGEST_NAME = 40
NEAR = 0.75
# One letter of three may differ: public clients send cvv for ccv.
SHORT_NAME = 3
NEAR_SHORT = 0.66

# Numbers that are whole are whole numbers, however they are written. Spec silent: D2
WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}(\.0{1,6})?", re.ASCII)

# Stands for a value that could not be read.
UNREAD = object()


class FieldPlan(msgspec.Struct, frozen=True):
    """What is known of one field of a struct."""

    name: str
    wire_name: str
    required: bool
    default: Any
    # The types that the field takes, None left out.
    options: tuple[inspect.Type, ...]
    # A struct of this field alone: msgspec prepares the conversion to a struct once, that to a plain type every time.
    holder: type[msgspec.Struct]
    takes_object: bool
    takes_array: bool
    takes_whole: bool
    # Of an array or a map, what its elements are.
    element: "FieldPlan | None"


@cache
def plans_of(kind: type[msgspec.Struct]) -> tuple[FieldPlan, ...]:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    hints = typing.get_type_hints(kind, include_extras=True)
    return tuple(plan_field(field, hints[field.name]) for field in info.fields)


def plan_field(field: inspect.Field, hint: Any) -> FieldPlan:
    options = options_of(field.type)
    inner = tuple(map(without_notes, options))
    default = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
    return FieldPlan(
        name=field.name,
        wire_name=field.encode_name,
        required=field.required,
        default=None if default is msgspec.NODEFAULT else default,
        options=options,
        holder=msgspec.defstruct("Holder", [("value", hint)]),
        takes_object=any(map(is_object, inner)),
        takes_array=any(isinstance(one, inspect.ListType) for one in inner),
        takes_whole=any(isinstance(one, inspect.IntType) for one in inner)
        and not any(isinstance(one, inspect.StrType) for one in inner),
        element=plan_element(inner, hint),
    )


def plan_element(options: Iterable[inspect.Type], hint: Any) -> FieldPlan | None:
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


def without_notes(info: inspect.Type) -> inspect.Type:
    return info.type if isinstance(info, inspect.Metadata) else info


def is_object(info: inspect.Type) -> bool:
    if isinstance(info, inspect.CustomType):
        return issubclass(info.cls, OwnType) and info.cls.schema().get("type") == "object"
    return isinstance(info, inspect.StructType | inspect.DictType)


def is_absent(plan: FieldPlan, value: Any) -> bool:
    """Whether a value stands for a field that was not sent: null, or in an optional field an empty text, or an empty
    array where an object is expected. Spec silent: D2"""
    if value is None:
        return True
    if plan.required:
        return False
    if isinstance(value, list):
        return not value and plan.takes_object and not plan.takes_array
    return isinstance(value, str) and not value


# --- an object, field by field --------------------------------------------------------------------------------------


def convert_fields(kind: type[msgspec.Struct], said: Any, path: str) -> tuple[list[Fault], dict[str, Any]]:
    """The faults of an object and the values that could be read, by name; of an inner object that is wrong in part,
    what could be read of it, by its path."""
    if not isinstance(said, Mapping):
        return [Fault(path.rstrip("."), "an object")], {}
    faults: list[Fault] = []
    values: dict[str, Any] = {}
    for plan in plans_of(kind):
        value, where = said.get(plan.wire_name), path + plan.wire_name
        if is_absent(plan, value):
            if plan.required:
                faults.append(Fault(where, f"required{nearest_name(kind, plan.wire_name, said)}"))
            else:
                values[plan.name] = plan.default
            continue
        found, read, parts = convert_value(plan, value, where)
        faults += found
        if read is UNREAD:
            values |= {f"{plan.name}.{name}": part for name, part in parts.items()}
        else:
            values[plan.name] = read
    return faults, values


def convert_value(plan: FieldPlan, value: Any, where: str) -> tuple[list[Fault], Any, dict[str, Any]]:
    """The faults of a field's value, the value as its type has it or UNREAD, and the parts of it that could be read."""
    if isinstance(value, msgspec.Raw):
        return [], value, {}
    if isinstance(value, dict | list):
        faults, read, parts = look_inside(plan, value, where)
        if faults or read is not UNREAD:
            return faults, read, parts
        if plan.takes_object or plan.takes_array:
            return [Fault(where, reason_of(plan.options, value, "an object or an array"))], UNREAD, {}
    given = whole_number(value) if plan.takes_whole else value
    try:
        return [], msgspec.convert({"value": given}, plan.holder, dec_hook=read_scalar).value, {}  # type: ignore[attr-defined]
    except msgspec.ValidationError as error:
        faults = [fault for option in plan.options for fault in custom_faults(without_notes(option), value, where)]
        return faults or [Fault(where, reason_of(plan.options, value, str(error)))], UNREAD, {}


def look_inside(plan: FieldPlan, value: Any, where: str) -> tuple[list[Fault], Any, dict[str, Any]]:
    """As convert_value, for what an object, an array or a map holds. Without a fault and UNREAD, the value itself is
    of the wrong kind or length."""
    for option in map(without_notes, plan.options):
        if isinstance(option, inspect.StructType) and isinstance(value, dict):
            faults, values = convert_fields(option.cls, value, where + ".")
            return (faults, UNREAD, values) if faults else ([], option.cls(**values), values)
        if isinstance(option, inspect.ListType) and isinstance(value, list) and plan.element is not None:
            faults, read = look_at_each(option, plan.element, dict(enumerate(value)), where)
            return faults, read if read is UNREAD else list(read.values()), {}
        if isinstance(option, inspect.DictType) and isinstance(value, dict) and plan.element is not None:
            return *look_at_each(option, plan.element, value, where), {}
        if isinstance(option, inspect.CustomType) and issubclass(option.cls, OwnType) and isinstance(value, dict):
            faults = option.cls.faults(value, where)
            return faults, UNREAD if faults else option.cls.read(value), option.cls.parts(value)
    return [], UNREAD, {}


def look_at_each(
    whole: inspect.ListType | inspect.DictType, element: FieldPlan, said: Mapping[Any, Any], where: str
) -> tuple[list[Fault], Any]:
    """The faults of every element of an array or a map, and the elements as they were read; UNREAD where there are
    faults, or too many or too few elements to look at them."""
    if len(said) > (whole.max_length or MOST_ELEMENTS) or len(said) < (whole.min_length or 0):
        return [], UNREAD
    faults: list[Fault] = []
    read: dict[Any, Any] = {}
    for name, value in said.items():
        found, read[name], _ = convert_value(element, value, f"{where}.{name}")
        faults += found
    return faults, UNREAD if faults else read


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


def custom_faults(option: inspect.Type, value: Any, where: str) -> list[Fault]:
    """The faults of a value of one of our own types."""
    if not isinstance(option, inspect.CustomType):
        return []
    kind = option.cls
    if is_number(value) and is_text_type(kind):
        return [Fault(where, f"text, not a number: {reason_against(kind, value)}")]
    if issubclass(kind, OwnType):
        return kind.faults(value, where)
    reason = reason_against(kind, value)
    return [] if reason is None else [Fault(where, reason)]


def reason_against(kind: type, value: Any) -> str | None:
    try:
        read_scalar(kind, value)
    except ValueError as error:
        return str(error)
    return None


@cache
def is_text_type(kind: type) -> bool:
    return scalar_schema(kind).get("type") == "string"


def is_number(value: Any) -> bool:
    return isinstance(value, NumberText) or (isinstance(value, int) and not isinstance(value, bool))


def reason_of(options: Iterable[inspect.Type], value: Any, said: str) -> str:
    """A reason for a person: the field's own description where it has one, else what kind was expected."""
    options = tuple(options)
    inner = tuple(map(without_notes, options))
    wanted = next((EXPECTED[type(one)] for one in inner if type(one) in EXPECTED), "")
    for option in options:
        if isinstance(option, inspect.Metadata) and "description" in (option.extra_json_schema or {}):
            reason = str((option.extra_json_schema or {})["description"])
            return reason if len(options) > 1 else with_kind(wanted, value, reason)
        if isinstance(option, inspect.LiteralType):
            return "one of " + ", ".join(str(one) for one in option.values)
        if type(option) in EXPECTED:
            return wanted
    return said.split(" - at ")[0]


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


def nearest_name(kind: type[msgspec.Struct], wanted: str, said: Mapping[str, Any]) -> str:
    """A question after the name that may have been meant, among those sent that mean nothing. Spec silent: D4"""
    known = {plan.wire_name for plan in plans_of(kind)}
    unknown = {name.lower(): name for name in islice(said, MOST_NAMES) if name not in known}
    short = [name for name in unknown if len(name) <= LONGEST_NAME]
    cutoff = NEAR if len(wanted) > SHORT_NAME else NEAR_SHORT
    near = difflib.get_close_matches(wanted.lower(), short, n=1, cutoff=cutoff)
    return f" (did you mean it by {unknown[near[0]]}?)" if near else ""
