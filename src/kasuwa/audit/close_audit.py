"""Checks the closes: signatures, links and trees, and that the published files say what the database says."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from kasuwa.audit import make_close
from kasuwa.audit.close_task import decode_head, encode_close, file_name
from kasuwa.audit.close_tree import NO_CLOSE_BEFORE, Head, close_bytes, close_hash, head_bytes
from kasuwa.audit.make_close import SignedClose
from kasuwa.audit.merkle import build_levels, get_root, hash_leaf


async def find_close_faults(connection: Any, directory: Path, trusted: Collection[bytes]) -> list[str]:
    """Returns a sentence for each fault. `trusted` are the public keys whose signatures count."""
    faults: list[str] = []
    heads: dict[int, Head] = {}
    previous = NO_CLOSE_BEFORE
    stored = await make_close.list_closes(connection)
    for number, signed_close in enumerate(stored, start=1):
        changed = await make_close.changed_heads(connection, signed_close.close.number)
        heads.update((head.merchant_id, head) for head in changed)
        faults += [
            f"close {signed_close.close.number}: {fault}"
            for fault in check_close(signed_close, number, previous, trusted)
        ]
        leaves = [hash_leaf(head_bytes(heads[merchant_id])) for merchant_id in sorted(heads)]
        if (len(leaves), get_root(build_levels(leaves))) != (signed_close.close.tree_size, signed_close.close.root):
            faults.append(f"close {signed_close.close.number}: its tree is not that of the heads in the database")
        faults += compare_file(directory / file_name(signed_close.close.number), signed_close, changed)
        previous = close_hash(signed_close.close)
    known = {file_name(signed_close.close.number) for signed_close in stored}
    published = list_published(directory)
    faults += [f"{name} was published and is not in the database" for name in published if name not in known]
    return faults


def list_published(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.glob("close-*.json"))


def check_close(signed_close: SignedClose, number: int, previous: bytes, trusted: Collection[bytes]) -> list[str]:
    faults = []
    if signed_close.close.number != number:
        faults.append(f"close {number} is missing before it")
    if signed_close.close.previous != previous:
        faults.append("it does not name the close before")
    if signed_close.public_key not in trusted:
        faults.append("it is signed by an unknown key")
    elif not is_signed(signed_close):
        faults.append("its signature is wrong")
    return faults


def is_signed(signed_close: SignedClose) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(signed_close.public_key).verify(
            signed_close.signature, close_bytes(signed_close.close)
        )
    except (InvalidSignature, ValueError):
        return False
    return True


def compare_file(path: Path, signed_close: SignedClose, changed: list[Head]) -> list[str]:
    """Compares a published close with that of the database. Names the merchants whose heads differ."""
    try:
        document = path.read_bytes()
    except FileNotFoundError:
        return [f"{path.name} is not published in {path.parent}"]
    except OSError as error:
        return [f"{path} cannot be read: {error.strerror}"]
    if document == encode_close(signed_close, changed):
        return []
    try:
        published = [decode_head(shown) for shown in msgspec.json.decode(document)["heads"]]
    except (msgspec.DecodeError, KeyError, TypeError, ValueError):
        return [f"{path.name} is not a close"]
    differing = {head.merchant_id for head in set(published) ^ set(changed)}
    books = ", ".join(f"merchant {merchant_id}" for merchant_id in sorted(differing)[:20])
    return [f"{path.name} says something else than the database" + (f" of {books}" if books else "")]
