"""What the courier knows of each merchant's endpoint: what is claimed for it and waits, how many are under way, and how
quickly it answers. Who answers quickly is claimed for ahead, so that nothing waits for the database; who does not gets
few places and no queue, so that nobody waits for it."""

from collections import deque
from collections.abc import Iterator

from kasuwa.db.deliveries import Delivery

# Places of one merchant: a quarter of what egress has for a host once its endpoint has answered, few before that and
# after it has failed, so that merchants who share a host share its places too.
MOST_WELL = 32
MOST_ILL = 2
# Claimed ahead is what an endpoint takes in this time at its pace, and never more than that many.
AHEAD_SECONDS = 0.5
MOST_AHEAD = 1_000
# How much the newest exchange counts for the pace.
NEWEST_SHARE = 0.1
# A queue that has not moved for so long, and some exchanges at its pace more, is given back: whoever it waits for may
# be hanging. And one that moves, but so slowly that its oldest has waited for so long: its lease must outlast the
# sending.
STUCK_SECONDS = 0.5
STUCK_EXCHANGES = 3
LONGEST_WAIT_SECONDS = 10.0
# So many are remembered; one that is forgotten begins again with few places.
MOST_REMEMBERED = 1_000


class Endpoint:
    __slots__ = ("_moved", "_pace", "_well", "busy", "queue")

    def __init__(self) -> None:
        self.queue: deque[Delivery] = deque()
        self.busy = 0
        self._well = False
        self._pace = 0.0
        self._moved = 0.0

    @property
    def held(self) -> int:
        return len(self.queue) + self.busy

    @property
    def is_well(self) -> bool:
        return self._well

    @property
    def places(self) -> int:
        return MOST_WELL if self._well else MOST_ILL

    def room(self) -> int:
        """How many more may be claimed; a few at a time are not worth asking the database for."""
        if not self._well:
            return max(0, MOST_ILL - self.held)
        most = MOST_WELL + min(MOST_AHEAD, int(AHEAD_SECONDS * MOST_WELL / max(self._pace, 0.001)))
        room = most - self.held
        return room if room * 4 >= most else 0

    def add(self, item: Delivery, now: float) -> None:
        if not self.queue:
            self._moved = now
        self.queue.append(item)

    def take(self, now: float) -> Delivery:
        self._moved = now
        return self.queue.popleft()

    def answered(self, seconds: float) -> None:
        self._pace = seconds if not self._well else self._pace + NEWEST_SHARE * (seconds - self._pace)
        self._well = True

    def failed(self) -> None:
        self._well = False

    def give_back_if_stuck(self, now: float) -> list[Delivery]:
        """What had better not wait here any longer."""
        if not self.queue:
            return []
        patience = STUCK_SECONDS + STUCK_EXCHANGES * self._pace
        if now - self._moved < patience and now - self.queue[0].claimed_at < LONGEST_WAIT_SECONDS:
            return []
        self._well = False
        return self.give_back()

    def give_back(self) -> list[Delivery]:
        left = list(self.queue)
        self.queue.clear()
        return left


class Endpoints:
    """All that are remembered, the one that was last of use at the end."""

    def __init__(self) -> None:
        self._known: dict[int, Endpoint] = {}

    def __iter__(self) -> Iterator[Endpoint]:
        return iter(self._known.values())

    def of(self, merchant_id: int) -> Endpoint:
        endpoint = self._known.pop(merchant_id, None) or Endpoint()
        self._known[merchant_id] = endpoint
        return endpoint

    def rooms(self) -> dict[int, int]:
        return {merchant_id: endpoint.room() for merchant_id, endpoint in self._known.items()}

    @property
    def held(self) -> int:
        return sum(endpoint.held for endpoint in self)

    @property
    def busy(self) -> int:
        return sum(endpoint.busy for endpoint in self)

    @property
    def ill(self) -> int:
        """How many are held for those who may hang."""
        return sum(endpoint.held for endpoint in self if not endpoint.is_well)

    def forget_idle(self) -> None:
        for merchant_id in list(self._known)[: max(0, len(self._known) - MOST_REMEMBERED)]:
            if not self._known[merchant_id].held:
                del self._known[merchant_id]
