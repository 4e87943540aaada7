"""Money as whole numbers of minor units, parsed from text and formatted as text, never through a float."""

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

# Every supported currency has two decimals (data/currencies_countries.json).
MINOR_PER_MAJOR = 100
CURRENCIES = ("NGN", "USD", "GHS", "KES")

DECIMALS = 2

# Most digits of an amount, decimals included. Applies to parsing, the OpenAPI document and the ledger.
# Contract: #amounts
MAX_DIGITS = 15
LARGEST_AMOUNT = (10**MAX_DIGITS - 1) * MINOR_PER_MAJOR
# A balance must fit PostgreSQL's bigint.
LARGEST_BALANCE = 9_000_000_000_000_000_000

# Each decimal leaves room for one whole digit less.
AMOUNT_PATTERN = "|".join(
    rf"[0-9]{{1,{MAX_DIGITS - decimals}}}" + (rf"\.[0-9]{{{decimals}}}" if decimals else "")
    for decimals in range(DECIMALS + 1)
)
# Checked before any conversion: `int` and `Decimal` accept Arabic digits, signs, spaces and exponents, and converting
# Decimal("1E+1000000") to an int takes most of a minute. Contract: #amounts
AMOUNT_TEXT = re.compile(AMOUNT_PATTERN, re.ASCII)


def parse_minor(text: str) -> int | None:
    """Parses an amount in major units to minor units. Returns None if it is not a valid amount."""
    if AMOUNT_TEXT.fullmatch(text) is None:
        return None
    whole, _, cents = text.partition(".")
    return int(whole) * MINOR_PER_MAJOR + int(cents.ljust(DECIMALS, "0"))


def format_minor(minor: int) -> str:
    """Formats minor units with two decimals and no separators: 123456 is "1234.56". Contract: #replies"""
    whole, cents = divmod(abs(minor), MINOR_PER_MAJOR)
    return f"{'-' if minor < 0 else ''}{whole}.{cents:02d}"


def format_grouped(minor: int) -> str:
    """Formats minor units with thousands separators, as in card balances: 123456 is "1,234.56"."""
    return f"{minor // MINOR_PER_MAJOR:,}.{minor % MINOR_PER_MAJOR:02d}"


@lru_cache(maxsize=1024)
def convert_to_minor(major: str) -> int:
    """Converts an amount of our own tables ("2500", "0.50") to minor units. Raises ValueError."""
    minor = parse_minor(major)
    if minor is None:
        raise ValueError(f"not a figure: {major!r}")
    return minor


@lru_cache(maxsize=1024)
def parse_percent(percent: str) -> tuple[int, int]:
    """Returns a percentage as numerator and denominator."""
    exact = Fraction(Decimal(percent)) / 100
    return exact.numerator, exact.denominator


def compute_percent(minor: int, percent: str) -> int:
    """Returns a percentage of a non-negative amount, rounded half up to the minor unit. Contract: #fees"""
    numerator, denominator = parse_percent(percent)
    return (minor * numerator * 2 + denominator) // (denominator * 2)
