"""Field types shared by requests: their wire form, how they are parsed, and the error text of an invalid value.

Amounts and other numbers are parsed from their literals, never through a float. Contract: #requests
"""

import re
import typing
from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Raw

from kasuwa.core.calendar import LAGOS, is_in_range
from kasuwa.core.cards import is_card_number
from kasuwa.core.decision import FieldError
from kasuwa.core.error_codes import (
    AMOUNT_CURRENCY,
    AMOUNT_DECIMALS,
    AMOUNT_DIGITS,
    AMOUNT_EXPONENT,
    AMOUNT_NEGATIVE,
    AMOUNT_NO_NUMBER,
    AMOUNT_SEPARATORS,
    AMOUNT_ZERO,
    FIELD_INVALID,
    FIELD_NOT_A_CHOICE,
    FIELD_WRONG_TYPE,
)
from kasuwa.core.money import AMOUNT_PATTERN, CURRENCIES, MAX_DIGITS, compute_percent, parse_minor
from kasuwa.core.suggestions import suggest
from kasuwa.wire.body import NumberLiteral


class Amount(int):
    """An amount of money in minor units. On the wire a number or a numeric text in major units."""

    raw: Any = None  # the text or number that was sent, for replies that echo it


AMOUNT_REASON = f"digits with at most two decimals, above zero, at most {MAX_DIGITS} digits"


class AmountOrZero(Amount):
    """An amount of money that may be zero."""


AMOUNT_OR_ZERO_REASON = f"digits with at most two decimals, at most {MAX_DIGITS} digits; zero where nothing is left"

# Pattern of the end of a text. `$` alone would accept a newline after it, and `\Z` is not portable JSON Schema.
END = r"$(?!\n)"

# Marks free texts, in which card numbers are masked (wire/decoding.py).
FREE_TEXT = {"free_text": True}
# Marks references, in which they are masked too, with more care: ours look like numbers.
REFERENCE_TEXT = {"reference_text": True}

# Field types that several slices share. The description is the error text of an invalid value.
Reference = Annotated[str, Meta(min_length=1, max_length=100, description="1 to 100 characters", extra=REFERENCE_TEXT)]
ShortText = Annotated[str, Meta(max_length=200, description="at most 200 characters", extra=FREE_TEXT)]
AccountNumber = Annotated[str, Meta(pattern="^[0-9]{10}" + END, max_length=10, description="ten digits")]
BankCode = Annotated[
    str, Meta(pattern="^([0-9]{3}|[0-9]{5,6})" + END, max_length=6, description="a bank code of 3, 5 or 6 digits")
]


Email = Annotated[
    str,
    Meta(
        max_length=254,
        pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+" + END,
        description="an email address of at most 254 characters",
    ),
]
Pin = Annotated[str, Meta(pattern="^[0-9]{4}" + END, max_length=4, description="four digits")]
Otp = Annotated[str, Meta(pattern="^[0-9]{4,8}" + END, max_length=8, description="4 to 8 digits")]
Phone = Annotated[
    str, Meta(pattern=r"^\+?[0-9]{7,15}" + END, max_length=16, description="a telephone number in digits")
]

# Paging of lists. Contract: #lists
DEFAULT_LIMIT = 50
Offset = Annotated[int, Meta(ge=0, le=10**15, description="a whole number, not negative")]
MAX_PAGE_SIZE = 200
Limit = Annotated[int, Meta(ge=1, le=MAX_PAGE_SIZE, description=f"1 to {MAX_PAGE_SIZE}")]
EventNumber = Annotated[int, Meta(ge=1, le=10**15, description="a whole number above zero")]


class FieldFault(ValueError):
    """Raised for a value with a fault that has a code of its own. The text is the reason."""

    def __init__(self, reason: str, code: str) -> None:
        super().__init__(reason)
        self.code = code


# How an amount is misspelled, by the first form that fits: its code, and what is said of it. Contract: #amounts
AMOUNT_FAULTS = (
    (re.compile(r"-.*", re.ASCII | re.DOTALL), AMOUNT_NEGATIVE, "it is below zero"),
    (re.compile(r"0{1,40}(\.0{1,40})?", re.ASCII), AMOUNT_ZERO, "it is zero"),
    (re.compile(r"[0-9]{1,40}\.[0-9]{3,40}", re.ASCII), AMOUNT_DECIMALS, "it has more than two decimals"),
    (re.compile(r"[0-9]{1,40}(\.[0-9]{1,40})?", re.ASCII), AMOUNT_DIGITS, "it has too many digits"),
    (
        re.compile(r"[0-9]{1,40}(\.[0-9]{0,40})?[eE][+-]?[0-9]{1,40}", re.ASCII),
        AMOUNT_EXPONENT,
        "write it without an exponent",
    ),
    (re.compile(r"[0-9][0-9.,' _\u00a0\u202f]{0,40}[0-9]"), AMOUNT_SEPARATORS, "leave out separators, as in 1500.00"),
    (
        re.compile(
            r"([A-Za-z]{1,3}|[\u20a6$\u20b5])\.? ?[0-9][0-9.,]{0,40}|[0-9][0-9.,]{0,40} ?([A-Za-z]{3}|[\u20a6$\u20b5])"
        ),
        AMOUNT_CURRENCY,
        "leave out the currency, as in 1500.00",
    ),
)


def make_amount_fault(reason: str, raw: Any) -> FieldFault:
    """Returns the fault of a value that is no amount, with what is wrong with it."""
    if isinstance(raw, bool) or not isinstance(raw, int | str | NumberLiteral):
        return FieldFault(reason, FIELD_WRONG_TYPE)
    text = number_text(raw)
    if text is None:  # a number of more digits than any amount has
        return FieldFault(f"{reason}; it has too many digits", AMOUNT_DIGITS)
    if text != text.strip():
        return FieldFault(f"{reason}; leave out the spaces around it", AMOUNT_SEPARATORS)
    for form, code, remark in AMOUNT_FAULTS:
        if form.fullmatch(text):
            return FieldFault(f"{reason}; {remark}", code)
    return FieldFault(reason, AMOUNT_NO_NUMBER)


def read_amount(raw: Any) -> Amount:
    text = number_text(raw)
    minor = None if text is None else parse_minor(text)
    if not minor:
        raise make_amount_fault(AMOUNT_REASON, raw)
    amount = Amount(minor)
    amount.raw = raw
    return amount


def read_amount_or_zero(raw: Any) -> AmountOrZero:
    text = number_text(raw)
    minor = None if text is None else parse_minor(text)
    if minor is None:
        raise make_amount_fault(AMOUNT_OR_ZERO_REASON, raw)
    amount = AmountOrZero(minor)
    amount.raw = raw
    return amount


def echo_amount(formatted: Any, amount: Any) -> Any:
    """Returns an amount for a reply, spelled as in the request if it is equal: one public client compares the two.

    Contract: #replies
    """
    if not isinstance(amount, Amount) or not isinstance(formatted, str) or parse_minor(formatted) != amount:
        return formatted
    if isinstance(amount.raw, NumberLiteral):
        return Raw(amount.raw.text.encode())
    return formatted if amount.raw is None else amount.raw


def number_text(raw: Any) -> str | None:
    """Returns the literal of a number or of a text that may be one, else None.

    Also returns None for very long integers: no field accepts them, and formatting them takes quadratic time.
    """
    if isinstance(raw, NumberLiteral):
        return raw.text
    if isinstance(raw, int) and not isinstance(raw, bool):
        return str(raw) if abs(raw) < 10**20 else None
    return raw if isinstance(raw, str) else None


class PercentOrAmount(str):
    """A non-negative number, kept as the text that was sent. A rule decides whether it is a percentage or an amount."""


PERCENT_OR_AMOUNT_REASON = "a number, not negative, with at most four decimals"
PERCENT_OR_AMOUNT_PATTERN = rf"[0-9]{{1,{MAX_DIGITS}}}(\.[0-9]{{1,4}})?"
PERCENT_OR_AMOUNT_TEXT = re.compile(PERCENT_OR_AMOUNT_PATTERN, re.ASCII)


def read_percent_or_amount(raw: Any) -> PercentOrAmount:
    text = number_text(raw)
    if text is None or not PERCENT_OR_AMOUNT_TEXT.fullmatch(text):
        raise ValueError(PERCENT_OR_AMOUNT_REASON)
    return PercentOrAmount(text)


class Currency(str):
    """A supported currency. Public clients also send NG for NGN. Contract: #requests"""


CURRENCY_REASON = "one of " + ", ".join(CURRENCIES)


def make_choice_fault(reason: str, raw: Any, choices: Iterable[str]) -> FieldFault:
    """Returns the fault of a value that is none of the choices, with the one that was probably meant."""
    hint = suggest(raw, choices) if isinstance(raw, str) else ""
    return FieldFault(f"{reason}{hint}", FIELD_NOT_A_CHOICE)


def read_currency(raw: Any) -> Currency:
    text = "NGN" if raw == "NG" else raw
    if text not in CURRENCIES:
        raise make_choice_fault(CURRENCY_REASON, raw, CURRENCIES)
    return Currency(text)


class Timestamp(datetime):
    """An instant in UTC. On the wire an ISO 8601 time, in Lagos time if it has no zone."""

    def plain(self) -> datetime:
        return datetime.combine(self.date(), self.timetz())


TIMESTAMP_REASON = "an ISO 8601 time such as 2026-01-05T09:30:00+01:00"


def read_timestamp(raw: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(raw) if isinstance(raw, str) and raw.isascii() else None
    except ValueError:
        moment = None
    if moment is None or not is_in_range(moment):
        raise ValueError(TIMESTAMP_REASON)
    utc = moment.replace(tzinfo=moment.tzinfo or LAGOS).astimezone(UTC)
    return Timestamp.combine(utc.date(), utc.timetz())


class LagosDate(date):
    """A date in Lagos. On the wire `YYYY-MM-DD`; a time after it is ignored. Contract: #times"""

    def plain(self) -> date:
        return date(self.year, self.month, self.day)


DAY_REASON = "a date such as 2026-01-05"
TIME_TEXT = r"([01][0-9]|2[0-4])(:[0-5][0-9](:[0-6][0-9]([.,][0-9]{1,9})?)?)?( ?(Z|[+-][0-9]{2}(:?[0-9]{2})?))?"
DAY_TEXT = re.compile(rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})([T ]{TIME_TEXT})?", re.ASCII)


def read_date(raw: Any) -> LagosDate:
    match = DAY_TEXT.fullmatch(raw) if isinstance(raw, str) else None
    try:
        day = date.fromisoformat(match[1]) if match is not None else None
    except ValueError:
        day = None
    if day is None or not is_in_range(day):
        raise ValueError(DAY_REASON)
    return LagosDate(day.year, day.month, day.day)


class Probability(int):
    """A probability in whole percent. On the wire a number from 0 to 1."""


PROBABILITY_REASON = "a number from 0 to 1"
PROBABILITY_TEXT = re.compile(r"0|1|0?\.[0-9]{1,6}|1\.0{1,6}", re.ASCII)


def read_probability(raw: Any) -> Probability:
    text = number_text(raw)
    if text is None or not PROBABILITY_TEXT.fullmatch(text):
        raise ValueError(PROBABILITY_REASON)
    return Probability(compute_percent(100, str(Decimal(text) * 100)))


class CardNumber(str):
    """The digits of a card number. On the wire a text that may contain spaces."""


CARD_REASON = "a card number: its digits, with a right length and check digit"


def read_card_number(raw: Any) -> CardNumber:
    digits = raw.replace(" ", "") if isinstance(raw, str) and len(raw) <= 30 else ""
    if not is_card_number(digits):
        raise ValueError(CARD_REASON)
    return CardNumber(digits)


def get_fault_code(error: ValueError) -> str:
    return error.code if isinstance(error, FieldFault) else FIELD_INVALID


class CustomFieldType:
    """Base of field types that parse and describe themselves. A type that only one slice needs lives in that slice."""

    @classmethod
    def read(cls, raw: Any) -> Any:
        """Parses a value. Raises ValueError with the error text."""
        raise NotImplementedError

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Returns the JSON Schema of the wire form."""
        raise NotImplementedError

    @classmethod
    def find_errors(cls, raw: Any, path: str) -> list[FieldError]:
        """Returns every error of a value, each with its own path."""
        try:
            cls.read(raw)
        except ValueError as error:
            return [FieldError(path, str(error), get_fault_code(error))]
        return []

    @classmethod
    def read_parts(cls, raw: Any) -> dict[str, Any]:
        """Returns the parts of a composite value that could be parsed, by name."""
        return {}


class ChosenCurrency(str, CustomFieldType):
    """One of the currencies that an action accepts. NG is read as NGN.

    Subclasses set `allowed` and `reason`, so that the error text lists no currency that the action would refuse.
    Contract: #requests
    """

    __slots__ = ()
    allowed: ClassVar[tuple[str, ...]] = CURRENCIES
    reason: ClassVar[str] = CURRENCY_REASON

    @classmethod
    def read(cls, raw: Any) -> "ChosenCurrency":
        text = "NGN" if raw == "NG" else raw
        if text not in cls.allowed:
            raise make_choice_fault(cls.reason, raw, cls.allowed)
        return cls(text)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        spelled = [*cls.allowed, *(["NG"] if "NGN" in cls.allowed else [])]
        return {"type": "string", "enum": spelled, "description": cls.reason}


CARD_PREFIX_REASON = "the first six digits of a card's number"
CARD_PREFIX = re.compile(r"([0-9]{6})[0-9]{0,13}", re.ASCII)


class CardPrefix(str, CustomFieldType):
    """The first six digits of a card number. Of a full card number, the other digits are dropped.

    Contract: resources#card
    """

    __slots__ = ()

    @classmethod
    def read(cls, raw: Any) -> "CardPrefix":
        digits = raw.replace(" ", "") if isinstance(raw, str) and len(raw) <= 30 else ""
        match = CARD_PREFIX.fullmatch(digits)
        if match is None:
            raise ValueError(CARD_PREFIX_REASON)
        return cls(match[1])

    @classmethod
    def schema(cls) -> dict[str, Any]:
        return {"type": "string", "pattern": "^[0-9 ]{6,30}$", "description": CARD_PREFIX_REASON}


class NonNegativeInt(int):
    """A whole number that is not negative. On the wire a number (`3`, `3.0`) or its digits as text."""


NON_NEGATIVE_INT_REASON = "a whole number, not negative"
NON_NEGATIVE_INT_TEXT = re.compile(r"([0-9]{1,9})(\.0{1,6})?", re.ASCII)


def read_non_negative_int(raw: Any) -> NonNegativeInt:
    text = number_text(raw)
    match = None if text is None else NON_NEGATIVE_INT_TEXT.fullmatch(text)
    if match is None:
        raise ValueError(NON_NEGATIVE_INT_REASON)
    return NonNegativeInt(match[1])


class PercentRate(str):
    """A rate in percent, kept as the text that was sent. On the wire a number or a numeric text."""


RATE_REASON = "a percentage from 0 to 1000 with at most six decimals"
RATE_TEXT = re.compile(r"(1000(\.0{1,6})?|[0-9]{1,3}(\.[0-9]{1,6})?)", re.ASCII)


def read_percent_rate(raw: Any) -> PercentRate:
    text = number_text(raw)
    if text is None or not RATE_TEXT.fullmatch(text):
        raise ValueError(RATE_REASON)
    return PercentRate(text)


READERS: dict[type, typing.Callable[[Any], Any]] = {
    Amount: read_amount,
    AmountOrZero: read_amount_or_zero,
    PercentOrAmount: read_percent_or_amount,
    Currency: read_currency,
    Timestamp: read_timestamp,
    LagosDate: read_date,
    Probability: read_probability,
    CardNumber: read_card_number,
    NonNegativeInt: read_non_negative_int,
    PercentRate: read_percent_rate,
}


def read_scalar(kind: type, raw: Any) -> Any:
    """Parses a value of one of the types above. Raises ValueError with the error text. A decoder hook of msgspec."""
    if issubclass(kind, CustomFieldType):
        return kind.read(raw)
    reader = READERS.get(kind)
    if reader is None:
        raise NotImplementedError(f"no reader for {kind}")
    return reader(raw)


def scalar_schema(kind: type) -> dict[str, Any]:
    """Returns the JSON Schema of a field type, for the OpenAPI document."""
    if issubclass(kind, CustomFieldType):
        return kind.schema()
    if kind is Amount:
        text = {"type": "string", "pattern": f"^({AMOUNT_PATTERN})$"}
        return {"anyOf": [text, {"type": "number"}], "description": AMOUNT_REASON}
    if kind is AmountOrZero:
        text = {"type": "string", "pattern": f"^({AMOUNT_PATTERN})$"}
        return {"anyOf": [text, {"type": "number"}], "description": AMOUNT_OR_ZERO_REASON}
    if kind is PercentOrAmount:
        text = {"type": "string", "pattern": f"^{PERCENT_OR_AMOUNT_PATTERN}$"}
        number = {"type": "number", "minimum": 0, "maximum": 10**MAX_DIGITS - 1}
        return {"anyOf": [text, number], "description": PERCENT_OR_AMOUNT_REASON}
    if kind is Currency:
        return {"type": "string", "enum": [*CURRENCIES, "NG"], "description": CURRENCY_REASON}
    if kind is Timestamp:
        return {"type": "string", "format": "date-time", "description": TIMESTAMP_REASON}
    if kind is CardNumber:
        return {"type": "string", "pattern": "^[0-9 ]{12,30}$", "description": CARD_REASON}
    if kind is LagosDate:
        return {"type": "string", "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}", "description": DAY_REASON}
    if kind is Probability:
        return {"type": "number", "minimum": 0, "maximum": 1, "description": PROBABILITY_REASON}
    if kind is NonNegativeInt:
        text = {"type": "string", "pattern": r"^[0-9]{1,9}(\.0{1,6})?$"}
        return {
            "anyOf": [text, {"type": "integer", "minimum": 0, "maximum": 999_999_999}],
            "description": NON_NEGATIVE_INT_REASON,
        }
    if kind is PercentRate:
        text = {"type": "string", "pattern": r"^(1000(\.0{1,6})?|[0-9]{1,3}(\.[0-9]{1,6})?)$"}
        return {"anyOf": [text, {"type": "number", "minimum": 0, "maximum": 1000}], "description": RATE_REASON}
    raise NotImplementedError(f"no schema for {kind}")
