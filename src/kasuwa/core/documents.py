"""JSON objects that are kept whole: what a merchant tells of a person and only the merchant understands.

They stay text. Of some, a few fields mean something to us: those are checked (`shape`), and all others are kept
as they came. Numbers keep the literal they were sent with.
"""

import math
from typing import Any, ClassVar

import msgspec

from kasuwa.core.decision import Fault
from kasuwa.core.fields import UNTYPED, NumberText, OwnType, children, convert_fields, scalar_schema

NUMBERS_REASON = "numbers of at most 64 bits"
MOST_WHOLE = 2**64


class Document(str, OwnType):
    """A JSON object as text."""

    __slots__ = ()

    shape: ClassVar[type[msgspec.Struct] | None] = None

    @classmethod
    def read(cls, said: Any) -> "Document":
        wrong = cls.faults(said, "")
        if wrong:
            raise ValueError(wrong[0].reason)
        # A null optional field is an absent one. Spec silent: D2
        known = () if cls.shape is None else cls.shape.__struct_encode_fields__
        return cls(write_document({name: v for name, v in said.items() if v is not None or name not in known}))

    @classmethod
    def faults(cls, said: Any, where: str) -> list[Fault]:
        if not isinstance(said, dict):
            return [Fault(where, "an object")]
        if not all(is_plain_number(value) for value in every_value(said)):
            return [Fault(where, NUMBERS_REASON)]
        return [] if cls.shape is None else convert_fields(cls.shape, said, f"{where}.")[0]

    @classmethod
    def parts(cls, said: Any) -> dict[str, Any]:
        return {} if cls.shape is None or not isinstance(said, dict) else convert_fields(cls.shape, said, "")[1]

    def part(self, name: str) -> Any:
        return self.parts(read_document(self))[name]

    @classmethod
    def schema(cls) -> dict[str, Any]:
        if cls.shape is None:
            return {"type": "object"}
        _, components = msgspec.json.schema_components([cls.shape], schema_hook=scalar_schema)
        return dict(components[cls.shape.__name__])


def every_value(said: Any) -> list[Any]:
    """All that is inside, at any depth."""
    found, level = [], [said]
    while level:
        inside = [value for item in level for value in (item.values() if isinstance(item, dict) else item)]
        level = [below for item in level for below in children(item)]
        found += inside
    return found


def is_plain_number(value: Any) -> bool:
    """Whether a value can be written as JSON that others can read; what is no number is."""
    if isinstance(value, NumberText):
        return math.isfinite(float(value.text))
    return not isinstance(value, int) or -MOST_WHOLE // 2 <= value < MOST_WHOLE


def literal(value: Any) -> Any:
    """A number as it was sent."""
    if not isinstance(value, NumberText):
        raise NotImplementedError(type(value).__name__)
    return msgspec.Raw(value.text.encode())


def write_document(said: Any) -> str:
    return msgspec.json.encode(said, enc_hook=literal).decode()


def read_document(text: str) -> Any:
    return UNTYPED.decode(text.encode())


def merge(kept: Any, said: Any) -> Any:
    """What is kept with what is said now laid over it: objects are merged, all else is replaced."""
    if not isinstance(kept, dict) or not isinstance(said, dict):
        return said
    return {**kept, **{name: merge(kept.get(name), value) for name, value in said.items()}}
