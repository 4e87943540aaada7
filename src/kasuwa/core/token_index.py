"""What is found without knowing whose it is: an inbound account number, a card's number, a cashcode, a page's
token. One table gives merchant and reference; its key is a keyed hash, so that nobody who reads the table learns
a number from it. Only rails' call-backs and payers' pages look here: see db/token_index.py.
"""

from typing import ClassVar

from kasuwa.core.decision import Context, Row
from kasuwa.core.vault import Vault


class TokenIndexEntry(Row):
    table: ClassVar[str] = "token_index"

    kind: str
    reference: str

    @property
    def is_open(self) -> bool:
        return False


def token_key(vault: Vault, kind: str, token: str) -> bytes:
    """`kind` keeps the words of two slices apart: the same digits may be an account number and a cashcode."""
    return vault.digest(f"directory {kind} {token}".encode())


def make_token_entry(context: Context, kind: str, token: str, reference: str) -> TokenIndexEntry:
    """The row that makes `reference` of this merchant findable by what is said."""
    return TokenIndexEntry(token_key(context.vault, kind, token), context.merchant.merchant_id, kind, reference)
