"""Measures latency: one client that waits for each reply, and one that sends at a fixed rate.

wrk sends the next request when a reply has arrived, so a stalling server gets fewer requests and looks better than it
is (coordinated omission). Here each request has a time at which it is due, and its latency counts from then. It
includes the wait for a free connection and the client's own delay.

Plain sockets and `select` are used, whose timeout is exact to the microsecond. The timers of asyncio are up to two
milliseconds late, as much as what is measured, and need twice the CPU time.
"""

import gc
import itertools
import select
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter, sleep

from bench.request_templates import RequestTemplate
from bench.results import LatencyResult, MeasurementFailed

# More than are ever busy at half load, so that requests do not queue in the client.
CONNECTIONS = 128

# How long the server has to accept the connections before the first request.
SETTLE_SECONDS = 0.5

# How long to wait for outstanding replies.
DRAIN_TIMEOUT_SECONDS = 10.0

SUCCESS = b'"txnStatus":"successful"'

# Four characters, like the run numbers of wrk.
RUN = "pace"
LETTER = "a"
NUMBERS = itertools.count(1)


class PacedClient:
    """Persistent connections with one request in flight on each, the requests that wait for a connection, and the
    latencies."""

    def __init__(self, port: int, orders: Sequence[RequestTemplate], connections: int) -> None:
        self.orders = itertools.cycle(orders)
        self.idle = deque(socket.create_connection(("127.0.0.1", port)) for _ in range(connections))
        self.due_times: dict[socket.socket, float] = {}
        self.partial: dict[socket.socket, bytes] = {}
        self.waiting: deque[float] = deque()
        self.latencies: list[float] = []
        self.lags: list[float] = []
        self.refused = 0

    def send(self, due: float) -> None:
        """Sends the request now, or as soon as a connection is free."""
        if not self.idle:
            self.waiting.append(due)
            return
        self.lags.append(perf_counter() - due)
        self.send_on(self.idle.popleft(), due)  # in turn: one that was never used would be closed as idle

    def send_on(self, connection: socket.socket, due: float) -> None:
        self.due_times[connection] = due
        connection.sendall(next(self.orders).render(RUN, LETTER, next(NUMBERS)))

    def send_evenly(self, seconds: float, rate: float) -> None:
        """Sends a fixed number of requests a second, and receives the replies meanwhile."""
        sleep(SETTLE_SECONDS)
        begin, total, sent = perf_counter(), int(seconds * rate), 0
        while sent < total:
            due = begin + sent / rate
            if due <= perf_counter():
                self.send(due)
                sent += 1
            else:
                self.receive_replies(due)

    def receive_replies(self, until: float) -> None:
        """Returns the replies that have arrived. If there are none, waits for the first one until the given time."""
        ready, _, _ = select.select(list(self.due_times), [], [], max(0.0, until - perf_counter()))
        for connection in ready:
            self.receive_chunk(connection)

    def receive_chunk(self, connection: socket.socket) -> None:
        chunk = connection.recv(65536)
        if not chunk:
            raise MeasurementFailed("the server closed a connection")
        received = self.partial.pop(connection, b"") + chunk
        head, found, body = received.partition(b"\r\n\r\n")
        if found and len(body) >= content_length(head):
            self.record_reply(connection, body)
        else:
            self.partial[connection] = received

    def record_reply(self, connection: socket.socket, body: bytes) -> None:
        self.latencies.append(perf_counter() - self.due_times.pop(connection))
        self.refused += SUCCESS not in body
        if self.waiting:
            self.send_on(connection, self.waiting.popleft())
        else:
            self.idle.append(connection)

    def finish(self) -> LatencyResult:
        """Waits for outstanding replies. One that does not arrive counts as refused."""
        deadline = perf_counter() + DRAIN_TIMEOUT_SECONDS
        while self.due_times and perf_counter() < deadline:
            self.receive_replies(deadline)
        lost = len(self.due_times) + len(self.waiting)
        for connection in (*self.idle, *self.due_times):
            connection.close()
        return LatencyResult(
            requests=len(self.latencies),
            refused=self.refused + lost,
            median_ms=percentile(self.latencies, 0.5) * 1000,
            p99_ms=percentile(self.latencies, 0.99) * 1000,
            worst_ms=percentile(self.latencies, 1.0) * 1000,
            client_lag_ms=percentile(self.lags, 0.99) * 1000,
        )


def measure_single(port: int, orders: Sequence[RequestTemplate], seconds: int) -> LatencyResult:
    """Measures one connection that sends the next request when the reply has arrived."""
    with without_gc():
        client = PacedClient(port, orders, 1)
        end = perf_counter() + seconds
        while perf_counter() < end:
            if not client.due_times:
                client.send(perf_counter())
            client.receive_replies(end)
        return client.finish()


def measure_paced(port: int, orders: Sequence[RequestTemplate], seconds: int, rate: float) -> LatencyResult:
    """Sends a fixed number of requests a second, evenly spaced."""
    with without_gc():
        client = PacedClient(port, orders, CONNECTIONS)
        client.send_evenly(seconds, rate)
        return client.finish()


@contextmanager
def without_gc() -> Iterator[None]:
    """Disables the garbage collector, whose pauses would be counted as the server's."""
    gc.disable()
    try:
        yield
    except OSError as fault:
        raise MeasurementFailed(f"the paced client: {fault!r}") from fault
    finally:
        gc.enable()


def content_length(head: bytes) -> int:
    """Returns the Content-Length. A reply without one counts as refused: the server is expected to send it."""
    _, found, rest = head.lower().partition(b"\r\ncontent-length:")
    return int(rest.split(b"\r\n", 1)[0]) if found else 0


def percentile(values: Sequence[float], share: float) -> float:
    """Returns a percentile by nearest rank, or 0 without values."""
    if not values:
        return 0.0
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]
