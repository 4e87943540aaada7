"""Reading the bodies of requests: whole or not at all, within bounds of size, time and memory."""

import asyncio
from collections import deque
from typing import Any, Protocol

import msgspec

from kasuwa.db.deadlines import Deadlines

BODY_SECONDS = 10.0
# How long and how far the body of a request that is refused for its headers is read, so that the sender is done
# sending and reads the reply.
DISCARD_SECONDS = 2.0
MOST_DISCARDED = 64 * 1024

# Bodies up to this size are not counted: the number of connections bounds them (backpressure in app.py). Most requests
# are this small, so no sender of large bodies can keep them waiting.
SMALL_BODY = 4 * 1024
# Memory for all larger bodies of this process, and what one merchant may have of it.
TOTAL_BODY_BYTES = 64 * 1024 * 1024
MERCHANT_BODY_BYTES = 16 * 1024 * 1024


class Headers(Protocol):
    def get(self, key: str, default: Any = None) -> Any: ...

    def __contains__(self, key: str) -> bool: ...


class BodyTooLarge(Exception):
    """A body over its bound."""


class BodyTimeout(Exception):
    """A body that did not come in time."""


class BodyMemoryTimeout(Exception):
    """No memory for the body became free in time."""


class IncompleteBody(Exception):
    """A body that broke off: its sender closed the connection or sent a malformed chunk."""


class MemoryWaiter(msgspec.Struct, eq=False):
    size: int
    granted: "asyncio.Future[None]"


class BodyMemory:
    """Shares memory for bodies among merchants: each has at most its share, and merchants that wait take turns."""

    def __init__(self, total: int = TOTAL_BODY_BYTES, share: int = MERCHANT_BODY_BYTES) -> None:
        self._free = total
        self._share = share
        self._taken: dict[int, int] = {}
        self._waiting: dict[int, deque[MemoryWaiter]] = {}

    async def acquire(self, owner: int, size: int) -> None:
        """Returns when the memory is granted; give_back must follow."""
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

    def release(self, owner: int, size: int) -> None:
        self._free += size
        self._taken[owner] -= size
        if not self._taken[owner]:
            del self._taken[owner]
        self._grant()

    def _leave(self, owner: int, waiting: MemoryWaiter) -> None:
        queue = self._waiting[owner]
        queue.remove(waiting)
        if not queue:
            del self._waiting[owner]
        self._grant()

    def _first_of(self, owner: int) -> MemoryWaiter | None:
        """The next of a merchant's bodies that still waits. One whose task was cancelled leaves by itself, a moment
        after its future was: until then it is passed over."""
        return next((waiting for waiting in self._waiting[owner] if not waiting.granted.done()), None)

    def _grant(self) -> None:
        """Serves one body of each merchant in turn. Stops at the first that is within its share and finds no room: the
        next memory that becomes free is for that one."""
        served = True
        while served:
            served = False
            for owner in list(self._waiting):
                queue, first = self._waiting[owner], self._first_of(owner)
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
                # To the end of the line of merchants.
                del self._waiting[owner]
                if queue:
                    self._waiting[owner] = queue
                served = True


class BodyResources:
    """What all bodies of a process share."""

    def __init__(self) -> None:
        self.deadlines = Deadlines()
        self.memory = BodyMemory()

    async def discard(self, protocol: Any, headers: Headers) -> bool:
        """Reads a body that nobody wants, and forgets it. False where it goes on: the connection must be closed."""
        if "expect" in headers:
            return False
        deadline = self.deadlines.begin(DISCARD_SECONDS)
        try:
            return await discard_chunks(protocol)
        except asyncio.CancelledError:
            if not deadline.is_ours():
                raise
            return False
        finally:
            deadline.end()


class RequestBody:
    """One body: read once, then released when its bytes are no longer needed. `owner` is the merchant, 0 a stranger."""

    __slots__ = ("_bodies", "_is_waiting", "_most", "_owner", "_protocol", "_taken")

    def __init__(self, bodies: BodyResources, protocol: Any, most: int, owner: int) -> None:
        self._bodies = bodies
        self._protocol = protocol
        self._most = most
        self._owner = owner
        self._taken = 0
        self._is_waiting = False

    async def read(self, headers: Headers) -> bytes:
        """The whole body. Raises TooLarge, TooSlow, Crowded or Incomplete. A declared length is believed, because HTTP
        holds the sender to it; an undeclared one is counted as it comes."""
        length = headers.get("content-length")
        declared = int(length) if length is not None and length.isdecimal() else None
        if declared is not None and declared > self._most:
            raise BodyTooLarge
        deadline = self._bodies.deadlines.begin(BODY_SECONDS)
        try:
            if declared is None:
                return await self._read_chunks()
            if declared > SMALL_BODY:
                await self._take(declared)
            try:
                return bytes(await self._protocol())
            except Exception:
                # Granian raises an error of its own kind where the connection closed before the declared length came.
                raise IncompleteBody from None
        except asyncio.CancelledError:
            if not deadline.is_ours():
                raise
            raise (BodyMemoryTimeout if self._is_waiting else BodyTimeout) from None
        finally:
            deadline.end()

    def release(self) -> None:
        if self._taken:
            self._bodies.memory.release(self._owner, self._taken)
            self._taken = 0

    async def _take(self, size: int) -> None:
        self._is_waiting = True
        await self._bodies.memory.acquire(self._owner, size)
        self._is_waiting = False
        self._taken = size

    async def _read_chunks(self) -> bytes:
        """A body that is not small takes the most it may become: none waits for memory that it holds itself.

        Granian's stream ends a complete body with one empty chunk. Where the connection broke or a chunk was malformed
        it puts another one before that, and does not raise; trailer fields look the same, and are refused with them.
        """
        chunks: list[bytes] = []
        size = ends = 0
        async for chunk in self._protocol:
            size += len(chunk)
            ends += not chunk
            if size > self._most:
                raise BodyTooLarge
            if size > SMALL_BODY and not self._taken:
                await self._take(self._most)
            chunks.append(bytes(chunk))
        if ends != 1:
            raise IncompleteBody
        return b"".join(chunks)


async def discard_chunks(protocol: Any) -> bool:
    size = 0
    async for chunk in protocol:
        size += len(chunk)
        if size > MOST_DISCARDED:
            return False
    return True
