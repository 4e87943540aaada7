"""Finds the merchant and reference that a token belongs to.

This is the only look-up without a merchant. Everything after it is read with the merchant's number.
"""

from kasuwa.core.reading import Reader
from kasuwa.core.token_index import TokenIndexEntry, space_key, token_key
from kasuwa.core.vault import Vault
from kasuwa.postgres.columns import describe_columns
from kasuwa.postgres.row_codes import require_intact

COLUMNS = ", ".join(f"d.{name}" for name in describe_columns(TokenIndexEntry).names)
BY_KEY = f"select {COLUMNS} from token_index d where d.key = $1"
# Skips books that were archived by `reset`: to the outside they no longer exist.
BY_KEY_IF_CURRENT = f"""
    select {COLUMNS} from token_index d
    join merchant m on m.merchant_id = d.merchant_id and m.current where d.key = $1
"""


async def find_owner(reader: Reader, vault: Vault, kind: str, token: str, *, space: int = 0) -> tuple[int, str] | None:
    """Returns merchant and reference of a token, or None if it is unknown or its books are archived. `space` is the
    token space that it is looked for in, by default that which merchants share. Raises RowChanged."""
    row = await reader.fetchrow(BY_KEY_IF_CURRENT, space_key(space, token_key(vault, kind, token)))
    return None if row is None else read_owner(vault, TokenIndexEntry(*row))


async def find_owner_even_archived(
    reader: Reader, vault: Vault, kind: str, token: str, *, space: int = 0
) -> tuple[int, str] | None:
    """Returns merchant and reference of a token, also from archived books, or None if it is unknown. `space` is the
    token space that it is looked for in, by default that which merchants share. Raises RowChanged."""
    row = await reader.fetchrow(BY_KEY, space_key(space, token_key(vault, kind, token)))
    return None if row is None else read_owner(vault, TokenIndexEntry(*row))


def read_owner(vault: Vault, entry: TokenIndexEntry) -> tuple[int, str]:
    require_intact(vault, entry)
    return entry.merchant_id, entry.reference
