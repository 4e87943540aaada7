"""The tokens of books that are archived, by a reset or a restore: nobody finds the books by them, and they are free.

So the books that follow can have the same account numbers, cards and pages, and a world that was stored before can be
put back. The rows stay, under keys of no token. A reset keeps those of orders that payments sent to a card: the payees
still ask for their outcome (rails/routing/issuer.py).
"""

import random
from collections.abc import Sequence
from typing import Any

from kasuwa.core.references import COPY_UNIT, first_number, key_mask, mask_key
from kasuwa.core.row_codes import make_row_code
from kasuwa.core.token_index import TokenIndexEntry
from kasuwa.core.vault import Vault
from kasuwa.postgres.connection_pool import Connection

# Of the random numbers of copies. They are large, so that nobody can foretell the keys of the next copy.
LEAST_COPY, MOST_COPY = 100_000_000, 999_999_999

SELECT_TOKENS = "select key, kind, reference from token_index where merchant_id = $1 and kind <> $2"
SELECT_IN_THE_WAY = """
    select t.merchant_id, t.key, t.kind, t.reference from token_index t
    where t.key = any($1)
        and t.merchant_id = any(array(select merchant_id from merchant where mid = $2 and not current))
"""
MOVE_TOKENS = """
    update token_index t set key = u.moved, row_code = u.code
    from unnest($2::bytea[], $3::bytea[], $4::bytea[]) u (key, moved, code) where t.merchant_id = $1 and t.key = u.key
"""


def make_copy_number(books: int) -> int:
    """Returns a number for books that are a copy of others."""
    return random.SystemRandom().randint(LEAST_COPY, MOST_COPY) * COPY_UNIT + first_number(books)


async def archive_tokens(connection: Connection, vault: Vault, merchant_id: int, kept_kind: str = "") -> None:
    """Frees the tokens of books that have just been archived, but for those of one kind."""
    rows = await connection.fetch(SELECT_TOKENS, merchant_id, kept_kind)
    await move_tokens(connection, vault, merchant_id, rows)


async def clear_keys(connection: Connection, vault: Vault, mid: str, keys: Sequence[bytes]) -> None:
    """Frees tokens that archived books of a merchant still have, so that its next books can have them."""
    in_the_way: dict[int, list[Any]] = {}
    for merchant_id, *row in await connection.fetch(SELECT_IN_THE_WAY, keys, mid):
        in_the_way.setdefault(merchant_id, []).append(row)
    for merchant_id, rows in in_the_way.items():
        await move_tokens(connection, vault, merchant_id, rows)


async def move_tokens(connection: Connection, vault: Vault, merchant_id: int, rows: Sequence[Any]) -> None:
    """Gives rows of the index (key, kind and reference) keys that no token has."""
    mask = key_mask(make_copy_number(merchant_id))
    moved = [(key, mask_key(key, mask), kind, reference) for key, kind, reference in rows]
    codes = [
        make_row_code(vault, TokenIndexEntry.table, (merchant_id, key, kind, reference))
        for _, key, kind, reference in moved
    ]
    olds, news = [row[0] for row in moved], [row[1] for row in moved]
    await connection.execute(MOVE_TOKENS, merchant_id, olds, news, codes)
