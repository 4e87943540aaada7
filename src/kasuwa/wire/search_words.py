"""The words that things are found by: of names and titles, the last four digits of numbers, email addresses, amounts.

Words are whole, without case and accents. They are stored as keyed hashes that differ by merchant. See
docs/decisions/0081 and 0104.
"""

from collections.abc import Iterable, Iterator

from kasuwa.core.keyring import Digest
from kasuwa.core.references import first_number
from kasuwa.wire.people import split_words

SHORTEST_WORD = 2
MAX_WORDS = 8
LAST_DIGITS = 4


def hash_search(digest: Digest, merchant_id: int, word: str) -> bytes:
    return digest(f"payer word {first_number(merchant_id)} {word}".encode())


def hash_words(digest: Digest, merchant_id: int, words: Iterable[str]) -> set[bytes]:
    return {hash_search(digest, merchant_id, word) for word in words}


def split_name(name: str) -> list[str]:
    return [word for word in split_words(name) if len(word) >= SHORTEST_WORD][:MAX_WORDS]


def number_words(*numbers: str) -> Iterator[str]:
    """Yields the words that stand for the ends of card and account numbers. Numbers that are too short have none."""
    for number in numbers:
        if len(number) > LAST_DIGITS and number[-LAST_DIGITS:].isdecimal():
            yield last_digits(number)


def last_digits(number: str) -> str:
    """Returns the word that stands for the end of a card or account number."""
    return f"•{number[-LAST_DIGITS:]}"


def address_words(address: str) -> Iterator[str]:
    """Yields the word that stands for a whole email address, if there is one."""
    if address:
        yield f"@{address.strip().casefold()}"


def amount_word(minor: int) -> str:
    return f"={minor}"


def question_words(text: str) -> list[str]:
    """Returns the words that something must all have to be found by a text: an email address, four digits, or words of
    a name or title."""
    if "@" in text:
        return list(address_words(text))
    if text.isascii() and text.isdecimal():
        return [last_digits(text)] if len(text) == LAST_DIGITS else []
    return list(dict.fromkeys(split_name(text)))
