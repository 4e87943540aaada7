"""Failed authentications are limited by the address they come from.

A client that keeps failing is refused before its key is looked at, until its bucket has filled again. An address at
which a merchant has authenticated before is still let in as that merchant: a stranger behind the same proxy or network
cannot lock it out.
"""

import time
from collections import OrderedDict

import msgspec

BURST = 20
SECONDS_PER_FAILURE = 3.0
# Beyond these, the addresses that were heard of longest ago are forgotten.
MOST_ADDRESSES = 10_000
MOST_KNOWN = 10_000


class FailureBucket(msgspec.Struct):
    tokens: float
    filled_at: float


class AuthenticationThrottle:
    def __init__(self) -> None:
        # The addresses that failed lately. While there are none, nobody's address needs to be looked at.
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
            if len(self.failures) > MOST_ADDRESSES:
                self.failures.popitem(last=False)
        self._fill(bucket)
        bucket.tokens = max(0.0, bucket.tokens - 1.0)
        self.failures.move_to_end(address)

    def record_success(self, address: str, mid: str) -> None:
        """Costs nothing where nobody has failed: only addresses with failures need to be told apart."""
        if address not in self.failures:
            return
        self._known[address, mid] = None
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def _fill(self, bucket: FailureBucket) -> None:
        now = time.monotonic()
        bucket.tokens = min(float(BURST), bucket.tokens + (now - bucket.filled_at) / SECONDS_PER_FAILURE)
        bucket.filled_at = now
