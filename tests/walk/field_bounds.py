"""The bounds that the type of a request's field has, tried at, below and above through the decoder.

What a field accepts is said by the description of its type, which the contract prints and a refusal quotes. `sides_of`
reads the numbers from these words, not from the type: a type that has other numbers than its words is noticed.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

from kasuwa.methods.disputes.model import MAX_FILE_BYTES
from kasuwa.methods.sandbox.world_file import MAX_FILE_BYTES as MAX_WORLD_BYTES
from kasuwa.wire.body import NumberLiteral
from kasuwa.wire.decoding import decoder
from kasuwa.wire.documents import Document
from kasuwa.wire.field_errors import FieldSpec, convert_value, field_specs, strip_metadata
from kasuwa.wire.fields import scalar_schema
from tests.walk.rows import ACTION_ROWS, ActionRow

# Words that name a bound in the description of a type.
NAMES_BOUND = re.compile(r"at most|at least|[0-9] to [0-9]|from [0-9]+ to [0-9]+|above zero|not negative|digits")


class Sides(NamedTuple):
    accepted: tuple[Any, ...]  # at the bounds and just inside them
    refused: tuple[Any, ...]  # just outside


class BoundedField(NamedTuple):
    row: ActionRow
    path: str
    spec: FieldSpec
    words: str  # the description of the type

    @property
    def title(self) -> str:
        return f"{self.row.title} {self.path}"


@cache
def bounded_fields() -> tuple[BoundedField, ...]:
    """Returns every field of every request whose type's description names a bound."""
    return tuple(field for row in ACTION_ROWS for field in fields_of_struct(row, row.action.request, ""))


def fields_of_struct(row: ActionRow, kind: type[msgspec.Struct], prefix: str) -> Iterator[BoundedField]:
    for spec in field_specs(kind):
        yield from fields_of_spec(row, spec, prefix + spec.wire_name)


def fields_of_spec(row: ActionRow, spec: FieldSpec, path: str) -> Iterator[BoundedField]:
    for option in spec.accepted_types:
        inner = strip_metadata(option)
        if isinstance(inner, inspect.StructType):
            yield from fields_of_struct(row, inner.cls, f"{path}.")
            continue
        if isinstance(inner, inspect.CustomType) and issubclass(inner.cls, Document) and inner.cls.known_struct:
            yield from fields_of_struct(row, inner.cls.known_struct, f"{path}.")
        words = description_of(option)
        if NAMES_BOUND.search(words):
            yield BoundedField(row, path, spec, words)
    if spec.element is not None:
        yield from fields_of_spec(row, spec.element, f"{path}[]")


def description_of(option: inspect.Type) -> str:
    if isinstance(option, inspect.Metadata) and "description" in (option.extra_json_schema or {}):
        return str((option.extra_json_schema or {})["description"])
    inner = strip_metadata(option)
    return str(scalar_schema(inner.cls).get("description", "")) if isinstance(inner, inspect.CustomType) else ""


def is_accepted(spec: FieldSpec, value: Any) -> bool:
    """Decodes a value as a field of a body. Errors of the elements of a list or map are not its own.

    A body is decoded as a whole first, and field by field if that fails. Both must agree on a single value.
    """
    body = msgspec.json.encode({"value": value})
    errors, _, _ = convert_value(spec, msgspec.json.Decoder(float_hook=NumberLiteral).decode(body)["value"], "value")
    accepted = all(error.field != "value" for error in errors)
    if not isinstance(value, list | dict):
        try:
            decoder(spec.wrapper_struct).decode(body)
        except msgspec.ValidationError:
            # Digits as text stand for a whole number only where fields are read one by one.
            assert not accepted or spec.takes_whole, (value, errors)
        else:
            assert accepted, (value, errors)
    return accepted


# --- from words to values -------------------------------------------------------------------------------------------


def text_sides(least: int, most: int) -> Sides:
    return Sides(("x" * max(least, 1), "x" * most), (*(["x" * (least - 1)] if least > 1 else []), "x" * (most + 1)))


def digit_sides(*lengths: int) -> Sides:
    around = {length + step for length in lengths for step in (-1, 1)} - set(lengths)
    return Sides(tuple("1" * length for length in lengths), (*("1" * length for length in around), "1" * 2 + "x"))


def range_of_digit_sides(least: int, most: int) -> Sides:
    return Sides(("1" * least, "1" * most), ("1" * (least - 1), "1" * (most + 1)))


def number_sides(least: int, most: int) -> Sides:
    return Sides((least, most, str(most)), (least - 1, most + 1, str(most + 1)))


def size_sides(least: int, most: int) -> Sides:
    below: list[Any] = [[{}] * (least - 1)] if least else []
    return Sides(([{}] * least, [{}] * most), (*below, [{}] * (most + 1)))


def map_sides(least: int, most: int) -> Sides:
    entries: list[tuple[str, Any]] = [(str(number), {}) for number in range(most + 1)]
    below = [dict(entries[: least - 1])] if least else []
    return Sides((dict(entries[:least]), dict(entries[:most])), (*below, dict(entries)))


def number(text: str) -> int:
    return int(text.replace(",", ""))


N = r"([0-9][0-9,]*)"
WORDS: tuple[tuple[str, Callable[..., Sides]], ...] = (
    (rf"at most {N} characters", lambda most: text_sides(0, most)),
    (rf"{N} to {N} (?:printable )?characters.*", text_sides),
    (rf"{N} to {N} digits", range_of_digit_sides),
    (rf"{N} to {N}", number_sides),
    (rf"{N} to {N} dates", map_sides),
    (rf"an object of at most {N} (?:fields|terms)", lambda most: map_sides(0, most)),
    (rf"{N} to {N} (?:amounts|clients|items|kinds of tickets|members|parts|payment types)", size_sides),
    (rf"(?:an array of |a list of )?at most {N} "
     r"(?:addresses|charges|ranges|files|hashes|numbers of days|origins|rules|shops|tiers"
     r"|country codes of two letters|category codes of four digits)",
     lambda most: size_sides(0, most)),
    (rf"at least one (?:order|part), at most {N}", lambda most: size_sides(1, most)),
)  # fmt: skip

FIFTEEN = "9" * 15
AMOUNTS = ("0.01", 0.01, FIFTEEN, int(FIFTEEN), "9" * 13 + ".99", "1.5")
NOT_AMOUNTS = ("1" + FIFTEEN, 10**15, "9" * 14 + ".99", "0.001", 0.001, "1.", ".5", "-0.01", -1, "1,000", "1e2", " 1")
EMAIL_END, URL_START = "@example.com", "https://example.com/"
PDF = b"%PDF-1.4\n"

# Types whose words do not tell what a value looks like.
SIDES: dict[str, Sides] = {
    "digits with at most two decimals, above zero, at most 15 digits": Sides(AMOUNTS, (*NOT_AMOUNTS, "0", 0, "0.00")),
    "digits with at most two decimals, at most 15 digits; zero where nothing is left": Sides(
        (*AMOUNTS, "0", 0, "0.00"), NOT_AMOUNTS
    ),
    "a SHA-256 hash of 64 hexadecimal digits": Sides(("0" * 64, "af" * 32), ("0" * 63, "0" * 65, "AF" * 32)),
    "an email address of at most 254 characters": Sides(
        ("a" + EMAIL_END, "a" * (254 - len(EMAIL_END)) + EMAIL_END), ("a" * (255 - len(EMAIL_END)) + EMAIL_END, "a@b")
    ),
    "an http or https URL of at most 2,048 characters, its host in ASCII": Sides(
        (URL_START, URL_START + "a" * (2_048 - len(URL_START))), (URL_START + "a" * (2_049 - len(URL_START)),)
    ),
    "a URL of at most 2,048 characters, with https in live, or empty": Sides(
        (URL_START, URL_START + "a" * (2_048 - len(URL_START))), (URL_START + "a" * (2_049 - len(URL_START)),)
    ),
    "a URL of at most 2,048 characters, or empty": Sides(
        (URL_START, URL_START + "a" * (2_048 - len(URL_START))), (URL_START + "a" * (2_049 - len(URL_START)),)
    ),
    "a PDF, PNG or JPEG file of at most 2 MiB in base64": Sides(
        tuple(b64encode(PDF + bytes(size - len(PDF))).decode() for size in (len(PDF), MAX_FILE_BYTES)),
        (b64encode(PDF + bytes(MAX_FILE_BYTES + 1 - len(PDF))).decode(),),
    ),
    "a file of at most 10 MiB in base64, as export_world returns it": Sides(
        tuple(b64encode(bytes(size)).decode() for size in (1, MAX_WORLD_BYTES)),
        (b64encode(bytes(MAX_WORLD_BYTES + 1)).decode(), ""),
    ),
    "a number, not negative, with at most four decimals": Sides(
        ("0", 0, "0.0001", FIFTEEN, "1.1234"), ("-1", -1, "-0.0001", "1.12345", "1" + FIFTEEN)
    ),
    "a percentage from 0 to 1000 with at most six decimals": Sides(
        ("0", 0, "0.000001", "999.999999", 1000, "1000.000000"), ("-0.000001", -1, "1000.000001", 1001, "1.1234567")
    ),
    "a number from 0 to 1": Sides((0, 1, 0.5, 1.0, 0.001, 0.999), (-0.1, 1.1, 1.000001, 2, -1)),
    "a whole number, not negative": Sides((0, 1, "0"), (-1, "-1", 0.5, 1.5)),
    "a whole number above zero": Sides((1, "1"), (0, -1, "0", 0.5)),
    "3 to 60 of a-z, 0-9 and -": Sides(("abc", "a" * 60), ("ab", "a" * 61, "Abc", "a_c")),
    "ten digits": digit_sides(10),
    "four digits": digit_sides(4),
    "three digits": digit_sides(3),
    "two digits": digit_sides(2),
    "one or two digits": Sides(("1", "11"), ("111", "x")),
    "three or four digits": digit_sides(3, 4),
    "a category code of four digits": digit_sides(4),
    "a response code of two digits or capitals": Sides(("00", "9Z", "ZZ"), ("0", "000", "0z", "Z-", "00\n", "")),
    "a bank code of 3, 5 or 6 digits": digit_sides(3, 5, 6),
    "two digits, 01 to 12": Sides(("01", "12"), ("00", "13", "1", "012")),
    "eleven digits that begin with 22": Sides(("22000000000", "22999999999"), ("2" * 10, "2" * 12, "21999999999")),
    "a telephone number in digits": Sides(("1" * 7, "1" * 15, "+" + "1" * 15), ("1" * 6, "1" * 16)),
    "a card number: its digits, with a right length and check digit": Sides(
        ("4111110000000013", "4111 1100 0000 0013"), ("4111110000000014", "1" * 11, "4" * 20)
    ),
    "the first six digits of a card's number": Sides(("411111", "4111110000000013000"), ("41111", "4" * 20)),
}  # fmt: skip


def sides_of(words: str) -> Sides | None:
    """Returns the values around the bounds that a description names, or None if nothing says how to try it."""
    if words in SIDES:
        return SIDES[words]
    for pattern, make in WORDS:
        match = re.fullmatch(pattern, words)
        if match is not None:
            return make(*map(number, match.groups()))
    return None
