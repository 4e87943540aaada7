"""The rules of the test environment, as pure decisions. Contract: sandbox#clock"""

from datetime import UTC, datetime, timedelta

from kasuwa.core.calendar import is_in_range
from kasuwa.methods.sandbox.rules import TOO_FAR, resolve_advance
from kasuwa.methods.sandbox.wire import AdvanceRequest

LATE = datetime(8999, 12, 31, 23, 59, 58, tzinfo=UTC)


def test_business_time_moves_to_the_end_of_the_last_year_and_no_further() -> None:
    last = resolve_advance(AdvanceRequest(seconds=1), LATE)
    assert last == LATE + timedelta(seconds=1)
    assert isinstance(last, datetime)
    assert is_in_range(last)
    assert resolve_advance(AdvanceRequest(seconds=2), LATE) == TOO_FAR
    assert resolve_advance(AdvanceRequest(days=1), LATE) == TOO_FAR
