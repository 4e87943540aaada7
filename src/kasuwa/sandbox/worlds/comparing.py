"""Compares two worlds, table by table."""

from collections.abc import AsyncIterator, Mapping
from hashlib import blake2b

import msgspec

from kasuwa.core.references import key_mask, mask_key
from kasuwa.sandbox.worlds.blocks import Block
from kasuwa.sandbox.worlds.columns import Table
from kasuwa.sandbox.worlds.tables import KEY_COLUMNS
from kasuwa.sandbox.worlds.writing import read_bytes

# Columns that are of the books, or of the time of day, and not of the world: chains begin with the number of the books.
OF_BOOKS = {
    "posting": ("hash",),
    "event": ("hash",),
    "merchant_state": ("posting_head", "event_head", "version", "clock_offset_us"),
    "scheduled_job": ("key", "run_at", "idempotency_claim"),
    "virtual_card": ("fee_job",),
    "merchant_key": ("last_used_at", "last_used_from", "refused_at", "refused_from"),
    "idempotency_record": ("expires_at",),
}

# What identifies a row besides its primary key: the key of a job is made of others.
IDENTITIES = {"scheduled_job": ("kind", "reference", "endpoint_id")}
# Filled in the background from other tables.
INDEXES = frozenset({"payment_word", "payment_word_mark", "settlement_sum", "settlement_sum_mark"})

Digests = dict[str, dict[str, bytes]]


class TableDifference(msgspec.Struct, frozen=True):
    """The rows of a table that differ."""

    table: str
    only_first: int  # number of rows that only the first world has
    only_second: int  # number of rows that only the other one has
    changed: int  # number of rows that both have, with different values


async def digest_rows(blocks: AsyncIterator[Block], tables: Mapping[str, Table], books: int) -> Digests:
    """Returns a hash of each row, by table and by what identifies the row."""
    digests: Digests = {}
    async for block in blocks:
        if block.table in INDEXES:
            continue
        rows = digests.setdefault(block.table, {})
        key_columns = {*KEY_COLUMNS.get(block.table, ()), *(("key",) if block.table != "token_index" else ())}
        moved = [place for place, name in enumerate(block.columns) if name in key_columns]
        compared = [place for place, name in enumerate(block.columns) if name not in OF_BOOKS.get(block.table, ())]
        identity = [
            block.columns.index(name)
            for name in IDENTITIES.get(block.table, tables[block.table].key)
            if name in block.columns
        ]
        for row in block.rows:
            values = list(row)
            for place in moved:
                values[place] = mask_key(read_bytes(row[place]), key_mask(books)).hex()
            name = "\0".join(str(values[place]) for place in identity)
            text = "\0".join(str(values[place]) for place in compared)
            rows[name] = blake2b(text.encode(), digest_size=16).digest()
    return digests


def compare_digests(first: Digests, second: Digests) -> list[TableDifference]:
    """Returns the tables that differ, by name."""
    differences = []
    for table in sorted({*first, *second}):
        ours, theirs = first.get(table, {}), second.get(table, {})
        both = ours.keys() & theirs.keys()
        changed = sum(ours[name] != theirs[name] for name in both)
        difference = TableDifference(table, len(ours) - len(both), len(theirs) - len(both), changed)
        if difference.only_first or difference.only_second or changed:
            differences.append(difference)
    return differences
