"""Card numbers: check digit, brand by number range, and the BIN table.

Contract: resources#card
"""

from functools import cache

import msgspec

from kasuwa.core.reference_tables import load_reference_data

BIN_DIGITS = 6
SHORTEST, LONGEST = 12, 19  # lengths of ISO/IEC 7812, for numbers of an unknown brand

# The digit sum of twice each digit, for the Luhn algorithm.
DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def luhn_digit(head: str) -> str:
    """Returns the Luhn check digit to append to `head` (ISO/IEC 7812-1, mod 10)."""
    total = sum(DOUBLED[int(digit)] if place % 2 == 0 else int(digit) for place, digit in enumerate(reversed(head)))
    return str(-total % 10)


def is_luhn(number: str) -> bool:
    return number.isascii() and number.isdecimal() and luhn_digit(number[:-1]) == number[-1]


class BrandRange(msgspec.Struct, frozen=True):
    """The card numbers of one brand."""

    brand: str
    lengths: tuple[int, ...]
    prefixes: tuple[str, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()  # inclusive ranges of first digits
    legacy_bins: tuple[str, ...] = ()  # BINs that were issued outside the brand's ranges

    def covers(self, number: str) -> bool:
        if number.startswith((*self.prefixes, *self.legacy_bins)):
            return True
        return any(first <= int(number[: len(str(first))]) <= last for first, last in self.ranges)


class BinRecord(msgspec.Struct, frozen=True):
    """The facts known of a card by its first six digits. For a BIN outside the table, the brand at most."""

    bin: str
    brand: str | None
    type: str | None = None
    issuer: str | None = None
    country: str | None = None


@cache
def brand_ranges() -> tuple[BrandRange, ...]:
    """Returns the brands' ranges in the order of matching: some brands have ranges inside another brand's."""
    facts = load_reference_data("bins")
    by_brand = {row.brand: row for row in msgspec.convert(facts["brand_ranges"], tuple[BrandRange, ...])}
    return tuple(by_brand[brand] for brand in facts["match_order"])


@cache
def bin_records() -> dict[str, BinRecord]:
    return {row.bin: row for row in msgspec.convert(load_reference_data("bins")["bins"], tuple[BinRecord, ...])}


def find_range(number: str) -> BrandRange | None:
    return next((row for row in brand_ranges() if row.covers(number)), None)


def find_brand(number: str) -> str | None:
    """Returns the brand of a card number or of its first six digits. The BIN table takes precedence over the ranges."""
    known = bin_records().get(number[:BIN_DIGITS])
    if known is not None:
        return known.brand
    brand_range = find_range(number)
    return None if brand_range is None else brand_range.brand


def find_bin(number: str) -> BinRecord:
    """Returns the BIN record of a card number or of its first six digits."""
    head = number[:BIN_DIGITS]
    return bin_records().get(head) or BinRecord(head, find_brand(head))


def is_card_number(number: str) -> bool:
    """Returns whether digits have a length of their brand and a valid check digit."""
    brand_range = find_range(number) if number.isascii() and number.isdecimal() else None
    lengths = range(SHORTEST, LONGEST + 1) if brand_range is None else brand_range.lengths
    return len(number) in lengths and is_luhn(number)
