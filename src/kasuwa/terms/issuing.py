"""Settings of card issuing: the label of card ids and the number prefix of each network.

Contract: #references, virtualcard#create
"""

import re
from collections.abc import Mapping

import msgspec

from kasuwa.core.cards import luhn_digit

# Default ranges must be neither magic ranges of the sandbox nor those of a real issuer. Contract: virtualcard#create
DEFAULT_LABEL = "KSW"
DEFAULT_RANGES = "visa:400000,mastercard:520000"
# BINs of the sandbox's test cards, whose numbers select the answer (data/magic_values.json).
MAGIC_RANGES = ("411111", "512345", "506099")

PAN_DIGITS = 16
LABEL = re.compile("[A-Za-z0-9]{1,16}", re.ASCII)
RANGE = re.compile("([a-z]{2,16}):([1-9][0-9]{5,9})", re.ASCII)


class CardIssuingSettings(msgspec.Struct, frozen=True):
    """The label and number ranges of the cards that this deployment issues."""

    label: str = DEFAULT_LABEL
    ranges: Mapping[str, str] = msgspec.field(
        default_factory=lambda: read_ranges(DEFAULT_RANGES)
    )  # first digits by network; the first network is the default

    def is_own_number(self, number: str) -> bool:
        """Returns whether a card number lies in a range that this deployment issues."""
        return number.startswith(tuple(self.ranges.values()))


def read_label(text: str) -> str:
    """Returns the label. Raises ValueError if it is invalid."""
    if not LABEL.fullmatch(text):
        raise ValueError("must be 1 to 16 letters and digits")
    return text


def read_ranges(text: str) -> dict[str, str]:
    """Parses ranges such as `visa:400000,mastercard:520000`. Raises ValueError."""
    ranges: dict[str, str] = {}
    for piece in text.split(","):
        match = RANGE.fullmatch(piece)
        if match is None or match[1] in ranges:
            raise ValueError("must name each network once with its first six to ten digits, such as visa:400000")
        if match[2].startswith(MAGIC_RANGES):
            raise ValueError(f"must not issue from {match[2]}: the sandbox's test cards are there")
        ranges[match[1]] = match[2]
    return ranges


DEFAULT_ISSUING = CardIssuingSettings(DEFAULT_LABEL, read_ranges(DEFAULT_RANGES))


def make_pan(first_digits: str, random_bytes: bytes) -> str:
    """Returns a card number with these first digits, random digits and the check digit."""
    width = PAN_DIGITS - 1 - len(first_digits)
    head = f"{first_digits}{int.from_bytes(random_bytes, 'big') % 10**width:0{width}d}"
    return head + luhn_digit(head)


def mask_pan(pan: str) -> str:
    """Masks a card number: first six digits, seven asterisks, last four digits. Contract: virtualcard#get"""
    return f"{pan[:6]}*******{pan[-4:]}"
