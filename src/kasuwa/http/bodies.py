"""Reads request bodies, complete or not at all, with limits on size, time and memory."""

import asyncio
from collections import deque
from collections.abc import Hashable

import msgspec

from kasuwa.concurrency.deadlines import Deadlines
from kasuwa.http.exchange import Exchange

BODY_SECONDS = 10.0

# Bodies up to this size are not counted: the number of connections limits them (HttpLimits). Most requests are this
# small, so clients that send large bodies cannot keep them waiting.
SMALL_BODY = 4 * 1024
# The largest call-back of a rail. Vendors send whole transactions with all that belongs to them.
CALLBACK_BODY = 256 * 1024
# Memory for all larger bodies of this process, and the share of one merchant or, without one, of one network.
TOTAL_BODY_BYTES = 64 * 1024 * 1024
MERCHANT_BODY_BYTES = 16 * 1024 * 1024
# Bodies with files have memory and time of their own, so that slow uploads do not keep other bodies waiting.
FILES_BODY_BYTES = 32 * 1024 * 1024
FILES_BODY_SECONDS = 60.0


class BodyTooLarge(Exception):
    """Raised for a body over its size limit."""


class BodyTimeout(Exception):
    """Raised if the body did not arrive in time."""


class BodyMemoryTimeout(Exception):
    """Raised if no memory for the body became free in time."""


class MemoryWaiter(msgspec.Struct, eq=False):
    size: int
    granted: "asyncio.Future[None]"


class BodyMemory:
    """Memory for bodies. Each merchant has at most its share, and waiting merchants are served in turn."""

    def __init__(self, total: int = TOTAL_BODY_BYTES, share: int = MERCHANT_BODY_BYTES) -> None:
        self._free = total
        self._share = share
        self._taken: dict[Hashable, int] = {}
        self._waiting: dict[Hashable, deque[MemoryWaiter]] = {}

    async def acquire(self, owner: Hashable, size: int) -> None:
        """Returns when the memory is granted. The caller must call `release`."""
        waiting = MemoryWaiter(size, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(owner, deque()).append(waiting)
        self._grant()
        try:
            await waiting.granted
        except asyncio.CancelledError:
            if waiting.granted.done() and not waiting.granted.cancelled():
                self.release(owner, size)
            else:
                self._leave(owner, waiting)
            raise

    def release(self, owner: Hashable, size: int) -> None:
        self._free += size
        self._taken[owner] -= size
        if not self._taken[owner]:
            del self._taken[owner]
        self._grant()

    def _leave(self, owner: Hashable, waiting: MemoryWaiter) -> None:
        queue = self._waiting[owner]
        queue.remove(waiting)
        if not queue:
            del self._waiting[owner]
        self._grant()

    def _find_first_waiter(self, owner: Hashable) -> MemoryWaiter | None:
        """Returns the merchant's next waiting body. Skips those whose task was cancelled: they leave the queue
        themselves a moment later."""
        return next((waiting for waiting in self._waiting[owner] if not waiting.granted.done()), None)

    def _grant(self) -> None:
        """Grants memory to one body of each merchant in turn. Stops at the first that is within its share but does not
        fit: the next memory that becomes free is reserved for it."""
        served = True
        while served:
            served = False
            for owner in list(self._waiting):
                queue, first = self._waiting[owner], self._find_first_waiter(owner)
                if first is None:
                    continue
                size = first.size
                if self._taken.get(owner, 0) + size > self._share:
                    continue
                if size > self._free:
                    return
                self._free -= size
                self._taken[owner] = self._taken.get(owner, 0) + size
                queue.remove(first)
                first.granted.set_result(None)
                # The merchant moves to the end of the queue.
                del self._waiting[owner]
                if queue:
                    self._waiting[owner] = queue
                served = True


class BodyResources:
    """Deadlines and memory, shared by all bodies of a process."""

    def __init__(self) -> None:
        self.deadlines = Deadlines()
        self.memory = BodyMemory()
        self.files_memory = BodyMemory(FILES_BODY_BYTES, MERCHANT_BODY_BYTES)


class RequestBody:
    """The body of one request. Read it once, then call `release`. `owner` is the merchant_id, or the network of
    somebody who is none.

    `most` is the limit of its path. A body of a declared length may have up to `most_with_files`: whoever reads it must
    check that its action accepts so much.
    """

    __slots__ = ("_bodies", "_exchange", "_is_waiting", "_memory", "_most", "_most_with_files", "_owner", "_taken")

    def __init__(
        self, bodies: BodyResources, exchange: Exchange, most: int, owner: Hashable, most_with_files: int | None = None
    ) -> None:
        self._bodies = bodies
        self._memory = bodies.memory
        self._exchange = exchange
        self._most = most
        self._most_with_files = most if most_with_files is None else most_with_files
        self._owner = owner
        self._taken = 0
        self._is_waiting = False

    async def read(self) -> bytes:
        """Returns the whole body. Raises BodyTooLarge, BodyTimeout, BodyMemoryTimeout or IncompleteBody.

        A declared length is trusted, because HTTP enforces it. Without one, the bytes are counted as they arrive."""
        declared = self._exchange.length
        if declared is not None and declared > self._most_with_files:
            raise BodyTooLarge
        if self._exchange.is_complete and declared is not None and declared <= SMALL_BODY:
            return await self._exchange.read_all()
        seconds = BODY_SECONDS
        if declared is not None and declared > self._most:
            self._memory, seconds = self._bodies.files_memory, FILES_BODY_SECONDS
        try:
            with self._bodies.deadlines.within(seconds):
                if declared is None:
                    return await self._read_chunks()
                if declared > SMALL_BODY:
                    await self._take(declared)
                return await self._exchange.read_all()
        except TimeoutError:
            raise (BodyMemoryTimeout if self._is_waiting else BodyTimeout) from None

    def release(self) -> None:
        if self._taken:
            self._memory.release(self._owner, self._taken)
            self._taken = 0

    async def _take(self, size: int) -> None:
        self._is_waiting = True
        await self._memory.acquire(self._owner, size)
        self._is_waiting = False
        self._taken = size

    async def _read_chunks(self) -> bytes:
        """Reads a body of undeclared length. Once it is not small, memory for its maximum is taken, so that it never
        waits for memory while it holds some."""
        chunks: list[bytes] = []
        size = 0
        async for chunk in self._exchange.chunks():
            size += len(chunk)
            if size > self._most:
                raise BodyTooLarge
            if size > SMALL_BODY and not self._taken:
                await self._take(self._most)
            chunks.append(chunk)
        return b"".join(chunks)
