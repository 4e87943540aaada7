"""Limits of the paths that need no key, by network: payers' pages, files, and call-backs of rails.

A network may have a number of requests in progress at once, and the rest wait briefly. Whoever opens links that do not
exist is refused after a number of them, so that nobody can try addresses by the thousand. A link that a network has
opened before still works there: others in the same network cannot take it away.
"""

from contextlib import AbstractAsyncContextManager

from kasuwa.concurrency.shares import Shares
from kasuwa.http.page import Page
from kasuwa.http.shared_buckets import SharedBuckets
from kasuwa.http.throttle import SharedThrottle

# Links of a network that were not found before it is refused, and the seconds until it may try another.
FAILED_LINKS, SECONDS_PER_FAILED_LINK = 200, 1.0
# Requests of a network on pages, and on call-backs, that are answered at once by a process, and how long others wait.
REQUESTS_AT_ONCE, WAIT_SECONDS = 32, 5.0


class PublicLimits:
    """Counts in this process, or the guesses together with the other API processes if `buckets` are shared.

    `too_many` is shown to those who are refused."""

    def __init__(self, buckets: SharedBuckets, too_many: Page) -> None:
        self.too_many = too_many
        self._failures = SharedThrottle(buckets, FAILED_LINKS, SECONDS_PER_FAILED_LINK)
        self._requests: Shares[tuple[str, str]] = Shares(REQUESTS_AT_ONCE, wait_seconds=WAIT_SECONDS)

    def may_open(self, network: str, path: str) -> bool:
        return not self._failures.has_failures or not self._failures.wait_seconds(guesser(network), path)

    def record_found(self, network: str, path: str, is_found: bool) -> None:
        """Counts a link that does not exist, and remembers one that does."""
        if not is_found:
            self._failures.record_failure(guesser(network))
        elif self._failures.has_failures:
            self._failures.record_success(guesser(network), path)

    def request(self, kind: str, network: str) -> AbstractAsyncContextManager[None]:
        """Holds a slot of the network for a request of this kind. Raises PoolExhausted if none is free in time."""
        return self._requests.holding((kind, network))


def guesser(network: str) -> str:
    return f"guesses {network}"
