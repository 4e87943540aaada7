"""Customers: the row, its personal data, and the hashes that it is found by.

A customer is a person who pays, known by the email address, or by the telephone number without one. Clients
(methods/clients) are people who borrow and save. Contract: resources#customers
"""

from collections.abc import Callable
from datetime import datetime
from typing import ClassVar

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Refusal, Row
from kasuwa.core.references import first_number, row_key
from kasuwa.wire.people import NATIONAL_NUMBERS, canonical_phone, split_words

UNKNOWN_CUSTOMER = Refusal(INVALID_REQUEST, "Invalid Customer Reference", error_code="customer_not_found")

ID_PREFIX = "CU"
# The shortest beginning of a word that finds a name, the longest that is hashed, and the words of a name that are.
SHORTEST_BEGINNING = 3
LONGEST_BEGINNING = 12
MAX_WORDS = 8
# Hexadecimal digits of a word's hash. Few customers of a merchant share a hash; a search returns them all.
WORD_HASH_DIGITS = 16


class Customer(Row):
    """One customer."""

    table: ClassVar[str] = "customer"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "detail_sealed",
        "email_hash",
        "phone_hash",
        "words",
        "changed_at",
        "erased_at",
    )

    customer_id: str
    number: int  # serial number: lists are sorted by it
    detail_sealed: bytes | None  # an encrypted CustomerData; None once erased
    # hash_customer of transactions/payers.py, of the number if there is no address; payments have the same
    email_hash: bytes | None
    phone_hash: bytes | None
    words: str  # keyed hashes of the beginnings of the words of the name, separated by spaces
    created_at: datetime
    changed_at: datetime
    erased_at: datetime | None

    @property
    def is_open(self) -> bool:
        return False


class CustomerIndex(Row):
    """Finds a customer by its id, for rules of other slices."""

    table: ClassVar[str] = "customer_index"

    customer_key: bytes

    @property
    def is_open(self) -> bool:
        return False


class CustomerData(msgspec.Struct, frozen=True, omit_defaults=True):
    """The personal data of a customer."""

    name: str
    email: str  # empty if the customer is known by the telephone number
    phone: str | None = None
    address: str | None = None

    def __repr__(self) -> str:
        return "CustomerData(…)"


DATA_DECODER: "msgspec.json.Decoder[CustomerData]" = msgspec.json.Decoder(CustomerData)


def customer_key(merchant_id: int, email_hash: bytes) -> bytes:
    return row_key(merchant_id, "customer", email_hash.hex())


def customer_index_key(merchant_id: int, customer_id: str) -> bytes:
    return row_key(merchant_id, "customer index", customer_id)


def detail_aad(customer_id: str) -> str:
    return f"customer.detail_sealed {customer_id}"


# --- searching --------------------------------------------------------------------------------------------------

Digest = Callable[[bytes], bytes]


def hash_phones(digest: Digest, merchant_id: int, phone: str) -> list[bytes]:
    """Returns the hash of a number in each country that it can belong to. The first one is stored."""
    numbers = dict.fromkeys(canonical_phone(phone, (code,)) for code in NATIONAL_NUMBERS)
    return [digest(f"customer phone {first_number(merchant_id)} {number}".encode()) for number in numbers]


def hash_word(digest: Digest, merchant_id: int, word: str) -> str:
    hashed = digest(f"customer word {first_number(merchant_id)} {word[:LONGEST_BEGINNING]}".encode())
    return hashed.hex()[:WORD_HASH_DIGITS]


def hash_name(digest: Digest, merchant_id: int, name: str) -> str:
    """Returns the hashes of all beginnings of the words of a name, separated by spaces."""
    beginnings = {
        word[:length]
        for word in split_words(name)[:MAX_WORDS]
        for length in range(min(SHORTEST_BEGINNING, len(word)), min(len(word), LONGEST_BEGINNING) + 1)
    }
    return " ".join(sorted(hash_word(digest, merchant_id, beginning) for beginning in beginnings))
