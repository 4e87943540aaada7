"""Which API process owns which merchant.

Merchants are divided into partitions, and every partition prefers the API processes in a fixed order of its own. Its
owner is the first of them that is live. So the partitions of a process that ends move to the others evenly, no other
partition moves, and they move back when the process is live again.

The API processes of one host are numbered, and their number is known (PartitionTable). Those of several hosts come and
go, and are known by their addresses (AddressTable).
"""

from collections.abc import Collection, Iterable
from functools import lru_cache
from hashlib import blake2b, shake_128
from struct import Struct

# Each block of consecutive partitions has one partition per process, so that merchants with consecutive numbers are
# divided evenly. Blocks differ in their order.
BLOCKS = 64

# The name of a process: its number on the only host, or its address.
Member = int | str

# The number of partitions among the processes of several hosts. All hosts must have the same.
SHARED_PARTITIONS = 1024
WEIGHTS = Struct(f"!{SHARED_PARTITIONS}Q")


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
        self.first_choices: list[Member | None] = [order[0] for order in self._preferences]

    def list_owners(self, live: Collection[Member]) -> list[Member | None]:
        """Returns the owner of each partition among the live processes. None if there is none. The partition of a
        merchant is its number modulo `size`."""
        return [next((process for process in order if process in live), None) for order in self._preferences]


@lru_cache(maxsize=256)
def weigh_partitions(address: str) -> tuple[int, ...]:
    """Returns how much each partition prefers the process of this address: rendezvous hashing, the highest wins."""
    return WEIGHTS.unpack(shake_128(address.encode()).digest(WEIGHTS.size))


def choose_heaviest(addresses: Iterable[Member]) -> list[Member | None]:
    """Returns the address that each partition prefers among these. None if there are none."""
    weighed = [(address, weigh_partitions(address)) for address in sorted(map(str, addresses))]
    if not weighed:
        return [None] * SHARED_PARTITIONS
    return [max(weighed, key=lambda one: one[1][partition])[0] for partition in range(SHARED_PARTITIONS)]


class AddressTable:
    """The owners of all partitions among API processes of several hosts, which are named by their addresses."""

    size = SHARED_PARTITIONS

    def __init__(self, addresses: Collection[Member]) -> None:
        # The first choice of each partition, whether or not it is live.
        self.first_choices = choose_heaviest(addresses)

    def list_owners(self, live: Collection[Member]) -> list[Member | None]:
        """Returns the owner of each partition among the live processes, as PartitionTable does."""
        return choose_heaviest(live)
