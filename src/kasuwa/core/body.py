"""The JSON text of a request's body: whether it is JSON at all, how deep it nests, and its plain values.

Everything here takes time in proportion to the body's length, whatever the body holds: other merchants' requests wait
while one is read.
"""

import re
from typing import Any

import msgspec

MAX_DEPTH = 32
# Objects and arrays in one body: twenty for each order of the longest bulk. Contract: #requests
MOST_CONTAINERS = 20_000

# Of a body, only quotes and brackets matter to its depth; both kinds of brackets are made round.
TO_ROUND = bytes.maketrans(b"{[]}", b"(())")
NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b'{[]}"')

# An escaped U+0000: an odd number of backslashes before it, else it is the text of a backslash.
NUL_ESCAPE = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")

# A value that holds a number of thousands of digits is read part by part: so many parts at most.
MOST_PARTS = 5_000


class NumberLiteral:
    """The literal of a JSON number that is not a plain integer, as it was sent. Not a text: a field that asks for
    one does not take it."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class InvalidJson(Exception):
    """Not a JSON object of UTF-8 text, at most 32 levels deep and of bounded parts. Contract: #requests"""


UNTYPED: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder(float_hook=NumberLiteral)
ONE_ELEMENT = msgspec.json.Decoder(tuple[msgspec.Raw])
FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
RAW_PARTS = msgspec.json.Decoder(dict[str, msgspec.Raw] | list[msgspec.Raw])
# Stands for a value with a number beyond all bounds.
UNREADABLE = object()


def unwrap_single_object(body: bytes) -> bytes:
    """The body, or the element of a body that is an array of exactly one. Contract: #requests"""
    if body.startswith(b"{") or not body[:64].lstrip().startswith(b"["):
        return body
    try:
        (element,) = ONE_ELEMENT.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return body
    return bytes(element)


def check_json(body: bytes) -> None:
    """Raises NotJson for what the typed decoder would let through: bad UTF-8 in fields it skips, and deep nesting."""
    try:
        body.decode()
    except UnicodeDecodeError:
        raise InvalidJson("the body is not UTF-8") from None
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH:
        check_depth(body)


def check_depth(body: bytes) -> None:
    """Removes the innermost pairs of brackets, level by level: what remains after 32 times is too deep."""
    brackets = brackets_of(body)
    if brackets.count(b"(") * 2 != len(brackets):
        raise InvalidJson("the body is not JSON")
    if len(brackets) > 2 * MOST_CONTAINERS:
        raise InvalidJson(f"the body holds more than {MOST_CONTAINERS:,} objects and arrays")
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"()", b"")
    if brackets:
        raise InvalidJson(f"the body nests deeper than {MAX_DEPTH} levels")


def brackets_of(body: bytes) -> bytes:
    """The brackets outside of strings. Two quotes that meet are removed, which never changes whether a bracket stands
    inside of a string: it closes one and opens the next, or the other way round."""
    unescaped = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = unescaped.translate(TO_ROUND, NO_BRACKETS).replace(b'""', b"")
    return b"".join(marks.split(b'"')[::2])


def raw_fields(body: bytes) -> dict[str, msgspec.Raw] | None:
    """The fields of an object, each still as text; None where the body is none."""
    try:
        return FIELDS.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return None


def read_untyped(text: bytes) -> Any:
    """The plain values of a JSON text. A number that cannot be read becomes UNREADABLE: it must hide no other fault."""
    return read_parts(text, [MOST_PARTS])


def read_parts(text: bytes, left: list[int]) -> Any:
    """As read_untyped; `left` holds how many more parts may be looked at."""
    try:
        return UNTYPED.decode(text)
    except (msgspec.ValidationError, RecursionError):
        pass
    try:
        parts = RAW_PARTS.decode(text)
    except (msgspec.ValidationError, RecursionError):
        return UNREADABLE
    left[0] -= len(parts)
    if left[0] < 0:
        return UNREADABLE
    if isinstance(parts, dict):
        return {name: read_parts(bytes(raw), left) for name, raw in parts.items()}
    return [read_parts(bytes(raw), left) for raw in parts]
