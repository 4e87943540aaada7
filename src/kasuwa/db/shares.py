"""Limits how many connections of a pool one merchant may hold at a time.

Without a limit, one merchant with slow reads takes every connection, and the reads of all others time out. A merchant
at its limit waits in a queue of its own, first come, first served.
"""

import asyncio
from collections import deque

from kasuwa.db.connection_pool import ACQUIRE_SECONDS, PoolExhausted


class ReaderShares:
    """Grants each merchant at most `max_held` connections."""

    def __init__(self, max_held: int, *, wait_seconds: float = ACQUIRE_SECONDS) -> None:
        self.max_held = max_held
        self._wait_seconds = wait_seconds
        self._held: dict[int, int] = {}
        self._waiting: dict[int, deque[asyncio.Future[None]]] = {}

    def held_by(self, merchant_id: int) -> int:
        return self._held.get(merchant_id, 0)

    def try_acquire(self, merchant_id: int) -> bool:
        """Takes a slot without waiting. Returns False if the merchant is at its limit: then call `wait`."""
        held = self._held.get(merchant_id, 0)
        if held >= self.max_held:
            return False
        self._held[merchant_id] = held + 1
        return True

    async def wait(self, merchant_id: int) -> None:
        """Waits for a slot of a merchant at its limit. Raises PoolExhausted if none becomes free in time."""
        slot = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(merchant_id, deque()).append(slot)
        try:
            async with asyncio.timeout(self._wait_seconds):
                await slot
        except BaseException as error:
            if slot.done() and not slot.cancelled():
                # The slot was handed over just as the wait ended.
                self.release(merchant_id)
            if isinstance(error, TimeoutError):
                raise PoolExhausted(f"the merchant has {self.max_held} reads under way, its share") from None
            raise

    def release(self, merchant_id: int) -> None:
        """Releases a slot, or hands it to the longest waiting read of the merchant."""
        waiting = self._waiting.get(merchant_id)
        while waiting:
            slot = waiting.popleft()
            if not slot.done():
                slot.set_result(None)
                return
        self._waiting.pop(merchant_id, None)
        left = self._held[merchant_id] - 1
        if left:
            self._held[merchant_id] = left
        else:
            del self._held[merchant_id]
