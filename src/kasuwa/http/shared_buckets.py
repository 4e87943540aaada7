"""Token buckets in memory that the API processes share, so that a limit is the same however many of them there are.

The rate limits of merchants use one such memory, the throttle of failed authentications another.

The memory is made before the processes are forked. It has a fixed size: a bucket belongs to a set by its key, and if
the set is full, the bucket that was used longest ago is dropped. Such a bucket is most likely full again.
"""

import fcntl
import math
import mmap
import os
import tempfile
import time
from struct import Struct

import msgspec

SETS = 4096
BUCKETS_PER_SET = 8
# The key (0 if unused), the tokens, and when they were counted, by the clock that all processes share.
BUCKET = Struct("<Qdd")
SET_BYTES = BUCKET.size * BUCKETS_PER_SET
# How often a lock is tried that another process holds. It holds it for microseconds, unless it was stopped just then:
# then the bucket is changed without the lock, and may miss a token.
MAX_LOCK_ATTEMPTS = 1000


class SharedLimits(msgspec.Struct, frozen=True):
    """The limits that the API processes of a deployment share."""

    rates: "SharedBuckets"  # of merchants, by their number
    failures: "SharedBuckets"  # of authentications, by network address
    pages: "SharedBuckets"  # of forms on payers' pages, by network address


class SharedBuckets:
    def __init__(self) -> None:
        # A file without a name: record locks work between processes, and end with the process that holds one.
        self._file, path = tempfile.mkstemp(prefix="kasuwa-")
        os.unlink(path)
        # The last byte is not 0 once a bucket was used.
        os.truncate(self._file, SETS * SET_BYTES + 1)
        self._memory = mmap.mmap(self._file, SETS * SET_BYTES + 1)

    @property
    def is_used(self) -> bool:
        return self._memory[-1] != 0

    def contains(self, key: int) -> bool:
        """Whether a token was taken from the bucket of this key, and it was not dropped since."""
        first = key % SETS * SET_BYTES
        places = range(first, first + SET_BYTES, BUCKET.size)
        return any(BUCKET.unpack_from(self._memory, place)[0] == key for place in places)

    def wait_seconds(self, key: int, per_second: float, burst: float) -> float:
        """Returns how long until a token is available. Takes none."""
        now = time.monotonic()
        _, tokens, filled_at = self._find(key % SETS, key, burst, now)
        tokens = min(burst, tokens + max(0.0, now - filled_at) * per_second)
        return 0.0 if tokens >= 1.0 else (1.0 - tokens) / per_second

    def take(self, key: int, per_second: float, burst: float) -> float:
        """Takes a token and returns 0, or returns the seconds until one is available. Keys are above 0."""
        return self._change(key, per_second, burst, 1.0, least=1.0)

    def charge(self, key: int, per_second: float, burst: float, tokens: float) -> None:
        """Takes tokens, also such as are not there: the bucket is then below 0 for a while."""
        self._change(key, per_second, burst, tokens, least=-math.inf)

    def _change(self, key: int, per_second: float, burst: float, cost: float, *, least: float) -> float:
        """Takes tokens if the bucket has at least so many, and returns 0. Returns how long until it has, otherwise."""
        number = key % SETS
        is_locked = self._lock(number)
        try:
            self._memory[-1] = 1
            now = time.monotonic()
            place, tokens, filled_at = self._find(number, key, burst, now)
            tokens = min(burst, tokens + max(0.0, now - filled_at) * per_second)
            wait = 0.0 if tokens >= least else (least - tokens) / per_second
            BUCKET.pack_into(self._memory, place, key, tokens if wait else tokens - cost, now)
            return wait
        finally:
            if is_locked:
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, number)

    def _find(self, number: int, key: int, burst: float, now: float) -> tuple[int, float, float]:
        """Returns the place, tokens and time of a key's bucket, or the place for a new one, which is full."""
        first = number * SET_BYTES
        oldest_place, oldest = first, now
        for place in range(first, first + SET_BYTES, BUCKET.size):
            stored_key, tokens, filled_at = BUCKET.unpack_from(self._memory, place)
            if stored_key == key:
                return place, tokens, filled_at
            if filled_at < oldest:
                oldest_place, oldest = place, filled_at
        return oldest_place, burst, now

    def _lock(self, number: int) -> bool:
        for _ in range(MAX_LOCK_ATTEMPTS):
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
            except OSError:
                continue
            return True
        return False
