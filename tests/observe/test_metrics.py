"""What a process counts, in memory and on its board; and how it reads once it is scraped."""

import os

import pytest
from prometheus_client.exposition import generate_latest

from kasuwa.db.waiting import Waiting
from kasuwa.observe.metrics import (
    BATCH_SIZE,
    COUNTED,
    HALF_BYTES,
    MEMORY_BYTES,
    REQUESTS,
    STARTS,
    Board,
    Measure,
    Meter,
    add_up,
)
from kasuwa.web.scrape import Found, buckets

SPREAD = Measure("spread", "", (), (1.0, 5.0))


def test_a_counter_adds_up_by_its_labels() -> None:
    meter = Meter()
    for status in ("200", "104", "200"):
        meter.count(REQUESTS, "/bills", "pay", status)
    assert meter.series == {
        (REQUESTS.name, ("/bills", "pay", "200")): [2],
        (REQUESTS.name, ("/bills", "pay", "104")): [1],
    }


def test_a_value_falls_into_the_first_bound_that_holds_it() -> None:
    meter = Meter()
    for value in (0.5, 1.0, 1.5, 5.0, 5.1, 100.0):
        meter.observe(SPREAD, value)
    assert meter.series == {("spread", ()): [2, 2, 2, 113.1]}
    assert buckets(SPREAD.bounds, [2, 2, 2]) == [("1.0", 2), ("5.0", 4), ("+Inf", 6)]


def test_nothing_is_on_a_board_before_something_was_posted() -> None:
    assert Board("api-1").read() == {}


def test_what_is_posted_last_is_read() -> None:
    board, meter = Board("api-1"), Meter()
    for _ in range(3):
        meter.count(STARTS, "api-1")
        board.post(meter.series)
    assert board.read() == {(STARTS.name, ("api-1",)): [3]}


def test_who_begins_on_a_board_counts_on_from_what_stands_there() -> None:
    board = Board("worker")
    for _ in range(2):
        meter = Meter(board)
        meter.count(REQUESTS, "/bills", "pay", "200")
        meter.post()
    assert board.read()[REQUESTS.name, ("/bills", "pay", "200")] == [2]


def test_boards_are_added_up() -> None:
    boards = [Board("api-1"), Board("api-2")]
    for size, board in enumerate(boards, 1):
        meter = Meter(board)
        meter.observe(BATCH_SIZE, size, "locked")
        meter.post()
    total = add_up(boards)
    assert total[BATCH_SIZE.name, ("locked",)] == [1, 1, *[0] * (len(BATCH_SIZE.bounds) - 1), 3]
    assert {labels for name, labels in total if name == MEMORY_BYTES.name} == {("api-1",), ("api-2",)}


def test_a_fork_posts_on_the_board_that_its_parent_reads() -> None:
    board = Board("api-1")
    child = os.fork()
    if child == 0:
        meter = Meter(board)
        meter.count(STARTS, "api-1")
        meter.post()
        os._exit(0)
    os.waitpid(child, 0)
    assert board.read()[STARTS.name, ("api-1",)] == [1]


def test_a_half_written_board_is_not_read() -> None:
    """Killed while it writes, a part leaves the half that nobody reads; the other still holds."""
    board, meter = Board("api-1"), Meter()
    meter.count(STARTS, "api-1")
    board.post(meter.series)
    half = 1 - board._memory[0]
    board._memory[1 + half * HALF_BYTES : 1 + half * HALF_BYTES + 100] = b"x" * 100
    assert board.read() == {(STARTS.name, ("api-1",)): [1]}


def test_more_than_a_board_holds_is_not_written_into_the_other_half() -> None:
    board, meter = Board("api-1"), Meter()
    meter.count(STARTS, "api-1")
    board.post(meter.series)
    with pytest.raises(OverflowError):
        board.post({("long", ("x" * HALF_BYTES,)): [1.0]})
    assert board.read() == {(STARTS.name, ("api-1",)): [1]}


def test_every_measure_is_told_with_its_help_and_each_name_once() -> None:
    said = generate_latest(Found({}, Waiting({"bank": (2, 7.5)}, 1, 2, 3))).decode()
    assert len({measure.name for measure in COUNTED}) == len(COUNTED)
    for measure in COUNTED:
        assert f"# HELP {measure.name}" in said
    for line in ('kasuwa_jobs_due{lane="bank"} 2.0', 'kasuwa_jobs_late_seconds{lane="bank"} 7.5'):
        assert line in said.splitlines()
    assert {"kasuwa_endpoints_failing 1.0", "kasuwa_endpoints_off 2.0", "kasuwa_notices 3.0"} <= set(said.splitlines())


def test_a_database_that_is_away_is_said_and_the_rest_still_counts() -> None:
    said = generate_latest(Found({(STARTS.name, ("worker",)): [2.0]}, None)).decode().splitlines()
    assert "kasuwa_database_up 0.0" in said
    assert 'kasuwa_part_starts_total{part="worker"} 2.0' in said
    assert not any(line.startswith("kasuwa_jobs") for line in said)
