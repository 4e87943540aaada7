"""What the sender records about an endpoint: how many deliveries are claimed for it, how many are sent at once, and
when its queue is given back.
"""

from datetime import UTC, datetime

from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.outbound.egress import DEFAULT_LIMITS, MAX_PER_HOST
from kasuwa.webhooks.deliveries import DELIVERY_LEASE, Delivery
from kasuwa.webhooks.queues import (
    MAX_IN_FLIGHT_HEALTHY,
    MAX_IN_FLIGHT_UNHEALTHY,
    MAX_PREFETCH,
    MAX_QUEUE_SECONDS,
    MAX_REMEMBERED,
    STUCK_SECONDS,
    EndpointQueue,
    EndpointQueues,
)


def delivery(claimed_at: float = 0.0) -> Delivery:
    now = datetime.now(UTC)
    return Delivery(b"", 1, 1, 0, "{}", 1, "", 1, b"", "http://x", now, False, False, claimed_at)


def endpoint(answers_in: float | None = None) -> EndpointQueue:
    made = EndpointQueue()
    if answers_in is not None:
        made.record_success(answers_in)
    return made


def test_a_stranger_has_few_places_and_no_queue() -> None:
    stranger = endpoint()
    assert (stranger.max_in_flight, stranger.claim_capacity()) == (MAX_IN_FLIGHT_UNHEALTHY, MAX_IN_FLIGHT_UNHEALTHY)
    stranger.add(delivery(), 0)
    assert stranger.claim_capacity() == MAX_IN_FLIGHT_UNHEALTHY - 1


def test_who_answers_quickly_is_claimed_for_ahead() -> None:
    assert endpoint(0.0).claim_capacity() == MAX_IN_FLIGHT_HEALTHY + MAX_PREFETCH
    assert endpoint(0.001).claim_capacity() == MAX_IN_FLIGHT_HEALTHY + MAX_PREFETCH
    assert endpoint(0.1).claim_capacity() == MAX_IN_FLIGHT_HEALTHY + 160
    assert endpoint(5.0).claim_capacity() == MAX_IN_FLIGHT_HEALTHY + 3


def test_the_pace_follows_what_is_measured() -> None:
    slowing = endpoint(0.001)
    rooms = []
    for _ in range(40):
        slowing.record_success(1.0)
        rooms.append(slowing.claim_capacity())
    assert rooms == sorted(rooms, reverse=True)
    assert rooms[-1] < MAX_IN_FLIGHT_HEALTHY + 20


def test_a_few_places_are_not_worth_a_claim() -> None:
    busy = endpoint(0.001)
    for _ in range(MAX_IN_FLIGHT_HEALTHY + MAX_PREFETCH - 10):
        busy.add(delivery(), 0)
    assert busy.claim_capacity() == 0


def test_one_failure_takes_the_places_away_and_one_answer_gives_them_back() -> None:
    failing = endpoint(0.001)
    failing.record_failure()
    assert (failing.max_in_flight, failing.claim_capacity()) == (MAX_IN_FLIGHT_UNHEALTHY, MAX_IN_FLIGHT_UNHEALTHY)
    failing.record_success(0.001)
    assert failing.max_in_flight == MAX_IN_FLIGHT_HEALTHY


def test_a_stuck_queue_is_released_and_its_endpoint_is_unhealthy_again() -> None:
    stuck = endpoint(0.001)
    for _ in range(5):
        stuck.add(delivery(), 0)
    stuck.take_next(1.0)
    assert stuck.release_if_stuck(1.0 + STUCK_SECONDS / 2) == []
    assert len(stuck.release_if_stuck(1.1 + STUCK_SECONDS)) == 4
    assert (stuck.claimed_count, stuck.max_in_flight) == (0, MAX_IN_FLIGHT_UNHEALTHY)


def test_who_takes_a_second_for_each_is_slow_and_not_stuck() -> None:
    slow = endpoint(1.0)
    for _ in range(5):
        slow.add(delivery(), 0)
    assert slow.release_if_stuck(3.4) == []
    assert len(slow.release_if_stuck(3.6)) == 5


def test_a_queue_that_moves_too_slowly_goes_back_while_its_leases_last() -> None:
    slow = endpoint(0.001)
    for claimed_at in (0.0, 5.0):
        slow.add(delivery(claimed_at), claimed_at)
    at = MAX_QUEUE_SECONDS
    slow.add(delivery(at), at)
    slow.take_next(at)
    assert slow.release_if_stuck(at) == []
    assert len(slow.release_if_stuck(at + 5.0)) == 2


def test_what_waited_longest_is_still_sent_within_its_lease() -> None:
    longest = MAX_QUEUE_SECONDS + 2 * (DEFAULT_LIMITS.queue_seconds + DEFAULT_LIMITS.total_seconds)
    assert DELIVERY_LEASE.total_seconds() > longest + 5


def test_no_endpoint_has_more_than_a_quarter_of_a_host() -> None:
    assert MAX_IN_FLIGHT_HEALTHY * 4 <= MAX_PER_HOST


def test_the_longest_unused_are_forgotten_and_nothing_that_is_held() -> None:
    known = EndpointQueues()
    for merchant_id in range(MAX_REMEMBERED + 3):
        known.get_or_add((merchant_id, FIRST_ENDPOINT))
    known.get_or_add((1, FIRST_ENDPOINT)).add(delivery(), 0)
    known.get_or_add((0, FIRST_ENDPOINT))
    known.forget_idle()
    kept = {merchant_id for merchant_id, _ in known.claim_capacities()}
    assert set(range(MAX_REMEMBERED + 3)) - kept == {2, 3, 4}
    assert (known.claimed_count, known.in_flight_count, known.unhealthy_claimed_count) == (1, 0, 1)
