"""Finding whose something is, by what its holder shows: the one look-up that knows no merchant yet. It answers
merchant and reference; everything after it is asked with the merchant's own number, as everywhere."""

from kasuwa.core.reading import Reader
from kasuwa.core.token_index import token_key
from kasuwa.core.vault import Vault

BY_KEY = "select merchant_id, reference from token_index where key = $1"
# What belongs to books that were put aside by `reset` is not found: to the outside it has never been there.
BY_KEY_IF_CURRENT = """
    select d.merchant_id, d.reference from token_index d
    join merchant m on m.merchant_id = d.merchant_id and m.current where d.key = $1
"""


async def find_owner(reader: Reader, vault: Vault, kind: str, token: str) -> tuple[int, str] | None:
    """The merchant and reference of what is shown, in current books; None where there is no such thing."""
    row = await reader.fetchrow(BY_KEY_IF_CURRENT, token_key(vault, kind, token))
    return None if row is None else (row[0], row[1])


async def find_owner_even_archived(reader: Reader, vault: Vault, kind: str, token: str) -> tuple[int, str] | None:
    """As `find`, but in books that were put aside as well: for what another merchant may still ask after."""
    row = await reader.fetchrow(BY_KEY, token_key(vault, kind, token))
    return None if row is None else (row[0], row[1])
