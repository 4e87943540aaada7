"""Calls the HTTP API of a vendor, and says what became of a call that was not answered properly.

    what happened                                      a call that moves money    a look-up
    ---------------------------------------------------------------------------------------------
    no byte left                                       Unavailable                Unavailable
    sent, and no answer                                NoAnswer                   NoAnswer
    5xx                                                NoAnswer                   Unavailable
    429                                                Unavailable                Unavailable
    401, 403 in the vendor's envelope                  Unavailable, notice        Unavailable, notice
    2xx that is not the vendor's envelope              NoAnswer                   UnreadableAnswer
    other, not the vendor's envelope (a proxy's page)  NoAnswer                   Unavailable

A call that moves money raises NothingSent, a kind of Unavailable, if no byte of it left.

Everything else is a reply in the vendor's envelope, which the adapter reads. Nothing is retried here and no redirect is
followed: after NoAnswer an order is queried under its own key, and never sent under another.
"""

import asyncio
import contextlib
import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any, Protocol
from urllib.parse import urlencode

import msgspec
import structlog

from kasuwa.concurrency.breaker import CircuitBreaker
from kasuwa.rails.ports.orders import NoAnswer, NothingSent, Unavailable, UnreadableAnswer
from kasuwa.rails.ports.transport import AnswerLost, HttpReply, HttpTransport, NotSent
from kasuwa.rails.watch.call_timings import CallTimings

log = structlog.get_logger("kasuwa.rails")

# Numbers with a fraction are read from their digits, never through a float.
DECODER = msgspec.json.Decoder(float_hook=Decimal)

ANSWERED = ("2xx", "4xx")
KEPT_ERRORS = 5
# A part of a path that names no order, account or person.
PLAIN_PART = re.compile(r"v[0-9]|[a-z-]*", re.ASCII)
SERVER_ERROR = 500
TOO_MANY = 429
REFUSED_CREDENTIALS = (401, 403)


class VendorLimits(msgspec.Struct, frozen=True):
    """Limits of the calls that one process makes to a vendor."""

    in_flight: int = 8
    lookups_per_second: int = 5
    queue_seconds: float = 2.0  # how long a call waits for its turn
    failures_until_pause: int = 5  # failures of one operation in a row, after which it is paused
    pause_seconds: float = 15.0


DEFAULT_LIMITS = VendorLimits()


class RefusedCredentials(Unavailable):
    """Raised if the vendor refuses our key or token. Nothing was done."""


class VendorReply(msgspec.Struct, frozen=True):
    """A reply in the vendor's envelope."""

    status: int
    body: dict[str, Any]


class CallObserver(Protocol):
    """Told of every call: the rail, its outcome in one word, and the seconds it took."""

    def __call__(self, rail: str, outcome: str, seconds: float) -> None: ...


class VendorClient:
    """The client of one vendor: `moves_money` decides how an unclear outcome is judged.

    It limits calls in flight and look-ups per second, and holds all calls for as long as a Retry-After says. After
    several failures in a row of one operation, such as `POST /transfer`, it pauses that operation: look-ups that
    succeed say nothing of the call that moves money. A call that is held or paused raises Unavailable, and nothing was
    sent.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        transport: HttpTransport,
        is_envelope: Callable[[dict[str, Any]], bool],
        observe: CallObserver,
        limits: VendorLimits = DEFAULT_LIMITS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._base_url = base_url.rstrip("/")
        self._transport = transport
        self._is_envelope = is_envelope
        self._observe = observe
        self._limits = limits
        self._clock = clock
        self._held_until = 0.0
        self._calls_in_flight = 0
        self.errors: deque[VendorError] = deque(maxlen=KEPT_ERRORS)
        self.clock_skew: float | None = None
        if isinstance(observe, VendorMonitor):
            observe.clients.append(self)
            self._limits = limits = observe.limits
        # The clients of one vendor share its places: those of transfers, payments, accounts and feeds.
        self._timings = observe.timings if isinstance(observe, VendorMonitor) else CallTimings()
        self._slots = observe.slots if isinstance(observe, VendorMonitor) else asyncio.Semaphore(limits.in_flight)
        self._lookups: deque[float] = deque(maxlen=limits.lookups_per_second)
        self._breaker: CircuitBreaker[str] = CircuitBreaker(limits.failures_until_pause, limits.pause_seconds, clock)

    @property
    def in_flight(self) -> int:
        return self._calls_in_flight

    @property
    def held_seconds(self) -> float:
        """Seconds for which calls are still held: by a Retry-After of the vendor, or by our pause of an operation."""
        return max(0.0, self._held_until - self._clock(), self._breaker.longest_pause)

    @property
    def is_paused(self) -> bool:
        """Whether an operation is paused because it failed several times in a row: its circuit breaker is open."""
        return self._breaker.longest_pause > 0

    async def call(
        self,
        method: str,
        path: str,
        *,
        moves_money: bool,
        headers: Mapping[str, str],
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        is_throttled: bool = True,
    ) -> VendorReply:
        """Returns the vendor's reply. Raises Unavailable, NoAnswer or UnreadableAnswer by the table above.

        Look-ups are throttled, unless they are a step of an order (`is_throttled` is False)."""
        url = f"{self._base_url}{path}" + (f"?{urlencode(query)}" if query else "")
        content = b"" if body is None else msgspec.json.encode(body)
        request_headers = {**headers, "Accept": "application/json", "Accept-Encoding": "identity"}
        if body is not None:
            request_headers["Content-Type"] = "application/json"
        operation = describe_call(method, path)
        async with self._turn(operation, is_throttled and not moves_money, moves_money):
            began = self._clock()
            outcome = "lost"
            self._calls_in_flight += 1
            try:
                reply = await self._transport.send(method, url, content, request_headers)
                self._compare_clock(reply.date)
                outcome = f"{reply.status // 100}xx"
                vendor_reply = self._judge(operation, reply, moves_money)
            except NotSent as error:
                outcome = "not sent"
                self._breaker.record_failure(operation)
                raise (NothingSent if moves_money else Unavailable)(str(error)) from None
            except AnswerLost as error:
                self._breaker.record_failure(operation)
                raise NoAnswer(str(error)) from None
            finally:
                self._calls_in_flight -= 1
                seconds = self._clock() - began
                self._observe(self.name, outcome, seconds)
                self._timings.add(self.name, operation, outcome in ANSWERED, seconds)
                if outcome not in ANSWERED:
                    self.errors.append(VendorError(time.time(), operation, outcome))
                    log.warning(
                        "a rail did not answer a call", rail=self.name, call=f"{method} {path}", outcome=outcome
                    )
        return vendor_reply

    def _turn(self, operation: str, is_throttled: bool, moves_money: bool) -> "Turn":
        kind = NothingSent if moves_money else Unavailable
        remaining = max(self._held_until - self._clock(), self._breaker.find_pause(operation))
        if remaining > 0:
            raise kind(f"{self.name} is left alone for a while", retry_after=remaining)
        return Turn(self._slots, self._lookup_delay() if is_throttled else 0, self._limits.queue_seconds, kind)

    def _compare_clock(self, date: str) -> None:
        """Keeps how far this machine's clock is ahead of the vendor's, by the Date header of a reply."""
        with contextlib.suppress(ValueError, TypeError):
            self.clock_skew = time.time() - parsedate_to_datetime(date).timestamp()

    def _lookup_delay(self) -> float:
        """Returns how long a look-up must wait so that no second has more of them than allowed. Takes its place."""
        now = self._clock()
        full = len(self._lookups) == self._lookups.maxlen
        at = max(now, self._lookups[0] + 1.0) if full else now
        if at - now > self._limits.queue_seconds:
            raise Unavailable(f"too many look-ups of {self.name} at once", retry_after=1)
        self._lookups.append(at)
        return at - now

    def _judge(self, operation: str, reply: HttpReply, moves_money: bool) -> VendorReply:
        if reply.status == TOO_MANY or reply.status == 503:
            self._held_until = max(self._held_until, self._clock() + reply.retry_after)
        if reply.status == TOO_MANY:
            raise Unavailable("too many requests", retry_after=reply.retry_after)
        if reply.status >= SERVER_ERROR:
            self._breaker.record_failure(operation)
            if moves_money:
                raise NoAnswer(f"HTTP {reply.status}")
            raise Unavailable(f"HTTP {reply.status}", retry_after=reply.retry_after)
        body = self._read(reply)
        if body is None:
            self._breaker.record_failure(operation)
            if moves_money:
                raise NoAnswer(f"HTTP {reply.status}, and not the documented form")
            if 200 <= reply.status <= 299:
                raise UnreadableAnswer("not the documented form")
            raise Unavailable(f"HTTP {reply.status}, and not the documented form")
        self._breaker.record_success(operation)
        if reply.status in REFUSED_CREDENTIALS:
            raise RefusedCredentials(
                f"HTTP {reply.status}",
                notice=f"{self.name} refuses our credentials (HTTP {reply.status}): check the keys",
            )
        return VendorReply(reply.status, body)

    def _read(self, reply: HttpReply) -> dict[str, Any] | None:
        """Returns the body if it is complete and in the vendor's envelope."""
        try:
            body = DECODER.decode(reply.body) if reply.is_complete else None
        except (msgspec.DecodeError, ValueError, RecursionError):
            return None
        return body if isinstance(body, dict) and self._is_envelope(body) else None


class VendorError(msgspec.Struct, frozen=True):
    """A call that failed: when, which, and its outcome in one word. Nothing of its content."""

    at: float  # seconds since the epoch
    call: str
    outcome: str


def describe_call(method: str, path: str) -> str:
    """Returns a call without what its path may name: a reference, a number."""
    return f"{method} {'/'.join(part if PLAIN_PART.fullmatch(part) else '…' for part in path.split('/'))}"


class VendorMonitor:
    """Watches the clients of one vendor's adapter: counts their calls, and tells the state of the vendor.

    It is passed as the observer of an adapter, and gives the adapter's clients their limits."""

    def __init__(self, observe: CallObserver, limits: VendorLimits = DEFAULT_LIMITS) -> None:
        self._observe = observe
        self.limits = limits
        self.slots = asyncio.Semaphore(limits.in_flight)
        self.clients: list[VendorClient] = []
        self.timings = CallTimings()

    def __call__(self, rail: str, outcome: str, seconds: float) -> None:
        self._observe(rail, outcome, seconds)

    @property
    def in_flight(self) -> int:
        return sum(client.in_flight for client in self.clients)

    @property
    def held_seconds(self) -> float:
        return max((client.held_seconds for client in self.clients), default=0.0)

    @property
    def is_paused(self) -> bool:
        return any(client.is_paused for client in self.clients)

    @property
    def errors(self) -> list[VendorError]:
        return sorted((error for client in self.clients for error in client.errors), key=lambda error: -error.at)

    @property
    def clock_skew(self) -> float | None:
        return next((client.clock_skew for client in self.clients if client.clock_skew is not None), None)


class Turn:
    """A place among the calls in flight: waits for a free one, and no longer than allowed."""

    def __init__(
        self, slots: asyncio.Semaphore, delay: float, queue_seconds: float, error: type[Unavailable] = Unavailable
    ) -> None:
        self._error = error
        self._slots = slots
        self._delay = delay
        self._queue_seconds = queue_seconds

    async def __aenter__(self) -> None:
        if self._delay:
            await asyncio.sleep(self._delay)
        try:
            async with asyncio.timeout(self._queue_seconds):
                await self._slots.acquire()
        except TimeoutError:
            raise self._error("too many calls are in progress", retry_after=1) from None

    async def __aexit__(self, *_: object) -> None:
        self._slots.release()
