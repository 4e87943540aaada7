"""The words that a payment is found by: those of the payer's name, and the last four digits of the card or account.

Words are whole, without case and accents. They are stored as keyed hashes that differ by merchant (payment_words.py).
"""

from collections.abc import Iterator

from kasuwa.core.keyring import UnsealError
from kasuwa.core.references import first_number
from kasuwa.core.vault import Vault
from kasuwa.methods.payment.model import FACTS_DECODER, PaymentDetail, PaymentFacts
from kasuwa.methods.payment.payer_model import open_detail
from kasuwa.wire.people import split_words

SHORTEST_WORD = 2
MAX_WORDS = 8
LAST_DIGITS = 4


def hash_search(vault: Vault, merchant_id: int, word: str) -> bytes:
    return vault.digest(f"payer word {first_number(merchant_id)} {word}".encode())


def hash_payment(
    vault: Vault, merchant_id: int, txn_ref: str, detail: str, sealed: bytes | None, facts: str
) -> set[bytes]:
    """Returns the hashes of a stored payment's words. None if its payer cannot be decrypted any more."""
    try:
        opened = open_detail(merchant_id, txn_ref, detail, sealed, vault.unseal)
    except UnsealError:
        return set()
    return {hash_search(vault, merchant_id, word) for word in list_words(opened, FACTS_DECODER.decode(facts))}


def list_words(detail: PaymentDetail, facts: PaymentFacts) -> Iterator[str]:
    yield from split_name(detail.fullname)
    card = detail.card or facts.card
    for number in ("" if card is None else card.mask, detail.payer_account, detail.payer):
        if number[-LAST_DIGITS:].isdecimal() and len(number) > LAST_DIGITS:
            yield last_digits(number)


def split_name(name: str) -> list[str]:
    return [word for word in split_words(name) if len(word) >= SHORTEST_WORD][:MAX_WORDS]


def last_digits(number: str) -> str:
    """Returns the word that stands for the end of a card or account number."""
    return f"•{number[-LAST_DIGITS:]}"


def hash_question(vault: Vault, merchant_id: int, text: str) -> list[bytes]:
    """Returns the hashes that a payment must all have to be found by a text: four digits, or words of a name."""
    is_number = text.isascii() and text.isdecimal()
    words = [last_digits(text)] if is_number and len(text) == LAST_DIGITS else [] if is_number else split_name(text)
    return [hash_search(vault, merchant_id, word) for word in dict.fromkeys(words)]
