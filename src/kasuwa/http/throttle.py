"""Throttles failed authentications by client address.

A client that keeps failing is refused before its key is checked, until its token bucket fills again. An address from
which a merchant has authenticated before may still authenticate as that merchant, so that nobody behind the same proxy
or network can lock it out.
"""

import time
from collections import OrderedDict
from hashlib import blake2b

import msgspec

from kasuwa.http.shared_buckets import SharedBuckets

BURST = 20
SECONDS_PER_FAILURE = 3.0
# Beyond these numbers, the oldest addresses are dropped.
MAX_FAILED_ADDRESSES = 10_000
MAX_KNOWN_ADDRESSES = 10_000


class FailureBucket(msgspec.Struct):
    tokens: float
    filled_at: float


class AuthenticationThrottle:
    """Counts failures in this process. SharedThrottle counts those of all API processes."""

    def __init__(self) -> None:
        # Addresses that failed lately.
        self.failures: OrderedDict[str, FailureBucket] = OrderedDict()
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    @property
    def has_failures(self) -> bool:
        """Whether any address failed lately. While none did, callers need not determine the client address."""
        return bool(self.failures)

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


class SharedThrottle(AuthenticationThrottle):
    """Counts failures together with the other API processes. Addresses are stored as hashes.

    `burst` failures are free, and then one in `seconds_per_failure`."""

    def __init__(
        self, buckets: SharedBuckets, burst: int = BURST, seconds_per_failure: float = SECONDS_PER_FAILURE
    ) -> None:
        super().__init__()
        self._buckets = buckets
        self._rate = 1 / seconds_per_failure, burst

    @property
    def has_failures(self) -> bool:
        return self._buckets.is_used

    def wait_seconds(self, address: str, mid: str) -> float:
        if self._buckets.contains(bucket_key(address, mid)):
            return 0.0
        return self._buckets.wait_seconds(bucket_key(address), *self._rate)

    def record_failure(self, address: str) -> None:
        self._buckets.take(bucket_key(address), *self._rate)

    def record_success(self, address: str, mid: str) -> None:
        if self._buckets.contains(bucket_key(address)):
            self._buckets.take(bucket_key(address, mid), 1.0, 1.0)


def bucket_key(*parts: str) -> int:
    """Returns the key of an address, or of an address and a merchant. It is not 0."""
    return int.from_bytes(blake2b("\0".join(parts).encode(), digest_size=8).digest(), "big") or 1
