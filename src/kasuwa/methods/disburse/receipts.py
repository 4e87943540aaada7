"""Receipts of transfers: what the rail reported of a transfer that it paid, and the public address of its receipt.

The token of an address names the transfer and has a keyed hash, so that it cannot be guessed. Nothing is stored, and
the key has no versions: a receipt that was printed works for as long as the books. Contract: disburse#receipts
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable

import msgspec

from kasuwa.core.decision import Context
from kasuwa.core.vault import Unsealer
from kasuwa.rails.ports.orders import SESSION_ID, Answer
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction

NUMBER_BYTES, HASH_BYTES = 8, 16
PURPOSE = b"transfer receipt "
Digest = Callable[[bytes], bytes]


class RailFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """The facts that the rail reported of a transfer that it paid. Empty texts are unknown."""

    name: str = ""  # on the account
    session: str = ""  # the id of the payment at the rail, by which the beneficiary's bank finds it

    def __repr__(self) -> str:
        return "RailFacts(…)"


NO_FACTS = RailFacts()
FACTS_DECODER: "msgspec.json.Decoder[RailFacts]" = msgspec.json.Decoder(RailFacts)


def facts_aad(txn_ref: str) -> str:
    return f"transaction.facts_sealed {txn_ref}"


def seal_facts(row: Transaction, name: str, answer: Answer, context: Context) -> bytes | None:
    """Returns what the rail reported of a transfer, encrypted. None if it told nothing."""
    facts = RailFacts(name, answer.facts.get(SESSION_ID, ""))
    return None if facts == NO_FACTS else context.seal(facts_aad(row.txn_ref), msgspec.json.encode(facts))


def open_facts(merchant_id: int, txn_ref: str, sealed: bytes | None, unseal: Unsealer) -> RailFacts:
    """Returns what the rail reported of a transfer, or NO_FACTS if that is unknown or erased."""
    if sealed is None:
        return NO_FACTS
    return FACTS_DECODER.decode(unseal(merchant_id, facts_aad(txn_ref), bytes(sealed)))


# --- the address ----------------------------------------------------------------------------------------------------


def make_receipt_url(public_url: str, number: int, txn_ref: str, digest: Digest) -> str:
    """Returns the address of the receipt of a transfer. The page exists once the transfer is successful. `number` is
    that which addresses name the books by (Merchant.shown_number)."""
    named = number.to_bytes(NUMBER_BYTES, "big") + txn_ref.encode()
    token = urlsafe_b64encode(named + digest(PURPOSE + named)).decode().rstrip("=")
    return f"{public_url}/pay/receipt/{token}"


def read_receipt_token(token: str, digest: Digest) -> tuple[int, str] | None:
    """Returns the number of the books and the txnRef that a token names, or None if the service did not make it."""
    try:
        content = urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except ValueError:
        return None
    named, proof = content[:-HASH_BYTES], content[-HASH_BYTES:]
    is_ours = len(named) > NUMBER_BYTES and hmac.compare_digest(digest(PURPOSE + named), proof)
    if not is_ours or urlsafe_b64encode(content).decode().rstrip("=") != token:
        return None
    return int.from_bytes(named[:NUMBER_BYTES], "big"), named[NUMBER_BYTES:].decode()


def find_receipt_url(row: Transaction, context: Context) -> str | msgspec.UnsetType:
    """Returns the address of the receipt of a transfer that is successful."""
    if row.status != SUCCESSFUL:
        return msgspec.UNSET
    return make_receipt_url(context.public_url, context.merchant.shown_number, row.txn_ref, context.digest)
