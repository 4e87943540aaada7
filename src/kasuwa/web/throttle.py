"""Throttles failed authentications by client address.

A client that keeps failing is refused before its key is checked, until its token bucket fills again. An address from
which a merchant has authenticated before may still authenticate as that merchant, so that nobody behind the same proxy
or network can lock it out.
"""

import time
from collections import OrderedDict

import msgspec

BURST = 20
SECONDS_PER_FAILURE = 3.0
# Beyond these numbers, the oldest addresses are dropped.
MAX_FAILED_ADDRESSES = 10_000
MAX_KNOWN_ADDRESSES = 10_000


class FailureBucket(msgspec.Struct):
    tokens: float
    filled_at: float


class AuthenticationThrottle:
    def __init__(self) -> None:
        # Addresses that failed lately. While there are none, callers need not determine the client address.
        self.failures: OrderedDict[str, FailureBucket] = OrderedDict()
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def wait_seconds(self, address: str, mid: str) -> float:
        """Returns 0 if this address may try to authenticate as this merchant, else how long until it may."""
        bucket = self.failures.get(address)
        if bucket is None or (address, mid) in self._known:
            return 0.0
        self._fill(bucket)
        return 0.0 if bucket.tokens >= 1.0 else (1.0 - bucket.tokens) * SECONDS_PER_FAILURE

    def record_failure(self, address: str) -> None:
        bucket = self.failures.get(address)
        if bucket is None:
            bucket = self.failures[address] = FailureBucket(float(BURST), time.monotonic())
            if len(self.failures) > MAX_FAILED_ADDRESSES:
                self.failures.popitem(last=False)
        self._fill(bucket)
        bucket.tokens = max(0.0, bucket.tokens - 1.0)
        self.failures.move_to_end(address)

    def record_success(self, address: str, mid: str) -> None:
        """Remembers that the merchant authenticated from this address. Does nothing if the address has no failures."""
        if address not in self.failures:
            return
        self._known[address, mid] = None
        if len(self._known) > MAX_KNOWN_ADDRESSES:
            self._known.popitem(last=False)

    def _fill(self, bucket: FailureBucket) -> None:
        now = time.monotonic()
        bucket.tokens = min(float(BURST), bucket.tokens + (now - bucket.filled_at) / SECONDS_PER_FAILURE)
        bucket.filled_at = now
