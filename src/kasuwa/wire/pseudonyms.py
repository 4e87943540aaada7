"""Pseudonyms of people: values that stand for names, addresses and numbers where a record must not have them.

A pseudonym is a keyed hash in the form of the value that it stands for: a telephone number becomes another one, an
email address one at example.com. The same value has the same pseudonym everywhere in a deployment, and nobody can find
the value without the key (Vault.hash_person).
"""

import re
from collections.abc import Callable
from datetime import date, timedelta

# Returns a keyed hash of at least 16 bytes.
Hash = Callable[[str], bytes]

EMAIL = re.compile(r"[^@\s]+@[^@\s]+", re.ASCII)
DIGITS = re.compile(r"\+?[0-9][0-9 .\-]{5,30}", re.ASCII)
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
# Telephone numbers are compared without what precedes the number of the subscriber in Nigeria.
NIGERIAN_PHONE = re.compile(r"(\+?234|0)([789][0-9]{9})", re.ASCII)
FIRST_DAY, DAYS = date(1960, 1, 1), 12_000
CONSONANTS, VOWELS = "bdfgklmnprst", "aeiou"
SYLLABLES = 5
DOMAIN = "example.com"


def make_pseudonym(text: str, hash_text: Hash) -> str:
    """Returns the pseudonym of a value. An empty text stays empty."""
    plain = " ".join(text.split()).casefold()
    if not plain:
        return ""
    if EMAIL.fullmatch(plain):
        return f"p{hash_text(plain).hex()[:16]}@{DOMAIN}"
    if DAY.fullmatch(plain):
        return str(FIRST_DAY + timedelta(days=int.from_bytes(hash_text(plain)[:4]) % DAYS))
    if DIGITS.fullmatch(plain):
        return make_number(re.sub(r"[ .\-]", "", plain), hash_text)
    return make_name(hash_text(plain))


def make_number(plain: str, hash_text: Hash) -> str:
    """Returns a number of as many digits. One that may be a telephone number stays one."""
    phone = NIGERIAN_PHONE.fullmatch(plain)
    if phone is not None:
        return f"{phone[1]}803{hash_digits(hash_text(phone[2]), 7)}"
    sign, digits = ("+", plain[1:]) if plain.startswith("+") else ("", plain)
    drawn = hash_digits(hash_text(digits), len(digits))
    # Numbers that begin with 000000 choose outcomes in the test environment.
    return f"{sign}{'2' if drawn[0] == '0' else drawn[0]}{drawn[1:]}"


def hash_digits(hashed: bytes, count: int) -> str:
    return f"{int.from_bytes(hashed) % 10**count:0{count}d}"


def make_name(hashed: bytes) -> str:
    """Returns a word that can be pronounced, with a capital."""
    pairs = zip(hashed[:SYLLABLES], hashed[SYLLABLES : 2 * SYLLABLES], strict=True)
    word = "".join(CONSONANTS[one % len(CONSONANTS)] + VOWELS[other % len(VOWELS)] for one, other in pairs)
    return word.capitalize()
