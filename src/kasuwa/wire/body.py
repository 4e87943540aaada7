"""The JSON text of a request body: validity, nesting depth and untyped values.

Everything here takes time linear in the length of the body, whatever it contains: the event loop is blocked meanwhile,
and other merchants' requests wait.
"""

import re
from typing import Any

import msgspec

MAX_DEPTH = 32
# Most objects and arrays in one body: twenty for each order of the largest bulk transfer. Contract: #requests
MAX_CONTAINERS = 20_000

# To measure the depth, everything but quotes and brackets is removed, and both kinds of brackets are made round.
TO_ROUND = bytes.maketrans(b"{[]}", b"(())")
NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b'{[]}"')

# An escaped U+0000. The lookbehind skips one whose backslash is itself escaped.
NUL_ESCAPE = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")

# A value that contains a number of thousands of digits is decoded element by element. This bounds the elements.
MAX_PARTS = 5_000


class NumberLiteral:
    """A JSON number that is not a plain integer, as its literal text. Not a `str`, so text fields do not accept it."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class InvalidJson(Exception):
    """Raised for a body that is not one JSON object in UTF-8 within the depth and size limits. Contract: #requests"""


UNTYPED: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder(float_hook=NumberLiteral)
ONE_ELEMENT = msgspec.json.Decoder(tuple[msgspec.Raw])
FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
RAW_PARTS = msgspec.json.Decoder(dict[str, msgspec.Raw] | list[msgspec.Raw])
# Placeholder for a value that could not be decoded, such as a number of thousands of digits.
UNREADABLE = object()


def unwrap_single_object(body: bytes) -> bytes:
    """Returns the body, or its element if it is an array of exactly one. Contract: #requests"""
    if body.startswith(b"{") or not body[:64].lstrip().startswith(b"["):
        return body
    try:
        (element,) = ONE_ELEMENT.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return body
    return bytes(element)


def check_json(body: bytes) -> None:
    """Raises InvalidJson for what the typed decoder accepts: invalid UTF-8 in skipped fields, and deep nesting."""
    try:
        body.decode()
    except UnicodeDecodeError:
        raise InvalidJson("the body is not UTF-8") from None
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH:
        check_depth(body)


def check_depth(body: bytes) -> None:
    """Raises InvalidJson if the body nests too deep or contains too many objects and arrays.

    Removes the innermost pairs of brackets MAX_DEPTH times. Anything left is nested deeper.
    """
    brackets = extract_brackets(body)
    if brackets.count(b"(") * 2 != len(brackets):
        raise InvalidJson("the body is not JSON")
    if len(brackets) > 2 * MAX_CONTAINERS:
        raise InvalidJson(f"the body holds more than {MAX_CONTAINERS:,} objects and arrays")
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"()", b"")
    if brackets:
        raise InvalidJson(f"the body nests deeper than {MAX_DEPTH} levels")


def extract_brackets(body: bytes) -> bytes:
    """Returns the brackets outside of strings, all made round.

    Removing two adjacent quotes never changes whether a bracket is inside a string: together they close one string
    and open the next, or enclose nothing.
    """
    unescaped = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = unescaped.translate(TO_ROUND, NO_BRACKETS).replace(b'""', b"")
    return b"".join(marks.split(b'"')[::2])


def raw_fields(body: bytes) -> dict[str, msgspec.Raw] | None:
    """Returns the fields of an object as raw JSON, or None if the body is not an object."""
    try:
        return FIELDS.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return None


def read_untyped(text: bytes) -> Any:
    """Decodes JSON text to plain values. A number that cannot be decoded becomes UNREADABLE, so that errors in other
    fields can still be reported."""
    return read_parts(text, [MAX_PARTS])


def read_parts(text: bytes, budget: list[int]) -> Any:
    """Like read_untyped. `left` is a one-element list with the number of elements that may still be decoded."""
    try:
        return UNTYPED.decode(text)
    except (msgspec.ValidationError, RecursionError):
        pass
    try:
        parts = RAW_PARTS.decode(text)
    except (msgspec.ValidationError, RecursionError):
        return UNREADABLE
    budget[0] -= len(parts)
    if budget[0] < 0:
        return UNREADABLE
    if isinstance(parts, dict):
        return {name: read_parts(bytes(raw), budget) for name, raw in parts.items()}
    return [read_parts(bytes(raw), budget) for raw in parts]
