"""Closes of the books: the heads of all merchants in one signed tree. docs/proofs.md specifies the bytes. Pure."""

from datetime import UTC, datetime
from hashlib import sha256

import msgspec

from kasuwa.audit.merkle import EMPTY_ROOT

NO_CLOSE_BEFORE = bytes(32)
# Number of the head that stands for the audit trail of operators and commands.
OPERATOR_HEAD_ID = 0


class Head(msgspec.Struct, frozen=True):
    """A merchant's head: the end of its chains, and their values there."""

    merchant_id: int  # 0 for the audit trail of operators
    posting_seq: int = 0  # number of the last posting
    posting_head: bytes = bytes(32)
    mark_count: int = 0  # marks since the close before
    mark_root: bytes = EMPTY_ROOT  # root of the tree of those marks
    event_seq: int = 0
    event_head: bytes = bytes(32)
    audit_seq: int = 0  # number of the last entry of the merchant's audit trail
    audit_head: bytes = b""  # its hash; empty if there is none


class Close(msgspec.Struct, frozen=True):
    """A close as it is signed."""

    number: int
    closed_at: datetime
    tree_size: int
    root: bytes
    previous: bytes  # hash of the close before


def head_bytes(head: Head) -> bytes:
    """Returns the bytes of a leaf of the tree."""
    return (
        f"kasuwa head 1\0{head.merchant_id}\0{head.posting_seq}\0{head.posting_head.hex()}\0"
        f"{head.mark_count}\0{head.mark_root.hex()}\0{head.event_seq}\0{head.event_head.hex()}\0"
        f"{head.audit_seq}\0{head.audit_head.hex()}\0"
    ).encode()


def mark_bytes(seq: int, value: bytes) -> bytes:
    """Returns the bytes of a leaf of the tree of marks: the number of a group's last posting, and the chain's value."""
    return f"kasuwa mark 1\0{seq}\0{value.hex()}\0".encode()


def close_bytes(close: Close) -> bytes:
    """Returns the bytes that are signed."""
    return (
        f"kasuwa close 1\0{close.number}\0{close_time_text(close.closed_at)}\0{close.tree_size}\0{close.root.hex()}\0"
        f"{close.previous.hex()}\0"
    ).encode()


def close_hash(close: Close) -> bytes:
    """Returns the hash by which the next close names this one."""
    return sha256(close_bytes(close)).digest()


def close_time_text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
