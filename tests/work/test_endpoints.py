"""What the courier knows of an endpoint: how much is claimed for it, how many are sent at once, and when its queue goes
back."""

from datetime import UTC, datetime

from kasuwa.db.deliveries import LEASE, Delivery
from kasuwa.work.egress import LIMITS, MOST_PER_HOST
from kasuwa.work.endpoints import (
    LONGEST_WAIT_SECONDS,
    MOST_AHEAD,
    MOST_ILL,
    MOST_REMEMBERED,
    MOST_WELL,
    STUCK_SECONDS,
    Endpoint,
    Endpoints,
)


def delivery(claimed_at: float = 0.0) -> Delivery:
    now = datetime.now(UTC)
    return Delivery(b"", 1, 0, "{}", 1, "", 1, b"", "http://x", now, False, False, claimed_at)


def endpoint(answers_in: float | None = None) -> Endpoint:
    made = Endpoint()
    if answers_in is not None:
        made.answered(answers_in)
    return made


def test_a_stranger_has_few_places_and_no_queue() -> None:
    stranger = endpoint()
    assert (stranger.places, stranger.room()) == (MOST_ILL, MOST_ILL)
    stranger.add(delivery(), 0)
    assert stranger.room() == MOST_ILL - 1


def test_who_answers_quickly_is_claimed_for_ahead() -> None:
    assert endpoint(0.0).room() == MOST_WELL + MOST_AHEAD
    assert endpoint(0.001).room() == MOST_WELL + MOST_AHEAD
    assert endpoint(0.1).room() == MOST_WELL + 160
    assert endpoint(5.0).room() == MOST_WELL + 3


def test_the_pace_follows_what_is_measured() -> None:
    slowing = endpoint(0.001)
    rooms = []
    for _ in range(40):
        slowing.answered(1.0)
        rooms.append(slowing.room())
    assert rooms == sorted(rooms, reverse=True)
    assert rooms[-1] < MOST_WELL + 20


def test_a_few_places_are_not_worth_a_claim() -> None:
    busy = endpoint(0.001)
    for _ in range(MOST_WELL + MOST_AHEAD - 10):
        busy.add(delivery(), 0)
    assert busy.room() == 0


def test_one_failure_takes_the_places_away_and_one_answer_gives_them_back() -> None:
    failing = endpoint(0.001)
    failing.failed()
    assert (failing.places, failing.room()) == (MOST_ILL, MOST_ILL)
    failing.answered(0.001)
    assert failing.places == MOST_WELL


def test_a_queue_that_does_not_move_goes_back_and_who_it_waited_for_is_a_stranger_again() -> None:
    stuck = endpoint(0.001)
    for _ in range(5):
        stuck.add(delivery(), 0)
    stuck.take(1.0)
    assert stuck.give_back_if_stuck(1.0 + STUCK_SECONDS / 2) == []
    assert len(stuck.give_back_if_stuck(1.1 + STUCK_SECONDS)) == 4
    assert (stuck.held, stuck.places) == (0, MOST_ILL)


def test_who_takes_a_second_for_each_is_slow_and_not_stuck() -> None:
    slow = endpoint(1.0)
    for _ in range(5):
        slow.add(delivery(), 0)
    assert slow.give_back_if_stuck(3.4) == []
    assert len(slow.give_back_if_stuck(3.6)) == 5


def test_a_queue_that_moves_too_slowly_goes_back_while_its_leases_last() -> None:
    slow = endpoint(0.001)
    for claimed_at in (0.0, 5.0):
        slow.add(delivery(claimed_at), claimed_at)
    at = LONGEST_WAIT_SECONDS
    slow.add(delivery(at), at)
    slow.take(at)
    assert slow.give_back_if_stuck(at) == []
    assert len(slow.give_back_if_stuck(at + 5.0)) == 2


def test_what_waited_longest_is_still_sent_within_its_lease() -> None:
    longest = LONGEST_WAIT_SECONDS + 2 * (LIMITS.turn + LIMITS.whole)
    assert LEASE.total_seconds() > longest + 5


def test_no_merchant_has_more_than_a_quarter_of_a_host() -> None:
    assert MOST_WELL * 4 <= MOST_PER_HOST


def test_the_longest_unused_are_forgotten_and_nothing_that_is_held() -> None:
    known = Endpoints()
    for merchant_id in range(MOST_REMEMBERED + 3):
        known.of(merchant_id)
    known.of(1).add(delivery(), 0)
    known.of(0)
    known.forget_idle()
    assert set(range(MOST_REMEMBERED + 3)) - set(known.rooms()) == {2, 3, 4}
    assert (known.held, known.busy, known.ill) == (1, 0, 1)
