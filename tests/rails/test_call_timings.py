"""How long calls took is counted in classes, and percentiles are the ends of classes."""

from datetime import UTC, datetime

from kasuwa.rails.watch.call_timings import DURATIONS, CallClass, CallCount, CallFigures, CallTimings, sum_calls

HOUR = datetime(2026, 1, 5, 9, tzinfo=UTC)


def test_a_call_is_counted_in_the_first_class_that_it_fits() -> None:
    timings = CallTimings()
    for seconds in (0.0, 0.025, 0.0251, 0.75, 3600.0):
        timings.add("monnify", "GET /banks", True, seconds)
    timings.add("monnify", "GET /banks", False, 0.01)
    taken = timings.take()
    answered = {one.duration_ms: n for one, n in taken.items() if one.is_answered}
    assert answered == {25: 2, 50: 1, 750: 1, DURATIONS[-1]: 1}
    assert taken[CallClass("monnify", "GET /banks", False, 25)] == 1
    assert timings.take() == {}


def test_what_could_not_be_written_is_counted_again() -> None:
    timings = CallTimings()
    timings.add("monnify", "GET /banks", True, 0.01)
    taken = timings.take()
    timings.add("monnify", "GET /banks", True, 0.01)
    timings.give_back(taken)
    assert timings.take() == {CallClass("monnify", "GET /banks", True, 25): 2}


def count_of(duration: int, calls: int, *, is_answered: bool = True) -> CallCount:
    return CallCount("monnify", "GET /banks", HOUR, is_answered, duration, calls)


def test_percentiles_are_of_answered_calls() -> None:
    counts = [count_of(100, 50), count_of(500, 45), count_of(3000, 5), count_of(60_000, 10, is_answered=False)]
    assert sum_calls(counts) == CallFigures(110, 100, 100, 500)
    assert sum_calls([count_of(100, 49), count_of(500, 45), count_of(3000, 6)]) == CallFigures(100, 100, 500, 3000)
    assert sum_calls([count_of(25, 1)]) == CallFigures(1, 1, 25, 25)
    assert sum_calls([count_of(25, 3, is_answered=False)]) == CallFigures(3, 0, None, None)
    assert sum_calls([]) == CallFigures(0, 0, None, None)
