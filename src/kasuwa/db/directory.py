"""Finding whose something is, by what its holder shows: the one look-up that knows no merchant yet. It answers
merchant and reference; everything after it is asked with the merchant's own number, as everywhere."""

from kasuwa.core.directory import directory_key
from kasuwa.core.reading import Reader
from kasuwa.core.secrets import Vault

BY_KEY = "select merchant_id, reference from directory where key = $1"
# Books that were set aside by a reset have no holders any more: their cards, codes and pages are unknown.
CURRENT_BY_KEY = """
    select d.merchant_id, d.reference from directory d join merchant m on m.merchant_id = d.merchant_id
    where d.key = $1 and m.current
"""


async def find(reader: Reader, vault: Vault, kind: str, said: str) -> tuple[int, str] | None:
    """The merchant and reference of what a holder shows; None where nobody has it, or its books were set aside."""
    row = await reader.fetchrow(CURRENT_BY_KEY, directory_key(vault, kind, said))
    return None if row is None else (row[0], row[1])


async def find_past(reader: Reader, vault: Vault, kind: str, said: str) -> tuple[int, str] | None:
    """As `find`, in books that were set aside as well: for what has happened and is asked after."""
    row = await reader.fetchrow(BY_KEY, directory_key(vault, kind, said))
    return None if row is None else (row[0], row[1])
