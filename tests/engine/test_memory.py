"""The row cache of a writer changes how much it reads, and nothing else.

The toy writer below works like the real one: it decides a batch on cached rows while the one before is not yet
committed, commits only if no merchant's version has changed, and otherwise decides again on rows from the database. It
takes rows that a request is to create to be absent, and decides again if one exists.
Another process may write at any moment. The commits must be the same as without a cache.
"""

from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import Needs, Row
from kasuwa.engine.batch import BatchState, Submission
from kasuwa.engine.row_cache import REPEATING_BATCHES, RowCache
from tests.engine.invariants import anything, check_invariants, funded, submissions
from tests.engine.memory_database import MemoryDatabase, visible_result, wallet_of
from tests.engine.toy import WALL, WORLD, ToyRequest, submission
from tests.hypothesis_settings import without_deadline

UNTIMED = without_deadline(150)
Answers = list[tuple[Any, ...]]


class Remembering(MemoryDatabase):
    """A database that is asked only for rows that the cache does not have."""

    def __init__(self, memory: RowCache) -> None:
        super().__init__()
        self.memory = memory
        self.reads = 0
        self.are_rows_new = False

    def fetch(self, state: BatchState, made: Submission, needs: Needs) -> None:
        unknown: dict[type[Row], dict[bytes, None]] = {}
        self.memory.load_rows(state, state.request_rows(made, needs), unknown)
        if self.are_rows_new and self.memory.expects_new_rows(made.merchant.merchant_id):
            state.assume_absent(needs, unknown)
        for key in (key for keys in unknown.values() for key in keys):
            self.reads += 1
            state.add_fetched_rows([key], [self.rows[key]] if key in self.rows else [])


class Writer:
    """Works like the real writer. `log` has the commits in order, with their results."""

    def __init__(self) -> None:
        self.memory = RowCache()
        self.database = Remembering(self.memory)
        self.pending: tuple[BatchState, list[Submission], Answers] | None = None
        self.log: list[tuple[list[Submission], Answers]] = []
        self.on_memory = 0
        self.repeats = 0

    def take(self, batch: list[Submission]) -> None:
        merchants = {made.merchant.merchant_id for made in batch}
        state = None
        if self.memory.can_decide(merchants):
            state = BatchState(WORLD, WALL)
            self.memory.load_states(state, merchants)
            self.database.are_rows_new = True
            self.database.fill(state, batch)
            answers = [visible_result(result) for result in self.database.decide(state, batch)]
            self.database.are_rows_new = False
            unproven = [key for keys in state.take_unproven_rows().values() for key in keys]
            if any(key in self.database.rows for key in unproven):
                self.expect_repeats(merchants)
                state = None
        if not self.settle() or state is None:
            self.take_locked(batch)
            return
        self.memory.remember_batch(state)
        self.pending = (state, batch, answers)

    def expect_repeats(self, merchants: Iterable[int]) -> None:
        self.repeats += 1
        self.memory.expect_repeats(merchants)

    def settle(self) -> bool:
        """Commits the batch before, if no merchant's version has changed and its new rows do not exist."""
        if self.pending is None:
            return True
        (state, batch, answers), self.pending = self.pending, None
        if all(
            self.database.book(merchant_id).version == state.expected_versions[merchant_id]
            for merchant_id in state.merchant_states
        ):
            if not any(key in self.database.rows for key in state.inserted_rows):
                self.database.commit(state)
                self.memory.forget_closed(state)
                self.log.append((batch, answers))
                self.on_memory += 1
                return True
            self.expect_repeats(state.merchant_states)
        else:
            self.memory.mark_contended(state.merchant_states)
        self.memory.forget_all()
        self.take_locked(batch)
        return False

    def take_locked(self, batch: list[Submission]) -> None:
        for merchant_id in {made.merchant.merchant_id for made in batch}:
            self.memory.check_version(self.database.book(merchant_id))
        state = self.database.batch_state(batch)
        answers = [visible_result(result) for result in self.database.decide(state, batch)]
        self.database.commit(state)
        self.memory.remember_batch(state)
        self.memory.forget_closed(state)
        self.log.append((batch, answers))

    def stranger(self, batch: list[Submission]) -> None:
        """Commits as another process would, without the cache's knowledge."""
        state = MemoryDatabase.batch_state(Bare(self.database), batch)
        answers = [visible_result(result) for result in Bare(self.database).decide(state, batch)]
        self.database.commit(state)
        self.log.append((batch, answers))


class Bare(MemoryDatabase):
    """The same database without a cache."""

    def __init__(self, other: MemoryDatabase) -> None:
        self.rows = other.rows


def opened() -> Writer:
    writer = Writer()
    writer.database.rows |= funded().rows
    writer.database.postings += funded().postings
    return writer


@UNTIMED
@given(st.lists(st.tuples(st.lists(anything, max_size=5), st.booleans()), max_size=8))
def test_with_a_memory_the_same_is_committed_and_answered_as_without(
    turns: list[tuple[list[ToyRequest], bool]],
) -> None:
    writer, plain = opened(), funded()
    for n, (chosen, by_a_stranger) in enumerate(turns):
        batch = submissions(chosen, n * 100)
        if by_a_stranger:
            writer.stranger(batch)
        else:
            writer.take(batch)
    writer.settle()
    for batch, answers in writer.log:
        assert [visible_result(result) for result in plain.run(batch)] == answers
    assert writer.database.contents(versions=False) == plain.contents(versions=False)
    assert sum(len(batch) for batch, _ in writer.log) == sum(len(chosen) for chosen, _ in turns)
    check_invariants(writer.database)


TURNS = ["start", "try_later", "finish", "give_back", "stranger start", "stranger try_later", "stranger finish"]


@pytest.mark.parametrize("first", TURNS)
def test_every_short_life_of_one_ticket_is_the_same_with_a_memory(first: str) -> None:
    """Exhaustive: everything that can happen to a ticket in four turns, by this writer and by another process."""
    for rest in product(TURNS, repeat=3):
        writer, plain = opened(), funded()
        for turn in (first, *rest):
            take = writer.stranger if turn.startswith("stranger") else writer.take
            take([submission(ToyRequest(turn.removeprefix("stranger ")))])
        writer.settle()
        for batch, answers in writer.log:
            assert [visible_result(result) for result in plain.run(batch)] == answers, (first, *rest)
        assert writer.database.contents(versions=False) == plain.contents(versions=False), (first, *rest)


def test_the_memory_is_used_and_saves_reads() -> None:
    writer = opened()
    writer.take([submission(ToyRequest("start"))])
    before = writer.database.reads
    for verb in ("try_later", "finish"):
        writer.take([submission(ToyRequest(verb))])
    writer.settle()
    assert writer.on_memory == 2
    assert writer.database.reads - before <= 2  # the job is a worker's once it is for later, and read anew


def test_a_batch_on_top_of_one_that_did_not_hold_is_decided_again() -> None:
    writer = opened()
    writer.take([submission(ToyRequest("spend", amount=100))])
    writer.take([submission(ToyRequest("spend", amount=100))])
    writer.stranger([submission(ToyRequest("spend", amount=250))])
    writer.take([submission(ToyRequest("spend", amount=100))])
    writer.settle()
    assert [answers[0][0] for _, answers in writer.log] == ["done", "done", "done", "refused"]
    check_invariants(writer.database)


def test_what_somebody_else_wrote_is_seen_when_the_books_are_locked() -> None:
    writer = opened()
    writer.take([submission(ToyRequest("spend", amount=100))])
    writer.stranger([submission(ToyRequest("spend", amount=400))])
    assert not writer.memory.can_decide([1, 2])  # of the second merchant nothing is remembered: both are locked
    writer.take([submission(ToyRequest("spend", amount=100)), submission(ToyRequest("fund", 2))])
    assert [answer[0] for answer in writer.log[-1][1]] == ["refused", "done"]
    check_invariants(writer.database)


def test_a_cache_stops_deciding_for_a_while_after_another_process_wrote() -> None:
    writer = opened()
    writer.take([submission(ToyRequest("fund"))])
    assert writer.memory.can_decide([1])
    writer.stranger([submission(ToyRequest("fund"))])
    writer.take([submission(ToyRequest("fund"))])
    writer.settle()
    assert not writer.memory.can_decide([1])
    for _ in range(40):
        writer.take([submission(ToyRequest("fund"))])
    assert writer.memory.can_decide([1])


def test_new_rows_are_not_read() -> None:
    writer = opened()
    for verb in ("fund", "spend"):  # opens all accounts
        writer.take([submission(ToyRequest(verb))])
    before = writer.database.reads
    for ref in "abc":
        writer.take([submission(ToyRequest("start", ref=ref))])
    writer.settle()
    assert writer.database.reads == before
    assert [answers[0][0] for _, answers in writer.log] == ["done"] * 5
    assert writer.repeats == 0


@pytest.mark.parametrize(
    ("again", "amount", "answer"),
    [("start", 100, "done"), ("start", 7, "refused"), ("refuse", 100, "refused"), ("crash", 100, "broken")],
)
def test_a_row_that_exists_is_found_whatever_the_rule_makes_of_its_absence(
    again: str, amount: int, answer: str
) -> None:
    """The ticket has ended, so the cache does not have it. It was started before: the wallet is empty now."""
    writer = opened()
    for verb in ("start", "finish"):
        writer.take([submission(ToyRequest(verb))])
    writer.settle()
    balance = wallet_of(writer.database).posted
    writer.take([submission(ToyRequest("spend", amount=balance))])
    writer.settle()
    writer.take([submission(ToyRequest(again, amount=amount))])
    writer.settle()
    assert [answers[0][0] for _, answers in writer.log] == ["done", "done", "done", answer]
    assert writer.repeats == 1
    assert not writer.memory.expects_new_rows(1)
    check_invariants(writer.database)


def test_after_a_repeat_new_rows_are_read_first_for_a_while() -> None:
    memory = RowCache()
    memory.expect_repeats([1])
    state = BatchState(WORLD, WALL)
    state.add_merchant_state(funded().book(1))
    for _ in range(REPEATING_BATCHES):
        assert not memory.expects_new_rows(1)
        assert memory.expects_new_rows(2)
        memory.remember_batch(state)
    assert memory.expects_new_rows(1)
