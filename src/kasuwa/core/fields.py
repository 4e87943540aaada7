"""From bytes to a typed request, or to every fault it has.

msgspec decodes fast and stops at the first fault. So a body is decoded fast; only when that fails is it read
again untyped and converted field by field, so that one reply names them all. Amounts are read from the text
of the number, never through a float: `float_hook` hands us the literal as it was sent. (D2)
"""

import contextlib
import re
import typing
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta, inspect

from kasuwa.core.action import Foresight, Rule
from kasuwa.core.calendar import LAGOS
from kasuwa.core.cards import is_card_number
from kasuwa.core.decision import Fault, Merchant
from kasuwa.core.money import CURRENCIES, parse_minor, percent_of
from kasuwa.core.rules import broken_rules, wire_names

DEEPEST = 32


class NumberText:
    """The literal of a JSON number that is not a plain integer, as it was sent. Not a text: a field that asks for
    one does not take it."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Amount(int):
    """An amount of money in minor units; on the wire a number or a numeric text in major units."""


AMOUNT_REASON = "digits with at most two decimals, above zero, at most 15 digits"

# The end of a text, for patterns: `$` alone would let a newline follow. Written so that others than Python read it too.
END = r"$(?!\n)"

# Field types that several slices share. The description is the reason given when a value does not fit.
Reference = Annotated[str, Meta(min_length=1, max_length=100, description="1 to 100 characters")]
ShortText = Annotated[str, Meta(max_length=200, description="at most 200 characters")]
AccountNumber = Annotated[str, Meta(pattern="^[0-9]{10}" + END, max_length=10, description="ten digits")]
BankCode = Annotated[
    str, Meta(pattern="^[0-9]{3,6}" + END, max_length=6, description="a bank code of 3, 5 or 6 digits")
]


Email = Annotated[
    str,
    Meta(
        max_length=254,
        pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+" + END,
        description="an e-mail address of at most 254 characters",
    ),
]
Pin = Annotated[str, Meta(pattern="^[0-9]{4}" + END, max_length=4, description="four digits")]
Otp = Annotated[str, Meta(pattern="^[0-9]{4,8}" + END, max_length=8, description="4 to 8 digits")]
Phone = Annotated[
    str, Meta(pattern=r"^\+?[0-9]{7,15}" + END, max_length=16, description="a telephone number in digits")
]

# Lists: where to begin, and how many. Spec silent: D8
DEFAULT_LIMIT = 50
Offset = Annotated[int, Meta(ge=0, le=10**15, description="a whole number, not negative")]
Limit = Annotated[int, Meta(ge=1, le=200, description="1 to 200")]
EventNumber = Annotated[int, Meta(ge=1, le=10**15, description="a whole number above zero")]


def read_amount(said: Any) -> Amount:
    text = number_text(said)
    minor = None if text is None else parse_minor(text)
    if not minor:
        raise ValueError(AMOUNT_REASON)
    return Amount(minor)


def number_text(said: Any) -> str | None:
    """The digits of a number, or of a text that may be one. A long integer cannot be one of ours, and turning it
    into text would take for ever."""
    if isinstance(said, NumberText):
        return said.text
    if isinstance(said, int) and not isinstance(said, bool):
        return str(said) if abs(said) < 10**20 else None
    return said if isinstance(said, str) else None


class Numeral(str):
    """A number above or at zero that is a percentage or an amount: which, a rule has to find out. It stays the text
    that was sent."""


FIGURE_REASON = "a number, not negative, with at most four decimals"
FIGURE_TEXT = re.compile(r"[0-9]{1,13}(\.[0-9]{1,4})?", re.ASCII)


def read_numeral(said: Any) -> Numeral:
    text = number_text(said)
    if text is None or not FIGURE_TEXT.fullmatch(text):
        raise ValueError(FIGURE_REASON)
    return Numeral(text)


class Currency(str):
    """A currency we keep; public clients also send NG for NGN. Spec silent: D2"""


CURRENCY_REASON = "one of " + ", ".join(CURRENCIES)


def read_currency(said: Any) -> Currency:
    text = "NGN" if said == "NG" else said
    if text not in CURRENCIES:
        raise ValueError(CURRENCY_REASON)
    return Currency(text)


class Moment(datetime):
    """An instant; on the wire an ISO 8601 time, in Lagos where it names no zone."""

    def plain(self) -> datetime:
        return datetime.combine(self.date(), self.timetz())


MOMENT_REASON = "an ISO 8601 time such as 2026-01-05T09:30:00+01:00"


def read_moment(said: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(said) if isinstance(said, str) and said.isascii() else None
    except ValueError:
        moment = None
    if moment is None or not 1900 <= moment.year <= 8999:
        raise ValueError(MOMENT_REASON)
    utc = moment.replace(tzinfo=moment.tzinfo or LAGOS).astimezone(UTC)
    return Moment.combine(utc.date(), utc.timetz())


class Day(date):
    """A day in Lagos; on the wire `YYYY-MM-DD`, whatever time may stand behind it. Spec silent: D10"""

    def plain(self) -> date:
        return date(self.year, self.month, self.day)


DAY_REASON = "a date such as 2026-01-05"
TIME_TEXT = r"([01][0-9]|2[0-4])(:[0-5][0-9](:[0-6][0-9]([.,][0-9]{1,9})?)?)?( ?(Z|[+-][0-9]{2}(:?[0-9]{2})?))?"
DAY_TEXT = re.compile(rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})([T ]{TIME_TEXT})?", re.ASCII)


def read_day(said: Any) -> Day:
    match = DAY_TEXT.fullmatch(said) if isinstance(said, str) else None
    try:
        day = date.fromisoformat(match[1]) if match is not None else None
    except ValueError:
        day = None
    if day is None or not 1900 <= day.year <= 8999:
        raise ValueError(DAY_REASON)
    return Day(day.year, day.month, day.day)


class Percent(int):
    """A probability in whole percent; on the wire a number from 0 to 1."""


PERCENT_REASON = "a number from 0 to 1"
PROBABILITY_TEXT = re.compile(r"0|1|0?\.[0-9]{1,6}|1\.0{1,6}", re.ASCII)


def read_percent(said: Any) -> Percent:
    text = number_text(said)
    if text is None or not PROBABILITY_TEXT.fullmatch(text):
        raise ValueError(PERCENT_REASON)
    return Percent(percent_of(100, str(Decimal(text) * 100)))


class CardNumber(str):
    """The digits of a card; on the wire a text, spaces between groups allowed."""


CARD_REASON = "a card number: its digits, with a right length and check digit"


def read_card_number(said: Any) -> CardNumber:
    digits = said.replace(" ", "") if isinstance(said, str) and len(said) <= 30 else ""
    if not is_card_number(digits):
        raise ValueError(CARD_REASON)
    return CardNumber(digits)


class OwnType:
    """A type of field that reads and describes itself: what is needed by one corner of the house lives there."""

    @classmethod
    def read(cls, said: Any) -> Any:
        """The value, or a ValueError with the reason."""
        raise NotImplementedError

    @classmethod
    def schema(cls) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def faults(cls, said: Any, where: str) -> list[Fault]:
        """Everything wrong with a value, each by its own path."""
        try:
            cls.read(said)
        except ValueError as error:
            return [Fault(where, str(error))]
        return []

    @classmethod
    def parts(cls, said: Any) -> dict[str, Any]:
        """What can be read of a value that has several parts, by their names."""
        return {}


class Whole(int):
    """A whole number that is not negative; on the wire a number, or its digits as text."""


WHOLE_REASON = "a whole number, not negative"
WHOLE_TEXT = re.compile(r"[0-9]{1,9}", re.ASCII)


def read_whole(said: Any) -> Whole:
    text = number_text(said)
    if text is None or not WHOLE_TEXT.fullmatch(text):
        raise ValueError(WHOLE_REASON)
    return Whole(text)


class Rate(str):
    """A rate in percent, kept as the text that was sent: a number or a numeric text."""


RATE_REASON = "a percentage from 0 to 1000 with at most six decimals"
RATE_TEXT = re.compile(r"(1000(\.0{1,6})?|[0-9]{1,3}(\.[0-9]{1,6})?)", re.ASCII)


def read_rate(said: Any) -> Rate:
    text = number_text(said)
    if text is None or not RATE_TEXT.fullmatch(text):
        raise ValueError(RATE_REASON)
    return Rate(text)


READERS: dict[type, typing.Callable[[Any], Any]] = {
    Amount: read_amount,
    Numeral: read_numeral,
    Currency: read_currency,
    Moment: read_moment,
    Day: read_day,
    Percent: read_percent,
    CardNumber: read_card_number,
    Whole: read_whole,
    Rate: read_rate,
}


def read_scalar(kind: type, said: Any) -> Any:
    if issubclass(kind, OwnType):
        return kind.read(said)
    reader = READERS.get(kind)
    if reader is None:
        raise NotImplementedError(f"no reader for {kind}")
    return reader(said)


def scalar_schema(kind: type) -> dict[str, Any]:
    """How our own scalars look in OpenAPI."""
    if issubclass(kind, OwnType):
        return kind.schema()
    if kind is Amount:
        text = {"type": "string", "pattern": r"^[0-9]{1,13}(\.[0-9]{1,2})?$"}
        number = {"type": "number", "exclusiveMinimum": 0, "maximum": 9_999_999_999_999, "multipleOf": 0.01}
        return {"anyOf": [text, number], "description": AMOUNT_REASON}
    if kind is Numeral:
        text = {"type": "string", "pattern": r"^[0-9]{1,13}(\.[0-9]{1,4})?$"}
        number = {"type": "number", "minimum": 0, "maximum": 9_999_999_999_999}
        return {"anyOf": [text, number], "description": FIGURE_REASON}
    if kind is Currency:
        return {"type": "string", "enum": [*CURRENCIES, "NG"], "description": CURRENCY_REASON}
    if kind is Moment:
        return {"type": "string", "format": "date-time", "description": MOMENT_REASON}
    if kind is CardNumber:
        return {"type": "string", "pattern": "^[0-9 ]{12,30}$", "description": CARD_REASON}
    if kind is Day:
        return {"type": "string", "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}", "description": DAY_REASON}
    if kind is Percent:
        return {"type": "number", "minimum": 0, "maximum": 1, "description": PERCENT_REASON}
    if kind is Whole:
        text = {"type": "string", "pattern": "^[0-9]{1,9}$"}
        return {"anyOf": [text, {"type": "integer", "minimum": 0, "maximum": 999_999_999}], "description": WHOLE_REASON}
    if kind is Rate:
        text = {"type": "string", "pattern": r"^(1000(\.0{1,6})?|[0-9]{1,3}(\.[0-9]{1,6})?)$"}
        return {"anyOf": [text, {"type": "number", "minimum": 0, "maximum": 1000}], "description": RATE_REASON}
    raise NotImplementedError(f"no schema for {kind}")


@cache
def decoder(kind: Any) -> "msgspec.json.Decoder[Any]":
    return msgspec.json.Decoder(kind, dec_hook=read_scalar, float_hook=NumberText)


UNTYPED: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder(float_hook=NumberText)


class NotJson(Exception):
    """Not a JSON object of UTF-8 text, at most 32 levels deep. Spec silent: D2"""


def check_json(body: bytes) -> None:
    """What the typed decoder would let through: bad UTF-8 in fields it skips, and deep nesting."""
    try:
        body.decode()
    except UnicodeDecodeError:
        raise NotJson("the body is not UTF-8") from None
    if body.count(b"{") + body.count(b"[") > DEEPEST:
        check_depth(body)


def check_depth(body: bytes) -> None:
    try:
        level = [UNTYPED.decode(body)]
    except (msgspec.DecodeError, RecursionError):
        raise NotJson("the body is not JSON") from None
    for _ in range(DEEPEST):
        level = [below for item in level for below in children(item)]
        if not level:
            return
    raise NotJson(f"the body nests deeper than {DEEPEST} levels")


def children(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return [value for value in item.values() if isinstance(value, dict | list)]
    return [value for value in item if isinstance(value, dict | list)] if isinstance(item, list) else []


RAW_PARTS = msgspec.json.Decoder(dict[str, msgspec.Raw] | list[msgspec.Raw])
# A number beyond all bounds.
UNREADABLE = object()


def read_untyped(body: bytes) -> Any:
    """A body as plain values. A number that cannot be read stays a hole: it must hide no other fault."""
    with contextlib.suppress(msgspec.ValidationError, RecursionError):
        return UNTYPED.decode(body)
    try:
        parts = RAW_PARTS.decode(body)
    except (msgspec.ValidationError, RecursionError):
        return UNREADABLE
    if isinstance(parts, dict):
        return {name: read_untyped(bytes(raw)) for name, raw in parts.items()}
    return [read_untyped(bytes(raw)) for raw in parts]


def decode(
    kind: type[msgspec.Struct],
    body: bytes,
    rules: Sequence[Rule],
    merchant: Merchant,
    foresight: Foresight | None = None,
) -> Any:
    """The request as a struct, or the tuple of all its faults; those that rules foretell, where they are let."""
    faults = nul_faults(without_raw(kind, read_untyped(body)), "") if b"\\u0000" in body else []
    try:
        request = decoder(kind).decode(body)
    except msgspec.ValidationError:
        found, values = convert_fields(kind, read_untyped(body), "")
        faults += found
        # Nothing wrong field by field: a null stood for an absent field that has a default. Spec silent: D2
        request = None if found else kind(**values)
    else:
        asked = (rule for rule in rules if foresight is not None or not rule.foretells)
        values = {top: getattr(request, top) for rule in asked for top in rule.tops}
    faults += broken_rules(rules, merchant, kind, values)
    if faults and foresight is not None:
        faults += broken_rules(rules, merchant, kind, values, foresight)
    return tuple(faults) if faults else request


def without_raw(kind: type[msgspec.Struct], said: Any) -> Any:
    """A body without the fields whose parts are read later, each on its own."""
    raw = {wire_names(kind)[name] for name, hint in typing.get_type_hints(kind).items() if hint == list[msgspec.Raw]}
    return {name: value for name, value in said.items() if name not in raw} if isinstance(said, dict) else said


def convert_fields(kind: type[msgspec.Struct], said: Any, path: str) -> tuple[list[Fault], dict[str, Any]]:
    """Every field on its own: what is wrong with it, or its value; of an object that is wrong in part, what could be
    read of it, by its path."""
    if not isinstance(said, dict):
        return [Fault(path.rstrip("."), "an object")], {}
    hints = typing.get_type_hints(kind, include_extras=True)
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    faults: list[Fault] = []
    values: dict[str, Any] = {}
    for field in info.fields:
        value = said.get(field.encode_name)
        where = path + field.encode_name
        if value is None:
            if field.required:
                faults.append(Fault(where, "required"))
            else:
                values[field.name] = None if field.default is msgspec.NODEFAULT else field.default
            continue
        try:
            values[field.name] = msgspec.convert(value, hints[field.name], dec_hook=read_scalar)
        except msgspec.ValidationError as error:
            faults += inner_faults(field.type, value, where) or [Fault(where, reason_of(field.type, str(error)))]
            values |= {f"{field.name}.{name}": part for name, part in inner_values(field.type, value).items()}
    return faults, values


def inner_values(info: inspect.Type, value: Any) -> dict[str, Any]:
    """What can be read of a nested object, by its path in there."""
    for option in info.types if isinstance(info, inspect.UnionType) else (info,):
        if isinstance(option, inspect.StructType) and isinstance(value, dict):
            return convert_fields(option.cls, value, "")[1]
        if isinstance(option, inspect.CustomType) and issubclass(option.cls, OwnType):
            return option.cls.parts(value)
    return {}


def inner_faults(info: inspect.Type, value: Any, where: str) -> list[Fault]:
    """The faults inside a nested object, or an array or a map of them, each by its own path."""
    for said in info.types if isinstance(info, inspect.UnionType) else (info,):
        option = said.type if isinstance(said, inspect.Metadata) else said
        if isinstance(option, inspect.StructType) and isinstance(value, dict):
            return convert_fields(option.cls, value, where + ".")[0]
        if isinstance(option, inspect.ListType) and isinstance(value, list):
            return [f for n, below in enumerate(value) for f in inner_faults(option.item_type, below, f"{where}.{n}")]
        if isinstance(option, inspect.DictType) and isinstance(value, dict):
            return [f for n, below in value.items() for f in inner_faults(option.value_type, below, f"{where}.{n}")]
        if isinstance(option, inspect.CustomType) and issubclass(option.cls, OwnType):
            return option.cls.faults(value, where)
        if isinstance(option, inspect.CustomType):
            return scalar_faults(option.cls, value, where)
    return []


def scalar_faults(kind: type, value: Any, where: str) -> list[Fault]:
    try:
        read_scalar(kind, value)
    except ValueError as error:
        return [Fault(where, str(error))]
    return []


EXPECTED = {
    inspect.StrType: "text",
    inspect.IntType: "a whole number",
    inspect.BoolType: "true or false",
    inspect.ListType: "an array",
    inspect.StructType: "an object",
    inspect.DictType: "an object",
}


def reason_of(info: inspect.Type, said: str) -> str:
    """A reason for a person: the field's own description where it has one, else what kind was expected."""
    for option in info.types if isinstance(info, inspect.UnionType) else (info,):
        if isinstance(option, inspect.Metadata) and option.extra_json_schema:
            return str(option.extra_json_schema["description"])
        if isinstance(option, inspect.LiteralType):
            return "one of " + ", ".join(str(value) for value in option.values)
        if type(option) in EXPECTED:
            return EXPECTED[type(option)]
    return said.split(" - at ")[0]


def nul_faults(said: Any, path: str) -> list[Fault]:
    """PostgreSQL keeps no U+0000 in text, and nothing a merchant means contains one, nor does a name it gives to
    something. Spec silent: D2"""
    if isinstance(said, str):
        return [Fault(path.rstrip("."), "must not contain U+0000")] if "\0" in said else []
    if isinstance(said, dict):
        bare = {name: name.replace("\0", "\\u0000") for name in said}
        named = [Fault(f"{path}{bare[name]}", "its name must not contain U+0000") for name in said if "\0" in name]
        return named + [fault for name in said for fault in nul_faults(said[name], f"{path}{bare[name]}.")]
    if isinstance(said, list):
        return [fault for n, value in enumerate(said) for fault in nul_faults(value, f"{path}{n}.")]
    return []
