"""Types of fields: what a value looks like on the wire, how it is read, and the reason given where it does not fit.

Amounts and other figures are read from the text of the number, never through a float. (D2)
"""

import re
import typing
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Raw

from kasuwa.core.body import NumberText
from kasuwa.core.calendar import LAGOS
from kasuwa.core.cards import is_card_number
from kasuwa.core.decision import Fault
from kasuwa.core.money import AMOUNT_PATTERN, CURRENCIES, DECIMALS, MOST_DIGITS, parse_minor, percent_of


class Amount(int):
    """An amount of money in minor units; on the wire a number or a numeric text in major units. `said` is the text or
    number that was sent, for the reply that repeats it."""

    said: Any = None


AMOUNT_REASON = f"digits with at most two decimals, above zero, at most {MOST_DIGITS} digits"


class AmountOrZero(Amount):
    """An amount of money that may be zero, where zero means something."""


AMOUNT_OR_ZERO_REASON = f"digits with at most two decimals, at most {MOST_DIGITS} digits; zero where nothing is left"

# The end of a text, for patterns: `$` alone would let a newline follow. Written so that others than Python read it too.
END = r"$(?!\n)"

# Marks texts that people write as they like: a card number in one of them is masked (core/decoding.py).
FREE_TEXT = {"free_text": True}

# Field types that several slices share. The description is the reason given when a value does not fit.
Reference = Annotated[str, Meta(min_length=1, max_length=100, description="1 to 100 characters")]
ShortText = Annotated[str, Meta(max_length=200, description="at most 200 characters", extra=FREE_TEXT)]
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
MOST_LISTED = 200
Limit = Annotated[int, Meta(ge=1, le=MOST_LISTED, description=f"1 to {MOST_LISTED}")]
EventNumber = Annotated[int, Meta(ge=1, le=10**15, description="a whole number above zero")]


def read_amount(said: Any) -> Amount:
    text = number_text(said)
    minor = None if text is None else parse_minor(text)
    if not minor:
        raise ValueError(AMOUNT_REASON)
    amount = Amount(minor)
    amount.said = said
    return amount


def read_amount_or_zero(said: Any) -> AmountOrZero:
    text = number_text(said)
    minor = None if text is None else parse_minor(text)
    if minor is None:
        raise ValueError(AMOUNT_OR_ZERO_REASON)
    amount = AmountOrZero(minor)
    amount.said = said
    return amount


def echo_amount(told: Any, amount: Any) -> Any:
    """An amount in a reply as the request had it, where it is the same: one client compares the two. Spec silent: D3"""
    if not isinstance(amount, Amount) or not isinstance(told, str) or parse_minor(told) != amount:
        return told
    if isinstance(amount.said, NumberText):
        return Raw(amount.said.text.encode())
    return told if amount.said is None else amount.said


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
FIGURE_PATTERN = rf"[0-9]{{1,{MOST_DIGITS}}}(\.[0-9]{{1,4}})?"
FIGURE_TEXT = re.compile(FIGURE_PATTERN, re.ASCII)


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


class ChosenCurrency(str, OwnType):
    """One of the currencies that an action takes; NG is read as NGN. Subclasses name them, so that the reason given
    lists no currency that the action would refuse. Spec silent: D2"""

    __slots__ = ()
    allowed: ClassVar[tuple[str, ...]] = CURRENCIES
    reason: ClassVar[str] = CURRENCY_REASON

    @classmethod
    def read(cls, said: Any) -> "ChosenCurrency":
        text = "NGN" if said == "NG" else said
        if text not in cls.allowed:
            raise ValueError(cls.reason)
        return cls(text)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        spelled = [*cls.allowed, *(["NG"] if "NGN" in cls.allowed else [])]
        return {"type": "string", "enum": spelled, "description": cls.reason}


CARD_PREFIX_REASON = "the first six digits of a card's number"
CARD_PREFIX = re.compile(r"([0-9]{6})[0-9]{0,13}", re.ASCII)


class CardPrefix(str, OwnType):
    """The first six digits of a card's number. Of a whole number, no more than those are kept in memory. Spec silent:
    D36"""

    __slots__ = ()

    @classmethod
    def read(cls, said: Any) -> "CardPrefix":
        digits = said.replace(" ", "") if isinstance(said, str) and len(said) <= 30 else ""
        match = CARD_PREFIX.fullmatch(digits)
        if match is None:
            raise ValueError(CARD_PREFIX_REASON)
        return cls(match[1])

    @classmethod
    def schema(cls) -> dict[str, Any]:
        return {"type": "string", "pattern": "^[0-9 ]{6,30}$", "description": CARD_PREFIX_REASON}


class Whole(int):
    """A whole number that is not negative; on the wire a number (`3`, `3.0`), or its digits as text."""


WHOLE_REASON = "a whole number, not negative"
WHOLE_TEXT = re.compile(r"([0-9]{1,9})(\.0{1,6})?", re.ASCII)


def read_whole(said: Any) -> Whole:
    text = number_text(said)
    match = None if text is None else WHOLE_TEXT.fullmatch(text)
    if match is None:
        raise ValueError(WHOLE_REASON)
    return Whole(match[1])


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
    AmountOrZero: read_amount_or_zero,
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


def amount_numbers() -> list[dict[str, Any]]:
    """The schemas of amounts as JSON numbers: one for each number of decimals, because each leaves room for one whole
    digit less."""
    most = 10**MOST_DIGITS - 1
    bounds = [(most, 1), *((most / 10**decimals, 1 / 10**decimals) for decimals in range(1, DECIMALS + 1))]
    return [{"type": "number", "exclusiveMinimum": 0, "maximum": top, "multipleOf": step} for top, step in bounds]


def scalar_schema(kind: type) -> dict[str, Any]:
    """How our own scalars look in OpenAPI."""
    if issubclass(kind, OwnType):
        return kind.schema()
    if kind is Amount:
        text = {"type": "string", "pattern": f"^({AMOUNT_PATTERN})$"}
        return {"anyOf": [text, *amount_numbers()], "description": AMOUNT_REASON}
    if kind is AmountOrZero:
        text = {"type": "string", "pattern": f"^({AMOUNT_PATTERN})$"}
        zero = {"type": "number", "const": 0}
        return {"anyOf": [text, *amount_numbers(), zero], "description": AMOUNT_OR_ZERO_REASON}
    if kind is Numeral:
        text = {"type": "string", "pattern": f"^{FIGURE_PATTERN}$"}
        number = {"type": "number", "minimum": 0, "maximum": 10**MOST_DIGITS - 1}
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
        text = {"type": "string", "pattern": r"^[0-9]{1,9}(\.0{1,6})?$"}
        return {"anyOf": [text, {"type": "integer", "minimum": 0, "maximum": 999_999_999}], "description": WHOLE_REASON}
    if kind is Rate:
        text = {"type": "string", "pattern": r"^(1000(\.0{1,6})?|[0-9]{1,3}(\.[0-9]{1,6})?)$"}
        return {"anyOf": [text, {"type": "number", "minimum": 0, "maximum": 1000}], "description": RATE_REASON}
    raise NotImplementedError(f"no schema for {kind}")
