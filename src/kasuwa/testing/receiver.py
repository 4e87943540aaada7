"""The HTTP server of the test process that receives events: one for all merchants, each with a path of its own."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import urlsplit

HOST = "127.0.0.1"
MAX_BODY_BYTES = 1024 * 1024


class Answer(NamedTuple):
    """The answer to a delivery. `retry_after` asks the service to wait so many seconds of business time at least."""

    http_status: int
    retry_after: int | None = None


ACCEPTED = Answer(200)
UNKNOWN_PATH = Answer(404)

Receive = Callable[[bytes, Mapping[str, str]], Answer]
# Called with the URL, body and headers of each delivery, before its recipient is.
Tap = Callable[[str, bytes, Mapping[str, str]], None]


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self) -> None:
        super().__init__((HOST, 0), DeliveryHandler)
        self.recipients: dict[str, Receive] = {}
        self.taps: list[Tap] = []

    @property
    def origin(self) -> str:
        return f"http://{HOST}:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores broken connections: the service sends the event again."""


class DeliveryHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Listener

    def do_POST(self) -> None:
        length = self.headers["content-length"] or ""
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            self.answer(Answer(413))
            return
        body = self.rfile.read(int(length))
        receive = self.server.recipients.get(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        for tap in list(self.server.taps):
            tap(self.server.origin + self.path, body, headers)
        self.answer(UNKNOWN_PATH if receive is None else receive(body, headers))

    def answer(self, answer: Answer) -> None:
        self.send_response(answer.http_status)
        if answer.retry_after is not None:
            self.send_header("retry-after", str(answer.retry_after))
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing: deliveries are kept."""


class Receiver:
    """Listens on a free port of the loopback interface, from the first merchant that is added on."""

    def __init__(self) -> None:
        self._listener: Listener | None = None
        self._starting = threading.Lock()
        self._count = 0

    def add(self, receive: Receive) -> str:
        """Returns the URL at which `receive` is called with the body and headers of each delivery."""
        with self._starting:
            listener = self._listen()
            self._count += 1
            path = f"/events/{self._count}"
            listener.recipients[path] = receive
            return listener.origin + path

    def _listen(self) -> Listener:
        """Returns the listener, and starts it first if it does not run. Call with the lock held."""
        if self._listener is None:
            self._listener = Listener()
            serving = threading.Thread(
                target=self._listener.serve_forever, kwargs={"poll_interval": 0.05}, name="kasuwa events", daemon=True
            )
            serving.start()
        return self._listener

    @contextmanager
    def tapped(self, tap: Tap) -> Iterator[str]:
        """Calls `tap` with each delivery of the block. Yields the beginning of all URLs."""
        with self._starting:
            listener = self._listen()
        listener.taps.append(tap)
        try:
            yield listener.origin
        finally:
            listener.taps.remove(tap)

    def remove(self, url: str) -> None:
        """Ends a URL of `add`. Deliveries to it are answered with HTTP 404."""
        assert self._listener is not None, "add comes first"
        self._listener.recipients.pop(urlsplit(url).path, None)


# Shared by all merchants of this process. It ends with the process.
RECEIVER = Receiver()
