"""The words that a transfer is found by: those of the name on the account, its last four digits, and the amount."""

import contextlib

from kasuwa.core.keyring import UnsealError
from kasuwa.core.vault import Vault
from kasuwa.methods.disburse.model import TRANSFER_DETAIL_DECODER
from kasuwa.methods.disburse.receipts import open_facts
from kasuwa.wire.search_words import amount_word, hash_words, number_words, split_name


def hash_transfer(
    vault: Vault, merchant_id: int, txn_ref: str, detail: str, sealed: bytes | None, amount: int
) -> set[bytes]:
    """Returns the hashes of a stored transfer's words. The name is known if the rail reported it."""
    order = TRANSFER_DETAIL_DECODER.decode(detail)
    words = [amount_word(amount), *number_words(order.account_number)]
    with contextlib.suppress(UnsealError):
        words += split_name(open_facts(merchant_id, txn_ref, sealed, vault.unseal).name)
    return hash_words(vault.digest, merchant_id, words)
