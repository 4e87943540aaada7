"""The token index: finds the merchant and reference of an account number, card number, cashcode or page token.

Its keys are keyed hashes, so that the table does not reveal any token. Only rail callbacks and payer pages use it, as
they do not know the merchant. See engine/token_index.py.
"""

from collections.abc import Callable
from typing import ClassVar

from kasuwa.core.decision import Context, Row
from kasuwa.core.references import key_mask, mask_key
from kasuwa.core.vault import Vault


class TokenIndexEntry(Row):
    """Maps the keyed hash of a token to a merchant and reference."""

    table: ClassVar[str] = "token_index"
    coded_columns: ClassVar[tuple[str, ...]] = ("kind", "reference")

    kind: str
    reference: str
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False


def token_key(vault: Vault, kind: str, token: str) -> bytes:
    """Returns the keyed hash of a token. `kind` separates equal tokens, such as an account number and a cashcode."""
    return token_digest(vault.digest, kind, token)


def token_digest(digest: Callable[[bytes], bytes], kind: str, token: str) -> bytes:
    """Like `token_key`, for a reader that has the vault's keyed hash alone."""
    return digest(f"directory {kind} {token}".encode())


def own_token_key(context: Context, kind: str, token: str) -> bytes:
    """Returns the key under which the merchant's own rules find a token. A merchant with a token space of its own, a
    fork, has the numbers of what it is a copy of beside it: theirs are found under other keys."""
    return space_key(context.merchant.token_space, token_key(context.vault, kind, token))


def space_key(space: int, key: bytes) -> bytes:
    """Returns the key of a token in the token space of a merchant, 0 for that which all others share."""
    return mask_key(key, key_mask(space)) if space else key


def make_token_entry(context: Context, kind: str, token: str, reference: str) -> TokenIndexEntry:
    """Returns the row that makes a reference of the merchant findable by a token."""
    return TokenIndexEntry(own_token_key(context, kind, token), context.merchant.merchant_id, kind, reference)


def make_page_entry(context: Context, kind: str, token: str, reference: str) -> TokenIndexEntry:
    """Like `make_token_entry`, for the token of a page, which is looked up without its merchant."""
    return TokenIndexEntry(token_key(context.vault, kind, token), context.merchant.merchant_id, kind, reference)
