"""JSON objects that are kept whole: what a merchant tells of a person and only the merchant understands.

They stay text. Of some, a few fields mean something to us: those are checked (`shape`), and all others are kept
as they came. Numbers keep the literal they were sent with.
"""

import math
import re
from typing import Any, ClassVar

import msgspec

from kasuwa.core.body import UNTYPED, NumberText
from kasuwa.core.decision import Fault
from kasuwa.core.explain import convert_fields, is_absent, plans_of
from kasuwa.core.fields import OwnType, scalar_schema
from kasuwa.core.masking import mask_card_numbers

NUMBERS_REASON = "numbers of at most 64 bits"
MOST_WHOLE = 2**64
# What an integer of more than 64 bits has at least.
MANY_DIGITS = re.compile(rb"[0-9]{19}")


class Document(str, OwnType):
    """A JSON object as text, of at most `most_bytes`."""

    __slots__ = ()

    shape: ClassVar[type[msgspec.Struct] | None] = None
    # A page of a list shows up to 200 of them, and every merchant's requests wait while one is read. Spec silent: D31
    most_bytes: ClassVar[int] = 64 * 1024

    @classmethod
    def read(cls, said: Any) -> "Document":
        wrong = cls.faults(said, "")
        if wrong:
            raise ValueError(wrong[0].reason)
        plans = () if cls.shape is None else plans_of(cls.shape)
        absent = {plan.wire_name for plan in plans if is_absent(plan, said.get(plan.wire_name))}
        return cls(write_document(masked({name: value for name, value in said.items() if name not in absent})))

    @classmethod
    def faults(cls, said: Any, where: str) -> list[Fault]:
        if not isinstance(said, dict):
            return [Fault(where, "an object")]
        if least_bytes(said, cls.most_bytes) > cls.most_bytes:
            return [cls.too_large(where)]
        try:
            text = msgspec.json.encode(said, enc_hook=literal)
        except (OverflowError, ValueError, NotImplementedError):
            return [Fault(where, NUMBERS_REASON)]
        if len(text) > cls.most_bytes:
            return [cls.too_large(where)]
        if MANY_DIGITS.search(text) and not numbers_fit(said):
            return [Fault(where, NUMBERS_REASON)]
        return [] if cls.shape is None else convert_fields(cls.shape, said, f"{where}.")[0]

    @classmethod
    def too_large(cls, where: str) -> Fault:
        return Fault(where, f"an object of at most {cls.most_bytes // 1024} KiB")

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


def least_bytes(said: Any, most: int) -> int:
    """What an object takes as text at least, two bytes for each element; counted no further than `most`."""
    found, level = 0, [said]
    while level and found <= most:
        found += 2 * sum(map(len, level))
        inside = (value for item in level for value in (item.values() if isinstance(item, dict) else item))
        level = [value for value in inside if isinstance(value, dict | list)] if found <= most else []
    return found


def masked(said: Any) -> Any:
    """The same with card numbers masked, in texts and where a whole number is one."""
    if isinstance(said, str):
        return mask_card_numbers(said)
    if isinstance(said, dict):
        return {mask_card_numbers(name): masked(value) for name, value in said.items()}
    if isinstance(said, list):
        return [masked(value) for value in said]
    if isinstance(said, int) and not isinstance(said, bool) and abs(said) < MOST_WHOLE:
        text = mask_card_numbers(str(said))
        return said if text == str(said) else text
    return said


def numbers_fit(said: Any) -> bool:
    """Whether every integer, at any depth, is one that others can read again."""
    if isinstance(said, dict | list):
        return all(map(numbers_fit, said.values() if isinstance(said, dict) else said))
    return not isinstance(said, int) or -MOST_WHOLE // 2 <= said < MOST_WHOLE


def literal(value: Any) -> Any:
    """A number as it was sent. Raises ValueError for one that others could not read."""
    if not isinstance(value, NumberText):
        raise NotImplementedError(type(value).__name__)
    if not math.isfinite(float(value.text)):
        raise ValueError(NUMBERS_REASON)
    return msgspec.Raw(value.text.encode())


def write_document(said: Any) -> str:
    return msgspec.json.encode(said, enc_hook=literal).decode()


def read_document(text: str) -> Any:
    return UNTYPED.decode(text.encode())


def same_document(one: str, other: str) -> bool:
    """Whether two documents say the same, in whatever order their fields come. Numbers are compared as they were
    written."""
    return one == other or sorted_text(one) == sorted_text(other)


def sorted_text(text: str) -> bytes:
    return msgspec.json.encode(read_document(text), enc_hook=literal, order="sorted")


def merge(kept: Any, said: Any) -> Any:
    """What is kept with what is said now laid over it: objects are merged, all else is replaced."""
    if not isinstance(kept, dict) or not isinstance(said, dict):
        return said
    return {**kept, **{name: merge(kept.get(name), value) for name, value in said.items()}}
