"""Hints of call-backs that name no order of ours: a receipt, a dispute, a settlement, or an account that was assigned.

Like every call-back, a hint only makes the service ask the rail for what it names.
"""

from collections.abc import Callable
from typing import Literal

import msgspec

HintKind = Literal["receipt", "dispute", "settlement", "account"]


class Hint(msgspec.Struct, frozen=True):
    """The subject of a call-back: the rail's own reference, or for an account the key of its order."""

    kind: HintKind
    reference: str


# Longest reference of a rail that is looked up.
MAX_REFERENCE = 200


def make_hint(kind: HintKind, reference: str) -> Hint | None:
    """Returns a hint, or None if the call-back names nothing that can be looked up."""
    return Hint(kind, reference) if 0 < len(reference) <= MAX_REFERENCE else None


# Reads the body of a call-back whose sender was checked. Returns None if there is no hint in it.
ReadHint = Callable[[bytes], Hint | None]
