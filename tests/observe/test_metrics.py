"""What a process counts, in memory and on its board; and how it reads once it is scraped."""

import asyncio
import os
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client.exposition import generate_latest

from kasuwa.api.backlog import Backlog
from kasuwa.api.scrape import MetricsEndpoint, ScrapeCollector, buckets
from kasuwa.observe.metrics import (
    ALL_METRICS,
    BATCH_SIZE,
    HALF_BYTES,
    MEMORY_BYTES,
    REQUESTS,
    STARTS,
    Metrics,
    MetricSpec,
    SharedCounters,
    sum_counters,
)

SPREAD = MetricSpec("spread", "", (), (1.0, 5.0))


def test_a_counter_adds_up_by_its_labels() -> None:
    meter = Metrics()
    for status in ("200", "104", "200"):
        meter.count(REQUESTS, "/bills", "pay", status)
    assert meter.series == {
        (REQUESTS.name, ("/bills", "pay", "200")): [2],
        (REQUESTS.name, ("/bills", "pay", "104")): [1],
    }


def test_a_value_falls_into_the_first_bound_that_holds_it() -> None:
    meter = Metrics()
    for value in (0.5, 1.0, 1.5, 5.0, 5.1, 100.0):
        meter.observe(SPREAD, value)
    assert meter.series == {("spread", ()): [2, 2, 2, 113.1]}
    assert buckets(SPREAD.bounds, [2, 2, 2]) == [("1.0", 2), ("5.0", 4), ("+Inf", 6)]


def test_nothing_is_on_a_board_before_something_was_posted() -> None:
    assert SharedCounters("api-1").read() == {}


def test_what_is_posted_last_is_read() -> None:
    board, meter = SharedCounters("api-1"), Metrics()
    for _ in range(3):
        meter.count(STARTS, "api-1")
        board.publish(meter.series)
    assert board.read() == {(STARTS.name, ("api-1",)): [3]}


def test_who_begins_on_a_board_counts_on_from_what_stands_there() -> None:
    board = SharedCounters("worker")
    for _ in range(2):
        meter = Metrics(board)
        meter.count(REQUESTS, "/bills", "pay", "200")
        meter.publish()
    assert board.read()[REQUESTS.name, ("/bills", "pay", "200")] == [2]


def test_counters_are_added_up() -> None:
    counters = [SharedCounters("api-1"), SharedCounters("api-2")]
    for size, board in enumerate(counters, 1):
        meter = Metrics(board)
        meter.observe(BATCH_SIZE, size, "locked")
        meter.publish()
    total = sum_counters(counters)
    assert total[BATCH_SIZE.name, ("locked",)] == [1, 1, *[0] * (len(BATCH_SIZE.bounds) - 1), 3]
    assert {labels for name, labels in total if name == MEMORY_BYTES.name} == {("api-1",), ("api-2",)}


def test_a_fork_posts_on_the_board_that_its_parent_reads() -> None:
    board = SharedCounters("api-1")
    child = os.fork()
    if child == 0:
        meter = Metrics(board)
        meter.count(STARTS, "api-1")
        meter.publish()
        os._exit(0)
    os.waitpid(child, 0)
    assert board.read()[STARTS.name, ("api-1",)] == [1]


def test_a_half_written_board_is_not_read() -> None:
    """Killed while it writes, a part leaves the half that nobody reads; the other still holds."""
    board, meter = SharedCounters("api-1"), Metrics()
    meter.count(STARTS, "api-1")
    board.publish(meter.series)
    half = 1 - board._memory[0]
    board._memory[1 + half * HALF_BYTES : 1 + half * HALF_BYTES + 100] = b"x" * 100
    assert board.read() == {(STARTS.name, ("api-1",)): [1]}


def test_more_than_a_board_holds_is_not_written_into_the_other_half() -> None:
    board, meter = SharedCounters("api-1"), Metrics()
    meter.count(STARTS, "api-1")
    board.publish(meter.series)
    with pytest.raises(OverflowError):
        board.publish({("long", ("x" * HALF_BYTES,)): [1.0]})
    assert board.read() == {(STARTS.name, ("api-1",)): [1]}


def test_every_metric_has_its_help_and_each_name_appears_once() -> None:
    output = generate_latest(ScrapeCollector({}, Backlog({"bank": (2, 7.5)}, 1, 2, 3))).decode()
    assert len({measure.name for measure in ALL_METRICS}) == len(ALL_METRICS)
    for measure in ALL_METRICS:
        assert f"# HELP {measure.name}" in output
    for line in ('kasuwa_jobs_due{lane="bank"} 2.0', 'kasuwa_jobs_late_seconds{lane="bank"} 7.5'):
        assert line in output.splitlines()
    assert {"kasuwa_endpoints_failing 1.0", "kasuwa_endpoints_off 2.0", "kasuwa_notices 3.0"} <= set(
        output.splitlines()
    )


def test_an_unreachable_database_is_shown_with_the_other_metrics() -> None:
    output = generate_latest(ScrapeCollector({(STARTS.name, ("worker",)): [2.0]}, None)).decode().splitlines()
    assert "kasuwa_database_up 0.0" in output
    assert 'kasuwa_part_starts_total{part="worker"} 2.0' in output
    assert not any(line.startswith("kasuwa_jobs") for line in output)


class ThreadRecorder:
    """Counters that record which thread reads them."""

    def __init__(self) -> None:
        self.threads: list[int] = []

    def __iter__(self) -> Iterator[SharedCounters]:
        self.threads.append(threading.get_ident())
        return iter((SharedCounters("api-1"),))


def test_a_scrape_is_encoded_off_the_event_loop() -> None:
    counters, replies = ThreadRecorder(), []

    async def look() -> Backlog:
        return Backlog({}, 0, 0, 0)

    def respond(status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        replies.append((status, b"kasuwa_database_up 1.0" in body))

    request: Any = SimpleNamespace(path="/metrics", method="GET", headers={})
    exchange: Any = SimpleNamespace(reply=respond)
    asyncio.run(MetricsEndpoint(counters, look).answer(request, exchange))
    assert replies == [(200, True)]
    assert counters.threads
    assert threading.get_ident() not in counters.threads
