"""Masks card numbers in texts that merchants and payers write, before they are stored.

Digits count as one number whatever spaces, dashes and dots are between them. Such a number is a card number if it has
the range and length of a card network and a valid check digit. A longer number may contain one: a card number followed
by its expiry date, or two in a row. By chance every tenth number has a valid check digit, so a part of a longer number
counts only if its first six digits are those of a known issuer (core/cards.py).
"""

import re
import unicodedata
from collections.abc import Iterator

from kasuwa.core.cards import BIN_DIGITS, LONGEST, bin_records, find_range, is_card_number

SHORTEST = 13
SHOWN_HEAD, SHOWN_TAIL = 6, 4
# What people put between digits of one number, at most three: spaces of all widths, also those without any, dashes,
# dots and underscores. A sign such as | or : separates numbers.
SEPARATOR = (
    r"[\s.\-_\u00ad\u00b7\u180e\u200b-\u200f\u2010-\u2015\u202a-\u202e\u2060-\u2064\u2212\ufe58\ufe63\ufeff\uff0d]"
)
NUMBER = re.compile(rf"\d(?:{SEPARATOR}{{0,3}}\d){{{SHORTEST - 1},}}")


# A number of so many digits may be a card, a BVN or a telephone number, also if it is mistyped.
PERSONAL_DIGITS = 11
PERSONAL_NUMBER = re.compile(rf"\d(?:{SEPARATOR}{{0,3}}\d){{{PERSONAL_DIGITS - 1},}}")
# API keys, and tokens of pages and cards: so many letters and digits in a row, of which one at least is a digit.
SHORTEST_TOKEN = 40
LONG_WORD = re.compile(rf"[0-9A-Za-z_-]{{{SHORTEST_TOKEN},}}")
DIGIT = re.compile(r"[0-9]")
HIDDEN = "***"

# Fields whose values are secrets, in lower case; so is everything below one.
SECRET_FIELDS = frozenset(
    {
        "card",
        "card_no",
        "cardno",
        "cardpan",
        "cardnumber",
        "card_number",
        "number",
        "pan",
        "cardtoken",
        "ccv",
        "cvv",
        "cvc",
        "cvv2",
        "pin",
        "otp",
        "bvn",
        "nin",
        "code",
        "cashcode",
        "token",
        "key",
        "secret",
        "password",
        "passphrase",
        "authorization",
        "url",
        "webhook",
        "redirect_url",
        "proof",
        "content",
    }
)


def hide_tokens(text: str) -> str:
    """Returns a text without tokens, in a time that grows with its length alone."""
    if len(text) < SHORTEST_TOKEN:
        return text
    return LONG_WORD.sub(lambda word: HIDDEN if DIGIT.search(word[0]) else word[0], text)


def make_echo(text: str, most: int) -> str:
    """Returns a text of a request as an error may show it: without long numbers and tokens, on one line, and cut at a
    length."""
    shown = hide_tokens(PERSONAL_NUMBER.sub(HIDDEN, text[: 2 * most]))
    shown = shown if len(shown) <= most else shown[: most - 1] + "…"
    return "".join(letter if letter.isprintable() else "?" for letter in shown)


def mask_card_numbers(text: str) -> str:
    """Masks every card number in a text except its first six and last four digits."""
    return text if len(text) < SHORTEST else NUMBER.sub(mask_match, text)


def mask_reference(text: str) -> str:
    """Masks card numbers in a reference. Digits beside letters are left alone: our own references look like that, and
    must be found again."""
    return text if len(text) < SHORTEST else NUMBER.sub(mask_unless_next_to_letters, text)


def mask_unless_next_to_letters(match: re.Match[str]) -> str:
    text, before, after = match.string, max(0, match.start() - 1), match.end()
    has_letters = any(map(str.isalpha, text[before : match.start()] + text[after : after + 1]))
    return match[0] if has_letters else mask_match(match)


def mask_match(match: re.Match[str]) -> str:
    """Returns a number, masked if it is a card number or contains some."""
    number = match[0]
    places = [place for place, character in enumerate(number) if character.isdecimal()]
    digits = "".join(str(unicodedata.decimal(number[place])) for place in places)
    if is_of_network(digits):
        return f"{digits[:SHOWN_HEAD]}{'*' * (len(digits) - SHOWN_HEAD - SHOWN_TAIL)}{digits[-SHOWN_TAIL:]}"
    shown = list(number)
    for first, last in find_known_cards(digits):
        for place in places[first + SHOWN_HEAD : last - SHOWN_TAIL]:
            shown[place] = "*"
    return "".join(shown)


def is_of_network(digits: str) -> bool:
    return find_range(digits) is not None and is_card_number(digits)


def find_known_cards(digits: str) -> Iterator[tuple[int, int]]:
    """Yields the first place and the one after the last of each card number of a known issuer, in a longer number."""
    for first in range(len(digits) - SHORTEST + 1):
        if digits[first : first + BIN_DIGITS] not in bin_records():
            continue
        for last in range(first + SHORTEST, min(first + LONGEST, len(digits)) + 1):
            if is_of_network(digits[first:last]):
                yield first, last
