"""The division of merchants among API processes: even, and stable when a process comes or goes."""

from collections import Counter

import pytest

from kasuwa.cluster.partitions import SHARED_PARTITIONS, AddressTable, PartitionTable


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


@pytest.mark.parametrize("processes", [2, 3, 8])
def test_the_last_live_process_owns_everything(processes: int) -> None:
    table = PartitionTable(processes)
    for alive in range(processes):
        assert set(table.list_owners({alive})) == {alive}


def test_without_a_live_process_nobody_owns_anything() -> None:
    assert set(PartitionTable(3).list_owners(())) == {None}


ADDRESSES = [f"10.0.0.{host}:{port}" for host in range(1, 5) for port in (7400, 7401)]


def test_processes_of_several_hosts_have_about_as_many_partitions_each() -> None:
    table = AddressTable(ADDRESSES)
    counts = Counter(table.list_owners(ADDRESSES))
    assert set(counts) == set(ADDRESSES)
    average = SHARED_PARTITIONS / len(ADDRESSES)
    assert 0.7 * average < min(counts.values()) <= max(counts.values()) < 1.3 * average
    assert table.list_owners(ADDRESSES[::-1]) == table.first_choices


def test_a_process_that_comes_or_goes_moves_its_own_partitions_alone() -> None:
    before = AddressTable(ADDRESSES).first_choices
    for gone in ADDRESSES:
        others = [address for address in ADDRESSES if address != gone]
        after = AddressTable(others).first_choices
        moved = [new for old, new in zip(before, after, strict=True) if old != new]
        assert len(moved) == before.count(gone)
        assert set(moved) == set(others)
        # The other way round: it comes back.
        assert [new for old, new in zip(after, before, strict=True) if old != new] == [gone] * len(moved)


def test_the_owners_among_several_hosts_never_change_between_versions() -> None:
    """Hosts that do not agree would all decide for the same merchants."""
    one, two, three = "10.0.0.1:7400", "10.0.0.2:7400", "[fd00::1]:7400"
    table = AddressTable([one, two, three])
    assert (table.size, table.first_choices[:8]) == (1024, [three, two, three, two, three, three, three, one])


def test_without_a_live_process_of_any_host_nobody_owns_anything() -> None:
    assert AddressTable(()).list_owners(()) == [None] * SHARED_PARTITIONS
