"""The writer's queue: merchants in turn, weighed by orders, each merchant's submissions in their order."""

from collections import Counter
from itertools import groupby
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from kasuwa.engine.fair_queue import MERCHANT_SHARE, FairQueue

ROOM = 256
A, B, C = 1, 2, 3


class Entry(NamedTuple):
    merchant_id: int
    number: int
    orders: int = 1
    deadline: float = 0.0


def queue_of(*entries: Entry) -> "FairQueue[Entry]":
    queue: FairQueue[Entry] = FairQueue()
    for entry in entries:
        queue.append(entry)
    return queue


def many(merchant_id: int, count: int, orders: int = 1) -> list[Entry]:
    return [Entry(merchant_id, number, orders) for number in range(count)]


def take(queue: "FairQueue[Entry]", room: int = ROOM) -> list[Entry]:
    chosen = queue.choose(room)
    queue.remove(chosen)
    return chosen


def orders_by_merchant(entries: list[Entry]) -> dict[int, int]:
    found: Counter[int] = Counter()
    for entry in entries:
        found[entry.merchant_id] += entry.orders
    return dict(found)


def test_a_merchant_alone_may_use_the_whole_batch() -> None:
    queue = queue_of(*many(A, 300))
    assert take(queue) == many(A, 300)[:ROOM]
    assert take(queue) == many(A, 300)[ROOM:]
    assert not queue


def test_a_merchant_has_its_share_of_a_batch_while_others_wait() -> None:
    queue = queue_of(*many(A, 300), *many(B, 1))
    assert orders_by_merchant(take(queue)) == {A: MERCHANT_SHARE, B: 1}
    assert orders_by_merchant(take(queue)) == {A: 300 - MERCHANT_SHARE}


def test_a_submission_weighs_as_much_as_its_orders() -> None:
    queue = queue_of(*many(A, 9, orders=MERCHANT_SHARE // 3), *many(B, 1))
    assert orders_by_merchant(take(queue)) == {A: MERCHANT_SHARE // 3 * 3, B: 1}
    assert orders_by_merchant(take(queue, MERCHANT_SHARE)) == {A: MERCHANT_SHARE // 3 * 3}


def test_those_who_had_no_turn_come_before_those_who_had_one() -> None:
    queue = queue_of(*many(A, 100), *many(B, 100), *many(C, 100))
    assert orders_by_merchant(take(queue, 100)) == {A: MERCHANT_SHARE, B: 100 - MERCHANT_SHARE}
    assert list(orders_by_merchant(take(queue, 100))) == [C, A]
    assert list(orders_by_merchant(take(queue, 100))) == [B, C]


def test_what_joins_a_batch_counts_with_what_the_merchant_has_in_it() -> None:
    before = many(A, MERCHANT_SHARE - 4)
    queue = queue_of(*many(A, 10), *many(B, 10))
    assert orders_by_merchant(queue.choose(ROOM, before)) == {A: 4, B: 10}
    assert orders_by_merchant(queue.choose(len(before) + 6, before)) == {A: 4, B: 2}
    assert orders_by_merchant(queue_of(*many(A, 10)).choose(ROOM, before)) == {A: 10}
    assert orders_by_merchant(queue_of(*many(A, 10)).choose(ROOM, [*before, Entry(B, 0)])) == {A: 4}


def test_the_submissions_of_a_merchant_are_taken_from_the_queue_in_order() -> None:
    queue = queue_of(*many(A, 3), *many(B, 2))
    assert queue.take_entries(A) == many(A, 3)
    assert queue.take_entries(A) == []
    assert list(queue) == many(B, 2)


def test_overdue_submissions_leave_the_queue_of_every_merchant() -> None:
    late, early = Entry(A, 1, deadline=5.0), Entry(A, 2, deadline=7.0)
    queue = queue_of(late, early, Entry(B, 1, deadline=4.0))
    assert queue.take_overdue(5.0) == [late, Entry(B, 1, deadline=4.0)]
    assert list(queue) == [early]


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, MERCHANT_SHARE)), max_size=60),
    st.integers(MERCHANT_SHARE, ROOM),
)
def test_nobody_starves_and_nothing_is_lost_or_overtaken(arrivals: list[tuple[int, int]], room: int) -> None:
    entries = [Entry(merchant_id, number, orders) for number, (merchant_id, orders) in enumerate(arrivals)]
    queue, taken, passed_over = queue_of(*entries), [], Counter[int]()
    while queue:
        waiting = {entry.merchant_id for entry in queue}
        batch = take(queue, room)
        served = orders_by_merchant(batch)
        assert batch
        assert sum(served.values()) <= room
        assert len(waiting) == 1 or max(served.values()) <= MERCHANT_SHARE
        for merchant_id in waiting:
            passed_over[merchant_id] = 0 if merchant_id in served else passed_over[merchant_id] + 1
        assert max(passed_over.values()) < len({entry.merchant_id for entry in entries})
        taken += batch
    for _, of_merchant in groupby(sorted(taken, key=lambda entry: entry.merchant_id), lambda entry: entry.merchant_id):
        numbers = [entry.number for entry in of_merchant]
        assert numbers == sorted(numbers)
    assert sorted(taken) == sorted(entries)
