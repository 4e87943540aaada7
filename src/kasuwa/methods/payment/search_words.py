"""The words that a payment is found by: those of the payer's name, the last four digits of the card or account, the
email address and the amount."""

from kasuwa.core.keyring import UnsealError
from kasuwa.core.vault import Vault
from kasuwa.methods.payment.model import FACTS_DECODER
from kasuwa.methods.payment.payer_model import open_detail
from kasuwa.wire.search_words import address_words, amount_word, hash_words, number_words, split_name


def hash_payment(
    vault: Vault, merchant_id: int, txn_ref: str, detail: str, sealed: bytes | None, facts: str, amount: int
) -> set[bytes]:
    """Returns the hashes of a stored payment's words. Only the amount is left if its payer cannot be decrypted."""
    words = [amount_word(amount)]
    try:
        opened = open_detail(merchant_id, txn_ref, detail, sealed, vault.unseal)
    except UnsealError:
        return hash_words(vault.digest, merchant_id, words)
    card = opened.card or FACTS_DECODER.decode(facts).card
    numbers = "" if card is None else card.mask, opened.payer_account, opened.payer
    words += [*split_name(opened.fullname), *number_words(*numbers), *address_words(opened.email)]
    return hash_words(vault.digest, merchant_id, words)
