"""Limits how much of something scarce each holder may use at a time: a merchant, or a network.

Without a limit, one merchant with slow reads takes every connection, and the reads of all others time out. A holder at
its limit waits in a queue of its own, first come, first served.

Shares are of one process, because what they protect is: its pools of connections and its event loop. A merchant whose
requests reach several processes has a share of each, and in none of them more than that. A common count would need to
survive the processes that hold slots, and would protect nothing more.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable
from typing import Generic, TypeVar

from kasuwa.concurrency.exhaustion import ACQUIRE_SECONDS, PoolExhausted

Holder = TypeVar("Holder", bound=Hashable)

# Files that one merchant and one network get at once from a process.
MERCHANT_FILES, NETWORK_FILES = 4, 8
# Pieces of all files that are read at once, and how long one waits for its turn before its file breaks off.
PIECES_AT_ONCE = 2
PIECE_WAIT_SECONDS = 60.0


class Shares(Generic[Holder]):
    """Grants each holder at most `max_held` slots."""

    def __init__(self, max_held: int, *, wait_seconds: float = ACQUIRE_SECONDS) -> None:
        self.max_held = max_held
        self._wait_seconds = wait_seconds
        self._held: dict[Holder, int] = {}
        self._waiting: dict[Holder, deque[asyncio.Future[None]]] = {}

    def held_by(self, holder: Holder) -> int:
        return self._held.get(holder, 0)

    async def acquire(self, holder: Holder) -> None:
        """Takes a slot, and waits for one if need be. Raises PoolExhausted if none becomes free in time."""
        if not self.try_acquire(holder):
            await self.wait(holder)

    @contextlib.asynccontextmanager
    async def holding(self, holder: Holder) -> AsyncIterator[None]:
        """Holds a slot for as long as it is entered."""
        await self.acquire(holder)
        try:
            yield
        finally:
            self.release(holder)

    def try_acquire(self, holder: Holder) -> bool:
        """Takes a slot without waiting. Returns False if the holder is at its limit: then call `wait`."""
        held = self._held.get(holder, 0)
        if held >= self.max_held:
            return False
        self._held[holder] = held + 1
        return True

    async def wait(self, holder: Holder) -> None:
        """Waits for a slot of a holder at its limit. Raises PoolExhausted if none becomes free in time."""
        slot = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(holder, deque()).append(slot)
        try:
            async with asyncio.timeout(self._wait_seconds):
                await slot
        except BaseException as error:
            if slot.done() and not slot.cancelled():
                # The slot was handed over just as the wait ended.
                self.release(holder)
            if isinstance(error, TimeoutError):
                raise PoolExhausted(f"all {self.max_held} slots of a share are in use") from None
            raise

    def release(self, holder: Holder) -> None:
        """Releases a slot, or hands it to the longest waiting one of the holder."""
        waiting = self._waiting.get(holder)
        while waiting:
            slot = waiting.popleft()
            if not slot.done():
                slot.set_result(None)
                return
        self._waiting.pop(holder, None)
        held_slots = self._held[holder] - 1
        if held_slots:
            self._held[holder] = held_slots
        else:
            del self._held[holder]


class FileShares:
    """The shares of those who get files that are read piece by piece while they are sent.

    A network and a merchant may get a few files at once. Whoever takes one slowly holds up nobody, because only reading
    a piece uses a connection: each merchant reads one piece at a time, and all together a few."""

    def __init__(self) -> None:
        self._networks: Shares[str] = Shares(NETWORK_FILES)
        self._merchants: Shares[int] = Shares(MERCHANT_FILES)
        self._reading: Shares[int] = Shares(1, wait_seconds=PIECE_WAIT_SECONDS)
        self._pieces: Shares[None] = Shares(PIECES_AT_ONCE, wait_seconds=PIECE_WAIT_SECONDS)

    def begin(self, network: str, merchant_id: int) -> Callable[[], None] | None:
        """Returns the function that ends the file, or None if the network or the merchant gets too many already."""
        if not self._networks.try_acquire(network):
            return None
        if not self._merchants.try_acquire(merchant_id):
            self._networks.release(network)
            return None
        held = [True]

        def end() -> None:
            if held:
                held.clear()
                self._networks.release(network)
                self._merchants.release(merchant_id)

        return end

    @contextlib.asynccontextmanager
    async def reading_piece(self, merchant_id: int) -> AsyncIterator[None]:
        """Waits until the merchant may read its next piece. Raises PoolExhausted."""
        async with self._reading.holding(merchant_id), self._pieces.holding(None):
            yield


class SharedFile:
    """The pieces of a file, read within the merchant's share. Its slot is given back with the last piece, by `aclose`,
    or with the object itself: a client may go away before the first piece."""

    def __init__(
        self, shares: FileShares, pieces: AsyncIterator[bytes], merchant_id: int, end: Callable[[], None]
    ) -> None:
        self._shares = shares
        self._pieces = pieces
        self._merchant_id = merchant_id
        self._end = end

    def __aiter__(self) -> "SharedFile":
        return self

    async def __anext__(self) -> bytes:
        try:
            async with self._shares.reading_piece(self._merchant_id):
                return await anext(self._pieces)
        except BaseException:
            self._end()
            raise

    async def aclose(self) -> None:
        self._end()

    def __del__(self) -> None:
        self._end()
