"""Reads amounts as banks print them, to minor units, never through a float."""

import re
from functools import lru_cache

from kasuwa.core.money import DECIMALS, LARGEST_AMOUNT, MINOR_PER_MAJOR

# After the sign, the parentheses and the words CR and DR are taken off. Digits are ASCII digits.
SIGNS = re.compile(r"(?P<open>\()?\s*(?P<minus>[-+])?\s*(?P<figure>[0-9][^()+-]*?)\s*(?P<after>[-+])?\s*(?P<close>\))?")
MARKED = re.compile(r"(.*[0-9)])\s*(CR|DR|C|D)\.?", re.IGNORECASE | re.ASCII)
GROUPS = re.compile(r"[0-9]{1,3}(?:,[0-9]{2,3})*,[0-9]{3}", re.ASCII)
DIGITS = re.compile(r"[0-9]+", re.ASCII)


@lru_cache(maxsize=4)
def quick_pattern(decimal: str) -> re.Pattern[str]:
    """Returns the pattern of a plain amount, which most are: it is read without a further look."""
    return re.compile(rf"(-?)([0-9]{{1,15}}){re.escape(decimal)}([0-9]{{2}})", re.ASCII)


def parse_amount(text: str, decimal: str = ".", thousands: str = ",") -> int | None:
    """Parses a signed amount. Returns None if it is not one, or is not in whole minor units.

    Negative amounts may have a minus before or after, parentheses, or DR after them. `thousands` may be empty. Groups
    of digits must be of three, or of two before the last (as in 12,34,567.00).
    """
    plain = quick_pattern(decimal).fullmatch(text)
    if plain is not None:
        minor = int(plain[2]) * MINOR_PER_MAJOR + int(plain[3])
        return checked(-minor if plain[1] else minor)
    marked = MARKED.fullmatch(text.strip())
    is_debit = marked is not None and marked[2].upper().startswith("D")
    match = SIGNS.fullmatch(text.strip() if marked is None else marked[1])
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    signs = [bool(match["open"]), match["minus"] == "-", match["after"] == "-", is_debit]
    if (match["minus"] and match["after"]) or sum(signs) > 1:
        return None
    minor_or_none = parse_figure(match["figure"], decimal, thousands)
    if minor_or_none is None:
        return None
    return checked(-minor_or_none if any(signs) else minor_or_none)


def checked(minor: int) -> int | None:
    return minor if abs(minor) <= LARGEST_AMOUNT else None


def parse_figure(figure: str, decimal: str, thousands: str) -> int | None:
    whole, point, cents = figure.partition(decimal)
    if point and (DIGITS.fullmatch(cents) is None or cents[DECIMALS:].strip("0")):
        return None
    if thousands and thousands in whole:
        if GROUPS.fullmatch(whole.replace(thousands, ",")) is None or "," in whole.replace(thousands, ""):
            return None
        whole = whole.replace(thousands, "")
    if DIGITS.fullmatch(whole) is None or len(whole) > 18:
        return None
    return int(whole) * MINOR_PER_MAJOR + int(cents[:DECIMALS].ljust(DECIMALS, "0") or "0")
