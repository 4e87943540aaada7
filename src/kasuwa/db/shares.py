"""Shares of a pool: how many of its connections one merchant may hold at a time.

Without a bound, one merchant whose reads are slow takes every connection, and the reads of all others wait until they
give up. A merchant that holds its whole share waits in a queue of its own, first come, first served. The pool's own
queue then never has more of any one merchant than its share, so that others come to their turn soon.
"""

import asyncio
from collections import deque

from kasuwa.db.connection_pool import ACQUIRE_SECONDS, PoolExhausted


class Shares:
    """`most` connections for each merchant. Taking one of a share that is not used up does not wait."""

    def __init__(self, most: int, *, wait_seconds: float = ACQUIRE_SECONDS) -> None:
        self.most = most
        self._wait_seconds = wait_seconds
        self._held: dict[int, int] = {}
        self._waiting: dict[int, deque[asyncio.Future[None]]] = {}

    def held(self, merchant_id: int) -> int:
        return self._held.get(merchant_id, 0)

    def try_take(self, merchant_id: int) -> bool:
        """Takes a place, or returns False where the share is used up: then `wait` for one."""
        held = self._held.get(merchant_id, 0)
        if held >= self.most:
            return False
        self._held[merchant_id] = held + 1
        return True

    async def wait(self, merchant_id: int) -> None:
        """Waits until a place of a share that was used up is handed over. Raises Exhausted when none is in time."""
        place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(merchant_id, deque()).append(place)
        try:
            async with asyncio.timeout(self._wait_seconds):
                await place
        except BaseException as error:
            if place.done() and not place.cancelled():
                # It was handed over in the very moment in which the wait ended.
                self.give_back(merchant_id)
            if isinstance(error, TimeoutError):
                raise PoolExhausted(f"the merchant has {self.most} reads under way, its share") from None
            raise

    def give_back(self, merchant_id: int) -> None:
        """Hands a place to whoever has waited longest, if anybody does."""
        waiting = self._waiting.get(merchant_id)
        while waiting:
            place = waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self._waiting.pop(merchant_id, None)
        left = self._held[merchant_id] - 1
        if left:
            self._held[merchant_id] = left
        else:
            del self._held[merchant_id]
