"""The events of a test's merchant, as they arrived: `kasuwa.events`.

The receiver is an HTTP endpoint of the test process. It checks the signatures of each delivery, keeps it, and passes it
on to the application under test if `forward_to` was called. It can lose, repeat, reorder and delay deliveries.
"""

import contextlib
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar, overload

from kasuwa.testing.receiver import ACCEPTED, RECEIVER, Answer
from kasuwa_client import Event, InvalidSignature, verify_event
from kasuwa_client.events import EventBase

T = TypeVar("T")
EventT = TypeVar("EventT", bound=EventBase)
# What tells which kind of event is meant: its kind or payment method, or its class.
Kind = str | type[EventBase] | None

# The names of all fields of events, as they are on the wire.
WIRE_FIELDS = frozenset(name for kind in EventBase.__subclasses__() for name in kind.wire_names.values())
REJECTED = Answer(400)
UNAVAILABLE = Answer(503)
# Fields of an event that name what it is about.
REFERENCE_FIELDS = ("txnRef", "orderRef", "customer_txnref", "refundOf", "loan_id", "savings_id", "reference")
FORWARD_SECONDS = 10.0
# Headers that belong to one connection and are not passed on.
CONNECTION_HEADERS = frozenset({"host", "connection", "content-length", "transfer-encoding"})


@dataclass(frozen=True)
class Delivery:
    """One delivery of an event, with the body and headers as they came. Header names are in lower case."""

    body: bytes
    headers: Mapping[str, str]
    event: Event


class Events:
    """The events that a merchant has received. Its URL is known before the merchant is created."""

    def __init__(self) -> None:
        self._key = ""
        self._advance: Callable[[], object] = lambda: None
        self._arrived = threading.Condition()
        self._deliveries: list[Delivery] = []
        self._rejected: list[str] = []
        self._handed_over = 0
        self._target: str | None = None
        self._to_drop = 0
        self._to_duplicate = 0
        self._to_delay: list[int] = []
        self._delayed: set[str] = set()
        self._held: list[Delivery] | None = None
        self.url = RECEIVER.add(self._receive)

    def connect(self, key: str, advance: Callable[[], object]) -> None:
        """Sets the merchant's key, with which deliveries are signed, and the function that delivers what is due."""
        self._key, self._advance = key, advance

    def close(self) -> None:
        """Receives nothing more. What has arrived can still be read."""
        RECEIVER.remove(self.url)

    # --- reading ----------------------------------------------------------------------------------------------------

    @overload
    def all(self, kind: type[EventT], *, ref: object = None, **fields: Any) -> list[EventT]: ...

    @overload
    def all(self, kind: str | None = None, *, ref: object = None, **fields: Any) -> list[Event]: ...

    def all(self, kind: Kind = None, *, ref: object = None, **fields: Any) -> Any:
        """Returns the events that fit, in the order of their first arrival, after all that is due was delivered.

        kind: the kind of the event, such as "payment", "transfer" or "bill"; its payment method, such as "card"; or its
            class, such as kasuwa_client.TransferEvent, which is then the type of the result.
        ref: a txnRef, orderRef or other reference of the event, or an object that has one.
        fields: further fields of the payload by their names on the wire, such as txnStatus="failed". Raises TypeError
            for a field that no event has.
        """
        self.flush()
        return self._matching(kind, ref, fields)

    @overload
    def one(self, kind: type[EventT], *, ref: object = None, **fields: Any) -> EventT: ...

    @overload
    def one(self, kind: str | None = None, *, ref: object = None, **fields: Any) -> Event: ...

    def one(self, kind: Kind = None, *, ref: object = None, **fields: Any) -> Any:
        """Returns the one event that fits, after all that is due was delivered. Raises AssertionError if there is none
        or more than one. Takes the same parameters as `all`."""
        __tracebackhide__ = True
        self.flush()
        return self._only(self._matching(kind, ref, fields), kind, ref, fields)

    @overload
    def wait(self, kind: type[EventT], *, ref: object = None, seconds: float = 10.0, **fields: Any) -> EventT: ...

    @overload
    def wait(self, kind: str | None = None, *, ref: object = None, seconds: float = 10.0, **fields: Any) -> Event: ...

    def wait(self, kind: Kind = None, *, ref: object = None, seconds: float = 10.0, **fields: Any) -> Any:
        """Waits until an event that fits has arrived by itself and returns the first one, without moving business time.
        Raises AssertionError after `seconds`. Takes the same parameters as `all`."""
        __tracebackhide__ = True
        until = time.monotonic() + seconds
        with self._arrived:
            while not (events := self._matching(kind, ref, fields)):
                remaining_seconds = until - time.monotonic()
                if remaining_seconds <= 0 or not self._arrived.wait(remaining_seconds):
                    break
        if not events:
            self._only(events, kind, ref, fields)
        return events[0]

    @property
    def deliveries(self) -> list[Delivery]:
        """Every delivery that arrived, repeated ones too, in order."""
        with self._arrived:
            return list(self._deliveries)

    @property
    def rejected(self) -> list[str]:
        """The reasons why deliveries were answered with HTTP 400: their signatures did not fit."""
        with self._arrived:
            return list(self._rejected)

    def flush(self) -> None:
        """Delivers the events that are due now."""
        self._advance()

    def _matching(self, kind: Kind, ref: object, fields: Mapping[str, Any]) -> list[Event]:
        reference = read_reference(ref)
        check_fields(fields, (delivery.event for delivery in self.deliveries))
        events: dict[str | None, Event] = {}
        for delivery in self.deliveries:
            event = delivery.event
            if is_match(event, kind, reference, fields):
                events.setdefault(delivery.headers.get("webhook-id"), event)
        return list(events.values())

    def _only(self, events: list[Event], kind: Kind, ref: object, fields: Mapping[str, Any]) -> Event:
        __tracebackhide__ = True
        if len(events) == 1:
            return events[0]
        wanted = {"kind": kind.__name__ if isinstance(kind, type) else kind, "ref": read_reference(ref), **fields}
        filter_text = (
            ", ".join(f"{name}={value!r}" for name, value in wanted.items() if value is not None) or "any event"
        )
        arrived = [f"  {describe(event)}" for event in self._matching(None, None, {})] or ["  none"]
        rejected = [f"  rejected: {reason}" for reason in self.rejected]
        lines = [f"expected one event ({filter_text}), found {len(events)}. Arrived:", *arrived, *rejected]
        raise AssertionError("\n".join(lines))

    # --- passing on -------------------------------------------------------------------------------------------------

    def forward_to(self, url: str | None) -> None:
        """Passes each delivery on to an application, which answers it: the service sends an event again that the
        application does not accept. None ends it. In a test that blocks the application's event loop, use
        `hand_over`."""
        self._target = url

    def hand_over(self, receive: Callable[[bytes, Mapping[str, str]], T]) -> list[T]:
        """Calls `receive(body, headers)` in this thread with each delivery that was not handed over before, after all
        that is due was delivered. Returns the results. For test clients of web frameworks."""
        self.flush()
        with self._arrived:
            new = self._deliveries[self._handed_over :]
            self._handed_over = len(self._deliveries)
        return [receive(delivery.body, delivery.headers) for delivery in new]

    # --- misbehaving ------------------------------------------------------------------------------------------------

    def drop(self, times: int = 1) -> None:
        """Loses the next deliveries: they are answered with HTTP 503, and the service sends them again later (after
        5 s, 5 min, 30 min … of business time)."""
        with self._arrived:
            self._to_drop += times

    def duplicate(self, times: int = 1) -> None:
        """Makes the next deliveries arrive twice, with the same webhook-id."""
        with self._arrived:
            self._to_duplicate += times

    def delay(self, *, seconds: int = 0, minutes: int = 0, hours: int = 0, times: int = 1) -> None:
        """Makes the next events arrive so much later in business time, at least 5 seconds and at most a day."""
        with self._arrived:
            self._to_delay += [seconds + 60 * minutes + 3600 * hours] * times

    @contextlib.contextmanager
    def reorder(self) -> Iterator[None]:
        """Keeps the deliveries of the block back. At its end they arrive in reverse order."""
        with self._arrived:
            if self._held is not None:
                raise RuntimeError("events are being reordered already")
            self._held = []
        try:
            yield
            self.flush()
        finally:
            with self._arrived:
                held, self._held = self._held, None
            for delivery in reversed(held):
                self._keep(delivery)

    # --- receiving --------------------------------------------------------------------------------------------------

    def _receive(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Called by the receiver's threads."""
        try:
            event = verify_event(body, headers, self._key)
        except InvalidSignature as error:
            with self._arrived:
                self._rejected.append(str(error))
                self._arrived.notify_all()
            return REJECTED
        delivery = Delivery(body, dict(headers), event)
        with self._arrived:
            if self._to_drop:
                self._to_drop -= 1
                return UNAVAILABLE
            if self._to_delay and headers["webhook-id"] not in self._delayed:
                self._delayed.add(headers["webhook-id"])
                return Answer(503, self._to_delay.pop(0))
            if self._held is not None:
                self._held.append(delivery)
                return ACCEPTED
            is_repeated = self._to_duplicate > 0
            self._to_duplicate -= is_repeated
        answer = self._keep(delivery)
        return self._keep(delivery) if is_repeated else answer

    def _keep(self, delivery: Delivery) -> Answer:
        answer = ACCEPTED if self._target is None else forward(delivery, self._target)
        with self._arrived:
            self._deliveries.append(delivery)
            self._arrived.notify_all()
        return answer


def forward(delivery: Delivery, url: str) -> Answer:
    """Sends a delivery to an application. Returns its answer, or HTTP 502 if there is none."""
    headers = {name: value for name, value in delivery.headers.items() if name not in CONNECTION_HEADERS}
    request = urllib.request.Request(url, delivery.body, headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=FORWARD_SECONDS) as reply:
            return Answer(reply.status)
    except urllib.error.HTTPError as error:
        return Answer(error.code)
    except OSError:
        return Answer(502)


def check_fields(fields: Mapping[str, Any], arrived: Iterable[Event]) -> None:
    """Raises TypeError for the name of a field that no kind of event has, and none that has arrived."""
    known = WIRE_FIELDS.union(*(event.raw for event in arrived)) if fields else WIRE_FIELDS
    for name in fields:
        if name not in known:
            near = get_close_matches(to_camel_case(name), known, n=1) or get_close_matches(name, known, n=1)
            hint = f": did you mean {near[0]}?" if near else ""
            raise TypeError(f"no event has the field {name}{hint}")


def to_camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def is_match(event: Event, kind: Kind, reference: str | None, fields: Mapping[str, Any]) -> bool:
    payload = event.raw
    if isinstance(kind, type) and not isinstance(event, kind):
        return False
    if isinstance(kind, str) and kind not in (payload.get("kind"), payload.get("paymentMethod")):
        return False
    if reference is not None and reference not in (payload.get(name) for name in REFERENCE_FIELDS):
        return False
    return all(payload.get(name) == value for name, value in fields.items())


def read_reference(ref: object) -> str | None:
    """Returns a reference, also that of an object such as the result of a transfer."""
    if ref is None or isinstance(ref, str):
        return ref
    for name in ("ref", "txn_ref", "order_ref", "txnRef", "orderRef"):
        value = getattr(ref, name, None)
        if isinstance(value, str):
            return value
    raise TypeError(f"ref: must be a text, or an object with a reference, not {type(ref).__name__}")


def describe(event: Event) -> str:
    payload = event.raw
    shown = [f"{name}={payload[name]}" for name in REFERENCE_FIELDS if payload.get(name)]
    return " ".join([str(payload.get("paymentMethod")), str(payload.get("txnStatus")), *shown])
