"""Finds the server of a merchant on a distributed database, as Citus does: by a hash of the merchant's number."""

from bisect import bisect_right
from typing import Any

import msgspec

# Ranges of the hash, each with the group of servers that has its rows.
SELECT_SHARDS = """
    select s.shardminvalue::bigint as number, p.groupid::bigint
    from pg_dist_shard s join pg_dist_placement p on p.shardid = s.shardid
    where s.logicalrelid = 'public.merchant_state'::regclass order by number
"""
# Writers for the merchants of one server. Each has a connection that writes and one that reads.
LANES_PER_SERVER = 4
MASK = 0xFFFFFFFF
# The state of PostgreSQL's hash function before four bytes: see hash_bytes_uint32 in its hashfn.c.
HASH_START = (0x9E3779B9 + 4 + 3923095) & MASK


class ShardMap(msgspec.Struct, frozen=True):
    """The ranges of the hash in ascending order. A shard that is moved later is still found where it was."""

    firsts: list[int]  # the first hash of each range
    servers: list[int]  # the group of servers that has the range

    def find(self, merchant_id: int) -> tuple[int, int]:
        """Returns the number of a merchant's range and the group of servers that has it."""
        number = bisect_right(self.firsts, hash_bigint(merchant_id)) - 1
        return number, self.servers[number]

    def find_lane(self, merchant_id: int) -> tuple[int, int]:
        """Returns the lane of a merchant's writer. A lane has merchants of one server: one that is away must not hold
        up the others."""
        number, server = self.find(merchant_id)
        return server, number % LANES_PER_SERVER


async def read_shards(connection: Any) -> ShardMap:
    rows = await connection.fetch(SELECT_SHARDS)
    return ShardMap([row[0] for row in rows], [row[1] for row in rows])


def rotate(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (32 - bits))) & MASK


def hash_bigint(number: int) -> int:
    """Returns what PostgreSQL's hashint8 returns."""
    low, high = number & MASK, (number >> 32) & MASK
    a = (HASH_START + (low ^ (high if number >= 0 else ~high & MASK))) & MASK
    b = c = HASH_START
    c = ((c ^ b) - rotate(b, 14)) & MASK
    a = ((a ^ c) - rotate(c, 11)) & MASK
    b = ((b ^ a) - rotate(a, 25)) & MASK
    c = ((c ^ b) - rotate(b, 16)) & MASK
    a = ((a ^ c) - rotate(c, 4)) & MASK
    b = ((b ^ a) - rotate(a, 14)) & MASK
    c = ((c ^ b) - rotate(b, 24)) & MASK
    return c - (1 << 32) if c >> 31 else c
