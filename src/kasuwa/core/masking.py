"""Masks card numbers in free texts, such as a narration, before they are stored."""

import re

from kasuwa.core.cards import is_card_number, range_of

SHORTEST = 13
SHOWN_HEAD, SHOWN_TAIL = 6, 4
# Digits in a row, with at most one space, hyphen or dot between two of them; not part of a longer number.
DIGITS = re.compile(r"(?<![0-9])[0-9](?:[ .\-]?[0-9]){12,18}(?![0-9])", re.ASCII)


def mask_card_numbers(text: str) -> str:
    """Masks every card number in a text except its first six and last four digits.

    A number counts as a card number if it has the range and length of a card network and a valid check digit.
    """
    if len(text) < SHORTEST:
        return text
    return DIGITS.sub(mask_match, text)


def mask_match(match: re.Match[str]) -> str:
    found = match[0]
    digits = "".join(character for character in found if character.isdecimal())
    if range_of(digits) is None or not is_card_number(digits):
        return found
    return f"{digits[:SHOWN_HEAD]}{'*' * (len(digits) - SHOWN_HEAD - SHOWN_TAIL)}{digits[-SHOWN_TAIL:]}"
