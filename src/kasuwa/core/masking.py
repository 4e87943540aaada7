"""Card numbers typed where they do not belong, such as a narration, are masked before anything is kept."""

import re

from kasuwa.core.cards import is_card_number, range_of

SHORTEST = 13
SHOWN_HEAD, SHOWN_TAIL = 6, 4
# Digits in a row, with at most one space, hyphen or dot between two of them; not part of a longer number.
DIGITS = re.compile(r"(?<![0-9])[0-9](?:[ .\-]?[0-9]){12,18}(?![0-9])", re.ASCII)


def mask_card_numbers(text: str) -> str:
    """Returns the text with every card number reduced to its first six and last four digits. A number counts as a
    card's if a card network has its range and length and its check digit is right."""
    if len(text) < SHORTEST:
        return text
    return DIGITS.sub(mask_match, text)


def mask_match(match: re.Match[str]) -> str:
    found = match[0]
    digits = "".join(character for character in found if character.isdecimal())
    if range_of(digits) is None or not is_card_number(digits):
        return found
    return f"{digits[:SHOWN_HEAD]}{'*' * (len(digits) - SHOWN_HEAD - SHOWN_TAIL)}{digits[-SHOWN_TAIL:]}"
