"""Row keys and references.

A *key* identifies a row: 128 bits of BLAKE2b over merchant, table and reference, each with its length, so that no two
merchants, tables or references share one. A *reference* is shown to people: a number from the merchant's counter
through a secret permutation (no collisions, and it does not reveal the merchant's volume), a date, and a check letter
that detects typing errors without a lookup. References are unique per merchant, so rails get them together with the
merchant id (`rail_key`).

Contract: #references
"""

import re
import struct
from collections.abc import Callable
from datetime import date
from functools import lru_cache
from hashlib import blake2b, shake_128

KEY_BYTES = 16

# Books that are a copy of others (sandbox/worlds) have the number of these plus this times a random number. Whatever is
# shown and follows from the number of books follows from that of the first ones, so that a copy continues like them.
COPY_UNIT = 1_000_000_000


def first_number(merchant_id: int) -> int:
    """Returns the number of the books that these are a copy of, directly or not. Their own number if of none."""
    return merchant_id % COPY_UNIT if merchant_id >= COPY_UNIT else merchant_id


@lru_cache(maxsize=4096)
def key_mask(number: int) -> int:
    """Returns by what the keys of a copy differ from those of the first books: 0 if the number is that of no copy."""
    if number < COPY_UNIT:
        return 0
    return int.from_bytes(blake2b(b"%d" % number, digest_size=KEY_BYTES, person=b"copy").digest(), "big")


def mask_key(key: bytes, mask: int) -> bytes:
    """Returns the key of the same row in another copy. `mask` is that of one copy, or both of two, combined by XOR."""
    return (int.from_bytes(key, "big") ^ mask).to_bytes(KEY_BYTES, "big")


def first_key(merchant_id: int, key: bytes) -> bytes:
    """Returns the key that a row of a copy has in the first books, for texts that a further key is made of."""
    return mask_key(key, key_mask(merchant_id)) if merchant_id >= COPY_UNIT else key


def row_key(merchant_id: int, table: str, reference: str) -> bytes:
    if merchant_id >= COPY_UNIT:
        return mask_key(row_key(merchant_id % COPY_UNIT, table, reference), key_mask(merchant_id))
    name, suffix = table.encode(), reference.encode()
    text = b"%d:%d:%b%d:%b" % (merchant_id, len(name), name, len(suffix), suffix)
    return blake2b(text, digest_size=KEY_BYTES).digest()


@lru_cache(maxsize=65536)
def account_key(merchant_id: int, name: str) -> bytes:
    """Like `row_key`. Cached, because every request needs the keys of the merchant's few accounts."""
    return row_key(merchant_id, "account", name)


@lru_cache(maxsize=65536)
def merchant_state_key(merchant_id: int) -> bytes:
    return row_key(merchant_id, "book", "")


@lru_cache(maxsize=8192)
def job_key(subject: bytes) -> bytes:
    """Returns the key of the job of a row that has one job at a time, so that any rule can load it."""
    return blake2b(subject, digest_size=KEY_BYTES, person=b"job").digest()


@lru_cache(maxsize=64)
def kind_mark(kind: str) -> bytes:
    return blake2b(kind.encode(), digest_size=2).digest()


def ordered_key(moment_ms: int, kind: str, key: bytes) -> bytes:
    """Returns a key that begins with a time, so that new rows go to the end of the index.

    For rows that are not looked up by reference. The kind distinguishes two jobs of a row in the same millisecond.
    """
    return moment_ms.to_bytes(6, "big") + kind_mark(kind) + key[:8]


def rail_key(merchant_id: int, reference: str) -> str:
    """Returns the reference by which a rail knows an order, unique among all merchants.

    It contains the merchant id and not the mid: after a reset the merchant keeps its mid and may reuse references.
    """
    return f"{merchant_id} {reference}"


def read_rail_key(key: str) -> tuple[int, str]:
    """Returns the number of the books and the reference that a rail key was made of. The number is 0 if no books sent
    the order: a rail announced it, and the key begins with the rail's name (rails/inbox/card_messages.py)."""
    number, _, reference = key.partition(" ")
    return int(number) if number.isdecimal() else 0, reference


def first_rail_key(key: str) -> str:
    """Returns the rail key of the same order in the first books. What the sandbox rails draw from it is the same in a
    copy of the books."""
    number, reference = read_rail_key(key)
    return rail_key(first_number(number), reference)


def reference_of_rail_key(key: str) -> str:
    """Returns the order reference of a rail key, from which the sandbox rails derive their data."""
    return key.partition(" ")[2]


# --- references on the wire of a rail ----------------------------------------------------------------------------

# Letters of one case, digits and dashes suit every vendor but VTpass, which takes no dashes.
WIRE_REFERENCE = re.compile(r"kz([1-9][0-9]{0,17})-(gp[0-9]{17}[a-z]|gp-[a-z]{2}-[0-9]{9}-[0-9]{8}[a-z])", re.ASCII)
COMPACT_REFERENCE = re.compile(r"([1-9][0-9]{0,17})gp([a-z]{2})?([0-9]{9})([0-9]{8}[a-z])", re.ASCII)


def wire_reference(key: str) -> str:
    """Returns a rail key in the form that is sent to rails, such as `kz12-gp-fd-123456789-20250101x`."""
    merchant, _, reference = key.partition(" ")
    return f"kz{merchant}-{reference.lower().replace('|', '-')}"


def parse_wire_reference(text: str) -> str | None:
    """Returns the rail key of a wire reference. None if it is not one: it then belongs to somebody else."""
    match = WIRE_REFERENCE.fullmatch(text)
    return None if match is None else checked_rail_key(match[1], match[2].upper().replace("-", "|"))


def parse_payment_reference(text: str) -> str | None:
    """Returns the rail key of a payment's wire reference. None if it is not one."""
    key = parse_wire_reference(text)
    return None if key is None or "|" in key else key


def compact_reference(key: str) -> str:
    """Returns a rail key in letters and digits alone, such as `12gpbp12345678920250101x`."""
    merchant, _, reference = key.partition(" ")
    return f"{merchant}{reference.lower().replace('|', '')}"


def parse_compact_reference(text: str) -> str | None:
    """Returns the rail key of a compact reference. None if it is not one: it then belongs to somebody else."""
    match = COMPACT_REFERENCE.fullmatch(text)
    if match is None:
        return None
    merchant, kind, number, day = match.groups()
    return checked_rail_key(merchant, (f"GP{number}{day}" if kind is None else f"GP|{kind}|{number}|{day}").upper())


def checked_rail_key(merchant: str, reference: str) -> str | None:
    return rail_key(int(merchant), reference) if is_reference(reference) else None


# --- ids that nobody can guess --------------------------------------------------------------------------------

ALPHANUMERICS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
OPAQUE_LENGTH = 22


def opaque_id(prefix: str, entropy: bytes) -> str:
    """Returns `prefix` and 22 alphanumerics, some 131 bits derived from the decision's entropy.

    Contract: #references
    """
    number = int.from_bytes(blake2b(prefix.encode(), key=entropy[:64], digest_size=32).digest(), "big")
    places = (number // 62**place % 62 for place in range(OPAQUE_LENGTH))
    return prefix + "".join(ALPHANUMERICS[digit] for digit in places)


def is_opaque_id(prefix: str, text: str) -> bool:
    """Returns whether a text has the form of an opaque id. Check it before an id becomes part of an account name."""
    fits = len(text) == len(prefix) + OPAQUE_LENGTH and text.startswith(prefix)
    return fits and text.isascii() and text.isalnum()


def is_any_opaque_id(text: str) -> bool:
    """Returns whether a text has the form of an opaque id, whatever its two letters are."""
    return text[:2].isupper() and is_opaque_id(text[:2], text)


# --- the permutation of reference numbers ---------------------------------------------------------------

NUMBER_COUNT = 1_000_000_000  # nine digits
HALF_BITS = 15
HALF_MASK = (1 << HALF_BITS) - 1
ROUNDS = 4


class Permutation:
    """A keyed permutation of 0 … 999,999,999: a Feistel network over 30 bits with cycle walking."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self.of_merchant = lru_cache(maxsize=65536)(self._of_merchant)
        size = 1 << HALF_BITS
        self._tables = []
        for turn in range(ROUNDS):
            noise = shake_128(b"kasuwa reference %d" % turn + secret).digest(size * 2)
            self._tables.append([word & HALF_MASK for word in struct.unpack(f">{size}H", noise)])

    def __call__(self, number: int) -> int:
        number %= NUMBER_COUNT
        while True:
            left, right = number >> HALF_BITS, number & HALF_MASK
            for table in self._tables:
                left, right = right, left ^ table[right]
            number = left << HALF_BITS | right
            if number < NUMBER_COUNT:
                return number

    def _of_merchant(self, merchant_id: int) -> Callable[[int], int]:
        """Returns the permutation with an offset of the merchant's own, so that a merchant cannot tell from its own
        references how many another has."""
        offset = blake2b(b"%d" % first_number(merchant_id), key=self._secret[:64], digest_size=8).digest()
        start = int.from_bytes(offset, "big") % NUMBER_COUNT
        return lambda number: self(number + start)


# --- the check letter: ISO 7064 MOD 27,26, with digits and the bar given values of their own ----------------

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
VALUES = {letter: value for value, letter in enumerate(LETTERS)} | {str(d): d for d in range(10)} | {"|": 25}


# The product after each character: by the product before it, which begins with 26, then by the character.
PRODUCTS = [
    {character: ((product + value) % 26 or 26) * 2 % 27 for character, value in VALUES.items()} for product in range(27)
]


def check_letter(text: str) -> str:
    """Returns the check letter of a text. Raises KeyError if it has a character that references do not have."""
    product = 26
    for character in text:
        product = PRODUCTS[product][character]
    return LETTERS[(27 - product) % 26]


def is_reference(text: str) -> bool:
    """Returns whether a text has the form and check letter of a transaction reference."""
    head, last = text[:-1], text[-1:]
    try:
        return head.startswith("GP") and last == check_letter(head)
    except KeyError:
        return False


@lru_cache(maxsize=64)
def day_digits(day: date) -> str:
    """Returns a date as eight digits. Unlike %Y, the year always has four."""
    return f"{day.year:04d}{day.month:02d}{day.day:02d}"


def payment_reference(number: int, day: date) -> str:
    head = f"GP{number:09d}{day_digits(day)}"
    return head + check_letter(head)


def movement_reference(kind: str, number: int, day: date) -> str:
    """Returns a reference such as `GP|FD|123456789|20260105X`. `kind` is two letters: FD for transfers, BP for bills,
    RF for refunds, and others."""
    head = f"GP|{kind}|{number:09d}|{day_digits(day)}"
    return head + check_letter(head)
