"""Which API process owns which merchant.

Merchants are divided into partitions, and every partition prefers the API processes in a fixed order of its own. Its
owner is the first of them that is live. So the partitions of a process that ends move to the others evenly, no other
partition moves, and they move back when the process is live again.
"""

from collections.abc import Collection
from hashlib import blake2b

# Each block of consecutive partitions has one partition per process, so that merchants with consecutive numbers are
# divided evenly. Blocks differ in their order.
BLOCKS = 64


def list_preferences(processes: int) -> list[tuple[int, ...]]:
    """Returns the order of preference of each partition, as numbers of processes from 0."""
    preferences = []
    for block in range(BLOCKS):
        order = sorted(range(processes), key=lambda process: blake2b(b"%d %d" % (block, process)).digest())
        preferences += [(*order[place:], *order[:place]) for place in range(processes)]
    return preferences


class PartitionTable:
    """The owners of all partitions, for a number of API processes."""

    def __init__(self, processes: int) -> None:
        self._preferences = list_preferences(processes)
        self.size = len(self._preferences)
        # The first choice of each partition, whether or not it is live.
        self.first_choices = [order[0] for order in self._preferences]

    def list_owners(self, live: Collection[int]) -> list[int | None]:
        """Returns the owner of each partition among the live processes. None if there is none. The partition of a
        merchant is its number modulo `size`."""
        return [next((process for process in order if process in live), None) for order in self._preferences]
