"""Rate limits: a token bucket for each merchant, in wall time.

Contract: #rates
"""

import time

import msgspec

from kasuwa.api.replies import HttpReply, rate_limit_reply
from kasuwa.core.codes import ERROR
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.http.shared_buckets import SharedBuckets

TOO_MANY = Refusal(ERROR, "Too many requests; wait as retry-after says", error_code="rate_limited")


class Bucket(msgspec.Struct):
    tokens: float
    filled_at: float


class RateLimiter:
    """Counts requests in this process, or with `shared` together with the other API processes."""

    def __init__(self, shared: SharedBuckets | None = None) -> None:
        self._buckets: dict[int, Bucket] = {}
        self._shared = shared

    def count_request(self, merchant: Merchant) -> HttpReply | None:
        """Counts a request of a merchant on this host. Returns the refusal if it is beyond the limit."""
        wait = self.wait_seconds(merchant.merchant_id, merchant.rate_limit)
        return rate_limit_reply(TOO_MANY, wait) if wait else None

    def count_orders(self, merchant: Merchant, orders: int) -> None:
        """Counts the orders of a request that was counted as one. If they are more than are left, the merchant's next
        request waits until they are made up for."""
        if merchant.rate_limit is None or orders < 2:
            return
        per_second, burst = merchant.rate_limit
        if self._shared is not None:
            self._shared.charge(merchant.merchant_id, per_second, burst, orders - 1)
        else:
            self._fill(merchant.merchant_id, per_second, burst).tokens -= orders - 1

    def wait_seconds(self, merchant_id: int, rate: tuple[int, int] | None) -> float:
        """Takes a token and returns 0, or returns the seconds until one is available."""
        if rate is None:
            return 0.0
        per_second, burst = rate
        if self._shared is not None:
            return self._shared.take(merchant_id, per_second, burst)
        bucket = self._fill(merchant_id, per_second, burst)
        if bucket.tokens < 1.0:
            return (1.0 - bucket.tokens) / per_second
        bucket.tokens -= 1.0
        return 0.0

    def _fill(self, merchant_id: int, per_second: int, burst: int) -> Bucket:
        """Returns a merchant's bucket with the tokens that it has by now."""
        now = time.monotonic()
        bucket = self._buckets.get(merchant_id)
        if bucket is None:
            bucket = self._buckets[merchant_id] = Bucket(float(burst), now)
        bucket.tokens = min(float(burst), bucket.tokens + (now - bucket.filled_at) * per_second)
        bucket.filled_at = now
        return bucket
