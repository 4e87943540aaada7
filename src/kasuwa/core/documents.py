"""JSON objects that are kept whole: what a merchant tells of a person and only the merchant understands.

They stay text. Of some, a few fields mean something to us: those are checked (`shape`), and all others are kept
as they came. Numbers keep the literal they were sent with.
"""

import math
import re
from typing import Any, ClassVar

import msgspec

from kasuwa.core.body import UNTYPED, NumberLiteral
from kasuwa.core.decision import FieldError
from kasuwa.core.field_errors import convert_fields, field_specs, is_absent
from kasuwa.core.fields import CustomFieldType, scalar_schema
from kasuwa.core.masking import mask_card_numbers

NUMBERS_REASON = "numbers of at most 64 bits"
MOST_WHOLE = 2**64
# What an integer of more than 64 bits has at least.
MANY_DIGITS = re.compile(rb"[0-9]{19}")


class Document(str, CustomFieldType):
    """A JSON object as text, of at most `most_bytes`."""

    __slots__ = ()

    known_struct: ClassVar[type[msgspec.Struct] | None] = None
    # A page of a list shows up to 200 of them, and every merchant's requests wait while one is read.
    # Contract: clients#create
    most_bytes: ClassVar[int] = 64 * 1024

    @classmethod
    def read(cls, said: Any) -> "Document":
        wrong = cls.find_errors(said, "")
        if wrong:
            raise ValueError(wrong[0].reason)
        plans = () if cls.known_struct is None else field_specs(cls.known_struct)
        absent = {plan.wire_name for plan in plans if is_absent(plan, said.get(plan.wire_name))}
        return cls(write_document(masked({name: value for name, value in said.items() if name not in absent})))

    @classmethod
    def find_errors(cls, said: Any, where: str) -> list[FieldError]:
        if not isinstance(said, dict):
            return [FieldError(where, "an object")]
        if least_bytes(said, cls.most_bytes) > cls.most_bytes:
            return [cls.too_large(where)]
        try:
            text = msgspec.json.encode(said, enc_hook=encode_number_literal)
        except (OverflowError, ValueError, NotImplementedError):
            return [FieldError(where, NUMBERS_REASON)]
        if len(text) > cls.most_bytes:
            return [cls.too_large(where)]
        if MANY_DIGITS.search(text) and not numbers_fit(said):
            return [FieldError(where, NUMBERS_REASON)]
        return [] if cls.known_struct is None else convert_fields(cls.known_struct, said, f"{where}.")[0]

    @classmethod
    def too_large(cls, where: str) -> FieldError:
        return FieldError(where, f"an object of at most {cls.most_bytes // 1024} KiB")

    @classmethod
    def read_parts(cls, said: Any) -> dict[str, Any]:
        return (
            {}
            if cls.known_struct is None or not isinstance(said, dict)
            else convert_fields(cls.known_struct, said, "")[1]
        )

    def get_field(self, name: str) -> Any:
        return self.read_parts(read_document(self))[name]

    @classmethod
    def schema(cls) -> dict[str, Any]:
        if cls.known_struct is None:
            return {"type": "object"}
        _, components = msgspec.json.schema_components([cls.known_struct], schema_hook=scalar_schema)
        return dict(components[cls.known_struct.__name__])


def least_bytes(document: Any, most: int) -> int:
    """What an object takes as text at least, two bytes for each element; counted no further than `most`."""
    found, level = 0, [document]
    while level and found <= most:
        found += 2 * sum(map(len, level))
        inside = (value for item in level for value in (item.values() if isinstance(item, dict) else item))
        level = [value for value in inside if isinstance(value, dict | list)] if found <= most else []
    return found


def masked(node: Any) -> Any:
    """The same with card numbers masked, in texts and where a whole number is one."""
    if isinstance(node, str):
        return mask_card_numbers(node)
    if isinstance(node, dict):
        return {mask_card_numbers(name): masked(value) for name, value in node.items()}
    if isinstance(node, list):
        return [masked(value) for value in node]
    if isinstance(node, int) and not isinstance(node, bool) and abs(node) < MOST_WHOLE:
        text = mask_card_numbers(str(node))
        return node if text == str(node) else text
    return node


def numbers_fit(value: Any) -> bool:
    """Whether every integer, at any depth, is one that others can read again."""
    if isinstance(value, dict | list):
        return all(map(numbers_fit, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, int) or -MOST_WHOLE // 2 <= value < MOST_WHOLE


def encode_number_literal(value: Any) -> Any:
    """A number as it was sent. Raises ValueError for one that others could not read."""
    if not isinstance(value, NumberLiteral):
        raise NotImplementedError(type(value).__name__)
    if not math.isfinite(float(value.text)):
        raise ValueError(NUMBERS_REASON)
    return msgspec.Raw(value.text.encode())


def write_document(value: Any) -> str:
    return msgspec.json.encode(value, enc_hook=encode_number_literal).decode()


def read_document(text: str) -> Any:
    return UNTYPED.decode(text.encode())


def same_document(one: str, other: str) -> bool:
    """Whether two documents say the same, in whatever order their fields come. Numbers are compared as they were
    written."""
    return one == other or sorted_text(one) == sorted_text(other)


def sorted_text(text: str) -> bytes:
    return msgspec.json.encode(read_document(text), enc_hook=encode_number_literal, order="sorted")


def merge(kept: Any, update: Any) -> Any:
    """What is kept with what is said now laid over it: objects are merged, all else is replaced."""
    if not isinstance(kept, dict) or not isinstance(update, dict):
        return update
    return {**kept, **{name: merge(kept.get(name), value) for name, value in update.items()}}
