"""Reproducible random bytes for decisions on a server with a seed. No two decisions get the same bytes."""

from hashlib import blake2b

import msgspec

DIGEST_BYTES = 32


class EntropySlot(msgspec.Struct, frozen=True):
    merchant_id: int
    decision_count: int
    ordinal: int


class SeededEntropy:
    """Random bytes that follow from the seed, the merchant and how many decisions changed its books before.

    They do not depend on how decisions were batched, nor on other merchants. A decision that asked for more rows is
    made again in the same batch and keeps its bytes until `release`. Decisions that wait at the same count get
    different ordinals."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._draws: dict[int, EntropySlot] = {}

    def draw(self, holder: object, merchant_id: int, decision_count: int) -> bytes:
        """Returns the bytes of `holder`. It is identified by its id(), so it must live until it is released."""
        drawn = self._draws.get(id(holder))
        if drawn is None:
            taken = [
                d.ordinal
                for d in self._draws.values()
                if (d.merchant_id, d.decision_count) == (merchant_id, decision_count)
            ]
            drawn = self._draws[id(holder)] = EntropySlot(merchant_id, decision_count, 1 + max(taken, default=-1))
        message = b"merchant %d decision %d.%d" % (drawn.merchant_id, drawn.decision_count, drawn.ordinal)
        return blake2b(message, key=self._seed, digest_size=DIGEST_BYTES).digest()

    def release(self, holder: object) -> None:
        """Frees the slot of `holder`. Call when its decision is final."""
        self._draws.pop(id(holder), None)
