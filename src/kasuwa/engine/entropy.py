"""Random bytes for decisions: from the system, or reproducible ones of a server or merchant with a seed.

Reproducible bytes follow from the seed and from how many decisions changed the merchant's books before. They do not
depend on how decisions were batched, nor on other merchants. No two decisions of a merchant get the same bytes.
"""

import os
from hashlib import blake2b

import msgspec

from kasuwa.core.references import first_number

DIGEST_BYTES = 32
# The first bytes of a decision's entropy decide random outcomes, such as whether a fault with a probability occurs.
# Ids, tokens and numbers are derived from all of them.
OUTCOME_BYTES = 8
# Decisions for which bytes are read from the system at once: a system call for each takes longer than the rest of
# making a submission. A process that is forked off reads its own.
READ_AHEAD = 128
unused: list[bytes] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=unused.clear)


def draw_entropy() -> bytes:
    """Returns random bytes from the system for a decision, which were never returned before."""
    try:
        return unused.pop()
    except IndexError:
        block = os.urandom(DIGEST_BYTES * READ_AHEAD)
        first, *others = (block[start : start + DIGEST_BYTES] for start in range(0, len(block), DIGEST_BYTES))
        unused.extend(others)
        return first


class EntropySlot(msgspec.Struct, frozen=True):
    merchant_id: int
    decision_count: int
    ordinal: int


class EntropySlots:
    """The slots of the decisions of a batch. A decision that asked for more rows is made again in the same batch and
    keeps its slot until `release`. Decisions that wait at the same count get different ordinals."""

    def __init__(self) -> None:
        self._taken: dict[int, EntropySlot] = {}

    def take(self, holder: object, merchant_id: int, decision_count: int) -> EntropySlot:
        """Returns the slot of `holder`. It is identified by its id(), so it must live until it is released."""
        slot = self._taken.get(id(holder))
        if slot is None:
            ordinals = [
                other.ordinal
                for other in self._taken.values()
                if (other.merchant_id, other.decision_count) == (merchant_id, decision_count)
            ]
            slot = self._taken[id(holder)] = EntropySlot(merchant_id, decision_count, 1 + max(ordinals, default=-1))
        return slot

    def release(self, holder: object) -> None:
        """Frees the slot of `holder`. Call when its decision is final."""
        self._taken.pop(id(holder), None)


def seeded_entropy(seed: bytes, slot: EntropySlot) -> bytes:
    """Returns the bytes of a decision on a server with this seed.

    A copy draws what the first books would: only its pages have addresses of their own (Context.draw_page_token)."""
    message = b"merchant %d decision %d.%d" % (first_number(slot.merchant_id), slot.decision_count, slot.ordinal)
    return blake2b(message, key=seed, digest_size=DIGEST_BYTES).digest()


def with_seeded_outcomes(entropy: bytes, seed: str, slot: EntropySlot) -> bytes:
    """Returns the entropy with outcomes that follow from a merchant's seed.

    They are the same for every merchant with that seed. Ids, tokens and account numbers are not: they must differ from
    those of every other merchant, so the other bytes stay."""
    message = b"decision %d.%d" % (slot.decision_count, slot.ordinal)
    key = blake2b(seed.encode(), digest_size=DIGEST_BYTES).digest()
    return blake2b(message, key=key, digest_size=OUTCOME_BYTES).digest() + entropy[OUTCOME_BYTES:]
