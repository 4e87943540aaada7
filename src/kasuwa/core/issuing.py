"""How this deployment issues cards: their label, and the range of numbers of each network.

Contract: #references, virtualcard#create
"""

import re
from collections.abc import Mapping

import msgspec

from kasuwa.core.cards import luhn_digit

# Never a magic range of the sandbox and never a real issuer's. Contract: virtualcard#create
DEFAULT_LABEL = "KSW"
DEFAULT_RANGES = "visa:400000,mastercard:520000"
# On these the sandbox's gateway reads its answers off the number (data/magic_values.json).
MAGIC_RANGES = ("411111", "512345", "506099")

PAN_DIGITS = 16
LABEL = re.compile("[A-Za-z0-9]{1,16}", re.ASCII)
RANGE = re.compile("([a-z]{2,16}):([1-9][0-9]{5,9})", re.ASCII)


class CardIssuingSettings(msgspec.Struct, frozen=True):
    """`ranges` maps a network to the first digits of its numbers; the first one is issued where none is asked for."""

    label: str
    ranges: Mapping[str, str]

    def is_own_number(self, number: str) -> bool:
        """Whether a card of this number, if there is one, was issued here."""
        return number.startswith(tuple(self.ranges.values()))


def read_label(text: str) -> str:
    if not LABEL.fullmatch(text):
        raise ValueError("must be 1 to 16 letters and digits")
    return text


def read_ranges(text: str) -> dict[str, str]:
    """`visa:400000,mastercard:520000`: each network once, six to ten first digits."""
    found: dict[str, str] = {}
    for piece in text.split(","):
        match = RANGE.fullmatch(piece)
        if match is None or match[1] in found:
            raise ValueError("must name each network once with its first six to ten digits, such as visa:400000")
        if match[2].startswith(MAGIC_RANGES):
            raise ValueError(f"must not issue from {match[2]}: the sandbox's test cards are there")
        found[match[1]] = match[2]
    return found


DEFAULT_ISSUING = CardIssuingSettings(DEFAULT_LABEL, read_ranges(DEFAULT_RANGES))


def make_pan(first_digits: str, random_bytes: bytes) -> str:
    """A number of a range, with its check digit, out of random bytes."""
    width = PAN_DIGITS - 1 - len(first_digits)
    head = f"{first_digits}{int.from_bytes(random_bytes, 'big') % 10**width:0{width}d}"
    return head + luhn_digit(head)


def mask_pan(pan: str) -> str:
    """Six digits, seven asterisks and four digits, as api.md shows it."""
    return f"{pan[:6]}*******{pan[-4:]}"
