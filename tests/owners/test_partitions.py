"""The division of merchants among API processes: even, and stable when a process comes or goes."""

from collections import Counter

import pytest

from kasuwa.owners.partitions import PartitionTable


@pytest.mark.parametrize("processes", [2, 3, 8, 16])
def test_merchants_with_consecutive_numbers_are_divided_evenly(processes: int) -> None:
    table = PartitionTable(processes)
    owners = table.list_owners(range(processes))
    counts = Counter(owners[merchant % table.size] for merchant in range(5, 5 + 10 * processes))
    assert set(counts) == set(range(processes))
    assert max(counts.values()) - min(counts.values()) <= 2
    assert owners == table.first_choices


@pytest.mark.parametrize("processes", [2, 3, 8])
def test_only_the_partitions_of_a_process_that_ends_move_and_all_others_share_them(processes: int) -> None:
    table = PartitionTable(processes)
    everybody = set(range(processes))
    before = table.list_owners(everybody)
    for ended in everybody:
        after = table.list_owners(everybody - {ended})
        moved = [new for old, new in zip(before, after, strict=True) if old != new]
        assert len(moved) == before.count(ended)
        assert set(moved) == everybody - {ended}
    assert table.list_owners(everybody) == before


def test_without_a_live_process_nobody_owns_anything() -> None:
    assert set(PartitionTable(3).list_owners(())) == {None}
