"""What is found without knowing whose it is: an inbound account number, a card's number, a cashcode, a page's
token. One table gives merchant and reference; its key is a keyed hash, so that nobody who reads the table learns
a number from it. Only rails' call-backs and payers' pages look here: see db/directory.py.
"""

from typing import ClassVar

from kasuwa.core.decision import Context, Row
from kasuwa.core.secrets import Vault


class Entry(Row):
    table: ClassVar[str] = "directory"

    kind: str
    reference: str

    @property
    def is_open(self) -> bool:
        return False


def directory_key(vault: Vault, kind: str, said: str) -> bytes:
    """`kind` keeps the words of two slices apart: the same digits may be an account number and a cashcode."""
    return vault.digest(f"directory {kind} {said}".encode())


def list_as(context: Context, kind: str, said: str, reference: str) -> Entry:
    """The row that makes `reference` of this merchant findable by what is said."""
    return Entry(directory_key(context.vault, kind, said), context.merchant.merchant_id, kind, reference)
