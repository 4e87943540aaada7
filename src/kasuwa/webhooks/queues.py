"""Queues and health of webhook endpoints, as the webhook sender sees them.

Deliveries to a healthy endpoint are claimed ahead, so that sending does not wait for the database. An endpoint that has
not answered gets few concurrent deliveries and no queue, so that it cannot hold up others.
"""

from collections import deque
from collections.abc import Iterator

from kasuwa.webhooks.deliveries import Delivery, EndpointKey

# Concurrent deliveries to one endpoint: a quarter of what egress allows for a host once it has answered, few before
# that and after a failure. So endpoints that share a host share its connections.
MAX_IN_FLIGHT_HEALTHY = 32
MAX_IN_FLIGHT_UNHEALTHY = 2
# Deliveries claimed ahead: as many as the endpoint takes in this time, and never more than the maximum.
PREFETCH_SECONDS = 0.5
MAX_PREFETCH = 1_000
# Weight of the newest exchange in the moving average.
PACE_WEIGHT = 0.1
# A queue is released if it has not moved for STUCK_SECONDS plus STUCK_EXCHANGES average exchanges, as the endpoint may
# hang. It is also released if its oldest delivery has waited for MAX_QUEUE_SECONDS: the lease must outlast the sending.
STUCK_SECONDS = 0.5
STUCK_EXCHANGES = 3
MAX_QUEUE_SECONDS = 10.0
# Endpoints remembered. A forgotten one starts again as unhealthy.
MAX_REMEMBERED = 1_000


class EndpointQueue:
    __slots__ = ("_is_healthy", "_last_progress_at", "_mean_seconds", "in_flight_count", "queue")

    def __init__(self) -> None:
        self.queue: deque[Delivery] = deque()
        self.in_flight_count = 0
        self._is_healthy = False
        self._mean_seconds = 0.0
        self._last_progress_at = 0.0

    @property
    def claimed_count(self) -> int:
        return len(self.queue) + self.in_flight_count

    @property
    def is_healthy(self) -> bool:
        return self._is_healthy

    @property
    def max_in_flight(self) -> int:
        return MAX_IN_FLIGHT_HEALTHY if self._is_healthy else MAX_IN_FLIGHT_UNHEALTHY

    def claim_capacity(self) -> int:
        """Returns how many more deliveries may be claimed. 0 if they are too few to be worth a query."""
        if not self._is_healthy:
            return max(0, MAX_IN_FLIGHT_UNHEALTHY - self.claimed_count)
        most = MAX_IN_FLIGHT_HEALTHY + min(
            MAX_PREFETCH, int(PREFETCH_SECONDS * MAX_IN_FLIGHT_HEALTHY / max(self._mean_seconds, 0.001))
        )
        room = most - self.claimed_count
        return room if room * 4 >= most else 0

    def add(self, item: Delivery, now: float) -> None:
        if not self.queue:
            self._last_progress_at = now
        self.queue.append(item)

    def take_next(self, now: float) -> Delivery:
        self._last_progress_at = now
        return self.queue.popleft()

    def record_success(self, seconds: float) -> None:
        self._mean_seconds = (
            seconds if not self._is_healthy else self._mean_seconds + PACE_WEIGHT * (seconds - self._mean_seconds)
        )
        self._is_healthy = True

    def record_failure(self) -> None:
        self._is_healthy = False

    def release_if_stuck(self, now: float) -> list[Delivery]:
        """Empties the queue and returns its deliveries if it is stuck, else returns none."""
        if not self.queue:
            return []
        max_idle_seconds = STUCK_SECONDS + STUCK_EXCHANGES * self._mean_seconds
        if now - self._last_progress_at < max_idle_seconds and now - self.queue[0].claimed_at < MAX_QUEUE_SECONDS:
            return []
        self._is_healthy = False
        return self.release_queue()

    def release_queue(self) -> list[Delivery]:
        deliveries = list(self.queue)
        self.queue.clear()
        return deliveries


class EndpointQueues:
    """The endpoints remembered, least recently used first."""

    def __init__(self) -> None:
        self._known: dict[EndpointKey, EndpointQueue] = {}

    def __iter__(self) -> Iterator[EndpointQueue]:
        return iter(self._known.values())

    def get_or_add(self, key: EndpointKey) -> EndpointQueue:
        endpoint = self._known.pop(key, None) or EndpointQueue()
        self._known[key] = endpoint
        return endpoint

    def claim_capacities(self) -> dict[EndpointKey, int]:
        return {key: endpoint.claim_capacity() for key, endpoint in self._known.items()}

    @property
    def claimed_count(self) -> int:
        return sum(endpoint.claimed_count for endpoint in self)

    @property
    def in_flight_count(self) -> int:
        return sum(endpoint.in_flight_count for endpoint in self)

    @property
    def unhealthy_claimed_count(self) -> int:
        """Returns the number of deliveries claimed for endpoints that may hang."""
        return sum(endpoint.claimed_count for endpoint in self if not endpoint.is_healthy)

    def forget_idle(self) -> None:
        for key in list(self._known)[: max(0, len(self._known) - MAX_REMEMBERED)]:
            if not self._known[key].claimed_count:
                del self._known[key]
