"""Field types for personal data: dates, telephone numbers and Bank Verification Numbers (BVN).

Contract: clients#create
"""

import re
import unicodedata
from collections.abc import Collection
from datetime import date
from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kasuwa.core.decision import Merchant
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.wire.fields import DAY_TEXT, END, FREE_TEXT, CustomFieldType

PersonName = Annotated[
    str, Meta(min_length=1, max_length=100, pattern=r"\S", description="1 to 100 characters", extra=FREE_TEXT)
]
Email = Annotated[
    str, Meta(max_length=254, pattern=rf"^[^@\s]+@[^@\s.]+(\.[^@\s.]+)+{END}", description="an email address")
]


class SealedDetail(msgspec.Struct, frozen=True):
    """A person's data as stored: encrypted, with keyed hashes to search by."""

    detail_sealed: bytes
    phone_hash: bytes | None
    email_hash: bytes | None


# --- days -----------------------------------------------------------------------------------------------------

DAY_REASON = "a day as YYYY-MM-DD"
FIRST_YEAR = 1900


class DateText(str, CustomFieldType):
    """A calendar date as text. A time after it is allowed and ignored. Contract: #times"""

    __slots__ = ()

    @classmethod
    def read(cls, raw: Any) -> "DateText":
        match = DAY_TEXT.fullmatch(raw) if isinstance(raw, str) else None
        try:
            day = None if match is None else date.fromisoformat(match[1])
        except ValueError:
            day = None
        if day is None or day.year < FIRST_YEAR:
            raise ValueError(DAY_REASON)
        return cls(day.isoformat())

    @classmethod
    def schema(cls) -> dict[str, Any]:
        return {"type": "string", "format": "date", "description": DAY_REASON}


# --- telephones -------------------------------------------------------------------------------------------------

PHONE_REASON = "a telephone number of its country, or one with + and its country's code"
SEPARATORS = re.compile(r"[ ()./-]")

# Pattern of national numbers by calling code: mobile numbers, then fixed lines. Numbers of other countries are only
# checked against E.164: at most 15 digits, the first of them not 0.
NATIONAL_NUMBERS = {
    "234": re.compile(r"(70|80|81|90|91)[0-9]{8}|1[0-9]{7}|20[1-9][0-9]{7}", re.ASCII),
    "233": re.compile(r"(2[0-9]|5[0-9])[0-9]{7}|3[0-9]{8}", re.ASCII),
    "254": re.compile(r"(7[0-9]|1[01])[0-9]{7}|[2-6][0-9]{6,8}", re.ASCII),
    "1": re.compile(r"[2-9][0-9]{2}[2-9][0-9]{6}", re.ASCII),
}
# Trunk prefix that is dialed before a national number, by calling code.
TRUNKS = {"234": "0", "233": "0", "254": "0", "1": ""}
DEFAULT_CALLING_CODE = "234"
E164_DIGITS = re.compile(r"[1-9][0-9]{6,14}", re.ASCII)


def is_telephone(phone: str, homes: Collection[str] = (DEFAULT_CALLING_CODE,)) -> bool:
    """Returns whether a text is a valid number of the country whose code it begins with, or else of one of `homes`.

    `homes` are calling codes.
    """
    digits = SEPARATORS.sub("", phone)
    if digits.startswith("+"):
        return is_international(digits[1:])
    if digits.startswith("00"):
        return is_international(digits[2:])
    return any(is_national(digits, code) or is_international(digits, code) for code in homes)


def canonical_phone(phone: str, homes: Collection[str] = (DEFAULT_CALLING_CODE,)) -> str:
    """Returns a telephone number in E.164 form, the same for every spelling of it.

    A number without a calling code that is valid in none of `homes` is returned without separators.
    """
    digits = SEPARATORS.sub("", phone)
    if digits.startswith("+"):
        return digits
    if digits.startswith("00"):
        return "+" + digits[2:]
    for code in sorted(homes):
        if is_national(digits, code):
            return f"+{code}{digits.removeprefix(TRUNKS[code])}"
        if is_international(digits, code):
            return f"+{digits}"
    return digits


def identify_customer(email: str, phone: str) -> str:
    """Returns what a customer is known by: the email address, or the telephone number in E.164 form if there is none.
    Empty if there is neither."""
    return email or canonical_phone(phone)


def is_national(digits: str, code: str) -> bool:
    trunk = TRUNKS[code]
    return digits.startswith(trunk) and NATIONAL_NUMBERS[code].fullmatch(digits.removeprefix(trunk)) is not None


def is_international(digits: str, home: str = "") -> bool:
    """Returns whether digits are a calling code (`home`, if given) followed by a valid number of that country."""
    if not E164_DIGITS.fullmatch(digits) or not digits.startswith(home):
        return False
    code = next((code for code in NATIONAL_NUMBERS if digits.startswith(code)), None)
    return code is None or NATIONAL_NUMBERS[code].fullmatch(digits.removeprefix(code)) is not None


@cache
def calling_codes() -> dict[str, str]:
    """Returns the calling codes by country code (alpha-2, alpha-3) and by country name, in lower case."""
    codes = {}
    for row in load_reference_data("currencies_countries")["countries"]:
        for name in (row["alpha2"], row["alpha3"], row["name"]):
            codes[name.lower()] = row["calling"]
    return codes


def calling_code(country: str) -> str:
    """Returns the calling code of a country, or Nigeria's if the country is unknown. Contract: clients#create"""
    return calling_codes().get(country.strip().lower(), DEFAULT_CALLING_CODE)


class Phone(str, CustomFieldType):
    """A telephone number as it was sent.

    A number without a calling code is accepted if it is valid in any known country. A rule must check the client's.
    """

    __slots__ = ()

    @classmethod
    def read(cls, raw: Any) -> "Phone":
        if not isinstance(raw, str) or len(raw) > 30 or not is_telephone(raw, NATIONAL_NUMBERS):
            raise ValueError(PHONE_REASON)
        return cls(raw)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        return {"type": "string", "maxLength": 30, "description": PHONE_REASON}


# --- the Bank Verification Number -------------------------------------------------------------------------------

BVN_REASON = "eleven digits that begin with 22"
BVN_TEXT = re.compile(r"22[0-9]{9}", re.ASCII)
# The documented sample does not begin with 22. Outside the test environment `check_bvn` refuses it.
Bvn = Annotated[str, Meta(pattern="^(22[0-9]{9}|12345678901)" + END, max_length=11, description=BVN_REASON)]


@cache
def magic_bvns() -> frozenset[str]:
    """Returns the BVNs that select the sandbox registry's answer, including the documented sample."""
    return frozenset(bvn for bvn in load_reference_data("magic_values")["bvn"] if bvn.isdecimal())


def is_magic_bvn(merchant: Merchant, bvn: str) -> bool:
    return merchant.environment == "test" and bvn in magic_bvns()


def check_bvn(merchant: Merchant, bvn: str | None) -> str | None:
    """Field rule: returns what is wrong with a BVN, or None."""
    if bvn is None or BVN_TEXT.fullmatch(bvn) or is_magic_bvn(merchant, bvn):
        return None
    return BVN_REASON


def mask_bvn(bvn: str) -> str:
    """Masks a BVN except its first three and last two digits. Contract: clients#create"""
    return f"{bvn[:3]}******{bvn[-2:]}"


# --- names ----------------------------------------------------------------------------------------------------------


def split_words(name: str) -> list[str]:
    """Returns the words of a name without case and accents."""
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", name.casefold()) if not unicodedata.combining(sign))
    return "".join(sign if sign.isalnum() else " " for sign in plain).split()
