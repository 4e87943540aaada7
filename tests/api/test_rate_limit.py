"""Rate limits that API processes share: a limit is the same however many processes count."""

import os
import time

import msgspec
import pytest

from kasuwa.api.rate_limit import RateLimiter
from kasuwa.http.shared_buckets import BUCKETS_PER_SET, SETS, SharedBuckets
from tests.rule_context import MERCHANT

# Slow enough that no token comes back during a test.
RATE = (1, 400)


def take_in_fork(buckets: SharedBuckets, attempts: int, result: int) -> int:
    """Starts a process that takes tokens and writes one byte for each that it got. Returns its id."""
    child = os.fork()
    if child == 0:
        limiter = RateLimiter(buckets)
        os.write(result, b"x" * sum(limiter.wait_seconds(7, RATE) == 0 for _ in range(attempts)))
        os._exit(0)
    return child


def test_processes_together_get_the_burst_and_no_token_twice() -> None:
    buckets = SharedBuckets()
    began = time.monotonic()
    reading, writing = os.pipe()
    for child in [take_in_fork(buckets, 300, writing) for _ in range(3)]:
        os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading, "rb") as result:
        got = len(result.read())
    limiter = RateLimiter(buckets)
    assert RATE[1] <= got <= RATE[1] + 1 + (time.monotonic() - began) * RATE[0]
    assert limiter.wait_seconds(7, RATE) > 0
    assert limiter.wait_seconds(8, RATE) == 0


def test_a_process_that_ends_while_it_holds_a_lock_does_not_keep_it() -> None:
    buckets = SharedBuckets()
    child = os.fork()
    if child == 0:
        buckets._lock(9 % SETS)
        os._exit(0)
    os.waitpid(child, 0)
    assert buckets._lock(9 % SETS)


def test_a_full_set_drops_the_bucket_that_was_used_longest_ago() -> None:
    limiter = RateLimiter(SharedBuckets())
    merchants = [1 + SETS * number for number in range(BUCKETS_PER_SET + 1)]
    for merchant in merchants[:-1]:
        assert limiter.wait_seconds(merchant, (1, 1)) == 0
    assert all(limiter.wait_seconds(merchant, (1, 1)) > 0 for merchant in merchants[:-1])
    assert limiter.wait_seconds(merchants[-1], (1, 1)) == 0
    assert limiter.wait_seconds(merchants[1], (1, 1)) > 0


def test_without_shared_memory_a_process_counts_for_itself() -> None:
    limiter = RateLimiter()
    assert [limiter.wait_seconds(1, (1, 2)) == 0 for _ in range(3)] == [True, True, False]
    assert limiter.wait_seconds(1, None) == 0


@pytest.mark.parametrize("limiter", [RateLimiter(), RateLimiter(SharedBuckets())])
def test_the_orders_of_a_bulk_count_as_requests_and_may_be_made_up_for_later(limiter: RateLimiter) -> None:
    merchant = msgspec.structs.replace(MERCHANT, rate_limit=(1, 100))
    other = msgspec.structs.replace(merchant, merchant_id=MERCHANT.merchant_id + 1)
    assert limiter.count_request(merchant) is None
    limiter.count_orders(merchant, 900)
    refused = limiter.count_request(merchant)
    assert refused is not None
    assert refused.retry_after is not None
    assert 700 < refused.retry_after <= 801
    assert limiter.count_request(other) is None
    limiter.count_orders(other, 1)
    assert [limiter.count_request(other) for _ in range(99)] == [None] * 99


def test_orders_of_a_merchant_without_a_limit_are_not_counted() -> None:
    limiter = RateLimiter()
    limiter.count_orders(MERCHANT, 900)
    assert limiter.count_request(MERCHANT) is None
