"""Finds the merchant and reference that a token belongs to.

This is the only look-up without a merchant. Everything after it is read with the merchant's number.
"""

from kasuwa.core.reading import Reader
from kasuwa.core.token_index import token_key
from kasuwa.core.vault import Vault

BY_KEY = "select merchant_id, reference from token_index where key = $1"
# Skips books that were archived by `reset`: to the outside they no longer exist.
BY_KEY_IF_CURRENT = """
    select d.merchant_id, d.reference from token_index d
    join merchant m on m.merchant_id = d.merchant_id and m.current where d.key = $1
"""


async def find_owner(reader: Reader, vault: Vault, kind: str, token: str) -> tuple[int, str] | None:
    """Returns merchant and reference of a token, or None if it is unknown or its books are archived."""
    row = await reader.fetchrow(BY_KEY_IF_CURRENT, token_key(vault, kind, token))
    return None if row is None else (row[0], row[1])


async def find_owner_even_archived(reader: Reader, vault: Vault, kind: str, token: str) -> tuple[int, str] | None:
    """Returns merchant and reference of a token, also from archived books, or None if it is unknown."""
    row = await reader.fetchrow(BY_KEY, token_key(vault, kind, token))
    return None if row is None else (row[0], row[1])
