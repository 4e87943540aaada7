"""Merkle trees as RFC 6962 hashes them: SHA-256, with a byte before each leaf and another before each node. Pure."""

from collections.abc import Sequence
from hashlib import sha256

HASH_BYTES = 32
LEAF, NODE = b"\0", b"\1"
EMPTY_ROOT = sha256(b"").digest()


def hash_leaf(data: bytes) -> bytes:
    return sha256(LEAF + data).digest()


def hash_node(left: bytes, right: bytes) -> bytes:
    return sha256(NODE + left + right).digest()


def build_levels(leaves: Sequence[bytes]) -> list[list[bytes]]:
    """Returns the hashes of a tree, level by level from those of the leaves up to the root.

    The last hash of a level that has no partner is that of its parent too. No leaves make no levels."""
    levels = [list(leaves)] if leaves else []
    while levels and len(levels[-1]) > 1:
        below = levels[-1]
        above = [hash_node(below[n], below[n + 1]) for n in range(0, len(below) - 1, 2)]
        levels.append(above + below[len(above) * 2 :])
    return levels


def get_root(levels: Sequence[Sequence[bytes]]) -> bytes:
    return levels[-1][0] if levels else EMPTY_ROOT


def path_places(index: int, size: int) -> list[tuple[int, int]]:
    """Returns the level and the place in it of each hash of the inclusion proof of a leaf, from the leaf up."""
    places, level = [], 0
    while size > 1:
        if index ^ 1 < size:
            places.append((level, index ^ 1))
        index, size, level = index // 2, (size + 1) // 2, level + 1
    return places
