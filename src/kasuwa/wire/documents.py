"""JSON documents: objects of the merchant's own making that are stored as text, such as metadata of a person.

Fields of `Document.known_struct` are validated. All others are stored as sent, and numbers keep their literals.
"""

import math
import re
from typing import Any, ClassVar

import msgspec

from kasuwa.core.decision import FieldError
from kasuwa.wire.body import UNTYPED, NumberLiteral
from kasuwa.wire.field_errors import convert_fields, field_specs, is_absent
from kasuwa.wire.fields import CustomFieldType, scalar_schema
from kasuwa.wire.masking import mask_card_numbers

NUMBERS_REASON = "numbers of at most 64 bits"
INTEGER_LIMIT = 2**64
# Every integer of more than 64 bits matches.
MANY_DIGITS = re.compile(rb"[0-9]{19}")


class Document(str, CustomFieldType):
    """A JSON object as text, of at most `most_bytes` bytes."""

    __slots__ = ()

    # Struct of the fields that are validated. None validates no field.
    known_struct: ClassVar[type[msgspec.Struct] | None] = None
    # Bounded because a page of a list contains up to 200 documents, and parsing one blocks all other requests.
    # Contract: clients#create
    most_bytes: ClassVar[int] = 64 * 1024

    @classmethod
    def read(cls, raw: Any) -> "Document":
        wrong = cls.find_errors(raw, "")
        if wrong:
            raise ValueError(wrong[0].reason)
        specs = () if cls.known_struct is None else field_specs(cls.known_struct)
        absent = {spec.wire_name for spec in specs if is_absent(spec, raw.get(spec.wire_name))}
        return cls(write_document(masked({name: value for name, value in raw.items() if name not in absent})))

    @classmethod
    def find_errors(cls, raw: Any, path: str) -> list[FieldError]:
        if not isinstance(raw, dict):
            return [FieldError(path, "an object")]
        if least_bytes(raw, cls.most_bytes) > cls.most_bytes:
            return [cls.too_large(path)]
        try:
            text = msgspec.json.encode(raw, enc_hook=encode_number_literal)
        except (OverflowError, ValueError, NotImplementedError):
            return [FieldError(path, NUMBERS_REASON)]
        if len(text) > cls.most_bytes:
            return [cls.too_large(path)]
        if MANY_DIGITS.search(text) and not numbers_fit(raw):
            return [FieldError(path, NUMBERS_REASON)]
        return [] if cls.known_struct is None else convert_fields(cls.known_struct, raw, f"{path}.")[0]

    @classmethod
    def too_large(cls, path: str) -> FieldError:
        return FieldError(path, f"an object of at most {cls.most_bytes // 1024} KiB")

    @classmethod
    def read_parts(cls, raw: Any) -> dict[str, Any]:
        return (
            {}
            if cls.known_struct is None or not isinstance(raw, dict)
            else convert_fields(cls.known_struct, raw, "")[1]
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
    """Returns a lower bound of an object's size as text: two bytes for each element. Stops counting above `most`."""
    size, level = 0, [document]
    while level and size <= most:
        size += 2 * sum(map(len, level))
        inside = (value for item in level for value in (item.values() if isinstance(item, dict) else item))
        level = [value for value in inside if isinstance(value, dict | list)] if size <= most else []
    return size


def masked(node: Any) -> Any:
    """Returns a copy with card numbers masked, in texts, field names and integers."""
    if isinstance(node, str):
        return mask_card_numbers(node)
    if isinstance(node, dict):
        return {mask_card_numbers(name): masked(value) for name, value in node.items()}
    if isinstance(node, list):
        return [masked(value) for value in node]
    if isinstance(node, int) and not isinstance(node, bool) and abs(node) < INTEGER_LIMIT:
        text = mask_card_numbers(str(node))
        return node if text == str(node) else text
    return node


def numbers_fit(value: Any) -> bool:
    """Returns whether every integer, at any depth, fits 64 bits, signed or unsigned."""
    if isinstance(value, dict | list):
        return all(map(numbers_fit, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, int) or -INTEGER_LIMIT // 2 <= value < INTEGER_LIMIT


def encode_number_literal(value: Any) -> Any:
    """Encoder hook: writes a NumberLiteral as it was sent. Raises ValueError for a number that overflows a float."""
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
    """Returns whether two documents are equal apart from the order of fields. Numbers are compared as literals."""
    return one == other or sorted_text(one) == sorted_text(other)


def sorted_text(text: str) -> bytes:
    return msgspec.json.encode(read_document(text), enc_hook=encode_number_literal, order="sorted")


def merge(stored: Any, update: Any) -> Any:
    """Returns the stored value updated by a new one: objects are merged recursively, all else is replaced."""
    if not isinstance(stored, dict) or not isinstance(update, dict):
        return update
    return {**stored, **{name: merge(stored.get(name), value) for name, value in update.items()}}
