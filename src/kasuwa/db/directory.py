"""Finding whose something is, by what its holder shows: the one look-up that knows no merchant yet. It answers
merchant and reference; everything after it is asked with the merchant's own number, as everywhere."""

from kasuwa.core.directory import directory_key
from kasuwa.core.reading import Reader
from kasuwa.core.secrets import Vault

BY_KEY = "select merchant_id, reference from directory where key = $1"


async def find(reader: Reader, vault: Vault, kind: str, said: str) -> tuple[int, str] | None:
    row = await reader.fetchrow(BY_KEY, directory_key(vault, kind, said))
    return None if row is None else (row[0], row[1])
