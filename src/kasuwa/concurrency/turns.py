"""Items that wait, by nested holders: at each level the holders take turns, whatever number of items each has.

    turns.put(("network a", "account 1"), item)

The networks are served in turn, and within a network its accounts.
"""

from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Turns(Generic[Item]):
    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        # In the order of their turns. None is empty.
        self._below: dict[Hashable, Turns[Item]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def count_items(self, holder: Hashable) -> int:
        """Returns how many items of a holder of the first level wait."""
        return len(self._below.get(holder, ()))

    def put(self, path: tuple[Hashable, ...], item: Item) -> None:
        """Adds an item of the holders of a path, the outermost first. All paths have the same length."""
        self._count += 1
        if not path:
            self._items.append(item)
            return
        if path[0] not in self._below:
            self._below[path[0]] = Turns()
        self._below[path[0]].put(path[1:], item)

    def take(self) -> Item:
        """Removes and returns the item whose turn it is. There must be one."""
        self._count -= 1
        if self._items:
            return self._items.popleft()
        holder = next(iter(self._below))
        below = self._below.pop(holder)
        item = below.take()
        if below:
            self._below[holder] = below
        return item
