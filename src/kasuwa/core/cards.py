"""Card numbers: the check digit, the brand by its ranges, and what the table of issuers knows

Contract: resources#banks
"""

from functools import cache

import msgspec

from kasuwa.core.reference_tables import load_reference_data

BIN_DIGITS = 6
SHORTEST, LONGEST = 12, 19  # ISO/IEC 7812, for a brand we have no ranges of

# What the second digit of a pair counts for when it is doubled: the sum of the digits of twice itself.
DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def luhn_digit(head: str) -> str:
    """The check digit that makes `head` a card number (ISO/IEC 7812-1, mod 10)."""
    total = sum(DOUBLED[int(digit)] if place % 2 == 0 else int(digit) for place, digit in enumerate(reversed(head)))
    return str(-total % 10)


def is_luhn(number: str) -> bool:
    return number.isascii() and number.isdecimal() and luhn_digit(number[:-1]) == number[-1]


class BrandRange(msgspec.Struct, frozen=True):
    """The numbers of one brand: by prefix, by range of their first digits, or by single issuers of old."""

    brand: str
    lengths: tuple[int, ...]
    prefixes: tuple[str, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()
    legacy_bins: tuple[str, ...] = ()

    def covers(self, number: str) -> bool:
        if number.startswith((*self.prefixes, *self.legacy_bins)):
            return True
        return any(first <= int(number[: len(str(first))]) <= last for first, last in self.ranges)


class BinRecord(msgspec.Struct, frozen=True):
    """What is known of a card by its first six digits; where its issuer is not known, the brand at most."""

    bin: str
    brand: str | None
    type: str | None = None
    issuer: str | None = None
    country: str | None = None


@cache
def brand_ranges() -> tuple[BrandRange, ...]:
    """In the order in which they are tried: some brands have ranges inside another's."""
    facts = load_reference_data("bins")
    found = {row.brand: row for row in msgspec.convert(facts["brand_ranges"], tuple[BrandRange, ...])}
    return tuple(found[brand] for brand in facts["match_order"])


@cache
def bin_records() -> dict[str, BinRecord]:
    return {row.bin: row for row in msgspec.convert(load_reference_data("bins")["bins"], tuple[BinRecord, ...])}


def range_of(number: str) -> BrandRange | None:
    return next((row for row in brand_ranges() if row.covers(number)), None)


def brand_of(number: str) -> str | None:
    """The brand of a card number, or of its first six digits. The table wins over the ranges."""
    known = bin_records().get(number[:BIN_DIGITS])
    if known is not None:
        return known.brand
    found = range_of(number)
    return None if found is None else found.brand


def find_bin(number: str) -> BinRecord:
    """Who issued a card, by its number or its first six digits."""
    head = number[:BIN_DIGITS]
    return bin_records().get(head) or BinRecord(head, brand_of(head))


def is_card_number(number: str) -> bool:
    """Whether digits can be a card's: a length that its brand has, and the check digit."""
    found = range_of(number) if number.isascii() and number.isdecimal() else None
    lengths = range(SHORTEST, LONGEST + 1) if found is None else found.lengths
    return len(number) in lengths and is_luhn(number)
