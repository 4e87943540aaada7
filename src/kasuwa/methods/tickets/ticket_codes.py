"""Codes of tickets: twelve characters, of which the last is a check character. Contract: resources#ticket-codes

The alphabet has no letters or digits that look alike (0 and O, 1 and I). Eleven random characters are 55 bits. The
check character is that of Luhn mod N: it detects every single wrong character and nearly every swap of neighbors, so
that a mistyped code is refused without being looked up.
"""

from hashlib import blake2b

ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
BASE = len(ALPHABET)
CODE_LENGTH = 12
GROUP_LENGTH = 4
SEPARATORS = str.maketrans("", "", " -")


def check_character(body: str) -> str:
    """Returns the check character of the other characters of a code."""
    total = 0
    for place, character in enumerate(reversed(body)):
        value = ALPHABET.index(character) * (2 - place % 2)
        total += value // BASE + value % BASE
    return ALPHABET[-total % BASE]


def make_ticket_code(entropy: bytes, number: int) -> str:
    """Returns the code of the ticket `number` of a purchase, derived from the decision's entropy."""
    drawn = blake2b(b"ticket %d" % number, key=entropy[:64], digest_size=16).digest()
    random_number = int.from_bytes(drawn, "big")
    body = "".join(ALPHABET[random_number // BASE**place % BASE] for place in range(CODE_LENGTH - 1))
    return body + check_character(body)


def read_ticket_code(text: str) -> str | None:
    """Returns a code as it is stored, or None if it is not one. Case, spaces and dashes do not count."""
    code = text.translate(SEPARATORS).upper()
    if len(code) != CODE_LENGTH or not all(character in ALPHABET for character in code):
        return None
    return code if check_character(code[:-1]) == code[-1] else None


def format_ticket_code(code: str) -> str:
    """Returns a code in groups of four, as people read it."""
    return "-".join(code[start : start + GROUP_LENGTH] for start in range(0, CODE_LENGTH, GROUP_LENGTH))
