"""The writer's queue: merchants are served in turn, and a submission weighs as much as the orders it contains.

A batch has room for a number of orders. A merchant that is alone may use all of it. While several merchants share a
batch, each has at most MERCHANT_SHARE orders in it, so that nobody waits for more than the shares of the others.
Whoever had a turn comes after those that had none. The submissions of one merchant keep their order.
"""

from collections import Counter, deque
from collections.abc import Collection, Iterator
from typing import Generic, Protocol, TypeVar

# Orders of one merchant in a batch that has those of others too. A submission with more of them is no part of a batch:
# the writer runs it beside (engine/blocked_merchants.py).
MERCHANT_SHARE = 64


class Queued(Protocol):
    """A submission, as the queue uses it."""

    @property
    def merchant_id(self) -> int: ...

    @property
    def orders(self) -> int: ...

    @property
    def deadline(self) -> float: ...


Entry = TypeVar("Entry", bound=Queued)


class FairQueue(Generic[Entry]):
    def __init__(self) -> None:
        # By merchant, in the order of their turns. None is empty.
        self._queues: dict[int, deque[Entry]] = {}

    def __bool__(self) -> bool:
        return bool(self._queues)

    def __iter__(self) -> Iterator[Entry]:
        return (entry for queue in self._queues.values() for entry in queue)

    def append(self, entry: Entry) -> None:
        queue = self._queues.get(entry.merchant_id)
        if queue is None:
            queue = self._queues[entry.merchant_id] = deque()
        queue.append(entry)

    @property
    def next_merchant(self) -> int:
        """The merchant whose turn is next. The queue must not be empty."""
        return next(iter(self._queues))

    def choose(self, room: int, batch: Collection[Entry] = ()) -> list[Entry]:
        """Returns the submissions that are next to join a batch with room for so many orders. `batch` is what joined
        before. Removes nothing: call `remove` with what is taken."""
        held: Counter[int] = Counter()
        for entry in batch:
            held[entry.merchant_id] += entry.orders
        room -= held.total()
        if len(held.keys() | self._queues.keys()) == 1:
            return self.choose_entries(self.next_merchant, room)
        chosen: list[Entry] = []
        for merchant_id in self._queues:
            entries = self.choose_entries(merchant_id, min(room, MERCHANT_SHARE - held[merchant_id]))
            room -= sum(entry.orders for entry in entries)
            chosen += entries
        return chosen

    def choose_entries(self, merchant_id: int, room: int) -> list[Entry]:
        """Returns the first submissions of a merchant whose orders fit. Removes nothing."""
        chosen: list[Entry] = []
        for entry in self._queues.get(merchant_id, ()):
            room -= entry.orders
            if room < 0:
                break
            chosen.append(entry)
        return chosen

    def remove(self, chosen: list[Entry]) -> None:
        """Removes what was chosen. Its merchants had their turn."""
        for merchant_id, count in Counter(entry.merchant_id for entry in chosen).items():
            queue = self._queues.pop(merchant_id)
            for _ in range(count):
                queue.popleft()
            if queue:
                self._queues[merchant_id] = queue

    def take_entries(self, merchant_id: int) -> list[Entry]:
        """Removes and returns the submissions of a merchant."""
        return list(self._queues.pop(merchant_id, ()))

    def take_overdue(self, now: float) -> list[Entry]:
        """Removes and returns the submissions whose deadline has passed. A merchant's are in the order of theirs."""
        overdue: list[Entry] = []
        for merchant_id, queue in list(self._queues.items()):
            while queue and queue[0].deadline <= now:
                overdue.append(queue.popleft())
            if not queue:
                del self._queues[merchant_id]
        return overdue
