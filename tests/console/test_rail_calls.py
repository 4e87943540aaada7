"""The operator's page of calls of rails: which is slow, by hour and by day."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from kasuwa.console.operator.rail_calls import read_span
from tests.console.visitor import sign_in_as
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

# Hours ago, rail, operation, whether answered, class of duration and number of calls.
CALLS = """
    insert into rail_timing (hour, rail, operation, is_answered, duration_ms, calls)
    select date_trunc('hour', now()) - make_interval(hours => u.ago), u.rail, u.operation, u.answered, u.duration,
        u.calls
    from (values (0, 'swift', 'POST /transfer', true, 150, 1900), (0, 'swift', 'POST /transfer', true, 400, 100),
        (1, 'snail', 'POST /transfer', true, 750, 60), (1, 'snail', 'POST /transfer', true, 4000, 30),
        (1, 'snail', 'POST /transfer', false, 10000, 10), (1, 'snail', 'GET /banks', true, 50, 100),
        (40, 'snail', 'GET /banks', true, 60000, 500)) u (ago, rail, operation, answered, duration, calls)
"""


@pytest.fixture
def calls(deployment: Deployment) -> Iterator[None]:
    deployment.fetch(CALLS)
    yield
    deployment.fetch("delete from rail_timing where rail in ('swift', 'snail')")


@pytest.mark.usefixtures("calls")
def test_the_page_says_which_rail_is_slow(deployment: Deployment) -> None:
    operator = sign_in_as(deployment, "operator:read-only")
    words = operator.get("/operator/rails/calls").words
    assert "snail is the slowest: 95 of 100 calls took at most 4 s, half of them at most 50 ms." in words
    assert "snail 200 95.0 % 50 ms 4 s swift 2,000 100.0 % 150 ms 150 ms" in words
    assert "POST /transfer snail 100 90.0 % 750 ms 4 s" in words
    assert (
        "snail is the slowest: 95 of 100 calls took at most 60 s" in operator.get("/operator/rails/calls?span=7d").words
    )
    assert "24 hours" in operator.get("/operator/rails/calls?span=nonsense").words


@pytest.mark.usefixtures("calls")
def test_the_file_has_each_operation_by_hour(deployment: Deployment) -> None:
    exported = sign_in_as(deployment, "operator:finance").get("/operator/rails/calls.csv?span=24h")
    assert exported.headers["content-disposition"] == 'attachment; filename="rail-calls-24h.csv"'
    header, *lines = exported.text.splitlines()
    assert header == "from,rail,operation,calls,answered,p50_ms,p95_ms"
    assert sorted(line.partition(",")[2] for line in lines if "swift" in line or "snail" in line) == [
        "snail,GET /banks,100,100,50,50",
        "snail,POST /transfer,100,90,750,4000",
        "swift,POST /transfer,2000,2000,150,150",
    ]


def test_without_calls_the_page_says_so(deployment: Deployment) -> None:
    assert (
        "No vendor was called in this time."
        in sign_in_as(deployment, "operator:support").get("/operator/rails/calls").words
    )


def test_bars_are_hours_and_days_of_lagos() -> None:
    now = datetime(2026, 1, 5, 23, 30, tzinfo=UTC)
    hours, days = read_span("24h", now), read_span("7d", now)
    assert [hours.bar_name(start) for start in (hours.starts[0], hours.starts[-1])] == ["01:00", "00:00"]
    assert [days.bar_name(start) for start in (days.starts[0], days.starts[-1])] == ["31 Dec", "6 Jan"]
    assert days.find_bar(datetime(2026, 1, 5, 22, 59, tzinfo=UTC)) == days.starts[-2]
    assert days.find_bar(datetime(2026, 1, 5, 23, 0, tzinfo=UTC)) == days.starts[-1]
